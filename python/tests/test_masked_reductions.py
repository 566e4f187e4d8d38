"""Masked operators that make one element of many: against NumPy, and against torch.masked."""

import math
from typing import Any

import numpy as np
import pytest

import loup

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64"]
CLOSE = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 3e-7, "float64": 1e-13}
SHAPES_AND_DIMS: list[tuple[tuple[int, ...], Any]] = [
    ((), None),
    ((5,), 0),
    ((5, 5), 0),
    ((5, 5), -1),
    ((5, 5), None),
    ((5, 10, 5), (0, 2)),
    ((5, 10, 5), (-1, 1)),
    ((3, 2, 1, 4), (2, 0)),
    ((40, 70), 0),
    ((3, 70_001), 1),
    ((70_001, 3), 0),
]
FLOATING = ["mean", "var", "std", "norm", "logsumexp"]
ANY_DTYPE = ["sum", "prod", "amax", "amin"]
ONE_DIM = ["argmax", "argmin"]


def values(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 2, shape) * rng.choice([-1.0, 1.0], shape)


def random_mask(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random(shape) < 0.6


def numpy_of(x: loup.Tensor) -> np.ndarray:
    return np.asarray(x.float() if x.dtype == "bfloat16" else x)


def lines(x: np.ndarray, dim: Any) -> np.ndarray:
    """The reduced dims joined and last, whatever dims they were."""
    if dim is None:
        return x.reshape(-1)
    dims = sorted(d % x.ndim for d in (dim if isinstance(dim, tuple) else (dim,)))
    kept = [d for d in range(x.ndim) if d not in dims]
    return x.transpose(kept + dims).reshape([x.shape[d] for d in kept] + [-1])


def slice_value(op: str, x: np.ndarray, **options: Any) -> float:
    """What one slice of counted elements becomes, by NumPy in float64."""
    if op == "sum":
        return float(x.sum())
    if op == "prod":
        return float(x.prod())
    if op == "amax":
        return float(x.max()) if x.size else -math.inf
    if op == "amin":
        return float(x.min()) if x.size else math.inf
    if op == "logsumexp":
        return float(np.logaddexp.reduce(x)) if x.size else -math.inf
    if op == "norm":
        order = options.get("ord", 2)
        if not x.size:
            return math.inf if order < 0 else 0.0
        return float(np.linalg.norm(x, ord=order))
    if not x.size:
        return math.nan
    if op == "mean":
        return float(x.mean())
    with np.errstate(all="ignore"):
        spread = ((x - x.mean()) ** 2).sum() / np.float64(
            max(x.size - options.get("correction", 1), 0)
        )
        return float(np.sqrt(spread) if op == "std" else spread)


def expected(op: str, x: np.ndarray, dim: Any, mask: np.ndarray, **options: Any) -> np.ndarray:
    data = lines(x, dim)
    counts = lines(np.broadcast_to(mask, x.shape), dim)
    result = np.empty(data.shape[:-1])
    for index in np.ndindex(result.shape):
        result[index] = slice_value(op, data[index][counts[index]], **options)
    return result


def assert_close(got: loup.Tensor, want: np.ndarray, bound: float) -> None:
    result = numpy_of(got).astype(np.float64)
    assert result.shape == want.shape
    finite = np.isfinite(want)
    np.testing.assert_array_equal(result[~finite], want[~finite])
    scale = np.abs(want[finite]).max(initial=1e-3)
    assert np.abs(result[finite] - want[finite]).max(initial=0) <= bound * scale


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", [*ANY_DTYPE, *FLOATING])
@pytest.mark.parametrize(("shape", "dim"), SHAPES_AND_DIMS)
def test_agrees_with_numpy(op: str, shape: tuple[int, ...], dim: Any, dtype: str) -> None:
    source = values(shape)
    if op == "prod":
        source = np.exp2(np.random.default_rng(2).integers(-1, 2, shape))
        source = np.where(np.arange(source.size).reshape(shape) % 9973 < 5, source, 1.0)
    x = loup.asarray(source).to(dtype)
    data = numpy_of(x).astype(np.float64)
    mask = random_mask(shape)
    got = getattr(loup.masked, op)(x, dim=dim, mask=mask)
    assert got.dtype == dtype
    assert_close(got, expected(op, data, dim, mask), CLOSE[dtype])


@pytest.mark.parametrize("order", [2, 1, 0, math.inf, -math.inf, 3, 0.5, -2])
def test_norms_of_every_order(order: float) -> None:
    x = values((6, 50))
    mask = random_mask(x.shape)
    mask[2] = False
    got = loup.masked.norm(x, order, 1, mask=mask)
    assert_close(got, expected("norm", x, 1, mask, ord=order), 1e-13)


@pytest.mark.parametrize("correction", [0, 1, 2.5, -1, 60])
@pytest.mark.parametrize("op", ["var", "std"])
def test_corrections(op: str, correction: float) -> None:
    x = values((6, 50))
    mask = random_mask(x.shape)
    got = getattr(loup.masked, op)(x, 1, correction=correction, mask=mask)
    assert_close(got, expected(op, x, 1, mask, correction=correction), 1e-12)
    if correction in (0, 1):
        biased = getattr(loup.masked, op)(x, 1, bool(correction), mask=mask)
        assert biased.tolist() == got.tolist()


def test_variance_survives_a_mean_of_a_million_times_the_deviation() -> None:
    rng = np.random.default_rng(3)
    x = (1e6 + rng.standard_normal(100_000)).astype(np.float32)
    mask = rng.random(x.shape) < 0.5
    want = x.astype(np.float64)[mask].var(ddof=1)
    got = float(loup.masked.var(x, mask=mask).item())
    assert abs(got - want) <= 1e-6 * want


def test_counts_do_not_overflow_in_half_precision() -> None:
    x = loup.full((100,), 1000.0, dtype="float16")
    assert loup.masked.mean(x).item() == 1000
    assert loup.masked.var(loup.full((5000,), 300.0, dtype="float16")).item() == 0


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ["sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "var"])
def test_integers(op: str, dtype: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2 if dtype == "bool" else 90, (7, 33)).astype(dtype)
    mask = random_mask(x.shape)
    got = getattr(loup.masked, op)(x, 1, mask=mask)
    results = {"sum": "int64", "prod": "int64", "argmax": "int64", "argmin": "int64"}
    results |= {"mean": "float64" if dtype == "int64" else "float32", "var": "float32"}
    assert got.dtype == results.get(op, dtype)
    for row in range(7):
        counted = x[row][mask[row]].astype(np.int64)
        want: Any
        if op in ("argmax", "argmin"):
            want = np.flatnonzero(mask[row])[getattr(counted, op)()]
        elif op in ("amax", "amin"):
            want = counted.max() if op == "amax" else counted.min()
        elif op == "prod":
            want = np.multiply.reduce(counted)
        elif op == "sum":
            want = counted.sum()
        else:
            want = np.float32(counted.mean() if op == "mean" else counted.var(ddof=1))
            assert abs(float(got[row].item()) - want) <= 1e-6 * max(abs(want), 1)
            continue
        assert got[row].item() == want


def test_extremes_of_nothing_are_those_of_the_dtype() -> None:
    nothing = np.zeros(3, bool)
    for dtype in ("uint8", "int8", "int16", "int32", "int64"):
        info = np.iinfo(dtype)
        x = np.ones(3, dtype)
        assert loup.masked.amax(x, mask=nothing).item() == info.min
        assert loup.masked.amin(x, mask=nothing).item() == info.max
        low, high = loup.masked.minmax(x, mask=nothing)
        assert (low.item(), high.item()) == (info.max, info.min)
    flags = np.ones(3, bool)
    assert loup.masked.amax(flags, mask=nothing).item() is False
    assert loup.masked.amin(flags, mask=nothing).item() is True


def test_argmax_is_a_position_that_counts() -> None:
    assert loup.masked.argmax(np.array([9, 0, 0], np.uint8), mask=[False, True, True]).item() == 1
    x = np.array([5.0, -np.inf, -np.inf])
    assert loup.masked.argmax(x, mask=[False, False, True]).item() == 2
    assert loup.masked.argmax(np.array([1.0, np.nan, 2.0, np.nan])).item() == 1
    assert loup.masked.argmin(np.zeros((2, 3)).T[:, ::-1]).item() == 0


def test_argmax_without_a_dim_counts_row_major() -> None:
    x = values((4, 5, 6))
    turned = loup.asarray(x).permute(2, 0, 1)
    assert loup.masked.argmax(turned).item() == int(np.argmax(x.transpose(2, 0, 1)))
    tied = np.zeros((6, 7), np.float32)
    assert loup.masked.argmax(loup.asarray(tied).T, mask=~np.eye(7, 6, dtype=bool)).item() == 1


def test_large_positions_are_exact() -> None:
    x = np.zeros(5000, np.float16)
    x[4001] = 1
    assert loup.masked.argmax(x).item() == 4001
    y = np.zeros(300, np.int8)
    y[200] = 1
    assert loup.masked.argmax(y).item() == 200


def test_max_gives_values_and_indices() -> None:
    x = values((6, 50))
    mask = random_mask(x.shape)
    high, places = loup.masked.max(x, 1, mask=mask)
    assert high.tolist() == loup.masked.amax(x, 1, mask=mask).tolist()
    assert places.tolist() == loup.masked.argmax(x, 1, mask=mask).tolist()
    low, places = loup.masked.min(x, -1, keepdim=True, mask=mask)
    assert low.shape == places.shape == (6, 1)
    pair = loup.masked.minmax(x, mask=mask)
    assert [p.item() for p in pair] == [x[mask].min(), x[mask].max()]


def test_max_sends_its_gradient_to_one_element() -> None:
    x = loup.tensor([1.0, 3.0, 3.0, 9.0], requires_grad=True)
    high, _ = loup.masked.max(x, 0, mask=[True, True, True, False])
    high.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 1, 0, 0]


def test_amax_shares_its_gradient() -> None:
    x = loup.tensor([1.0, 3.0, 3.0, 3.0], requires_grad=True)
    loup.masked.amax(x, 0, mask=[True, True, True, False]).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0.5, 0.5, 0]
    y = loup.tensor([-math.inf, -math.inf, 1.0], requires_grad=True)
    loup.masked.amax(y, 0, mask=[True, True, False]).backward()
    assert y.grad is not None
    assert y.grad.tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize("op", ["amax", "amin"])
