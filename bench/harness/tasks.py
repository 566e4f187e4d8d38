"""The list of tasks: those of every listed op, and those of what is no op."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .case import Entry
from .masked import contest as masked
from .masked import lines, pairs, ranks
from .shm import contest as shm
from .tensor import contest as tensor


def of_op(op: dict[str, Any]) -> list[Entry]:
    """Return the tasks of one op, as the library lists it."""
    contests = (masked, pairs, lines, ranks, tensor)
    return [entry for contest in contests for entry in contest.entries(op)]


def entries(ops: list[dict[str, Any]]) -> Iterator[Entry]:
    """Yield every task."""
    for op in ops:
        yield from of_op(op)
    yield from tensor.others()
    yield from shm.entries()


def without_tasks(ops: list[dict[str, Any]]) -> list[str]:
    """Return the names of the ops that have no tasks yet."""
    return [op["name"] for op in ops if not of_op(op)]
