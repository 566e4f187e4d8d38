"""layer_norm and losses of masked tensors: what does not count is as if it were not there."""

from collections.abc import Callable

import numpy as np
import pytest
from op_cases.nn import cross_entropy, layer_norm
from strided import rng

import loup
from loup.autograd import gradcheck, gradgradcheck

REDUCTIONS = ["none", "mean", "sum"]
EVERY_REDUCTION = pytest.mark.parametrize("reduction", REDUCTIONS)
GARBAGE = [np.nan, np.inf, -np.inf, 1e300, -1e300]


def poisoned(x: np.ndarray, mask: np.ndarray, *salt: object) -> np.ndarray:
    if x.dtype.kind != "f":
        return np.where(mask, x, rng(*salt).integers(-(2**40), 2**40, x.shape))
    return np.where(mask, x, rng(*salt).choice(GARBAGE, x.shape))


def sample(shape: tuple[int, ...], *salt: object, share: float = 0.6) -> tuple:
    """Elements, and a mask that hides the first row as a whole."""
    generator = rng("nn", shape, *salt)
    mask = generator.random(shape) < share
    mask[0] = False
    return generator.normal(size=shape), mask


def elements(x: loup.MaskedTensor) -> np.ndarray:
    return x.get_data().detach().numpy()


@pytest.mark.parametrize(("shape", "last"), [((6, 9), 1), ((3, 4, 5), 1), ((3, 4, 5), 2)])
def test_layer_norm_is_that_of_what_counts(shape: tuple, last: int) -> None:
    x, mask = sample(shape, "layer_norm")
    dims = shape[-last:]
    w, b = rng("affine").normal(size=(2, *dims))
    m = loup.MaskedTensor(poisoned(x, mask), mask)
    for result in (loup.layer_norm(m, dims, w, b, 1e-3), m.layer_norm(dims, w, b, 1e-3)):
        assert isinstance(result, loup.MaskedTensor)
        np.testing.assert_array_equal(result.get_mask().numpy(), mask)
        groups = zip(*(each.reshape(-1, np.prod(dims)) for each in (x, mask, elements(result))),
                     strict=True)  # fmt: skip
        for group, counts, got in groups:
            assert (got[~counts] == 0).all()
            if counts.any():
                wanted = layer_norm(
                    group[counts], w.reshape(-1)[counts], b.reshape(-1)[counts], eps=1e-3
                )
                np.testing.assert_allclose(got[counts], wanted, rtol=1e-12, atol=1e-12)


@EVERY_REDUCTION
@pytest.mark.parametrize(("name", "measure"), [("mse_loss", np.square), ("l1_loss", np.abs)])
def test_distances_count_where_both_do(name: str, measure: Callable, reduction: str) -> None:
    x, p = sample((4, 5), name, "x")
    y, q = sample((3, 1, 5), name, "y")
    m, n = loup.MaskedTensor(poisoned(x, p), p), loup.MaskedTensor(poisoned(y, q), q)
    for a, b, both in [
        (m, n, p & q),
        (m, y, p & np.ones_like(q)),
        (loup.tensor(x), n, np.ones_like(p) & q),
    ]:
        result = getattr(loup, name)(a, b, reduction=reduction)
        assert isinstance(result, loup.MaskedTensor)
        losses = np.where(both, measure(x - y), 0)
        if reduction == "none":
            np.testing.assert_array_equal(result.get_mask().numpy(), both)
            np.testing.assert_allclose(elements(result), losses, rtol=1e-12)
        else:
            wanted = losses.sum() / (both.sum() if reduction == "mean" else 1)
            np.testing.assert_allclose(result.item(), wanted, rtol=1e-12)


