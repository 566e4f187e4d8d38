"""Where torch itself has to see its operations, loup.torch is torch.masked."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import loup.torch as masked  # noqa: E402
from torch._subclasses import FakeTensor, FakeTensorMode  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit"),
    pytest.mark.filterwarnings("ignore:torch.tensor results are registered as constants"),
    pytest.mark.filterwarnings("ignore:Converting a tensor to a Python"),
    pytest.mark.filterwarnings("ignore:There is a performance drop"),
]
X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
MASK = torch.tensor([[True, True, False], [True, False, True]])
_NAMES = """sum prod mean amax amin argmax argmin median logsumexp var std cumsum cumprod softmax
log_softmax softmin"""
CALLS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(_NAMES.split(), (1,)),
    "norm": (2.0, 1),
    "normalize": (2.0, 1),
}
Function = Callable[..., Any]


def function_of(module: Any, name: str) -> Function:
    if name == "logaddexp":
        return lambda x, mask=MASK: module.logaddexp(x, x + 1, input_mask=mask, other_mask=mask)
    return lambda x, mask=MASK: getattr(module, name)(x, *CALLS[name], mask=mask)


ALL = [*CALLS, "logaddexp"]
everywhere = pytest.mark.parametrize("name", ALL)
differentiable = pytest.mark.parametrize("name", [name for name in ALL if name[:3] != "arg"])


def is_loup() -> bool:
    """Whether loup runs now: torch gives NaN."""
    hidden = torch.zeros(2, dtype=torch.bool)
    return masked.softmax(torch.ones(2), 0, mask=hidden).tolist() == [0.0, 0.0]


def assert_as_torch(run: Callable[[Any], Any]) -> None:
    torch.testing.assert_close(run(masked), run(torch.masked), rtol=0, atol=0, equal_nan=True)
    assert is_loup()


# --- traces ---


@everywhere
def test_a_trace_has_no_constants(name: str) -> None:
    def run(module: Any) -> Any:
        function = function_of(module, name)
        traced = torch.jit.trace(lambda x, mask: x.sum() - function(x, mask), (X, MASK))
        return traced(X * 10, MASK.flip(0))

    assert_as_torch(run)


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@everywhere
def test_a_graph_has_no_constants(name: str, mode: str) -> None:
    def run(module: Any) -> Any:
        function = function_of(module, name)
        graph = make_fx(lambda x, mask: function(x, mask), tracing_mode=mode)(X, MASK)
        return graph(X * 10, MASK.flip(0))

    assert_as_torch(run)


def test_an_exported_module_has_no_constants() -> None:
    def run(module: Any) -> Any:
        class Centered(torch.nn.Module):
            def forward(self, x: Any, mask: Any) -> Any:
                return x - module.mean(x, 1, keepdim=True, mask=mask)

        return torch.export.export(Centered(), (X, MASK), strict=False).module()(X * 10, ~MASK)

    assert_as_torch(run)


# --- modes ---


class Seen(TorchDispatchMode):
    """Lists the operations it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))


@everywhere
def test_a_mode_sees_what_it_sees_in_torch(name: str) -> None:
    def run(module: Any) -> list[str]:
        with Seen() as seen:
            function_of(module, name)(X)
        return seen.names

    assert run(masked) == run(torch.masked)


def test_fake_tensors_stay_fake() -> None:
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert isinstance(masked.sum(X, 1), FakeTensor)


def test_a_record_from_before_a_mode_has_its_gradient() -> None:
    x = X.clone().requires_grad_()
    y = masked.sum(x, 1, mask=MASK)
    with Seen():
        y.sum().backward()
    assert x.grad.tolist() == MASK.float().tolist()


# --- transforms and tangents ---

TRANSFORMS: dict[str, Callable[[Function], Any]] = {
    "vmap": lambda f: torch.vmap(f)(torch.stack([X, X + 1])),
    "grad": lambda f: torch.func.grad(lambda x: f(x).sum())(X),
    "jvp": lambda f: torch.func.jvp(f, (X,), (X.flip(0),)),
    "jacrev": lambda f: torch.func.jacrev(f)(X),
    "a gradient of a transform": lambda f: torch.func.vmap(torch.func.grad(lambda x: f(x).sum()))(
        torch.stack([X, X + 1])
    ),
    "functionalize": lambda f: torch.func.functionalize(lambda x: f(x.clone().add_(1)))(X),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@differentiable
def test_transforms_are_those_of_torch(name: str, transform: Any) -> None:
    assert_as_torch(lambda module: transform(function_of(module, name)))


@differentiable
def test_tangents_are_those_of_torch(name: str) -> None:
    def run(module: Any) -> Any:
        with forward_ad.dual_level():
            y = function_of(module, name)(forward_ad.make_dual(X, X.flip(0)))
            return forward_ad.unpack_dual(y).tangent

    assert run(masked) is not None
    assert_as_torch(run)


def test_what_is_not_transformed_keeps_its_gradient() -> None:
    x = X.clone().requires_grad_()
    y = torch.vmap(lambda z: masked.sum(x, mask=MASK) * z)(torch.ones(4))
    y.sum().backward()
    assert x.grad.tolist() == (4 * MASK).tolist()


def test_batched_gradients_of_a_record_are_refused() -> None:
    x = X.clone().requires_grad_()
    y = masked.softmax(x, 1, mask=MASK)
    rule = "expected gradients with elements, got those of a transform of torch.func"
    with pytest.raises(NotImplementedError, match=rule):
        torch.autograd.grad(y, x, torch.ones(2, 2, 3), True, is_grads_batched=True)
    with pytest.raises(NotImplementedError, match=rule):
        torch.vmap(lambda g: torch.autograd.grad(y, x, g))(torch.ones(2, 2, 3))
    y.backward(torch.ones(2, 3))
    assert x.grad is not None


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_indices_are_those_of_torch_in_a_map(name: str) -> None:
    assert_as_torch(lambda module: TRANSFORMS["vmap"](function_of(module, name)))


# --- compiled functions ---


NONE = torch.zeros(2, 3, dtype=torch.bool)


def test_compiled_functions_call_loup_between_their_graphs() -> None:
    compiled = torch.compile(lambda x: masked.softmax(x * 2, 1, mask=NONE) + 1, backend="eager")
    assert compiled(X).tolist() == [[1.0] * 3] * 2


def test_one_graph_is_not_enough() -> None:
    options = {"backend": "eager", "fullgraph": True}
    compiled = torch.compile(lambda x: masked.softmax(x * 3, 1, mask=NONE), **options)
    with pytest.raises(torch._dynamo.exc.Unsupported):
        compiled(X)
