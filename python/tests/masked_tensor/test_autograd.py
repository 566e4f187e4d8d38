"""loup.autograd with masked tensors: grad and backward of several, gradcheck."""

import math
from collections.abc import Callable

import pytest

import loup
from loup.autograd import GradcheckError, backward, grad, gradcheck, gradgradcheck

T, F = True, False
NAN = math.nan


def leaf(*values: float, mask: list[bool]) -> loup.MaskedTensor:
    return loup.MaskedTensor(loup.tensor(values, dtype="float64"), mask, requires_grad=True)


def plain(*values: float) -> loup.Tensor:
    return loup.tensor(values, dtype="float64", requires_grad=True)


# --- grad ---


def test_grad_by_a_masked_input_is_masked() -> None:
    x = leaf(3, NAN, mask=[T, F])
    (of_x,) = grad((x * x).sum(), [x])
    assert isinstance(of_x, loup.MaskedTensor)
    assert of_x.tolist() == [6, None]
    assert of_x.get_data().tolist() == [6, 0]
    of_x.fill_(1)
    assert x.get_mask().tolist() == [T, F]
    assert x.grad is None


def test_grad_of_mixed_tensors() -> None:
    x, y = leaf(3, NAN, mask=[T, F]), plain(4, 5)
    of_y, of_x = grad([(x * y).sum(), (y * y).sum()], (y, x))
    assert isinstance(of_y, loup.Tensor)
    assert of_y.tolist() == [11, 10]
    assert isinstance(of_x, loup.MaskedTensor)
    assert of_x.tolist() == [4, None]


def test_grad_is_zero_under_the_mask_even_through_get_data() -> None:
    x = leaf(3, 4, mask=[T, F])
    by_masked, by_data = grad((x.get_data() * 2).sum(), [x, x.get_data()])
    assert by_masked is not None
    assert by_masked.get_data().tolist() == [2, 0]
    assert by_data is not None
    assert by_data.tolist() == [2, 2]


def test_masked_outputs_send_nothing_from_what_does_not_count() -> None:
    x = plain(1, 0, 0)
    y = loup.as_masked_tensor(1 / x, [T, T, F])
    (of_x,) = grad(y, x, loup.masked_tensor([1.0, NAN, NAN], [T, F, T]), retain_graph=True)
    assert of_x is not None
    assert of_x.tolist() == [-1, 0, 0]
    (of_x,) = grad([y, x.sum()], [x], [loup.masked_tensor([2.0, NAN, 1.0], [T, F, T]), None])
    assert of_x is not None
    assert of_x.tolist() == [-1, 1, 1]


def test_the_mask_of_a_gradient_of_a_plain_output_is_structural() -> None:
    x = plain(1, 0)
    (of_x,) = grad(1 / x, x, loup.masked_tensor([1.0, NAN], [T, F]))
    assert of_x is not None
    assert of_x.tolist() == [-1, 0]


def test_grad_of_a_masked_tensor_by_itself() -> None:
    x = leaf(1, 2, mask=[T, F])
    (of_x,) = grad(x, x, loup.ones(2))
    assert of_x is not None
    assert of_x.get_data().tolist() == [1, 0]


def test_second_order() -> None:
    x = leaf(2, NAN, 0, mask=[T, F, T])
    (first,) = grad((x**3).sum(), x, create_graph=True)
    assert first is not None
    assert first.requires_grad
    assert first.tolist() == [12, None, 0]
    (second,) = grad(first.sum(), x, create_graph=True)
    assert second is not None
    assert second.tolist() == [12, None, 0]
    (third,) = grad(second, x, loup.ones(3))
    assert third is not None
    assert third.get_data().tolist() == [6, 0, 6]


def test_create_graph_records_without_recording() -> None:
    x = leaf(2, 5, mask=[T, F])
    y = (x.get_data() * x.get_data()).sum()
    with loup.no_grad():
        (first,) = grad(y, x, create_graph=True)
    assert first is not None
    assert first.get_data().tolist() == [4, 0]
    (second,) = grad(first.get_data().sum(), x)
    assert second is not None
    assert second.get_data().tolist() == [2, 0]


def test_the_record_is_released_unless_retained() -> None:
    x = leaf(2, NAN, mask=[T, F])
    y = (x * x).sum()
    grad(y, x, retain_graph=True)
    grad(y, x)
    with pytest.raises(loup.StateError, match="expected a record that is still there, got one"):
        grad(y, x)