def test_extremes_that_are_nan_send_their_gradient_to_the_nan_that_count(op: str) -> None:
    x = loup.tensor([1.0, math.nan, math.nan, math.nan, 5.0], requires_grad=True)
    mask = loup.tensor([True, True, False, True, True])
    getattr(loup.masked, op)(x, mask=mask).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.5, 0.0, 0.5, 0.0]


@pytest.mark.parametrize("order", [1, 2, 3, math.inf])
def test_norms_of_zero_have_no_gradient(order: float) -> None:
    x = loup.tensor([[0.0, 0.0, 7.0], [3.0, 0.0, 4.0]], requires_grad=True)
    mask = loup.tensor([[True, True, False], [True, True, True]])
    loup.masked.norm(x, order, 1, mask=mask).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist()[0] == [0.0, 0.0, 0.0]
    assert x.grad.tolist()[1][2] > 0


@pytest.mark.parametrize("large", [0, -1])
def test_logsumexp_of_columns_whose_parts_differ(large: int) -> None:
    count = 300_000
    x = np.zeros((count, 16), np.float32)
    x[large] = 20.0
    want = math.log(math.exp(20.0) + count - 1)
    assert loup.masked.logsumexp(x, 0).tolist() == pytest.approx([want] * 16, rel=1e-6)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_prod_has_a_gradient_at_zeros(zeros: int) -> None:
    data = [2.0, 3.0, 5.0, 7.0]
    data[:zeros] = [0.0] * zeros
    x = loup.tensor(data, requires_grad=True)
    loup.masked.prod(x, 0, mask=[True, True, True, False]).backward()
    others = [np.prod(data[:i] + data[i + 1 : 3]) for i in range(3)]
    assert x.grad is not None
    assert x.grad.tolist() == [*others, 0]


