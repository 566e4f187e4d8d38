"""One run of the benchmark: the tasks picked, the tuned process, and the report."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import machine, table, tuned
from .case import Entry, pick
from .limit import Limit, LimitError, find
from .results import Result
from .runner import Notes, Runner
from .settings import Settings
from .tasks import entries, without_tasks


@dataclass
class Report:
    """Everything that a run has to say."""

    machine: dict[str, Any]
    settings: Settings
    results: list[Result]
    notes: Notes
    remarks: list[str]

    def text(self) -> str:
        """Return the table with its head and its notes."""
        notes = [f"{r.name}: {r.note}" for r in self.results if r.note]
        notes += [f"{r.name}: {note}" for r in self.results for note in r.uncounted()]
        notes += self.remarks + self.notes.lines()
        parts = [table.head(self.machine), "", table.render(self.results), ""]
        return "\n".join([*parts, *(f"- {note}" for note in notes)]).rstrip()

    def failures(self, allow_missing: bool) -> list[str]:
        """Return a line for every floor that was not met."""
        return [
            f"{result.name}: {verdict}"
            for result in self.results
            for verdict in result.verdicts()
            if not verdict.met and not (allow_missing and verdict.value is None)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the content of the JSON file."""
        return {
            "machine": self.machine,
            "settings": {"quick": self.settings.quick},
            "tasks": [result.to_json() for result in self.results],
            "notes": self.remarks + self.notes.lines(),
        }


class Session:
    """Runs what the command line asks for."""

    def __init__(self, settings: Settings, root: Path) -> None:
        self._settings = settings
        self._root = root
        self._remarks: list[str] = []
        self._notes = Notes()

    def run(self, options: argparse.Namespace) -> Report | None:
        """Measure the tasks picked; only list them if so asked."""
        ops = [dict(op) for op in importlib.import_module("loup").ops()]
        chosen = pick(list(entries(ops)), options.names)
        self._remarks += [f"{name}: has no tasks" for name in without_tasks(ops)]
        if options.list:
            print("\n".join(entry.name for entry in chosen))
            return None
        machine.set_threads(self._settings.threads)
        description = machine.describe(self._settings.threads)
        limit = self._load_limit()
        results = self._measure(chosen, self._settings, limit)
        if not (self._settings.quick or self._settings.tuned):
            results = self._again(chosen, results, limit)
        description["load_after"] = os.getloadavg()
        return Report(description, self._settings, results, self._notes, self._remarks)

    def _measure(
        self, chosen: list[Entry], settings: Settings, limit: Limit | None
    ) -> list[Result]:
        runner = Runner(settings, limit, self._notes)
        results = []
        for entry in chosen:
            start = time.perf_counter()
            results.append(runner.run(entry))
            seconds = time.perf_counter() - start
            print(f"{entry.name}: {seconds:.1f} s", file=sys.stderr, flush=True)
        if settings.peers and not settings.tuned:
            pairs = zip(chosen, results, strict=True)
            self._add_tuned([r for entry, r in pairs if entry.contest.is_tuned], settings)
        return results

    def _again(
        self, chosen: list[Entry], results: list[Result], limit: Limit | None
    ) -> list[Result]:
        """Measure what is below a floor once more, for longer; that counts."""
        below = [e for e, r in zip(chosen, results, strict=True) if r.is_below]
        if not below:
            return results
        print(f"{len(below)} below a floor: again, longer", file=sys.stderr, flush=True)
        longer = dataclasses.replace(self._settings, longer=True)
        renewed = {result.name: result for result in self._measure(below, longer, limit)}
        return [renewed.get(result.name, result) for result in results]

    def _load_limit(self) -> Limit | None:
        try:
            given = self._settings.limit_library
            path = Path(given) if given else find(self._root)
            return Limit(path, self._settings.threads)
        except LimitError as error:
            self._remarks.append(str(error))
            return None

    def _add_tuned(self, results: list[Result], settings: Settings) -> None:
        if not results:
            return
        try:
            importlib.import_module("torch")
        except ImportError:
            return
        print("tuned torch …", file=sys.stderr, flush=True)
        names = [result.name for result in results]
        try:
            rows = tuned.measure(self._root / "bench" / "run.py", names, settings)
        except RuntimeError as error:
            self._remarks.append(f"tuned torch: {error}")
            rows = {}
        for result in results:
            result.tuned = rows.get(result.name)
            result.complete = result.complete and result.tuned is not None
