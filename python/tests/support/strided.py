"""Arrays with all kinds of strides, and comparisons that look at every bit."""

from collections.abc import Callable

import numpy as np

import loup

# Each gives a view of shape (4, 6) of a bigger array, or a whole one.
STRIDES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": lambda a: a[:4, :6].copy(),
    "transposed": lambda a: a[:6, :4].T,
    "stepped": lambda a: a[::3, 1::2],
    "sliced": lambda a: a[3:7, 2:8],
    "reversed": lambda a: a[3::-1, 5::-1],
    "expanded rows": lambda a: np.broadcast_to(a[0, :6], (4, 6)),
    "expanded columns": lambda a: np.broadcast_to(a[:4, :1], (4, 6)),
    "column-major": lambda a: np.asfortranarray(a[:4, :6]),
}


def rng(*salt: object) -> np.random.Generator:
    """Random numbers that depend on what is tested only."""
    return np.random.default_rng(list(repr(salt).encode()))


def random_array(generator: np.random.Generator, shape: tuple, dtype: str) -> np.ndarray:
    """Any integers, or floats of both signs with ties, denormals and zeros."""
    if dtype == "bool":
        return generator.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return generator.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values = generator.normal(size=shape).astype(dtype)
    tiny = np.finfo(dtype).smallest_subnormal
    special = np.array([0.0, -0.0, 1.0, -1.0, tiny, -tiny], dtype)
    return np.where(generator.random(shape) < 0.3, generator.choice(special, shape), values)


def strided_array(name: str, dtype: str, generator: np.random.Generator) -> np.ndarray:
    return STRIDES[name](random_array(generator, (10, 12), dtype))


def assert_same(result: loup.Tensor, expected: np.ndarray) -> None:
    """Shape, dtype and bits."""
    expected = np.asarray(expected)
    assert result.shape == expected.shape
    assert str(result.dtype).removeprefix("loup.") == str(expected.dtype)
    array = np.ascontiguousarray(np.asarray(result))
    assert array.tobytes() == np.ascontiguousarray(expected).tobytes(), (array, expected)
