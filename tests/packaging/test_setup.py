"""tools/setup installs what is missing, says what it cannot install, and is quick otherwise."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = [
    *(
        "bash",
        "cat",
        "cksum",
        "dirname",
        "env",
        "g++",
        "head",
        "id",
        "python3",
        "rm",
        "sed",
        "sort",
    ),
    *("cmake", "ninja", "pkg-config"),
]


def setup(path: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    if path:
        environment["PATH"] = path
    return subprocess.run(
        [shutil.which("bash") or "bash", ROOT / "tools/setup"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def missing(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.strip() for line in result.stderr.splitlines() if line.startswith("  ")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder for PATH with all the tools that are needed, and without apt-get."""
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, tool
        # A script instead of a link: a version manager's shims look at the name they are called by.
        (tmp_path / tool).write_text(f'#!/bin/sh\nPATH="$REAL_PATH" exec {found} "$@"\n')
        (tmp_path / tool).chmod(0o755)
    return tmp_path


def setup_without_apt(path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return setup(str(path), REAL_PATH=os.environ["PATH"], **variables)


def test_nothing_to_do_is_silent_and_takes_less_than_two_seconds() -> None:
    assert setup().returncode == 0
    start = time.monotonic()
    again = setup()
    assert time.monotonic() - start < 2
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_without_apt_get_a_complete_system_is_fine(path: Path) -> None:
    result = setup_without_apt(path)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("tools", "packages"),
    [
        (["ninja"], ["ninja-build"]),
        (["ninja", "pkg-config", "cmake"], ["ninja-build", "pkg-config", "cmake"]),
        (["python3"], ["python3", "python3-dev", "python3-venv"]),
    ],
)
def test_without_apt_get_exactly_the_missing_tools_are_listed(
    path: Path, tools: list[str], packages: list[str]
) -> None:
    for tool in tools:
        (path / tool).unlink()
    result = setup_without_apt(path)
    assert result.returncode == 1
    assert "apt-get is not there" in result.stderr
    assert missing(result) == packages


def test_without_apt_get_missing_headers_are_listed(path: Path) -> None:
    compiler = path / "bare-compiler"
    compiler.write_text(f'#!/bin/sh\nexec g++ -nostdinc -I{path} "$@"\n')
    compiler.chmod(0o755)
    result = setup_without_apt(path, CXX="bare-compiler")
    assert result.returncode == 1
    libraries = ["libhwy-dev", "libfmt-dev", "zlib1g-dev"]
    tests_and_tool = ["libgtest-dev", "libgmock-dev", "libcli11-dev"]
    assert missing(result) == libraries + tests_and_tool


def test_an_unknown_option_is_refused() -> None:
    result = subprocess.run(
        [ROOT / "tools/setup", "--everything"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stderr.startswith("usage: tools/setup")
