"""Elementwise operators: every unary and binary one of the list in memory and in the cache.

An operator is measured on numbers inside its domain and by the name it has in each library; only
what differs from that is written down.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .data import Data
from .row import BY_NAME, Row, Spelling

SIZES = {"large": (4096, 1024), "cache": (64, 1024)}

Sample = Callable[..., tuple[Any, ...]]  # from Data and a shape to arguments


def _one(d: Data, *shape: int) -> tuple[Any, ...]:
    return (d.normal(*shape),)


def _two(d: Data, *shape: int) -> tuple[Any, ...]:
    return d.normal(*shape), d.normal(*shape, seed=2)


def _between(low: float, high: float) -> Sample:
    return lambda d, *shape: (d.uniform(low, high, *shape),)


def _integers(d: Data, *shape: int) -> tuple[Any, ...]:
    return d.integers(-1000, 1000, *shape), d.integers(0, 31, *shape, seed=2)


def _quotient(d: Data, *shape: int) -> tuple[Any, ...]:
    return d.eighths(-800, 800, *shape), d.eighths(1, 40, *shape, seed=2)


_POSITIVE, _UNIT = _between(0.1, 10), _between(-0.99, 0.99)

ARGUMENTS: dict[str, Sample] = {
    **dict.fromkeys(("log", "log2", "log10", "log1p", "sqrt", "rsqrt"), _POSITIVE),
    **dict.fromkeys(("lgamma", "digamma"), _POSITIVE),
    **dict.fromkeys(("acos", "asin", "atanh", "erfinv"), _UNIT),
    **dict.fromkeys(("floor_divide", "trunc_divide", "fmod", "remainder"), _quotient),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _integers),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), _integers),
    "acosh": _between(1.01, 10),
    "bitwise_not": lambda d, *shape: _integers(d, *shape)[:1],
    "logit": _between(0.01, 0.99),
    "polygamma": lambda d, *shape: (*_POSITIVE(d, *shape), 1),
    "pow": lambda d, *shape: (d.uniform(0.1, 4, *shape), d.normal(*shape, seed=2)),
}

NUMPY: dict[str, Spelling] = {"conj_physical": "conjugate", "eq": "equal"}

TORCH: dict[str, Spelling] = {
    "conj_physical": None,  # returns the tensor itself
    "positive": None,
    "polygamma": lambda x, n: x.polygamma(n),
    "trunc_divide": lambda x, y: x.div(y, rounding_mode="trunc"),
}

# float32 and float64 differ in what comes next, and in the last bits of large results.
EXACT = {"nextafter"}


def rows(op: dict[str, Any]) -> dict[str, Row]:
    """Return the rows that a unary or binary operator has by being in the list."""
    sample = {"unary": _one, "binary": _two}.get(op["family"])
    return _sized(ARGUMENTS.get(op["name"], sample), op["name"]) if sample else {}


def plain_rows(op: dict[str, Any]) -> dict[str, Row]:
    """Return the row of a function that needs nothing but one or two tensors."""
    parameters = op["signature"].strip("()").split(", ")
    needed = tuple(each for each in parameters if each != "*" and "=" not in each)
    sample = {("input",): _one, ("input", "other"): _two}.get(needed)
    if op["masked"] or sample is None:
        return {}
    return {"large": Row(lambda d: sample(d, *SIZES["large"]))}


def _sized(sample: Sample, name: str, **options: Any) -> dict[str, Row]:
    options = {"numpy": NUMPY.get(name, BY_NAME), "torch": TORCH.get(name, BY_NAME), **options}
    return {
        task: Row(
            lambda d, shape=shape: sample(d, *shape),
            is_exact=name in EXACT,
            has_limit=task == "large",
            **options,
        )
        for task, shape in SIZES.items()
    }


def _same(d: Data, *shape: int) -> tuple[Any, ...]:
    return d.normal(*shape), d.normal(*shape).copy()


def _add(d: Data, *shape: int) -> tuple[Any, ...]:
    """Return a large matrix and something that broadcasts to it."""
    return d.normal(4096, 1024), d.normal(*shape, seed=2)


def _halves(d: Data) -> tuple[Any, ...]:
    return tuple(x.astype(np.float16) for x in _two(d, 4096, 1024))


ROWS: dict[str, dict[str, Row]] = {
    "add": {
        "broadcast_row": Row(lambda d: _add(d, 1024), has_limit=True),
        "broadcast_column": Row(lambda d: _add(d, 4096, 1), has_limit=True),
        "transposed": Row(
            lambda d: (d.normal(2048, 2048), d.normal(2048, 2048, seed=2).T), has_limit=True
        ),
        "f16": Row(_halves, dtype="float16", has_limit=True),
        "in_place": Row(
            lambda d: _two(d, 4096, 1024),
            loup="Tensor.add_",
            numpy=lambda x, y: np.add(x, y, out=x),
            torch="Tensor.add_",
            writes=True,
        ),
        "small": Row(lambda d: _two(d, 64)),
        "small_operator": Row(
            lambda d: _two(d, 64), loup=operator.add, numpy=operator.add, torch=operator.add
        ),
    },
    "exp": {"small": Row(lambda d: _one(d, 64))},
    "where": _sized(lambda d, *shape: (d.mask(*shape), *_two(d, *shape)), "where"),
    "clamp": _sized(lambda d, *shape: (*_one(d, *shape), -1.0, 1.0), "clamp", numpy="clip"),
    "clip": _sized(lambda d, *shape: (*_one(d, *shape), -1.0, 1.0), "clip"),
    "lerp": _sized(lambda d, *shape: (*_two(d, *shape), 0.3), "lerp"),
    "any": {"large": Row(lambda d: (np.zeros_like(d.normal(4096, 1024)),))},
    "all": {"large": Row(lambda d: _one(d, 4096, 1024))},
    "equal": {"large": Row(lambda d: _same(d, 4096, 1024), numpy="array_equal")},
    "isclose": {"large": Row(lambda d: _two(d, 4096, 1024))},
    "allclose": {"large": Row(lambda d: _same(d, 4096, 1024))},
}
