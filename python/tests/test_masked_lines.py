"""Masked operators along lines: softmax and its relatives, running sums and products, normalize."""

import math
from typing import Any

import numpy as np
import pytest

import loup

ONE_DIM = ["softmax", "log_softmax", "softmin", "cumsum", "cumprod"]
SOFTMAX = ["softmax", "log_softmax", "softmin"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
ORDERS = [2, 1, 0, math.inf, -math.inf, 3, 0.5, -1, -2]
CLOSE = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 3e-7, "float64": 1e-13}
SHAPES_AND_DIMS = [
    ((), 0),
    ((5,), 0),
    ((5, 5), 0),
    ((5, 5), -1),
    ((5, 10, 5), 2),
    ((5, 10, 5), 1),
    ((5, 0, 0), -1),
    ((3, 2, 1, 4), -2),
    ((40, 70), 0),
    ((3, 70_001), 1),
    ((70_001, 3), 0),
]


def values(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 2, shape) * rng.choice([-1.0, 1.0], shape)


def random_mask(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random(shape) < 0.6


def numpy_of(x: loup.Tensor) -> np.ndarray:
    return np.asarray(x.float() if x.dtype == "bfloat16" else x).astype(np.float64)


def expected(op: str, x: np.ndarray, dim: Any, mask: np.ndarray, order: float = 2) -> np.ndarray:
    """The result in float64, by NumPy."""
    axis = dim if x.ndim else None
    if op == "cumsum":
        return np.cumsum(np.where(mask, x, 0), axis=dim) if x.ndim else np.where(mask, x, 0.0)
    if op == "cumprod":
        return np.cumprod(np.where(mask, x, 1), axis=dim) if x.ndim else np.where(mask, x, 1.0)
    if x.size == 0:
        return x
    with np.errstate(all="ignore"):
        if op == "normalize":
            size = np.abs(x)
            if order == math.inf:
                norm = np.where(mask, size, 0).max(axis=axis, keepdims=True)
            elif order == -math.inf:
                norm = np.where(mask, size, np.inf).min(axis=axis, keepdims=True)
            elif order == 0:
                norm = (mask & (size != 0)).sum(axis=axis, keepdims=True)
            else:
                total = np.where(mask, size**order, 0).sum(axis=axis, keepdims=True)
                norm = total ** (1 / order)
            return np.where(mask, x / np.maximum(norm, 1e-12), 0)
        moved = np.where(mask, -x if op == "softmin" else x, -np.inf)
        top = moved.max(axis=axis, keepdims=True)
        moved = moved - np.where(np.isinf(top), 0, top)
        total = np.exp(moved).sum(axis=axis, keepdims=True)
        if op == "log_softmax":
            return np.where(mask & (total > 0), moved - np.log(total), -np.inf)
        return np.where(total > 0, np.exp(moved) / total, 0)


def assert_close(got: loup.Tensor, want: np.ndarray, bound: float) -> None:
    result = numpy_of(got)
    assert result.shape == want.shape
    finite = np.isfinite(want)
    np.testing.assert_array_equal(result[~finite], want[~finite])
    scale = np.abs(want[finite]).max(initial=1e-300)
    assert np.abs(result[finite] - want[finite]).max(initial=0) <= bound * scale


def call(op: str, x: object, dim: object, **keywords: object) -> Any:
    if op == "normalize":
        return loup.masked.normalize(x, 2, dim, **keywords)
    return getattr(loup.masked, op)(x, dim, **keywords)


# --- values ---


@pytest.mark.parametrize(("shape", "dim"), SHAPES_AND_DIMS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
def test_agrees_with_numpy(op: str, dtype: str, shape: tuple, dim: int) -> None:
    most = {"cumsum": 100, "cumprod": 10}.get(op, 10**6)
    if max(shape, default=0) > most:
        pytest.skip("longer than numbers of such magnitudes may be")
    x = loup.asarray(values(shape).astype("float32"), dtype)
    for mask in [random_mask(shape), random_mask(shape[1:]), np.bool_(True), np.bool_(False)]:
        whole = np.broadcast_to(mask, shape)
        want = expected(op, numpy_of(x), dim, whole)
        assert_close(call(op, x, dim, mask=mask), want, CLOSE[dtype])
    want = expected(op, numpy_of(x), dim, np.ones(shape, bool))
    assert_close(call(op, x, dim), want, CLOSE[dtype])


@pytest.mark.parametrize("dim", [0, 1, (0, 1), (-1, 0), (0, 2), [1]])
@pytest.mark.parametrize("order", ORDERS)
def test_normalizes_by_every_order_over_several_dims(order: float, dim: Any) -> None:
    x, mask = values((4, 6, 5)), random_mask((4, 6, 5))
    axis = tuple(dim) if isinstance(dim, list) else dim
    got = loup.masked.normalize(x, order, dim, mask=mask)
    assert_close(got, expected("normalize", x, axis, mask, order), 1e-13)


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_never_looks_under_the_mask(op: str, bad: float) -> None:
    x, mask = values((7, 33)), random_mask((7, 33))
    clean = numpy_of(call(op, x, 1, mask=mask))
    poisoned = np.where(mask, x, bad)
    np.testing.assert_array_equal(numpy_of(call(op, poisoned, 1, mask=mask)), clean)


def test_running_values_are_carried_over_masked_elements() -> None:
    x, mask = [1.0, 2.0, 3.0, 4.0], [True, False, True, True]
    assert loup.masked.cumsum(x, 0, mask=mask).tolist() == [1, 1, 4, 8]
    assert loup.masked.cumprod(x, 0, mask=mask).tolist() == [1, 1, 3, 12]


@pytest.mark.parametrize("source", ["bool", "uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
def test_running_values_of_integers_are_int64(op: str, source: str) -> None:
    x = np.random.default_rng(3).integers(0, 5, (20, 9)).astype(source)
    mask = random_mask((20, 9))
    identity = 0 if op == "cumsum" else 1
    want = getattr(np, op)(np.where(mask, x.astype(np.int64), identity), axis=0)
    got = call(op, x, 0, mask=mask)
    assert got.dtype == "int64"
    np.testing.assert_array_equal(np.asarray(got), want)
    narrow = call(op, x, 0, mask=mask, dtype="int8")
    np.testing.assert_array_equal(np.asarray(narrow), want.astype(np.int8))


@pytest.mark.parametrize("op", SOFTMAX)
def test_softmax_of_integers_needs_a_floating_dtype(op: str) -> None:
    with pytest.raises(loup.DTypeError, match=f"{op}: expected floating elements, got int64"):
        call(op, [1, 2], 0)
    with pytest.raises(loup.DTypeError, match=f"{op}: expected a floating dtype, got int32"):
        call(op, [1.0, 2.0], 0, dtype="int32")
    assert call(op, [1, 1], 0, dtype="float64").dtype == "float64"
    # uint8 has no -inf to stand for what is masked.
    x = np.array([5, 0, 0], np.uint8)
    got = loup.masked.softmax(x, 0, mask=[False, True, True], dtype="float32")
    assert got.tolist() == [0.0, 0.5, 0.5]


def test_normalize_refuses_what_it_is_not_defined_for() -> None:
    with pytest.raises(loup.DTypeError, match="normalize: expected floating elements, got int64"):
        loup.masked.normalize([1, 2], 2, 0)
    with pytest.raises(loup.DTypeError, match="expected a dtype that holds float64, got float32"):
        loup.masked.normalize(np.ones(2), 2, 0, dtype="float32")
    with pytest.raises(TypeError, match="normalize: expected ord as a number, got None"):
        loup.masked.normalize([1.0], None, 0)
    with pytest.raises(loup.ShapeError, match="normalize: expected every dim at most once"):
        loup.masked.normalize(np.ones((2, 2, 2)), 2, (2, -1))


# --- arguments ---


@pytest.mark.parametrize("op", ONE_DIM)
@pytest.mark.parametrize(
    ("dim", "got"), [(None, "None"), ((0,), "tuple"), (1.0, "float"), (True, "bool"), ("0", "str")]
)
def test_takes_one_int_as_dim(op: str, dim: object, got: str) -> None:
    with pytest.raises(TypeError, match=rf"{op}: expected .*an int, got {got}"):
        call(op, [[1.0]], dim)


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
def test_refuses_dims_out_of_range(op: str) -> None:
    with pytest.raises(IndexError, match=f"{op}: expected a dim from -2 to 1, got 2"):
        call(op, [[1.0]], 2)


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
def test_takes_axis_in_place_of_dim(op: str) -> None:
    x = values((3, 4))
    keywords = {"ord": 2} if op == "normalize" else {}
    got = getattr(loup.masked, op)(x, axis=1, **keywords)
    assert got.tolist() == call(op, x, 1).tolist()
    with pytest.raises(TypeError, match=f"{op}: expected dim or axis, got both"):
        call(op, x, 1, axis=1)


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
def test_refuses_masks_that_do_not_fit(op: str) -> None:
    with pytest.raises(loup.DTypeError, match=f"{op}: expected a mask of bool or integers"):
        call(op, [[1.0]], 0, mask=[[1.0]])
    with pytest.raises(IndexError, match=f"{op}: expected a mask of at most 1 dims"):
        call(op, [1.0], 0, mask=[[True]])
    with pytest.raises(loup.ShapeError, match=f"{op}: expected a mask broadcastable to"):
        call(op, [[1.0, 2.0]], 0, mask=[True, True, True])


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
def test_is_a_method_and_keeps_the_mask_of_a_masked_tensor(op: str) -> None:
    x, mask = values((3, 4)), random_mask((3, 4))
    arguments = (2, 1) if op == "normalize" else (1,)
    want = call(op, x, 1, mask=mask).tolist()
    assert getattr(loup.asarray(x), op)(*arguments, mask=mask).tolist() == want
    assert getattr(loup, op)(x, *arguments, mask=mask).tolist() == want
    got = getattr(loup.masked_tensor(x, mask), op)(*arguments)
    assert got.get_data().tolist() == want
    assert got.get_mask().tolist() == mask.tolist()
    explicit = [True, True, False, True]
    both = getattr(loup.masked_tensor(x, mask), op)(*arguments, mask=explicit)
    assert both.get_mask().tolist() == (mask & explicit).tolist()


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
def test_output_mask_is_the_repeated_mask(op: str) -> None:
    mask = [True, False, True]
    got = loup.masked.output_mask(op, np.ones((2, 3)), 1, mask=mask)
    assert got.tolist() == [mask, mask]


# --- bits ---


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
@pytest.mark.parametrize(("shape", "dim"), [((300, 1003), 0), ((300, 1003), 1), ((2, 300_001), 1)])
@pytest.mark.usefixtures("threads")
def test_gives_the_same_bits_on_any_number_of_threads(op: str, shape: tuple, dim: int) -> None:
    x, mask = loup.asarray(values(shape)), loup.asarray(random_mask(shape))
    results = []
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        results.append(np.asarray(call(op, x, dim, mask=mask)).tobytes())
    assert results[0] == results[1] == results[2]


# --- gradients ---


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
def test_gradients_are_zero_and_finite_under_the_mask(op: str) -> None:
    mask = random_mask((4, 5))
    mask[1] = False
    x = loup.tensor(np.where(mask, values((4, 5)), math.nan), requires_grad=True)
    weights = values((4, 5), 5)
    call(op, x, 1, mask=mask).backward(weights)
    assert x.grad is not None
    gradient = np.asarray(x.grad)
    assert np.isfinite(gradient).all()
    assert (gradient[~mask] == 0).all()


def test_attention_rows_without_keys_give_zero_and_finite_gradients() -> None:
    scores = loup.tensor(values((2, 3, 4)), requires_grad=True)
    keys = np.array([[[True, True, False, False]], [[False] * 4]])
    data = loup.tensor(values((2, 4, 5), 2), requires_grad=True)
    out = loup.matmul(loup.masked.softmax(scores, -1, mask=keys), data)
    assert (np.asarray(out.detach())[1] == 0).all()
    out.sum().backward()
    for x in (scores, data):
        assert x.grad is not None
        assert np.isfinite(np.asarray(x.grad)).all()


# --- beside torch, where it does the same ---


@pytest.mark.parametrize("op", [*ONE_DIM, "normalize"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_agrees_with_torch_masked(op: str, dim: int) -> None:
    torch = pytest.importorskip("torch")
    x, mask = values((5, 7)), random_mask((5, 7))
    mask[:, 0] = mask[0] = True
    weights = np.where(mask, values((5, 7), 9), 0)
    theirs = torch.tensor(x, requires_grad=True)
    keywords = {"mask": torch.tensor(mask)}
    arguments = (theirs, 2.0, dim) if op == "normalize" else (theirs, dim)
    result = getattr(torch.masked, op)(*arguments, **keywords)
    ours = loup.tensor(x, requires_grad=True)
    got = call(op, ours, dim, mask=mask)
    if op == "log_softmax":
        want = result.detach().numpy()
        np.testing.assert_allclose(np.asarray(got.detach())[mask], want[mask], rtol=1e-12)
        return
    np.testing.assert_allclose(np.asarray(got.detach()), result.detach().numpy(), rtol=1e-12)
    result.backward(torch.tensor(weights))
    got.backward(weights)
    assert ours.grad is not None
    np.testing.assert_allclose(np.asarray(ours.grad), theirs.grad.numpy(), rtol=1e-9, atol=1e-12)


# --- logaddexp ---


def test_logaddexp_takes_masked_elements_as_absent() -> None:
    left, right = [True, False, True, False], [True, True, False, False]
    a, b = [0.0, math.nan, 3.0, math.nan], [0.0, 2.0, math.inf, math.nan]
    got = loup.masked.logaddexp(a, b, input_mask=left, other_mask=right)
    assert got.tolist() == [pytest.approx(math.log(2)), 2.0, 3.0, -math.inf]
    named = loup.masked.logaddexp(input1=a, input2=b, input_mask=left, other_mask=right)
    assert named.tolist() == got.tolist()
    assert loup.masked.logaddexp(a, b, mask=False).tolist() == [-math.inf] * 4


def test_logaddexp_of_masked_tensors_counts_where_one_does() -> None:
    a = loup.masked_tensor([0.0, 1.0], [True, False])
    got = loup.masked.logaddexp(a, [0.0, 2.0], other_mask=[False, False])
    assert got.get_mask().tolist() == [True, False]
    assert loup.masked.logaddexp(a, [0.0, 2.0]).tolist() == [pytest.approx(math.log(2)), 2.0]
    assert a.logaddexp([0.0, 2.0]).tolist() == [pytest.approx(math.log(2)), None]
    mask = loup.masked.output_mask(
        "logaddexp", [0.0, 1.0], other=[0.0, 1.0], input_mask=[False, True], other_mask=False
    )
    assert mask.tolist() == [False, True]


def test_logaddexp_refuses_what_it_is_not_defined_for() -> None:
    with pytest.raises(loup.DTypeError, match="logaddexp: expected floating elements, got int64"):
        loup.masked.logaddexp([1], [1.0])
    with pytest.raises(TypeError, match="expected mask, or input_mask and other_mask, got both"):
        loup.masked.logaddexp([1.0], [1.0], mask=True, input_mask=True)


def test_an_overflow_of_a_half_gradient_stays_where_it_is() -> None:
    values = [-4.49, -2.10, -1.28e-3, 0.505, -8.80]
    gradients = []
    for dtype in ("float16", "float64"):
        x = loup.tensor(values, dtype="float16").to(dtype)
        x.requires_grad = True
        loup.masked.normalize(x, -math.inf, 0).backward(loup.ones(5, dtype=dtype))
        gradients.append(numpy_of(x.grad))
    half, exact = gradients
    assert np.isinf(half[2])
    assert abs(exact[2]) > 65504
    np.testing.assert_allclose(np.delete(half, 2), np.delete(exact, 2), rtol=2e-3)
