"""What the Python tests share: repeatable properties, and threads and targets put back."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

import loup
from loup import _loup

hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, max_examples=150
)
hypothesis.settings.load_profile("repeatable")

RunPython = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def threads() -> Iterator[None]:
    """Puts the number of threads back."""
    before = loup.num_threads()
    yield
    loup.set_num_threads(before)


@pytest.fixture
def targets() -> Iterator[list[str]]:
    """The instruction sets of this CPU; the best one is chosen again afterwards."""
    yield loup.info()["targets_runnable"]
    _loup.choose_target("")


@pytest.fixture
def environment() -> dict[str, str]:
    """The variables with which another Python finds the same loup."""
    package = str(Path(loup.__file__).parent.parent)
    others = [path for path in [os.environ.get("PYTHONPATH")] if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([package, *others])}


@pytest.fixture
def run_python(environment: dict[str, str]) -> RunPython:
    """Runs a program in a new Python: run_python(code, "argument", LOUP_NUM_THREADS="2")."""

    def run(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
