"""Masked reductions as a contest: who takes part, what is right, and the list of tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import floors
from ..arrays import to_array
from ..case import Array, Entry, Pass, Peer, reading
from ..timing import Call
from . import by_hand, peers, reference
from .tasks import Build, MaskedCase, tasks_of

GROUP = "masked"


class MaskedContest:
    """Every op of a family of reductions, beside whoever reduces where a mask is true."""

    columns = "masked"
    is_brief = False
    is_tuned = True

    def ours(self, case: MaskedCase) -> Call:
        return peers.ours(case)

    def peers(self, case: MaskedCase) -> list[Peer]:
        return [*peers.PEERS, *by_hand.by_hand(case.op)]

    def expected(self, case: MaskedCase) -> list[Array] | None:
        found = reference.reference(case)
        return None if found is None else [found]

    def error(self, case: MaskedCase, library: str, result: Any, expected: list[Array]) -> float:
        return reference.error(case, to_array(library, result), expected[0])

    def bounds(self, case: MaskedCase) -> tuple[float, float]:
        return reference.bounds(case)

    def passes(self, case: MaskedCase, result: Any) -> list[Pass]:
        return case.passes

    def companion(self, case: MaskedCase) -> MaskedCase | None:
        if case.dtype == "float32":
            return None
        x = case.x.astype(np.float32)
        return dataclasses.replace(case, x=x, dtype="float32", passes=[reading(x, case.mask)])

    def floor(self, case: MaskedCase) -> floors.Floor:
        return floors.masked(case.op, case.task)


CONTEST = MaskedContest()


def _entry(op: str, task: str, make: Build) -> Entry:
    return Entry(GROUP, op, task, CONTEST, lambda: make(op, task))


def entries(op: dict[str, Any]) -> Iterator[Entry]:
    """Yield every task of a listed op whose family has masked tasks."""
    for task, make in tasks_of(op["name"], op["family"]).items():
        if task != "backward" or op["differentiable"]:
            yield _entry(op["name"], task, make)
