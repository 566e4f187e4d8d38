"""Reductions of loup.masked, with and without masks."""

import numpy as np

from op_cases.example import Example, moderate
from op_cases.values import DTYPES, FLOATS

_mask = np.array([[True, False, True, True], [False, False, True, True], [False] * 4])


def _result(x: np.ndarray) -> np.dtype:
    return x.dtype if x.dtype.kind == "f" else np.dtype(np.int64)


def _sum(x: np.ndarray, mask: np.ndarray | bool = True, **options: object) -> np.ndarray:
    wide = x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
    return np.asarray(np.sum(wide, where=mask, **options)).astype(_result(x))


REDUCTIONS: dict[str, list[Example]] = {
    "sum": [
        Example((moderate(3, 4),), lambda op, x: op(x), _sum, rtol=2),
        Example((moderate(3, 4),), lambda op, x: op(x, 1), lambda x: _sum(x, axis=1), rtol=2),
        Example(
            (moderate(3, 4), _mask),
            lambda op, x, m: op(x, 1, mask=m),
            lambda x, m: _sum(x, m, axis=1),
            rtol=2,
        ),
        Example(
            (moderate(2, 3, 4), _mask),
            lambda op, x, m: op(x, (0, 2), keepdim=True, mask=m),
            lambda x, m: _sum(x, np.broadcast_to(m, x.shape), axis=(0, 2), keepdims=True),
            rtol=2,
        ),
        Example(
            (moderate(3, 4),),
            lambda op, x: op(x, 0, dtype="float64"),
            lambda x: x.astype(np.float64).sum(0),
            [*DTYPES[:6], *FLOATS],
            rtol=2,
        ),
    ],
}
