"""The tensor's own operators as a contest: who takes part, and the list of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import floors
from ..case import Array, Entry, Pass, Peer, reading
from ..timing import Call
from . import copies, elementwise, gradients, index, linalg, nn, random, reference, shape, sort
from .data import Data
from .libraries import call_of, has
from .row import Row, TensorCase, arrays_in

Rows = dict[str, dict[str, Row]]

# Rows written out by the name of the op; operators of one and two arguments make their own.
OF_OPS: dict[str, Rows] = {
    "elementwise": elementwise.ROWS,
    "shape": shape.ROWS,
    "index": index.ROWS,
    "sort": sort.ROWS,
    "linalg": linalg.ROWS,
    "random": random.ROWS,
    "nn": nn.ROWS,
}
# Rows of what is no operator of the list.
OTHERS: dict[str, Rows] = {"copies": copies.ROWS, "gradients": gradients.ROWS}


class TensorContest:
    """One call, spelled by every library."""

    columns = "tensor"
    is_brief = True
    is_tuned = False

    def ours(self, case: TensorCase) -> Call:
        return call_of(case, "loup")

    def peers(self, case: TensorCase) -> list[Peer]:
        return [
            Peer(name, name, lambda case, name=name: call_of(case, name))
            for name in ("numpy", "torch", "jax")
            if name != "jax" or case.row.jax is not None
        ]

    def expected(self, case: TensorCase) -> list[Array] | None:
        return reference.reference(case)

    def error(self, case: TensorCase, library: str, result: Any, expected: list[Array]) -> float:
        return reference.error(reference.to_arrays(library, result), expected)

    def bounds(self, case: TensorCase) -> tuple[float, float]:
        ours, peers = reference.OURS[case.dtype], reference.PEERS[case.dtype]
        return (case.row.bound or ours), max(case.row.bound or 0.0, peers)

    def passes(self, case: TensorCase, result: Any) -> list[Pass]:
        if not case.row.has_limit:
            return []
        return [reading(*arrays_in(case.args)), Pass("write", [(0, result.nbytes)])]

    def companion(self, case: TensorCase) -> None:
        return None

    def floor(self, case: TensorCase) -> floors.Floor:
        has_numpy = has(case, "numpy")
        return floors.tensor(case.op, case.task, case.family, numpy_has_it=has_numpy)


CONTEST = TensorContest()


def _entry(group: str, op: dict[str, Any], task: str, row: Row) -> Entry:
    def make(shrink: int = 1) -> TensorCase:
        return TensorCase(
            op=op["name"],
            task=task,
            dtype=row.dtype,
            note=row.note,
            family=op["family"],
            aliases=tuple(op["aliases"]),
            row=row,
            args=row.args(Data(shrink)),
        )

    return Entry(group, op["name"], task, CONTEST, make)


def _rows(op: dict[str, Any]) -> Iterator[tuple[str, str, Row]]:
    for task, row in elementwise.rows(op).items():
        yield "elementwise", task, row
    for group, rows in OF_OPS.items():
        for task, row in rows.get(op["name"], {}).items():
            yield group, task, row


def entries(op: dict[str, Any]) -> Iterator[Entry]:
    """Yield the tasks of a listed op."""
    found = list(_rows(op))
    if not found:
        found = [(op["family"], task, row) for task, row in elementwise.plain_rows(op).items()]
    for group, task, row in found:
        yield _entry(group, op, task, row)


def others() -> Iterator[Entry]:
    """Yield the tasks of what is no operator of the list."""
    for group, rows in OTHERS.items():
        for name, tasks in rows.items():
            for task, row in tasks.items():
                op = {"name": name, "family": group, "aliases": []}
                yield _entry(group, op, task, row)
