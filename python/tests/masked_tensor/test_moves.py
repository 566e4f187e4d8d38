"""What moves elements of a MaskedTensor: data and mask alike, views that write through."""

from collections.abc import Callable

import numpy as np
import pytest

import loup

X = np.arange(24.0).reshape(2, 3, 4)
MASK = X % 3 != 1
INDEX = np.array([2, 0])

MOVES: dict[str, Callable[..., object]] = {
    "transpose": lambda x: x.transpose(0, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "reshape": lambda x: x.reshape(6, 4),
    "reshape of a transpose": lambda x: x.transpose(0, 1).reshape(-1),
    "view": lambda x: x.view(4, 6),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "squeeze": lambda x: x[:1].squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "expand": lambda x: x[:1].expand(5, 3, 4),
    "broadcast_to": lambda x: x[0].broadcast_to((2, 3, 4)),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "select": lambda x: x.select(2, 3),
    "movedim": lambda x: x.movedim(0, 2),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "flip": lambda x: x.flip((0, 2)),
    "roll": lambda x: x.roll(2, 1),
    "repeat": lambda x: x.repeat(2, 1, 1),
    "tile": lambda x: x.tile(2),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "index_select": lambda x: x.index_select(1, INDEX),
    "gather": lambda x: x.gather(1, np.zeros((2, 1, 4), np.int64)),
    "take_along_dim": lambda x: x.take_along_dim(np.zeros((1, 1, 4), np.int64), 1),
    "an int": lambda x: x[1],
    "a slice": lambda x: x[:, 1:, ::2],
    "None and ...": lambda x: x[None, ..., 1],
    "integers": lambda x: x[:, INDEX],
    "a boolean array": lambda x: x[MASK],
    "split": lambda x: x.split(2, 1),
    "chunk": lambda x: x.chunk(2, 2),
    "unbind": lambda x: x.unbind(1),
    "iteration": tuple,
    "cat": lambda x: loup.cat([x, x], 1),
    "stack": lambda x: loup.stack([x, x]),
    "hstack": lambda x: loup.hstack([x, x]),
    "vstack": lambda x: loup.vstack([x, x]),
    "masked_select": lambda x: x.masked_select(X > 5),
}


def parts(result: object) -> list[loup.MaskedTensor]:
    return list(result) if isinstance(result, tuple | list) else [result]


@pytest.mark.parametrize("name", MOVES)
def test_moves_do_to_the_mask_what_they_do_to_the_data(name: str) -> None:
    move = MOVES[name]
    results = parts(move(loup.MaskedTensor(X, MASK)))
    data, masks = parts(move(loup.tensor(X))), parts(move(loup.tensor(MASK)))
    assert len(results) == len(data)
    for result, values, mask in zip(results, data, masks, strict=True):
        assert isinstance(result, loup.MaskedTensor)
        np.testing.assert_array_equal(result.get_data().numpy(), values.numpy())
        np.testing.assert_array_equal(result.get_mask().numpy(), mask.numpy())


@pytest.mark.parametrize("name", MOVES)
def test_gradients_keep_the_mask_of_the_leaf(name: str) -> None:
    x = loup.MaskedTensor(np.where(MASK, X, np.nan), MASK, requires_grad=True)
    plain = loup.tensor(X, requires_grad=True)
    for part in parts(MOVES[name](x)):
        part.sum().backward(retain_graph=True)
    for part, mask in zip(
        parts(MOVES[name](plain)), parts(MOVES[name](loup.tensor(MASK))), strict=True
    ):
        part.sum(mask=mask).backward(retain_graph=True)
    np.testing.assert_array_equal(x.grad.get_mask().numpy(), MASK)
    np.testing.assert_array_equal(x.grad.get_data().numpy(), plain.grad.numpy())


def test_mixed_parts_are_joined_and_plain_ones_count() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [True, False])
    assert loup.cat([x, loup.tensor([3.0])]).tolist() == [1.0, None, 3.0]
    assert loup.stack([loup.tensor([3.0, 4.0]), x]).tolist() == [[3.0, 4.0], [1.0, None]]


def test_setitem_writes_data_and_mask() -> None:
    x = loup.MaskedTensor(np.zeros((2, 3)), np.zeros((2, 3), bool))
    x[0, 1] = 5
    x[1] = loup.MaskedTensor([7.0, 8.0, 9.0], [True, False, True])
    x[:, 2] = loup.tensor([1.0, 2.0])
    assert x.tolist() == [[None, 5.0, 1.0], [7.0, None, 2.0]]
    x[(x > 4).to_tensor(False)] = -1
    assert x.tolist() == [[None, -1.0, 1.0], [-1.0, None, 2.0]]


def test_views_write_through() -> None:
    x = loup.MaskedTensor(np.zeros((2, 3)), np.zeros((2, 3), bool))
    row = x[0]
    row[1] = 4.0
    x.T[2, 1] = 6.0
    x.reshape(-1)[0] = 1.0
    assert x.tolist() == [[1.0, 4.0, None], [None, None, 6.0]]
    x[0].mul_(2)
    assert x.tolist() == [[2.0, 8.0, None], [None, None, 6.0]]


def test_setitem_in_a_recorded_tensor_keeps_the_record() -> None:
    x = loup.MaskedTensor([1.0, 2.0, 3.0], [True, False, True], requires_grad=True)
    y = x * 2
    y[0] = 10.0
    y[1] = 20.0
    y.sum().backward()
    assert y.tolist() == [10.0, 20.0, 6.0]
    assert x.grad.get_data().tolist() == [0.0, 0.0, 2.0]