def test_unused_masked_inputs() -> None:
    x, y = leaf(1, mask=[T]), leaf(1, mask=[T])
    with pytest.raises(
        loup.StateError, match=r"grad: expected inputs that .*, got one at position 1"
    ):
        grad(x.sum(), [x, y])
    of_x, of_y = grad(x.sum(), [x, y], allow_unused=True)
    assert of_x is not None
    assert of_y is None


def test_errors_name_the_operation() -> None:
    x = leaf(1, mask=[T])
    with pytest.raises(TypeError, match="^grad: expected a Tensor or MaskedTensor, got list$"):
        grad([[x.sum()]], x)  # type: ignore[list-item, call-overload]
    with pytest.raises(TypeError, match="^grad: expected a Tensor or MaskedTensor, got str$"):
        grad(x.sum(), [x, "y"])  # type: ignore[list-item, call-overload]
    with pytest.raises(
        TypeError, match="^backward: expected a Tensor or MaskedTensor, or a sequence .* got int$"
    ):
        backward(3)  # type: ignore[arg-type]
    with pytest.raises(loup.ValueError, match="grad: expected 1 gradients, .* got 2"):
        grad(x, x, [x, x])
    with pytest.raises(loup.ShapeError, match=r"grad: expected a gradient of shape \[1\], got"):
        grad(x, x, loup.masked_tensor([1.0, 2.0], [T, T]))
    with pytest.raises(loup.StateError, match="grad: expected a tensor that requires grad, got"):
        grad(x.detach(), x)


# --- backward ---


def test_backward_of_several_masked_tensors() -> None:
    x, y = leaf(3, NAN, mask=[T, F]), plain(1, 0)
    backward([(x * x).sum()])
    assert x.grad is not None
    assert x.grad.tolist() == [6, None]
    backward(
        [x * 2, loup.as_masked_tensor(1 / y, [T, F]), y.sum()],
        [loup.ones(2), loup.masked_tensor([3.0, NAN], [T, F]), None],
        inputs=[x, y],
    )
    assert x.grad.tolist() == [8, None]
    assert y.grad is not None
    assert y.grad.tolist() == [-2, 1]


# --- gradcheck ---


def test_gradcheck_changes_only_what_counts() -> None:
    x = leaf(0.5, NAN, 1.5, mask=[T, F, T])
    assert gradcheck(lambda a: (a * a).sum(), x)
    assert gradcheck(lambda a: a * a, [x])
    assert gradgradcheck(lambda a: (a * a * a).sum(), x)
    assert gradgradcheck(lambda a: a * a * a, (x,))
    assert x.tolist() == [0.5, None, 1.5]
    assert x.grad is None


def test_gradcheck_of_mixed_inputs_and_outputs() -> None:
    x, y = leaf(0.5, NAN, 1.5, mask=[T, F, T]), plain(1, 2, 3)

    def f(a: loup.MaskedTensor, b: loup.Tensor, power: int) -> tuple[object, ...]:
        return a * b**power, (b * b).sum(), a.get_mask()

    assert gradcheck(f, (x, y, 2))  # type: ignore[arg-type]
    assert gradgradcheck(f, (x, y, 2))  # type: ignore[arg-type]
    outputs = [loup.masked_tensor([1.0, NAN, 2.0], [T, F, F]).double(), loup.ones((), "float64")]
    assert gradgradcheck(f, (x, y, 2), outputs)  # type: ignore[arg-type]


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_wrong_gradients_of_masked_tensors_are_named(check: Callable[..., bool]) -> None:
    def f(a: loup.MaskedTensor) -> loup.MaskedTensor:
        y = a * a.detach() * 2
        y.register_hook(lambda g: g * 1.5)
        return y

    x = leaf(NAN, 1.0, mask=[F, T])
    with pytest.raises(GradcheckError, match=r"output 0\[1\] by input 0\[1\]"):
        check(f, x)


def test_functions_must_return_tensors() -> None:
    with pytest.raises(
        loup.ValueError, match="gradcheck: expected a function that returns tensors, got float"
    ):
        gradcheck(lambda a: 3.0, leaf(1, mask=[T]))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (lambda: leaf(1, mask=[T]) * 1, "expected inputs that are leaves, got a computed one"),
        (
            lambda: loup.MaskedTensor([1.0], [T], requires_grad=True),
            "expected inputs of float64, .* got loup.float32 at position 0",
        ),
    ],
    ids=["computed", "float32"],
)
def test_masked_inputs_must_be_fit_for_differences(
    x: Callable[[], loup.MaskedTensor], message: str
) -> None:
    with pytest.raises(loup.ValueError, match=f"gradcheck: {message}"):
        gradcheck(lambda a: a * 2, x())
