"""Gradients that masked tensors collect, are given and show to hooks."""

import math
import threading
from collections.abc import Callable

import pytest

import loup

T, F = True, False
NAN = math.nan


def leaf() -> loup.MaskedTensor:
    return loup.MaskedTensor([1.0, NAN], [T, F], requires_grad=True)


def collected(x: loup.MaskedTensor | loup.Tensor) -> loup.MaskedTensor:
    assert isinstance(x.grad, loup.MaskedTensor)
    return x.grad


# --- what was collected ---


def test_filling_the_gradient_leaves_the_leaf_masked() -> None:
    x = leaf()
    (x * 2).sum().backward()
    collected(x).fill_(0)
    assert x.get_mask().tolist() == [T, F]
    assert collected(x).tolist() == [0, None]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda g: g.mul_(0), [0, None]),
        (lambda g: g.fill_(3), [3, None]),
        (lambda g: g.__setitem__(0, 7.0), [7, None]),
        (lambda g: g.get_data().add_(1), [3, None]),
    ],
    ids=["mul_", "fill_", "setitem", "data"],
)
def test_writes_reach_the_stored_gradient(
    change: Callable[[loup.MaskedTensor], object], expected: list[float | None]
) -> None:
    x = leaf()
    (x * 2).sum().backward()
    change(collected(x))
    assert collected(x).tolist() == expected
    assert collected(x).get_data()[1].item() == 0


def test_a_gradient_grows_in_place() -> None:
    x = leaf()
    (x * 2).sum().backward()
    first = collected(x)
    (x * 3).sum().backward()
    assert first.tolist() == [5, None]


def test_writes_reach_the_gradient_of_a_leaf_that_was_used_without_its_mask() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [T, F], requires_grad=True)
    (x.get_data() * 5).sum().backward()
    collected(x).mul_(2)
    assert collected(x).get_data().tolist() == [10, 0]
    assert x.get_data().grad is not None
    assert x.get_data().grad.tolist() == [10, 0]


def test_what_is_under_a_mask_given_to_a_plain_leaf_stays_in_its_gradient() -> None:
    plain = loup.tensor([1.0, 2.0], requires_grad=True)
    x = loup.as_masked_tensor(plain, [T, F])
    ((plain * 3).sum() + x.sum()).backward()
    assert collected(x).get_data().tolist() == [4, 0]
    assert plain.grad is not None
    assert plain.grad.tolist() == [4, 3]


def test_a_recorded_gradient_is_zero_under_the_mask_and_differentiable() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [T, F], requires_grad=True)
    (x.get_data() ** 3).sum().backward(create_graph=True)
    first = collected(x)
    assert first.get_data().tolist() == [3, 0]
    x.grad = None
    first.sum().backward()
    assert collected(x).get_data().tolist() == [6, 0]


def test_the_retained_gradient_of_a_computed_tensor_is_the_stored_one() -> None:
    x = leaf()
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward()
    collected(y).fill_(9)
    assert collected(y).tolist() == [9, None]
    assert y.get_mask().tolist() == [T, F]


def test_a_retained_gradient_has_zeros_where_the_mask_was_passed_by() -> None:
    y = loup.MaskedTensor([1.0, 2.0], [T, F], requires_grad=True) * 2
    y.retain_grad()
    y.get_data().sum().backward()
    collected(y).mul_(4)
    assert collected(y).get_data().tolist() == [4, 0]


def test_gradients_that_are_set_are_shared_unless_the_mask_hides_some() -> None:
    x = leaf()
    given = loup.tensor([1.0, 0.0])
    x.grad = given
    given.mul_(5)
    assert collected(x).tolist() == [5, None]
    given = loup.tensor([1.0, 8.0])
    x.grad = given
    assert collected(x).get_data().tolist() == [1, 0]
    assert given.tolist() == [1, 8]
    x.grad = loup.MaskedTensor([NAN, NAN], [F, T])
    assert collected(x).get_data().tolist() == [0, 0]


# --- what is given to backward ---


@pytest.mark.parametrize("mask", [[T, T], None], ids=["masked", "plain"])
def test_the_mask_of_a_given_gradient_is_structural(mask: list[bool] | None) -> None:
    x = loup.tensor([1.0, 0.0], requires_grad=True)
    y = 1 / x if mask is None else loup.as_masked_tensor(1 / x, mask)
    y.backward(loup.masked_tensor([1.0, NAN], [T, F]))
    assert x.grad is not None
    assert x.grad.tolist() == [-1, 0]


