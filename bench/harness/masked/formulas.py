"""Masked reductions as users write them by hand in torch and MLX: a formula for each op."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .tasks import MaskedCase

Formula = Callable[[Any, Any], Any]


def _dims(case: MaskedCase) -> Any:
    return tuple(range(case.x.ndim)) if case.dim is None else case.dim


def _filled(torch: Any, fill: float, reduce: Callable[[Any], Any]) -> Formula:
    return lambda x, mask: reduce(torch.where(mask, x, fill))


def _mean(torch: Any, case: MaskedCase) -> Formula:
    def formula(x: Any, mask: Any) -> Any:
        counts = mask.expand_as(x).sum(dim=case.dim)
        return torch.where(mask, x, 0).sum(dim=case.dim) / counts

    return formula


def _var(torch: Any, case: MaskedCase, root: bool) -> Formula:
    dims = _dims(case)

    def formula(x: Any, mask: Any) -> Any:
        counts = mask.expand_as(x).sum(dim=dims, keepdim=True)
        mean = torch.where(mask, x, 0).sum(dim=dims, keepdim=True) / counts
        squares = torch.where(mask, (x - mean) ** 2, 0).sum(dim=dims)
        result = squares / (counts.reshape(squares.shape) - 1)
        return result.sqrt() if root else result

    return formula


TORCH: dict[str, Callable[[Any, MaskedCase], Formula]] = {
    "mean": _mean,
    "prod": lambda torch, case: _filled(
        torch, 1, lambda x: x.prod() if case.dim is None else x.prod(case.dim)
    ),
    "amax": lambda torch, case: _filled(torch, -math.inf, lambda x: x.amax(_dims(case))),
    "amin": lambda torch, case: _filled(torch, math.inf, lambda x: x.amin(_dims(case))),
    "argmax": lambda torch, case: _filled(torch, -math.inf, lambda x: x.argmax(case.dim)),
    "argmin": lambda torch, case: _filled(torch, math.inf, lambda x: x.argmin(case.dim)),
    "var": lambda torch, case: _var(torch, case, False),
    "std": lambda torch, case: _var(torch, case, True),
    "norm": lambda torch, case: _filled(
        torch, 0, lambda x: torch.linalg.vector_norm(x, dim=case.dim)
    ),
    "logsumexp": lambda torch, case: _filled(
        torch, -math.inf, lambda x: torch.logsumexp(x, _dims(case))
    ),
}

# One sequence of a padded batch at a time, without what is padded.
SLICE: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(0),
    "prod": lambda x: x.prod(0),
    "amax": lambda x: x.amax(0),
    "amin": lambda x: x.amin(0),
    "argmax": lambda x: x.argmax(0),
    "argmin": lambda x: x.argmin(0),
    "var": lambda x: x.var(0),
    "std": lambda x: x.std(0),
    "norm": lambda x: x.norm(dim=0),
    "logsumexp": lambda x: x.logsumexp(0),
}


def _mlx_filled(fill: float, name: str) -> Callable[[Any, MaskedCase], Formula]:
    def make(mlx: Any, case: MaskedCase) -> Formula:
        def formula(x: Any, mask: Any) -> Any:
            filled = mlx.where(mask, x, mlx.array(fill, dtype=x.dtype))
            return getattr(mlx, name)(filled, axis=case.dim)

        return formula

    return make


def _mlx_mean(mlx: Any, case: MaskedCase) -> Formula:
    def formula(x: Any, mask: Any) -> Any:
        total = mlx.sum(mlx.where(mask, x, mlx.array(0, dtype=x.dtype)), axis=case.dim)
        return total / mlx.sum(mlx.broadcast_to(mask, x.shape), axis=case.dim)

    return formula


MLX: dict[str, Callable[[Any, MaskedCase], Formula]] = {
    "sum": _mlx_filled(0, "sum"),
    "mean": _mlx_mean,
    "prod": _mlx_filled(1, "prod"),
    "amax": _mlx_filled(-math.inf, "max"),
    "amin": _mlx_filled(math.inf, "min"),
    "argmax": _mlx_filled(-math.inf, "argmax"),
    "argmin": _mlx_filled(math.inf, "argmin"),
    "logsumexp": _mlx_filled(-math.inf, "logsumexp"),
}
