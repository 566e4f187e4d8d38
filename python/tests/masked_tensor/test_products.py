"""Products of masked matrices: pairs of elements that both count are added, nothing else."""

import numpy as np
import pytest
from strided import rng

import loup

SHAPES = {
    "matmul": ((2, 3, 4), (2, 4, 5)),
    "mm": ((3, 4), (4, 5)),
    "bmm": ((2, 3, 4), (2, 4, 5)),
    "mv": ((3, 4), (4,)),
    "dot": ((4,), (4,)),
    "outer": ((3,), (4,)),
    "linear": ((2, 4), (5, 4)),
}
EQUATIONS = {"matmul": "bij,bjk->bik", "mm": "ij,jk->ik", "bmm": "bij,bjk->bik", "mv": "ij,j->i",
             "dot": "i,i->", "outer": "i,j->ij", "linear": "ij,kj->ik"}  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 3.5]


def reference(equation: str, a: np.ndarray, b: np.ndarray, p: np.ndarray, q: np.ndarray):
    """Add one by one what counts; returns sums and whether there was anything."""
    inputs, output = equation.split("->")
    letters = sorted(set(equation) - set(",->"))
    first, second = inputs.split(",")
    sizes = dict(zip(first, a.shape, strict=True)) | dict(zip(second, b.shape, strict=True))
    out = np.zeros([sizes[c] for c in output])
    counts = np.zeros(out.shape, bool)
    for place in np.ndindex(*[sizes[c] for c in letters]):
        at = dict(zip(letters, place, strict=True))
        i, j = tuple(at[c] for c in first), tuple(at[c] for c in second)
        if p[i] and q[j]:
            k = tuple(at[c] for c in output)
            with np.errstate(invalid="ignore"):
                out[k] += a[i] * b[j]
            counts[k] = True
    return out, counts


def check(name: str, a: np.ndarray, b: np.ndarray, p: np.ndarray, q: np.ndarray) -> None:
    expected, counts = reference(EQUATIONS[name], a, b, p, q)
    x = loup.MaskedTensor(np.where(p, a, np.nan), p)
    y = loup.MaskedTensor(np.where(q, b, -np.inf), q)
    for result in (getattr(loup, name)(x, y), getattr(x, name)(y)):
        assert isinstance(result, loup.MaskedTensor)
        np.testing.assert_array_equal(result.get_mask().numpy(), counts)
        np.testing.assert_allclose(
            result.get_data().numpy()[counts], expected[counts], rtol=1e-12, equal_nan=True
        )


@pytest.mark.parametrize("name", SHAPES)
def test_products_add_what_counts_in_both(name: str) -> None:
    generator = rng("products", name)
    for share in (0.2, 0.6, 0.95):
        a, b = (generator.standard_normal(shape) for shape in SHAPES[name])
        check(name, a, b, generator.random(a.shape) < share, generator.random(b.shape) < share)


@pytest.mark.parametrize("name", SHAPES)
def test_infinities_that_count_meet_no_masked_zero(name: str) -> None:
    generator = rng("special", name)
    for _ in range(30):
        a, b = (generator.choice(SPECIAL, shape) for shape in SHAPES[name])
        check(name, a, b, generator.random(a.shape) < 0.5, generator.random(b.shape) < 0.5)


def test_plain_operands_count() -> None:
    x = loup.MaskedTensor([[1.0, 2.0], [3.0, 4.0]], [[True, False], [False, False]])
    y = loup.tensor([[1.0, 10.0], [100.0, 1000.0]])
    assert (x @ y).tolist() == [[1.0, 10.0], [None, None]]
    assert (y @ x).tolist() == [[1.0, None], [100.0, None]]
    assert loup.linear(x, y, loup.tensor([1.0, 2.0])).tolist() == [[2.0, 102.0], [None, None]]


def test_einsum_of_three() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [True, False])
    y = loup.tensor([3.0, 4.0])
    assert loup.einsum("i,i,i->", x, y, y).tolist() == 9.0
    assert loup.einsum("i,i,j->j", x, y, x).tolist() == [3.0, None]
    assert loup.einsum("i->", x).tolist() == 1.0


def test_gradients_are_those_of_filled_factors() -> None:
    generator = rng("gradients")
    p, q = generator.random((3, 4)) < 0.6, generator.random((4, 5)) < 0.6
    a, b = generator.standard_normal((3, 4)), generator.standard_normal((4, 5))
    x = loup.MaskedTensor(np.where(p, a, np.nan), p, requires_grad=True)
    y = loup.MaskedTensor(np.where(q, b, np.inf), q, requires_grad=True)
    (x @ y).square().sum().backward()
    f = loup.tensor(np.where(p, a, 0), requires_grad=True)
    g = loup.tensor(np.where(q, b, 0), requires_grad=True)
    (f @ g).square().sum().backward()
    np.testing.assert_allclose(
        x.grad.get_data().numpy(), np.where(p, f.grad.numpy(), 0), rtol=1e-12
    )
    np.testing.assert_allclose(
        y.grad.get_data().numpy(), np.where(q, g.grad.numpy(), 0), rtol=1e-12
    )
