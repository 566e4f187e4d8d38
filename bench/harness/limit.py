"""The limit: a plain reader, copier or writer over the bytes of a task."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from .case import Pass
from .timing import Call, Contestant

NAME = "limit"
STREAMING_BYTES = 8 << 20  # above this, stores that bypass the cache are faster
SERIAL_BYTES = 4 << 20  # below this, one thread may be faster than several
LIBRARY = "libloup_bench_limit.so"


class LimitError(RuntimeError):
    """The library of readers and copiers cannot be loaded."""


def find(root: Path) -> Path:
    """Return the built library, the release build first."""
    built = sorted(root.glob(f"build/*/lib/{LIBRARY}"))
    built.sort(key=lambda path: (path.parts[-3] != "release", -path.stat().st_mtime))
    if not built:
        raise LimitError(f"limit: expected a built {LIBRARY}, got none under build/")
    return built[0]


class Limit:
    """The functions of the library, as contestants."""

    def __init__(self, path: Path, threads: int) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise LimitError(f"limit: expected a loadable library, got {error}") from error
        address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        list_of = ctypes.POINTER
        self._library.loup_bench_read.argtypes = [list_of(address), list_of(size), size, number]
        self._library.loup_bench_copy.argtypes = [address, address, size, number, number]
        self._library.loup_bench_write.argtypes = [address, size, number, number]
        self._library.loup_bench_set_threads(threads)
        self._threads = threads

    def contestants(self, passes: list[Pass]) -> list[Contestant]:
        """Return the limit of a task: with all threads and, for little data, with one."""
        if not passes:
            return []
        counts = [self._threads]
        if sum(each.moved for each in passes) < SERIAL_BYTES and self._threads > 1:
            counts.append(1)
        return [
            Contestant(f"{NAME}, threads: {count}", "loup", self._call(passes, count))
            for count in counts
        ]

    def _call(self, passes: list[Pass], threads: int) -> Call:
        calls = [call for each in passes for call in self._pass(each, threads)]
        if len(calls) == 1:
            return calls[0]

        def run_all() -> None:
            for call in calls:
                call()

        return Call(run_all)

    def _pass(self, each: Pass, threads: int) -> list[Call]:
        if each.kind == "read":
            count = len(each.spans)
            addresses = (ctypes.c_void_p * count)(*(address for address, _ in each.spans))
            sizes = (ctypes.c_size_t * count)(*(size for _, size in each.spans))
            return [Call(self._library.loup_bench_read, (addresses, sizes, count, threads))]
        calls = []
        for address, size in each.spans:
            target = np.ones(size, np.uint8)  # kept alive by the call
            streaming = int(size > STREAMING_BYTES)
            if each.kind == "copy":
                calls.append(Call(self._copy, (target, address, size, streaming, threads)))
            else:
                calls.append(Call(self._write, (target, size, streaming, threads)))
        return calls

    def _copy(
        self, target: np.ndarray, address: int, size: int, streaming: int, threads: int
    ) -> None:
        self._library.loup_bench_copy(target.ctypes.data, address, size, streaming, threads)

    def _write(self, target: np.ndarray, size: int, streaming: int, threads: int) -> None:
        self._library.loup_bench_write(target.ctypes.data, size, streaming, threads)
