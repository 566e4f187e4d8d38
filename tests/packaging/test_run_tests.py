"""tools/run_tests counts what ran, and does not call silence a success."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def case(result: str = "COMPLETED", status: str = "RUN", failed: bool = False) -> dict[str, object]:
    return {"status": status, "result": result, **({"failures": [{}]} if failed else {})}


def write_binary(folder: Path, name: str, cases: list[dict[str, object]], status: int) -> Path:
    """A stand-in for a GoogleTest binary: writes its report and exits."""
    report = json.dumps({"testsuites": [{"testsuite": cases}]})
    binary = folder / name
    binary.write_text(
        f"#!/bin/sh\necho '{report}' >\"${{2#--gtest_output=json:}}\"\nexit {status}\n"
    )
    binary.chmod(0o755)
    return binary


def run(folder: Path, binaries: list[Path], *arguments: str) -> tuple[int, str]:
    (folder / "tests").mkdir()
    (folder / "tests/binaries.txt").write_text("".join(f"{binary}\n" for binary in binaries))
    result = subprocess.run(
        [sys.executable, ROOT / "tools/run_tests", "--build", folder, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return result.returncode, result.stdout.splitlines()[-1]


def test_passed_failed_and_skipped_are_counted(tmp_path: Path) -> None:
    cases = [case(), case(), case(failed=True), case(result="SKIPPED"), case(status="NOTRUN")]
    binary = write_binary(tmp_path, "a_tests", cases, 1)
    assert run(tmp_path, [binary]) == (1, "2 passed, 1 failed, 2 skipped")


def test_success_ends_with_the_plain_total(tmp_path: Path) -> None:
    binaries = [write_binary(tmp_path, name, [case()], 0) for name in ("a_tests", "b_tests")]
    assert run(tmp_path, binaries) == (0, "2 passed, 0 failed")


def test_only_the_named_layers_run(tmp_path: Path) -> None:
    binaries = [write_binary(tmp_path, name, [case()], 0) for name in ("a_tests", "b_tests")]
    assert run(tmp_path, binaries, "b") == (0, "1 passed, 0 failed")


def test_a_crash_without_a_report_fails(tmp_path: Path) -> None:
    binary = tmp_path / "a_tests"
    binary.write_text("#!/bin/sh\nkill -SEGV $$\n")
    binary.chmod(0o755)
    assert run(tmp_path, [binary]) == (1, "0 passed, 1 failed")


def test_a_crash_after_the_report_fails(tmp_path: Path) -> None:
    binary = write_binary(tmp_path, "a_tests", [case()], 3)
    assert run(tmp_path, [binary]) == (1, "1 passed, 1 failed")


def test_nothing_run_is_not_a_success(tmp_path: Path) -> None:
    assert run(tmp_path, []) == (1, "0 passed, 0 failed")
