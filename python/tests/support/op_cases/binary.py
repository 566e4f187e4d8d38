"""Every binary operator: its reference, one entry each."""

import numpy as np

from op_cases import special
from op_cases.elementwise import ANYWHERE, AROUND_ZERO, POSITIVE, Elementwise

# Operands between which no comparison changes and no quotient is a whole number.
APART = (((0.2, 0.9), (2.1, 2.9)), ((1.1, 1.9), (-1.9, -1.1)))


def exact(reference, kind="arithmetic", domains=(ANYWHERE, ANYWHERE), **more) -> Elementwise:
    return Elementwise(reference, kind, 0, domains, **more)


def smooth(reference, *domains, ulps=2.0, **more) -> Elementwise:
    return Elementwise(reference, "floating", ulps, domains or (ANYWHERE, ANYWHERE), **more)


def other_than_zero(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Integers have no quotient by 0."""
    return (x, np.where(y == 0, y.dtype.type(3), y) if y.dtype.kind != "f" else y)


def counts(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Shifts by -3 to 70 places."""
    return (x, np.abs(y.astype(np.int64) % 70).astype(y.dtype))


def _shift(reference):
    """Of bool as of its integers."""
    return lambda x, y: reference(x, y).astype(bool) if x.dtype == bool else reference(x, y)


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.remainder(x, y)


def _pow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.power(x, y) if x.dtype.kind == "f" else special.pow_integers(x, y)


BINARY: dict[str, Elementwise] = {
    "add": exact(np.add),
    "atan2": smooth(np.arctan2, AROUND_ZERO, AROUND_ZERO),
    "bitwise_and": exact(np.bitwise_and, "integral"),
    "bitwise_left_shift": exact(_shift(np.left_shift), "integral", prepare=counts),
    "bitwise_or": exact(np.bitwise_or, "integral"),
    "bitwise_right_shift": exact(_shift(np.right_shift), "integral", prepare=counts),
    "bitwise_xor": exact(np.bitwise_xor, "integral"),
    "div": exact(np.true_divide, "floating", (ANYWHERE, AROUND_ZERO)),
    "eq": exact(np.equal, "boolean"),
    "floor_divide": exact(special.floor_divide, "numeric", APART, prepare=other_than_zero),
    "fmax": exact(np.fmax, domains=APART, signed_zero=False),
    "fmin": exact(np.fmin, domains=APART, signed_zero=False),
    "fmod": exact(np.fmod, "numeric", APART, prepare=other_than_zero),
    "ge": exact(np.greater_equal, "boolean"),
    "gt": exact(np.greater, "boolean"),
    "le": exact(np.less_equal, "boolean"),
    "logaddexp": smooth(np.logaddexp, absolute=True),
    "logaddexp2": smooth(np.logaddexp2, absolute=True),
    "logical_and": exact(np.logical_and, "boolean"),
    "logical_or": exact(np.logical_or, "boolean"),
    "logical_xor": exact(np.logical_xor, "boolean"),
    "lt": exact(np.less, "boolean"),
    "maximum": exact(np.maximum, domains=APART, signed_zero=False),
    "minimum": exact(np.minimum, domains=APART, signed_zero=False),
    "mul": exact(np.multiply),
    "ne": exact(np.not_equal, "boolean"),
    "nextafter": exact(special.nextafter, "floating", asks_dtype=True, signed_zero=False),
    "pow": Elementwise(_pow, "numeric", 2.0, (POSITIVE, ANYWHERE)),
    "remainder": exact(_remainder, "numeric", APART, prepare=other_than_zero),
    "sub": exact(np.subtract, "numeric"),
    "trunc_divide": exact(special.trunc_divide, "numeric", APART, prepare=other_than_zero),
}
