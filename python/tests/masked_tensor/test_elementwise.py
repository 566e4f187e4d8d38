"""Elementwise operators of MaskedTensor: every listed one, masks, in-place forms, gradients."""

import numpy as np
import pytest
from strided import rng

import loup

OPS = {op["name"]: op for op in loup.ops()}
UNARY = [name for name, op in OPS.items() if op["family"] == "unary"]
BINARY = [name for name, op in OPS.items() if op["family"] == "binary"]
IN_PLACE = [name for name in UNARY + BINARY if OPS[name]["in_place"]]
INTEGRAL = {name for name in UNARY + BINARY if name.startswith("bitwise_")}
POISON = [np.nan, np.inf, -np.inf, 1e30]


def data(name: str, which: str = "first") -> np.ndarray:
    """Operands that the operator is defined for."""
    generator = rng("masked", name, which)
    if name in INTEGRAL:
        return generator.integers(1, 5, (4, 5))
    low, high = (1.1, 3.0) if name == "acosh" else (0.1, 0.9)
    return generator.uniform(low, high, (4, 5))


def masks() -> tuple[np.ndarray, np.ndarray]:
    generator = rng("masks")
    return generator.random((4, 5)) < 0.6, generator.random((4, 5)) < 0.6


def poisoned(x: np.ndarray, mask: np.ndarray, poison: float) -> np.ndarray:
    return x if x.dtype.kind != "f" else np.where(mask, x, poison)


def assert_counts(result: loup.MaskedTensor, expected: loup.Tensor, mask: np.ndarray) -> None:
    """The mask, and where it is true the very bits."""
    assert isinstance(result, loup.MaskedTensor)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.get_mask().numpy(), mask)
    np.testing.assert_array_equal(result.get_data().numpy()[mask], expected.numpy()[mask])


@pytest.mark.parametrize("name", UNARY)
def test_unary_keeps_the_mask(name: str) -> None:
    x, (mask, _) = data(name), masks()
    expected = getattr(loup, name)(x)
    for poison in POISON:
        masked = loup.MaskedTensor(poisoned(x, mask, poison), mask)
        assert_counts(getattr(loup, name)(masked), expected, mask)
        assert_counts(getattr(masked, name)(), expected, mask)


@pytest.mark.parametrize("name", BINARY)
def test_binary_counts_where_both_do(name: str) -> None:
    x, y = data(name), data(name, "second")
    first, second = masks()
    expected = getattr(loup, name)(x, y)
    for poison in POISON:
        a = loup.MaskedTensor(poisoned(x, first, poison), first)
        b = loup.MaskedTensor(poisoned(y, second, poison), second)
        if name != "logaddexp":  # the masked one: what counts of the two
            assert_counts(getattr(loup, name)(a, b), expected, first & second)
            assert_counts(getattr(a, name)(b), expected, first & second)
            assert_counts(getattr(a, name)(loup.tensor(y)), expected, first)
            assert_counts(getattr(loup, name)(x, b), expected, second)


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_changes_only_what_counts(name: str) -> None:
    x, (mask, _) = data(name), masks()
    other = () if name in UNARY else (data(name, "second"),)
    expected = getattr(loup, name)(x, *other)
    masked = loup.MaskedTensor(x, mask)
    result = getattr(masked, name + "_")(*other)
    assert result is masked
    wanted = np.where(mask, expected.numpy().astype(x.dtype), x)
    np.testing.assert_array_equal(masked.get_data().numpy(), wanted)
    np.testing.assert_array_equal(masked.get_mask().numpy(), mask)


