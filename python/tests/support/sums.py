"""Sums by NumPy beside those of loup, for tests."""

import numpy as np

import loup

Axes = int | tuple[int, ...] | None


def small_integers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Elements whose sums are exact in every dtype, so that results can be compared as they are."""
    values = np.random.default_rng(seed).integers(-3, 5, shape)
    if dtype == "uint8":
        values = abs(values)
    return values.astype("float32" if dtype == "bfloat16" else dtype)


def random_mask(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random(shape) < 0.6


def tensor_of(array: np.ndarray, dtype: str) -> loup.Tensor:
    return loup.asarray(array, dtype)


def numpy_of(x: loup.Tensor) -> np.ndarray:
    return np.asarray(x.float() if x.dtype == "bfloat16" else x)


def numpy_sum(x: np.ndarray, dims: Axes, mask: np.ndarray | None, keepdim: bool = False) -> object:
    where = True if mask is None else np.broadcast_to(mask, x.shape).astype(bool)
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    return np.sum(x, axis=dims if x.ndim else None, where=where, keepdims=keepdim, dtype=wide)


def assert_same(result: loup.Tensor, expected: object) -> None:
    assert result.shape == np.shape(expected)
    np.testing.assert_array_equal(numpy_of(result), expected)
