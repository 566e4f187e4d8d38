"""loup.mlx: gradients, of any order and in both directions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mlx_cases import FLOATS, MASK, POISON, REDUCTIONS, array, call, masked, mx, numpy

COEFFICIENTS = np.sin(np.arange(60.0)).reshape(3, 4, 5)


def weighted(name: str, mask: Any, **options: Any) -> Callable[[Any], Any]:
    """A number made of the result of a call, each element with its own weight."""

    def f(x: Any) -> Any:
        y = call(name, x, mask, **options)
        if name == "log_softmax":
            y = mx.where(mask, y, mx.array(0, dtype=y.dtype))
        weights = array(COEFFICIENTS.reshape(-1)[: y.size].reshape(y.shape), "float64")
        return mx.sum(mx.where(mx.isfinite(y), y, 0) * weights.astype(y.dtype))

    return f


def differences(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """The gradient by central differences, in float64."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-5
        up, down = (numpy(f(array(x + s, "float64"))).item() for s in (step, -step))
        found[place] = (up - down) / 2e-5
    return found


NAMES = [*REDUCTIONS, "softmax", "log_softmax"]
DISTINCT = np.cos(np.arange(60.0) * 1.7).reshape(3, 4, 5)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_differences(name: str) -> None:
    f = weighted(name, mx.array(MASK), axis=1)
    found = mx.grad(f)(array(DISTINCT, "float64"))
    assert found.dtype == mx.float64
    np.testing.assert_allclose(numpy(found), differences(f, DISTINCT), atol=1e-8)
    assert (numpy(found)[~MASK] == 0).all()


@pytest.mark.parametrize("name", ["mean", "softmax", "log_softmax"])
def test_second_derivatives_are_those_of_differences(name: str) -> None:
    inner = weighted(name, mx.array(MASK), axis=1)

    def f(x: Any) -> Any:
        gradient = mx.grad(lambda x: inner(x) ** 2)(x)
        return mx.sum(gradient * array(COEFFICIENTS[::-1], "float64"))

    found = numpy(mx.grad(f)(array(DISTINCT, "float64")))
    np.testing.assert_allclose(found, differences(f, DISTINCT), atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_along_a_direction_agree_with_gradients(name: str) -> None:
    f, x = weighted(name, mx.array(MASK), axis=1), array(DISTINCT, "float64")
    direction = array(COEFFICIENTS, "float64")
    (_,), (along,) = mx.jvp(f, [x], [direction])
    expected = (numpy(mx.grad(f)(x)) * COEFFICIENTS).sum()
    np.testing.assert_allclose(numpy(along).item(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["mean", "softmax", "log_softmax"])
def test_derivatives_along_a_direction_have_gradients(name: str) -> None:
    inner = weighted(name, mx.array(MASK), axis=1)
    direction = array(COEFFICIENTS[::-1], "float64")

    def f(x: Any) -> Any:
        return mx.jvp(lambda x: inner(x) ** 2, [x], [direction])[1][0]

    found = numpy(mx.grad(f)(array(DISTINCT, "float64")))
    np.testing.assert_allclose(found, differences(f, DISTINCT), atol=1e-7)


@pytest.mark.parametrize("poison", POISON)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_masked_changes_no_bit_of_a_gradient(name: str, poison: float) -> None:
    mask, x = mx.array(MASK), array(DISTINCT)
    gradient = mx.grad(weighted(name, mask, axis=1))
    poisoned = mx.where(mask, x, mx.array(poison))
    assert numpy(gradient(poisoned)).tobytes() == numpy(gradient(x)).tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients_have_the_dtype_of_the_data(dtype: str) -> None:
    x = array([1.0, 2.0, 3.0], dtype)
    found = mx.grad(lambda x: masked.masked_mean(x, mx.array([True, False, True])))(x)
    assert found.dtype == x.dtype
    assert numpy(found).tolist() == [0.5, 0, 0.5]


def test_gradients_flow_through_what_is_around() -> None:
    x = mx.array([1.0, 2.0, 3.0])
    value, found = mx.value_and_grad(lambda x: masked.masked_sum(x * x, x > 1.5) * 2)(x)
    assert value.item() == 26
    assert found.tolist() == [0, 8, 12]


def test_gradients_of_several_arguments() -> None:
    x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    mask = mx.array([True, False])
    found = mx.grad(lambda x, y: masked.masked_sum(x * y, mask), argnums=(0, 1))(x, y)
    assert [each.tolist() for each in found] == [[3, 0], [1, 0]]


# --- integers ---

INTEGER_CALLS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda n: masked.masked_sum(n, None),
    "mean": lambda n: masked.masked_mean(n, None),
    "softmax": lambda n: masked.masked_softmax(n, None)[0],
    "max": lambda n: masked.MaskedArray(n, mx.ones_like(n)).max(),
}


def times_an_integer_result(name: str) -> Callable[[Any], Any]:
    """A function of which only the last factor has a derivative: the other one has steps."""

    def f(w: Any) -> Any:
        numbers = mx.stack([w * 2, w]).astype(mx.int32)
        return INTEGER_CALLS[name](numbers).astype(mx.float32) * w

    return f


@pytest.mark.parametrize("name", INTEGER_CALLS)
def test_integers_have_zero_gradients(name: str) -> None:
    f = times_an_integer_result(name)
    value, found = mx.value_and_grad(f)(mx.array(2.0))
    assert found.item() == pytest.approx(value.item() / 2)


@pytest.mark.parametrize("name", INTEGER_CALLS)
def test_integers_have_zero_derivatives_along_a_direction(name: str) -> None:
    f = times_an_integer_result(name)
    (value,), (along,) = mx.jvp(f, [mx.array(2.0)], [mx.array(3.0)])
    assert along.item() == pytest.approx(3 * value.item() / 2)


@pytest.mark.parametrize("name", INTEGER_CALLS)
def test_integers_have_zero_second_derivatives(name: str) -> None:
    f = times_an_integer_result(name)
    assert mx.grad(mx.grad(f))(mx.array(2.0)).item() == 0
    along = mx.grad(lambda w: mx.jvp(f, [w], [mx.array(3.0)])[1][0])
    assert along(mx.array(2.0)).item() == 0
