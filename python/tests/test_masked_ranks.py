"""Masked median, quantile, histogram, cov, corrcoef and weighted_mean, beside NumPy and torch."""

import importlib
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loup
from loup import masked

INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTERPOLATIONS = ["linear", "lower", "higher", "midpoint", "nearest"]
SEED = 7

VIEWS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T,
    "stepped": lambda a: a[::2, 1::3],
    "reversed": lambda a: a[::-1, ::-1],
    "sliced": lambda a: a[3:, 2:-5],
    "expanded": lambda a: np.broadcast_to(a[:1], a.shape),
}


def values(shape: tuple[int, ...], dtype: str, seed: int = SEED) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return rng.standard_normal(shape).astype("float32" if dtype == "bfloat16" else dtype)


def mask_for(shape: tuple[int, ...], share: float = 0.6) -> np.ndarray:
    return np.random.default_rng(SEED + 1).random(shape) < share


def numpy_of(x: Any) -> np.ndarray:
    return np.asarray(x.float() if x.dtype == "bfloat16" else x)


def naive(f: Callable[[np.ndarray], Any], x: np.ndarray, mask: np.ndarray, dim: int) -> np.ndarray:
    """Apply f to what counts of every line."""
    lines = np.moveaxis(x, dim, -1).reshape(-1, x.shape[dim])
    counts = np.moveaxis(np.broadcast_to(mask, x.shape), dim, -1).reshape(lines.shape)
    kept = [s for i, s in enumerate(x.shape) if i != dim % x.ndim]
    return np.array([f(line[m]) for line, m in zip(lines, counts, strict=True)]).reshape(kept)


