"""`loup shm`: lists, shows, removes and sweeps segments."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import loup
from loup import shm

TOOL = Path(loup.__file__).parents[2] / "bin/loup"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def ns(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = "c" + uuid.uuid4().hex[:7]
    monkeypatch.setenv("LOUP_NS", name)
    yield name
    assert shm.ls(name) == []


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [TOOL, "shm", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def leave_behind(name: str) -> None:
    code = f"import loup, os; s = loup.shm.create({name!r}, 10); os.kill(os.getpid(), 9)"
    environment = os.environ | {"PYTHONPATH": str(Path(loup.__file__).parent.parent)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False)


def test_ls_lists_segments(ns: str) -> None:
    assert run("ls", "--ns", ns).stdout == "no segments\n"
    segment = shm.create("batch", nbytes=3 << 20)
    result = run("ls", "--ns", ns)
    assert (result.returncode, result.stderr) == (0, "")
    header, line = result.stdout.splitlines()
    assert header.split()[:2] == ["name", "size"]
    assert line.split()[:3] == [f"lp.{ns}.batch", "3.0", "MiB"]
    assert line.split()[5:8] == ["last_detach", "live", "1"]
    found = json.loads(run("ls", "--ns", ns, "--json").stdout)
    assert found["schema"] == "loup.shm.1"
    assert [entry["name"] for entry in found["segments"]] == [f"lp.{ns}.batch"]
    assert found["segments"][0]["bytes"] == 3 << 20
    segment.close()


def test_info_shows_one_segment(ns: str) -> None:
    segment = shm.create("batch", nbytes=100, label='a "label"')
    text = run("info", "batch").stdout
    assert f"lp.{ns}.batch" in text
    assert f"mapped by    {os.getpid()}" in text
    found = json.loads(run("info", "batch", "--json", "--ns", ns).stdout)["segments"][0]
    assert found["label"] == 'a "label"'
    assert found["mapped_by"] == [os.getpid()]
    assert found["holders"][0]["pid"] == os.getpid()
    missing = run("info", "missing")
    assert missing.returncode == 1
    assert missing.stderr.startswith("loup: info: expected an existing file, got ")
    segment.close()


def test_rm_refuses_live_segments_without_force() -> None:
    segment = shm.create("live", nbytes=100)
    refused = run("rm", "live")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "expected a segment that nobody uses" in refused.stderr
    assert run("rm", "live", "--force").stdout == "removed live\n"
    assert run("rm", "live").returncode == 1
    segment.close()


def test_sweep_removes_what_was_left(ns: str) -> None:
    leave_behind("left")
    name = f"lp.{ns}.left"
    assert run("sweep", "--ns", ns, "--dry-run").stdout.splitlines()[0] == f"would remove {name}"
    found = json.loads(run("sweep", "--ns", ns, "--json").stdout)
    assert (found["removed"], found["kept"], found["failed"]) == ([name], [], [])
    assert run("sweep", "--ns", ns).stdout == "0 removed, 0 kept\n"


@pytest.mark.parametrize("arguments", [[], ["rm"], ["ls", "--nonsense"], ["info"]])
def test_bad_usage_is_2(arguments: list[str]) -> None:
    assert run(*arguments).returncode == 2
