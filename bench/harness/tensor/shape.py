"""Tensors joined, cut, moved and repeated. Views are calls on little data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import Arguments, Data
from .row import Row, Spelling

MATRIX = (4096, 1024)


def _parts(*shape: int) -> Arguments:
    return lambda d: ([d.normal(*shape, seed=seed) for seed in (1, 2, 3, 4)],)


def _matrix(*more: Any) -> Arguments:
    return lambda d: (d.normal(*MATRIX), *more)


def _view(*more: Any, numpy: Spelling) -> dict[str, Row]:
    return {"small": Row(lambda d: (d.normal(16, 16), *more), numpy=numpy)}


def _vectors(d: Data) -> tuple[Any, ...]:
    return d.normal(64), d.normal(64, seed=2)


ROWS: dict[str, dict[str, Row]] = {
    "cat": {
        "rows": Row(_parts(1024, 1024), numpy="concatenate", has_limit=True),
        "columns": Row(lambda d: (*_parts(4096, 256)(d), 1), numpy="concatenate", has_limit=True),
        "small": Row(_parts(16), numpy="concatenate"),
    },
    "stack": {"rows": Row(_parts(1024, 1024), has_limit=True)},
    "hstack": {"columns": Row(_parts(4096, 256), has_limit=True)},
    "vstack": {"rows": Row(_parts(1024, 1024), has_limit=True)},
    "split": _view(4, numpy=lambda x, size: np.split(x, len(x) // size)),
    "chunk": _view(4, numpy="array_split"),
    "unbind": _view(numpy="unstack"),
    "movedim": _view(0, 1, numpy="moveaxis"),
    "swapaxes": _view(0, 1, numpy="swapaxes"),
    "unflatten": _view(1, (4, 4), numpy=lambda x, dim, sizes: x.reshape(len(x), *sizes)),
    "diagonal": _view(numpy="diagonal"),
    "flip": {"columns": Row(_matrix([1]), has_limit=True)},
    "roll": {"columns": Row(_matrix(100, 1), has_limit=True)},
    "repeat": {"rows": Row(_matrix((4, 1)), numpy="tile")},
    "tile": {"rows": Row(_matrix((4, 1)))},
    "repeat_interleave": {"rows": Row(_matrix(4, 0), numpy="repeat")},
    "tril": {"large": Row(_matrix(), has_limit=True)},
    "triu": {"large": Row(_matrix(), has_limit=True)},
    "transpose": _view(0, 1, numpy="swapaxes"),
    "permute": _view((1, 0), numpy="transpose"),
    "squeeze": {"small": Row(lambda d: (d.normal(16, 1), 1))},
    "unsqueeze": _view(1, numpy="expand_dims"),
    "narrow": _view(0, 2, 8, numpy=lambda x, dim, start, length: x[start : start + length]),
    "select": _view(0, 3, numpy=lambda x, dim, index: x[index]),
    "expand": {"small": Row(lambda d: (d.normal(16, 1), (16, 16)), numpy="broadcast_to")},
    "broadcast_to": {"small": Row(lambda d: (d.normal(16), (16, 16)))},
    "view": _view((4, 64), numpy="reshape"),
    "reshape": _view((4, 64), numpy="reshape"),
    "flatten": _view(numpy="ravel"),
    "meshgrid": {"small": Row(_vectors, kwargs={"indexing": "ij"})},
}
