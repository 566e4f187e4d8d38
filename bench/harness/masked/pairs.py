"""Extremes in pairs and counts as a contest: beside torch and NumPy, whose masks are fillings."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import floors
from ..arrays import to_array
from ..case import Array, Entry, NotOffered, Pass, Peer
from ..timing import Call
from .peers import torch_tensors
from .tasks import Build, MaskedCase, dense

GROUP = "masked"


def _with_index(order: str) -> Callable[[Any, Any], tuple[Array, Array]]:
    fill = -math.inf if order == "max" else math.inf

    def exact(x: Array, mask: Array) -> tuple[Array, Array]:
        filled = np.where(mask, x, fill)
        return getattr(filled, order)(-1), getattr(filled, f"arg{order}")(-1)

    return exact


def _least_and_largest(x: Array, mask: Array) -> tuple[Array, Array]:
    return np.where(mask, x, math.inf).min(-1), np.where(mask, x, -math.inf).max(-1)


EXACT: dict[str, Callable[[Array, Array], tuple[Array, ...]]] = {
    "max": _with_index("max"),
    "min": _with_index("min"),
    "minmax": _least_and_largest,
    "count": lambda x, mask: (np.count_nonzero(mask, -1),),
}


def _torch(case: MaskedCase) -> Call:
    torch = importlib.import_module("torch")
    x, mask = torch_tensors(case)
    formulas: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
        "max": lambda x, m: torch.where(m, x, -math.inf).max(-1),
        "min": lambda x, m: torch.where(m, x, math.inf).min(-1),
        "minmax": lambda x, m: (
            torch.where(m, x, math.inf).amin(-1),
            torch.where(m, x, -math.inf).amax(-1),
        ),
        "count": lambda _, m: (m.sum(-1),),
    }
    return Call(formulas[case.op], (x, mask))


def _numpy(case: MaskedCase) -> Call:
    return Call(EXACT[case.op], (case.x, case.mask))


def _numpy_ma(case: MaskedCase) -> Call:
    x = np.ma.array(case.x, mask=~case.mask)
    calls: dict[str, Callable[[], tuple[Any, ...]]] = {
        "max": lambda: (x.max(-1), x.argmax(-1)),
        "min": lambda: (x.min(-1), x.argmin(-1)),
        "minmax": lambda: (x.min(-1), x.max(-1)),
        "count": lambda: (x.count(-1),),
    }
    return Call(calls[case.op])


def _bottleneck(case: MaskedCase) -> Call:
    bottleneck = importlib.import_module("bottleneck")
    if case.op == "count":
        raise NotOffered("counts no elements")
    x = np.where(case.mask, case.x, np.float32(np.nan))
    calls: dict[str, Callable[[], tuple[Any, ...]]] = {
        "max": lambda: (bottleneck.nanmax(x, -1), bottleneck.nanargmax(x, -1)),
        "min": lambda: (bottleneck.nanmin(x, -1), bottleneck.nanargmin(x, -1)),
        "minmax": lambda: (bottleneck.nanmin(x, -1), bottleneck.nanmax(x, -1)),
    }
    return Call(calls[case.op])


CONTESTANTS = [
    Peer("torch where", "torch", _torch),
    Peer("numpy by hand", "numpy", _numpy),
    Peer("numpy.ma", "numpy", _numpy_ma),
    Peer("bottleneck", "bottleneck", _bottleneck),
]


class PairContest:
    """Ops whose result is a pair, and the number of elements that count."""

    columns = "masked"
    is_brief = False
    is_tuned = False

    def ours(self, case: MaskedCase) -> Call:
        loup = importlib.import_module("loup")
        function = getattr(loup.masked, case.op)
        return Call(function, (loup.asarray(case.x), -1), {"mask": loup.asarray(case.mask)})

    def peers(self, case: MaskedCase) -> list[Peer]:
        return CONTESTANTS

    def expected(self, case: MaskedCase) -> list[Array] | None:
        return list(EXACT[case.op](case.x, case.mask))

    def error(self, case: MaskedCase, library: str, result: Any, expected: list[Array]) -> float:
        results = result if isinstance(result, tuple) else (result,)
        got = [to_array(library, each) for each in results]
        same = all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))
        return 0.0 if same else math.inf

    def bounds(self, case: MaskedCase) -> tuple[float, float]:
        return 0.0, 0.0

    def passes(self, case: MaskedCase, result: Any) -> list[Pass]:
        return case.passes

    def companion(self, case: MaskedCase) -> MaskedCase | None:
        return None

    def floor(self, case: MaskedCase) -> floors.Floor:
        return floors.masked(case.op, case.task)


CONTEST = PairContest()
TASKS = {
    "row": lambda op, task: dense(op, task, (4096, 4096), -1),
    "small": lambda op, task: dense(op, task, (1, 64), -1),
}


def _make(op: str, task: str, make: Build) -> MaskedCase:
    case = make(op, task)
    if op == "count":  # looks at the mask alone
        passes = [dataclasses.replace(one, spans=one.spans[1:]) for one in case.passes]
        return dataclasses.replace(case, passes=passes)
    return case


def entries(op: dict[str, Any]) -> Iterator[Entry]:
    """Yield every task of a listed op with two results, or of count."""
    if op["family"] != "pair" and op["name"] != "count":
        return
    name = op["name"]
    for task, make in TASKS.items():
        yield Entry(GROUP, name, task, CONTEST, lambda t=task, m=make: _make(name, t, m))
