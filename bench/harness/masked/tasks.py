"""The tasks of each family: data, mask, dims and the bytes that have to move.

A task is written once and applied to every op that the library lists in its family.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..case import Array, Case, Pass, reading, span

SIDE = 4096
SMALL = 64  # elements; their time is the cost of a call, and no limit is near it


@dataclass(kw_only=True)
class MaskedCase(Case):
    """Reduce `x` over `dim`, where `mask` is true."""

    x: Array
    mask: Array
    dim: int | None
    passes: list[Pass] = field(default_factory=list)  # what the limit does
    backward: bool = False
    lengths: Array | None = None  # of the sequences of a padded batch
    keep: Any = None  # owners of the memory

    def details(self) -> dict[str, Any]:
        return {"shape": list(self.x.shape), "dtype": self.dtype, "dim": self.dim}


def values(op: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return float32 data; even the product of all stays a normal number."""
    if op == "prod":
        return rng.uniform(0.999, 1.001, shape).astype(np.float32)
    return rng.standard_normal(shape, dtype=np.float32)


def valid(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return a mask with every second element valid, at random."""
    return rng.integers(0, 2, shape, dtype=np.uint8).view(np.bool_)


def dense(op: str, task: str, shape: tuple[int, ...], dim: int | None) -> MaskedCase:
    """Return a case of contiguous data, of which every second element counts."""
    rng = np.random.default_rng(1)
    x, mask = values(op, shape, rng), valid(shape, rng)
    passes = [reading(x, mask)] if x.size > SMALL else []
    return MaskedCase(op=op, task=task, x=x, mask=mask, dim=dim, passes=passes)


def _of_dtype(op: str, task: str, dtype: str) -> MaskedCase:
    case = dense(op, task, (SIDE, SIDE), -1)
    case.dtype = dtype
    if dtype == "int32":
        case.x = np.rint(case.x * 100).astype(np.int32)
    elif dtype == "bfloat16":
        bits = case.x.view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        case.x = (rounded << 16).view(np.float32)  # exact in bfloat16; peers make their own copy
        case.keep = rounded.astype(np.uint16)
        case.passes = [reading(case.keep, case.mask)]
        return case
    else:
        case.x = case.x.astype(dtype)
    case.passes = [reading(case.x, case.mask)]
    return case


def _transposed(op: str, task: str) -> MaskedCase:
    case = dense(op, task, (SIDE, SIDE), -1)
    case.x, case.mask = case.x.T, case.mask.T
    return case


def _mixed(op: str, task: str) -> MaskedCase:
    case = dense(op, task, (SIDE, SIDE), -1)
    case.mask = case.mask.T
    return case


def _pool(op: str, task: str, shape: tuple[int, int, int] = (64, 512, 1024)) -> MaskedCase:
    rng = np.random.default_rng(2)
    batch, length, _ = shape
    x = values(op, shape, rng)
    lengths = rng.integers(1, length + 1, batch)
    mask = np.ascontiguousarray((np.arange(length) < lengths[:, None])[:, :, None])
    rows = reading(*(x[b, :n] for b, n in enumerate(lengths)), mask)
    note = "only the valid rows and the mask count as bytes to read"
    return MaskedCase(
        op=op, task=task, x=x, mask=mask, dim=1, lengths=lengths, passes=[rows], note=note
    )


def _mapped(op: str, task: str) -> MaskedCase:
    case = dense(op, task, (SIDE, SIDE), -1)
    with tempfile.NamedTemporaryFile(prefix="loup-bench-", suffix=".bin") as file:
        mapped = np.memmap(file.name, dtype=np.float32, mode="w+", shape=case.x.shape)
    mapped[:] = case.x  # the mapping outlives the name of its file
    case.x = mapped.view(np.ndarray)
    case.passes = [reading(case.x, case.mask)]
    return case


def _backward(op: str, task: str) -> MaskedCase:
    case = dense(op, task, (SIDE, SIDE), None)
    case.backward = True
    case.passes += [reading(case.mask), Pass("write", [span(case.x)])]
    case.note = "reduces everything; the limit reads x, reads the mask twice, writes the gradient"
    return case


Build = Callable[[str, str], MaskedCase]


def _shape(*shape: int, dim: int | None) -> Build:
    return lambda op, task: dense(op, task, shape, dim)


def _dtype(dtype: str) -> Build:
    return lambda op, task: _of_dtype(op, task, dtype)


_ALL: dict[str, Build] = {
    "row": _shape(SIDE, SIDE, dim=-1),
    "column": _shape(SIDE, SIDE, dim=0),
    "all": _shape(SIDE, SIDE, dim=None),
    "pool": _pool,
    "transposed": _transposed,
    "mixed": _mixed,
    "mapped": _mapped,
    "short8": _shape(1_000_000, 8, dim=-1),
    "short40": _shape(200_000, 40, dim=-1),
    "short64": _shape(65_536, 64, dim=-1),
    "cache": _shape(256, 1024, dim=-1),
    "small": _shape(64, dim=-1),
    "row_f64": _dtype("float64"),
    "row_f16": _dtype("float16"),
    "row_bf16": _dtype("bfloat16"),
    "row_i32": _dtype("int32"),
    "backward": _backward,
}
# What differs between reductions; the rest shows how any of them walks, and sum stands for that.
_SOME = ("row", "column", "all", "pool", "transposed", "short64", "cache", "small", "row_f64")
_MORE = {
    "mean": ("row_bf16", "row_i32", "backward"),
    "prod": ("row_bf16",),
    "amax": ("row_bf16", "row_i32", "mapped"),
    "argmax": ("row_bf16", "row_i32"),
    "var": ("row_bf16", "row_i32", "mapped"),
    "norm": ("row_bf16",),
    "logsumexp": ("row_bf16",),
}
_FAMILIES = ("reduction", "deviation", "norm")
_WITHOUT = ("any", "all", "count")  # they read a byte for each element, or none


def tasks_of(op: str, family: str) -> dict[str, Build]:
    """Return the tasks of one op."""
    if family not in _FAMILIES or op in _WITHOUT:
        return {}
    if op == "sum":
        return _ALL
    return {task: _ALL[task] for task in (*_SOME, *_MORE.get(op, ()))}
