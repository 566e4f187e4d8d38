"""`pip install .` from a clean copy, and a wheel, give a complete package."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

MASKED_SUM = """
import loup
x = loup.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
mask = loup.tensor([[True, False, True], [True, True, False]])
sums = loup.masked.sum(x, dim=1, mask=mask)
print(loup.__version__, sums[0].item(), sums[1].item())
"""


class Environment:
    """A fresh virtual environment with only the package in it."""

    def __init__(self, shell, folder: Path) -> None:
        self.shell = shell
        self.folder = folder
        shell.run("python3", "-m", "venv", folder)

    def pip(self, *arguments: str | Path, build_folder: Path | None = None) -> None:
        variables = {
            "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count()),
            # What is in a package does not depend on it, and it takes half of the time.
            "SKBUILD_CMAKE_DEFINE": "CMAKE_CXX_FLAGS_RELEASE=-O0;LOUP_KERNEL_FLAGS=-O0",
        }
        if build_folder:
            variables["SKBUILD_BUILD_DIR"] = str(build_folder)
        self.shell.run(self.folder / "bin/python", "-m", "pip", *arguments, env=variables)

    def run(self, name: str, *arguments: str) -> str:
        # Outside of the sources, so that nothing but the installed package is imported.
        return self.shell.run(self.folder / "bin" / name, *arguments, cwd=self.folder).strip()

    @property
    def package(self) -> Path:
        return next(self.folder.glob("lib/python3*/site-packages/loup"))


@pytest.fixture(scope="module")
def build_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared, so that the library is compiled once for both ways to install."""
    return tmp_path_factory.mktemp("wheel-build")


@pytest.fixture(scope="module")
def from_sources(shell, clean_copy: Path, build_folder: Path, tmp_path_factory) -> Environment:
    environment = Environment(shell, tmp_path_factory.mktemp("from-sources"))
    environment.pip("install", clean_copy, build_folder=build_folder)
    return environment


@pytest.fixture(scope="module")
def wheel(from_sources, clean_copy: Path, build_folder: Path, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    from_sources.pip("wheel", "--no-deps", "-w", folder, clean_copy, build_folder=build_folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def from_wheel(shell, wheel: Path, tmp_path_factory) -> Environment:
    environment = Environment(shell, tmp_path_factory.mktemp("from-wheel"))
    environment.pip("install", wheel)
    return environment


@pytest.fixture(scope="module", params=["from_sources", "from_wheel"])
def environment(request: pytest.FixtureRequest) -> Environment:
    return request.getfixturevalue(request.param)


def test_package_imports_and_computes_without_numpy(environment: Environment) -> None:
    with pytest.raises(AssertionError, match="No module named 'numpy'"):
        environment.run("python", "-c", "import numpy")
    assert environment.run("python", "-c", MASKED_SUM) == "0.1.0 4.0 9.0"


def test_package_carries_stubs_and_marker(environment: Environment) -> None:
    stubs = (environment.package / "_loup.pyi").read_text()
    assert "class Tensor" in stubs
    assert (environment.package / "py.typed").exists()


def test_tool_runs(environment: Environment) -> None:
    assert environment.run("loup", "--version").endswith("0.1.0")


def test_wheel_serves_every_python_from_3_11_on(wheel: Path) -> None:
    assert wheel.name.startswith("loup-0.1.0-cp311-abi3-")


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "loup/__init__.py",
        "loup/_loup.abi3.so",
        "loup/_loup.pyi",
        "loup/py.typed",
        "loup-0.1.0.data/scripts/loup",
        "loup-0.1.0.dist-info/licenses/LICENSE",
    } <= names
    outside = ("loup/", "loup-0.1.0.data/scripts/", "loup-0.1.0.dist-info/")
    assert [name for name in names if not name.startswith(outside)] == []


def test_module_links_no_library_of_ours_and_no_mpi(environment: Environment) -> None:
    module = environment.package / "_loup.abi3.so"
    output = subprocess.run(["readelf", "-d", module], capture_output=True, text=True, check=True)
    needed = [line for line in output.stdout.splitlines() if "(NEEDED)" in line]
    assert needed != []
    assert [line for line in needed if "libloup" in line or "mpi" in line.lower()] == []
