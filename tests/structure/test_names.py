"""Names in anonymous namespaces are unique in their folder.

Its sources are compiled some at a time as one. There a second definition may be an error, but one
with other parameters is an overload, or hides the function of a header: calls of another source
would silently mean something else.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Sources of kernels are compiled alone.
FOLDERS = [
    *(each for each in (ROOT / "loup").iterdir() if each.is_dir() and each.name != "kernels"),
    *(each for each in (ROOT / "tests").iterdir() if any(each.glob("*.cpp"))),
    ROOT / "cli",
    ROOT / "python/src",
]
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# clang-format leaves only declarations of a namespace, and labels, at the first column.
DECLARED = re.compile(
    r"^(?:(?:struct|class|enum class|enum) (?:LOUP_EXPORT )?(?P<type>\w+)"
    r"|(?!template|requires|using|namespace|TEST|TYPED_TEST|INSTANTIATE|public|private|protected)"
    r"\w[^=({\n]*?\b(?P<name>\w+)(?:\[\w*\])?(?:\(| =|\{|;))",
    re.MULTILINE,
)
ALIAS = re.compile(r"^using (?P<name>\w+) = .*", re.MULTILINE)


def declared(text: str) -> set[str]:
    return {match["type"] or match["name"] for match in DECLARED.finditer(text)}


def problems(sources: dict[str, str], headers: dict[str, str]) -> list[str]:
    """Names that stand in a second place, with both; aliases may, when they mean the same."""
    found = []
    places = {name: file for file, text in headers.items() for name in declared(text)}
    aliases: dict[str, str] = {}
    for file, text in sources.items():
        own = "\n".join(ANONYMOUS.findall(text))
        for name in sorted(declared(own)):
            other = places.setdefault(name, file)
            if other != file:
                found.append(f"{name} is in {other} and in {file}")
        for match in ALIAS.finditer(own):
            if aliases.setdefault(match["name"], match[0]) != match[0]:
                found.append(f"{match['name']} has another meaning in {file}")
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_folder_has_each_name_once(folder: Path) -> None:
    sources = {path.name: path.read_text() for path in sorted(folder.glob("*.cpp"))}
    headers = {path.name: path.read_text() for path in sorted(folder.glob("*.h"))}
    assert problems(sources, headers) == []


@pytest.mark.parametrize(
    "declaration",
    [
        "int twice(int x) {",
        "constexpr double twice = 2;",
        "const std::vector<int> twice{1, 2};",
        "constexpr int twice[] = {1, 2};",
        "template <class T>\nT twice(T x) {",
        "struct twice {",
        "class twice : public Base {",
        "enum class twice { a, b };",
    ],
)
def test_second_definition_is_noticed(declaration: str) -> None:
    source = f"namespace {{\n\n{declaration}\n\n}}  // namespace\n"
    assert problems({"a.cpp": source, "b.cpp": source}, {}) == ["twice is in a.cpp and in b.cpp"]
    assert problems({"a.cpp": source}, {"b.h": "void twice();"}) == ["twice is in b.h and in a.cpp"]


def test_aliases_may_be_repeated_when_they_mean_the_same() -> None:
    def source(meaning: str) -> str:
        return f"namespace {{\nusing Values = {meaning};\n}}  // namespace\n"

    same = {"a.cpp": source("int"), "b.cpp": source("int")}
    other = {"a.cpp": source("int"), "b.cpp": source("float")}
    assert problems(same, {}) == []
    assert problems(other, {}) == ["Values has another meaning in b.cpp"]


def test_what_is_not_in_an_anonymous_namespace_may_be_declared_and_defined() -> None:
    assert problems({"a.cpp": "int twice(int x) {\n}\n"}, {"a.h": "int twice(int x);"}) == []
