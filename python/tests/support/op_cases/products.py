"""Products of matrices and vectors."""

import numpy as np

from op_cases.example import Example, moderate
from op_cases.values import DTYPES

_numeric = DTYPES[1:]


def _wide(x: np.ndarray) -> np.ndarray:
    """Reals are multiplied in float64 and rounded once, integers as they are."""
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def _product(function):
    return lambda *x: np.asarray(function(*map(_wide, x))).astype(x[0].dtype)


def _example(shapes, run, reference) -> Example:
    inputs = tuple(moderate(*shape) for shape in shapes)
    return Example(inputs, run, _product(reference), _numeric, rtol=4)


def _call(op, *x):
    return op(*x)


PRODUCTS: dict[str, list[Example]] = {
    "matmul": [
        _example([(3, 4), (4, 2)], _call, np.matmul),
        _example([(4,), (4, 2)], _call, np.matmul),
        _example([(3, 4), (4,)], _call, np.matmul),
        _example([(4,), (4,)], _call, np.matmul),
        _example([(2, 1, 2, 3), (3, 3, 2)], _call, np.matmul),
        _example([(2, 0), (0, 3)], _call, np.matmul),
    ],
    "mm": [_example([(3, 4), (4, 2)], _call, np.matmul)],
    "bmm": [_example([(2, 3, 4), (2, 4, 2)], _call, np.matmul)],
    "mv": [_example([(3, 4), (4,)], _call, np.matmul)],
    "dot": [_example([(5,), (5,)], _call, np.dot)],
    "outer": [_example([(3,), (4,)], _call, np.outer)],
    "linear": [
        _example([(2, 3), (4, 3)], _call, lambda x, w: x @ w.T),
        _example([(2, 3), (4, 3), (4,)], _call, lambda x, w, b: x @ w.T + b),
    ],
    "einsum": [
        _example(
            [(2, 3), (3, 2)],
            lambda op, a, b: op("ij,jk->ki", a, b),
            lambda a, b: np.einsum("ij,jk->ki", a, b),
        ),
        _example([(3, 3)], lambda op, a: op("ii->i", a), lambda a: np.einsum("ii->i", a)),
        _example(
            [(2, 3), (3,), (2,)],
            lambda op, a, b, c: op("ij,j,i", a, b, c),
            lambda a, b, c: np.einsum("ij,j,i", a, b, c),
        ),
    ],
}