def test_logsumexp_shares_the_gradient_of_infinity() -> None:
    x = loup.tensor([1.0, math.inf, math.inf, math.inf], requires_grad=True)
    loup.masked.logsumexp(x, 0, mask=[True, True, True, False]).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0.5, 0.5, 0]
    y = loup.tensor([-math.inf, -math.inf], requires_grad=True)
    loup.masked.logsumexp(y, 0).backward()
    assert y.grad is not None
    assert y.grad.tolist() == [0, 0]


@pytest.mark.parametrize("op", ["var", "std"])
def test_deviations_of_equal_elements_have_no_gradient(op: str) -> None:
    x = loup.tensor([2.0, 2.0, math.nan], requires_grad=True)
    getattr(loup.masked, op)(x, 0, mask=[True, True, False]).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("op", [*ANY_DTYPE, *FLOATING, "max", "minmax"])
def test_gradients_never_meet_what_is_masked_upstream(op: str) -> None:
    x = loup.tensor([1.0, 2.0, 4.0], requires_grad=True)
    y = x / loup.tensor([0.0, 1.0, 1.0])
    result = getattr(loup.masked, op)(y, mask=[False, True, True])
    (result[0] if isinstance(result, tuple) else result).backward()
    assert x.grad is not None
    gradient = x.grad.tolist()
    assert gradient[0] == 0
    assert all(math.isfinite(g) for g in gradient)


