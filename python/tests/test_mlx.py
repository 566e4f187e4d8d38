"""loup.mlx: masked sums, means and softmax of MLX arrays."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

mx = pytest.importorskip("mlx.core", reason="MLX is not installed")
import loup.mlx as masked  # noqa: E402

import loup  # noqa: E402

PAGE = Path(__file__).resolve().parents[2] / "docs/mlx.md"
FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-14}
REDUCTIONS = ["sum", "mean", "max", "min"]
AXES = [None, 0, 1, -1, (0, 2), [1, 2], (0, 1, 2)]
POISON = [math.nan, math.inf, -math.inf]

NUMBERS = (np.arange(60).reshape(3, 4, 5) * 7 % 11) - 4.0
MASK = np.arange(60).reshape(3, 4, 5) % 3 != 1
MASK[1] = False  # nothing counts
MASK[:, 2] = False


def array(values: Any, dtype: str = "float32") -> Any:
    wanted = mx.bool_ if dtype == "bool" else getattr(mx, dtype)
    return mx.array(np.asarray(values).tolist(), dtype=wanted)


def numpy(x: Any) -> np.ndarray:
    tensor = loup.asarray(x)
    return (tensor.float() if tensor.dtype is loup.bfloat16 else tensor).numpy()


def reduce_naively(name: str, x: np.ndarray, mask: np.ndarray, axis: Any) -> np.ndarray:
    axes = tuple(axis) if isinstance(axis, list) else axis
    mask = np.broadcast_to(mask, x.shape)
    with np.errstate(all="ignore"):
        if name == "sum":
            return np.sum(x, axis=axes, where=mask)
        if name == "mean":
            return np.sum(x, axis=axes, where=mask) / np.sum(mask, axis=axes)
        if name == "max":
            return np.max(x, axis=axes, where=mask, initial=-np.inf)
        return np.min(x, axis=axes, where=mask, initial=np.inf)


def softmax_naively(x: np.ndarray, mask: np.ndarray, axis: int) -> np.ndarray:
    exp = np.where(mask, np.exp(x), 0)
    total = exp.sum(axis, keepdims=True)
    return np.where(total > 0, exp / np.where(total > 0, total, 1), 0)


def call(name: str, x: Any, mask: Any, **options: Any) -> Any:
    if name in {"sum", "mean", "softmax", "log_softmax"}:
        return getattr(masked, f"masked_{name}")(x, mask, **options)
    return getattr(masked.MaskedArray(x, mask), name)(**options)


# --- values ---


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", AXES, ids=repr)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_those_of_what_counts(name: str, axis: Any, dtype: str) -> None:
    found = call(name, array(NUMBERS, dtype), mx.array(MASK), axis=axis)
    expected = reduce_naively(name, NUMBERS, MASK, axis)
    assert found.dtype == getattr(mx, dtype)
    assert found.shape == expected.shape
    np.testing.assert_allclose(numpy(found), expected, rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_softmax_is_that_of_what_counts(axis: int, dtype: str) -> None:
    x, mask = array(NUMBERS, dtype), mx.array(MASK)
    expected = softmax_naively(NUMBERS, MASK, axis)
    found = masked.masked_softmax(x, mask, axis=axis)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(
        numpy(found), expected, rtol=10 * TOLERANCE[dtype], atol=TOLERANCE[dtype]
    )
    assert (numpy(found)[~MASK] == 0).all()
    with np.errstate(divide="ignore"):
        logarithm = np.log(expected)
    found = numpy(masked.masked_log_softmax(x, mask, axis=axis))
    np.testing.assert_allclose(
        found, logarithm, rtol=10 * TOLERANCE[dtype], atol=10 * TOLERANCE[dtype]
    )
    assert (found[~MASK] == -np.inf).all()


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
@pytest.mark.parametrize("axis", [None, 0, (1, 2)])
def test_integers_have_exact_sums_and_float_means(axis: Any, dtype: str) -> None:
    numbers = np.abs(NUMBERS).astype(dtype)
    x, mask = array(numbers, dtype), mx.array(MASK)
    total, mean = masked.masked_sum(x, mask, axis), masked.masked_mean(x, mask, axis)
    assert (total.dtype, mean.dtype) == (mx.int64, mx.float32)
    assert numpy(total).tolist() == np.sum(numbers, axis, where=MASK, dtype="int64").tolist()
    expected = reduce_naively("mean", numbers.astype("float64"), MASK, axis)
    np.testing.assert_allclose(numpy(mean), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_without_anything_that_counts_have_the_limits(dtype: str) -> None:
    x = masked.MaskedArray(array([1, 2], dtype), mx.array([False, False]))
    limits = np.iinfo(dtype)
    assert (x.max().item(), x.min().item()) == (limits.min, limits.max)
    assert (x.max().dtype, x.min().dtype) == (getattr(mx, dtype),) * 2


def test_nothing_has_defined_values() -> None:
    x, mask = mx.array([[1.0, 2.0]]), mx.array([[False, False]])
    assert masked.masked_sum(x, mask, axis=1).tolist() == [0]
    assert math.isnan(masked.masked_mean(x, mask).item())
    assert masked.MaskedArray(x, mask).max(axis=1).tolist() == [-math.inf]
    assert masked.MaskedArray(x, mask).min(axis=1).tolist() == [math.inf]
    assert masked.masked_softmax(x, mask).tolist() == [[0, 0]]
    assert masked.masked_log_softmax(x, mask).tolist() == [[-math.inf, -math.inf]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_counts_are_integers(dtype: str) -> None:
    """In the dtype of the data the count would stop at 2048, or 256."""
    x = mx.full((5000,), 3.0, dtype=getattr(mx, dtype))
    mask = mx.arange(5000) % 5 != 0
    assert masked.masked_mean(x, mask).item() == 3


def test_means_of_large_integers_are_rounded_once() -> None:
    x = mx.array([2**53 + 2, 2**53 + 4], dtype=mx.int64)
    assert masked.masked_mean(x, None).item() == float(np.float32(2.0**53 + 3))


def test_float64_is_kept_to_the_last_digit() -> None:
    x = mx.array([1.0, 1.0], dtype=mx.float64) / mx.array([3.0, 7.0], dtype=mx.float64)
    assert numpy(masked.masked_sum(x, mx.array([True, False]))).item() == 1 / 3


@pytest.mark.parametrize("poison", POISON)
@pytest.mark.parametrize("name", [*REDUCTIONS, "softmax", "log_softmax"])
def test_what_is_masked_changes_no_bit(name: str, poison: float) -> None:
    mask = mx.array(MASK)
    clean = numpy(call(name, array(NUMBERS), mask, axis=1))
    poisoned = mx.where(mask, array(NUMBERS), mx.array(poison))
    assert numpy(call(name, poisoned, mask, axis=1)).tobytes() == clean.tobytes()


@pytest.mark.parametrize("shape", [(3, 1, 1), (5,), (1, 4, 1), (3, 4, 5), ()])
def test_masks_are_broadcast(shape: tuple[int, ...]) -> None:
    mask = (np.arange(math.prod(shape)).reshape(shape) % 2 == 0) if shape else np.array(True)
    x = array(NUMBERS)
    expected = reduce_naively("mean", NUMBERS, mask, 2)
    np.testing.assert_allclose(numpy(masked.masked_mean(x, array(mask, "bool"), 2)), expected)


def test_no_mask_means_that_everything_counts() -> None:
    x = array(NUMBERS)
    assert masked.masked_sum(x, None).item() == NUMBERS.sum()
    found, expected = masked.masked_softmax(x, None), mx.softmax(x, axis=-1)
    np.testing.assert_allclose(numpy(found), numpy(expected), rtol=1e-6)


def test_masks_may_be_integers() -> None:
    x = mx.array([1.0, 2.0, 4.0])
    assert masked.masked_sum(x, mx.array([1, 0, 2])).item() == 5
    assert masked.MaskedArray(x, mx.array([1, 0, 2])).sum().item() == 5


VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.T,
    "stepped": lambda x: x[::2, 1::2],
    "reversed": lambda x: x[::-1],
    "repeated": lambda x: mx.broadcast_to(x[:1], x.shape),
    "not evaluated": lambda x: mx.where(x == x, x, x),
    "0-d": lambda x: x[1, 0, 0],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_read_as_they_are(view: str) -> None:
    x, mask = VIEWS[view](array(NUMBERS)), VIEWS[view](array(MASK, "bool"))
    values, counts = np.array(x), np.array(mask)
    assert masked.masked_sum(x, mask).item() == values[counts].sum()


@pytest.mark.parametrize("name", ["sum", "mean", "softmax"])
def test_arrays_without_elements_are_fine(name: str) -> None:
    x, mask = mx.zeros((0, 3)), mx.zeros((0, 3), dtype=mx.bool_)
    assert call(name, x, mask, axis=-1).shape == ((0, 3) if name == "softmax" else (0,))


# --- the forms of a call ---


@pytest.mark.parametrize("name", REDUCTIONS)
def test_dim_and_keepdim_are_axis_and_keepdims(name: str) -> None:
    x, mask = array(NUMBERS), mx.array(MASK)
    expected = call(name, x, mask, axis=(0, 2), keepdims=True)
    assert expected.shape == (1, 4, 1)
    found = call(name, x, mask, dim=(0, 2), keepdim=True)
    assert numpy(found).tobytes() == numpy(expected).tobytes()


def test_methods_are_the_functions() -> None:
    x, mask = array(NUMBERS), mx.array(MASK)
    both = masked.MaskedArray(x, mask)
    assert (both.shape, both.ndim, both.dtype) == ((3, 4, 5), 3, mx.float32)
    for method, function in [
        (both.sum, masked.masked_sum),
        (both.mean, masked.masked_mean),
        (both.softmax, masked.masked_softmax),
    ]:
        for options in ({"axis": 1}, {"dim": 0}, {}):
            assert (
                numpy(method(**options)).tobytes() == numpy(function(x, mask, **options)).tobytes()
            )


def test_a_masked_array_prints_what_counts() -> None:
    x = masked.MaskedArray(mx.array([1.0, 2.0]), mx.array([True, False]))
    assert repr(x) == "MaskedArray(\n  [ 1.0,   --]\n)"


def test_a_masked_array_becomes_a_masked_tensor_of_the_same_memory() -> None:
    data = mx.array([1.0, 2.0])
    x = masked.MaskedArray(data, mx.array([True, False])).to_loup()
    assert x.tolist() == [1, None]
    assert x.get_data().data_ptr() == loup.asarray(data).data_ptr()


X = mx.array([[1.0, 2.0, 3.0]])
M = mx.array([[True, False, True]])
REFUSED: dict[str, tuple[Callable[[], Any], type, str]] = {
    "axis and dim": (
        lambda: masked.masked_sum(X, M, axis=1, dim=0),
        TypeError,
        "masked_sum: expected axis or dim, got both: 1 and 0",
    ),
    "softmax by axis and dim": (
        lambda: masked.masked_softmax(X, M, axis=0, dim=1),
        TypeError,
        "masked_softmax: expected axis or dim, got both",
    ),
    "a list": (
        lambda: masked.masked_mean([1.0], M),
        TypeError,
        "masked_mean: expected data as an mlx.core.array, got list",
    ),
    "a NumPy mask": (
        lambda: masked.masked_sum(X, np.array(M)),
        TypeError,
        "masked_sum: expected mask as an mlx.core.array, got ndarray",
    ),
    "a float mask": (
        lambda: masked.masked_sum(X, X),
        TypeError,
        "sum: expected a mask of bool or integers, got float32",
    ),
    "a MaskedArray with a float mask": (
        lambda: masked.MaskedArray(X, X),
        TypeError,
        "MaskedArray: expected a mask of bool or integers, got mlx.core.float32",
    ),
    "a mask of another shape": (
        lambda: masked.masked_sum(X, M[:, :2]),
        ValueError,
        "sum: expected a mask broadcastable to [1, 3], got shape [1, 2]",
    ),
    "a MaskedArray of two shapes": (
        lambda: masked.MaskedArray(X, M[0]),
        ValueError,
        "MaskedArray: expected a mask of shape (1, 3), got (3,)",
    ),
    "a MaskedArray without a mask": (
        lambda: masked.MaskedArray(X, None),
        TypeError,
        "MaskedArray: expected mask as an mlx.core.array, got NoneType",
    ),
    "an axis out of range": (
        lambda: masked.masked_sum(X, M, axis=2),
        IndexError,
        "sum: expected a dim from -2 to 1, got 2",
    ),
    "uint16": (
        lambda: masked.masked_sum(X.astype(mx.uint16), M),
        TypeError,
        "masked_sum: expected bool, uint8, int8 to int64, float16, bfloat16, float32 or float64, "
        "got mlx.core.uint16",
    ),
    "complex numbers": (
        lambda: masked.masked_softmax(X.astype(mx.complex64), M),
        TypeError,
        "or float64, got mlx.core.complex64",
    ),
    "compile": (
        lambda: mx.compile(lambda x: masked.masked_sum(x, M))(X),
        NotImplementedError,
        "masked_sum: expected an array with values, got one inside of mx.compile or mx.vmap",
    ),
    "vmap": (
        lambda: mx.vmap(lambda x: masked.masked_softmax(x, None))(X),
        NotImplementedError,
        "masked_softmax: expected an array with values, got one inside of mx.compile or mx.vmap",
    ),
}


@pytest.mark.parametrize(("run", "error", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_errors_say_what_was_expected(run: Callable[[], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        run()


# --- gradients ---

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


# --- the recipes of the documentation ---

ROW = re.compile(r"^\| `(?P<theirs>.+?)` \| `(?P<ours>.+?)` \|$", re.MULTILINE)
RECIPES = ROW.findall(PAGE.read_text().split("## Recipes")[1])


def test_the_page_has_recipes() -> None:
    assert len(RECIPES) == 6


@pytest.mark.parametrize(("theirs", "ours"), RECIPES, ids=[ours for _, ours in RECIPES])
def test_each_recipe_gives_the_same(theirs: str, ours: str) -> None:
    mask = MASK[0].copy()
    mask[2] = [True, False, True, True, False]
    given = {"mx": mx, "x": array(NUMBERS[0]), "m": mx.array(mask)}
    expected = eval(theirs, given)
    found = eval(ours, {**given, **vars(masked)})
    np.testing.assert_allclose(numpy(found), numpy(expected), rtol=1e-5, atol=1e-6)


# --- importing ---


def test_loup_does_not_import_mlx(run_python: Callable[..., Any]) -> None:
    done = run_python("import sys, loup; loup.ones(3).sum(); sys.exit('mlx' in sys.modules)")
    assert done.returncode == 0, done.stderr
