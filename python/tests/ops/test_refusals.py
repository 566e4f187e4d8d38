"""What elementwise operators refuse: the class of the error, and both halves of its message."""

from collections.abc import Callable

import numpy as np
import pytest

import loup

X = loup.tensor([1.0, 2.0])
INTS = loup.tensor([1, 2])
BYTES = INTS.to(loup.uint8)
TRUTH = X > 1
OBJECTS = "a tensor, an array, a number or nested lists of numbers"

REFUSALS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "neg of bool": (lambda: -TRUTH, loup.DTypeError, "neg: expected a numeric dtype, got bool"),
    "sub of bool": (
        lambda: TRUTH - TRUTH,
        loup.DTypeError,
        "sub: expected a numeric dtype, got bool",
    ),
    "not of floats": (
        lambda: ~X,
        loup.DTypeError,
        "bitwise_not: expected integers or bool, got float32",
    ),
    "and of floats": (
        lambda: X & 1,
        loup.DTypeError,
        "bitwise_and: expected integers or bool, got float32",
    ),
    "shift by floats": (
        lambda: INTS << 1.5,
        loup.DTypeError,
        "bitwise_left_shift: expected integers or bool, got float32",
    ),
    "frac of integers": (
        lambda: loup.frac(INTS),
        loup.DTypeError,
        "frac: expected a dtype it is defined for, got int64",
    ),
    "sqrt_ of integers": (
        lambda: INTS.clone().sqrt_(),
        loup.DTypeError,
        "sqrt_: expected a tensor that can hold float32, got int64",
    ),
    "div_ of integers": (
        lambda: INTS.clone().div_(2),
        loup.DTypeError,
        "div_: expected a tensor that can hold float32, got int64",
    ),
    "add_ of a float to integers": (
        lambda: INTS.clone().add_(0.5),
        loup.DTypeError,
        "add_: expected a tensor that can hold float32, got int64",
    ),
    "clamp_ of integers by floats": (
        lambda: INTS.clone().clamp_(0.5),
        loup.DTypeError,
        "clamp_: expected a tensor that can hold float32, got int64",
    ),
    "clamp of bool": (
        lambda: TRUTH.clamp(False),
        loup.DTypeError,
        "clamp: expected a numeric dtype, got bool",
    ),
    "lerp of integers": (
        lambda: INTS.lerp(INTS, 1),
        loup.DTypeError,
        "lerp: expected a floating dtype, got int64",
    ),
    "a condition of integers": (
        lambda: loup.where([1, 0], X, X),
        loup.DTypeError,
        "where: expected a condition of bool, got int64",
    ),
    "shapes": (
        lambda: X + loup.ones(3),
        loup.ShapeError,
        "add: expected shapes that broadcast together, got [2] and [3]",
    ),
    "shapes of where": (
        lambda: loup.where(TRUTH, loup.ones(3), 0),
        loup.ShapeError,
        "where: expected shapes that broadcast together, got [2] and [3]",
    ),
    "an in-place operand that is too large": (
        lambda: X.clone().mul_(loup.ones((2, 2))),
        loup.ShapeError,
        "mul_: expected operands broadcastable to [2], got shape [2, 2]",
    ),
    "in-place bounds that are too large": (
        lambda: X.clone().clamp_(loup.ones((2, 2))),
        loup.ShapeError,
        "clamp_: expected operands broadcastable to [2], got shape [2, 2]",
    ),
    "an in-place weight that is too large": (
        lambda: X.clone().lerp_(X, loup.ones((3, 2))),
        loup.ShapeError,
        "lerp_: expected operands broadcastable to [2], got shape [3, 2]",
    ),
    "a number that does not fit": (
        lambda: BYTES + 300,
        loup.ValueError,
        "add: expected a number that fits uint8, got 300",
    ),
    "a negative number beside bytes": (
        lambda: BYTES * -1,
        loup.ValueError,
        "mul: expected a number that fits uint8, got -1",
    ),
    "a number that does not fit, in place": (
        lambda: BYTES.clone().add_(300),
        loup.ValueError,
        "add_: expected a number that fits uint8, got 300",
    ),
    "a number that does not fit, times alpha": (
        lambda: loup.add(BYTES, 100, alpha=3),
        loup.ValueError,
        "add: expected a number that fits uint8, got 300",
    ),
    "alpha beyond 64 bits": (
        lambda: loup.add(INTS, 2**40, alpha=2**40),
        loup.ValueError,
        f"add: expected alpha times other to fit 64 bits, got {2**40} times {2**40}",
    ),
    "a choice that does not fit": (
        lambda: loup.where(TRUTH, BYTES, 300),
        loup.ValueError,
        "where: expected a number that fits uint8, got 300",
    ),
    "a bound that nothing can reach": (
        lambda: BYTES.clamp(min=300),
        loup.ValueError,
        "clamp: expected a number that fits uint8, got 300",
    ),
    "an int beyond 64 bits": (
        lambda: INTS + 2**70,
        loup.ValueError,
        f"add: expected an int of 64 bits, got {2**70}",
    ),
    "no bounds": (
        lambda: X.clamp(),
        loup.ValueError,
        "clamp: expected min, max or both, got neither",
    ),
    "rounding_mode": (
        lambda: loup.div(X, 2, rounding_mode="up"),
        loup.ValueError,
        "div: expected rounding_mode as None, 'floor' or 'trunc', got 'up'",
    ),
    "approximate": (
        lambda: loup.gelu(X, "fast"),
        loup.ValueError,
        "gelu: expected approximate as 'none' or 'tanh', got 'fast'",
    ),
    "half a decimal": (
        lambda: loup.round(X, 0.5),
        loup.ValueError,
        "round: expected decimals as an integer, got 0.5",
    ),
    "the order of polygamma": (
        lambda: loup.polygamma(X, -1),
        loup.ValueError,
        "polygamma: expected n of at least 0, got -1",
    ),
    "half an order of polygamma": (
        lambda: loup.polygamma(X, 0.5),
        loup.ValueError,
        "polygamma: expected n as an integer, got 0.5",
    ),
    "tolerances": (
        lambda: loup.isclose(X, X, rtol=-1),
        loup.ValueError,
        "isclose: expected tolerances of at least 0, got rtol -1 and atol 1e-08",
    ),
    "a word as decimals": (
        lambda: loup.round(X, "a"),
        TypeError,
        "round: expected a number, got str",
    ),
    "a word as alpha": (
        lambda: loup.add(X, X, alpha="a"),
        TypeError,
        "add: expected a number, got str",
    ),
    "a word": (lambda: loup.exp("a"), TypeError, f"exp: expected {OBJECTS}, got str"),
    "None": (lambda: loup.exp(None), TypeError, f"exp: expected {OBJECTS}, got NoneType"),
    "None as other": (
        lambda: loup.add(X, None),
        TypeError,
        f"add: expected {OBJECTS}, got NoneType",
    ),
    "None as input": (
        lambda: loup.add(None, X),
        TypeError,
        f"add: expected {OBJECTS}, got NoneType",
    ),
    "an object": (lambda: X.mul(object()), TypeError, f"mul: expected {OBJECTS}, got object"),
    "a word in where": (
        lambda: loup.where(TRUTH, "a", X),
        TypeError,
        f"where: expected {OBJECTS}, got str",
    ),
    "None in where": (
        lambda: loup.where(None, X, X),
        TypeError,
        f"where: expected {OBJECTS}, got NoneType",
    ),
    "a dict in clamp": (lambda: X.clamp({}), TypeError, f"clamp: expected {OBJECTS}, got dict"),
    "None in lerp": (lambda: X.lerp(None, 1), TypeError, f"lerp: expected {OBJECTS}, got NoneType"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refuses(what: str) -> None:
    call, error, text = REFUSALS[what]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
    assert type(caught.value) is error


@pytest.mark.parametrize("name", ["floor_divide", "trunc_divide", "fmod", "remainder"])
@pytest.mark.parametrize("divisor", [0, [1, 0], False], ids=str)
def test_integers_have_no_quotient_by_zero(name: str, divisor: object) -> None:
    for call in (getattr(loup, name), getattr(loup.Tensor, f"{name}_")):
        with pytest.raises(loup.ValueError) as caught:
            call(INTS.clone(), divisor)
        assert str(caught.value) == f"{name}: expected integers other than 0 as divisor, got 0"


def test_floats_have_quotients_by_zero() -> None:
    assert (X / 0).tolist() == [float("inf")] * 2
    assert (X // 0).tolist() == [float("inf")] * 2


@pytest.mark.parametrize("other", [None, "a", {}, object()], ids=repr)
def test_python_operators_leave_what_they_do_not_know_to_python(other: object) -> None:
    with pytest.raises(TypeError, match="unsupported operand type"):
        X + other
    with pytest.raises(TypeError, match="unsupported operand type"):
        other - X
    with pytest.raises(TypeError, match="not supported between"):
        other > X  # noqa: B015
    assert (other == X) is False
    assert (other != X) is True


class Answers:
    """An object that knows how to be added to a tensor."""

    def __radd__(self, x: loup.Tensor) -> str:
        return f"added to {x.tolist()}"


def test_the_other_object_is_asked() -> None:
    assert X + Answers() == "added to [1.0, 2.0]"


def test_wrong_numbers_of_arguments_are_refused() -> None:
    for call in (lambda: loup.exp(), lambda: loup.exp(X, 1), lambda: loup.add(X)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call()
    with pytest.raises(TypeError, match="incompatible function arguments"):
        loup.add(X, X, 2)  # alpha is a keyword


def test_nothing_is_written_when_a_call_is_refused() -> None:
    x = loup.tensor([1, 2, 3])
    for call in (lambda: x.add_(0.5), lambda: x.floor_divide_(0), lambda: x.add_([1, 2])):
        with pytest.raises(loup.Error):
            call()
    assert np.asarray(x).tolist() == [1, 2, 3]
