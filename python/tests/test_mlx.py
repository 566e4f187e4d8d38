"""loup.mlx: the values of masked sums, means and softmax of MLX arrays."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlx_cases import FLOATS, MASK, NUMBERS, POISON, REDUCTIONS, array, call, masked, mx, numpy

PAGE = Path(__file__).resolve().parents[2] / "docs/mlx.md"
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-14}
AXES = [None, 0, 1, -1, (0, 2), [1, 2], (0, 1, 2)]


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
