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


def _unique(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return values, inverse.reshape(x.shape), counts


ORDER: dict[str, list[Example]] = {
    "sort": [Example((anything(3, 5),), lambda op, x: op(x, 1), _sorted)],
    "argsort": [Example((anything(3, 5),), lambda op, x: op(x, 1), lambda x: _sorted(x)[1])],
    "topk": [Example((moderate(3, 5),), lambda op, x: op(x, 2, 1), _largest, _numbers)],
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
