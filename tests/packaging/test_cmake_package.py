"""Projects outside the tree find, build and run the library by every route."""

import os
from pathlib import Path

import pytest

FIND_PACKAGE = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(loup {version} CONFIG REQUIRED)
add_executable(consumer {main})
target_link_libraries(consumer PRIVATE loup::loup)
"""
ASK_FOR_VERSION = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(loup {version} CONFIG QUIET)
message(STATUS "found=${{loup_FOUND}}")
"""
ADD_SUBDIRECTORY = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
set(BUILD_SHARED_LIBS OFF)
set(LOUP_INSTALL ON)
add_subdirectory({root} loup)
add_executable(consumer {main})
target_link_libraries(consumer PRIVATE loup::loup)
"""


def write_project(shell, folder: Path, text: str, version: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    text = text.format(root=shell.root, main=shell.consumer / "main.cpp", version=version)
    (folder / "CMakeLists.txt").write_text(text)
    return folder


def build_with_find_package(shell, folder: Path, prefix: Path) -> Path:
    source = write_project(shell, folder, FIND_PACKAGE)
    shell.cmake(source, folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    shell.cmake_build(folder / "build")
    return folder / "build/consumer"


def check_output(output: str) -> None:
    sums, error = output.splitlines()
    assert sums == "sums 4 9"
    assert error.startswith("ShapeError sum: expected ")
    assert "got shape [2]" in error


def needed_libraries(shell, binary: Path) -> list[str]:
    lines = shell.run("readelf", "-d", binary).splitlines()
    return [line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line]


@pytest.fixture(scope="module")
def subproject(shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build folder of a project that contains the library, static and unoptimised."""
    folder = tmp_path_factory.mktemp("subproject")
    source = write_project(shell, folder, ADD_SUBDIRECTORY)
    shell.cmake(source, folder / "build", "-DCMAKE_BUILD_TYPE=Debug")
    shell.cmake_build(folder / "build")
    return folder / "build"


def test_find_package_works_with_a_moved_tree(shell, installed: Path, tmp_path: Path) -> None:
    check_output(shell.run(build_with_find_package(shell, tmp_path, installed)))


@pytest.mark.parametrize(("version", "accepted"), [("0.1", True), ("0.2", False), ("1.0", False)])
def test_find_package_accepts_the_same_minor_version(
    shell, installed: Path, tmp_path: Path, version: str, accepted: bool
) -> None:
    source = write_project(shell, tmp_path / "project", ASK_FOR_VERSION, version)
    output = shell.cmake(source, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}")
    assert f"found={int(accepted)}" in output


def test_pkg_config_works_with_a_moved_tree(shell, installed: Path, tmp_path: Path) -> None:
    folder = next(installed.rglob("loup.pc")).parent
    env = {"PKG_CONFIG_PATH": str(folder)}
    flags = shell.run("pkg-config", "--cflags", "--libs", "loup", env=env).split()
    folders = [Path(flag[2:]).resolve() for flag in flags if flag.startswith("-I")]
    assert installed / "include" in folders
    compiler = os.environ.get("CXX", "g++")
    main = shell.consumer / "main.cpp"
    shell.run(compiler, "-std=c++20", main, "-o", tmp_path / "consumer", *flags)
    output = shell.run(tmp_path / "consumer", env={"LD_LIBRARY_PATH": str(folder.parent)})
    check_output(output)


def test_add_subdirectory_works(shell, subproject: Path) -> None:
    check_output(shell.run(subproject / "consumer"))


def test_add_subdirectory_builds_no_developer_targets(shell, subproject: Path) -> None:
    targets = shell.run("cmake", "--build", subproject, "--target", "help")
    assert "libloup.a" in targets
    for name in ("loup_cli", "_loup", "base_tests", "quickstart", "loup_bench_limit"):
        assert f"{name}:" not in targets


def test_find_package_works_with_a_static_library(shell, subproject: Path, tmp_path: Path) -> None:
    shell.run("cmake", "--install", subproject, "--prefix", tmp_path / "static")
    program = build_with_find_package(shell, tmp_path / "project", tmp_path / "static")
    check_output(shell.run(program))
    assert not any(name.startswith("libloup") for name in needed_libraries(shell, program))


def test_library_does_not_need_mpi(shell, installed: Path) -> None:
    needed = needed_libraries(shell, next(installed.rglob("libloup.so")))
    assert "libstdc++.so.6" in needed
    assert [name for name in needed if "mpi" in name.lower()] == []


def test_library_carries_its_soname(shell, installed: Path) -> None:
    output = shell.run("readelf", "-d", next(installed.rglob("libloup.so")))
    assert "Library soname: [libloup.so.0]" in output


def test_only_public_headers_are_installed(shell, installed: Path) -> None:
    headers = {str(path.relative_to(installed / "include")) for path in installed.rglob("*.h")}
    assert {"loup/loup.h", "loup/version.h", "loup/export.h", "loup/masked/ops.h"} <= headers
    assert [name for name in headers if name.endswith("-inl.h")] == []


def test_runtime_component_is_the_shared_library_alone(shell, tmp_path: Path) -> None:
    command = ["cmake", "--install", shell.build, "--prefix", tmp_path, "--component", "runtime"]
    shell.run(*command)
    files = sorted(path.name for path in tmp_path.rglob("*") if not path.is_dir())
    assert files == ["LICENSE", "libloup.so.0", "libloup.so.0.1.0"]


def test_installed_tool_runs_from_a_moved_tree(shell, installed: Path) -> None:
    assert shell.run(installed / "bin/loup", "--version").strip().endswith("0.1.0")


def test_installed_files_do_not_name_the_build_folder(shell, installed: Path) -> None:
    texts = [path for path in installed.rglob("*") if path.suffix in {".cmake", ".pc", ".h"}]
    assert [path for path in texts if str(shell.root) in path.read_text()] == []
