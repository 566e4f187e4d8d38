"""Elements of every dtype, and comparisons that know how exact a dtype is.

bfloat16 has no NumPy dtype: its elements travel in arrays of float32 that hold nothing between two
numbers of bfloat16. All other dtypes travel as they are.
"""

import numpy as np

import loup

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", *INTEGERS, *FLOATS)

# bits of the significand, and the exponents of the smallest and of the largest number
_FORMS = {
    "float16": (11, -24, 16),
    "bfloat16": (8, -133, 128),
    "float32": (24, -149, 128),
    "float64": (53, -1074, 1024),
}


def carrier(dtype: str) -> str:
    """The NumPy dtype that elements of `dtype` travel in."""
    return "float32" if dtype == "bfloat16" else dtype


def compute_dtype(dtype: str) -> str:
    """What kernels compute with."""
    if dtype in FLOATS:
        return "float64" if dtype == "float64" else "float32"
    return "int64" if dtype == "int64" else "int32"


def largest(dtype: str) -> float:
    bits, _, end = _FORMS[dtype]
    return float(np.ldexp(1 - 2.0**-bits, end))


def spacing(values: np.ndarray, dtype: str) -> np.ndarray:
    """The distance between neighbours among the numbers of `dtype` around each value."""
    bits, least, _ = _FORMS[dtype]
    exponent = np.frexp(np.where(np.isfinite(values), values, 1))[1]
    return np.ldexp(np.longdouble(1), np.maximum(exponent - bits, least))


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """Reals as elements of `dtype`: the nearest, halves to even, once."""
    if dtype not in FLOATS:
        return values.astype(dtype)
    values = np.asarray(values, np.longdouble)
    step = spacing(values, dtype)
    # Of an infinite quotient the whole number is itself.
    result = np.where(np.isfinite(values), np.rint(values / step) * step, values)
    too_large = np.isfinite(values) & (np.abs(result) > largest(dtype))
    return np.where(too_large, np.copysign(np.inf, values), result).astype(carrier(dtype))


def specials(dtype: str) -> np.ndarray:
    """Extremes, neighbours of them, and what only floats have."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 10]
        return np.array([*near, *([-1, -2, -3, -7] if info.min < 0 else [])], dtype)
    bits, least, _ = _FORMS[dtype]
    tiny, big, eps = 2.0**least, largest(dtype), 2.0 ** (1 - bits)
    smallest_normal = 2.0 ** (least + bits - 1)
    sizes = [0, tiny, 3 * tiny, smallest_normal, eps, 0.5, 1 - eps / 2, 1, 1 + eps, 1.5, 2, 2.5]
    sizes += [3, np.pi, 10, 88, 100, 1 / eps, 1.5 / eps, big / 2, big, np.inf]
    signed = [sign * size for size in sizes for sign in (1.0, -1.0)]
    return rounded(np.array([*signed, np.nan]), dtype)


def sample(dtype: str, count: int, generator: np.random.Generator) -> np.ndarray:
    """Specials, and numbers of all sizes."""
    special = specials(dtype)
    if dtype in FLOATS:
        _, least, end = _FORMS[dtype]
        wide = np.exp2(generator.uniform(least, end, count // 4)) * generator.choice([-1, 1])
        usual = generator.normal(size=count // 2) * generator.choice([0.1, 1, 10], count // 2)
        small = generator.uniform(-1, 1, count - len(wide) - len(usual))
        random = rounded(np.concatenate([usual, small, wide]), dtype)
    elif dtype == "bool":
        random = generator.random(count) < 0.5
    else:
        info = np.iinfo(dtype)
        any_of_them = generator.integers(info.min, info.max, count, dtype, endpoint=True)
        small = generator.integers(max(info.min, -20), 21, count).astype(dtype)
        random = np.where(generator.random(count) < 0.5, any_of_them, small)
    return np.concatenate([special, random]).astype(carrier(dtype))


def tensor(array: np.ndarray, dtype: str | None = None) -> loup.Tensor:
    """A loup tensor of the elements; `dtype` is needed for bfloat16 only."""
    x = loup.asarray(np.array(array))
    return x.to(loup.bfloat16) if dtype == "bfloat16" else x


def array(x: loup.Tensor) -> np.ndarray:
    """The elements of a tensor as they travel."""
    x = x.detach()
    return np.array(x.float() if dtype_name(x) == "bfloat16" else x)


def dtype_name(x: loup.Tensor) -> str:
    return str(x.dtype).removeprefix("loup.")


def assert_same(result: loup.Tensor, expected: loup.Tensor, about: object = "") -> None:
    """Shape, dtype and bits; any NaN equals any other."""
    assert result.shape == expected.shape, about
    assert result.dtype == expected.dtype, about
    a, b = array(result), array(expected)
    same = (a == b) & (np.signbit(a) == np.signbit(b)) if a.dtype.kind == "f" else a == b
    if a.dtype.kind == "f":
        same |= np.isnan(a) & np.isnan(b)
    assert same.all(), (
        about,
        "differs",
        np.argwhere(~same)[:5].tolist(),
        a[~same][:5],
        b[~same][:5],
    )


def assert_near(
    result: np.ndarray,
    expected: np.ndarray,
    dtype: str,
    ulps: float,
    *,
    inputs: tuple[np.ndarray, ...] = (),
    signed_zero: bool = True,
    absolute: bool = False,
    about: object = "",
) -> None:
    """Elements of `dtype` against reals: within so many units of the last place, `absolute`: of
    the last place of 1 where a result is smaller."""
    wanted = np.asarray(expected, np.longdouble)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(wanted), 1) if absolute else wanted
        distance = np.abs(result - wanted) / spacing(size, dtype)
        near = (distance <= ulps) | (result == rounded(wanted, dtype))
        # Beyond the largest number rounding may go to it or to infinity.
        edge = np.isinf(result) & (np.abs(wanted) > largest(dtype))
        near |= edge & (np.sign(result) == np.sign(wanted))
    near |= np.isnan(result) & np.isnan(wanted)
    if signed_zero:
        near &= (result != 0) | (wanted != 0) | (np.signbit(result) == np.signbit(wanted))
    if near.all():
        return
    at = tuple(np.argwhere(~near)[0])
    values = [x[at] if np.ndim(x) else x for x in inputs]
    raise AssertionError(
        f"{about}: expected {wanted[at]!r} within {ulps} ulps, got {result[at]!r} "
        f"({float(distance[at]):.3g} ulps) at {at} of inputs {values!r}; {(~near).sum()} such"
    )
