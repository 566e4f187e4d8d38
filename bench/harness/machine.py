"""Where a run took place: processor, cores, load, and the versions of everything measured."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "torch", "jax", "jaxlib", "mlx", "pyarrow", "polars", "bottleneck")


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def describe(threads: int) -> dict[str, Any]:
    """Return the description that heads the table and the JSON file."""
    info = dict(importlib.import_module("loup").info())
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "threads": threads,
        "load": os.getloadavg(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "loup": info,
        "versions": _versions(),
    }


def set_threads(threads: int) -> None:
    """Set the threads of the libraries that do not read them from the environment alone."""
    importlib.import_module("loup").set_num_threads(threads)
    for name, setter in (("torch", "set_num_threads"), ("pyarrow", "set_cpu_count")):
        try:
            getattr(importlib.import_module(name), setter)(threads)
        except ImportError:
            continue
