"""Differences that are no defects of torch; docs/torch.md has a row for each."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import loup.torch as masked  # noqa: E402

import loup  # noqa: E402

NAN, INF = float("nan"), float("inf")
X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
I = X.long()  # noqa: E741
B = X > 0
MASK = torch.tensor([[True, False, True], [False, False, False]])
Call = Callable[[Any], Any]


def leaf() -> Any:
    return X.clone().requires_grad_()


# --- more than torch ---

MORE: dict[str, tuple[Call, Any]] = {
    "the place of the largest bool": (lambda m: m.argmax(B, 1), [0, 0]),
    "the place of the least bool": (lambda m: m.argmin(B, 1), [1, 2]),
    "the place of a bool that counts": (lambda m: m.argmin(B, 1, mask=MASK), [0, 0]),
    "the largest of bools": (lambda m: m.amax(B, 1, mask=MASK), [True, False]),
    "the variance of bools": (lambda m: m.var(B, 1, correction=0), [2 / 9, 2 / 9]),
    "logsumexp of bools": (lambda m: m.logsumexp(B, 1, mask=MASK), [1 + math.log(2), -INF]),
    "bools beside floats": (
        lambda m: m.logaddexp(X * 0, B, other_mask=MASK),
        [[math.log(1 + math.e), 0.0, math.log(1 + math.e)], [0.0] * 3],
    ),
    "softmax of bools": (
        lambda m: m.softmax(B, 1, dtype=torch.float32, mask=MASK),
        [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]],
    ),
    "softmin of bools": (lambda m: m.softmin(B[:, :1], 1, dtype=torch.float32), [[1.0], [1.0]]),
    "sums of bools": (lambda m: m.cumsum(B, 1), [[1, 1, 2], [1, 2, 2]]),
    "sums as bools": (lambda m: m.cumsum(X, 1, dtype=torch.bool), [[True] * 3] * 2),
    "normalized integers": (
        lambda m: m.normalize(I, 1.0, 1, dtype=torch.float32),
        [[1 / 6, -2 / 6, 3 / 6], [4 / 15, 5 / 15, -6 / 15]],
    ),
    "nothing, normalized": (lambda m: m.normalize(X[:, :0], INF, 1), [[], []]),
    "an empty list of dims": (lambda m: m.logsumexp(X * 0, []), math.log(6)),
    "None as keepdim": (lambda m: m.logsumexp(X * 0, 1, keepdim=None), [math.log(3)] * 2),
    "medians of no integers": (lambda m: m.median(I, 1, mask=MASK, dtype=torch.float32), [1, NAN]),
    "an integer sum": (lambda m: m.sum(leaf(), 1, dtype=torch.int64), [2, 3]),
    "integer sums": (lambda m: m.cumsum(leaf(), 1, dtype=torch.int64), [[1, -1, 2], [4, 9, 3]]),
    "integer products": (
        lambda m: m.cumprod(leaf(), 1, dtype=torch.int64),
        [[1, -2, -6], [4, 20, -120]],
    ),
    "a dim of NumPy": (lambda m: m.sum(X, np.int64(1)), [2, 3]),
    "a tensor as dim": (lambda m: m.sum(X, torch.tensor(1)), [2, 3]),
}


@pytest.mark.parametrize(("call", "expected"), MORE.values(), ids=MORE.keys())
def test_works_where_torch_raises(call: Call, expected: Any) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011
        call(torch.masked)
    found = call(masked)
    assert not found.requires_grad
    found = found.double()
    torch.testing.assert_close(found, torch.tensor(expected).to(found), equal_nan=True)


# --- less than torch ---

LESS: dict[str, tuple[Call, type[Exception]]] = {
    "no dim for softmax": (lambda m: m.softmax(X, None), TypeError),
    "two dims for softmax": (lambda m: m.softmax(X, (0, 1)), TypeError),
    "no dim for a median": (lambda m: m.median(X, None), TypeError),
    "a bool as dim": (lambda m: m.sum(X, True), TypeError),
    "an integer variance": (lambda m: m.var(X, dtype=torch.int32), loup.ValueError),
    "softmax of no integers": (lambda m: m.softmax(I[:0], 1), loup.DTypeError),
    "a result of another size": (lambda m: m.sum(X, 1).resize_(9), RuntimeError),
    "a result to write more into": (lambda m: torch.add(X, X, out=m.sum(X, 1)), RuntimeError),
}


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize(("call", "expected"), LESS.values(), ids=LESS.keys())
def test_raises_where_torch_works(call: Call, expected: type[Exception]) -> None:
    call(torch.masked)
    with pytest.raises(expected):
        call(masked)


# --- other than torch ---

DTYPES: dict[str, tuple[Call, Any]] = {
    "a product": (lambda m: m.prod(I, dtype=torch.int32), torch.int32),
    "a median": (lambda m: m.median(X, dtype=torch.float64), torch.float64),
    "an index": (lambda m: m.argmax(X), torch.int64),
    "logsumexp of integers": (lambda m: m.logsumexp(I), torch.float32),
}


@pytest.mark.parametrize(("call", "expected"), DTYPES.values(), ids=DTYPES.keys())
def test_dtypes_are_those_of_the_documentation(call: Call, expected: Any) -> None:
    assert call(masked).dtype is expected
    assert call(torch.masked).dtype is not expected


def test_a_count_has_gradient_zero_instead_of_none() -> None:
    for module, expected in ((masked, [[0.0] * 3] * 2), (torch.masked, None)):
        x = leaf()
        (found,) = torch.autograd.grad(module.norm(x, 0, 1).sum(), x, allow_unused=True)
        assert (found if found is None else found.tolist()) == expected


def test_a_subclass_with_memory_comes_back_as_a_tensor() -> None:
    class Named(torch.Tensor):
        pass

    x = X.as_subclass(Named)
    assert type(masked.sum(x)) is torch.Tensor
    assert type(torch.masked.sum(x)) is Named


def test_autocast_does_not_reach_loup() -> None:
    x = X.bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert masked.prod(x, 1).dtype is torch.bfloat16
        assert torch.masked.prod(x, 1).dtype is torch.float32


@pytest.mark.parametrize("name", ["amax", "amin", "logsumexp"])
def test_an_infinity_is_some_integer(name: str) -> None:
    none = torch.zeros(2, 3, dtype=torch.bool)
    for module in (masked, torch.masked):
        assert getattr(module, name)(X, mask=none, dtype=torch.int32).dtype is torch.int32


def test_of_two_mistakes_another_may_be_named() -> None:
    with pytest.raises(IndexError):
        torch.masked.softmax(I, 1, mask=MASK[None])
    with pytest.raises(loup.DTypeError):
        masked.softmax(I, 1, mask=MASK[None])
