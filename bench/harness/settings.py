"""What holds for a whole run: repeats, threads, and the environment that libraries read."""

from __future__ import annotations

import os
from dataclasses import dataclass

KEEP_MEMORY = 1 << 32


@dataclass(frozen=True)
class Pace:
    """How often and how long every contestant gets its turn."""

    rounds: int
    fewest: int  # samples of one turn
    most: int
    turn_seconds: float


@dataclass(frozen=True)
class Settings:
    """How to measure."""

    threads: int = 2
    quick: bool = False
    longer: bool = False  # this is the second look at rows that were below a floor
    tuned: bool = False  # this is the process of tuned torch
    peers: bool = True
    limit_library: str | None = None

    def pace(self, brief: bool) -> Pace:
        """Return the pace of a task; where there are hundreds of them, of a brief one."""
        if self.quick:
            return Pace(3, 1, 3, 0.01) if brief else Pace(3, 1, 5, 0.03)
        if self.longer and not brief:
            return Pace(15, 3, 20, 0.03)
        return Pace(5, 2, 10, 0.01) if brief and not self.longer else Pace(7, 3, 20, 0.03)


def thread_variables(threads: int) -> dict[str, str]:
    """Return the environment variables that give every library its number of threads."""
    count = str(threads)
    return {
        "LOUP_NUM_THREADS": count,
        "OMP_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "POLARS_MAX_THREADS": count,
        "NPROC": count,  # jaxlib's pool
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def tuned_variables() -> dict[str, str]:
    """Return what spares torch its page faults: huge pages, and a glibc that keeps freed memory.

    The huge pages are glibc's. With torch's own (THP_MEM_ALLOC_ENABLE) blocks are page-aligned,
    and this glibc then takes fresh memory for each of them instead of what it kept.
    """
    tunables = {
        "hugetlb": 1,
        "trim_threshold": KEEP_MEMORY,
        "mmap_threshold": KEEP_MEMORY,
        "top_pad": 64 << 20,
    }
    joined = ":".join(f"glibc.malloc.{name}={value}" for name, value in tunables.items())
    return {"GLIBC_TUNABLES": joined}


def pin(threads: int) -> None:
    """Keep this process on `threads` cores and tell the libraries; call before importing them."""
    os.environ.update(thread_variables(threads))
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:threads])
