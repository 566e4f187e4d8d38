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


EINSUMS = [
    ("ij,jk,kl", [(2, 3), (3, 4), (4, 5)]),
    ("ij,ik,il,i->ljk", [(2, 3), (2, 4), (2, 5), (2,)]),
    ("ii,ij,jj->j", [(3, 3), (3, 2), (2, 2)]),
    ("ki,kj,k", [(4, 2), (4, 3), (4,)]),
    ("...i,ij,j...", [(2, 3, 4), (4, 5), (5, 3)]),
    ("a...b,b...,a->...", [(3, 2, 5, 4), (4, 5), (3,)]),
    ("i...,i...,i...->i", [(4, 2, 3), (4, 3), (4,)]),
    ("i...,...,i... -> i...", [(4, 1, 3), (2, 1), (4, 3)]),
    ("...,...,...->", [(2, 3), (3,), ()]),
    ("ij,kl,m->", [(2, 3), (4, 2), (3,)]),
    ("...ij,...jk", [(2, 1, 3, 4), (5, 4, 2)]),
    (" ij , jk -> k ", [(3, 4), (4, 2)]),
    ("bij,bjk->", [(2, 3, 4), (2, 4, 2)]),
    ("ij->i", [(3, 4)]),
    ("ij", [(3, 4)]),
    ("iij->j", [(3, 3, 4)]),
    ("i...->...", [(3, 4, 2)]),
]


def numpy_einsum(equation: str, *arrays: np.ndarray) -> np.ndarray:
    """NumPy's, which does not sum over the dims of `...` by itself."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    if not arrow or "..." in output or "..." not in inputs:
        return np.einsum(equation, *arrays)
    result = np.einsum(f"{inputs}->{output}...", *arrays)
    return result.sum(tuple(range(len(output), result.ndim)))


@pytest.mark.parametrize("kind", ["finite", "with an infinity"])
@pytest.mark.parametrize(("equation", "shapes"), EINSUMS, ids=str)
def test_einsum_of_any_number(equation: str, shapes: list, kind: str) -> None:
    """Only sums of one infinity are looked at: those are the same in any order."""
    generator = rng("einsum", equation)
    for _ in range(20):
        masks = [generator.random(shape) < 0.7 for shape in shapes]
        arrays = [generator.random(shape) + 0.5 for shape in shapes]
        if kind != "finite":
            arrays[generator.integers(len(arrays))].flat[0] = np.inf
        operands = [
            loup.MaskedTensor(np.where(m, x, np.nan), m) for x, m in zip(arrays, masks, strict=True)
        ]
        filled = [np.where(m, np.minimum(x, 1e300), 0) for x, m in zip(arrays, masks, strict=True)]
        found = loup.einsum(equation, *operands)
        counts = numpy_einsum(equation, *[m.astype(int) for m in masks]) > 0
        expected = numpy_einsum(equation, *filled)
        expected = np.where(expected > 1e200, np.inf, expected)
        np.testing.assert_array_equal(found.get_mask().numpy(), counts)
        np.testing.assert_allclose(found.get_data().numpy(), expected, rtol=1e-12)
        with loup.debug.poison():
            assert loup.einsum(equation, *operands).tolist() == found.tolist()


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("i,i", [(2,), (2,), (2,)]),
        ("i,i,i->j", [(2,), (2,), (2,)]),
        ("i,i,i->ii", [(2,), (2,), (2,)]),
        ("i,i,j?", [(2,), (2,), (2,)]),
        ("i,i,......", [(2,), (2,), (2,)]),
        ("i,ij,jk", [(2,), (2, 3), (2, 3)]),
        ("ij,i,i", [(2,), (2,), (2,)]),
        ("...i,...i,...i", [(2, 4), (3, 4), (4,)]),
        ("i->j", [(2,)]),
    ],
    ids=str,
)
def test_einsum_refuses_what_it_refuses_of_tensors(equation: str, shapes: list) -> None:
    plain = [loup.full(shape, np.inf) for shape in shapes]
    with pytest.raises(loup.Error) as expected:
        loup.einsum(equation, *plain)
    factors = [loup.MaskedTensor(x, loup.ones(x.shape, dtype="bool")) for x in plain]
    with pytest.raises(type(expected.value)) as found:
        loup.einsum(equation, *factors)
    assert str(found.value) == str(expected.value)


def test_errors_do_not_depend_on_what_factors_hold() -> None:
    x = loup.MaskedTensor([[np.inf, 1.0]], [[True, True]])
    for call, message in [
        (lambda: x @ x, "matmul: expected as many columns"),
        (lambda: x.mm(x), "mm: expected as many columns"),
        (lambda: x.mv(x), "mv: expected tensors of 2 and 1 dims"),
        (lambda: x.dot(x), "dot: expected tensors of 1 and 1 dims"),
        (lambda: x.outer(x), "outer: expected tensors of 1 and 1 dims"),
        (lambda: x.bmm(x), "bmm: expected tensors of 3 and 3 dims"),
        (lambda: loup.linear(x, x[:, :1]), "linear: expected an input whose last dim"),
        (lambda: x[0, 0] @ x, "matmul: expected tensors of 1 dim or more"),
    ]:
        with pytest.raises(loup.ShapeError, match=message):
            call()
    flags = loup.MaskedTensor([True, False], [True, False])
    with pytest.raises(loup.DTypeError, match="einsum: expected numbers, got bool"):
        loup.einsum("i,i,i", flags, flags, flags)


def test_nothing_to_add_gives_masked_zeros() -> None:
    y = loup.MaskedTensor(np.full((3, 2), np.inf), np.ones((3, 2), bool))
    assert (loup.ones((0, 3)) @ y).shape == (0, 2)
    assert (y @ loup.ones((2, 0))).shape == (3, 0)
    none = y.T[:, :0] @ loup.ones((0, 4))
    assert not none.get_mask().numpy().any()
    hidden = loup.MaskedTensor(np.full((2, 2), np.nan), np.zeros((2, 2), bool))
    result = y @ hidden
    assert result.tolist() == [[None, None]] * 3
    assert result.get_data().tolist() == [[0.0, 0.0]] * 3


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
