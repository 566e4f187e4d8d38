"""Shared memory as a contest: making segments, attaching from processes, reading mapped files."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import loup

from ..case import Array, Case, Entry, Pass, Peer, reading
from ..floors import IN_MEMORY, SHM, Floor
from ..timing import Call

GROUP = "shm"
WORKER = Path(__file__).with_name("worker.py")
PAIRS = 2000  # of one call, over all processes
SEGMENT_BYTES = 1 << 20


class Workers:
    """Processes that attach and detach when told."""

    def __init__(self, count: int, *arguments: str) -> None:
        command = [sys.executable, str(WORKER), *arguments]
        self._pairs = PAIRS // count
        self._processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(count)
        ]

    def __call__(self) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(f"{self._pairs}\n")
            process.stdin.flush()
        for process in self._processes:
            assert process.stdout is not None
            if process.stdout.readline() != "done\n":
                raise RuntimeError("the worker has ended")

    def __del__(self) -> None:
        for process in self._processes:
            process.communicate()


@dataclass(kw_only=True)
class ShmCase(Case):
    """A task, and what has to live as long as it."""

    size: int  # bytes, or processes
    kept: list[Any] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)

    def details(self) -> dict[str, Any]:
        return {"size": self.size}


class ShmContest:
    """What the kinds of task have in common: no result to check, and one peer at most."""

    columns = "shm"
    is_brief = False
    is_tuned = False

    def ours(self, case: ShmCase) -> Call:
        raise NotImplementedError

    def peers(self, case: ShmCase) -> list[Peer]:
        return [Peer("torch", "torch", self.torch)]

    def torch(self, case: ShmCase) -> Call:
        raise NotImplementedError

    def expected(self, case: ShmCase) -> list[Array] | None:
        return []

    def error(self, case: ShmCase, library: str, result: Any, expected: list[Array]) -> float:
        return 0.0

    def bounds(self, case: ShmCase) -> tuple[float, float]:
        return 0.0, 0.0

    def passes(self, case: ShmCase, result: Any) -> list[Pass]:
        return case.passes

    def companion(self, case: ShmCase) -> None:
        return None

    def floor(self, case: ShmCase) -> Floor:
        return SHM.get(case.task, Floor())


class Create(ShmContest):
    """Make a segment with all of its memory, and remove it."""

    def ours(self, case: ShmCase) -> Call:
        def create(size: int) -> None:
            loup.shm.create(None, size).close()

        return Call(create, (case.size,))

    def torch(self, case: ShmCase) -> Call:
        from torch import UntypedStorage

        return Call(UntypedStorage._new_using_filename_cpu, (case.size,))


class Attach(ShmContest):
    """Attach to a segment and detach, PAIRS times over some processes."""

    def ours(self, case: ShmCase) -> Call:
        segment = loup.shm.create(None, SEGMENT_BYTES)
        case.kept.append(segment)
        return Call(Workers(case.size, "loup", segment.name))

    def torch(self, case: ShmCase) -> Call:
        from torch import UntypedStorage

        storage = UntypedStorage._new_using_filename_cpu(SEGMENT_BYTES)
        manager, name, size = storage._share_filename_cpu_()
        case.kept.append(storage)
        return Call(Workers(case.size, "torch", manager.decode(), name.decode(), str(size)))


class ReadMapped(ShmContest):
    """masked.sum over a mapped file that is in the page cache, beside memory."""

    def ours(self, case: ShmCase) -> Call:
        mapped, _, mask = case.kept
        return Call(loup.masked.sum, (mapped,), {"mask": mask})

    def peers(self, case: ShmCase) -> list[Peer]:
        return [Peer(IN_MEMORY, "loup", self._in_memory, counted=False)]

    def _in_memory(self, case: ShmCase) -> Call:
        _, memory, mask = case.kept
        return Call(loup.masked.sum, (memory,), {"mask": mask})


def _plain(task: str, size: int) -> ShmCase:
    return ShmCase(op="shm", task=task, size=size)


def _mapped(task: str, size: int) -> ShmCase:
    shape = (size // 4 // 4096, 4096)
    memory = np.zeros(shape, np.float32)
    memory += np.arange(4096, dtype=np.float32)
    mask = np.random.default_rng(1).random((1, 4096)) < 0.8
    mask = np.ascontiguousarray(np.broadcast_to(mask, shape))
    with tempfile.NamedTemporaryFile(dir=Path.cwd() / "build") as file:
        memory.tofile(file.name)
        mapped = loup.from_file(file.name, "float32", shape, readonly=True)
    return ShmCase(
        op="shm",
        task=task,
        size=size,
        kept=[mapped, loup.asarray(memory), loup.asarray(mask)],
        passes=[reading(memory, mask)],
    )


def entries() -> Iterator[Entry]:
    """Yield the tasks."""
    create, attach = Create(), Attach()
    for task, size in (("create_1MiB", 1 << 20), ("create_1GiB", 1 << 30)):
        yield Entry(GROUP, "shm", task, create, partial(_plain, task, size))
    for processes in (1, 2, 4, 8):
        task = f"attach_{processes}"
        yield Entry(GROUP, "shm", task, attach, partial(_plain, task, processes))
    yield Entry(GROUP, "shm", "sum_4GiB", ReadMapped(), partial(_mapped, "sum_4GiB", 4 << 30))
