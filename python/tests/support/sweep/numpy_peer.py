"""NumPy's own functions with `where=`, for the operators that have one there."""

from __future__ import annotations

import warnings

import numpy as np

from sweep.cases import FLOATS
from sweep.operands import Array, Operands
from sweep.reference import EPS, cast, result_dtype

NAME = "numpy"
_WHERE = frozenset({"sum", "prod", "mean", "amax", "amin", "var", "std", "any", "all"})


def result(operands: Operands) -> Array | None:
    """What NumPy gives in float64 or int64; None where it has no such call."""
    case = operands.case
    if case.op not in _WHERE or cast(case) is not None or not case.shape:
        return None
    x = operands.x.astype(np.float64 if case.dtype in FLOATS else np.int64)
    keywords: dict[str, object] = {
        "axis": None if case.dims == () else case.dims,
        "keepdims": case.options.get("keepdim", False),
        "where": operands.counts,
    }
    if case.op in ("amax", "amin"):
        if case.dtype in FLOATS:
            limit = -np.inf if case.op == "amax" else np.inf
        elif case.dtype == "bool":
            limit = int(case.op == "amin")
        else:
            limits = np.iinfo(case.dtype)
            limit = limits.min if case.op == "amax" else limits.max
        keywords["initial"] = limit
    if case.op in ("var", "std"):
        keywords["ddof"] = case.options["correction"]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no degrees of freedom
        return np.asarray(getattr(np, case.op)(x, **keywords))


def differs(operands: Operands, got: Array, want: Array) -> str | None:
    """What is wrong beside NumPy; None if nothing is."""
    case = operands.case
    dtype = result_dtype(case)
    if case.op in ("var", "std"):
        # NumPy divides by a negative number of degrees of freedom.
        want = np.where(np.isfinite(want), want, got)
    sizes = np.abs(operands.x.astype(np.float64))
    largest = float(sizes.max(initial=0, where=np.isfinite(sizes) & operands.counts))
    largest += float(np.abs(want.astype(np.float64)).max(initial=0, where=np.isfinite(want)))
    tolerance = 32 * EPS.get(dtype, 0.0) * (1 + largest)
    with np.errstate(all="ignore"):
        near = np.abs(got.astype(np.float64) - want) <= tolerance
        limit = {"float16": 65504.0, "float32": 3.4e38, "bfloat16": 3.4e38}.get(dtype, np.inf)
        overflow = np.isinf(got.astype(np.float64)) & (np.abs(want) >= limit * 0.99)
    same = (got == want) | ((got != got) & (want != want))
    if (same | near | overflow).all():
        return None
    return f"expected NumPy's {want.tolist()}, got {got.tolist()}"
