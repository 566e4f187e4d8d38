"""The make targets, the version and the stored copies are what the papers say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = [
    *("demo", "test", "bench", "bench-check", "bench-peers", "lint", "format", "docs"),
    *("build", "clean", "asan", "tsan", "mutants", "install"),
]


def cmake_version() -> str:
    found = re.search(r"project\(loup VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert found
    return found[1]


@pytest.mark.parametrize("target", TARGETS)
def test_help_explains_each_target_in_one_line(shell, target: str) -> None:
    lines = [line for line in shell.run("make", "help").splitlines() if line.split()[0] == target]
    assert len(lines) == 1
    assert len(lines[0].split()) > 3


def test_citation_names_the_version() -> None:
    assert f"\nversion: {cmake_version()}\n" in (ROOT / "CITATION.cff").read_text()


def test_tool_and_module_name_the_version(shell) -> None:
    assert shell.run(ROOT / ".venv/bin/loup", "--version").split()[-1] == cmake_version()
    code = "import loup; print(loup.__version__)"
    assert shell.run(ROOT / ".venv/bin/python", "-c", code).strip() == cmake_version()


def test_stored_stubs_and_table_of_operators_are_up_to_date(shell) -> None:
    assert shell.run(ROOT / ".venv/bin/python", "tools/docs", "--check") == "", "run `make docs`"


def test_every_python_file_is_in_the_built_package(shell) -> None:
    package = ROOT / "python/loup"
    built = {path.name for path in (shell.build / "python/loup").iterdir()}
    assert {path.name for path in package.iterdir() if path.suffix == ".py"} <= built
