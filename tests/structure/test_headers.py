"""Every public header compiles alone, and lets nothing heavy into its users' code."""

import os
import re
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/dev"
COMPILER = os.environ.get("CXX", "g++")
# With -H the compiler lists each file it opens, indented by dots.
OPENED = re.compile(r"^\.+ (?P<path>.+)$")
FORBIDDEN = re.compile(r"/(mpi|openmpi|hwy|CLI|nanobind)/|/(mpi|cblas)\.h$")
FMT = re.compile(r"/fmt/(?P<name>[\w-]+\.h)$")


@dataclass
class Compilation:
    succeeded: bool
    messages: str
    opened: list[str]

    @property
    def forbidden(self) -> list[str]:
        return [path for path in self.opened if FORBIDDEN.search(path)]

    @property
    def fmt_headers(self) -> set[str]:
        return {match["name"] for path in self.opened if (match := FMT.search(path))}


def public_headers() -> list[str]:
    own = (header.relative_to(ROOT) for header in (ROOT / "loup").rglob("*.h"))
    generated = (
        header.relative_to(BUILD / "include") for header in (BUILD / "include").rglob("*.h")
    )
    names = {str(header) for header in (*own, *generated)}
    return sorted(name for name in names if not name.endswith("-inl.h"))


def compile_alone(header: str, mode: str = "-fsyntax-only") -> Compilation:
    result = subprocess.run(
        [
            *(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-H", mode),
            *("-I", str(ROOT), "-I", str(BUILD / "include"), "-x", "c++", "-"),
        ],
        input=f'#include "{header}"\n',
        capture_output=True,
        text=True,
        check=False,
    )
    lines = result.stderr.splitlines()
    return Compilation(
        succeeded=result.returncode == 0,
        messages="\n".join(line for line in lines if not OPENED.match(line)),
        opened=[match["path"] for line in lines if (match := OPENED.match(line))],
    )


@pytest.fixture(scope="module")
def compilation() -> Callable[[str], Compilation]:
    headers = public_headers()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = dict(zip(headers, pool.map(compile_alone, headers), strict=True))
    return done.__getitem__


@pytest.mark.parametrize("header", public_headers())
def test_header_compiles_alone(header: str, compilation: Callable[[str], Compilation]) -> None:
    assert compilation(header).succeeded, compilation(header).messages


@pytest.mark.parametrize("header", public_headers())
def test_header_brings_in_no_third_party_beyond_fmt_core(
    header: str, compilation: Callable[[str], Compilation]
) -> None:
    assert compilation(header).forbidden == []
    assert compilation(header).fmt_headers <= {"core.h"}


@pytest.mark.parametrize("leak", ["hwy/highway.h", "CLI/CLI.hpp"])
def test_a_leak_is_noticed(leak: str) -> None:
    assert compile_alone(leak, "-E").forbidden != []


def test_more_of_fmt_than_core_is_noticed() -> None:
    assert compile_alone("fmt/format.h", "-E").fmt_headers > {"core.h"}
