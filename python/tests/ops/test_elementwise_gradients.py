"""Gradients of elementwise operators: finite differences, dtypes, and what masks hide."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from gradients import assert_same_gradients, gradients
from op_cases.binary import BINARY
from op_cases.elementwise import Domain, Elementwise
from op_cases.unary import UNARY
from op_cases.values import FLOATS, dtype_name
from strided import rng

import loup
from loup.autograd import grad, gradcheck, gradgradcheck

LISTED = {entry["name"]: entry for entry in loup.ops()}
CASES: dict[str, Elementwise] = {
    name: case for name, case in (UNARY | BINARY).items() if LISTED[name]["differentiable"]
}
EVERY_OP = pytest.mark.parametrize("name", CASES)
# What ruins a gradient that does not skip it.
GARBAGE = [math.nan, math.inf, -math.inf, 0.0, -1.0, 1.0, -5.0, 1e300]


def points(domain: Domain, shape: tuple[int, ...], *salt: object) -> np.ndarray:
    generator = rng(domain, shape, *salt)
    choice = generator.integers(0, len(domain), shape)
    low, high = (np.array(ends)[choice] for ends in zip(*domain, strict=True))
    return low + (high - low) * generator.random(shape)


def leaves(name: str, *shapes: tuple[int, ...]) -> list[loup.Tensor]:
    domains = CASES[name].domains
    return [
        loup.asarray(points(domain, shape, name, i)).requires_grad_()
        for i, (domain, shape) in enumerate(zip(domains, shapes, strict=True))
    ]


def check(f: Callable[..., loup.Tensor], inputs: list[loup.Tensor]) -> None:
    assert gradcheck(f, inputs, rtol=1e-5)
    first = grad(loup.masked.sum(f(*inputs)), inputs, create_graph=True)
    if any(g.requires_grad for g in first):
        assert gradgradcheck(f, inputs, rtol=1e-4)


@EVERY_OP
def test_agree_with_finite_differences(name: str) -> None:
    op = getattr(loup, name)
    shapes = (
        [[(5,)]] if name in UNARY else [[(5,), (5,)], [(3, 1), (2,)], [(2,), (2, 2)], [(), (3,)]]
    )
    for given in shapes:
        check(op, leaves(name, *given))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.options])
def test_with_options_agree_with_finite_differences(name: str) -> None:
    for options, _ in CASES[name].options:
        x = leaves(name, (7,))
        check(lambda y, given=options: getattr(loup, name)(y, **given), x)


@pytest.mark.parametrize("name", [name for name in CASES if name in BINARY])
def test_beside_numbers_agree_with_finite_differences(name: str) -> None:
    op, (first, second) = getattr(loup, name), CASES[name].domains
    x, y = leaves(name, (4,), (4,))
    check(lambda a: op(a, float(points(second, (), "number"))), [x])
    check(lambda a: op(float(points(first, (), "number")), a), [y])


@EVERY_OP
def test_have_the_dtype_of_their_input(name: str) -> None:
    op = getattr(loup, name)
    exact = leaves(name, *([(6,)] * len(CASES[name].domains)))
    wanted = grad(loup.masked.sum(op(*exact)), exact)
    for dtype in FLOATS:
        inputs = [x.detach().to(dtype).requires_grad_() for x in exact]
        got = grad(loup.masked.sum(op(*inputs)), inputs)
        precision = {"float16": 0.02, "bfloat16": 0.15, "float32": 2e-5}.get(dtype, 1e-12)
        for g, exact_g in zip(got, wanted, strict=True):
            assert dtype_name(g) == dtype
            np.testing.assert_allclose(
                np.asarray(g.double()), np.asarray(exact_g), rtol=precision, atol=precision
            )


@pytest.mark.parametrize("name", [name for name in CASES if name in BINARY])
def test_of_mixed_dtypes_have_those_of_their_inputs(name: str) -> None:
    op = getattr(loup, name)
    exact = leaves(name, (3, 2), (2,))
    wanted = grad(loup.masked.sum(op(*exact)), exact)
    for one, two in itertools.permutations(["float16", "float32", "float64"], 2):
        inputs = [x.detach().to(d).requires_grad_() for x, d in zip(exact, (one, two), strict=True)]
        got = grad(loup.masked.sum(op(*inputs)), inputs)
        for g, exact_g, dtype in zip(got, wanted, (one, two), strict=True):
            assert dtype_name(g) == dtype
            np.testing.assert_allclose(
                np.asarray(g.double()), np.asarray(exact_g), rtol=0.05, atol=0.05
            )


@pytest.mark.parametrize("integer", ["bool", "uint8", "int8", "int64"])
@pytest.mark.parametrize("name", [name for name in CASES if name in BINARY])
def test_beside_integers_are_those_beside_the_same_floats(name: str, integer: str) -> None:
    op = getattr(loup, name)
    numbers = loup.asarray(
        np.array([1, 1, 1] if integer == "bool" else [100, 2, 3]).astype(integer)
    )
    for turned in (False, True):
        x = loup.asarray(np.array([1.3, 2.7, 0.4])).requires_grad_()
        y = x.detach().clone().requires_grad_()
        first = (numbers, x) if turned else (x, numbers)
        second = (numbers.double(), y) if turned else (y, numbers.double())
        loup.masked.sum(op(*first)).backward()
        loup.masked.sum(op(*second)).backward()
        np.testing.assert_array_equal(np.asarray(x.grad), np.asarray(y.grad), str((name, turned)))


@EVERY_OP
def test_ignore_garbage_that_a_mask_hides(name: str) -> None:
    op, count = getattr(loup, name), len(CASES[name].domains)
    mask = loup.asarray(np.arange(2 * len(GARBAGE)) % 2 == 1)
    good = [np.asarray(x.detach()) for x in leaves(name, *([mask.shape] * count))]
    for which in range(count):
        bad = [values.copy() for values in good]
        bad[which][::2] = GARBAGE
        clean, dirty = (
            [loup.asarray(v).requires_grad_() for v in values] for values in (good, bad)
        )
        expected = gradients(loup.masked.sum(op(*clean), mask=mask), clean)
        got = gradients(loup.masked.sum(op(*dirty), mask=mask), dirty)
        for wanted_order, got_order in zip(expected, got, strict=True):
            for a, b in zip(wanted_order, got_order, strict=True):
                if b is None:
                    continue
                values = np.asarray(b.detach())
                assert (values[::2] == 0).all(), (name, which, values)
                np.testing.assert_array_equal(values[1::2], np.asarray(a.detach())[1::2], name)


@EVERY_OP
def test_ignore_garbage_in_the_gradient_that_a_mask_hides(name: str) -> None:
    op, count = getattr(loup, name), len(CASES[name].domains)
    shapes = [(3, 4)] if count == 1 else [(3, 1), (4,)]
    mask = loup.asarray(rng(name).random((3, 4)) < 0.6)

    def clean(y: loup.Tensor) -> loup.Tensor:
        return loup.masked.sum(y * y, mask=mask)

    def dirty(y: loup.Tensor) -> loup.Tensor:
        return loup.masked.sum(y * y / mask.double(), mask=mask)

    assert_same_gradients(op, leaves(name, *shapes), clean, dirty, name)


def test_of_a_quotient_by_a_hidden_zero() -> None:
    x = loup.tensor([2.0, 3.0]).requires_grad_()
    y = x / loup.tensor([0.0, 1.0])
    loup.masked.sum(y, mask=loup.tensor([False, True])).backward()
    assert x.grad.tolist() == [0, 1]


KINKS: dict[str, tuple[Callable[[loup.Tensor], loup.Tensor], list[float], list[float]]] = {
    "abs": (loup.abs, [0.0], [0]),
    "relu": (loup.relu, [0.0, -1.0, 1.0], [0, 0, 1]),
    "maximum of equals": (lambda x: loup.maximum(x, 1.0), [1.0, 2.0, 0.0], [0.5, 1, 0]),
    "minimum of equals": (lambda x: loup.minimum(1.0, x), [1.0, 2.0, 0.0], [0.5, 0, 1]),
    "fmax beside NaN": (lambda x: loup.fmax(x, math.nan), [1.0], [1]),
    "clamp at its bounds": (lambda x: x.clamp(0, 1), [0.0, 1.0, -1.0, 2.0], [1, 1, 0, 0]),
    "clamp of bounds the wrong way": (lambda x: x.clamp(1, 0), [0.5], [0]),
    "a square at 0": (lambda x: x**2, [0.0, -3.0], [0, -6]),
    "a first power at 0": (lambda x: x**1, [0.0, -3.0], [1, 1]),
    "a power of 0": (lambda x: x**0, [0.0, 2.0], [0, 0]),
    "powers of 0": (lambda x: 0**x, [2.0, 0.0], [0, 0]),
    "sinc at 0": (loup.sinc, [0.0], [0]),
    "i1 at 0": (loup.i1, [0.0], [0.5]),
    "logaddexp of equals": (lambda x: loup.logaddexp(x, 1.0), [1.0], [0.5]),
    "logaddexp of nothing": (lambda x: loup.logaddexp(x, -math.inf), [-math.inf, 1.0], [0, 1]),
    "logaddexp of infinities": (lambda x: loup.logaddexp(x, math.inf), [math.inf, 1.0], [0.5, 0]),
    "nan_to_num of NaN": (loup.nan_to_num, [math.nan, math.inf, 1.0], [0, 0, 1]),
    "logit outside": (lambda x: loup.logit(x, 0.25), [0.1, 0.5], [0, 4]),
    "softplus above": (lambda x: loup.softplus(x, 1, 2), [3.0], [1]),
}


@pytest.mark.parametrize("what", KINKS)
def test_at_kinks(what: str) -> None:
    f, values, expected = KINKS[what]
    x = loup.asarray(np.array(values)).requires_grad_()
    loup.masked.sum(f(x)).backward()
    assert x.grad.tolist() == expected


def test_of_second_order_at_removable_points() -> None:
    for f, value, expected in [
        (loup.sinc, 0.0, -(math.pi**2) / 3),
        (lambda x: loup.logaddexp(x, 1.0), 1.0, 0.25),
        (lambda x: loup.logaddexp2(x, 1.0), 1.0, 0.25 * math.log(2)),
        (lambda x: x**2, 0.0, 2.0),
    ]:
        x = loup.asarray(np.array([value])).requires_grad_()
        (first,) = grad(loup.masked.sum(f(x)), x, create_graph=True)
        (second,) = grad(loup.masked.sum(first), x)
        assert second.item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_of_sinc_are_exact_near_zero(dtype: str) -> None:
    x = loup.asarray(np.array([1e-6, 1e-3, 0.03, 0.0499, 0.0501, 0.2], dtype)).requires_grad_()
    loup.masked.sum(loup.sinc(x)).backward()
    y = np.asarray(x.detach()).astype(np.longdouble)
    u = (np.pi * y) ** 2
    exact = (
        -2 * y * np.pi**2 * sum((-u) ** k * (k + 1) / math.factorial(2 * k + 3) for k in range(9))
    )
    tolerance = 2e-5 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(np.asarray(x.grad), exact.astype(dtype), rtol=tolerance)


IN_PLACE = [name for name in CASES if LISTED[name]["in_place"]]


@pytest.mark.parametrize("name", IN_PLACE)
def test_of_in_place_forms_are_those_of_the_others(name: str) -> None:
    op, count = getattr(loup, name), len(CASES[name].domains)
    inputs = leaves(name, *([(2, 3)] if count == 1 else [(2, 3), (3,)]))
    one = grad(loup.masked.sum(op(*inputs) * 3), inputs)

    changed = inputs[0] * 1
    assert getattr(changed, f"{name}_")(*inputs[1:]) is changed
    other = grad(loup.masked.sum(changed * 3), inputs)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(np.asarray(b), np.asarray(a), name)
