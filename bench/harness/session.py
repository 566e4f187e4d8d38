"""One run of the benchmark: the tasks picked, the tuned process, and the report."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import limit, machine, table, tuned
from .results import Result
from .runner import Notes, Runner, without_tasks
from .settings import Settings
from .tasks import entries, pick


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
            "settings": {"rounds": self.settings.rounds, "quick": self.settings.quick},
            "tasks": [result.to_json() for result in self.results],
            "notes": self.remarks + self.notes.lines(),
        }


class Session:
    """Runs what the command line asks for."""

    def __init__(self, settings: Settings, root: Path) -> None:
        self._settings = settings
        self._root = root
        self._remarks: list[str] = []

    def run(self, options: argparse.Namespace) -> Report | None:
        """Measure the tasks picked; only list them if so asked."""
        ops = [dict(op) for op in importlib.import_module("loup").ops()]
        chosen = pick(list(entries(ops)), options.names)
        self._remarks += without_tasks(ops)
        if options.list:
            print("\n".join(entry.name for entry in chosen))
            return None
        machine.set_threads(self._settings.threads)
        description = machine.describe(self._settings.threads)
        runner = Runner(self._settings, self._load_limit())
        results = []
        for entry in chosen:
            start = time.perf_counter()
            results.append(runner.run(entry))
            seconds = time.perf_counter() - start
            print(f"{entry.name}: {seconds:.0f} s", file=sys.stderr, flush=True)
        if self._settings.peers and not self._settings.tuned:
            self._add_tuned(results)
        description["load_after"] = os.getloadavg()
        return Report(description, self._settings, results, runner.notes, self._remarks)

    def _load_limit(self) -> limit.Limit | None:
        try:
            given = self._settings.limit_library
            path = Path(given) if given else limit.find(self._root)
            return limit.Limit(path, self._settings.threads)
        except limit.LimitError as error:
            self._remarks.append(str(error))
            return None

    def _add_tuned(self, results: list[Result]) -> None:
        try:
            importlib.import_module("torch")
        except ImportError:
            return
        print("tuned torch …", file=sys.stderr, flush=True)
        names = [result.name for result in results]
        try:
            rows = tuned.measure(self._root / "bench" / "run.py", names, self._settings)
        except RuntimeError as error:
            self._remarks.append(f"tuned torch: {error}")
            rows = {}
        for result in results:
            result.tuned = rows.get(result.name)
            result.complete = result.complete and result.tuned is not None
