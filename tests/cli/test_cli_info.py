"""loup info FILE: what it prints about files."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import loup

TOOL = Path(loup.__file__).parents[2] / "bin/loup"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run() -> Run:
    def run_tool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [TOOL, "info", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    return run_tool


def output_of(run: Run, *arguments: str | Path) -> str:
    result = run(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with everything that there is."""
    path = tmp_path / "all.safetensors"
    x = loup.arange(6).reshape(2, 3)
    items = {"weight": x.to("bfloat16"), "x": loup.masked_tensor(x, x > 3), "": loup.zeros((0, 4))}
    loup.save(items, path, metadata={"by": "me", "note": 'a "b"\n'})
    return path


def test_text_has_a_line_for_each_tensor_and_key(run: Run, path: Path) -> None:
    assert output_of(run, path).splitlines() == [
        f"{path}: safetensors, {path.stat().st_size} bytes, 3 tensors",
        '  ""      float32   [0, 4]  0 bytes',
        "  weight  bfloat16  [2, 3]  12 bytes",
        "  x       int64     [2, 3]  54 bytes  masked, 2 of 6 valid",
        "metadata by: me",
        'metadata note: "a \\"b\\"\\u000a"',
    ]


def test_json_agrees_with_the_python_package(run: Run, path: Path) -> None:
    found = json.loads(output_of(run, path, "--json"))
    assert (found.pop("schema"), found.pop("path")) == ("loup.file.1", str(path))
    expected = loup.file_info(path)
    for entry in expected["tensors"]:
        entry["dtype"] = str(entry["dtype"]).removeprefix("loup.")
        entry["shape"] = list(entry["shape"])
    assert found == expected


@pytest.mark.parametrize("name", ["x.npy", "x.safetensors"])
def test_a_single_tensor_has_no_name(run: Run, tmp_path: Path, name: str) -> None:
    loup.save(loup.zeros(()), tmp_path / name)
    assert output_of(run, tmp_path / name).splitlines()[1] == "  -  float32  []  4 bytes"
    found = json.loads(output_of(run, "--json", tmp_path / name))
    assert [entry["name"] for entry in found["tensors"]] == [None]


def test_an_archive_is_listed(run: Run, tmp_path: Path) -> None:
    loup.save({"a": loup.zeros(3), "b": loup.ones(2)}, tmp_path / "x.npz", compressed=True)
    lines = output_of(run, tmp_path / "x.npz").splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["a", "b"]


def test_names_do_not_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    loup.save({"\x1b[31mred\x7f": loup.zeros(1)}, tmp_path / "x.npz")
    text = output_of(run, tmp_path / "x.npz")
    assert "\x1b" not in text
    assert "\x7f" not in text
    assert r'"\u001b[31mred\u007f"' in text


def test_a_file_that_is_not_there_is_a_failure(run: Run, tmp_path: Path) -> None:
    result = run(tmp_path / "none.npy")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("loup: ")
    assert f'"{tmp_path / "none.npy"}"' in result.stderr


def test_a_file_of_another_format_is_a_failure(run: Run) -> None:
    result = run(__file__)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("loup: load: expected an .npy, .npz or .safetensors file, got ")
