"""layer_norm and losses: beside torch, by threads, and what they refuse."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from op_cases.values import FLOATS, array, assert_same
from strided import rng

import loup

EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
EVERY_DTYPE = pytest.mark.parametrize("dtype", FLOATS)
EVERY_REDUCTION = pytest.mark.parametrize("reduction", ["none", "mean", "sum"])

# Shapes of inputs; classes are in the second dim, or the only one.
ENTROPIES = {
    "vector": (5,),
    "matrix": (7, 5),
    "grid": (3, 5, 2, 4),
    "no positions": (0, 5),
}


def near(ours: loup.Tensor, theirs: object, dtype: str) -> None:
    wanted = theirs.detach().double().numpy()
    size = np.max(np.abs(wanted), initial=1, where=np.isfinite(wanted))
    assert ours.shape == wanted.shape
    np.testing.assert_allclose(
        array(ours).astype(float), wanted, rtol=0, atol=32 * EPS[dtype] * size
    )


def beside_torch(
    dtype: str,
    call: Callable[..., object],
    leaves: Sequence[np.ndarray],
    fixed: Sequence[np.ndarray] = (),
) -> None:
    """call(functions, *leaves, *fixed), of both libraries: results and gradients."""
    torch = pytest.importorskip("torch")

    def ours(x: np.ndarray) -> loup.Tensor:
        return loup.tensor(x).to(dtype) if x.dtype.kind == "f" else loup.tensor(x)

    def theirs(x: np.ndarray) -> object:
        return torch.tensor(x).to(getattr(torch, dtype)) if x.dtype.kind == "f" else torch.tensor(x)

    mine = [ours(x).requires_grad_() for x in leaves]
    other = [theirs(x).requires_grad_() for x in leaves]
    result = call(loup, *mine, *map(ours, fixed))
    expected = call(torch.nn.functional, *other, *map(theirs, fixed))
    assert str(result.dtype).removeprefix("loup.") == dtype
    near(result, expected, dtype)
    factors = np.asarray(rng("factors", dtype).normal(size=result.shape))
    result.backward(loup.tensor(factors).to(dtype))
    expected.backward(torch.tensor(factors).to(getattr(torch, dtype)))
    for x, y in zip(mine, other, strict=True):
        near(x.grad, y.grad, dtype)


def targets(shape: tuple[int, ...], *salt: object) -> np.ndarray:
    positions = shape[:1] + shape[2:] if len(shape) > 1 else ()
    return np.asarray(rng("targets", shape, *salt).integers(0, 5, positions))


@EVERY_DTYPE
@pytest.mark.parametrize(("shape", "last"), [((6, 9), (9,)), ((2, 3, 4), (3, 4)), ((5,), (5,))])
def test_layer_norm_is_that_of_torch(shape: tuple, last: tuple, dtype: str) -> None:
    generator = rng("layer_norm", shape, dtype)
    x, w, b = generator.normal(size=shape), *generator.normal(size=(2, *last))
    beside_torch(dtype, lambda f, x: f.layer_norm(x, last), [x])
    beside_torch(dtype, lambda f, x, w, b: f.layer_norm(x, last, w, b, 1e-3), [x, w, b])
    beside_torch(dtype, lambda f, x, b: f.layer_norm(x, last, None, b), [x, b])


@EVERY_DTYPE
@EVERY_REDUCTION
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss"])
def test_distances_are_those_of_torch(name: str, reduction: str, dtype: str) -> None:
    generator = rng(name, dtype)
    x, y = generator.normal(size=(2, 4, 5))
    beside_torch(dtype, lambda f, x, y: getattr(f, name)(x, y, reduction=reduction), [x, y])


@EVERY_DTYPE
@EVERY_REDUCTION
@pytest.mark.parametrize("shape", ENTROPIES.values(), ids=ENTROPIES)
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_entropies_of_classes_are_those_of_torch(
    shape: tuple, reduction: str, smoothing: float, dtype: str
) -> None:
    generator = rng("entropy", shape)
    x, w, t = generator.normal(size=shape), generator.uniform(0.1, 2, 5), targets(shape)
    options = {"reduction": reduction, "label_smoothing": smoothing}
    beside_torch(dtype, lambda f, x, t: f.cross_entropy(x, t, **options), [x], [t])
    beside_torch(
        dtype,
        lambda f, x, t, w: f.cross_entropy(x, t, weight=w, ignore_index=3, **options),
        [x],
        [t, w],
    )


@EVERY_DTYPE
@EVERY_REDUCTION
@pytest.mark.parametrize("shape", ENTROPIES.values(), ids=ENTROPIES)
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_entropies_of_probabilities_are_those_of_torch(
    shape: tuple, reduction: str, smoothing: float, dtype: str
) -> None:
    generator = rng("probabilities", shape)
    x, t = generator.normal(size=shape), generator.uniform(size=shape)
    w = generator.uniform(0.1, 2, 5)
    options = {"reduction": reduction, "label_smoothing": smoothing}
    beside_torch(dtype, lambda f, x, t: f.cross_entropy(x, t, **options), [x, t])
    beside_torch(dtype, lambda f, x, t, w: f.cross_entropy(x, t, w, **options), [x, t], [w])


def test_all_ignored_is_nan_without_a_gradient() -> None:
    x = loup.tensor([[1.0, 2.0]], requires_grad=True)
    loss = loup.cross_entropy(x, [0], ignore_index=0)
    assert np.isnan(loss.item())
    loss.backward()
    assert x.grad.tolist() == [[0.0, 0.0]]
    assert loup.cross_entropy(x, [0], ignore_index=0, reduction="sum").item() == 0
    assert loup.cross_entropy(x, [0], ignore_index=0, reduction="none").tolist() == [0]


def test_the_weight_of_classes_has_a_gradient() -> None:
    x = loup.asarray(rng("weights").normal(size=(4, 3)))
    w = loup.tensor([0.5, 1.0, 2.0], dtype="float64", requires_grad=True)
    for reduction in ("none", "mean", "sum"):
        call = lambda w, how=reduction: loup.cross_entropy(x, [0, 2, 1, 2], w, reduction=how)  # noqa: E731
        assert loup.autograd.gradcheck(call, w)
        assert loup.autograd.gradgradcheck(call, w)


def test_targets_may_be_of_any_integers() -> None:
    x = loup.asarray(rng("integers").normal(size=(3, 4)))
    expected = loup.cross_entropy(x, [0, 3, 1])
    for dtype in ("uint8", "int8", "int16", "int32", "int64"):
        assert_same(loup.cross_entropy(x, np.array([0, 3, 1], dtype)), expected, dtype)


def test_methods_are_the_functions() -> None:
    x, y = loup.tensor([[1.0, 2.5], [3.0, 0.0]]), loup.tensor([[0.0, 1.0], [2.0, 7.0]])
    assert_same(x.layer_norm(2), loup.layer_norm(x, [2]))
    assert_same(x.mse_loss(y), loup.mse_loss(x, y))
    assert_same(x.l1_loss(y, "sum"), loup.l1_loss(x, y, reduction="sum"))
    assert_same(x.cross_entropy([0, 1]), loup.cross_entropy(x, loup.tensor([0, 1])))


def test_a_mean_of_squares_beyond_float16_is_none_of_them() -> None:
    x = loup.zeros(100, dtype="float16")
    x[0] = 1000.0
    assert loup.mse_loss(x, loup.zeros_like(x)).item() == 10000.0
    assert loup.mse_loss(x, loup.zeros_like(x), "none")[0].item() == np.inf


CALLS = {
    "layer_norm": lambda x, y, t: loup.layer_norm(x, x.shape[-1], y[0], y[1]),
    "mse_loss": lambda x, y, t: loup.mse_loss(x, y),
    "l1_loss": lambda x, y, t: loup.l1_loss(x, y),
    "cross_entropy": lambda x, y, t: loup.cross_entropy(x, t, label_smoothing=0.1),
    "cross_entropy of floats": lambda x, y, t: loup.cross_entropy(x, y),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_results_and_gradients_do_not_depend_on_threads(
    name: str, dtype: str, threads: None
) -> None:
    generator = rng("threads", name)
    x, y = (loup.tensor(generator.normal(size=(701, 203))).to(dtype) for _ in range(2))
    t = loup.asarray(generator.integers(0, 203, 701))
    results = []
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        leaf, other = x.clone().requires_grad_(), y.clone().requires_grad_()
        result = CALLS[name](leaf, other, t)
        result.sum().backward()
        results.append([result.detach(), leaf.grad, other.grad])
    for each in results[1:]:
        for got, expected in zip(each, results[0], strict=True):
            assert (got is None) == (expected is None)
            if got is not None:
                assert_same(got, expected, name)


X = loup.ones((2, 3))
REFUSALS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "integers": (
        lambda: loup.layer_norm([1, 2], 2),
        loup.DTypeError,
        "layer_norm: expected floating elements, got int64",
    ),
    "no dims": (
        lambda: loup.layer_norm(X, ()),
        loup.ShapeError,
        "layer_norm: expected a normalized shape of at least one dim, got []",
    ),
    "other dims": (
        lambda: X.layer_norm([2]),
        loup.ShapeError,
        "layer_norm: expected an input whose last dims are [2], got shape [2, 3]",
    ),
    "a word as shape": (
        lambda: X.layer_norm("3"),
        TypeError,
        "layer_norm: expected an int, got str",
    ),
    "a wrong weight": (
        lambda: X.layer_norm(3, loup.ones(2)),
        loup.ShapeError,
        "layer_norm: expected a weight of shape [3], got [2]",
    ),
    "a wrong bias": (
        lambda: X.layer_norm(3, bias=X),
        loup.ShapeError,
        "layer_norm: expected a bias of shape [3], got [2, 3]",
    ),
    "a masked weight": (
        lambda: X.layer_norm(3, loup.MaskedTensor(X[0], X[0] > 0)),
        TypeError,
        "layer_norm: expected a plain tensor, got a MaskedTensor; use get_data or to_tensor",
    ),
    "a word as eps": (
        lambda: X.layer_norm(3, eps="small"),
        TypeError,
        "layer_norm: expected eps as a number, got str",
    ),
    "squares of integers": (
        lambda: loup.mse_loss([1], [2]),
        loup.DTypeError,
        "mse_loss: expected floating elements, got int64",
    ),
    "shapes": (
        lambda: loup.l1_loss(X, loup.ones(2)),
        loup.ShapeError,
        "l1_loss: expected shapes that broadcast together, got [2, 3] and [2]",
    ),
    "a reduction": (
        lambda: X.mse_loss(X, "average"),
        loup.ValueError,
        "mse_loss: expected a reduction 'none', 'mean' or 'sum', got 'average'",
    ),
    "a reduction of entropies": (
        lambda: X.cross_entropy([0, 1], reduction="batchmean"),
        loup.ValueError,
        "cross_entropy: expected a reduction 'none', 'mean' or 'sum', got 'batchmean'",
    ),
    "an input of integers": (
        lambda: loup.cross_entropy([1, 2], 0),
        loup.DTypeError,
        "cross_entropy: expected an input of floats, got int64",
    ),
    "no classes": (
        lambda: loup.cross_entropy(1.5, 0),
        loup.ShapeError,
        "cross_entropy: expected an input with classes, as its only or second dim, got shape []",
    ),
    "too few targets": (
        lambda: X.cross_entropy([0]),
        loup.ShapeError,
        "cross_entropy: expected a target of shape [2], got [1]",
    ),
    "too few probabilities": (
        lambda: X.cross_entropy([0.5, 0.5]),
        loup.ShapeError,
        "cross_entropy: expected a target of shape [2, 3], got [2]",
    ),
    "truth": (
        lambda: X.cross_entropy([True, False]),
        loup.DTypeError,
        "cross_entropy: expected a target of integers or floats, got bool",
    ),
    "no class": (
        lambda: X.cross_entropy([0, 3]),
        loup.IndexError,
        "cross_entropy: expected targets from 0 to 2, or ignore_index, got 3",
    ),
    "a negative class": (
        lambda: X.cross_entropy([-1, 2]),
        loup.IndexError,
        "cross_entropy: expected targets from 0 to 2, or ignore_index, got -1",
    ),
    "weights": (
        lambda: X.cross_entropy([0, 1], [1.0, 2.0]),
        loup.ShapeError,
        "cross_entropy: expected a weight of shape [3], got [2]",
    ),
    "smoothing": (
        lambda: X.cross_entropy([0, 1], label_smoothing=-0.5),
        loup.ValueError,
        "cross_entropy: expected label_smoothing in [0, 1], got -0.5",
    ),
    "ignored probabilities": (
        lambda: X.cross_entropy(X, ignore_index=0),
        loup.ValueError,
        "cross_entropy: expected no ignore_index beside a target of floats, got 0",
    ),
    "a fraction to ignore": (
        lambda: X.cross_entropy([0, 1], ignore_index=0.5),
        TypeError,
        "cross_entropy: expected an int, got float",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refuses(what: str) -> None:
    call, error, text = REFUSALS[what]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
    assert type(caught.value) is error
