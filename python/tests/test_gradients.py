"""Gradients from Python: leaves, records, no_grad, backward."""

import pytest

import loup


def test_gradients_flow_through_views_and_conversions() -> None:
    x = loup.arange(6.0).reshape(2, 3).requires_grad_()
    y = x.T[1:].double().clone().reshape(-1).sum()
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 1, 1], [0, 1, 1]]


def test_gradients_of_repeated_elements_add_up() -> None:
    x = loup.ones((1, 2)).requires_grad_()
    x.expand(3, 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[3, 3]]


def test_gradients_accumulate_until_they_are_cleared() -> None:
    x = loup.ones(2).requires_grad_()
    x.sum().backward()
    x.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]
    x.grad = None
    assert x.grad is None
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_gradient_can_be_set() -> None:
    x = loup.ones(2).requires_grad_()
    mine = loup.tensor([5.0, 6.0])
    x.grad = mine
    x.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6, 7]
    assert mine.tolist() == [6, 7]  # shared, and added to in place


def test_a_gradient_that_is_set_must_fit() -> None:
    x = loup.ones(2).requires_grad_()
    with pytest.raises(
        loup.ShapeError, match=r"grad: expected a gradient of shape \[2\], got \[3\]"
    ):
        x.grad = loup.ones(3)
    with pytest.raises(loup.DTypeError, match="grad: expected a gradient of float32, got float64"):
        x.grad = loup.ones(2, "float64")
    with pytest.raises(TypeError, match="grad: expected a Tensor, got list"):
        x.grad = [1, 2]  # type: ignore[assignment]
    with pytest.raises(loup.StateError, match="grad: expected a tensor that requires grad, got"):
        loup.ones(2).grad = loup.ones(2)
    y = loup.ones(2)
    y.grad = None
    assert y.grad is None


def test_detach_in_place_forgets_the_record() -> None:
    x = loup.ones(2).requires_grad_()
    y = x * 2
    assert y.detach_() is y
    assert not y.requires_grad


def test_backward_may_be_limited_to_inputs() -> None:
    x, y = loup.ones(2).requires_grad_(), loup.full(2, 3.0).requires_grad_()
    z = x * y
    (z * z).sum().backward(inputs=[x, z])
    assert x.grad is not None
    assert z.grad is not None
    assert x.grad.tolist() == [18, 18]
    assert z.grad.tolist() == [6, 6]
    assert y.grad is None
    (x * y).sum().backward(inputs=x)
    assert x.grad.tolist() == [21, 21]


def test_backward_of_several_tensors() -> None:
    x = loup.ones(2).requires_grad_()
    y = x * 2
    loup.autograd.backward([y, (y * x).sum()], [[10, 20], None])
    assert x.grad is not None
    assert x.grad.tolist() == [24, 44]


def test_leaves_are_what_the_user_made() -> None:
    x = loup.ones(2).requires_grad_()
    assert x.is_leaf
    assert not x.sum().is_leaf
    assert x.sum().requires_grad
    assert not x.detach().requires_grad
    assert x.detach().data_ptr() == x.data_ptr()


def test_requires_grad_can_be_taken_back() -> None:
    x = loup.ones(2)
    assert x.requires_grad_() is x
    x.requires_grad = False
    assert not x.sum().requires_grad


def test_nothing_is_recorded_under_no_grad() -> None:
    x = loup.ones(2).requires_grad_()
    with loup.no_grad():
        assert not x.sum().requires_grad
    assert x.sum().requires_grad


def test_no_grad_ends_with_an_exception_too() -> None:
    x = loup.ones(2).requires_grad_()
    with pytest.raises(KeyError), loup.no_grad():
        raise KeyError
    assert x.sum().requires_grad


def test_one_no_grad_object_can_be_entered_twice() -> None:
    x, off = loup.ones(2).requires_grad_(), loup.no_grad()
    with off:
        with off:
            assert not x.sum().requires_grad
        assert not x.sum().requires_grad
    assert x.sum().requires_grad


def test_backward_twice_needs_retain_graph() -> None:
    x = loup.ones(2).requires_grad_()
    kept = x.sum()
    kept.backward(retain_graph=True)
    kept.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(loup.StateError, match=r"backward: expected a record .* got one released"):
        kept.backward()


def test_create_graph_keeps_the_record_of_the_gradient() -> None:
    x = loup.ones(2, "float64").requires_grad_()
    weight = loup.tensor(3.0, dtype="float64", requires_grad=True)
    x.sum().backward(weight, create_graph=True)
    assert x.grad is not None
    assert x.grad.requires_grad
    x.grad.sum().backward()
    assert weight.grad is not None
    assert weight.grad.item() == 2.0


def test_backward_takes_the_gradient_of_the_result() -> None:
    x = loup.ones((2, 3)).requires_grad_()
    x.sum(1).backward(gradient=[1, 2])
    assert x.grad is not None
    assert x.grad.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_backward_of_many_elements_needs_a_gradient() -> None:
    x = loup.ones((2, 3)).requires_grad_()
    with pytest.raises(loup.ValueError, match=r"expected a gradient for shape \[2\], got none"):
        x.sum(1).backward()
    with pytest.raises(loup.ShapeError, match=r"expected a gradient of shape \[2\], got \[3\]"):
        x.sum(1).backward([1, 2, 3])


def test_backward_notices_that_a_mask_was_changed() -> None:
    x, mask = loup.ones(3).requires_grad_(), loup.tensor([True, False, True])
    y = x.sum(mask=mask)
    mask.fill_(True)
    with pytest.raises(
        loup.StateError, match=r"sum backward: expected .*, got one changed in place"
    ):
        y.backward()
