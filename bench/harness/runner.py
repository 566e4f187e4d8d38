"""Runs tasks: builds the contestants, checks their results, times them."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from . import by_hand, peers, reference
from .limit import Limit
from .results import COMPANION, COMPANION_LIMIT, Result
from .settings import Settings
from .tasks import FAMILIES, Array, Case, Entry, reading
from .timing import Contestant, measure


@dataclass
class Notes:
    """What could not be measured and why: printed under the table."""

    reasons: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)  # tasks for which loup gave wrong values

    def add(self, who: str, reason: str, task: str) -> None:
        self.reasons.setdefault((who, reason), []).append(task)

    def lines(self) -> list[str]:
        return [f"{who}: {why}: {_short(t)}" for (who, why), t in self.reasons.items()]


def _short(tasks: list[str]) -> str:
    more = f" and {len(tasks) - 4} more" if len(tasks) > 4 else ""
    return ", ".join(tasks[:4]) + more


def _reason(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:160]}" if text else type(error).__name__


class Runner:
    """Measures tasks one after the other, with the same notes and limit."""

    def __init__(self, settings: Settings, limit: Limit | None) -> None:
        self.settings = settings
        self.notes = Notes()
        self._limit = limit
        self._missing: set[str] = set()

    def run(self, entry: Entry) -> Result:
        """Measure one task."""
        case = entry.build()
        result = Result.of(case)
        expected = reference.reference(case)
        if expected is None:
            self.notes.add("reference", "none, results are not checked", case.name)
        found = self._ours(case, expected)
        if case.dtype != "float32":
            found += self._companion(case)
        found += self._peers(case, expected)
        if self._limit and case.task != "small":
            found += self._limit.contestants(case)
        result.contestants = found
        result.complete = self.settings.peers and not self._missing
        result.timings = measure(found, self.settings)
        return result

    def _ours(self, case: Case, expected: Array | None) -> list[Contestant]:
        peer = peers.Peer(peers.OURS, "loup", peers.ours)
        return self._checked(peer, case, expected, reference.OURS)

    def _companion(self, case: Case) -> list[Contestant]:
        """Return loup and the limit on the same data as float32: what other dtypes are paced by."""
        plain = dataclasses.replace(case, x=case.x.astype(np.float32), dtype="float32")
        plain.passes = [reading(plain.x, plain.mask)]
        try:
            found = [Contestant(COMPANION, "loup", peers.ours(plain))]
        except Exception as error:  # whatever the library raises
            self.notes.add(COMPANION, _reason(error), case.name)
            return []
        if self._limit:
            call = self._limit.contestants(plain)[0].call
            found.append(Contestant(COMPANION_LIMIT, "loup", call))
        return found

    def _peers(self, case: Case, expected: Array | None) -> list[Contestant]:
        found: list[Contestant] = []
        if not self.settings.peers:
            return found
        for peer in (*peers.PEERS, *by_hand.BY_HAND.get(case.op, [])):
            if peer.library not in self._missing and self._wanted(peer):
                found += self._checked(peer, case, expected, reference.PEERS)
        return sorted(found, key=lambda each: each.library)

    def _wanted(self, peer: peers.Peer) -> bool:
        if self.settings.tuned and peer.library != "torch":
            return False
        try:
            importlib.import_module(peer.library)
        except (ImportError, OSError) as error:
            self._missing.add(peer.library)
            self.notes.add(peer.library, f"not installed ({_reason(error)})", "every task")
            return False
        return True

    def _checked(
        self, peer: peers.Peer, case: Case, expected: Array | None, allowed: dict[str, float]
    ) -> list[Contestant]:
        try:
            call = peer.make(case)
            contestant = Contestant(peer.name, peer.library, call, peer.counted)
            if expected is not None:
                got = peers.to_array(peer.library, call())
                contestant.error = reference.error(case, got, expected)
            else:
                call()
        except peers.OtherTask:
            return []
        except peers.NotOffered as error:
            self.notes.add(peer.name, str(error), case.name)
            return []
        except Exception as error:  # whatever the library raises
            self.notes.add(peer.name, f"failed with {_reason(error)}", case.name)
            return []
        bound = allowed[case.dtype]
        if contestant.error is not None and contestant.error > bound:
            off = f"wrong values, error {contestant.error:.1e} above {bound:.0e}, dropped"
            self.notes.add(peer.name, off, case.name)
            if peer.name == peers.OURS:
                self.notes.wrong.append(case.name)
            return []
        return [contestant]


def without_tasks(ops: list[dict[str, str]]) -> Iterator[str]:
    """Yield a note for every op whose family has no tasks yet."""
    for op in ops:
        if op["family"] not in FAMILIES:
            yield f"{op['name']}: no tasks for the family {op['family']}"
