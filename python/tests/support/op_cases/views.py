"""Operators that show the elements of a tensor in another shape."""

import numpy as np

from op_cases.example import Example, anything

_cube = (anything(2, 3, 4),)
_thin = (anything(3, 1, 4, 1),)


def _reshape(*shape: int) -> Example:
    return Example(_cube, lambda op, x: op(x, *shape), lambda x: x.reshape(shape))


VIEWS: dict[str, list[Example]] = {
    "transpose": [
        Example(_cube, lambda op, x: op(x, 0, -1), lambda x: x.swapaxes(0, -1)),
        Example(_cube, lambda op, x: op(x, dim0=1, dim1=1), lambda x: x),
    ],
    "t": [
        Example((anything(3, 4),), lambda op, x: op(x), np.transpose),
        Example((anything(3),), lambda op, x: op(x), lambda x: x),
        Example((anything(),), lambda op, x: op(x), lambda x: x),
    ],
    "permute": [
        Example(_cube, lambda op, x: op(x, 2, 0, 1), lambda x: x.transpose(2, 0, 1)),
        Example(_cube, lambda op, x: op(x, (0, -1, 1)), lambda x: x.transpose(0, 2, 1)),
    ],
    "squeeze": [
        Example(_thin, lambda op, x: op(x), np.squeeze),
        Example(_thin, lambda op, x: op(x, -1), lambda x: x.squeeze(-1)),
        Example(_thin, lambda op, x: op(x, dim=(0, 1)), lambda x: x.squeeze(1)),
    ],
    "unsqueeze": [
        Example(_cube, lambda op, x: op(x, 0), lambda x: x[None]),
        Example(_cube, lambda op, x: op(x, -1), lambda x: x[..., None]),
    ],
    "narrow": [Example(_cube, lambda op, x: op(x, 2, 1, 2), lambda x: x[:, :, 1:3])],
    "select": [Example(_cube, lambda op, x: op(x, 1, -1), lambda x: x[:, -1])],
    "expand": [
        Example(_thin, lambda op, x: op(x, 3, 5, -1, 2), lambda x: np.broadcast_to(x, (3, 5, 4, 2)))
    ],
    "broadcast_to": [
        Example(
            (anything(3, 1),),
            lambda op, x: op(x, (2, 3, 4)),
            lambda x: np.broadcast_to(x, (2, 3, 4)),
        )
    ],
    "view": [Example((anything(24),), lambda op, x: op(x, 4, -1), lambda x: x.reshape(4, 6))],
    "reshape": [
        _reshape(6, 4),
        Example(_cube, lambda op, x: op(x, (-1, 8)), lambda x: x.reshape(-1, 8)),
    ],
    "ravel": [Example(_cube, lambda op, x: op(x), np.ravel)],
    "flatten": [
        Example(_cube, lambda op, x: op(x), np.ravel),
        Example(_cube, lambda op, x: op(x, 0, 1), lambda x: x.reshape(6, 4)),
    ],
}
