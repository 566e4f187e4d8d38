"""torch.masked, for every case in which it is not known to do something else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sweep.cases import FLOATS
from sweep.operands import Array, Operands
from sweep.reference import cast, dims_of

try:
    import torch
    import torch.masked
except ImportError:  # a neighbour, not a dependency
    torch = None  # type: ignore[assignment]

NAME = "torch"
TOLERANCE = {"float16": 2e-2, "bfloat16": 6e-2, "float32": 2e-5, "float64": 1e-11}
_LINES = frozenset({"softmax", "log_softmax", "softmin"})
_CAST_FIRST = frozenset({"sum", "mean", "cumsum", "cumprod", *_LINES})


def _is_different(operands: Operands) -> bool:
    """Whether torch.masked is specified to do something else here, or cannot do it."""
    case, x, counts = operands.case, operands.x, operands.counts
    is_int = case.dtype not in FLOATS
    if cast(case) is not None and case.op not in _CAST_FIRST:
        return True  # the result is cast, not the input
    if is_int and case.op in ("mean", "logsumexp", "norm", "median", "cumsum", "cumprod"):
        return True  # refused, truncated, or made in the dtype of the input
    if case.dtype == "bool" or (is_int and cast(case) and case.op in _LINES):
        return True  # refused, or integers that fill leak
    # Fills are elements that count, too: -inf, the limits of integers; medians skip NaN; masked
    # elements of a line that is NaN are 0 for us.
    if case.values == "special" and (
        is_int or case.op in ("argmax", "argmin", "median", "normalize", *_LINES)
    ):
        return True
    if case.dtype in ("uint8", "int8") and case.op in ("argmax", "argmin"):
        return True  # the index is made one of these, and a fill is an element
    if case.dtype in ("float16", "bfloat16") and case.op in ("prod", "cumprod"):
        return True  # rounded after every factor
    if case.op == "norm" and case.options["ord"] < 0:
        return True  # masked elements give 0
    if case.op == "norm" and case.options["ord"] == 0 and np.isnan(x).any():
        return True
    dims = tuple(dims_of(case))
    if case.op in _LINES and not counts.any(dims or None).all():
        return True  # NaN where nothing counts
    return len(dims) != len(set(dims))


def _tensor(x: Array, dtype: str) -> Any:
    tensor = torch.from_numpy(np.array(x))
    return tensor.to(torch.bfloat16) if dtype == "bfloat16" else tensor


def _call(operands: Operands, x: Any) -> Any:
    case = operands.case
    keywords = {key: value for key, value in case.options.items() if key not in ("dtype", "ord")}
    if cast(case) is not None:
        keywords["dtype"] = getattr(torch, str(cast(case)))
    if operands.mask is not None:
        keywords["mask"] = torch.from_numpy(operands.counts.copy())
    if case.op in ("var", "std"):
        keywords["correction"] = case.options["correction"]
    function = getattr(torch.masked, case.op)
    if "ord" in case.options:
        return function(x, float(case.options["ord"]), case.dims, **keywords)
    return function(x, case.dims, **keywords)


def result(operands: Operands) -> Array | None:
    """What torch.masked gives, in float64 or int64; None where it is not to be compared."""
    if torch is None or not hasattr(torch.masked, operands.case.op) or _is_different(operands):
        return None
    try:
        y = _call(operands, _tensor(operands.x, operands.case.dtype))
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError):
        return None
    values: Array = (y.double() if y.is_floating_point() else y.long()).numpy()
    return values


def _near(got: Array, want: Array, tolerance: float) -> Array:
    with np.errstate(all="ignore"):
        finite = np.isfinite(want)
        scale = 1 + np.abs(want).max(initial=0, where=finite)
        near = np.abs(got.astype(np.float64) - want) <= tolerance * scale
    return near | (got == want) | ((got != got) & (want != want))


def differs(operands: Operands, got: Array, want: Array) -> str | None:
    """What is wrong beside torch; None if nothing is."""
    case = operands.case
    dtype = cast(case) or case.dtype
    if case.op in ("argmax", "argmin", "sum", "prod", "amax", "amin") and dtype not in FLOATS:
        right = got.astype(np.int64) == want.astype(np.int64)
    else:
        right = _near(got, want, TOLERANCE.get(dtype, 2e-5))
        if dtype in ("float16", "bfloat16"):
            right |= ~np.isfinite(want)  # torch accumulates in the half type and overflows
    if got.shape == want.shape and right.all():
        return None
    return f"expected torch's {want.tolist()}, got {got.tolist()}"


def gradient_differs(operands: Operands, got: Array, weights: Array) -> str | None:
    """What is wrong with a gradient beside torch's; None if nothing is or it has none to offer."""
    case = operands.case
    if torch is None or case.dtype != "float64" or case.values != "plain" or cast(case):
        return None
    if not hasattr(torch.masked, case.op) or _is_different(operands):
        return None
    dims = tuple(dims_of(case))
    counted = operands.counts.sum(dims or None)
    least = 1 + (math.ceil(case.options["correction"]) if "correction" in case.options else 0)
    if not (counted >= least).all():
        return None  # NaN, or what T leaks
    if case.op == "median" and case.strides == "expanded":
        return None  # of equal elements T takes any
    if case.op == "log_softmax" and not operands.counts.all():
        return None  # T adds gradients of masked outputs
    leaf = _tensor(operands.x, case.dtype).clone().requires_grad_()
    try:
        y = _call(operands, leaf)
        y.backward(torch.from_numpy(weights.reshape(tuple(y.shape))))
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError):
        return None
    want = leaf.grad.numpy()
    right = _near(got, want, 1e-9)
    if case.op == "std":
        right |= np.isnan(want)  # where all elements are equal
    return None if right.all() else f"expected torch's gradient {want.tolist()}, got {got.tolist()}"
