"""Products with inf and NaN, in factors and gradients: what counts is added as a loop adds it."""

import numpy as np
import pytest
from strided import rng

import loup
from loup.autograd import grad, gradcheck, gradgradcheck

T, F = True, False
inf, nan = np.inf, np.nan
# How to call it, the same as an equation, shapes.
CASES = {
    "matmul": ("bij,bjk->bik", [(2, 3, 4), (2, 4, 3)]),
    "matmul of a batch": ("bij,jk->bik", [(2, 3, 4), (4, 3)]),
    "matmul of a vector": ("j,bjk->bk", [(4,), (2, 4, 3)]),
    "mm": ("ij,jk->ik", [(3, 4), (4, 5)]),
    "bmm": ("bij,bjk->bik", [(2, 2, 4), (2, 4, 3)]),
    "mv": ("ij,j->i", [(3, 4), (4,)]),
    "dot": ("j,j->", [(4,), (4,)]),
    "outer": ("i,j->ij", [(3,), (4,)]),
    "linear": ("bij,kj->bik", [(2, 2, 4), (3, 4)]),
    "linear of a vector": ("ij,j->i", [(3, 4), (4,)]),
    "einsum": ("ij,kj->ki", [(3, 4), (2, 4)]),
    "einsum alone": ("ij,jk->k", [(3, 4), (4, 2)]),
    "einsum of all": ("ij,jk->", [(2, 3), (3, 2)]),
    "einsum of diagonals": ("iij,ji->i", [(3, 3, 2), (2, 3)]),
    "einsum by elements": ("ij,ji->ij", [(3, 2), (2, 3)]),
}
# Equations of three and more, and the products of two that they are made of.
CHAINS = {
    "i,i,i->": ["i,i->i", "i,i->"],
    "ij,jk,kl->il": ["ij,jk->ik", "ik,kl->il"],
    "ij,kj,ik->": ["ij,kj->ik", "ik,ik->"],
    "ii,ij,jj,j->i": ["ii,ij->ij", "ij,jj->ij", "ij,j->i"],
    "i,j,k->kij": ["i,j->ij", "ij,k->kij"],
}
SPECIAL = [0.0, -0.0, 1.0, -2.0, inf, -inf, nan, 3.5]


def call(name: str, *factors: object) -> loup.MaskedTensor:
    if name.startswith("einsum"):
        return loup.einsum(CASES[name][0], *factors)
    return getattr(loup, name.split()[0])(*factors)


def places(equation: str, *arrays: np.ndarray):
    """All places of both factors and of the output that belong together."""
    inputs, output = equation.split("->")
    parts = inputs.split(",")
    sizes = {}
    for part, array in zip(parts, arrays, strict=True):
        sizes |= dict(zip(part, array.shape, strict=True))
    for place in np.ndindex(*sizes.values()):
        at = dict(zip(sizes, place, strict=True))
        yield [tuple(at[c] for c in part) for part in (*parts, output)]


def product(equation: str, a: np.ndarray, b: np.ndarray, p: np.ndarray, q: np.ndarray):
    """The sum of what counts, and whether there was anything."""
    last = {c: n for part, x in zip(equation.split("->")[0].split(","), (a, b), strict=True)
            for c, n in zip(part, x.shape, strict=True)}  # fmt: skip
    out = np.zeros([last[c] for c in equation.split("->")[1]])
    counts = np.zeros(out.shape, bool)
    for i, j, k in places(equation, a, b):
        if p[i] and q[j]:
            out[k] += a[i] * b[j]
            counts[k] = True
    return out, counts


def gradients(equation: str, a: np.ndarray, b: np.ndarray, p: np.ndarray, q: np.ndarray,
              g: np.ndarray, live: np.ndarray):  # fmt: skip
    """Those of both factors, and where there was anything to add."""
    found = [np.zeros(a.shape), np.zeros(b.shape)]
    some = [np.zeros(a.shape, bool), np.zeros(b.shape, bool)]
    for i, j, k in places(equation, a, b):
        if p[i] and q[j] and live[k]:
            found[0][i] += g[k] * b[j]
            found[1][j] += g[k] * a[i]
            some[0][i] = some[1][j] = True
    return found, some


def leaf(a: np.ndarray, p: np.ndarray, garbage: float) -> loup.MaskedTensor | loup.Tensor:
    """Masked, with garbage where it is; plain where all counts."""
    if p.all():
        return loup.tensor(a, dtype="float64", requires_grad=True)
    return loup.MaskedTensor(np.where(p, a, garbage), p, requires_grad=True)


