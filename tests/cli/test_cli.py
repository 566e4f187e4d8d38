"""The command line tool: what it prints, and how it ends."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import loup

ROOT = Path(__file__).resolve().parents[2]
# The tool of the build that the imported package belongs to.
TOOL = Path(loup.__file__).parents[2] / "bin/loup"
Run = Callable[..., subprocess.CompletedProcess[str]]
COMMANDS = [["--version"], ["--help"], ["info"], ["info", "--json"], ["ops"], ["ops", "--json"]]


@pytest.fixture
def run() -> Run:
    def run_tool(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TOOL, *arguments],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run_tool


def output_of(run: Run, *arguments: str) -> str:
    result = run(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_version_is_the_version_of_the_library(run: Run) -> None:
    assert output_of(run, "--version") == f"loup {loup.__version__}\n"


@pytest.mark.parametrize("command", [[], ["info"], ["ops"]])
def test_help_lists_what_there_is(run: Run, command: list[str]) -> None:
    text = output_of(run, *command, "--help")
    expected = ["--json"] if command else ["info", "ops", "--version"]
    assert [word for word in expected if word not in text] == []


# --- info ---


def test_info_json_agrees_with_the_python_package(run: Run) -> None:
    found = json.loads(output_of(run, "info", "--json"))
    assert found.pop("schema") == "loup.info.1"
    assert (found.pop("blas"), found.pop("mpi")) == (None, False)
    assert found == loup.info()


def test_info_text_names_everything(run: Run) -> None:
    lines = output_of(run, "info").splitlines()
    info = loup.info()
    assert lines[0] == f"loup {info['version']}"
    text = {line[:18].strip(): line[18:] for line in lines[1:]}
    assert text["instruction sets"] == (
        f"compiled {' '.join(info['targets_compiled'])}, "
        f"runnable {' '.join(info['targets_runnable'])}, chosen {info['target']}"
    )
    untested = [t for t in info["targets_compiled"] if t not in info["targets_runnable"]]
    assert text["untested here"] == (" ".join(untested) or "none")
    assert text["threads"] == str(info["threads"])
    assert (text["BLAS"], text["MPI"]) == ("no", "no")


def test_info_follows_the_environment(run: Run) -> None:
    assert json.loads(run("info", "--json", LOUP_NUM_THREADS="3").stdout)["threads"] == 3


def test_a_bad_environment_fails_with_the_library_s_message(run: Run) -> None:
    result = run("info", LOUP_NUM_THREADS="many")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("loup: LOUP_NUM_THREADS: expected a number of threads from 1")
    assert "got 'many'" in result.stderr


# --- ops ---


def test_ops_json_agrees_with_the_python_package(run: Run) -> None:
    found = json.loads(output_of(run, "ops", "--json"))
    assert found == {"schema": "loup.ops.1", "ops": loup.ops()}


def test_ops_text_has_one_line_for_each_operator(run: Run) -> None:
    lines = output_of(run, "ops").splitlines()
    assert [line.split(maxsplit=2) for line in lines] == [
        [op["name"], op["family"], op["summary"]] for op in loup.ops()
    ]


def test_ops_markdown_has_one_row_for_each_operator(run: Run) -> None:
    lines = output_of(run, "ops", "--markdown").splitlines()
    tables = [i for i, line in enumerate(lines) if line.startswith("| operator | what it does |")]
    for start in tables:
        assert re.fullmatch(r"(\|---)+\|", lines[start + 1])
        assert lines[start + 1].count("|") == lines[start].count("|")
    rows = [line for line in lines if line.startswith("| `")]
    for row, op in zip(rows, loup.ops(), strict=True):
        assert row.startswith(f"| `{op['name']}{op['signature']}` | {op['summary']} |")
        header = lines[max(start for start in tables if start < lines.index(row))]
        cells = dict(zip(header.split(" | "), row.split(" | "), strict=True))
        differentiable = cells.get("gradient", cells.get("gradient |", "")).removesuffix(" |")
        assert differentiable == ("yes" if op["differentiable"] else "no")


def test_ops_markdown_is_the_table_of_the_documentation(run: Run) -> None:
    text = (ROOT / "docs/ops.md").read_text()
    parts = re.split(r"^<!-- ops:(?:begin|end) -->\n", text, flags=re.MULTILINE)
    assert len(parts) == 3, "docs/ops.md: expected one begin and one end of the table"
    assert parts[1] == output_of(run, "ops", "--markdown"), "run `make docs`"


# --- wrong usage ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "subcommand is required"),
        (["nosuch"], "nosuch|subcommand is required"),
        (["--nosuch"], "--nosuch|subcommand is required"),
        (["info", "--nosuch"], "--nosuch"),
        (["info", "--markdown"], "--markdown"),
        (["info", "file", "extra"], "extra"),
        (["ops", "extra"], "extra"),
        (["ops", "--json", "--markdown"], "excludes"),
        (["ops", "info"], "info|subcommand"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_2_and_says_why(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.search(message, result.stderr), result.stderr


# --- output that goes nowhere ---


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_full_device_is_a_failure(command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [TOOL, *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert (result.returncode, result.stderr) == (1, "loup: could not write the output\n")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_closed_pipe_is_a_failure(command: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        result = subprocess.run(
            [TOOL, *command],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert (result.returncode, result.stderr) == (1, "loup: could not write the output\n")