def test_any_all_and_count() -> None:
    x = np.array([[0.0, np.nan, 1.0], [0.0, 0.0, 3.0]])
    mask = np.array([[True, False, False], [True, True, True]])
    assert loup.masked.any(x, 1, mask=mask).tolist() == [False, True]
    assert loup.masked.all(x, 1, mask=~mask).tolist() == [True, True]
    assert loup.masked.count(x, 1, mask=mask).tolist() == [1, 3]
    assert loup.masked.count(x).item() == 6
    assert loup.masked.count(x, 0, mask=[True, False, True]).tolist() == [2, 0, 2]
    assert loup.any(loup.asarray(x)).item() is True


def test_size_zero() -> None:
    x = np.zeros((3, 0), np.float32)
    assert loup.masked.prod(x, 1).tolist() == [1, 1, 1]
    assert loup.masked.logsumexp(x, 1).tolist() == [-math.inf] * 3
    assert all(math.isnan(v) for v in loup.masked.mean(x, 1).tolist())
    assert loup.masked.norm(x, 2, 1).tolist() == [0, 0, 0]
    assert loup.masked.amax(x, 0).shape == (0,)
    for op in ("amax", "amin", "argmax", "argmin", "max", "minmax"):
        with pytest.raises(IndexError, match=f"{op}: expected elements along dim 1, got size 0"):
            getattr(loup.masked, op)(x, 1)
    for order in (math.inf, -math.inf, -1):
        with pytest.raises(RuntimeError, match="norm: expected elements along dim 1"):
            loup.masked.norm(x, order, 1)


def test_errors() -> None:
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="var: expected unbiased or correction, got both"):
        loup.masked.var(x, 0, True, correction=1)
    with pytest.raises(ValueError, match="mean: expected a floating dtype, got int32"):
        loup.masked.mean(x, dtype="int32")
    with pytest.raises(TypeError, match="norm: expected floating elements, got int32"):
        loup.masked.norm(np.zeros(3, np.int32))
    with pytest.raises(TypeError, match="norm: expected a dtype that holds float32, got float16"):
        loup.masked.norm(x, dtype="float16")
    with pytest.raises(TypeError, match="norm: expected ord as a number, got NoneType"):
        loup.masked.norm(x, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="norm: expected an order that is a number, got nan"):
        loup.masked.norm(x, math.nan)
    with pytest.raises(TypeError, match="argmax: expected"):
        loup.masked.argmax(x, (0, 1))
    with pytest.raises(TypeError, match="amax: expected dim or axis, got both"):
        loup.masked.amax(x, 0, axis=0)
    with pytest.raises(TypeError, match="std: expected correction as a number, got str"):
        loup.masked.std(x, correction="1")  # type: ignore[arg-type]


def test_masked_tensors_use_their_own_mask() -> None:
    x = values((4, 6))
    mask = random_mask(x.shape)
    mask[1] = False
    more = np.arange(6) % 2 == 0
    t = loup.masked.masked_tensor(x, mask)
    got = loup.masked.mean(t, 1, mask=more)
    np.testing.assert_array_equal(
        np.asarray(got.get_data()), np.asarray(loup.masked.mean(x, 1, mask=mask & more))
    )
    assert got.get_mask().tolist() == (mask & more).any(1).tolist()
    np.testing.assert_array_equal(
        np.asarray(t.std(0).get_data()), np.asarray(loup.masked.std(x, 0, mask=mask))
    )
    high, places = t.max(1)
    assert high.get_mask().tolist() == places.get_mask().tolist() == mask.any(1).tolist()


@pytest.mark.parametrize("op", [*ANY_DTYPE, *FLOATING, *ONE_DIM])
def test_agrees_with_torch(op: str) -> None:
    torch = pytest.importorskip("torch")
    from torch import masked as peer

    x = values((5, 4, 6)).astype(np.float32)
    mask = random_mask(x.shape)
    mask[:, 0, 0] = True
    for dim in (0, 1, -1, None) if op in ONE_DIM else (0, 1, -1, None, (0, 2)):
        for keepdim in (False, True):
            tensor = torch.from_numpy(x)
            flags = torch.from_numpy(mask)
            arguments: dict[str, Any] = {"dim": dim, "keepdim": keepdim}
            if op == "norm":
                want = peer.norm(tensor, 2.0, mask=flags, **arguments)
                got = loup.masked.norm(x, 2.0, mask=mask, **arguments)
            else:
                want = getattr(peer, op)(tensor, mask=flags, **arguments)
                got = getattr(loup.masked, op)(x, mask=mask, **arguments)
            assert got.shape == tuple(want.shape)
            np.testing.assert_allclose(np.asarray(got), want.numpy(), rtol=3e-6, atol=1e-6)
