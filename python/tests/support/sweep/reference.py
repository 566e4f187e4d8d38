"""What a case must give, written naively: a formula over the elements of each slice that count."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.cases import FLOATS, ONE, OPS, SOME, Case
from sweep.operands import Array, Operands, carrier

EPS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
LEAST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 5e-324}


class Refused(Exception):
    """The call must fail with one of these names."""


@dataclass
class Expected:
    """Values, their dtype, and how far a result may be from them (0: not at all)."""

    values: Array
    dtype: str
    bound: Array


def _is_int(dtype: str) -> bool:
    return dtype not in FLOATS


def cast(case: Case) -> str | None:
    """The `dtype` argument; floats are not made integers here, and softmax needs a float."""
    wanted: str | None = case.options.get("dtype")
    if wanted is not None and _is_int(wanted) and not _is_int(case.dtype):
        return None
    if wanted is None and _is_int(case.dtype) and case.op in ("softmax", "log_softmax", "softmin"):
        return "float32"
    return wanted


def result_dtype(case: Case) -> str:
    """The dtype rule of each operator."""
    source = cast(case) or case.dtype
    if case.op in ("argmax", "argmin", "count"):
        return "int64"
    if case.op in ("any", "all"):
        return "bool"
    if case.op in ("sum", "prod", "cumsum", "cumprod"):
        return "int64" if _is_int(source) and cast(case) is None else source
    if case.op == "mean" and _is_int(source):
        return "float64" if source == "int64" else "float32"
    if case.op in ("var", "std", "logsumexp") and _is_int(source):
        return "float32"
    return source


# --- one slice ---

Formula = Callable[[Array, dict[str, Any]], Any]


def _variance(x: Array, options: dict[str, Any]) -> float:
    if not x.size:
        return math.nan
    deviations = x - x.mean()
    divisor = max(x.size - options.get("correction", 1), 0)
    return float((deviations * deviations).sum() / np.float64(divisor))


def _norm(x: Array, options: dict[str, Any]) -> float:
    order, size = options["ord"], np.abs(x)
    if not x.size:
        return math.inf if order < 0 else 0.0
    if order == 0:
        return float(np.count_nonzero(x))
    if math.isinf(order):
        return float(size.max() if order > 0 else size.min())
    return float((size**order).sum() ** (1 / order))


def _log_sum_exp(x: Array, _: dict[str, Any]) -> float:
    if not x.size or (x == -np.inf).all():
        return -math.inf
    top = x.max()
    return float(top if np.isinf(top) else top + np.log(np.exp(x - top).sum()))


def _softmax(x: Array, _: dict[str, Any]) -> Array:
    if (x == -np.inf).all():
        return np.zeros(x.shape)
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def _log_softmax(x: Array, options: dict[str, Any]) -> Array:
    if (x == -np.inf).all():
        return np.full(x.shape, -np.inf)
    top = x.max()
    return (x - top) - np.log(np.exp(x - top).sum())


def _normalize(x: Array, options: dict[str, Any]) -> Array:
    # np.maximum passes NaN on.
    return x / np.maximum(_norm(x, options), options["eps"])


def _median(x: Array, _: dict[str, Any]) -> Any:
    if not x.size:
        if x.dtype.kind != "f":
            raise Refused("ValueError")
        return math.nan
    return math.nan if (x != x).any() else np.sort(x)[(x.size - 1) // 2]


REDUCTIONS: dict[str, Formula] = {
    "sum": lambda x, _: x.sum(),
    "prod": lambda x, _: x.prod(),
    "mean": lambda x, _: x.mean() if x.size else math.nan,
    "var": _variance,
    "std": lambda x, options: math.sqrt(_variance(x, options)),
    "norm": _norm,
    "logsumexp": _log_sum_exp,
    "median": _median,
    "count": lambda x, _: x.size,
    "any": lambda x, _: bool((x != 0).any()),
    "all": lambda x, _: bool((x != 0).all()),
}
LINES: dict[str, tuple[Formula, float]] = {
    "softmax": (_softmax, 0.0),
    "softmin": (lambda x, options: _softmax(-x, options), 0.0),
    "log_softmax": (_log_softmax, -math.inf),
    "normalize": (_normalize, 0.0),
}


def _extreme(case: Case, x: Array) -> Any:
    if x.size:
        return x.max() if case.op == "amax" else x.min()
    if x.dtype.kind == "f":
        return -math.inf if case.op == "amax" else math.inf
    if case.dtype == "bool":
        return int(case.op == "amin")
    limits = np.iinfo(case.dtype)
    return limits.min if case.op == "amax" else limits.max


def _place(case: Case, x: Array, counts: Array) -> int:
    """The place in the whole slice of the first extreme that counts."""
    if not counts.any():
        return 0
    return int(np.flatnonzero(counts)[getattr(np, case.op)(x[counts])])


# --- all slices ---


def dims_of(case: Case) -> list[int]:
    """The dims that are reduced or worked along, from 0."""
    ndim = len(case.shape)
    if ndim == 0:
        return []
    if case.dims is None or case.dims == ():
        return list(range(ndim))
    dims = case.dims if isinstance(case.dims, tuple) else (case.dims,)
    return sorted(dim % ndim for dim in dims)


def _check_sizes(case: Case, dims: list[int]) -> None:
    """Extremes of no elements at all are refused."""
    is_empty = any(case.shape[dim] == 0 for dim in dims)
    order = case.options.get("ord", 0)
    if is_empty and case.op in ("amax", "amin", "argmax", "argmin", "median"):
        raise Refused("IndexError")
    if is_empty and case.op == "norm" and (order < 0 or math.isinf(order)):
        raise Refused("RuntimeError")


def _bound(case: Case, want: Array, size: Array, counts: Array, dtype: str) -> Array:
    """How far a result may be: `size` is the sum of magnitudes, `counts` how many count."""
    if dtype not in EPS or case.op in ("amax", "amin", "median"):
        return np.zeros(want.shape)
    eps, magnitude = EPS[dtype], np.abs(want)
    per_op = {
        "sum": 2 * magnitude + 2 * size,
        "cumsum": 2 * magnitude + (counts if dtype == "float64" else 2) * size,
        "mean": 2 * magnitude + 4 * size / np.maximum(counts, 1),
        "prod": (4 + counts) * magnitude,
        "cumprod": (4 + counts) * magnitude,
        "logsumexp": 8 + 4 * magnitude,
        "softmax": 16 * np.ones(want.shape),
        "softmin": 16 * np.ones(want.shape),
        "log_softmax": 24 + 4 * magnitude,
        "norm": 32 * magnitude,
        "normalize": 48 * magnitude,
    }
    least = 4 * LEAST[dtype]
    if case.op in ("var", "std"):
        square = (size / np.maximum(counts, 1)) ** 2 * 2.0**-48
        return 12 * eps * magnitude + (np.sqrt(square) if case.op == "std" else square) + least
    return eps * per_op[case.op] + least


def _exact(case: Case, x: Array) -> Array:
    """The elements after `dtype=`, in float64 or int64."""
    wanted = cast(case)
    if wanted is not None and not _is_int(wanted):
        x = x.astype(carrier(wanted))
        if wanted == "bfloat16":
            x = nearest_bfloat16(x)
    return x.astype(np.float64 if x.dtype.kind == "f" else np.int64)


def nearest_bfloat16(x: Array) -> Array:
    """float32 rounded to what bfloat16 can hold, ties to even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isnan(x), x, rounded).reshape(x.shape)


