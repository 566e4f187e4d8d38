"""Interleaved timing: every contestant in turn, a burst at a time, in one process."""

from __future__ import annotations

import gc
import math
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .settings import Pace

SETTLE_SECONDS = 0.03  # OpenBLAS spins for 25 ms after a call, libgomp for up to 15
WAKE_SECONDS = 0.003  # of calls before those that are timed: its own threads are asleep by then
SLOW_SECONDS = 0.03  # above this a contestant has fewer turns, each of two samples,
SLOW_ROUNDS = 3
ENOUGH_SECONDS = 1.0  # above this its warm-up is all
TINY_SECONDS = 0.0002  # below this a sample is a loop,
SAMPLE_SECONDS = 0.001  # at least this long


@dataclass(frozen=True)
class Call:
    """A function and its arguments, written out at the call site when timed."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def loop(self) -> Callable[[int], None]:
        """Compile a loop that makes the plain call, without a wrapper's cost."""
        names: dict[str, Any] = {"function": self.function}
        parts = []
        for i, value in enumerate(self.args):
            names[f"a{i}"] = value
            parts.append(f"a{i}")
        for key, value in self.kwargs.items():
            names[f"k_{key}"] = value
            parts.append(f"{key}=k_{key}")
        bound = ", ".join(f"{name}={name}" for name in names)
        source = (
            f"def loop(count, *, {bound}):\n"
            f"    for _ in range(count):\n"
            f"        function({', '.join(parts)})\n"
        )
        exec(source, names)
        # Left among its own globals the loop would be a cycle, and keep gigabytes of operands.
        loop: Callable[[int], None] = names.pop("loop")
        return loop


DONE = Call(lambda: None)  # of a contestant that was measured


@dataclass
class Contestant:
    """One way to do a task."""

    name: str
    library: str
    call: Call
    counted: bool = True  # as a candidate for the best peer
    error: float | None = None  # of its result, against the float64 reference


@dataclass
class Timing:
    """Seconds per call of one contestant."""

    samples: list[float] = field(default_factory=list)
    preempted: list[bool] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        """Median of the samples without preemption, where there are at least five."""
        pairs = zip(self.samples, self.preempted, strict=True)
        quiet = [seconds for seconds, preempted in pairs if not preempted]
        return statistics.median(quiet if len(quiet) >= 5 else self.samples)


def _preemptions() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


@dataclass
class _Turn:
    contestant: Contestant
    loop: Callable[[int], None]
    calls: int  # per sample
    burst: int  # samples per turn
    rounds: int
    seconds: float  # per sample, about
    timing: Timing = field(default_factory=Timing)

    def wake(self) -> None:
        """Make quick calls until the library's threads run; slow ones wake them by themselves."""
        end = time.perf_counter() + WAKE_SECONDS
        while self.seconds < WAKE_SECONDS and time.perf_counter() < end:
            self.loop(self.calls)

    def play(self) -> None:
        for _ in range(self.burst):
            before = _preemptions()
            start = time.perf_counter()
            self.loop(self.calls)
            seconds = time.perf_counter() - start
            self.timing.preempted.append(_preemptions() != before)
            self.timing.samples.append(seconds / self.calls)


def _seconds(loop: Callable[[int], None], calls: int = 1) -> float:
    start = time.perf_counter()
    loop(calls)
    return (time.perf_counter() - start) / calls


def _warm_up(contestant: Contestant, pace: Pace) -> _Turn:
    loop = contestant.call.loop()
    first = _seconds(loop)
    if first > ENOUGH_SECONDS:
        return _Turn(contestant, loop, 1, 0, 0, first, Timing([first], [False]))
    seconds = math.inf
    for calls in (1, 10, 100):
        seconds = min(seconds, _seconds(loop, calls))
        if seconds > TINY_SECONDS:
            break
    calls = math.ceil(SAMPLE_SECONDS / seconds) if seconds < TINY_SECONDS else 1
    if seconds > SLOW_SECONDS:
        rounds = max(min(SLOW_ROUNDS, pace.rounds), pace.rounds // 3)
        return _Turn(contestant, loop, calls, 2, rounds, seconds)
    burst = max(pace.fewest, min(pace.most, int(pace.turn_seconds / (seconds * calls))))
    return _Turn(contestant, loop, calls, burst, pace.rounds, seconds * calls)


def measure(contestants: Sequence[Contestant], pace: Pace) -> dict[str, Timing]:
    """Time the contestants in turns; every other round goes backwards."""
    turns = [_warm_up(contestant, pace) for contestant in contestants]
    gc.collect()
    gc.disable()
    try:
        library = ""
        for number in range(pace.rounds):
            for turn in turns if number % 2 == 0 else reversed(turns):
                if number >= turn.rounds:
                    continue
                if turn.contestant.library != library:
                    time.sleep(SETTLE_SECONDS)
                    turn.wake()
                library = turn.contestant.library
                turn.play()
    finally:
        gc.enable()
    return {turn.contestant.name: turn.timing for turn in turns}
