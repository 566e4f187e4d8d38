"""loup.debug.poison(): operators see garbage where a mask is False, and give the same results."""

import threading
from contextlib import ExitStack, nullcontext

import numpy as np
import pytest
from strided import rng

import loup

OPS = {op["name"]: op for op in loup.ops()}
MASKED = [name for name, op in OPS.items() if op["masked"]]
NEEDS_DIM = {"softmax", "log_softmax", "softmin", "cumsum", "cumprod"}


def call(name: str, x: loup.Tensor | loup.MaskedTensor, **options: object) -> object:
    f = getattr(loup.masked, name)
    if name in NEEDS_DIM:
        return f(x, -1, **options)
    if name == "normalize":
        return f(x, 2, -1, **options)
    if name == "quantile":
        return f(x, 0.3, **options)
    if name == "logaddexp":
        return f(x, x, **options)
    if name == "weighted_mean":
        return f(x, loup.ones((4, 6)), **options)
    return f(x, **options)


def parts(result: object) -> list[np.ndarray]:
    """Every array of a result, where it counts."""
    if isinstance(result, tuple):
        return [array for part in result for array in parts(part)]
    if isinstance(result, loup.MaskedTensor):
        return [result.get_mask().numpy(), result.detach().to_tensor(0).numpy()]
    assert isinstance(result, loup.Tensor)
    return [result.detach().numpy()]


def data(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    generator = rng("poison", dtype)
    return generator.uniform(1, 9, (4, 6)).astype(dtype), generator.random((4, 6)) < 0.7


def assert_same(one: object, other: object) -> None:
    for a, b in zip(parts(one), parts(other), strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("name", MASKED)
def test_masked_functions_do_not_see_it(name: str, dtype: str) -> None:
    values, mask = data(dtype)
    for x in (loup.tensor(values), loup.masked_tensor(values, mask)):
        options = {} if isinstance(x, loup.MaskedTensor) else {"mask": mask}
        try:
            expected = call(name, x, **options)
        except (TypeError, ValueError) as error:
            with loup.debug.poison(), pytest.raises(type(error)):
                call(name, x, **options)
            continue
        with loup.debug.poison():
            assert_same(call(name, x, **options), expected)


@pytest.mark.parametrize("name", [name for name in MASKED if OPS[name]["differentiable"]])
def test_gradients_do_not_see_it(name: str) -> None:
    values, mask = data("float64")
    gradients = []
    for is_on in (False, True):
        x = loup.tensor(values, requires_grad=True)
        with loup.debug.poison() if is_on else nullcontext():
            result = call(name, x, mask=mask)
            first = result[0] if isinstance(result, tuple) else result
            first.backward(loup.ones(first.shape, dtype="float64"))
        gradients.append(x.grad.numpy())
    assert gradients[0].tobytes() == gradients[1].tobytes()
    assert not gradients[0][~mask].any()


UNARY = [name for name, op in OPS.items() if op["family"] == "unary" and op["in_place"]]


@pytest.mark.parametrize("name", UNARY)
def test_elementwise_operators_read_garbage(name: str) -> None:
    values, mask = data("int64" if name.startswith("bitwise") else "float64")
    x = loup.masked_tensor(values, mask)
    expected = getattr(x, name)()
    with loup.debug.poison():
        result = getattr(x, name)()
    assert_same(result, expected)
    plain = loup.where(mask, values, np.nan if values.dtype.kind == "f" else 0x5A5A5A5A5A5A5A5A)
    assert result.get_data().numpy().tobytes() == getattr(plain, name)().numpy().tobytes()


def test_other_operators_do_not_see_it() -> None:
    values, mask = data("float32")
    x = loup.masked_tensor(values, mask)
    y = loup.masked_tensor(values[::-1].copy(), mask[::-1].copy())

    def results() -> tuple[object, ...]:
        changed = x.clone()
        changed.mul_(3).clamp_(max=20)
        return (
            x + y,
            x @ y.T,
            loup.linear(x, values, values[0, :4]),
            loup.einsum("ij,kj->ik", x, y),
            loup.where(mask, x, y),
            x.clamp(min=y),
            x.lerp(y, 0.25),
            *x.sort(1),
            *x.topk(2),
            changed,
        )

    expected = results()
    with loup.debug.poison():
        assert_same(results(), expected)


CLASSES = [0, 3, 1, 2]
GARBAGE_SHOWS = {
    "isclose": lambda x, y: x.isclose(x),
    "bucketize": lambda x, y: loup.bucketize(x, loup.tensor([0.0, 5.0, 10.0])),
    "scatter": lambda x, y: loup.scatter(y, 1, loup.zeros((4, 6), dtype="int64"), x),
    "copy_": lambda x, y: loup.zeros_like(x).copy_(x),
}
NOTHING_SHOWS = {
    "layer_norm": lambda x, y: loup.layer_norm(x, 6),
    "mse_loss": lambda x, y: loup.mse_loss(x, y),
    "l1_loss": lambda x, y: loup.l1_loss(x, y, reduction="none"),
    "cross_entropy": lambda x, y: loup.cross_entropy(x, loup.tensor(CLASSES)),
    "scatter_add": lambda x, y: loup.scatter_add(y, 1, loup.zeros((4, 6), dtype="int64"), x),
    "index_add": lambda x, y: loup.index_add(y, 0, loup.tensor([0, 1, 1, 3]), x),
    "col2im": lambda x, y: loup.col2im(x, (3, 4), (2, 2)),
    "argsort": lambda x, y: x.argsort(1),
    "unique": lambda x, y: loup.unique(x),
    "nonzero": lambda x, y: loup.nonzero(x),
    "equal": lambda x, y: loup.tensor(loup.equal(x, x.clone())),
    "multinomial": lambda x, y: loup.multinomial(x.abs() + 1, 2, generator=loup.Generator(3)),
}


@pytest.mark.parametrize("name", [*GARBAGE_SHOWS, *NOTHING_SHOWS])
def test_functions_give_the_same_results(name: str) -> None:
    values, mask = data("float32")
    x = loup.masked_tensor(values, mask)
    y = loup.masked_tensor(values[::-1].copy(), mask[::-1].copy())
    f = (GARBAGE_SHOWS | NOTHING_SHOWS)[name]
    expected = f(x, y)
    with loup.debug.poison():
        result = f(x, y)
    assert_same(result, expected)
    if name in GARBAGE_SHOWS:  # so it was there to be seen
        assert result.get_data().numpy().tobytes() != expected.get_data().numpy().tobytes()


def test_contexts_may_overlap() -> None:
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(loup.debug.poison())
        second.enter_context(loup.debug.poison())
        first.close()
        assert is_on()
        second.close()
    assert not is_on()


def is_on() -> bool:
    x = loup.masked_tensor([1.0, 2.0], [True, False])
    return bool(np.isnan((x * 2).get_data().numpy()[1]))


def fail_inside() -> None:
    with loup.debug.poison():
        raise ZeroDivisionError


def test_it_ends() -> None:
    with loup.debug.poison():
        with loup.debug.poison():
            assert is_on()
        assert is_on()
    assert not is_on()
    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert not is_on()


def test_it_changes_no_tensor() -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, False])
    with loup.debug.poison():
        (x * 2).sum()
    assert x.get_data().tolist() == [1, 2]


def test_it_holds_for_all_threads() -> None:
    seen: list[bool] = []
    with loup.debug.poison():
        thread = threading.Thread(target=lambda: seen.append(is_on()))
        thread.start()
        thread.join()
    assert seen == [True]
