"""Data and masks of a case, laid out as it says, and the same data with poison under the mask."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.cases import Case

Array = np.ndarray[Any, Any]
View = Callable[[Array], Array]
POISON = (np.nan, np.inf, -np.inf, None)  # None: random bits


def carrier(dtype: str) -> np.dtype[Any]:
    """The NumPy dtype that elements travel in; bfloat16 has none of its own."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def _layout(strides: str, shape: tuple[int, ...]) -> tuple[tuple[int, ...], View]:
    """The shape of the memory, and the view of it that has `shape`."""
    if not shape:
        return shape, lambda base: base
    if strides == "transposed":
        return shape[::-1], lambda base: base.transpose()
    if strides == "sliced":
        inner = (slice(1, -1),) * len(shape)
        return tuple(size + 2 for size in shape), lambda base: base[inner]
    if strides == "stepped":
        odd = (slice(1, None, 2),) * len(shape)
        return tuple(2 * size + 1 for size in shape), lambda base: base[odd]
    if strides == "expanded":
        longest = shape.index(max(shape))
        kept = tuple(1 if i == longest else size for i, size in enumerate(shape))
        return kept, lambda base: np.broadcast_to(base, shape)
    if strides == "backward":
        return shape, lambda base: base[(slice(None, None, -1),) * len(shape)]
    return shape, lambda base: base


def _numbers(case: Case, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    dtype = carrier(case.dtype)
    if case.dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        if case.values == "special":
            limits = np.iinfo(dtype)
            extremes = np.array([limits.min, limits.max, 0, 1], dtype)
            return rng.choice(extremes, shape)
        low = 0 if dtype.kind == "u" else -4
        return rng.integers(low, 5, shape).astype(dtype)
    if case.values == "ties":
        return rng.choice(np.array([-1.5, -0.5, 0.5, 2.0]), shape).astype(dtype)
    numbers = rng.uniform(0.5, 2, shape) * rng.choice([-1.0, 1.0], shape)
    if case.values == "special":
        rare = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, np.finfo(dtype).tiny / 4])
        if case.op in ("prod", "cumprod"):
            rare = rare[:-1]  # whether 0 times inf is met depends on the order of factors
        numbers = np.where(rng.random(shape) < 0.1, rng.choice(rare, shape), numbers)
    numbers = numbers.astype(dtype)
    if case.dtype == "bfloat16":
        numbers = (numbers.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return numbers


def _mask(case: Case, rng: np.random.Generator) -> Array | None:
    shape, ndim = case.shape, len(case.shape)

    def random(size: tuple[int, ...]) -> Array:
        return rng.random(size) < 0.6

    def repeated(dim: int) -> Array:
        return random(tuple(1 if i == dim else size for i, size in enumerate(shape)))

    if case.mask == "none":
        return None
    if case.mask == "all":
        return np.ones((), bool)
    if case.mask == "nothing":
        return np.zeros((), bool)
    if case.mask == "integers":
        # Wide ones with a byte of 0, and bytes that are not 0 or 1.
        wide = np.array([0, 1, -1, 256, 512], np.int16)
        narrow = np.array([0, 0, 1, 2, 255], np.uint8)
        return rng.choice(wide if case.number % 2 else narrow, shape)
    if case.mask == "lower rank":
        return random(shape[1:])
    if case.mask == "whole slices":
        whole = random(shape)
        for dim in range(ndim):
            if shape[dim] > 1:
                whole[(slice(None),) * dim + (slice(0, 2),)] = False
                break
        return whole
    if case.mask in ("expanded", "transposed", "stepped"):
        base, view = _layout(case.mask, shape)
        return view(random(base))
    if ndim and case.mask.endswith("repeated"):
        return repeated({"first": 0, "middle": ndim // 2, "last": ndim - 1}[case.mask.split()[0]])
    return random(shape)


@dataclass
class Operands:
    """x and mask as arrays; `counts` is the mask as bool in the shape of x."""

    case: Case
    base: Array
    view: View
    mask: Array | None
    counts: Array
    rng: np.random.Generator

    @property
    def x(self) -> Array:
        return self.view(self.base)

    def poisoned(self) -> Iterator[Array]:
        """Yield x with other elements wherever nothing that counts is read."""
        used = np.zeros(self.base.shape, bool)
        if self.case.strides == "expanded" and self.case.shape:
            repeated = tuple(i for i, size in enumerate(self.base.shape) if size == 1)
            used[...] = self.counts.any(repeated, keepdims=True)
        else:
            self.view(used)[...] = self.counts
        for poison in POISON if self.base.dtype.kind == "f" else (None,):
            yield self.view(np.where(used, self.base, self._filling(poison)))

    def _filling(self, poison: float | None) -> Array:
        if poison is not None:
            return np.full(self.base.shape, poison, self.base.dtype)
        if self.base.dtype == bool:
            return self.rng.random(self.base.shape) < 0.5
        size = self.base.size * self.base.itemsize
        bits = self.rng.integers(0, 256, size, np.uint8).view(self.base.dtype)
        if self.case.dtype == "bfloat16":
            bits = (bits.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        return bits.reshape(self.base.shape)


def make(case: Case) -> Operands:
    """Return the operands of a case: always the same."""
    rng = np.random.default_rng(zlib.crc32(f"{case.op} {case.number}".encode()))
    base, view = _layout(case.strides, case.shape)
    numbers = _numbers(case, base, rng)
    mask = _mask(case, rng)
    counts = np.ones(case.shape, bool) if mask is None else np.broadcast_to(mask != 0, case.shape)
    return Operands(case, numbers, view, mask, counts, rng)
