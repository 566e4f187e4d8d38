"""All cases of an operator, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sweep import cases as single
from sweep import check as checked
from sweep import pairs
from sweep.cases import Case, parse

__all__ = ["OPS", "Result", "check", "parse", "sweep"]

CASES = 6000  # of each operator
OPS = (*single.OPS, "logaddexp")


@dataclass
class Result:
    """How many cases there were, who had a say, and what failed."""

    op: str
    cases: int = 0
    peers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        peers = ", ".join(f"{count} beside {name}" for name, count in self.peers.items())
        wrong = f"{len(self.failures)} wrong of " if self.failures else ""
        text = f"{self.op}: {wrong}{self.cases} cases"
        return f"{text}, {peers}" if peers else text


def check(case: Case) -> tuple[str | None, list[str]]:
    """Return what is wrong with one case, and which peers had a say."""
    return pairs.check(case) if case.op == "logaddexp" else checked.check(case)


def sweep(op: str, count: int = CASES) -> Result:
    """Run `count` cases of an operator."""
    result = Result(op)
    every = pairs.cases(count) if op == "logaddexp" else single.cases(op, count)
    for case in every:
        wrong, asked = check(case)
        result.cases += 1
        result.peers.update(asked)
        if wrong:
            result.failures.append(f"{wrong}\n  python -m sweep {str(case)!r}")
    return result
