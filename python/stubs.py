"""Write the stubs of loup's modules into a folder: stubs.py <folder>.

nanobind's stubgen does the work. It does not see that loup.bool, Tensor.float and loup.ValueError
hide the built-in names which annotations and base classes mean; those get their prefix here. Nor does
it know that a function gives a MaskedTensor where it is given one: overloads say so.
"""

import ast
import builtins
import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType

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


def names_that_take_masked(module: ModuleType) -> set[str]:
    """Operators and their aliases, and what makes tensors like others."""
    chosen = [op for op in module.ops() if op["takes_masked"] and not op["masked"]]
    names = {name for op in chosen for name in (op["name"], *op["aliases"])}
    return (names | {"empty_like", "full_like"}) - PLAIN


# Operators that take masked tensors and give plain ones.
PLAIN = {"argsort", "multinomial"}
# Arguments of which a masked one makes the result masked; the weights that may be left out do not.
OPERANDS = re.compile(
    r"\b(input|other|end|target|weight|mat2|vec|tensor|vec2|src|source): object\b(?! =)"
)
SEVERAL = re.compile(r"(\btensors: Sequence\[|\*operands: )object\b")
SIGNATURE = re.compile(r"^def (\w+)\((.*)\) -> (.*):$", re.MULTILINE)
IGNORED = "  # type: ignore[overload-overlap]"


def overloads(name: str, arguments: str, result: str) -> list[str]:
    """What a function gives for masked tensors, and then what it gives for others."""
    if SEVERAL.search(arguments):
        plain = SEVERAL.sub(r"\1Tensor", arguments)
        return [
            f"def {name}({plain}) -> {result}: ...",
            f"def {name}({arguments}) -> Any:",
        ]
    masked = result.replace("Tensor", "MaskedTensor")
    if name == "sort" or name == "topk":
        masked = "tuple[MaskedTensor, Tensor]"
    found = [
        arguments[: operand.start()] + f"{operand[1]}: MaskedTensor" + arguments[operand.end() :]
        for operand in OPERANDS.finditer(arguments)
    ]
    return [
        *(f"def {name}({each}) -> {masked}: ...{IGNORED}" for each in found),
        f"def {name}({arguments}) -> {result}:",
    ]


def with_overloads(stub: str, names: set[str]) -> str:
    """Replace the functions of these names that give tensors."""

    def replaced(found: re.Match[str]) -> str:
        name, arguments, result = found.groups()
        if name not in names or "Tensor" not in result or "MaskedTensor" in result:
            return found[0]
        every = overloads(name, arguments, result)
        return "\n".join(f"@overload\n{each}" for each in every) if len(every) > 1 else found[0]

    text = SIGNATURE.sub(replaced, stub)
    return re.sub(
        r"^from typing import (.*)$", r"from typing import \1, overload", text, count=1, flags=re.M
    )


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
        if name == "loup._loup":
            stub = with_overloads(stub, names_that_take_masked(module))
        path.write_text(with_builtins(stub))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
