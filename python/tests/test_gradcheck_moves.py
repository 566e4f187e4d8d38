"""Views, copies and in-place changes against finite differences, first and second order."""

from collections.abc import Callable

import pytest

import loup
from loup.autograd import gradcheck, gradgradcheck

Function = Callable[[loup.Tensor], loup.Tensor]


def leaf(*shape: int) -> loup.Tensor:
    count = loup.zeros(shape).numel()
    values = [0.3 + 0.37 * k % 1.3 for k in range(count)]
    return loup.tensor(values, dtype="float64").reshape(shape).requires_grad_()


def changed_in_place(x: loup.Tensor) -> loup.Tensor:
    y = x * x
    y.mul_(x)
    y += 1
    y.log_()
    return y


def changed_through_a_view(x: loup.Tensor) -> loup.Tensor:
    y = x * x
    part = y.T[1:]
    part.exp_()
    part.mul_(x.T[1:])
    return part


def copied_into(x: loup.Tensor) -> loup.Tensor:
    y = loup.zeros((4, 2, 3), "float64")
    y.copy_(x * x)
    return y * y


def overwritten(x: loup.Tensor) -> loup.Tensor:
    y = x * x
    z = x * x * x
    y.copy_(z)
    return y + x


def filled(x: loup.Tensor) -> loup.Tensor:
    y = x * x
    y.fill_(3)
    return y * x


MOVES: dict[str, Function] = {
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.unsqueeze(0).permute(2, -3, 1),
    "T": lambda x: x.T,
    "squeeze": lambda x: x.unsqueeze(1).squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "select": lambda x: x.select(0, -1),
    "step": lambda x: x[:, ::2],
    "expand": lambda x: x.unsqueeze(1).expand(2, 4, 3),
    "view": lambda x: x.view(3, 2),
    "reshape with a copy": lambda x: x.T.reshape(2, 3),
    "flatten": lambda x: x.T.flatten(),
    "clone": lambda x: x.T.clone(),
    "contiguous": lambda x: x.T.contiguous(),
    "a chain": lambda x: x.T[1:].unsqueeze(0).expand(3, 2, 2).permute(1, 2, 0).reshape(-1)[1::3],
    "in place": changed_in_place,
    "in place through a view": changed_through_a_view,
    "copy_": copied_into,
    "copy_ over a record": overwritten,
    "fill_": filled,
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_have_gradients_of_first_and_second_order(name: str) -> None:
    move = MOVES[name]
    assert gradcheck(move, leaf(2, 3))
    # Squares, so that the second order is not zero everywhere.
    assert gradgradcheck(lambda x: move(x) * move(x), leaf(2, 3))


@pytest.mark.parametrize("name", MOVES)
def test_moves_keep_masked_garbage_out_of_gradients(name: str) -> None:
    x = leaf(2, 3)
    y = MOVES[name](x)
    hidden = loup.zeros(y.shape, "bool")
    hidden.reshape(-1)[0] = True
    # What is hidden is divided by zero, so that only a structural zero gives a finite gradient.
    poisoned = loup.where(hidden, loup.zeros((), "float64"), loup.ones((), "float64"))
    total = (y / poisoned).sum(mask=hidden.logical_not())
    total.backward()
    assert x.grad is not None
    assert all(value == value for value in x.grad.reshape(-1).tolist())
