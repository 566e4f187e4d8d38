"""Operators of three operands, and tests of whole tensors."""

import numpy as np

from op_cases.example import Example, anything, moderate
from op_cases.values import DTYPES, FLOATS

_truth = np.array([[True, False, True], [False, False, True]])
_numeric = DTYPES[1:]


def _close(x: np.ndarray, y: np.ndarray, **options: object) -> np.ndarray:
    return np.isclose(x.astype(float), y.astype(float), **options)


_clamps = [
    Example((moderate(2, 3),), lambda op, x: op(x, 2, 4), lambda x: np.clip(x, 2, 4), _numeric),
    Example(
        (moderate(2, 3), moderate(3)),
        lambda op, x, y: op(x, min=y),
        lambda x, y: np.maximum(x, y),
        _numeric,
    ),
    Example(
        (moderate(2, 3), moderate(2, 1)),
        lambda op, x, y: op(x, max=y),
        lambda x, y: np.minimum(x, y),
        _numeric,
    ),
]

SELECTION: dict[str, list[Example]] = {
    "where": [
        Example(
            (_truth, anything(2, 3), anything(3)), lambda op, *x: op(*x), lambda *x: np.where(*x)
        ),
        Example(
            (_truth, anything(2, 1)),
            lambda op, c, x: op(c, x, False),
            lambda c, x: np.where(c, x, x.dtype.type(0)),
        ),
    ],
    "clamp": _clamps,
    "clip": _clamps,
    "lerp": [
        Example(
            (moderate(2, 3), moderate(3)),
            lambda op, a, b: op(a, b, 0.25),
            lambda a, b: a + (b - a) / 4,
            FLOATS,
        ),
        Example(
            (moderate(2, 3), moderate(3), moderate(2, 1)),
            lambda op, a, b, w: op(a, b, w),
            lambda a, b, w: a + (b - a) * w,
            FLOATS,
            rtol=2,
        ),
    ],
    "any": [
        Example(
            (anything(2, 3),),
            lambda op, x: op(x),
            lambda x: np.asarray(x != 0).any(keepdims=False)[()] + np.zeros((), bool),
        ),
        Example((anything(2, 3),), lambda op, x: op(x, 1), lambda x: (x != 0).any(1)),
        Example(
            (anything(2, 3, 2),),
            lambda op, x: op(x, (0, 2), keepdim=True),
            lambda x: (x != 0).any((0, 2), keepdims=True),
        ),
        Example((anything(0, 3),), lambda op, x: op(x, 0), lambda x: (x != 0).any(0)),
    ],
    "all": [
        Example((anything(2, 3),), lambda op, x: op(x), lambda x: np.asarray((x != 0).all())),
        Example((anything(2, 3),), lambda op, x: op(x, 1), lambda x: (x != 0).all(1)),
        Example((anything(0, 3),), lambda op, x: op(x, 0), lambda x: (x != 0).all(0)),
    ],
    "equal": [
        Example((anything(2, 3),), lambda op, x: op(x, x), lambda x: bool((x == x).all())),
        Example((moderate(3), moderate(2)), lambda op, x, y: op(x, y), lambda x, y: False),
        Example((moderate(6),), lambda op, x: op(x, x + x), lambda x: bool((x == x + x).all())),
    ],
    "isclose": [
        Example((anything(2, 9), anything(9)), lambda op, x, y: op(x, y), _close),
        Example(
            (anything(2, 9),),
            lambda op, x: op(x, x, equal_nan=True),
            lambda x: _close(x, x, equal_nan=True),
        ),
        Example(
            (moderate(4), moderate(4)),
            lambda op, x, y: op(x, y, rtol=0.5, atol=0.25),
            lambda x, y: _close(x, y, rtol=0.5, atol=0.25),
        ),
    ],
    "allclose": [
        Example((moderate(4),), lambda op, x: op(x, x), lambda x: True),
        Example((moderate(4),), lambda op, x: op(x, x + 1, rtol=0.0), lambda x: False),
        Example((anything(40),), lambda op, x: op(x, x), lambda x: not bool(np.isnan(x).any())),
    ],
}
