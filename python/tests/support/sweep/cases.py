"""The cases of the sweep: operator x dtype x shape and dims x strides x mask, each one line of text."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
EVERY = ("bool", *INTEGERS, *FLOATS)
REAL = (*INTEGERS, *FLOATS)

STRIDES = ("contiguous", "transposed", "sliced", "stepped", "expanded", "backward")
MASKS = (
    "none",
    "full",
    "first repeated",
    "middle repeated",
    "last repeated",
    "lower rank",
    "all",
    "nothing",
    "integers",
    "expanded",
    "transposed",
    "stepped",
    "whole slices",
)
VALUES = ("plain", "ties", "special")
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (2,),
    (67,),
    (3, 5),
    (5, 5),
    (4, 37),
    (3, 2, 1, 2),
    (5, 10, 5),
    (2, 3, 70),
    (5, 0),
    (0, 3, 2),
)

ANY_DIMS = "any dims"
ONE_OR_NONE = "one dim or none"
ONE = "one dim"
SOME = "some dims"


@dataclass(frozen=True)
class Op:
    """What an operator accepts; `options` are the keywords that are swept over."""

    dims: str
    dtypes: tuple[str, ...]
    options: tuple[dict[str, Any], ...] = ({},)
    differentiable: bool = True


def _options(**values: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(
        dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())
    )


INF = float("inf")
KEEP = (False, True)
_REDUCE = _options(keepdim=KEEP)
_CAST = _options(keepdim=KEEP, dtype=(None, None, "float64", "float32", "float16"))
_INT_CAST = _options(keepdim=KEEP, dtype=(None, None, "float64", "int64", "int8", "float32"))
_LINE = _options(dtype=(None, None, "float64", "float32", "bfloat16"))

OPS: dict[str, Op] = {
    "sum": Op(ANY_DIMS, EVERY, _INT_CAST),
    "prod": Op(ANY_DIMS, EVERY, _INT_CAST),
    "mean": Op(ANY_DIMS, EVERY, _CAST),
    "amax": Op(ANY_DIMS, EVERY, _REDUCE),
    "amin": Op(ANY_DIMS, EVERY, _REDUCE),
    "argmax": Op(ONE_OR_NONE, EVERY, _REDUCE, differentiable=False),
    "argmin": Op(ONE_OR_NONE, EVERY, _REDUCE, differentiable=False),
    "median": Op(ONE, EVERY, _REDUCE),
    "var": Op(ANY_DIMS, EVERY, _options(keepdim=KEEP, correction=(0, 1, 2, 0.5))),
    "std": Op(ANY_DIMS, EVERY, _options(keepdim=KEEP, correction=(0, 1, 2, 0.5))),
    "norm": Op(ANY_DIMS, FLOATS, _options(keepdim=KEEP, ord=(2, 1, 0, INF, -INF, 3, 0.5, -1, -2))),
    "logsumexp": Op(ANY_DIMS, EVERY, _REDUCE),
    "cumsum": Op(ONE, EVERY, _options(dtype=(None, None, "float64", "int64", "int8", "float32"))),
    "cumprod": Op(ONE, EVERY, _options(dtype=(None, None, "float64", "int64", "float32"))),
    "softmax": Op(ONE, EVERY, _LINE),
    "log_softmax": Op(ONE, EVERY, _LINE),
    "softmin": Op(ONE, EVERY, _LINE),
    "normalize": Op(SOME, FLOATS, _options(ord=(2, 1, INF, 3, 0.5), eps=(1e-12, 2.0))),
    "any": Op(ANY_DIMS, EVERY, _REDUCE, differentiable=False),
    "all": Op(ANY_DIMS, EVERY, _REDUCE, differentiable=False),
    "count": Op(ANY_DIMS, EVERY, _REDUCE, differentiable=False),
}


@dataclass(frozen=True)
class Case:
    """One call. Data and mask depend on nothing but this."""

    op: str
    dtype: str
    shape: tuple[int, ...]
    dims: Any
    strides: str
    mask: str
    values: str
    options: dict[str, Any]
    number: int

    def __str__(self) -> str:
        """The line that a failure prints, and that runs the case alone."""
        return repr({each.name: getattr(self, each.name) for each in fields(self)})


def parse(line: str) -> Case:
    """Return the case that printed `line`."""
    return Case(**eval(line, {"inf": INF, "__builtins__": {}}))


def _dims(kind: str, ndim: int) -> list[Any]:
    each: list[Any] = [0, -1] if ndim == 0 else [*range(ndim), -1]
    if kind == ONE:
        return each
    if kind == ONE_OR_NONE:
        return [None, *each]
    several = {
        0: [()],
        1: [(0,)],
        2: [(0, -1), (1, 0)],
        3: [(0, -1), (2, 1), (-2, 0), (2, 0, 1)],
        4: [(0, -1), (0, 2), (3, 1), (-1, 2, 0), (0, 1, 2, 3)],
    }[ndim]
    if kind == SOME:
        return [*each, *(dims for dims in several if dims)]
    return [None, *each, *several]


def cases(op: str, count: int) -> Iterator[Case]:
    """Yield `count` cases, drawn from the product of all axes; always the same ones."""
    about = OPS[op]
    places = [(shape, dims) for shape in SHAPES for dims in _dims(about.dims, len(shape))]
    every = list(itertools.product(about.dtypes, places, STRIDES, MASKS))
    chosen = sorted(random.Random(op).sample(range(len(every)), count))
    for taken, number in enumerate(chosen):
        dtype, (shape, dims), strides, mask = every[number]
        options = about.options[taken % len(about.options)]
        values = VALUES[(taken // 2) % 3]
        if op in ("prod", "cumprod") and values == "special" and dtype in INTEGERS:
            values = "ties"  # whether such products overflow depends on their order
        yield Case(op, dtype, shape, dims, strides, mask, values, options, number)
