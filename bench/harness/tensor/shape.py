"""Tensors joined, cut, moved and repeated. Views are calls on little data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Array
from .data import Arguments, Data
from .row import Row, Spelling

MATRIX = (4096, 1024)
IMAGES = (16, 16, 56, 56)
WINDOW = (3, 1, 1, 1)  # size, dilation, padding and stride


def _parts(*shape: int) -> Arguments:
    return lambda d: ([d.normal(*shape, seed=seed) for seed in (1, 2, 3, 4)],)


def _matrix(*more: Any) -> Arguments:
    return lambda d: (d.normal(*MATRIX), *more)


def _view(*more: Any, numpy: Spelling) -> dict[str, Row]:
    return {"small": Row(lambda d: (d.normal(16, 16), *more), numpy=numpy)}


def _windows(x: Array, dim: int, size: int, step: int) -> Array:
    return np.lib.stride_tricks.sliding_window_view(x, size, dim)[:, ::step]


def _im2col(x: Array, kernel: int, dilation: int, padding: int, stride: int) -> Array:
    around = (padding, padding)
    padded = np.pad(x, ((0, 0), (0, 0), around, around))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (2, 3))
    rows = windows.transpose(0, 1, 4, 5, 2, 3)
    return rows.reshape(len(x), x.shape[1] * kernel * kernel, -1)


def _col2im(
    x: Array, size: tuple[int, int], kernel: int, dilation: int, padding: int, stride: int
) -> Array:
    height, width = size
    columns = x.reshape(len(x), -1, kernel, kernel, height, width)
    out = np.zeros((*columns.shape[:2], height + 2 * padding, width + 2 * padding), x.dtype)
    for i, j in np.ndindex(kernel, kernel):
        out[:, :, i : i + height, j : j + width] += columns[:, :, i, j]
    return out[:, :, padding:-padding, padding:-padding]


def _columns(d: Data) -> tuple[Any, ...]:
    images = d.normal(*IMAGES)
    return _im2col(images, *WINDOW), images.shape[2:], *WINDOW


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
    "t": _view(numpy="transpose"),
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
    "ravel": _view(numpy="ravel"),
    "unfold": {
        "small": Row(lambda d: (d.normal(16, 16), 1, 4, 2), numpy=_windows, torch="Tensor.unfold")
    },
    "im2col": {
        "images": Row(
            lambda d: (d.normal(*IMAGES), *WINDOW), numpy=_im2col, torch="nn.functional.unfold"
        )
    },
    "col2im": {"images": Row(_columns, numpy=_col2im, torch="nn.functional.fold")},
    "meshgrid": {"small": Row(_vectors, kwargs={"indexing": "ij"})},
}
