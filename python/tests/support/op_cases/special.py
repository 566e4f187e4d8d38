"""Naive references of special functions, in long double where NumPy has that."""

import math
import statistics
from collections.abc import Callable

import numpy as np

from op_cases.values import FLOATS, largest

Real = np.longdouble
PI = Real("3.14159265358979323846264338327950288")
EULER = Real("0.57721566490153286060651209008240243")
# Bernoulli numbers B2, B4, …
_BERNOULLI = [
    Real(a) / Real(b)
    for a, b in [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)]
]


def by_element(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of one float for arrays; what it refuses is NaN."""

    def one(x: float) -> float:
        try:
            return function(float(x))
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return lambda x: np.vectorize(one, otypes=[float])(x).astype(Real)


def _with_rest(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    """erf or erfc of a long double: what a double leaves over is added by the slope."""

    def evaluate(x: np.ndarray) -> np.ndarray:
        double = x.astype(float)
        rest = np.where(np.isfinite(double), x - double, 0)
        sign = 1 if function is math.erf else -1
        slope = sign * 2 / np.sqrt(PI) * np.exp(-(np.asarray(double, Real) ** 2))
        return by_element(function)(double) + np.where(rest == 0, -0.0, slope * rest)

    return evaluate


erf = _with_rest(math.erf)
erfc = _with_rest(math.erfc)


@by_element
def erfinv(x: float) -> float:
    if not abs(x) < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    if abs(x) < 1e-9:
        return x * math.sqrt(math.pi) / 2
    half = statistics.NormalDist()
    y = -half.inv_cdf((1 - abs(x)) / 2) / math.sqrt(2)
    for _ in range(2):  # the tail is exact: 1 - x loses nothing
        excess = (1 - abs(x)) - math.erfc(y) if abs(x) > 0.5 else math.erf(y) - abs(x)
        y -= excess / (2 / math.sqrt(math.pi) * math.exp(-y * y))
    return math.copysign(y, x)


@by_element
def lgamma(x: float) -> float:
    is_pole = x == 0 or math.isinf(x) or (x < 0 and x == math.floor(x))
    if is_pole or x > 2.5e305:
        return math.inf
    return math.lgamma(x)


def gelu(x: np.ndarray) -> np.ndarray:
    return np.where(x == -np.inf, -0.0, x * erfc(-x / np.sqrt(Real(2))) / 2)


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    inner = np.sqrt(2 / PI) * (x + Real("0.044715") * x**3)
    return np.where(x == -np.inf, -0.0, x / (1 + np.exp(-2 * inner)))


def polygamma(n: int, x: np.ndarray) -> np.ndarray:
    """Derivative n of digamma by its recurrence and its asymptotic series; n = 0 is digamma."""
    x = np.asarray(x, Real)
    if n == 0:
        return _digamma(x)
    total = np.zeros_like(x)
    moved = x
    for _ in range(60):  # as many steps as lead from -40 to where the series is exact
        total += np.where(moved == 0, np.inf, moved ** -(n + 1))
        moved = moved + 1
    total = total * math.factorial(n)
    tail = math.factorial(n - 1) / moved**n + math.factorial(n) / (2 * moved ** (n + 1))
    for k, number in enumerate(_BERNOULLI, 1):
        factor = Real(math.factorial(2 * k + n - 1)) / math.factorial(2 * k)
        tail += number * factor / moved ** (2 * k + n)
    result = np.where(x == np.inf, 0, total + tail)
    return result if n % 2 == 1 else -result


def _digamma(x: np.ndarray) -> np.ndarray:
    is_left = x < 0
    moved = np.where(is_left, 1 - x, x)
    total = np.zeros_like(x)
    for _ in range(20):
        total -= 1 / moved
        moved = moved + 1
    total += np.log(moved) - 1 / (2 * moved)
    for k, number in enumerate(_BERNOULLI, 1):
        total -= number / (2 * k * moved ** (2 * k))
    # ψ(x) = ψ(1 - x) - π / tan(πx); the tangent from the nearest integer, where it is exact.
    rest = np.where(is_left & np.isfinite(x), x - np.rint(x), 0.25)
    total = np.where(is_left, total - PI / np.tan(PI * rest), total)
    is_pole = is_left & (x == np.rint(x))
    result = np.where(is_pole | (x == -np.inf), np.nan, total)
    result = np.where(x == 0, np.copysign(np.inf, -x), result)
    return np.where(x == np.inf, np.inf, result)


def bessel(order: int, x: np.ndarray) -> np.ndarray:
    """I0 or I1 by their power series, of which every term is positive."""
    x = np.asarray(x, Real)
    half = np.minimum(np.abs(x), 800) / 2
    term = half**order / math.factorial(order)
    total = term.copy()
    for k in range(1, 900):
        term = term * half / k * half / (k + order)
        total += term
    total = np.where(np.abs(x) > 800, np.inf, total)
    return np.where(np.isnan(x), x, np.copysign(total, x) if order % 2 == 1 else total)


def sinc(x: np.ndarray) -> np.ndarray:
    """From the nearest integer, where the sine is exact."""
    whole = np.where(np.isfinite(x), np.rint(x), 0)
    sine = np.sin(PI * (x - whole)) * np.where(whole % 2 == 0, 1, -1)
    return np.where(x == 0, 1, np.where(np.isinf(x), np.nan, sine / (PI * x)))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def silu(x: np.ndarray) -> np.ndarray:
    return np.where(x == -np.inf, -0.0, x * sigmoid(x))


def softplus(x: np.ndarray, beta: float = 1, threshold: float = 20) -> np.ndarray:
    scaled = beta * x
    return np.where(scaled > threshold, x, np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)


def logit(x: np.ndarray, eps: float | None = None) -> np.ndarray:
    if eps is not None:
        x = np.where(np.isnan(x), x, np.clip(x, eps, 1 - eps))
    # In the middle the quotient is near 1, and its logarithm loses digits.
    middle = np.log1p((2 * x - 1) / (1 - x))
    return np.where(np.abs(x - 0.5) < 0.25, middle, np.log(x / (1 - x)))


def round_decimals(x: np.ndarray, decimals: int = 0) -> np.ndarray:
    """In float64 for both floating types; what scaling makes infinite has no decimals to lose."""
    if x.dtype.kind != "f":
        return x
    result = np.round(x.astype(np.float64), decimals)
    return np.where(np.isfinite(result), result, x).astype(x.dtype)


def nan_to_num(
    x: np.ndarray,
    nan: float = 0,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    dtype: str,
) -> np.ndarray:
    if dtype not in FLOATS:
        return x
    posinf = largest(dtype) if posinf is None else posinf
    neginf = -largest(dtype) if neginf is None else neginf
    infinite = np.where(x < 0, neginf, posinf)
    return np.where(np.isnan(x), nan, np.where(np.isinf(x), infinite, x)).astype(x.dtype)


def nextafter(x: np.ndarray, y: np.ndarray, *, dtype: str) -> np.ndarray:
    if dtype != "bfloat16":
        return np.nextafter(x.astype(dtype), y.astype(dtype))
    # bfloat16 is the upper half of float32: its neighbours are 2^16 words apart.
    words = x.astype(np.float32).view(np.int32)
    step = np.where((y > x) == (x > 0), 1, -1) * 2**16
    moved = (words + step).astype(np.int32).view(np.float32)
    moved = np.where(x == 0, np.copysign(np.float32(2.0**-133), y), moved)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x == y, y, moved))


def pow_integers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By Python's integers, wrapped; 1 / x^-y towards 0 for negative y."""

    def power(base: int, exponent: int) -> int:
        if exponent < 0:
            return 0 if abs(base) != 1 else base ** (exponent % 2)
        return pow(base, exponent, 2**64)

    results = [power(int(a), int(b)) % 2**64 for a, b in zip(x.flat, y.flat, strict=True)]
    return np.array(results, np.uint64).astype(np.int64).astype(x.dtype).reshape(x.shape)


def floor_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The integer below the exact quotient; NaN where the remainder is."""
    if x.dtype != np.float32:
        return np.floor_divide(x, y)
    whole = np.floor(x.astype(Real) / y.astype(Real))
    whole = np.where(np.isinf(y) & np.isfinite(x) & (x * y < 0), -1, whole)
    return np.where(np.isinf(x) & (y != 0), np.nan, whole).astype(np.float32)


def trunc_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "f":
        return np.trunc(x / y)
    quotient = np.abs(x.astype(object)) // np.abs(y.astype(object))
    signed = np.where((x < 0) != (y < 0), -quotient, quotient)
    return (
        np.array([int(q) % 2**64 for q in signed.flat], np.uint64).astype(x.dtype).reshape(x.shape)
    )
