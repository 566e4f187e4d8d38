"""Order: a million numbers at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import Data
from .row import Row

_COUNT = 1_000_000


def _vector(d: Data) -> tuple[Any, ...]:
    return (d.normal(_COUNT),)


def _largest(x: Any, count: int) -> Any:
    return -np.sort(np.partition(-x, count)[:count])


ROWS: dict[str, dict[str, Row]] = {
    "sort": {
        "large": Row(_vector, note="NumPy gives no indices"),
        "rows": Row(lambda d: (d.normal(4096, 256),)),
    },
    # Ties are left to each library, so places are not compared.
    "argsort": {"large": Row(_vector, is_checked=False)},
    "topk": {"large": Row(lambda d: (*_vector(d), 100), numpy=_largest)},
    "unique": {"large": Row(lambda d: (d.integers(0, 10_000, _COUNT),))},
    "searchsorted": {"large": Row(lambda d: (np.sort(d.normal(100_000, seed=2)), *_vector(d)))},
    "bucketize": {"large": Row(lambda d: (*_vector(d), np.sort(d.normal(100, seed=2))))},
}