def test_python_operators_on_either_side() -> None:
    x, (mask, _) = data("add"), masks()
    m, t = loup.MaskedTensor(x, mask), loup.tensor(x)
    for result, expected in [
        (m + 1, t + 1), (1 + m, 1 + t), (m - 2, t - 2), (1 - m, 1 - t), (2**m, 2**t), (m**2, t**2),
        (m * t, t * t), (t * m, t * t), (x + m, t + t), (3 / m, 3 / t), (m // 0.2, t // 0.2),
        (5 % m, 5 % t), (-m, -t), (+m, +t), (abs(m), abs(t)), (m > 0.5, t > 0.5), (m == t, t == t),
        (m > 0.5, t > 0.5), (m != 1, t != 1),
    ]:  # fmt: skip
        assert_counts(result, expected, mask)
    assert (m == None) is False  # noqa: E711
    assert m in {m}


def test_options() -> None:
    x, y, (mask, _) = data("a"), data("b"), masks()
    m = loup.MaskedTensor(x, mask)
    assert_counts(m.add(y, alpha=2), loup.add(x, y, alpha=2), mask)
    assert_counts(m.sub(m, alpha=0.5), loup.sub(x, x, alpha=0.5), mask)
    assert_counts(m.div(y, rounding_mode="floor"), loup.div(x, y, rounding_mode="floor"), mask)
    assert_counts(m.round(decimals=1), loup.round(x, decimals=1), mask)
    assert_counts(m.gelu(approximate="tanh"), loup.gelu(x, approximate="tanh"), mask)
    assert_counts(m.clamp(0.3, 0.6), loup.clamp(x, 0.3, 0.6), mask)
    assert_counts(m.clip(max=m), loup.clip(x, max=x), mask)
    assert_counts(m.lerp(y, 0.25), loup.lerp(x, y, 0.25), mask)
    np.testing.assert_array_equal(
        m.clone().clamp_(0.3, 0.6).get_data().numpy(), np.where(mask, np.clip(x, 0.3, 0.6), x)
    )


def test_masks_broadcast_with_their_data() -> None:
    column = loup.MaskedTensor([[1.0], [2.0], [3.0]], [[True], [False], [True]])
    row = loup.MaskedTensor([10.0, 20.0], [True, False])
    result = column + row
    assert result.get_mask().tolist() == [[True, False], [False, False], [True, False]]
    assert (column + loup.ones((3, 2))).get_mask().tolist() == [[True] * 2, [False] * 2, [True] * 2]


def test_results_have_masks_of_their_own() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [True, False])
    for result in (x.exp(), x + 1, x + x, x.clamp(0)):
        result.get_mask()[1] = True
        assert x.get_mask().tolist() == [True, False]


def test_repeated_masks_stay_repeated() -> None:
    mask = loup.tensor([[True], [False]]).expand(2, 3)
    x = loup.as_masked_tensor(loup.ones((2, 3)), mask)
    for result in (x.exp(), x * 2, x * x):
        assert result.get_mask().strides == (1, 0)
        assert result.get_mask().tolist() == mask.tolist()


def test_strict_masks_want_equal_ones() -> None:
    a = loup.MaskedTensor([1.0, 2.0], [True, False])
    b = loup.MaskedTensor([1.0, 2.0], [True, True])
    with loup.strict_masks():
        assert (a + a.clone()).tolist() == [2.0, None]
        assert (a + 1).tolist() == [2.0, None]
        with pytest.raises(ValueError, match=r"add: expected masked tensors with equal masks, got"):
            a + b
        with pytest.raises(ValueError, match=r"add: expected masked tensors with equal masks, got"):
            a + loup.MaskedTensor([[1.0, 2.0]], [[True, False]])
    assert (a + b).tolist() == [2.0, None]


def test_in_place_wants_equal_masks() -> None:
    a = loup.MaskedTensor([1.0, 2.0], [True, False])
    with pytest.raises(ValueError, match=r"add_: expected an operand with the mask of what it is"):
        a.add_(loup.MaskedTensor([1.0, 2.0], [True, True]))
    with pytest.raises(TypeError, match=r"add: expected a plain tensor, got a MaskedTensor"):
        loup.ones((2,)).add_(a)
    assert a.get_data().tolist() == [1.0, 2.0]


def test_where_selects_data_and_mask() -> None:
    a = loup.MaskedTensor([1.0, 2.0, 3.0], [True, False, True], requires_grad=True)
    b = loup.MaskedTensor([4.0, 5.0, 6.0], [False, True, True], requires_grad=True)
    condition = loup.tensor([True, True, False])
    result = loup.where(condition, a, b)
    assert result.tolist() == [1.0, None, 6.0]
    assert a.where(condition, 0.0).tolist() == [1.0, None, 0.0]
    assert loup.where(condition, 7.0, b).tolist() == [7.0, 7.0, 6.0]
    result.sum().backward()
    assert a.grad.get_data().tolist() == [1.0, 0.0, 0.0]
    assert b.grad.get_data().tolist() == [0.0, 0.0, 1.0]


DIFFERENTIABLE = [name for name in UNARY if OPS[name]["differentiable"]]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_those_of_what_counts(name: str) -> None:
    x, (mask, _) = data(name), masks()
    plain = loup.tensor(x, requires_grad=True)
    getattr(loup, name)(plain).sum(mask=mask).backward()
    for poison in POISON:
        masked = loup.MaskedTensor(poisoned(x, mask, poison), mask, requires_grad=True)
        getattr(masked, name)().sum().backward()
        np.testing.assert_array_equal(masked.grad.get_mask().numpy(), mask)
        np.testing.assert_array_equal(
            masked.grad.get_data().numpy(), np.where(mask, plain.grad.numpy(), 0)
        )


def test_gradient_of_a_plain_leaf_is_plain_and_zero_where_masked() -> None:
    x = loup.tensor([1.0, np.nan, 3.0], requires_grad=True)
    m = loup.as_masked_tensor(x, [True, False, True])
    (m * m).sum().backward()
    assert isinstance(x.grad, loup.Tensor)
    assert x.grad.tolist() == [2.0, 0.0, 6.0]
