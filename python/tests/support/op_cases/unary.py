"""Every unary operator: its reference, one entry each."""

import numpy as np

from op_cases import special
from op_cases.elementwise import (
    AROUND_ZERO,
    BETWEEN_INTEGERS,
    FRACTION,
    POSITIVE,
    Elementwise,
)
from op_cases.values import largest

TO_RADIANS = special.PI / 180
TO_DEGREES = 180 / special.PI
INSIDE = ((-0.9, 0.9),)


def exact(reference, kind="numeric", domain=AROUND_ZERO, **more) -> Elementwise:
    return Elementwise(reference, kind, 0, (domain,), **more)


def smooth(reference, *domain, ulps=2.0, **more) -> Elementwise:
    return Elementwise(reference, "floating", ulps, (domain or ((-2.0, 2.0),),), **more)


def same(x: np.ndarray) -> np.ndarray:
    return x


def _nan_to_num(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "f":
        return x
    big = largest(str(x.dtype))
    return special.nan_to_num(x, 0, big, -big)


def _option(reference, **options):
    return options, lambda x: reference(x, **options)


UNARY: dict[str, Elementwise] = {
    "abs": exact(np.abs),
    "acos": smooth(np.arccos, *INSIDE),
    "acosh": smooth(np.arccosh, (1.2, 3)),
    "angle": exact(
        lambda x: np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(np.pi), 0)), "floating"
    ),
    "asin": smooth(np.arcsin, *INSIDE),
    "asinh": smooth(np.arcsinh),
    "atan": smooth(np.arctan),
    "atanh": smooth(np.arctanh, *INSIDE),
    "bitwise_not": exact(np.bitwise_not, "integral"),
    "ceil": exact(np.ceil, domain=BETWEEN_INTEGERS),
    "conj_physical": exact(same, "arithmetic"),
    "cos": smooth(np.cos),
    "cosh": smooth(np.cosh),
    "deg2rad": smooth(lambda x: x * TO_RADIANS),
    "digamma": smooth(lambda x: special.polygamma(0, x), *POSITIVE, (-0.7, -0.3)),
    "erf": smooth(special.erf),
    "erfc": smooth(special.erfc),
    "erfinv": smooth(special.erfinv, *INSIDE),
    "exp": smooth(np.exp),
    "exp2": smooth(np.exp2),
    "expm1": smooth(np.expm1),
    "floor": exact(np.floor, domain=BETWEEN_INTEGERS),
    "frac": exact(lambda x: x - np.trunc(x), domain=BETWEEN_INTEGERS, takes_integers=False),
    "gelu": smooth(special.gelu, options=(({"approximate": "tanh"}, special.gelu_tanh),)),
    "i0": smooth(lambda x: special.bessel(0, x)),
    "i1": smooth(lambda x: special.bessel(1, x)),
    "isfinite": exact(np.isfinite, "boolean"),
    "isinf": exact(np.isinf, "boolean"),
    "isnan": exact(np.isnan, "boolean"),
    "lgamma": smooth(special.lgamma, *POSITIVE, (-0.7, -0.3)),
    "log": smooth(np.log, *POSITIVE),
    "log10": smooth(np.log10, *POSITIVE),
    "log1p": smooth(np.log1p, (-0.8, 2)),
    "log2": smooth(np.log2, *POSITIVE),
    "logical_not": exact(np.logical_not, "boolean"),
    "logit": smooth(special.logit, *FRACTION, options=(_option(special.logit, eps=0.25),)),
    "nan_to_num": exact(
        _nan_to_num,
        "arithmetic",
        options=(_option(special.nan_to_num, nan=2.0, posinf=3.0, neginf=-4.0),),
    ),
    "neg": exact(np.negative),
    "polygamma": smooth(
        lambda x: special.polygamma(0, x),
        *POSITIVE,
        options=(
            ({"n": 1}, lambda x: special.polygamma(1, x)),
            ({"n": 2}, lambda x: special.polygamma(2, x)),
            ({"n": 5}, lambda x: special.polygamma(5, x)),
        ),
    ),
    "positive": exact(same),
    "rad2deg": smooth(lambda x: x * TO_DEGREES),
    "reciprocal": exact(lambda x: 1 / x, "floating"),
    "relu": exact(lambda x: np.where(x < 0, x.dtype.type(0), x)),
    "round": exact(np.rint, domain=BETWEEN_INTEGERS),
    "rsqrt": exact(lambda x: 1 / np.sqrt(x), "floating", POSITIVE),
    "sigmoid": smooth(special.sigmoid),
    "sign": exact(lambda x: np.where(np.isnan(x), x, np.sign(x)) + 0),
    "signbit": exact(np.signbit, "boolean"),
    "silu": smooth(special.silu),
    "sin": smooth(np.sin),
    "sinc": smooth(special.sinc),
    "sinh": smooth(np.sinh),
    "softplus": smooth(
        special.softplus, options=(_option(special.softplus, beta=2.0, threshold=1.0),)
    ),
    "sqrt": exact(np.sqrt, "floating", POSITIVE),
    "square": exact(np.square, domain=((-2.0, 2.0),)),
    "tan": smooth(np.tan, (-1.2, 1.2)),
    "tanh": smooth(np.tanh),
    "trunc": exact(np.trunc, domain=BETWEEN_INTEGERS),
}
