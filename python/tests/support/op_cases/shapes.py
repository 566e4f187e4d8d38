"""Operators that join, cut and rearrange."""

import numpy as np

from op_cases.example import Example, anything, moderate

_matrix = (anything(3, 4),)
_cube = (anything(2, 3, 4),)


def _unbind(x: np.ndarray, axis: int) -> list[np.ndarray]:
    return list(np.moveaxis(x, axis, 0))


SHAPES: dict[str, list[Example]] = {
    "cat": [
        Example(
            (anything(2, 3), anything(1, 3), anything(0, 3)),
            lambda op, *x: op(list(x)),
            lambda *x: np.concatenate(x),
        ),
        Example(
            (anything(2, 3), anything(2, 1)),
            lambda op, *x: op(x, dim=-1),
            lambda *x: np.concatenate(x, -1),
        ),
        Example(
            (anything(2, 3, 2), anything(2, 2, 2)),
            lambda op, *x: op(x, axis=1),
            lambda *x: np.concatenate(x, 1),
        ),
    ],
    "stack": [
        Example((anything(2, 3), anything(2, 3)), lambda op, *x: op(x), lambda *x: np.stack(x)),
        Example((anything(2), anything(2)), lambda op, *x: op(x, -1), lambda *x: np.stack(x, -1)),
        Example((anything(), anything()), lambda op, *x: op(x), lambda *x: np.stack(x)),
    ],
    "hstack": [
        Example((anything(2, 3), anything(2, 1)), lambda op, *x: op(x), lambda *x: np.hstack(x)),
        Example((anything(3), anything(2)), lambda op, *x: op(x), lambda *x: np.hstack(x)),
    ],
    "vstack": [
        Example((anything(2, 3), anything(1, 3)), lambda op, *x: op(x), lambda *x: np.vstack(x)),
        Example((anything(3), anything(3)), lambda op, *x: op(x), lambda *x: np.vstack(x)),
    ],
    "split": [
        Example(_matrix, lambda op, x: op(x, 2), lambda x: [x[:2], x[2:]]),
        Example(_matrix, lambda op, x: op(x, [1, 3], dim=1), lambda x: [x[:, :1], x[:, 1:]]),
    ],
    "chunk": [Example(_matrix, lambda op, x: op(x, 2, 1), lambda x: [x[:, :2], x[:, 2:]])],
    "unbind": [
        Example(_matrix, lambda op, x: op(x), lambda x: _unbind(x, 0)),
        Example(_matrix, lambda op, x: op(x, 1), lambda x: _unbind(x, 1)),
    ],
    "movedim": [
        Example(_cube, lambda op, x: op(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
        Example(
            _cube, lambda op, x: op(x, (0, 1), (2, 0)), lambda x: np.moveaxis(x, (0, 1), (2, 0))
        ),
    ],
    "swapaxes": [Example(_cube, lambda op, x: op(x, 0, 2), lambda x: np.swapaxes(x, 0, 2))],
    "unflatten": [
        Example((anything(3, 8),), lambda op, x: op(x, 1, (2, -1)), lambda x: x.reshape(3, 2, 4))
    ],
    "diagonal": [
        Example(_matrix, lambda op, x: op(x), lambda x: np.diagonal(x)),
        Example(_cube, lambda op, x: op(x, 1, 2, 1), lambda x: np.diagonal(x, 1, 2, 1)),
        Example(_matrix, lambda op, x: op(x, -2), lambda x: np.diagonal(x, -2)),
    ],
    "flip": [
        Example(_cube, lambda op, x: op(x), lambda x: np.flip(x)),
        Example(_cube, lambda op, x: op(x, (0, 2)), lambda x: np.flip(x, (0, 2))),
    ],
    "roll": [
        Example(_matrix, lambda op, x: op(x, 5), lambda x: np.roll(x, 5)),
        Example(
            _matrix, lambda op, x: op(x, (1, -2), (0, 1)), lambda x: np.roll(x, (1, -2), (0, 1))
        ),
    ],
    "repeat": [Example(_matrix, lambda op, x: op(x, 2, 1, 3), lambda x: np.tile(x, (2, 1, 3)))],
    "tile": [
        Example(_matrix, lambda op, x: op(x, 2), lambda x: np.tile(x, 2)),
        Example(_matrix, lambda op, x: op(x, (3, 1)), lambda x: np.tile(x, (3, 1))),
    ],
    "repeat_interleave": [
        Example(_matrix, lambda op, x: op(x, 3), lambda x: np.repeat(x, 3)),
        Example(_matrix, lambda op, x: op(x, 2, dim=1), lambda x: np.repeat(x, 2, 1)),
    ],
    "tril": [
        Example(_matrix, lambda op, x: op(x), lambda x: np.tril(x)),
        Example((anything(2, 4, 3),), lambda op, x: op(x, 1), lambda x: np.tril(x, 1)),
    ],
    "triu": [
        Example(_matrix, lambda op, x: op(x), lambda x: np.triu(x)),
        Example((anything(2, 4, 3),), lambda op, x: op(x, -1), lambda x: np.triu(x, -1)),
    ],
    "meshgrid": [
        Example(
            (moderate(3), moderate(2)),
            lambda op, x, y: op(x, y),
            lambda x, y: np.meshgrid(x, y, indexing="ij"),
        ),
        Example(
            (moderate(3), moderate(2)),
            lambda op, x, y: op(x, y, indexing="xy"),
            lambda x, y: np.meshgrid(x, y, indexing="xy"),
        ),
    ],
}
