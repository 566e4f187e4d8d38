"""Arguments of the rows: the same numbers in every run, and smaller ones for a trial."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..case import Array

ALIGNMENT = 64  # as loup and torch align their own memory; NumPy's is given the same
KEPT = 16  # arrays that rows share


class DType(str):
    """The name of a dtype; every library is given its own."""


def aligned(array: Array) -> Array:
    """Return a copy of a dense array that begins at a cache line."""
    room = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@functools.lru_cache(maxsize=KEPT)
def _normal(shape: tuple[int, ...], seed: int) -> Array:
    return aligned(np.random.default_rng(seed).standard_normal(shape, dtype=np.float32))


@functools.lru_cache(maxsize=KEPT)
def _uniform(shape: tuple[int, ...], seed: int, low: float, high: float) -> Array:
    numbers = np.random.default_rng(seed).random(shape, dtype=np.float32)
    return aligned(np.float32(low) + numbers * np.float32(high - low))


@functools.lru_cache(maxsize=KEPT)
def _integers(shape: tuple[int, ...], seed: int, low: int, high: int, dtype: str) -> Array:
    return aligned(np.random.default_rng(seed).integers(low, high, shape, dtype=dtype))


@dataclass(frozen=True)
class Data:
    """Makes arrays; sizes above 16 are divided by `shrink`, the same ones always alike."""

    shrink: int = 1

    def size(self, size: int) -> int:
        return size if size <= 16 or self.shrink == 1 else max(16, size // self.shrink)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.size(size) for size in shape)

    def normal(self, *shape: int, seed: int = 1) -> Array:
        return _normal(self.shape(shape), seed)

    def uniform(self, low: float, high: float, *shape: int, seed: int = 1) -> Array:
        return _uniform(self.shape(shape), seed, low, high)

    def integers(
        self, low: int, high: int, *shape: int, seed: int = 1, dtype: str = "int32"
    ) -> Array:
        return _integers(self.shape(shape), seed, low, high, dtype)

    def eighths(self, low: int, high: int, *shape: int, seed: int = 1) -> Array:
        """Return multiples of 1/8: their quotients are never close to an integer but exact."""
        return self.integers(low, high, *shape, seed=seed).astype(np.float32) / 8

    def mask(self, *shape: int, seed: int = 1) -> Array:
        return self.integers(0, 2, *shape, seed=seed, dtype="uint8").view(np.bool_)

    def indices(self, below: int, *shape: int, seed: int = 1) -> Array:
        """Return places along a dim of size `below`, itself divided by `shrink`."""
        return self.integers(0, self.size(below), *shape, seed=seed, dtype="int64")

    def permutation(self, count: int, seed: int = 1) -> Array:
        return np.random.default_rng(seed).permutation(self.size(count))


Arguments = Callable[[Data], tuple[Any, ...]]
