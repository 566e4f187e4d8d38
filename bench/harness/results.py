"""What came out of one task: times, ratios, and the floors it met."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import limit
from .case import OURS, Case, Entry
from .floors import NUMPY_WHERE, TORCH_MASKED, Floor, Verdict
from .timing import Contestant, Timing

# The same task in float32, beside a task of another dtype.
COMPANION = "loup, float32"
COMPANION_LIMIT = "float32 limit"


@dataclass
class Result:
    """One row of the table."""

    group: str
    op: str
    task: str
    columns: str  # of the table that it belongs to
    details: dict[str, Any]
    note: str
    floor: Floor
    contestants: list[Contestant] = field(default_factory=list)
    timings: dict[str, Timing] = field(default_factory=dict)
    tuned: dict[str, Any] | None = None  # the row of the tuned process
    complete: bool = True  # every library that might be the best peer took part

    @classmethod
    def of(cls, entry: Entry, case: Case) -> Result:
        return cls(
            group=entry.group,
            op=entry.op,
            task=entry.task,
            columns=entry.contest.columns,
            details=case.details(),
            note=case.note,
            floor=entry.contest.floor(case),
        )

    @property
    def name(self) -> str:
        return f"{self.op}.{self.task}"

    def best(self, name: str) -> float | None:
        """Return the least time of a contestant, in seconds."""
        timing = self.timings.get(name)
        return timing.best if timing else None

    @property
    def ours(self) -> float | None:
        return self.best(OURS)

    @property
    def limit(self) -> float | None:
        times = [t.best for name, t in self.timings.items() if name.startswith(limit.NAME)]
        return min(times, default=None)

    def ratio(self, name: str) -> float | None:
        """Return how many times slower than loup a contestant is."""
        other, ours = self.best(name), self.ours
        return other / ours if other is not None and ours else None

    def _others(self) -> list[Contestant]:
        return [each for each in self.contestants if each.library != OURS]

    def uncounted(self) -> list[str]:
        """Return a note for every contestant that beats the best peer but is not counted."""
        best = self.best_peer
        faster = []
        for each in self._others():
            ratio = self.ratio(each.name)
            if not each.counted and ratio is not None and best and ratio < best[1]:
                faster.append(f"{each.name} reaches {ratio:.2f} x, not counted as a peer")
        return faster

    def _peer_ratios(self) -> dict[str, float]:
        """Return the ratio of every peer, those of the tuned process included."""
        ratios = {each.name: self.ratio(each.name) for each in self._others() if each.counted}
        if self.tuned:
            ratios.update({f"{n}, tuned": r for n, r in self.tuned["peer_ratios"].items()})
        return {name: ratio for name, ratio in ratios.items() if ratio is not None}

    @property
    def best_peer(self) -> tuple[str, float] | None:
        """Return the name and ratio of the fastest peer."""
        ratios = self._peer_ratios()
        return min(ratios.items(), key=lambda item: item[1]) if ratios else None

    def _pace(self) -> float | None:
        """Return loup's time over what the float32 time and the readers' times imply for it."""
        plain, plain_limit = self.best(COMPANION), self.best(COMPANION_LIMIT)
        if self.ours is None or self.limit is None or plain is None or plain_limit is None:
            return None
        return self.ours / (plain * self.limit / plain_limit)

    def reached(self) -> dict[str, float | None]:
        """Return the measured value for every kind of floor."""
        ours, least = self.ours, self.limit
        best = self.best_peer
        return {
            "masked": self.ratio(TORCH_MASKED),
            "tuned": self.tuned["peer_ratios"].get(TORCH_MASKED) if self.tuned else None,
            "best": best[1] if best and self.complete else None,
            "limit": 100 * least / ours if least and ours else None,
            "where": self.ratio(NUMPY_WHERE),
            "numpy": self.ratio("numpy"),
            "torch": self.ratio("torch"),
            "micros": ours * 1e6 if ours else None,
            "pace": self._pace(),
        }

    def verdicts(self) -> list[Verdict]:
        """Return the task's floors and what it reached."""
        return self.floor.judge(self.reached())

    @property
    def is_below(self) -> bool:
        """Tell whether something was measured and found below its floor."""
        return any(not each.met and each.value is not None for each in self.verdicts())

    def to_json(self) -> dict[str, Any]:
        """Return everything measured, times in seconds."""
        measured = [
            {
                "name": each.name,
                "library": each.library,
                "min": self.timings[each.name].best,
                "median": self.timings[each.name].median,
                "samples": len(self.timings[each.name].samples),
                "error": each.error,
                "counted": each.counted,
            }
            for each in self.contestants
            if each.name in self.timings
        ]
        best = self.best_peer
        return {
            "group": self.group,
            "op": self.op,
            "task": self.task,
            **self.details,
            "note": self.note,
            "contestants": measured,
            "best_peer": best[0] if best else None,
            "peer_ratios": self._peer_ratios(),
            "reached": self.reached(),
            "floors": [
                {"kind": v.kind, "floor": v.floor, "value": v.value, "met": v.met}
                for v in self.verdicts()
            ],
            "tuned": self.tuned,
        }
