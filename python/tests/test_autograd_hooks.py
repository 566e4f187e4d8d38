"""Hooks and retained gradients."""

import gc
import threading
import weakref

import pytest

import loup


def leaf(*values: float) -> loup.Tensor:
    return loup.tensor(values, dtype="float64", requires_grad=True)


def test_a_hook_sees_the_complete_gradient_once() -> None:
    seen: list[list[float]] = []
    x = leaf(1, 2)
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * y + y).sum().backward()
    assert seen == [[5, 9]]


def test_a_hook_may_replace_the_gradient() -> None:
    x = leaf(1, 2)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [31, 31]


def test_a_hook_can_be_removed() -> None:
    seen: list[float] = []
    x = leaf(1)
    with x.register_hook(lambda g: seen.append(g.item())):
        x.sum().backward()
    x.sum().backward()
    handle = x.register_hook(lambda g: seen.append(-g.item()))
    handle.remove()
    handle.remove()
    x.sum().backward()
    assert seen == [1]


def test_what_a_hook_raises_leaves_backward() -> None:
    def fail(gradient: loup.Tensor) -> None:
        raise KeyError("from the hook")

    x = leaf(1)
    y = x * 2
    handle = y.register_hook(fail)
    with pytest.raises(KeyError, match="from the hook"):
        y.sum().backward()
    assert x.grad is None
    assert loup.is_grad_enabled()
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2]


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (3.0, TypeError, "hook: expected a Tensor or None, got float"),
        (
            loup.ones(3, "float64"),
            loup.ShapeError,
            r"expected a gradient of shape \[1\], got \[3\]",
        ),
        (loup.ones(1), loup.DTypeError, "hook: expected a gradient of float64, got float32"),
    ],
    ids=["number", "shape", "dtype"],
)
def test_what_a_hook_returns_must_fit(result: object, error: type, message: str) -> None:
    x = leaf(1)
    x.register_hook(lambda g: result)  # type: ignore[arg-type, return-value]
    with pytest.raises(error, match=message):
        x.sum().backward()


def test_a_hook_must_be_callable_and_its_tensor_recorded() -> None:
    with pytest.raises(TypeError, match="register_hook: expected a function, got int"):
        leaf(1).register_hook(3)  # type: ignore[arg-type]
    with pytest.raises(
        loup.StateError, match="register_hook: expected a tensor that requires grad"
    ):
        loup.ones(1).register_hook(lambda g: None)


def test_a_hook_is_freed_with_its_tensor() -> None:
    class Hook:
        def __call__(self, gradient: loup.Tensor) -> None: ...

    hook = Hook()
    watched = weakref.ref(hook)
    x = leaf(1)
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    del hook
    assert watched() is not None
    del y
    gc.collect()
    assert watched() is None


def test_a_hook_may_use_gradients_itself() -> None:
    x, other = leaf(1), leaf(5)

    def hook(gradient: loup.Tensor) -> loup.Tensor:
        assert not loup.is_grad_enabled()
        with loup.enable_grad():
            (other * other).sum().backward()
        assert other.grad is not None
        return gradient * other.grad

    x.register_hook(hook)
    x.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [10]


def test_hooks_run_on_every_thread() -> None:
    calls: list[float] = []
    x = leaf(1)
    x.register_hook(lambda g: calls.append(g.item()))

    def work() -> None:
        for _ in range(50):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [2] * 200
    assert x.grad is not None
    assert x.grad.tolist() == [400]


def test_retain_grad_keeps_the_gradient_of_a_computed_tensor() -> None:
    x = leaf(1, 2)
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward()
    assert y.grad is not None
    assert y.grad.tolist() == [4, 8]
    assert not x.retains_grad


def test_a_masked_tensor_sends_nothing_back_from_where_it_is_masked() -> None:
    x = loup.masked_tensor(
        loup.tensor([1.0, float("nan")]), loup.tensor([False, False]), requires_grad=True
    )
    total = x.sum()
    total.backward()
    assert x.grad is not None
    assert x.grad.get_data().tolist() == [0, 0]