def test_masks_of_tensor_and_gradient_are_combined() -> None:
    x = loup.tensor([1.0, 0.0, 0.0], requires_grad=True)
    y = loup.as_masked_tensor(1 / x, [T, T, F])
    y.backward(loup.masked_tensor([2.0, NAN, 1.0], [T, F, T]))
    assert x.grad is not None
    assert x.grad.tolist() == [-2, 0, 0]


def test_a_masked_gradient_is_converted_and_must_fit() -> None:
    x = leaf()
    (x * 2).backward(loup.masked_tensor([1, 7], [T, F]))
    assert collected(x).tolist() == [2, None]
    with pytest.raises(
        loup.ShapeError, match=r"backward: expected a gradient of shape \[2\], got \[3\]"
    ):
        (x * 2).backward(loup.masked_tensor([1.0, 1.0, 1.0], [T, F, T]))


def test_inputs_of_backward_may_be_masked() -> None:
    x, y = leaf(), loup.tensor([3.0, 4.0], requires_grad=True)
    (y * y.detach()).sum().backward(inputs=[y])
    (x * y).sum().backward(inputs=x)
    assert collected(x).tolist() == [3, None]
    (y * 1).backward(loup.ones(2), inputs=[y])
    total = (x * y).sum().get_data()
    total.backward(inputs=[x])
    assert collected(x).tolist() == [6, None]
    with pytest.raises(TypeError, match="backward: expected a Tensor or MaskedTensor, got float"):
        (x * y).sum().backward(inputs=[x, 1.0])  # type: ignore[list-item]


# --- hooks ---


def test_a_hook_sees_the_mask_at_its_registration() -> None:
    x = leaf()
    seen: list[list[float | None]] = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    with loup.no_grad():
        x[1] = 5.0
    (x * 2).sum().backward()
    assert seen == [[2, None]]


def test_a_hook_cannot_unmask_its_tensor() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [T, F], requires_grad=True)
    seen: list[list[float | None]] = []

    def hook(gradient: loup.MaskedTensor) -> None:
        seen.append(gradient.tolist())
        gradient.get_mask().fill_(True)

    x.register_hook(hook)
    x.get_data().sum().backward()
    (x * 2).sum().backward()
    assert seen == [[1, None], [2, None]]
    assert x.get_mask().tolist() == [T, F]


def test_zeros_shown_to_a_hook_are_not_written_into_the_gradient() -> None:
    plain = loup.tensor([1.0, 2.0], requires_grad=True)
    y = plain * 1
    seen: list[list[float]] = []
    masked = loup.as_masked_tensor(y, [T, F])
    masked.register_hook(lambda g: seen.append(g.get_data().tolist()))
    (y * 3).sum().backward()
    assert seen == [[3, 0]]
    assert plain.grad is not None
    assert plain.grad.tolist() == [3, 3]


def test_what_a_hook_returns_replaces_the_gradient() -> None:
    x = leaf()
    handle = x.register_hook(lambda g: g * 10)
    x.sum().backward()
    assert collected(x).tolist() == [10, None]
    handle.remove()
    x.register_hook(lambda g: loup.tensor([7.0, 7.0]))
    x.sum().backward()
    assert collected(x).get_data().tolist() == [17, 0]


def test_a_hook_must_return_a_tensor_and_be_callable() -> None:
    x = leaf()
    with pytest.raises(TypeError, match="register_hook: expected a function, got int"):
        x.register_hook(3)  # type: ignore[arg-type]
    x.register_hook(lambda g: 3.0)  # type: ignore[arg-type, return-value]
    with pytest.raises(
        TypeError, match="hook: expected a MaskedTensor, a Tensor or None, got float"
    ):
        x.sum().backward()


def test_hooks_run_on_every_thread() -> None:
    calls: list[float] = []
    x = leaf()
    x.register_hook(lambda g: calls.append(g[0].item()))
    threads = [threading.Thread(target=lambda: (x * 2).sum().backward()) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [2] * 4
    assert collected(x).tolist() == [8, None]
