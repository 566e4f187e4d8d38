"""Gradients through loup.torch, of first and second order, against finite differences."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import loup.torch as masked  # noqa: E402

INF = float("inf")
CALLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "sum of all": ("sum", (), {}),
    "sum of rows": ("sum", (1,), {"keepdim": True}),
    "prod of all": ("prod", (), {}),
    "prod of columns": ("prod", (0,), {}),
    "mean of rows": ("mean", (1,), {}),
    "amax of rows": ("amax", (-1,), {}),
    "amin of all": ("amin", ((0, 1),), {"keepdim": True}),
    "median of rows": ("median", (), {}),
    "logsumexp of rows": ("logsumexp", (1,), {}),
    "logsumexp of all": ("logsumexp", (), {}),
    "var of rows": ("var", (1,), {"correction": 0}),
    "var of all": ("var", (None, True), {}),
    "std of rows": ("std", (1, False), {}),
    "norm 2 of rows": ("norm", (2.0, 1), {}),
    "norm 1 of all": ("norm", (1.0,), {}),
    "norm 3 of columns": ("norm", (3.0, 0), {}),
    "norm inf of rows": ("norm", (INF, 1), {}),
    "norm -inf of rows": ("norm", (-INF, 1), {}),
    "softmax of rows": ("softmax", (1,), {}),
    "softmax of columns": ("softmax", (0,), {}),
    "log_softmax of rows": ("log_softmax", (1,), {}),
    "softmin of rows": ("softmin", (-1,), {}),
    "normalize 2 of rows": ("normalize", (2.0, 1), {}),
    "normalize 1 of columns": ("normalize", (1.0, 0), {}),
    "cumsum of rows": ("cumsum", (1,), {}),
    "cumprod of rows": ("cumprod", (1,), {}),
}
MASKS = {
    "no mask": None,
    "a mask": [[True, False, True], [True, True, True]],
    "a row that does not count": [[True, True, False], [False, False, False]],
    "a mask of rows": [[True], [False]],
    "a mask of lower rank": [True, False, True],
    "nothing": False,
}


def finite(y: Any) -> Any:
    """What finite differences can be taken of; -inf and NaN stand where nothing counts."""
    return torch.where(torch.isfinite(y), y, 0)


def check(function: Callable[..., Any], *inputs: Any) -> None:
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_gradients_are_those_of_finite_differences(call: Any, mask: Any) -> None:
    name, arguments, options = call
    x = torch.tensor([[0.7, -1.1, 0.4], [1.9, -0.3, 1.3]], dtype=torch.float64, requires_grad=True)
    counts = None if mask is None else torch.tensor(mask)
    function = getattr(masked, name)
    check(lambda x: finite(function(x, *arguments, mask=counts, **options)), x)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_gradients_of_logaddexp_are_those_of_finite_differences(mask: Any) -> None:
    x = torch.tensor([[0.7, -1.1, 0.4], [1.9, -0.3, 1.3]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[-0.2], [0.6]], dtype=torch.float64, requires_grad=True)
    masks = {} if mask is None else {"input_mask": torch.tensor(mask)}
    check(lambda x, y: finite(masked.logaddexp(x, y, **masks)), x, y)
    masks["other_mask"] = torch.tensor([[True], [False]])
    check(lambda x, y: finite(masked.logaddexp(x, y, **masks)), x, y)


def test_third_order_works() -> None:
    x = torch.tensor([0.5, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = masked.prod(x, mask=torch.tensor([True, True, True]))
    for expected in ([6.0, 1.5, 1.0], [5.0, 3.5, 2.5], [2.0, 2.0, 2.0]):
        (found,) = torch.autograd.grad(y, x, create_graph=True)
        assert found.tolist() == expected
        y = found.sum()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_what_does_not_count_has_gradient_zero(call: Any) -> None:
    name, arguments, options = call
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    y = getattr(masked, name)(x, *arguments, mask=torch.zeros(2, 3, dtype=torch.bool), **options)
    y.backward(torch.ones_like(y))
    assert x.grad.tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("garbage", [float("nan"), INF, -INF])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_what_is_masked_changes_no_bit(call: Any, garbage: float) -> None:
    name, arguments, options = call
    mask = torch.tensor([[True, False, True], [True, True, False]])
    clean = torch.tensor([[0.7, -1.1, 0.4], [1.9, -0.3, 1.3]], dtype=torch.float64)
    results = []
    for x in (clean, clean.masked_fill(~mask, garbage)):
        x.requires_grad_()
        y = getattr(masked, name)(x, *arguments, mask=mask, **options)
        (first,) = torch.autograd.grad(finite(y).sum(), x, create_graph=True)
        second = torch.zeros_like(x)
        if first.requires_grad:
            (second,) = torch.autograd.grad(first.square().sum(), x, allow_unused=True)
        results.append([y, first, second])
    for expected, found in zip(*results, strict=True):
        assert torch.equal(expected.view(torch.int64), found.view(torch.int64))
