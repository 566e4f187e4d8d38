"""Runs tasks: builds the contestants, checks their results, times them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

from .case import OURS, Array, Case, Contest, Entry, NotOffered, OtherTask, Peer
from .limit import Limit
from .results import COMPANION, COMPANION_LIMIT, Result
from .settings import Settings
from .timing import DONE, Contestant, measure


@dataclass
class Notes:
    """What could not be measured and why: printed under the table."""

    reasons: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)  # tasks for which loup gave wrong values

    def add(self, who: str, reason: str, task: str) -> None:
        tasks = self.reasons.setdefault((who, reason), [])
        if task not in tasks:  # it may be measured a second time
            tasks.append(task)

    def lines(self) -> list[str]:
        return [f"{who}: {why}: {_short(t)}" for (who, why), t in self.reasons.items()]


def _short(tasks: list[str]) -> str:
    more = f" and {len(tasks) - 4} more" if len(tasks) > 4 else ""
    return ", ".join(tasks[:4]) + more


def _reason(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:160]}" if text else type(error).__name__


@dataclass
class _Task:
    """What the contestants of one task share."""

    contest: Contest
    case: Case
    expected: list[Array] | None
    result: Any = None  # of loup


class Runner:
    """Measures tasks one after the other, with the same notes and limit."""

    def __init__(self, settings: Settings, limit: Limit | None, notes: Notes) -> None:
        self.settings = settings
        self._notes = notes
        self._limit = limit
        self._missing: set[str] = set()

    def run(self, entry: Entry) -> Result:
        """Measure one task; where loup cannot do it, nothing is measured."""
        contest, case = entry.contest, entry.make()
        result = Result.of(entry, case)
        task = _Task(contest, case, contest.expected(case))
        if task.expected is None:
            self._notes.add("reference", "none, results are not checked", case.name)
        found = self._checked(Peer(OURS, "loup", contest.ours), task)
        if not found:
            return result
        found += self._companion(task)
        found += self._peers(task)
        if self._limit:
            found += self._limit.contestants(contest.passes(case, task.result))
        task.result = None
        result.contestants = found
        result.complete = self.settings.peers and not self._missing
        result.timings = measure(found, self.settings.pace(brief=contest.is_brief))
        for contestant in found:
            contestant.call = DONE  # results outlive their operands, which fill gigabytes
        return result

    def _companion(self, task: _Task) -> list[Contestant]:
        """Return loup and the limit on the same data as float32: what other dtypes are paced by."""
        plain = task.contest.companion(task.case)
        if plain is None:
            return []
        try:
            found = [Contestant(COMPANION, "loup", task.contest.ours(plain))]
        except Exception as error:  # whatever the library raises
            self._notes.add(COMPANION, _reason(error), task.case.name)
            return []
        if self._limit:
            call = self._limit.contestants(task.contest.passes(plain, None))[0].call
            found.append(Contestant(COMPANION_LIMIT, "loup", call))
        return found

    def _peers(self, task: _Task) -> list[Contestant]:
        found: list[Contestant] = []
        if not self.settings.peers:
            return found
        for peer in task.contest.peers(task.case):
            if peer.library not in self._missing and self._wanted(peer):
                found += self._checked(peer, task)
        return sorted(found, key=lambda each: each.library)

    def _wanted(self, peer: Peer) -> bool:
        if self.settings.tuned and peer.library != "torch":
            return False
        try:
            importlib.import_module(peer.library)
        except (ImportError, OSError) as error:
            self._missing.add(peer.library)
            self._notes.add(peer.library, f"not installed ({_reason(error)})", "every task")
            return False
        return True

    def _checked(self, peer: Peer, task: _Task) -> list[Contestant]:
        case, is_ours = task.case, peer.name == OURS
        try:
            call = peer.make(case)
            contestant = Contestant(peer.name, peer.library, call, peer.counted)
            result = call()
            if task.expected:
                contestant.error = task.contest.error(case, peer.library, result, task.expected)
        except OtherTask:
            return []
        except NotOffered as error:
            self._notes.add(peer.name, str(error), case.name)
            return []
        except Exception as error:  # whatever the library raises
            self._notes.add(peer.name, f"failed with {_reason(error)}", case.name)
            return []
        bound = task.contest.bounds(case)[0 if is_ours else 1]
        if contestant.error is not None and contestant.error > bound:
            off = f"wrong values, error {contestant.error:.1e} above {bound:.0e}, dropped"
            self._notes.add(peer.name, off, case.name)
            if is_ours:
                self._notes.wrong.add(case.name)
            return []
        if is_ours:
            task.result = result
        return [contestant]
