"""In-place changes and gradients: right ones, or an error that says why not."""

import pytest

import loup

CHANGED = "got one changed in place through another tensor that shares its memory"


def leaf(*values: float) -> loup.Tensor:
    return loup.tensor(values, dtype="float64", requires_grad=True)


def gradient(x: loup.Tensor) -> list[float]:
    assert x.grad is not None
    return x.grad.tolist()


def test_in_place_operators_are_recorded() -> None:
    x = leaf(1, 2, 3)
    y = x * 1
    y.mul_(2)
    y += x
    y.exp_()
    y.log_()
    y.sum().backward()
    assert gradient(x) == pytest.approx([3, 3, 3])


def test_a_change_through_a_view_is_right_for_the_view() -> None:
    x = leaf(1, 2, 3)
    y = x * 1
    v = y[1:]
    v.mul_(2)
    (v * v).sum().backward()
    assert gradient(x) == [0, 16, 24]


def test_a_change_through_a_view_is_an_error_for_the_whole() -> None:
    x = leaf(1, 2, 3)
    y = x * 1
    v = y[0]
    v.mul_(2)
    with pytest.raises(loup.StateError, match=rf"sum: expected .*, {CHANGED}; take the view again"):
        y.sum()
    with pytest.raises(loup.StateError, match=rf"backward: expected .*, {CHANGED}"):
        y.backward([1, 1, 1])


def test_a_change_of_the_whole_is_an_error_for_earlier_views() -> None:
    x = leaf(1, 2, 3)
    y = x * 1
    v = y[:2]
    y.mul_(2)
    with pytest.raises(loup.StateError, match=rf"mul: expected .*, {CHANGED}"):
        v * 3
    (y[:2] * 3).sum().backward()
    assert gradient(x) == [6, 6, 0]


def test_a_saved_tensor_that_changed_is_an_error() -> None:
    x = leaf(1, 2)
    y = x * 1
    z = (y * y).sum()
    y.mul_(2)
    with pytest.raises(
        loup.StateError, match="mul backward: expected .*, got one changed in place"
    ):
        z.backward()


def test_leaves_and_their_views_change_only_while_nothing_is_recorded() -> None:
    x = leaf(1, 2)
    with pytest.raises(loup.StateError, match="got a leaf that requires grad; use no_grad"):
        x.mul_(2)
    with pytest.raises(loup.StateError, match="got a view of a leaf that requires grad"):
        x[0].mul_(2)
    with loup.no_grad():
        x.mul_(2)
        x[0].mul_(2)
    assert x.tolist() == [4, 4]
    x.sum().backward()
    assert gradient(x) == [1, 1]


def test_a_step_of_gradient_descent() -> None:
    w = leaf(5, -3)
    for _ in range(100):
        ((w - 1) * (w - 1)).sum().backward()
        with loup.no_grad():
            assert w.grad is not None
            w -= 0.1 * w.grad
        w.grad = None
    assert w.is_leaf
    assert w.tolist() == pytest.approx([1, 1])


def test_copy_takes_up_the_record_of_its_source() -> None:
    x = leaf(1, 2)
    y = loup.zeros((2, 2), "float64")
    y.copy_(x)
    (y * y).sum().backward()
    assert gradient(x) == [4, 8]


def test_copy_into_shared_memory_does_not_take_up_a_record() -> None:
    y = loup.zeros(2, "float64")
    view = y[:1]
    with pytest.raises(
        loup.StateError, match="copy_: expected to be the only tensor of its memory"
    ):
        view.copy_(leaf(1))
    assert y.tolist() == [0, 0]


def test_fill_sends_nothing_back() -> None:
    x = leaf(1, 2)
    y = x * 2
    y.fill_(7)
    y.sum().backward()
    assert gradient(x) == [0, 0]
