"""Elements found by indices and masks: rows of a table, and single elements of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Array
from .data import Data
from .row import Row

TABLE = (1_000_000, 64)
TAKEN = 100_000
MATRIX = (4096, 1024)


def _repeated(index: Array, columns: int) -> Array:
    """Return the index of a row for each of its elements, without a copy."""
    return np.lib.stride_tricks.as_strided(index, (index.size, columns), (index.strides[0], 0))


def _table(d: Data) -> tuple[Any, ...]:
    return d.normal(*TABLE), 0, d.indices(TABLE[0], TAKEN)


def _table_elements(d: Data) -> tuple[Any, ...]:
    table, dim, index = _table(d)
    return table, dim, _repeated(index, table.shape[1])


def _elements(d: Data) -> tuple[Any, ...]:
    return d.normal(*MATRIX), 1, d.indices(MATRIX[1], *MATRIX)


def _places(d: Data) -> tuple[Any, ...]:
    """Return a matrix, and for each of other elements a place of its own in the same row."""
    index = np.argsort(d.normal(*MATRIX, seed=3), axis=1)
    return d.normal(*MATRIX), 1, index, d.normal(*MATRIX, seed=2)


def _sums(d: Data) -> tuple[Any, ...]:
    return *_elements(d), d.normal(*MATRIX, seed=2)


def _rows(d: Data) -> tuple[Any, ...]:
    return d.normal(*MATRIX), 0, d.permutation(MATRIX[0]), d.normal(*MATRIX, seed=2)


def _masked(d: Data) -> tuple[Any, ...]:
    return d.normal(*MATRIX), d.mask(*MATRIX)


def _put(x: Array, dim: int, index: Array, source: Array) -> Array:
    out = x.copy()
    np.put_along_axis(out, index, source, dim)
    return out


def _add_at(x: Array, dim: int, index: Array, source: Array) -> Array:
    out = x.copy()
    np.add.at(out, (np.arange(len(x))[:, None], index) if index.ndim > 1 else index, source)
    return out


def _set_rows(x: Array, dim: int, index: Array, value: Any) -> Array:
    out = x.copy()
    out[index] = value
    return out


def _fill(x: Array, mask: Array, value: float) -> Array:
    return np.where(mask, np.float32(value), x)


def _take_elements(x: Array, dim: int, index: Array) -> Array:
    return np.take_along_axis(x, index, dim)


ROWS: dict[str, dict[str, Row]] = {
    "index_select": {"rows": Row(_table, numpy=lambda x, dim, index: np.take(x, index, dim))},
    "gather": {
        "rows": Row(_table_elements, numpy=_take_elements),
        "elements": Row(_elements, numpy=_take_elements),
    },
    "take_along_dim": {
        "elements": Row(lambda d: (_elements(d)[0], _elements(d)[2], 1), numpy="take_along_axis")
    },
    "scatter": {"elements": Row(_places, numpy=_put)},
    "scatter_add": {"elements": Row(_sums, numpy=_add_at, bound=2e-6)},
    "index_add": {"rows": Row(_rows, numpy=_add_at)},
    "index_copy": {"rows": Row(_rows, numpy=_set_rows)},
    "index_fill": {"rows": Row(lambda d: (*_rows(d)[:3], 1.0), numpy=_set_rows)},
    "masked_select": {"half": Row(_masked, numpy=lambda x, mask: x[mask])},
    "masked_fill": {"half": Row(lambda d: (*_masked(d), 1.0), numpy=_fill)},
    "masked_scatter": {"half": Row(lambda d: (*_masked(d), d.normal(*MATRIX, seed=2)), numpy=None)},
    "nonzero": {"half": Row(lambda d: (d.mask(*MATRIX),), numpy="argwhere")},
}
