"""Times of calls that take microseconds."""

from __future__ import annotations

import timeit
from collections.abc import Callable

ROUNDS, CALLS = 150, 300  # short rounds, some of which no other process interrupts


def microseconds(calls: list[Callable[[], object]]) -> list[float]:
    """The best of many rounds of each: rounds take turns, so that all meet the same machine."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            best[i] = min(best[i], timeit.timeit(call, number=CALLS) / CALLS * 1e6)
    return best
