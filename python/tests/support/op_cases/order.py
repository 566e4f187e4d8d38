"""Operators that put elements into order or look them up there."""

import numpy as np

from op_cases.example import Example, anything, moderate
from op_cases.values import DTYPES

_boundaries = np.array([-2.0, 0.0, 0.5, 3.0], np.float32)
_numbers = [dtype for dtype in DTYPES if dtype != "bool"]


def _sorted(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(x, axis=1, kind="stable")
    return np.take_along_axis(x, order, 1), order


def _largest(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-x.astype(np.float64), axis=1, kind="stable")[:, :2]
    return np.take_along_axis(x, order, 1), order


def _descending(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By Python's sort, which is stable in this direction, too; NaN is the greatest."""
    order = np.empty(x.shape, np.int64)
    for row, values in enumerate(x.tolist()):
        keys = [(v != v, 0 if v != v else v) for v in values]
        order[row] = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
    return np.take_along_axis(x, order, 1), order


def _unique(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return values, inverse.reshape(x.shape), counts


ORDER: dict[str, list[Example]] = {
    "sort": [
        Example((anything(3, 5),), lambda op, x: op(x, 1), _sorted),
        Example((anything(3, 9),), lambda op, x: op(x, descending=True), _descending),
        Example(
            (anything(9, 2),),
            lambda op, x: op(x, 0),
            lambda x: [part.T for part in _sorted(x.T)],
        ),
        Example((anything(2, 0),), lambda op, x: op(x), _sorted),
    ],
    "argsort": [
        Example((anything(3, 5),), lambda op, x: op(x, 1), lambda x: _sorted(x)[1]),
        Example((anything(3, 9),), lambda op, x: op(x, -1, True), lambda x: _descending(x)[1]),
    ],
    "topk": [
        Example((moderate(3, 5),), lambda op, x: op(x, 2, 1), _largest, _numbers),
        Example(
            (anything(3, 9),),
            lambda op, x: op(x, 4),
            lambda x: [part[:, :4] for part in _descending(x)],
        ),
        Example(
            (anything(3, 9),),
            lambda op, x: op(x, 3, largest=False),
            lambda x: [part[:, :3] for part in _sorted(x)],
        ),
    ],
    "unique": [
        Example(
            (moderate(3, 5),),
            lambda op, x: op(x, return_inverse=True, return_counts=True),
            _unique,
        )
    ],
    "searchsorted": [
        Example(
            (_boundaries, moderate(7)),
            lambda op, s, x: op(s, x),
            lambda s, x: np.searchsorted(s.astype(np.float64), x.astype(np.float64)),
            _numbers,
        )
    ],
    "bucketize": [
        Example(
            (moderate(7), _boundaries),
            lambda op, x, s: op(x, s, right=True),
            lambda x, s: np.searchsorted(s.astype(np.float64), x.astype(np.float64), "right"),
            _numbers,
        )
    ],
}