@EVERY_REDUCTION
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(8, 5), (3, 5, 4)])
def test_entropies_are_those_of_the_classes_that_count(
    shape: tuple, weighted: bool, smoothing: float, reduction: str
) -> None:
    x, mask = sample(shape, "entropy", share=0.7)
    generator = rng("targets", shape)
    t = generator.integers(0, 5, shape[:1] + shape[2:])
    t[-1] = -100
    t_mask = generator.random(t.shape) < 0.8
    w = generator.uniform(0.5, 2, 5) if weighted else np.ones(5)
    result = loup.cross_entropy(
        loup.MaskedTensor(poisoned(x, mask), mask),
        loup.MaskedTensor(poisoned(t, t_mask), t_mask),
        w if weighted else None,
        reduction=reduction,
        label_smoothing=smoothing,
    )
    losses, counts, weights = np.zeros(t.shape), np.zeros(t.shape, bool), np.zeros(t.shape)
    for at in np.ndindex(*t.shape):
        line = (at[0], slice(None), *at[1:])
        classes = mask[line]
        if not t_mask[at] or t[at] == -100 or not classes[t[at]]:
            continue
        place = np.asarray(classes[: t[at]].sum())
        losses[at] = cross_entropy(
            x[line][classes], place, w[classes], reduction="sum", label_smoothing=smoothing
        )
        counts[at], weights[at] = True, w[t[at]]
    assert counts.any()
    if reduction == "none":
        np.testing.assert_array_equal(result.get_mask().numpy(), counts)
        np.testing.assert_allclose(elements(result), losses, rtol=1e-12)
    else:
        wanted = losses.sum() / (weights.sum() if reduction == "mean" else 1)
        np.testing.assert_allclose(result.item(), wanted, rtol=1e-12)


@EVERY_REDUCTION
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_entropies_of_probabilities_add_what_counts_in_both(
    smoothing: float, reduction: str
) -> None:
    (x, p), (t, q) = sample((6, 4), "x"), sample((6, 4), "t")
    w = np.array([0.5, 1.0, 2.0, 3.0])
    result = loup.cross_entropy(
        loup.MaskedTensor(poisoned(x, p), p), loup.MaskedTensor(poisoned(t, q), q), w,
        reduction=reduction, label_smoothing=smoothing,
    )  # fmt: skip
    losses, counts = np.zeros(6), (p & q).any(1)
    for i in np.flatnonzero(counts):
        logs = x[i] - np.log(np.exp(x[i][p[i]]).sum())
        wanted = t[i] * (1 - smoothing) + smoothing / p[i].sum()
        losses[i] = -(logs * wanted * w)[p[i] & q[i]].sum()
    if reduction == "none":
        np.testing.assert_array_equal(result.get_mask().numpy(), counts)
        np.testing.assert_allclose(elements(result), losses, rtol=1e-12)
    else:
        wanted = losses.sum() / (counts.sum() if reduction == "mean" else 1)
        np.testing.assert_allclose(result.item(), wanted, rtol=1e-12)


def masked(x: loup.Tensor, mask: np.ndarray) -> loup.MaskedTensor:
    return loup.as_masked_tensor(x, loup.asarray(mask))


# From the elements of a masked input, and a plain operand, to what is differentiated.
CLASSES = np.array([0, 2, 1, -100, 3])
CLASS_MASK = np.array([True, True, False, True, True])
CALLS: dict[str, Callable[..., loup.MaskedTensor]] = {
    "layer_norm": lambda x, y: loup.layer_norm(x, 4, y[1], y[2]),
    "layer_norm of all": lambda x, y: loup.layer_norm(x, (5, 4), y),
    **{
        f"{name} {reduction}": lambda x, y, name=name, how=reduction: getattr(loup, name)(x, y, how)
        for name in ("mse_loss", "l1_loss")
        for reduction in REDUCTIONS
    },
    **{
        f"cross_entropy {reduction}": lambda x, y, how=reduction: loup.cross_entropy(
            x, CLASSES, [0.5, 1.0, 2.0, 3.0], reduction=how, label_smoothing=0.2
        )
        for reduction in REDUCTIONS
    },
    "cross_entropy of masked classes": lambda x, y: loup.cross_entropy(
        x, loup.MaskedTensor(np.where(CLASS_MASK, CLASSES, 77), CLASS_MASK)
    ),
    **{
        f"cross_entropy of floats {reduction}": lambda x, y, how=reduction: loup.cross_entropy(
            x, y, reduction=how, label_smoothing=0.2
        )
        for reduction in REDUCTIONS
    },
}
EVERY_CALL = pytest.mark.parametrize("name", CALLS)


@EVERY_CALL
def test_gradients_of_first_and_second_order(name: str) -> None:
    x, mask = sample((5, 4), name, share=0.7)
    other = rng(name).normal(size=(5, 4))
    leaf = loup.tensor(np.where(mask, x, np.nan), requires_grad=True)
    plain = loup.tensor(other, requires_grad=True)

    def f(x: loup.Tensor, y: loup.Tensor) -> loup.Tensor:
        return CALLS[name](masked(x, mask), y).to_tensor(0)

    assert gradcheck(f, (leaf, plain))
    assert gradgradcheck(f, (leaf, plain))


