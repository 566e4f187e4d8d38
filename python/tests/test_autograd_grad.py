"""loup.autograd.grad: gradients of chosen tensors."""

import gc

import pytest

import loup
from loup.autograd import grad


def leaf(*values: float) -> loup.Tensor:
    return loup.tensor(values, dtype="float64", requires_grad=True)


def test_grad_leaves_grad_alone() -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    of_x, of_y = grad((x * y).sum(), [x, y])
    assert of_x is not None
    assert of_y is not None
    assert of_x.tolist() == [3, 4]
    assert of_y.tolist() == [1, 2]
    assert x.grad is None


def test_grad_of_computed_tensors() -> None:
    x = leaf(1, 2)
    y = x * x
    (of_y,) = grad((y * y).sum(), y)
    assert of_y is not None
    assert of_y.tolist() == [2, 8]


def test_grad_takes_gradients_of_the_outputs() -> None:
    x = leaf(1, 2)
    y = x * 2
    (of_x,) = grad(y, x, loup.tensor([10, 20]), retain_graph=True)
    assert of_x is not None
    assert of_x.tolist() == [20, 40]
    (of_x,) = grad((y, y.sum()), (x,), (loup.tensor([1.0, 2.0]), None))
    assert of_x is not None
    assert of_x.tolist() == [4, 6]


def test_grad_again() -> None:
    y = x = leaf(2)
    for _ in range(4):
        y = y * x if y is not x else x * x
    # y = x⁵
    for expected in [80, 160, 240, 240, 120]:
        (derivative,) = grad(y.sum(), x, create_graph=True)
        assert derivative is not None
        assert derivative.item() == expected
        y = derivative


def test_the_record_is_released_unless_retained() -> None:
    x = leaf(2)
    y = (x * x).sum()
    grad(y, x, retain_graph=True)
    grad(y, x, create_graph=True)
    grad(y, x, create_graph=True, retain_graph=False)
    with pytest.raises(loup.StateError, match="expected a record that is still there, got one"):
        grad(y, x)


def test_unused_inputs() -> None:
    x, y = leaf(1), leaf(1)
    with pytest.raises(
        loup.StateError, match=r"grad: expected inputs that .*, got one at position 1"
    ):
        grad(x.sum(), [x, y])
    of_x, of_y = grad(x.sum(), [x, y], allow_unused=True)
    assert of_x is not None
    assert of_y is None


def test_grad_wants_tensors() -> None:
    x = leaf(1)
    rule = "grad: expected a Tensor or MaskedTensor, or a sequence of them, got int"
    with pytest.raises(TypeError, match=rule):
        grad(x.sum(), 3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="grad: expected a Tensor or MaskedTensor, got float"):
        grad([x.sum(), 1.0], x)  # type: ignore[list-item]
    with pytest.raises(loup.ValueError, match="grad: expected 1 gradients, .* got 2"):
        grad(x, x, [[1.0], [2.0]])


def test_cycles_of_create_graph_end_when_grad_is_cleared() -> None:
    gc.collect()
    loup.trim_pool()
    before = loup.pool_statistics()["bytes_in_use"]
    x = loup.ones(1 << 20, "float64").requires_grad_()
    (x * x).sum().backward(create_graph=True)
    x.grad = None
    del x
    assert loup.pool_statistics()["bytes_in_use"] == before


def test_grad_with_create_graph_keeps_nothing_alive() -> None:
    gc.collect()
    before = loup.pool_statistics()["bytes_in_use"]
    x = loup.ones(1 << 20, "float64").requires_grad_()
    (first,) = grad((x * x).sum(), x, create_graph=True)
    del x, first
    assert loup.pool_statistics()["bytes_in_use"] == before
