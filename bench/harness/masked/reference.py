"""What the right result is, in float64, and how far a contestant may be from it."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import Array
from .tasks import MaskedCase

# Keywords that NumPy and jax need before they accept `where=`.
WHERE_KEYWORDS: dict[str, dict[str, float]] = {
    "amax": {"initial": -math.inf},
    "amin": {"initial": math.inf},
    "var": {"ddof": 1},
    "std": {"ddof": 1},
}

# Arguments that torch.masked does not give a default.
TORCH_KEYWORDS: dict[str, dict[str, float]] = {"norm": {"ord": 2.0}}

GRADIENTS: dict[str, Callable[[Array, Array], Array]] = {
    "sum": lambda x, mask: mask.astype(np.float64),
}

# Largest error relative to the largest magnitude of the result.
OURS = {"float32": 3e-7, "float64": 1e-13, "float16": 1e-3, "bfloat16": 8e-3, "int32": 0.0}
PEERS = {"float32": 1e-3, "float64": 1e-9, "float16": 2e-2, "bfloat16": 5e-2, "int32": 0.0}

# Ops whose result is a fraction, also of integers.
FRACTIONS = frozenset({"mean", "var", "std"})


def bounds(case: MaskedCase) -> tuple[float, float]:
    """Return how far the result of loup may be off, and that of a peer."""
    dtype = "float32" if case.dtype == "int32" and case.op in FRACTIONS else case.dtype
    return OURS[dtype], PEERS[dtype]


def _absent(*_: Any, **__: Any) -> Any:
    raise TypeError("no such function")


def _by_torch(case: MaskedCase, x: Array) -> Array | None:
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    function = getattr(torch.masked, case.op, None)
    if function is None:
        return None
    data = torch.from_numpy(np.ascontiguousarray(x)).requires_grad_(case.backward)
    mask = torch.from_numpy(np.ascontiguousarray(case.mask))
    result = function(data, dim=case.dim, mask=mask, **TORCH_KEYWORDS.get(case.op, {}))
    if case.backward:
        result.backward()
        result = data.grad
    array: Array = result.detach().numpy()
    return array


def reference(case: MaskedCase) -> Array | None:
    """Return the float64 result by NumPy, else by torch.masked; None if neither has the op."""
    x = case.x.astype(np.float64)
    if case.backward:
        gradient = GRADIENTS.get(case.op)
        return gradient(x, case.mask) if gradient else _by_torch(case, x)
    function: Callable[..., Any] = getattr(np, case.op, None) or _absent
    try:
        keywords = WHERE_KEYWORDS.get(case.op, {})
        return np.asarray(function(x, axis=case.dim, where=case.mask, **keywords))
    except TypeError:
        return _by_torch(case, x)


def error(case: MaskedCase, result: Any, expected: Array) -> float:
    """Return the largest error over the rows with valid elements, or infinity."""
    got = np.asarray(result, dtype=np.float64)
    if got.shape != expected.shape:
        return math.inf
    if not case.backward:
        counted = np.broadcast_to(case.mask, case.x.shape).any(axis=case.dim)
        got, expected = got[counted], expected[counted]
    scale = float(np.abs(expected).max(initial=0.0)) or 1.0
    worst = float(np.abs(got - expected).max(initial=0.0)) / scale
    return worst if math.isfinite(worst) else math.inf
