"""Write the stubs of loup's modules into a folder: stubs.py <folder>.

nanobind's stubgen does the work. It does not see that loup.bool, Tensor.float and loup.ValueError
hide the built-in names which annotations and base classes mean; those get their prefix here.
"""

import ast
import builtins
import importlib
import os
import re
import sys
from pathlib import Path

from nanobind.stubgen import ReplacePattern, StubGen

MODULES = ["loup._loup", "loup.masked"]
# Left out. To stubgen fill_ is as private as _names, so it is told to keep both.
PRIVATE = ReplacePattern(re.compile(r"^loup\.\w+\._[a-z]\w*$"), [], 0)


def hidden_names(tree: ast.Module) -> set[str]:
    """Built-in names that the stub gives another meaning somewhere."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names & set(dir(builtins))


def types_in(tree: ast.Module) -> list[ast.expr]:
    """The expressions of the stub that stand for types."""
    types: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            types.append(node.returns)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            types.append(node.annotation)
        elif isinstance(node, ast.ClassDef):
            types += node.bases
    return [node for node in types if node is not None]


def with_builtins(stub: str) -> str:
    tree = ast.parse(stub)
    hidden = hidden_names(tree)
    places = {
        (node.lineno - 1, node.col_offset)
        for root in types_in(tree)
        for node in ast.walk(root)
        if isinstance(node, ast.Name) and node.id in hidden
    }
    lines = [line.encode() for line in stub.splitlines()]
    for row, column in sorted(places, reverse=True):
        lines[row] = lines[row][:column] + b"builtins." + lines[row][column:]
    text = b"\n".join(lines).decode() + "\n"
    if not places:
        return text
    first_import = min(n.lineno for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom))
    lines = text.splitlines(keepends=True)
    return "".join([*lines[: first_import - 1], "import builtins\n", *lines[first_import - 1 :]])


def main(folder: Path) -> None:
    os.environ["NB_STUBGEN"] = "1"
    for name in MODULES:
        module = importlib.import_module(name)
        path = folder / f"{name.rpartition('.')[2]}.pyi"
        generator = StubGen(
            module=module, quiet=True, include_private=True, patterns=[PRIVATE], output_file=path
        )
        generator.put(module)
        stub = generator.get().replace("__all__: list =", "__all__: list[str] =")
        path.write_text(with_builtins(stub))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