def _stored(values: Array, dtype: str) -> Array:
    """Exact values as elements of `dtype`, which may have no room for them."""
    if dtype == "bfloat16":
        return nearest_bfloat16(values.astype(np.float32)).astype(np.float64)
    result = values.astype(carrier(dtype))
    return result.astype(np.float64) if result.dtype.kind == "f" else result


def _scan(case: Case, x: Array, counts: Array, dim: int) -> Array:
    neutral = 0 if case.op == "cumsum" else 1
    filled = np.where(counts, x, np.asarray(neutral, x.dtype))
    if not case.shape:
        return filled
    return np.cumsum(filled, dim) if case.op == "cumsum" else np.cumprod(filled, dim)


def expected(operands: Operands) -> Expected:
    """Return what the call must give; raises Refused where it must fail."""
    case = operands.case
    dims = dims_of(case)
    _check_sizes(case, dims)
    with np.errstate(all="ignore"):
        return _expected(case, _exact(case, operands.x), operands.counts, dims)


def _expected(case: Case, x: Array, counts: Array, dims: list[int]) -> Expected:
    dtype = result_dtype(case)
    kept = [dim for dim in range(x.ndim) if dim not in dims]
    kept_shape = tuple(case.shape[dim] for dim in kept)
    length = math.prod(case.shape[dim] for dim in dims)
    rows = x.transpose(kept + dims).reshape(math.prod(kept_shape), length)
    masks = counts.transpose(kept + dims).reshape(rows.shape)
    magnitudes = np.abs(rows.astype(np.float64))
    sizes = np.where(masks & np.isfinite(magnitudes), magnitudes, 0).sum(1)
    numbers = masks.sum(1)

    if OPS[case.op].dims in (ONE, SOME) and case.op != "median":
        want = np.empty(rows.shape)
        if case.op in ("cumsum", "cumprod"):
            values = _scan(case, x, counts, dims[0] if dims else 0)
            want = values.transpose(kept + dims).reshape(rows.shape)
        else:
            formula, hidden = LINES[case.op]
            want[...] = hidden
            for i in range(len(rows)):
                if numbers[i]:
                    want[i][masks[i]] = formula(rows[i][masks[i]], case.options)
        spread = (np.broadcast_to(each[:, None], rows.shape) for each in (sizes, numbers))
        bound = _bound(case, np.asarray(want, np.float64), *spread, dtype)
        back = np.argsort(kept + dims)
        shape = [case.shape[dim] for dim in kept + dims]
        return Expected(
            _stored(want.reshape(shape).transpose(back), dtype),
            dtype,
            bound.reshape(shape).transpose(back),
        )

    found: list[Any] = []
    for i in range(len(rows)):
        if case.op in ("amax", "amin"):
            found.append(_extreme(case, rows[i][masks[i]]))
        elif case.op in ("argmax", "argmin"):
            found.append(_place(case, rows[i], masks[i]))
        else:
            found.append(REDUCTIONS[case.op](rows[i][masks[i]], case.options))
    exact = np.array(found, np.float64 if dtype in FLOATS else np.int64)
    bound = _bound(case, exact.astype(np.float64), sizes, numbers, dtype)
    shape = kept_shape
    if case.options.get("keepdim") and case.shape:
        shape = tuple(1 if dim in dims else size for dim, size in enumerate(case.shape))
    return Expected(_stored(exact.reshape(shape), dtype), dtype, bound.reshape(shape))