def lower_median(line: np.ndarray) -> Any:
    return np.sort(line)[(len(line) - 1) // 2] if len(line) else math.nan


# --- median ---


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("view", VIEWS)
def test_median_is_the_lower_middle(view: str, dim: int, dtype: str) -> None:
    array = VIEWS[view](values((40, 60), dtype))
    mask = mask_for(array.shape)
    x = loup.asarray(array, dtype)
    expected = naive(lower_median, numpy_of(x), mask, dim)
    result = masked.median(x, dim, mask=mask)
    assert result.dtype == dtype
    np.testing.assert_array_equal(numpy_of(result), expected)
    np.testing.assert_array_equal(
        numpy_of(x.median(dim, mask=mask, keepdim=True)).squeeze(dim), expected
    )


@pytest.mark.parametrize("shape", [(3, 5000), (5000, 3), (2, 300, 40), (1, 1), (100_000,)])
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_median_of_long_and_short_lines(shape: tuple[int, ...], share: float) -> None:
    x, mask = values(shape, "float32"), mask_for(shape, share)
    for dim in range(len(shape)):
        result = numpy_of(masked.median(x, dim, mask=mask))
        np.testing.assert_array_equal(result, naive(lower_median, x, mask, dim))


def test_median_is_the_same_on_any_number_of_threads() -> None:
    x, mask = values((700, 900), "float32"), mask_for((700, 900))
    before = loup.num_threads()
    results = []
    for threads in (1, 2, 7):
        loup.set_num_threads(threads)
        results += [numpy_of(masked.median(x, dim, mask=mask)).tobytes() for dim in (0, 1)]
    loup.set_num_threads(before)
    assert results[0::2] == [results[0]] * 3
    assert results[1::2] == [results[1]] * 3


def test_median_agrees_with_torch() -> None:
    torch = pytest.importorskip("torch")
    x, mask = values((30, 50), "float32"), mask_for((30, 50))
    for dim in (0, 1):
        expected = torch.masked.median(torch.from_numpy(x), dim, mask=torch.from_numpy(mask))
        np.testing.assert_array_equal(numpy_of(masked.median(x, dim, mask=mask)), expected.numpy())


def test_median_of_a_valid_nan_is_nan() -> None:
    x = np.array([[1, np.nan, 3], [1, np.nan, 3]])
    mask = np.array([[True, True, True], [True, False, True]])
    np.testing.assert_array_equal(numpy_of(masked.median(x, mask=mask)), [np.nan, 1])


def test_median_where_nothing_counts() -> None:
    none = np.zeros((2, 3), bool)
    assert np.isnan(numpy_of(masked.median(np.ones((2, 3)), mask=none))).all()
    with pytest.raises(
        ValueError, match=r"^median: expected an element .* got a line that is fully"
    ):
        masked.median(np.ones((2, 3), np.int32), mask=none)
    result = loup.MaskedTensor(loup.ones((2, 3), dtype="int32"), loup.asarray(none)).median()
    assert numpy_of(result.get_data()).tolist() == [0, 0]
    assert numpy_of(result.get_mask()).tolist() == [False, False]


@pytest.mark.parametrize("dim", [None, (0,), [0, 1], True, 1.0, "0"])
def test_median_takes_one_int_as_dim(dim: Any) -> None:
    with pytest.raises(TypeError, match=r"^median: expected an int, got "):
        masked.median(np.ones((2, 3)), dim)
    with pytest.raises(TypeError, match=r"^median: expected an int, got "):
        masked.median(np.ones((2, 3)), axis=dim)


def test_median_accepts_the_spellings_of_numpy() -> None:
    x = values((3, 4), "float32")
    expected = numpy_of(masked.median(x, 0, keepdim=True))
    np.testing.assert_array_equal(numpy_of(masked.median(x, axis=0, keepdims=True)), expected)
    with pytest.raises(TypeError, match="median: expected dim or axis, got both"):
        masked.median(x, 0, axis=0)
    with pytest.raises(TypeError, match="median: expected keepdim or keepdims, got both"):
        masked.median(x, 0, keepdim=True, keepdims=True)
    with pytest.raises(TypeError, match="median: expected keepdim as a bool, got int"):
        masked.median(x, 0, keepdim=1)


def test_median_refuses_lines_without_elements() -> None:
    with pytest.raises(
        IndexError, match=r"median: expected elements along dim 1, got shape \[2, 0\]"
    ):
        masked.median(np.ones((2, 0)), 1)
    assert masked.median(np.ones((0, 2)), 1).shape == (0,)


def test_median_converts_first() -> None:
    result = masked.median(np.array([1.9, 2.9, 0.1]), dtype="int32")
    assert (result.dtype, result.item()) == ("int32", 1)


# --- quantile ---


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dim", [0, -1])
def test_quantile_agrees_with_numpy(dim: int, view: str, interpolation: str) -> None:
    x = VIEWS[view](values((40, 60), "float64"))
    mask = mask_for(x.shape)
    q = [0.0, 0.13, 0.5, 0.77, 1.0]
    result = masked.quantile(x, q, dim, interpolation=interpolation, mask=mask)
    assert result.shape == (5, *[s for i, s in enumerate(x.shape) if i != dim % 2])
    for i, each in enumerate(q):
        expected = naive(lambda line: np.quantile(line, each, method=interpolation), x, mask, dim)  # noqa: B023
        np.testing.assert_allclose(numpy_of(result)[i], expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("view", VIEWS)
def test_quantile_of_all_elements(view: str) -> None:
    x = VIEWS[view](values((40, 60), "float64"))
    mask = mask_for(x.shape)
    expected = np.quantile(x[mask], 0.3)
    assert masked.quantile(x, 0.3, mask=mask).item() == pytest.approx(expected, rel=1e-13)
    assert masked.quantile(x, 0.3, keepdim=True).shape == (1, 1)
    assert masked.quantile(x, [0.3], keepdim=True).shape == (1, 1, 1)


def test_quantile_of_a_long_line() -> None:
    x, mask = values((1_000_003,), "float32"), mask_for((1_000_003,))
    expected = np.quantile(x[mask].astype(np.float64), [0.001, 0.5, 0.9])
    before = loup.num_threads()
    for threads in (1, 2, 7):
        loup.set_num_threads(threads)
        result = masked.quantile(x, [0.001, 0.5, 0.9], mask=mask)
        np.testing.assert_allclose(numpy_of(result), expected, rtol=1e-6)
    loup.set_num_threads(before)


def test_quantile_agrees_with_torch() -> None:
    torch = pytest.importorskip("torch")
    x = values((30, 50), "float64")
    q = [0.1, 0.5, 0.95]
    for interpolation in INTERPOLATIONS:
        expected = torch.quantile(
            torch.from_numpy(x),
            torch.tensor(q, dtype=torch.float64),
            1,
            interpolation=interpolation,
        )
        result = masked.quantile(x, q, 1, interpolation=interpolation)
        np.testing.assert_allclose(numpy_of(result), expected.numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    "q", [0.5, [0.5], (0.5,), np.float64(0.5), np.array([0.5]), np.array(0.5), 1, np.float32(0.5)]
)
def test_quantile_takes_numbers_and_vectors(q: Any) -> None:
    leading = () if np.ndim(q) == 0 else (1,)
    assert masked.quantile(np.ones((2, 3)), q, 1).shape == (*leading, 2)
    assert masked.quantile(np.ones((2, 3)), loup.asarray(np.asarray(q)), 1).shape == (*leading, 2)


def test_quantile_refuses_bad_arguments() -> None:
    x = np.ones((2, 3))
    for q in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=f"quantile: expected q from 0 to 1, got {q}"):
            masked.quantile(x, q)
    with pytest.raises(TypeError, match="quantile: expected q as a number, got str"):
        masked.quantile(x, ["a"])
    with pytest.raises(ValueError, match="quantile: expected q as a number or a vector, got shape"):
        masked.quantile(x, np.ones((1, 1)))
    with pytest.raises(
        ValueError, match="quantile: expected interpolation as one of .* got 'cubic'"
    ):
        masked.quantile(x, 0.5, interpolation="cubic")
    with pytest.raises(ValueError, match="quantile: expected a floating dtype, got int32"):
        masked.quantile(x, 0.5, dtype="int32")
    with pytest.raises(TypeError, match="quantile: expected dim or axis, got both"):
        masked.quantile(x, 0.5, 0, axis=0)
    with pytest.raises(TypeError, match="quantile: expected an int, got tuple"):
        masked.quantile(x, 0.5, (0, 1))
    with pytest.raises(IndexError, match=re.escape("got shape [0]")):
        masked.quantile(np.ones(0), 0.5)


# --- histogram ---


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_histogram_agrees_with_numpy(dtype: str, view: str) -> None:
    x = VIEWS[view](np.rint(values((40, 60), "float64") * 50).astype(dtype))
    mask = mask_for(x.shape)
    for arguments in ({}, {"range": (-40, 60)}):
        hist, edges = masked.histogram(x, 13, mask=mask, **arguments)
        expected, expected_edges = np.histogram(x[mask].astype(np.float64), 13, **arguments)
        np.testing.assert_allclose(numpy_of(edges), expected_edges, rtol=1e-6, atol=1e-5)
        assert hist.dtype == "int64"
        assert numpy_of(hist).sum() == expected.sum()
        if dtype == "float64":
            np.testing.assert_array_equal(numpy_of(hist), expected)


def test_histogram_takes_edges_weights_and_density() -> None:
    x, mask = values((500,), "float64"), mask_for((500,))
    weight = np.abs(values((500,), "float64", 3))
    edges = [-3, -0.5, 0, 0.25, 4]
    for density in (False, True):
        hist, found = masked.histogram(x, edges, density=density, weight=weight, mask=mask)
        expected, _ = np.histogram(x[mask], edges, density=density, weights=weight[mask])
        np.testing.assert_allclose(numpy_of(hist), expected, rtol=1e-12)
        np.testing.assert_array_equal(numpy_of(found), edges)
    named = loup.MaskedTensor(loup.asarray(x), loup.asarray(mask)).histogram(4)
    assert named.hist.shape == (4,)
    assert named.bin_edges.shape == (5,)


def test_histogram_refuses_bad_arguments() -> None:
    x = np.ones(3)
    with pytest.raises(ValueError, match="histogram: expected at least 1 bin, got 0"):
        masked.histogram(x, 0)
    with pytest.raises(
        TypeError, match="histogram: expected range as a pair of numbers, got tuple"
    ):
        masked.histogram(x, 2, range=(1,))
    with pytest.raises(ValueError, match=r"expected a range that does not fall, got \(2, 1\)"):
        masked.histogram(x, 2, range=(2, 1))
    with pytest.raises(ValueError, match=r"histogram: expected a finite range, got \(nan, nan\)"):
        masked.histogram(np.array([1, np.nan]), 2)
    with pytest.raises(TypeError, match="histogram: expected density as a bool, got int"):
        masked.histogram(x, 2, density=1)


# --- covariance, correlation, weighted mean ---


def pair_of(x: np.ndarray, mask: np.ndarray, i: int, j: int) -> np.ndarray:
    both = mask[i] & mask[j]
    return np.stack([x[i][both], x[j][both]])


@pytest.mark.parametrize("op", ["cov", "corrcoef"])
def test_pairs_use_the_observations_that_both_have(op: str) -> None:
    x, mask = values((6, 50), "float64"), mask_for((6, 50))
    expected = [[getattr(np, op)(pair_of(x, mask, i, j))[0, 1] for j in range(6)] for i in range(6)]
    result = getattr(masked, op)(np.where(mask, x, np.nan), mask=mask)
    np.testing.assert_allclose(numpy_of(result), expected, rtol=1e-10, atol=1e-12)


def test_cov_agrees_with_numpy_and_torch_without_a_mask() -> None:
    x = values((6, 50), "float64")
    f, a = np.arange(50) % 4, np.linspace(0.1, 2, 50)
    for correction in (0, 1, 3):
        np.testing.assert_allclose(
            numpy_of(masked.cov(x, correction=correction, fweights=f, aweights=a)),
            np.cov(x, ddof=correction, fweights=f, aweights=a),
            rtol=1e-10,
        )
    np.testing.assert_allclose(numpy_of(loup.asarray(x).cov()), np.cov(x), rtol=1e-10)
    np.testing.assert_allclose(numpy_of(loup.corrcoef(x)), np.corrcoef(x), rtol=1e-10)
    torch = pytest.importorskip("torch")
    expected = torch.cov(torch.from_numpy(x[:1, :1]), correction=1).numpy()
    np.testing.assert_array_equal(np.isnan(numpy_of(masked.cov(x[0, :1]))), np.isnan(expected))


def test_cov_where_a_pair_has_nothing_in_common() -> None:
    mask = np.array([[True, True, False, False], [False, False, True, True]])
    x = loup.MaskedTensor(loup.asarray(values((2, 4), "float32")), loup.asarray(mask))
    result = x.cov()
    assert numpy_of(result.get_mask()).tolist() == [[True, False], [False, True]]
    assert np.isnan(numpy_of(result.get_data())).tolist() == [[False, True], [True, False]]
    found = loup.output_mask("corrcoef", x.get_data(), mask=mask)
    assert numpy_of(found).tolist() == [[True, False], [False, True]]


def test_weighted_mean_agrees_with_numpy() -> None:
    x, mask = values((6, 50), "float64"), mask_for((6, 50))
    weight = np.linspace(0.5, 2, 50)
    hidden = np.ma.array(x, mask=~mask)
    for dim in (0, 1):
        expected = np.ma.average(hidden, axis=dim, weights=np.broadcast_to(weight, x.shape))
        result = masked.weighted_mean(x, weight, dim, mask=mask)
        np.testing.assert_allclose(numpy_of(result), np.asarray(expected), rtol=1e-12)
    with pytest.raises(TypeError, match="weighted_mean: expected dim or axis, got both"):
        masked.weighted_mean(x, weight, 0, axis=0)


# --- what they have in common ---

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "median": lambda x, m: masked.median(x, mask=m),
    "quantile": lambda x, m: masked.quantile(x, [0.2, 0.5], -1, mask=m),
    "histogram": lambda x, m: masked.histogram(x, 5, mask=m)[0],
    "cov": lambda x, m: masked.cov(x, mask=m),
    "corrcoef": lambda x, m: masked.corrcoef(x, mask=m),
    "weighted_mean": lambda x, m: masked.weighted_mean(x, np.ones(50), 1, mask=m),
}


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("op", CALLS)
def test_what_is_masked_changes_no_bit(op: str, poison: float) -> None:
    x, mask = values((6, 50), "float32"), mask_for((6, 50))
    clean = numpy_of(CALLS[op](x, mask)).tobytes()
    assert numpy_of(CALLS[op](np.where(mask, x, np.float32(poison)), mask)).tobytes() == clean


@pytest.mark.parametrize("op", CALLS)
def test_masks_of_floats_are_refused(op: str) -> None:
    with pytest.raises(TypeError, match=f"{op}: expected a mask of bool or integers, got float64"):
        CALLS[op](values((6, 50), "float32"), np.ones((6, 50)))


@pytest.mark.parametrize("op", [op for op in CALLS if op != "histogram"])
def test_gradients_stay_where_the_mask_is_true(op: str) -> None:
    x, mask = values((6, 50), "float64"), mask_for((6, 50))
    leaf = loup.tensor(np.where(mask, x, np.nan), requires_grad=True)
    CALLS[op](leaf, mask).sum().backward()
    gradient = numpy_of(leaf.grad)
    assert np.isfinite(gradient).all()
    assert (gradient[~mask] == 0).all()


def test_they_are_listed_and_documented() -> None:
    for op in CALLS:
        assert op in masked.__all__
        assert getattr(masked, op).__doc__
        assert importlib.import_module("loup.masked") is masked