@EVERY_CALL
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_what_is_hidden_changes_no_bit(name: str, dtype: str) -> None:
    x, mask = sample((5, 4), name, share=0.7)
    other = rng(name).normal(size=(5, 4))

    def run(values: np.ndarray) -> list[bytes]:
        leaf = loup.MaskedTensor(loup.tensor(values).to(dtype), mask, requires_grad=True)
        plain = loup.tensor(other).to(dtype).requires_grad_()
        result = CALLS[name](leaf, plain)
        factors = loup.tensor(np.asarray(rng("factors").normal(size=result.shape))).to(dtype)
        (result * factors).sum().backward()
        found = [result.detach().to_tensor(0), leaf.grad.get_data(), plain.grad]
        for each in found:
            assert each is None or np.isfinite(each.double().numpy()).all()
        assert (leaf.grad.get_data().double().numpy()[~mask] == 0).all()
        return [b"" if g is None else g.double().numpy().tobytes() for g in found]

    clean = run(x)
    for salt in range(5):
        assert run(poisoned(x, mask, salt)) == clean


@EVERY_CALL
def test_results_do_not_depend_on_threads(name: str, threads: None) -> None:
    generator = rng("threads", name)
    rows = 6000
    mask = np.tile(generator.random((5, 4)) < 0.7, (rows, 1, 1))
    x, y = generator.normal(size=(2, rows, 5, 4)).astype("float32")
    results = []
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        if name.startswith("layer_norm"):
            m = loup.MaskedTensor(x, mask, requires_grad=True)
            result = CALLS[name](m, loup.tensor(y[0]))
        elif "classes" in name or name.removeprefix("cross_entropy ") in REDUCTIONS:
            m = loup.MaskedTensor(x.reshape(-1, 4), mask.reshape(-1, 4), requires_grad=True)
            result = loup.cross_entropy(m, np.tile(CLASSES, rows), label_smoothing=0.1)
        else:
            m = loup.MaskedTensor(x.reshape(-1, 4), mask.reshape(-1, 4), requires_grad=True)
            result = CALLS[name](m, loup.tensor(y.reshape(-1, 4)))
        result.sum().backward()
        results.append((elements(result).tobytes(), m.grad.get_data().numpy().tobytes()))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("name", [name for name in CALLS if "layer_norm" not in name])
def test_where_nothing_counts_losses_are_masked(name: str) -> None:
    x = loup.MaskedTensor(np.full((5, 4), np.nan), np.zeros((5, 4), bool), requires_grad=True)
    result = CALLS[name](x, loup.ones((5, 4), dtype="float64"))
    assert not result.get_mask().numpy().any()
    data = elements(result)
    is_mean = "none" not in name and "sum" not in name
    assert np.isnan(data).all() if is_mean else (data == 0).all()
    result.get_data().sum().backward()
    assert (x.grad.get_data().numpy() == 0).all()


def test_layer_norm_of_nothing_is_zero_without_a_gradient() -> None:
    x = loup.MaskedTensor(np.full((2, 3), np.nan), np.zeros((2, 3), bool), requires_grad=True)
    w = loup.ones(3, dtype="float64", requires_grad=True)
    y = loup.layer_norm(x, 3, w, w)
    assert y.get_data().tolist() == [[0.0] * 3] * 2
    y.get_data().sum().backward()
    assert x.grad.get_data().tolist() == [[0.0] * 3] * 2
    assert w.grad.tolist() == [0.0] * 3


def test_strict_masks_are_obeyed() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [True, False])
    y = loup.MaskedTensor([1.0, 2.0], [True, True])
    with loup.strict_masks(), pytest.raises(
        ValueError, match=r"mse_loss: expected masked tensors with equal masks, got masks that differ"
    ):  # fmt: skip
        x.mse_loss(y)
    assert x.mse_loss(y).item() == 0


def test_errors_are_those_of_tensors() -> None:
    x = loup.MaskedTensor([[1.0, 2.0]], [[True, False]])
    with pytest.raises(IndexError, match=r"cross_entropy: expected targets from 0 to 1, .* got 2"):
        x.cross_entropy([2])
    with pytest.raises(loup.ShapeError, match=r"cross_entropy: expected a target of shape \[1\]"):
        x.cross_entropy([1, 0])
    with pytest.raises(loup.ShapeError, match=r"l1_loss: expected shapes that broadcast together"):
        x.l1_loss([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match=r"cross_entropy: expected a plain tensor, got a Masked"):
        x.cross_entropy([0], weight=loup.MaskedTensor([1.0, 1.0], [True, True]))
    with pytest.raises(TypeError, match=r"mse_loss: expected a tensor, an array, .* got NoneType"):
        x.mse_loss(None)
