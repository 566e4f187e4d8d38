"""Products of matrices: squares, and the batches of attention."""

from __future__ import annotations

import numpy as np

from .data import Arguments
from .row import Row

ROUNDING = 2e-6  # of sums of some thousand products


def _pair(*shapes: tuple[int, ...]) -> Arguments:
    return lambda d: tuple(d.normal(*shape, seed=i) for i, shape in enumerate(shapes, 1))


def _square(size: int) -> Arguments:
    return _pair((size, size), (size, size))


_SCORES = _pair((64, 512, 64), (64, 64, 512))
_MIXING = _pair((64, 512, 512), (64, 512, 64))

ROWS: dict[str, dict[str, Row]] = {
    "matmul": {
        **{str(n): Row(_square(n), bound=ROUNDING) for n in (256, 512, 1024, 2048)},
        "scores": Row(_SCORES, bound=ROUNDING),
        "mixing": Row(_MIXING, bound=ROUNDING),
        "small": Row(_square(8), bound=ROUNDING),
    },
    "mm": {"512": Row(_square(512), numpy="matmul", bound=ROUNDING)},
    "bmm": {"scores": Row(_SCORES, numpy="matmul", bound=ROUNDING)},
    "mv": {"4096": Row(_pair((4096, 4096), (4096,)), numpy="matvec", bound=ROUNDING)},
    "dot": {"large": Row(_pair((4_000_000,), (4_000_000,)), bound=1e-4)},
    "outer": {"2048": Row(_pair((2048,), (2048,)))},
    "linear": {
        "large": Row(
            _pair((512, 1024), (1024, 1024), (1024,)),
            numpy=lambda x, weight, bias: x @ weight.T + bias,
            bound=ROUNDING,
        )
    },
    "einsum": {
        "batch": Row(
            lambda d: ("bij,bkj->bik", d.normal(64, 256, 64), d.normal(64, 256, 64, seed=2)),
            numpy=lambda *args: np.einsum(*args, optimize=True),
            bound=ROUNDING,
        )
    },
}
