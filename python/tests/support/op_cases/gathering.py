"""Operators that find elements by indices or by a mask."""

import numpy as np

from op_cases.example import Example, anything, moderate

_rows = np.array([2, 0, 2])
_places = np.array([[0, 3, 1], [2, 2, 0]])
_mask = np.array([[True, False, True, False], [False, False, True, True], [True] * 4])


def _changed(x: np.ndarray) -> np.ndarray:
    return np.array(x)


def _scatter(x: np.ndarray, index: np.ndarray, source: np.ndarray) -> np.ndarray:
    result = _changed(x)
    np.put_along_axis(result, index, source, 1)
    return result


def _scatter_add(x: np.ndarray, index: np.ndarray, source: np.ndarray) -> np.ndarray:
    result = _changed(x)
    for (i, j), place in np.ndenumerate(index):
        result[i, place] += source[i, j]
    return result


def _index_add(x: np.ndarray, index: np.ndarray, source: np.ndarray) -> np.ndarray:
    result = _changed(x)
    for i, place in enumerate(index):
        result[:, place] += source[:, i]
    return result


def _index_put(x: np.ndarray, index: np.ndarray, source: object) -> np.ndarray:
    result = _changed(x)
    result[:, index] = source
    return result


def _masked_fill(x: np.ndarray, mask: np.ndarray, value: float) -> np.ndarray:
    return np.where(mask, np.asarray(value).astype(x.dtype), x)


_two_rows = (anything(2, 4), _places[:, :2])

GATHERING: dict[str, list[Example]] = {
    "index_select": [
        Example((anything(3, 4), _rows), lambda op, x, i: op(x, 0, i), lambda x, i: x[i]),
        Example((anything(3, 4), _rows), lambda op, x, i: op(x, -1, i), lambda x, i: x[:, i]),
    ],
    "gather": [
        Example(
            (anything(2, 4), _places),
            lambda op, x, i: op(x, 1, i),
            lambda x, i: np.take_along_axis(x, i, 1),
        )
    ],
    "take_along_dim": [
        Example(
            (anything(2, 4), _places),
            lambda op, x, i: op(x, i, 1),
            lambda x, i: np.take_along_axis(x, i, 1),
        ),
        Example(
            (anything(2, 4), _places),
            lambda op, x, i: op(x, i.reshape(-1)),
            lambda x, i: x.ravel()[i.ravel()],
        ),
    ],
    "scatter": [
        Example((*_two_rows, anything(2, 2)), lambda op, x, i, y: op(x, 1, i, y), _scatter),
        Example(_two_rows, lambda op, x, i: op(x, 1, i, 1), lambda x, i: _scatter(x, i, 1)),
    ],
    "scatter_add": [
        Example(
            (moderate(2, 4), _places, moderate(2, 3)),
            lambda op, x, i, y: op(x, 1, i, y),
            _scatter_add,
        )
    ],
    "index_add": [
        Example(
            (moderate(2, 3), _rows, moderate(2, 3)),
            lambda op, x, i, y: op(x, 1, i, y),
            _index_add,
        ),
        Example(
            (moderate(2, 3), _rows, moderate(2, 3)),
            lambda op, x, i, y: op(x, 1, i, y, alpha=2),
            lambda x, i, y: _index_add(x, i, 2 * y),
            dtypes=("int64", "float32", "float64"),
        ),
    ],
    "index_copy": [
        Example(
            (anything(2, 3), np.array([2, 0]), anything(2, 2)),
            lambda op, x, i, y: op(x, 1, i, y),
            _index_put,
        )
    ],
    "index_fill": [
        Example(
            (anything(2, 3), np.array([2, 0])),
            lambda op, x, i: op(x, 1, i, 1),
            lambda x, i: _index_put(x, i, 1),
        )
    ],
    "masked_select": [
        Example((anything(3, 4), _mask), lambda op, x, m: op(x, m), lambda x, m: x[m]),
        Example(
            (anything(3, 4), _mask[0]),
            lambda op, x, m: op(x, m),
            lambda x, m: x[np.broadcast_to(m, x.shape)],
        ),
    ],
    "masked_fill": [
        Example(
            (anything(3, 4), _mask),
            lambda op, x, m: op(x, m, 1),
            lambda x, m: _masked_fill(x, m, 1),
        )
    ],
    "nonzero": [
        Example((anything(3, 4),), lambda op, x: op(x), lambda x: np.argwhere(x)),
        Example((anything(3, 4),), lambda op, x: op(x, as_tuple=True), lambda x: np.nonzero(x)),
    ],
}
