"""What the right results of a row are, and how far a contestant's are from them."""

from __future__ import annotations

import dataclasses
import importlib
import math
from typing import Any

import numpy as np

from ..arrays import to_array
from ..case import Array, NotOffered, OtherTask
from .libraries import call_of
from .row import BY_NAME, TensorCase, mapped

# Largest error relative to the largest magnitude of the result.
OURS = {"float32": 3e-7, "float16": 1e-3, "bfloat16": 8e-3}
PEERS = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 1e-2}


def to_arrays(library: str, value: Any) -> list[Array]:
    """Convert a result, or several, to float64."""
    if isinstance(value, list | tuple):
        return [array for each in value for array in to_arrays(library, each)]
    if isinstance(value, bool | int | float):
        return [np.asarray(value, np.float64)]
    return [to_array(library, value)]


def _widened(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(np.float64)
    return value


def reference(case: TensorCase) -> list[Array] | None:
    """Return the right results: [] if any are, None if nobody knows them."""
    row = case.row
    if not row.is_checked:
        return []
    args = case.args if row.is_exact else tuple(mapped(_widened, value) for value in case.args)
    wide = dataclasses.replace(case, args=args)
    if row.reference is not BY_NAME:
        wide.row = dataclasses.replace(row, numpy=row.reference)
    for library in ("numpy", "torch"):
        try:
            importlib.import_module(library)
            return to_arrays(library, call_of(wide, library)())
        except (ImportError, NotOffered, OtherTask):
            continue
    return None


def error(results: list[Array], expected: list[Array]) -> float:
    """Return the largest error of the results that are expected, or infinity."""
    if len(results) < len(expected):
        return math.inf
    return max(_distance(*pair) for pair in zip(results, expected, strict=False))


def _distance(got: Array, expected: Array) -> float:
    if got.shape != expected.shape:
        return math.inf
    scale = float(np.abs(expected).max(initial=0.0, where=np.isfinite(expected))) or 1.0
    with np.errstate(invalid="ignore"):
        off = np.abs(got - expected)
    if not np.isfinite(off).all():  # equal infinities and NaN are right
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        off = np.where(same, 0.0, np.nan_to_num(off, nan=math.inf))
    return float(off.max(initial=0.0)) / scale
