"""Windows that slide over dims, and sums of them."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from op_cases.example import Example, anything, moderate

Pair = tuple[int, int]


def places(size: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> np.ndarray:
    """Where in the flat image each element of each column stands; -1 in the padding."""
    height, width = (
        (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
        for i in (0, 1)
    )
    result = np.full((kernel[0] * kernel[1], height * width), -1)
    for i, j, y, x in np.ndindex(*kernel, height, width):
        row = y * stride[0] + i * dilation[0] - padding[0]
        column = x * stride[1] + j * dilation[1] - padding[1]
        if 0 <= row < size[0] and 0 <= column < size[1]:
            result[i * kernel[1] + j, y * width + x] = row * size[1] + column
    return result


def im2col(x: np.ndarray, *options: Pair) -> np.ndarray:
    """The columns of images (…, C, H, W): one element after the other."""
    where = places(x.shape[-2:], *options)
    flat = x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])
    columns = np.where(where >= 0, flat[..., np.maximum(where, 0)], np.zeros((), x.dtype))
    return columns.reshape(*x.shape[:-3], x.shape[-3] * where.shape[0], where.shape[1])


def col2im(x: np.ndarray, size: Pair, *options: Pair) -> np.ndarray:
    """Images of a size, from columns: one element after the other."""
    where = places(size, *options)
    columns = x.reshape(*x.shape[:-2], x.shape[-2] // where.shape[0], *where.shape)
    result = np.zeros((*columns.shape[:-2], size[0] * size[1]), x.dtype)
    for i, j in np.ndindex(*where.shape):
        if where[i, j] >= 0:
            result[..., where[i, j]] += columns[..., i, j]
    return result.reshape(*result.shape[:-1], *size)


def _unfold(x: np.ndarray, axis: int, size: int, step: int) -> np.ndarray:
    windows = np.moveaxis(sliding_window_view(x, size, axis), axis, 0)[::step]
    return np.moveaxis(windows, 0, axis)


_strange: tuple[Pair, ...] = ((2, 3), (2, 1), (1, 2), (1, 3))

WINDOWS: dict[str, list[Example]] = {
    "unfold": [
        Example((anything(7),), lambda op, x: op(x, 0, 3, 1), lambda x: _unfold(x, 0, 3, 1)),
        Example((anything(2, 7, 3),), lambda op, x: op(x, 1, 2, 3), lambda x: _unfold(x, 1, 2, 3)),
        Example(
            (anything(3, 5),),
            lambda op, x: op(x, dim=-1, size=4, step=1),
            lambda x: _unfold(x, 1, 4, 1),
        ),
    ],
    "im2col": [
        Example(
            (anything(2, 3, 5, 4),),
            lambda op, x: op(x, 3, padding=1),
            lambda x: im2col(x, (3, 3), (1, 1), (1, 1), (1, 1)),
        ),
        Example(
            (anything(2, 5, 6),), lambda op, x: op(x, *_strange), lambda x: im2col(x, *_strange)
        ),
        Example(
            (anything(1, 1, 4, 4),),
            lambda op, x: op(x, 2, stride=2),
            lambda x: im2col(x, (2, 2), (1, 1), (0, 0), (2, 2)),
        ),
    ],
    "col2im": [
        Example(
            (moderate(2, 4, 9),),
            lambda op, x: op(x, 4, 2),
            lambda x: col2im(x, (4, 4), (2, 2), (1, 1), (0, 0), (1, 1)),
        ),
        Example(
            (moderate(6, 15),),
            lambda op, x: op(x, (5, 6), *_strange),
            lambda x: col2im(x, (5, 6), *_strange),
        ),
    ],
}
