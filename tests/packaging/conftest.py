"""What the packaging tests share: running commands, an installed tree, a clean copy."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Shell:
    """Runs commands, and fails the test with their output when they fail."""

    root = ROOT
    build = ROOT / "build/dev"
    consumer = Path(__file__).resolve().parent / "consumer"

    def run(
        self,
        *command: str | Path,
        cwd: Path = ROOT,
        env: Mapping[str, str] | None = None,
        status: int = 0,
    ) -> str:
        result = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )
        text = " ".join(str(part) for part in command)
        assert result.returncode == status, f"{text}: {result.returncode}\n{result.stdout}"
        return result.stdout

    def cmake(self, source: Path, build: Path, *definitions: str) -> str:
        return self.run("cmake", "-G", "Ninja", "-S", source, "-B", build, *definitions)

    def cmake_build(self, build: Path, *options: str) -> str:
        return self.run("cmake", "--build", build, "--parallel", str(os.cpu_count()), *options)


@pytest.fixture(scope="session")
def shell() -> Shell:
    return Shell()


@pytest.fixture(scope="session")
def installed(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The development build, installed and then moved elsewhere."""
    folder = tmp_path_factory.mktemp("installed")
    shell.run("cmake", "--install", shell.build, "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture(scope="session")
def clean_copy(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources as git sees them: nothing built, nothing ignored."""
    target = tmp_path_factory.mktemp("clean") / "loup"
    listed = shell.run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    return target
