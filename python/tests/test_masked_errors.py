"""The error bounds that docs/ops.md states for float32, against sums in long double."""

from collections.abc import Callable

import numpy as np
import pytest

import loup

U = np.longdouble(2.0**-24)
LENGTHS = [3, 17, 100, 1000, 5000, 70_000]
OFFSETS = [0.0, 1.0, 1e3, 1e6]
Exact = Callable[[np.ndarray], np.longdouble]


def _norm(order: float) -> Exact:
    return lambda x: (np.abs(x) ** order).sum() ** (1 / np.longdouble(order))


def _log_sum_exp(x: np.ndarray) -> np.longdouble:
    return x.max() + np.log(np.exp(x - x.max()).sum())


# operator, its options, the exact value, and the bound in units of U by that value and the elements
BOUNDS = [
    ("sum", {}, np.sum, lambda y, x: abs(y) + 17 * np.abs(x).sum()),
    ("mean", {}, np.mean, lambda y, x: 2 * abs(y) + 17 * np.abs(x).mean()),
    ("var", {}, lambda x: x.var(ddof=1), lambda y, _: 2 * y),
    ("std", {}, lambda x: x.std(ddof=1), lambda y, _: 2 * y),
    ("norm", {"ord": 1}, _norm(1), lambda y, _: 2 * y),
    ("norm", {"ord": 2}, _norm(2), lambda y, _: 2 * y),
    ("norm", {"ord": 3}, _norm(3), lambda y, _: (4 + 2 / 3) * y),
    ("norm", {"ord": 0.5}, _norm(0.5), lambda y, _: 8 * y),
    ("norm", {"ord": -2}, _norm(-2), lambda y, _: 5 * y),
    ("logsumexp", {}, _log_sum_exp, lambda y, _: abs(y) + 8),
]


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("op", "options", "exact", "bound"), BOUNDS)
def test_errors_stay_below_their_bound(
    op: str, options: dict, exact: Exact, bound: Callable, length: int, offset: float
) -> None:
    rng = np.random.default_rng([length, int(offset)])
    for scale in (1e-1, 1.0, 1e2):
        x = (rng.standard_normal(length) * scale + offset).astype(np.float32)
        mask = rng.random(length) < 0.7
        mask[:2] = True
        counted = x[mask].astype(np.longdouble)
        if counted.std() == 0:
            continue
        want = exact(counted)
        got = np.longdouble(getattr(loup.masked, op)(x, mask=mask, **options).item())
        assert abs(got - want) <= U * bound(want, counted), (op, length, offset, scale)


@pytest.mark.parametrize("length", LENGTHS)
def test_products_are_rounded_once(length: int) -> None:
    rng = np.random.default_rng(length)
    x = np.exp(rng.standard_normal(length) * 0.2).astype(np.float32)
    mask = rng.random(length) < 0.7
    want = x[mask].astype(np.longdouble).prod()
    got = np.longdouble(loup.masked.prod(x, mask=mask).item())
    assert abs(got - want) <= (U + length * np.longdouble(2.0**-53)) * want
