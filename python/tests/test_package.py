"""What the package says about itself, what importing it does, and its types."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import loup
from loup import _loup

# --- what loup says about itself ---


def test_info_names_version_targets_and_threads() -> None:
    info = loup.info()
    assert info["version"] == loup.__version__
    assert info["target"] == info["targets_runnable"][0]
    assert set(info["targets_runnable"]) <= set(info["targets_compiled"])
    assert info["threads"] == loup.num_threads()


def test_targets_can_be_chosen(targets: list[str]) -> None:
    _loup.choose_target(targets[-1])
    assert loup.info()["target"] == targets[-1]
    _loup.choose_target("")
    assert loup.info()["target"] == targets[0]


@pytest.mark.usefixtures("targets")
def test_refuses_targets_that_do_not_run_here() -> None:
    with pytest.raises(loup.ValueError, match=r"choose_target: expected one of .*, got 'nosuch'"):
        _loup.choose_target("nosuch")


def test_ops_describe_every_operator() -> None:
    assert {"sum", "exp", "add", "where", "cat"} <= {op["name"] for op in loup.ops()}
    for op in loup.ops():
        assert set(op) == {
            "name",
            "family",
            "summary",
            "signature",
            "aliases",
            "masked",
            "takes_masked",
            "differentiable",
            "in_place",
        }
        assert op["signature"].startswith("(")
        assert op["summary"].endswith(".")


@pytest.mark.parametrize("op", loup.ops(), ids=lambda op: op["name"])
def test_every_operator_is_where_it_says(op: dict) -> None:
    for name in [op["name"], *op["aliases"]]:
        home = loup.masked if op["masked"] else loup.Tensor if name.endswith("_") else loup
        found = getattr(home, name)
        assert op["summary"] in found.__doc__
        if op["signature"].startswith("(input"):
            assert callable(getattr(loup.Tensor, name))
        if op["in_place"]:
            assert callable(getattr(loup.Tensor, name + "_"))


@pytest.mark.parametrize("op", [op for op in loup.ops() if op["masked"]], ids=lambda op: op["name"])
def test_every_masked_operator_is_a_function_and_a_method(op: dict) -> None:
    name = op["name"]
    function = getattr(loup.masked, name)
    assert function.__module__ == "loup.masked"
    assert op["summary"] in function.__doc__
    assert name in loup.masked.__all__
    assert callable(getattr(loup.MaskedTensor, name))


@pytest.mark.parametrize("module", [loup, loup.masked])
def test_all_names_what_is_there(module: object) -> None:
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert missing == []
    assert len(set(module.__all__)) == len(module.__all__)


# --- importing ---


def test_import_loads_neither_numpy_nor_torch(run_python: Callable) -> None:
    code = (
        "import sys, loup; print([m for m in ('numpy', 'torch', 'jax', 'mlx') if m in sys.modules])"
    )
    assert run_python(code).stdout.strip() == "[]"


def test_works_without_numpy(run_python: Callable) -> None:
    code = """
import sys
sys.modules["numpy"] = None
import loup
x = loup.tensor([[1.0, 2.0], [3.0, 4.0]])
print(loup.masked.sum(x, 1, mask=[[True, False], [True, True]]).tolist(), memoryview(x).tolist())
try:
    loup.masked.sum(object())
except TypeError as error:
    print(error)
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    values, message = result.stdout.splitlines()
    assert values == "[1.0, 7.0] [[1.0, 2.0], [3.0, 4.0]]"
    assert message.startswith("sum: expected a tensor, an array")


def test_loup_mlx_says_what_is_missing(run_python: Callable) -> None:
    code = """
import sys
sys.modules["mlx"] = None
try:
    import loup.mlx
except ImportError as error:
    print(error)
"""
    message = "loup.mlx: expected MLX to be installed, got no mlx.core; install it with pip install"
    assert run_python(code).stdout.startswith(message)


def test_prints_nothing_at_exit(run_python: Callable) -> None:
    code = "import sys, loup; sys.keep = [loup.float32, loup.ones(3), loup.masked.sum]"
    result = run_python(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


# --- types ---

PACKAGE = Path(loup.__file__).parent

TYPED = """
import loup
from loup import MaskedTensor, Tensor

x: Tensor = loup.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=loup.float32, requires_grad=True)
m: Tensor = x.detach().bool()
total: Tensor = loup.masked.sum(x, dim=1, keepdim=True, mask=m, dtype="float64")
method: Tensor = x.sum((0, 1), mask=m)
mt: MaskedTensor = loup.masked_tensor(x, m)
rows: MaskedTensor = mt.sum(-1)
view: Tensor = x.reshape(4).reshape((2, 2)).permute(1, 0).expand(-1, 2)[0, ..., None]
view[0] = 1
number: float = float(x[0, 0])
flag: bool = x.requires_grad
names: list[str] = [op["name"] for op in loup.ops()]
grad: Tensor | None = x.grad
x.backward(retain_graph=True)
for row in x:
    print(row.tolist(), row.shape[0] + 1, row.dtype.name)
try:
    loup.zeros((2, 3)).fill_(1)
except loup.ShapeError as error:
    kind: ValueError = error
with loup.no_grad():
    loup.set_num_threads(loup.num_threads())
obj: object = mt
if loup.is_masked_tensor(obj):
    obj.to_tensor(0)
back: MaskedTensor = loup.from_numpy_ma(mt.to_numpy_ma(fill_value=0))
"""
MISTAKES = {
    "loup.masked.nosuch(1)": "nosuch",
    "loup.masked.sum(1, keepdim='yes')": "keepdim",
    "loup.masked.sum()": "input",
    "loup.ones(2).nosuch()": "nosuch",
    "loup.zeros('shape')": "zeros",
    "x: int = loup.ones(2)": "Tensor",
}


@pytest.fixture
def check_types(environment: dict[str, str], tmp_path: Path) -> Callable:
    pytest.importorskip("mypy", reason="mypy is not installed")

    def check(code: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "program.py").write_text(code)
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "program.py"],
            cwd=tmp_path,
            env={**environment, "MYPYPATH": str(PACKAGE.parent)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return check


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


def test_a_typed_program_passes_the_strictest_check(check_types: Callable) -> None:
    result = check_types(TYPED)
    assert result.returncode == 0, result.stdout


def test_type_checkers_find_mistakes(check_types: Callable) -> None:
    result = check_types("import loup\n" + "\n".join(MISTAKES))
    found = {
        int(line.split(":")[1]): line for line in result.stdout.splitlines() if ": error:" in line
    }
    assert sorted(found) == list(range(2, 2 + len(MISTAKES))), result.stdout
    assert [
        word
        for word, line in zip(MISTAKES.values(), found.values(), strict=True)
        if word not in line
    ] == []
