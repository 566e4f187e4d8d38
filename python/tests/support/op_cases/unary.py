"""Every unary operator: its reference, one entry each."""

from functools import partial

import numpy as np

from op_cases import special
from op_cases.elementwise import (
    AROUND_ZERO,
    BETWEEN_INTEGERS,
    FRACTION,
    POSITIVE,
    Elementwise,
)

TO_RADIANS = special.PI / 180
TO_DEGREES = 180 / special.PI
INSIDE = ((-0.9, 0.9),)


def exact(reference, kind="numeric", domain=AROUND_ZERO, **more) -> Elementwise:
    return Elementwise(reference, kind, 0, (domain,), **more)


def smooth(reference, *domain, ulps=2.0, **more) -> Elementwise:
    return Elementwise(reference, "floating", ulps, (domain or ((-2.0, 2.0),),), **more)


def same(x: np.ndarray) -> np.ndarray:
    return x


def _option(reference, **options):
    return options, partial(reference, **options)


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
    "digamma": smooth(
        partial(special.polygamma, 0), *POSITIVE, (-0.7, -0.3), ulps=4, absolute=True
    ),
    "erf": smooth(special.erf),
    "erfc": smooth(special.erfc),
    "erfinv": smooth(special.erfinv, *INSIDE, ulps=8),
    "exp": smooth(np.exp),
    "exp2": smooth(np.exp2),
    "expm1": smooth(np.expm1),
    "floor": exact(np.floor, domain=BETWEEN_INTEGERS),
    "frac": exact(lambda x: x - np.trunc(x), domain=BETWEEN_INTEGERS, takes_integers=False),
    "gelu": smooth(
        special.gelu,
        ulps=2000,
        single_ulps=4,
        options=(({"approximate": "tanh"}, special.gelu_tanh),),
    ),
    "i0": smooth(partial(special.bessel, 0), ulps=8),
    "i1": smooth(partial(special.bessel, 1), ulps=8),
    "isfinite": exact(np.isfinite, "boolean"),
    "isinf": exact(np.isinf, "boolean"),
    "isnan": exact(np.isnan, "boolean"),
    "lgamma": smooth(special.lgamma, *POSITIVE, (-0.7, -0.3), ulps=4, absolute=True),
    "log": smooth(np.log, *POSITIVE),
    "log10": smooth(np.log10, *POSITIVE),
    "log1p": smooth(np.log1p, (-0.8, 2)),
    "log2": smooth(np.log2, *POSITIVE),
    "logical_not": exact(np.logical_not, "boolean"),
    "logit": smooth(special.logit, *FRACTION, ulps=4, options=(_option(special.logit, eps=0.25),)),
    "nan_to_num": exact(
        special.nan_to_num,
        "arithmetic",
        asks_dtype=True,
        options=(_option(special.nan_to_num, nan=2.0, posinf=3.0, neginf=-4.0),),
    ),
    "neg": exact(np.negative),
    "polygamma": smooth(
        partial(special.polygamma, 0),
        *POSITIVE,
        ulps=64,
        absolute=True,
        prepare=lambda x: (
            np.where(x < -40, x.dtype.type(5), x),
        ),  # as far as the reference reaches
        options=tuple(({"n": n}, partial(special.polygamma, n)) for n in (1, 2, 5)),
    ),
    "positive": exact(same),
    "rad2deg": smooth(lambda x: x * TO_DEGREES),
    "reciprocal": exact(lambda x: 1 / x, "floating"),
    "relu": exact(lambda x: np.where(x < 0, x.dtype.type(0), x)),
    "round": exact(
        special.round_decimals,
        domain=BETWEEN_INTEGERS,
        options=tuple(_option(special.round_decimals, decimals=n) for n in (1, 3, -1)),
    ),
    "rsqrt": exact(lambda x: 1 / np.sqrt(x), "floating", POSITIVE),
    "sigmoid": smooth(special.sigmoid),
    "sign": exact(lambda x: np.where(np.isnan(x), x, np.sign(x)) + 0),
    "signbit": exact(np.signbit, "boolean"),
    "silu": smooth(special.silu, ulps=4),
    "sin": smooth(np.sin),
    "sinc": smooth(special.sinc, signed_zero=False),
    "sinh": smooth(np.sinh),
    "softplus": smooth(
        special.softplus, options=(_option(special.softplus, beta=2.0, threshold=1.0),)
    ),
    "sqrt": exact(np.sqrt, "floating", POSITIVE),
    "square": exact(np.square, domain=((-2.0, 2.0),)),
    "tan": smooth(np.tan, (-1.2, 1.2), single_ulps=2),
    "tanh": smooth(np.tanh),
    "trunc": exact(np.trunc, domain=BETWEEN_INTEGERS),
}
