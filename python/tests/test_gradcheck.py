"""gradcheck and gradgradcheck: they pass what is right and name what is wrong."""

from collections.abc import Callable

import pytest

import loup
from loup.autograd import GradcheckError, gradcheck, gradgradcheck


def leaf(*shape: int, first: float = 0.5) -> loup.Tensor:
    count = loup.zeros(shape).numel()
    values = [first + 0.37 * k % 1.7 for k in range(count)]
    return loup.tensor(values, dtype="float64").reshape(shape).requires_grad_()


def product(x: loup.Tensor, y: loup.Tensor) -> loup.Tensor:
    return x * y * y


def with_wrong_gradient(x: loup.Tensor) -> loup.Tensor:
    """2x, whose gradient is wrong at element 1."""
    y = x * 2
    y.register_hook(lambda g: g * loup.tensor([1.0, 1.5, 1.0], dtype="float64"))
    return y


def test_right_gradients_pass() -> None:
    x, y = leaf(2, 3), leaf(3, first=1.0)
    assert gradcheck(product, (x, y))
    assert gradgradcheck(product, (x, y))


def test_inputs_are_restored_and_collect_nothing() -> None:
    x = leaf(2, 2)
    before = x.tolist()
    assert gradcheck(lambda a: a.T * a, x)
    assert x.tolist() == before
    assert x.grad is None


def test_wrong_gradients_are_named() -> None:
    message = (
        r"gradcheck: expected the derivative of output 0\[1\] by input 0\[1\] to be 2\S* as by "
        r"finite differences, got 3; they may differ by"
    )
    with pytest.raises(GradcheckError, match=message):
        gradcheck(with_wrong_gradient, leaf(3))
    assert not gradcheck(with_wrong_gradient, leaf(3), raise_exception=False)
    assert issubclass(GradcheckError, loup.Error)


def test_wrong_gradients_of_gradients_are_found() -> None:
    def f(x: loup.Tensor) -> loup.Tensor:
        y = (x * x).detach() + (x - x.detach())  # x², with the gradient of x
        factor = 2 * x.detach()  # of x², but no function of x any more
        y.register_hook(lambda g: g * factor)
        return y

    assert gradcheck(f, leaf(2))
    assert not gradgradcheck(f, leaf(2), raise_exception=False)


def test_nan_is_a_failure() -> None:
    def f(x: loup.Tensor) -> loup.Tensor:
        y = x * 1
        y.register_hook(lambda g: g * float("nan"))
        return y

    assert not gradcheck(f, leaf(1), raise_exception=False)


def test_gradients_that_change_from_call_to_call_are_a_failure() -> None:
    calls = []

    def f(x: loup.Tensor) -> loup.Tensor:
        calls.append(1)
        y = x * 1
        factor = 1 + 1e-12 * len(calls)
        y.register_hook(lambda g: g * factor)
        return y

    with pytest.raises(GradcheckError, match="expected equal gradients of equal calls, got two"):
        gradcheck(f, leaf(1))


def test_several_outputs_and_other_arguments() -> None:
    x, y = leaf(2), leaf(2, first=1.0)
    scale = loup.tensor([2.0, 3.0], dtype="float64")

    def f(
        x: loup.Tensor, scale: loup.Tensor, power: int, y: loup.Tensor
    ) -> tuple[loup.Tensor, ...]:
        z = x
        for _ in range(power - 1):
            z = z * x
        return z.sum(), scale, z * y * scale, y.int()

    assert gradcheck(f, (x, scale, 3, y))
    assert gradgradcheck(f, (x, scale, 3, y))


def test_masked_garbage_is_no_trouble() -> None:
    x = loup.tensor([1.0, float("nan"), 3.0, float("inf")], dtype="float64", requires_grad=True)
    mask = loup.tensor([True, False, True, False])
    assert gradcheck(lambda a: (a * a).sum(mask=mask), x)
    assert gradgradcheck(lambda a: (a * a * a).sum(mask=mask), x)


def test_linear_functions_have_gradients_of_gradients_too() -> None:
    assert gradgradcheck(lambda a: a * 3, leaf(2))
    assert gradgradcheck(lambda a: a * a, leaf(2), loup.tensor([1.0, 2.0], dtype="float64"))


def test_0_d_and_empty_inputs() -> None:
    assert gradcheck(lambda a: a * a, leaf())
    assert gradcheck(lambda a: a * 2, leaf(0, 3))
    assert gradcheck(lambda a: a.sum() * 2, leaf(0, 3))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (lambda: loup.ones(2, "float64"), "expected an input that requires grad, got none"),
        (lambda: loup.ones(2).requires_grad_(), "expected inputs of float64, .* got loup.float32"),
        (lambda: leaf(2) * 1, "expected inputs that are leaves, got a computed one at position 0"),
        (
            lambda: loup.ones(1, "float64").expand(3).requires_grad_(),
            "expected inputs that hold each element once, got an expanded one at position 0",
        ),
    ],
    ids=["no gradient", "float32", "computed", "expanded"],
)
def test_inputs_must_be_fit_for_differences(
    inputs: Callable[[], loup.Tensor], message: str
) -> None:
    with pytest.raises(loup.ValueError, match=f"gradcheck: {message}"):
        gradcheck(lambda a: a * 2, inputs())


def test_functions_must_return_recorded_tensors() -> None:
    with pytest.raises(
        loup.ValueError, match="expected a function that returns tensors, got float"
    ):
        gradcheck(lambda a: 3.0, leaf(1))  # type: ignore[arg-type, return-value]
    with pytest.raises(
        loup.ValueError, match="expected an output with a gradient record, got none"
    ):
        gradcheck(lambda a: a.detach(), leaf(1))
