"""What every task has: a name, the bytes that have to move, and contestants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .floors import Floor
from .timing import Call

Array = np.ndarray[Any, Any]
Span = tuple[int, int]  # address, bytes

OURS = "loup"


class NotOffered(Exception):
    """The library has no way to do this task."""


class OtherTask(Exception):
    """The contestant is meant for other tasks; nothing to report."""


@dataclass(frozen=True)
class Pass:
    """One walk over memory: "read", "copy" (as much is written) or "write"."""

    kind: str
    spans: list[Span]

    @property
    def moved(self) -> int:
        size = sum(size for _, size in self.spans)
        return 2 * size if self.kind == "copy" else size


def span(array: Array) -> Span:
    """Return where a dense array lies, whatever the order of its dims."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return low, high - low


def reading(*arrays: Array) -> Pass:
    """Return the pass that reads whole arrays."""
    return Pass("read", [span(array) for array in arrays])


@dataclass(kw_only=True)
class Case:
    """One task with its data."""

    op: str
    task: str
    dtype: str = "float32"
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.op}.{self.task}"

    def details(self) -> dict[str, Any]:
        """Return what the JSON file tells about the data."""
        return {"dtype": self.dtype}


@dataclass(frozen=True)
class Peer:
    """A named way to build the call for a case; raises NotOffered where there is none."""

    name: str
    library: str
    make: Callable[[Any], Call]
    counted: bool = True  # as a candidate for the best peer


class Contest(Protocol):
    """A kind of task: who takes part, and what is right."""

    columns: str  # of the table
    is_brief: bool  # hundreds of rows: short bursts
    is_tuned: bool  # measured beside tuned torch, too

    def ours(self, case: Any) -> Call: ...

    def peers(self, case: Any) -> list[Peer]: ...

    def expected(self, case: Any) -> list[Array] | None:
        """Return the right results in float64; None when nobody knows, [] when all are right."""

    def error(self, case: Any, library: str, result: Any, expected: list[Array]) -> float: ...

    def bounds(self, case: Any) -> tuple[float, float]:
        """Return the largest errors of loup and of its peers."""

    def passes(self, case: Any, result: Any) -> list[Pass]:
        """Return what the limit does, given loup's result; nothing where it says nothing."""

    def companion(self, case: Any) -> Any:
        """Return the same task in float32 where this one is paced by it, else None."""

    def floor(self, case: Any) -> Floor: ...


@dataclass(frozen=True)
class Entry:
    """A task that can be built."""

    group: str
    op: str
    task: str
    contest: Contest
    make: Callable[..., Any]

    @property
    def name(self) -> str:
        return f"{self.op}.{self.task}"


def pick(every: list[Entry], names: list[str]) -> list[Entry]:
    """Choose by group or op ("sum"), task ("row"), both ("sum row") or name ("sum.row").

    No names choose all. A name that is an op and a task ("all") is read both ways.
    """
    subjects = {name for entry in every for name in (entry.group, entry.op)}.intersection(names)
    tasks = {entry.task for entry in every}.intersection(names)
    whole = {entry.name for entry in every}.intersection(names)
    for name in names:
        if name not in subjects | tasks | whole:
            groups = ", ".join(dict.fromkeys(entry.group for entry in every))
            raise ValueError(
                f"bench: expected names of groups ({groups}), ops or tasks, got {name}; "
                "--list names all"
            )
    if not names:
        return every

    def is_wanted(entry: Entry, subjects: set[str], tasks: set[str]) -> bool:
        subject = entry.op in subjects or entry.group in subjects
        return (subject or not subjects) and (entry.task in tasks or not tasks)

    both = subjects & tasks
    readings = [each for each in ((subjects, tasks - both), (subjects - both, tasks)) if any(each)]
    chosen = [
        entry
        for entry in every
        if entry.name in whole or any(is_wanted(entry, *reading) for reading in readings)
    ]
    if not chosen:
        raise ValueError(
            f"bench: expected names that fit together, got {' '.join(names)}, which is no task"
        )
    return chosen