def assert_same(x: object, expected: np.ndarray) -> None:
    data = x.get_data() if isinstance(x, loup.MaskedTensor) else x
    np.testing.assert_allclose(data.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(invalid="ignore", over="ignore"):
        yield


def test_an_infinity_passes_on_gradients() -> None:
    x = loup.MaskedTensor([[inf, 1.0]], [[T, T]], requires_grad=True)
    (x @ loup.tensor([[3.0], [4.0]])).sum().backward()
    assert x.grad.tolist() == [[3.0, 4.0]]


def test_nan_reaches_the_gradient_of_the_other_factor() -> None:
    w = loup.ones((1, 1), requires_grad=True)
    (loup.MaskedTensor([[nan], [1.0]], [[T], [T]]) @ w).sum().backward()
    assert np.isnan(w.grad.item())


@pytest.mark.parametrize("flow", ["finite gradients", "special gradients"])
@pytest.mark.parametrize("kind", ["finite factors", "special factors"])
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_a_loop(name: str, kind: str, flow: str) -> None:
    equation, shapes = CASES[name]
    generator = rng("loop", name, kind, flow)
    for trial in range(24):
        a, b = (generator.standard_normal(shape) for shape in shapes)
        if kind == "special factors":
            a, b = (np.where(generator.random(x.shape) < 0.4, generator.choice(SPECIAL, x.shape), x)
                    for x in (a, b))  # fmt: skip
        # Of four trials two have a plain factor.
        shares = [(0.6, 0.6), (0.9, 0.9), (0.6, 1.1), (1.1, 0.6)][trial % 4]
        p, q = (generator.random(x.shape) < s for x, s in zip((a, b), shares, strict=True))
        if p.all() and q.all():
            p[(0,) * p.ndim] = False
        x, y = leaf(a, p, nan), leaf(b, q, -inf)
        out, counts = product(equation, a, b, p, q)
        c = call(name, x, y)
        np.testing.assert_array_equal(c.get_mask().numpy(), counts)
        assert_same(c, out)
        assert c.is_contiguous() or name.startswith("einsum")

        g, live = generator.standard_normal(out.shape), generator.random(out.shape) < 0.7
        if flow == "special gradients":
            g = np.asarray(generator.choice(SPECIAL, out.shape))
        loup.masked.sum(c.get_data() * g, mask=loup.asarray(live)).backward()
        for z, expected in zip((x, y), gradients(equation, a, b, p, q, g, live)[0], strict=True):
            assert_same(z.grad, expected)


@pytest.mark.parametrize("kind", ["finite", "special"])
@pytest.mark.parametrize("equation", CHAINS)
def test_einsum_of_many_contracts_what_counts_from_left_to_right(equation: str, kind: str) -> None:
    generator = rng("chain", equation, kind)
    for _ in range(24):
        arrays = [generator.standard_normal((3,) * len(part))
                  for part in equation.split("->")[0].split(",")]  # fmt: skip
        if kind == "special":
            arrays = [np.where(generator.random(x.shape) < 0.3, generator.choice(SPECIAL, x.shape), x)
                      for x in arrays]  # fmt: skip
        masks = [generator.random(x.shape) < 0.7 for x in arrays]
        leaves = [leaf(x, m, nan) for x, m in zip(arrays, masks, strict=True)]
        if all(isinstance(x, loup.Tensor) for x in leaves):
            continue
        parts = [(arrays[0], masks[0])]
        for step, b, q in zip(CHAINS[equation], arrays[1:], masks[1:], strict=True):
            a, p = parts[-1]
            parts.append(product(step, a, b, p, q))
        c = loup.einsum(equation, *leaves)
        np.testing.assert_array_equal(c.get_mask().numpy(), parts[-1][1])
        assert_same(c, parts[-1][0])

        c.sum().backward()
        g, live = np.ones(c.shape), parts[-1][1]
        for n in reversed(range(1, len(leaves))):
            a, p = parts[n - 1]
            (g, right), (live, _) = gradients(
                CHAINS[equation][n - 1], a, arrays[n], p, masks[n], g, live
            )
            assert_same(leaves[n].grad, right)
        assert_same(leaves[0].grad, g)


def test_einsum_of_many_drops_what_is_masked_in_any() -> None:
    x = loup.MaskedTensor([inf, 1.0], [T, T])
    y = loup.MaskedTensor([5.0, 2.0], [F, T])
    assert loup.einsum("i,i,i->", x, y, loup.ones(2)).tolist() == 2.0
    assert loup.einsum("i,i,i->", loup.ones(2), x, y).tolist() == 2.0
    big = loup.tensor([1e300, 1.0], dtype="float64")  # an infinity on the way
    assert loup.einsum("i,i,i->", big, big, loup.MaskedTensor(big, [F, T])).tolist() == 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_dtype(dtype: str) -> None:
    x = loup.MaskedTensor(loup.tensor([[inf, 2.0], [3.0, nan]], dtype=dtype), [[T, T], [T, F]])
    y = loup.MaskedTensor(loup.tensor([[1, 16], [4, 2]], dtype="int8"), [[F, T], [T, T]])
    z = x @ y
    assert z.dtype == x.dtype
    assert z.tolist() == [[8.0, inf], [None, 48.0]]
    assert loup.einsum("ij,jk,k->i", x, y, loup.ones(2, dtype=dtype)).tolist() == [inf, 48.0]
    # Operands are converted before the first product: 16 · 16 is no int8.
    assert loup.einsum("i,i,i->i", y[0], y[0], x[0]).tolist() == [None, 512.0]


# --- gradients of gradients ---


def masked(x: loup.Tensor, p: np.ndarray) -> loup.MaskedTensor:
    return loup.as_masked_tensor(loup.where(loup.asarray(p), x, nan), loup.asarray(p))


@pytest.mark.parametrize("kind", ["finite", "with an infinity"])
@pytest.mark.parametrize("name", CASES)
def test_gradients_of_both_orders_by_differences(name: str, kind: str) -> None:
    equation, shapes = CASES[name]
    generator = rng("differences", name)
    inputs = [loup.tensor(generator.standard_normal(s), dtype="float64", requires_grad=True)
              for s in shapes]  # fmt: skip
    p, q = (generator.random(s) < 0.7 for s in shapes)
    fixed = np.zeros(shapes[0], bool)
    fixed[(0,) * fixed.ndim] = kind != "finite"
    p |= fixed
    if equation.endswith("->"):  # or else nothing would be left
        q.flat[0] = False
        q[..., 0] &= not equation.startswith("ij")
        q[0] &= not equation.startswith("ij")

    def f(a: loup.Tensor, b: loup.Tensor) -> loup.Tensor:
        c = call(name, masked(loup.where(loup.asarray(fixed), inf, a), p), masked(b, q))
        return loup.where(c.get_data().isfinite(), c.get_data(), 0.0)

    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


@pytest.mark.parametrize("equation", CHAINS)
def test_gradients_of_chains_by_differences(equation: str) -> None:
    generator = rng("chain differences", equation)
    shapes = [(2,) * len(part) for part in equation.split("->")[0].split(",")]
    inputs = [loup.tensor(generator.standard_normal(s), dtype="float64", requires_grad=True)
              for s in shapes]  # fmt: skip
    masks = [generator.random(s) < 0.8 for s in shapes]

    def f(*x: loup.Tensor) -> loup.Tensor:
        return loup.einsum(equation, *map(masked, x, masks)).to_tensor(0)

    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


def test_second_order_behind_an_infinite_gradient() -> None:
    generator = rng("second")
    a, b = generator.standard_normal((3, 4)), generator.standard_normal((4, 5))
    p, q = generator.random((3, 4)) < 0.7, generator.random((4, 5)) < 0.6
    x, y = leaf(a, p, nan), leaf(b, q, nan)
    g = generator.standard_normal((3, 5))
    g[0, 1] = inf
    c = loup.masked.sum((x @ y).get_data() * g)
    (first,) = grad(c, [x.get_data()], create_graph=True)
    chosen = np.isfinite(first.detach().numpy()) & p
    assert not chosen.all(1)[0]
    assert chosen[0].any()
    loup.where(loup.asarray(chosen), first, 0.0).sum().backward()
    # The gradient of x is linear in y, with g as the other factor.
    expected = gradients("ij,kj->ik", g, b, np.ones(g.shape, bool), q, np.ones((3, 4)), chosen)[0][
        1
    ]
    assert_same(y.grad, expected)


def test_an_infinite_gradient_keeps_zeros_structural() -> None:
    """Where nothing flows log would turn an ordinary zero into NaN."""
    x = loup.tensor([[0.0, 1.0], [2.0, 4.0]], requires_grad=True)
    w = loup.MaskedTensor([[1.0, 3.0], [5.0, 7.0]], [[F, T], [T, T]])
    y = (loup.as_masked_tensor(x.log(), loup.tensor([[F, T], [T, T]])) @ w).get_data()
    g = loup.tensor([[1.0, inf], [inf, 1.0]])
    loup.masked.sum(y * g, mask=loup.tensor([[F, F], [T, T]])).backward()
    assert x.grad.tolist() == [[0.0, 0.0], [1.5, inf]]
