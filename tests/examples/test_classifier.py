"""The classifier in C++ and in Python: one result, whatever the padding holds."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import loup

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(loup.__file__).parents[1]
COMMANDS = {
    "C++": [str(PACKAGE.parent / "bin/classifier")],
    "Python": [sys.executable, str(ROOT / "examples/classifier.py")],
}


def losses(language: str, *arguments: str, threads: int = 2) -> list[float]:
    """What a run prints; nine digits tell every float32 from every other."""
    result = subprocess.run(
        [*COMMANDS[language], *arguments],
        env={"PYTHONPATH": str(PACKAGE), "LOUP_NUM_THREADS": str(threads)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return [float(text) for text in re.findall(r"loss (\S+)", result.stdout)]


@pytest.fixture(scope="module")
def expected() -> list[float]:
    return losses("Python")


def test_it_learns(expected: list[float]) -> None:
    assert len(expected) == 7
    assert expected[-1] < 0.5 * expected[0]


@pytest.mark.parametrize("language", COMMANDS)
@pytest.mark.parametrize("pad", ["0", "nan", "inf", "-1e30"])
def test_losses_are_the_same_bits(language: str, pad: str, expected: list[float]) -> None:
    assert losses(language, pad) == expected


@pytest.mark.parametrize("language", COMMANDS)
@pytest.mark.parametrize("threads", [1, 7])
def test_threads_change_nothing(language: str, threads: int, expected: list[float]) -> None:
    assert losses(language, "nan", threads=threads) == expected
