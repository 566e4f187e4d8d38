"""Calls of loup in torch's graph: when they are recorded, changed, released and run again."""

import gc
import threading
import weakref
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import loup.torch as masked  # noqa: E402
from loup.torch.functions import _READ_INPUT, _READ_OUTPUT  # noqa: E402

import loup  # noqa: E402

MASK = torch.tensor([[True, True, True], [True, False, True], [False, True, True]])
_NAMES = """sum prod mean amax amin median logsumexp var std cumsum cumprod softmax log_softmax
softmin"""
CALLS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(_NAMES.split(), (1,)),
    "norm": (2.0, 1),
    "normalize": (2.0, 1),
}


def leaf() -> Any:
    values = [[1.5, 0.5, 2.0], [3.0, 1.25, 0.75], [0.25, 4.0, 1.75]]
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def call(name: str, x: Any, mask: Any = MASK) -> Any:
    return getattr(masked, name)(x, *CALLS[name], mask=mask)


def weights(y: Any) -> Any:
    return torch.linspace(1, 2, y.numel(), dtype=y.dtype).reshape(y.shape)


# --- recorded or not ---


def test_nothing_is_recorded_without_need() -> None:
    assert not masked.sum(torch.ones(3)).requires_grad
    with torch.no_grad():
        assert not masked.sum(leaf()).requires_grad
    with torch.inference_mode():
        assert not masked.softmax(leaf(), 1).requires_grad
    assert not masked.argmax(leaf()).requires_grad
    assert not masked.sum(leaf(), dtype=torch.int64).requires_grad


def test_loup_may_be_told_not_to_record() -> None:
    x = leaf()
    with loup.no_grad():
        masked.sum(x).backward()
        assert not loup.is_grad_enabled()
    assert x.grad.tolist() == [[1.0] * 3] * 3


def test_inputs_without_gradients_get_none() -> None:
    x, y = leaf(), leaf().detach()
    masked.logaddexp(x, y, input_mask=MASK).sum().backward()
    assert x.grad is not None
    assert y.grad is None


def test_gradients_have_the_dtype_of_the_input() -> None:
    x = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    masked.sum(x, dtype=torch.float64).backward()
    assert x.grad.dtype is torch.bfloat16


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
@pytest.mark.filterwarnings("ignore:It is not recommended to create a MaskedTensor")
def test_a_gradient_may_be_a_masked_tensor() -> None:
    x = leaf()
    y = call("sum", x)
    masked.as_masked_tensor(y, torch.tensor([True, False, True])).sum().backward()
    assert x.grad.tolist() == (MASK * torch.tensor([[1.0], [0.0], [1.0]])).tolist()


@pytest.mark.parametrize("creates", [False, True])
def test_a_gradient_may_be_zeros_without_memory(creates: bool) -> None:
    x = leaf()
    zeros = torch._efficientzerotensor(3, dtype=x.dtype)
    (found,) = torch.autograd.grad(call("sum", x), x, zeros, create_graph=creates)
    assert found.tolist() == [[0.0] * 3] * 3


# --- again, and never again ---


@pytest.mark.parametrize("name", CALLS)
def test_a_retained_record_gives_the_same_gradient_twice(name: str) -> None:
    x = leaf()
    y = call(name, x)
    (first,) = torch.autograd.grad(y, x, weights(y), retain_graph=True)
    (again,) = torch.autograd.grad(y, x, weights(y))
    assert torch.equal(first, again)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        torch.autograd.grad(y, x, weights(y))


def test_a_sum_without_a_mask_can_go_back_twice_as_in_torch() -> None:
    for module in (torch.masked, masked):
        x = leaf()
        y = module.sum(x)
        y.backward()
        y.backward()
        assert x.grad.tolist() == [[2.0] * 3] * 3


def test_gradients_of_gradients_do_not_need_the_first() -> None:
    x = leaf()
    y = call("prod", x)
    (first,) = torch.autograd.grad(y, x, weights(y), create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.abs().sum() > 0
    y.backward(weights(y))
    assert torch.equal(x.grad, first.detach())


@pytest.mark.parametrize("name", ["sum", "softmax", "prod"])
def test_backward_releases_what_was_kept(name: str) -> None:
    x = leaf()
    hidden = x * 2
    kept = weakref.ref(hidden)
    y = call(name, hidden)
    y.backward(weights(y))
    del hidden
    gc.collect()
    assert kept() is None
    assert y.grad_fn.record is None


def test_threads_do_not_disturb_each_other() -> None:
    x = leaf()
    y = call("softmax", x)
    (expected,) = torch.autograd.grad(y, x, weights(y))
    found = []

    def work() -> None:
        for _ in range(50):
            own = leaf()
            out = call("softmax", own)
            out.backward(weights(out))
            found.append(torch.equal(own.grad, expected))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 200
    assert all(found)


# --- changes in between ---


@pytest.mark.parametrize("name", CALLS)
def test_the_table_tells_what_gradients_are_made_from(name: str) -> None:
    """.data is changed behind torch's back: the gradient changes if, and only if, it is read."""
    x = leaf()
    y = call(name, x)
    (expected,) = torch.autograd.grad(y, x, weights(y), retain_graph=True)
    before = x.detach().clone()
    x.data.copy_(before.flip(0) * 1.5 + 0.1)
    (found,) = torch.autograd.grad(y, x, weights(y), retain_graph=True)
    assert torch.equal(found, expected) == (name not in _READ_INPUT)
    x.data.copy_(before)
    y.data.copy_(y.data * 1.5 + 0.1)
    (found,) = torch.autograd.grad(y, x, weights(y))
    assert torch.equal(found, expected) == (name not in _READ_OUTPUT)


@pytest.mark.parametrize("name", CALLS)
def test_changes_of_what_was_read_are_noticed(name: str) -> None:
    rule = "modified by an inplace operation"
    changed = leaf()
    for who, is_read in (("input", name in _READ_INPUT), ("output", name in _READ_OUTPUT)):
        x = changed * 1
        y = call(name, x)
        g = weights(y)
        (x if who == "input" else y).add_(1)
        if is_read:
            with pytest.raises(RuntimeError, match=rule):
                torch.autograd.grad(y, changed, g)
        else:
            torch.autograd.grad(y, changed, g)
    mask = MASK.clone()
    y = call(name, changed, mask)
    mask[0, 0] = False
    with pytest.raises(RuntimeError, match=rule):
        torch.autograd.grad(y, changed, weights(y))


def test_changes_are_noticed_before_gradients_of_gradients() -> None:
    start = leaf()
    x = start * 1
    y = call("softmax", x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="expected inputs as they were .*, got one modified by"):
        torch.autograd.grad(y, start, weights(y), create_graph=True)
