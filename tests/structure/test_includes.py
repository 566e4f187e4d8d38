"""No layer reaches upward: each `#include "loup/…"` is one that docs/architecture.md allows."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]loup/(?P<path>[^">]+)[">]', re.MULTILINE)

# The layers that each layer stands on directly.
STANDS_ON = {
    "base": [],
    "memory": ["base"],
    "kernels": ["base"],
    "tensor": ["memory"],
    "autograd": ["tensor", "kernels"],
    "ops": ["autograd"],
    "sparse": ["ops"],
    "masked": ["sparse"],
    "nn": ["masked"],
    "dist": ["masked"],
    "io": ["masked"],
}
# Generated and belonging to no layer.
FREE = {"export.h", "version.h"}


def below(layer: str) -> set[str]:
    return {layer}.union(*(below(lower) for lower in STANDS_ON[layer]))


def layers() -> list[str]:
    return sorted(path.name for path in (ROOT / "loup").iterdir() if path.is_dir())


def includes(file: Path) -> list[str]:
    return [match["path"] for match in INCLUDE.finditer(file.read_text())]


def files(layer: str) -> list[Path]:
    found = (ROOT / "loup" / layer).rglob("*")
    return sorted(file for file in found if file.suffix in {".h", ".cpp"})


def reaches_upward(layer: str, path: str) -> bool:
    return path not in FREE and path.split("/")[0] not in below(layer)


def test_every_folder_is_a_known_layer() -> None:
    assert set(layers()) <= set(STANDS_ON)


@pytest.mark.parametrize("layer", layers())
def test_layer_includes_only_what_is_below_it(layer: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)} includes loup/{path}"
        for file in files(layer)
        for path in includes(file)
        if reaches_upward(layer, path)
    ]
    assert wrong == []


@pytest.mark.parametrize("layer", layers())
def test_layer_includes_are_written_from_the_root(layer: str) -> None:
    """A quoted include without `loup/` would escape the other test."""
    quoted = re.compile(r'^\s*#\s*include\s+"(?!loup/)(?P<path>[^"]+)"', re.MULTILINE)
    wrong = [
        f'{file.relative_to(ROOT)} includes "{match["path"]}"'
        for file in files(layer)
        for match in quoted.finditer(file.read_text())
        if not match["path"].startswith("hwy/")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("layer", "path"),
    [
        ("kernels", "tensor/tensor.h"),
        ("autograd", "ops/reduce.h"),
        ("dist", "nn/losses.h"),
        ("nn", "dist/mesh.h"),
        ("tensor", "loup.h"),
    ],
)
def test_reaching_upward_is_noticed(layer: str, path: str) -> None:
    assert reaches_upward(layer, path)


@pytest.mark.parametrize(
    ("layer", "path"),
    [("ops", "kernels/reduce.h"), ("masked", "base/error.h"), ("base", "export.h")],
)
def test_reaching_downward_is_allowed(layer: str, path: str) -> None:
    assert not reaches_upward(layer, path)
