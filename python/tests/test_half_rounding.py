"""Numbers become float16 and bfloat16 by one rounding, to nearest and ties to even."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest

import loup


def bfloat16(value: float) -> float:
    """The nearest bfloat16 of a number, ties to even, by exact arithmetic."""
    exact = Fraction(value)
    magnitude = abs(exact)
    if magnitude == 0:
        return float(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, -126) - 7)
    rounded = round(magnitude / step) * step  # Python's round takes ties to even
    result = float("inf") if rounded >= Fraction(2) ** 128 else float(rounded)
    return -result if exact < 0 else result


def around_ties(digits: int, exponents: Iterable[int]) -> np.ndarray:
    """Middles of neighbours with so many digits, and doubles that are barely off."""
    generator = np.random.default_rng(0)
    values = []
    for exponent in exponents:
        for mantissa in generator.integers(2 ** (digits - 1), 2**digits, 40):
            middle = (float(mantissa) + 0.5) * 2.0 ** (int(exponent) - digits + 1)
            for off in (0.0, 2.0**-40, -(2.0**-40), 2.0**-52, -(2.0**-52)):
                values.append(middle * (1 + off))
    values = np.array(values)
    return np.concatenate([values, -values])


def float16_cases() -> np.ndarray:
    generator = np.random.default_rng(1)
    ordinary = generator.standard_normal(20000) * 2.0 ** generator.integers(-30, 17, 20000)
    ends = [0.0, -0.0, 65504.0, 65519.99999999999, 65520.0, 2.0**-25, np.nextafter(2.0**-25, 1)]
    ends += [1e300, -1e300, 1e-300, 5e-324, np.inf, -np.inf]
    return np.concatenate([ordinary, around_ties(11, range(-26, 16)), ends])


def bfloat16_cases() -> np.ndarray:
    generator = np.random.default_rng(2)
    ordinary = generator.standard_normal(2000) * 2.0 ** generator.integers(-140, 128, 2000)
    subnormal = (generator.integers(0, 130, 500) + 0.5) * 2.0**-133
    subnormal = np.concatenate([subnormal, np.nextafter(subnormal, 0), np.nextafter(subnormal, 1)])
    ends = [0.0, 2.0**-134, np.nextafter(2.0**-134, 0), np.nextafter(2.0**-134, 1), 2.0**-149]
    largest = (2 - 2.0**-8) * 2.0**127
    ends += [largest, np.nextafter(largest, 0), 2.0**128, 1e300, -1e300, 1e-310, 5e-324]
    return np.concatenate([ordinary, around_ties(8, range(-135, 128, 3)), subnormal, ends])


def test_a_number_becomes_a_bfloat16_by_one_rounding() -> None:
    assert loup.tensor(1 + 2**-8 + 2**-40, dtype=loup.bfloat16).item() == 1.0078125


def test_a_number_becomes_a_float16_by_one_rounding() -> None:
    assert loup.tensor([1 + 2**-11 + 2**-40], dtype=loup.float16).item() == 1 + 2**-10


def test_float64_becomes_float16_as_in_numpy() -> None:
    x = float16_cases()
    with np.errstate(over="ignore", under="ignore"):
        wanted = x.astype(np.float16)
    got = loup.tensor(x).to(loup.float16).numpy()
    np.testing.assert_array_equal(got.view(np.uint16), wanted.view(np.uint16))


@pytest.mark.parametrize("view", ["stepped", "reversed", "transposed"])
def test_views_become_float16_as_in_numpy(view: str) -> None:
    x = around_ties(11, range(-3, 3))[: 48 * 45].reshape(48, 45)
    views = {"stepped": x[:, ::2], "reversed": x[::-1, ::-1], "transposed": x.T}
    got = loup.asarray(views[view]).to(loup.float16).numpy()
    np.testing.assert_array_equal(got, views[view].astype(np.float16))


def test_results_that_are_written_into_half_types_are_rounded_once() -> None:
    x = around_ties(11, range(-3, 3))
    got = loup.zeros(x.shape, dtype=loup.float16)
    got.copy_(loup.tensor(x))
    np.testing.assert_array_equal(got.numpy(), x.astype(np.float16))
    assert loup.full((3,), 1 + 2**-11 + 2**-40, dtype=loup.float16).tolist() == [1 + 2**-10] * 3


def test_lists_become_float16_as_in_numpy() -> None:
    x = around_ties(11, range(-3, 3))
    got = loup.tensor(x.tolist(), dtype=loup.float16).numpy()
    np.testing.assert_array_equal(got, x.astype(np.float16))


def test_float64_becomes_the_nearest_bfloat16() -> None:
    x = bfloat16_cases()
    wanted = [bfloat16(value) for value in x.tolist()]
    got = loup.tensor(x).to(loup.bfloat16).to(loup.float64).numpy()
    np.testing.assert_array_equal(got, wanted)


def test_nan_stays_nan_of_its_sign() -> None:
    x = np.full(129, -np.nan)  # whole vectors, and one more
    for dtype in (loup.float16, loup.bfloat16):
        got = loup.tensor(x).to(dtype).to(loup.float32).numpy()
        assert np.isnan(got).all()
        assert np.signbit(got).all()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_become_the_nearest_bfloat16(dtype: str) -> None:
    bits = np.iinfo(dtype).bits
    generator = np.random.default_rng(3)
    values = [0, 1, -1, np.iinfo(dtype).max, np.iinfo(dtype).min]
    for exponent in range(8, bits - 1):
        for mantissa in generator.integers(128, 256, 40):
            middle = int(2 * mantissa + 1) << (exponent - 8)
            values += [sign * (middle + off) for sign in (1, -1) for off in (-1, 0, 1)]
    x = np.array([value for value in values if abs(value) < 2 ** (bits - 1)], dtype)
    got = loup.tensor(x).to(loup.bfloat16).to(loup.float64).numpy()
    np.testing.assert_array_equal(got, [bfloat16(value) for value in x.tolist()])


def test_arithmetic_of_half_types_is_that_of_float32() -> None:
    generator = np.random.default_rng(4)
    a, b = generator.standard_normal((2, 5000)).astype(np.float32)
    for dtype in (loup.float16, loup.bfloat16):
        x, y = loup.tensor(a).to(dtype), loup.tensor(b).to(dtype)
        wide_x, wide_y = x.to(loup.float32), y.to(loup.float32)
        for op in (loup.add, loup.mul, loup.sub, loup.div):
            got, wanted = op(x, y), op(wide_x, wide_y).to(dtype)
            np.testing.assert_array_equal(
                got.to(loup.float32).numpy(), wanted.to(loup.float32).numpy()
            )
