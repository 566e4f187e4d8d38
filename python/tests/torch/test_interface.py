"""loup.torch has the names, signatures, dtypes and errors of torch.masked."""

import importlib
import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import loup.torch as masked  # noqa: E402

import loup  # noqa: E402

CLASSES = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
FUNCTIONS = sorted(set(torch.masked.__all__) - set(CLASSES))
X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
I = X.long()  # noqa: E741
B = X > 0
MASK = torch.tensor([[True, False, True], [False, False, False]])
Call = Callable[[Any], Any]

# --- names ---


def test_has_every_name_of_torch_masked() -> None:
    assert sorted(masked.__all__) == sorted(torch.masked.__all__)


@pytest.mark.parametrize("name", CLASSES)
def test_masked_tensors_are_those_of_torch(name: str) -> None:
    assert getattr(masked, name) is getattr(torch.masked, name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_those_of_torch(name: str) -> None:
    function = getattr(masked, name)
    assert inspect.signature(function) == inspect.signature(getattr(torch.masked, name))
    assert function.__name__ == name
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", FUNCTIONS)
def test_annotations_are_those_of_torch(name: str) -> None:
    ours, theirs = getattr(masked, name), getattr(torch.masked, name)
    assert ours.__annotations__ == theirs.__annotations__
    assert ours.__kwdefaults__ == theirs.__kwdefaults__
    assert typing.get_type_hints(ours) == typing.get_type_hints(theirs)


def test_what_torch_has_besides_is_found_here() -> None:
    assert dir(masked) == dir(torch.masked)
    for name in set(dir(torch.masked)) - set(masked.__all__):
        assert name.startswith("__") or getattr(masked, name) is getattr(torch.masked, name)
    with pytest.raises(AttributeError, match="module 'loup.torch' has no attribute 'nothing'"):
        _ = masked.nothing


@pytest.mark.parametrize("name", ["maskedtensor", "maskedtensor.core", "_ops", "_docs"])
def test_modules_of_torch_are_imported_only_once(name: str) -> None:
    theirs = importlib.import_module(f"torch.masked.{name}")
    assert importlib.import_module(f"loup.torch.{name}") is theirs


def test_may_stand_in_the_place_of_torch_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = torch.masked
    monkeypatch.setattr(torch, "masked", masked)
    assert torch.masked._canonical_dim is theirs._canonical_dim
    assert torch.masked.sum(X + 1j, mask=MASK) == theirs.sum(X + 1j, mask=MASK)


def test_loup_does_not_import_torch(run_python: Callable[..., Any]) -> None:
    done = run_python("import sys, loup; loup.ones(3).sum(); sys.exit('torch' in sys.modules)")
    assert done.returncode == 0, done.stderr


# --- errors ---

REFUSED: dict[str, Call] = {
    "a dim out of range": lambda m: m.sum(X, 2),
    "a line's dim out of range": lambda m: m.softmax(X, -3),
    "a repeated dim": lambda m: m.sum(X, (0, 0)),
    "a dim repeated in another form": lambda m: m.amax(X, (1, -1)),
    "a float as dim": lambda m: m.sum(X, 1.0),
    "a str as dim": lambda m: m.sum(X, "a"),
    "two dims for an index": lambda m: m.argmax(X, (0, 1)),
    "dim 1 of a scalar": lambda m: m.sum(X[0, 0], 1),
    "no dim for a line": lambda m: m.softmax(X),
    "a mask of higher rank": lambda m: m.sum(X, mask=MASK[None]),
    "a mask of another shape": lambda m: m.sum(X, mask=MASK[:, :2]),
    "a list as mask": lambda m: m.sum(X, mask=[True]),
    "an array as mask": lambda m: m.sum(X, mask=MASK.numpy()),
    "a list as input": lambda m: m.sum([1.0]),
    "the mean of integers": lambda m: m.mean(I),
    "an integer mean": lambda m: m.mean(X, dtype=torch.int32),
    "softmax of integers": lambda m: m.softmax(I, 1),
    "log_softmax of integers": lambda m: m.log_softmax(I, 1),
    "softmin of integers": lambda m: m.softmin(I, 1),
    "logaddexp of integers": lambda m: m.logaddexp(I, I),
    "the norm of integers": lambda m: m.norm(I),
    "a norm without an order": lambda m: m.norm(X, None),
    "a norm made narrower": lambda m: m.norm(X.double(), dtype=torch.float32),
    "normalized integers": lambda m: m.normalize(I, 2.0, 1),
    "two corrections of var": lambda m: m.var(X, 1, True, correction=1),
    "two corrections of std": lambda m: m.std(X, 1, unbiased=False, correction=1),
    "an integer median of nothing": lambda m: m.median(I, 1, mask=MASK),
    "the largest of nothing": lambda m: m.amax(X[:0], 0),
    "the place of the least of nothing": lambda m: m.argmin(X[:0], 0),
    "the median of nothing": lambda m: m.median(X[:0], 0),
    "the largest size of nothing": lambda m: m.norm(X[:0], float("inf"), 0),
    "keepdim by position": lambda m: m.sum(X, 1, True),
    "axis": lambda m: m.sum(X, axis=1),
    "an unknown keyword": lambda m: m.sum(X, out=X),
    "one mask of a pair": lambda m: m.logaddexp(X, X, mask=MASK),
    "a dtype by name": lambda m: m.sum(X, dtype="float32"),
    "a correction that is no number": lambda m: m.var(X, 0, correction="a"),
    "a nested tensor": lambda m: m.sum(nested(), -1),
    "integers of two kinds": lambda m: m.logaddexp(I, I.int()),
    "softmax of a sparse tensor": lambda m: m.softmax(X.to_sparse(), 0),
    "a product of a sparse tensor without a mask": lambda m: m.prod(X.to_sparse(), 0),
}


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
def test_errors_are_of_the_class_that_torch_raises(call: Call) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        call(torch.masked)
    with pytest.raises(type(theirs.value)):
        call(masked)


def test_errors_are_also_of_our_class() -> None:
    with pytest.raises(loup.DTypeError, match="softmax: expected floating .*, got int64"):
        masked.softmax(I, 1)
    with pytest.raises(loup.ValueError, match="var: expected unbiased or correction, got both"):
        masked.var(X, 1, True, correction=1)
    with pytest.raises(TypeError, match="sum: expected mask as a torch tensor, got list"):
        masked.sum(X, mask=[True])
    with pytest.raises(TypeError, match="sum: expected arguments input, dim, .*, got axis"):
        masked.sum(X, axis=1)


# --- what torch does and loup alone would not ---

KEPT: dict[str, Call] = {
    "a float mask": lambda m: m.sum(X, 1, mask=torch.tensor([[1.0, 0.0, float("nan")]])),
    "an integer mask": lambda m: m.sum(X, 1, mask=MASK.int()),
    "a number as keepdim": lambda m: m.sum(X, 1, keepdim=1),
    "None as keepdim": lambda m: m.sum(X, 1, keepdim=None),
    "scans of integers": lambda m: m.cumsum(I.to(torch.int8), 1),
    "products of integers": lambda m: m.cumprod(I.to(torch.int32), 1),
    "two dtypes": lambda m: m.logaddexp(X, X.double()),
    "a mean of integers with a dtype": lambda m: m.mean(I, dtype=torch.float64),
    "complex numbers": lambda m: m.sum(X + 1j, 1, mask=MASK),
    "a complex result": lambda m: m.sum(X, 1, dtype=torch.complex64),
    "a COO tensor": lambda m: m.sum(X.to_sparse(), 0).to_dense(),
    "a CSR tensor": lambda m: m.sum(X.to_sparse_csr(), 0, keepdim=True).to_dense(),
    "a COO tensor and mask": lambda m: m.amax(X.to_sparse(), 0, mask=MASK.to_sparse()).to_dense(),
    "a COO mask": lambda m: m.sum(X, 1, mask=MASK.to_sparse()),
    "more dims than loup has": lambda m: m.sum(X.reshape([1] * 8 + [2, 3]), 8),
    "dims as a torch.Size": lambda m: m.amax(X, torch.Size([0, 1])),
    "a Python type as dtype": lambda m: m.sum(I, 1, dtype=float),
    "a number as unbiased": lambda m: m.var(X, 0, 1),
    "no correction": lambda m: m.std(X, 0, unbiased=0),
    "a bool as correction": lambda m: m.var(X, 0, correction=True),
    "a float and integers": lambda m: m.logaddexp(X, I, other_mask=MASK),
    "integers and a float": lambda m: m.logaddexp(I, X),
    "halves and integers": lambda m: m.logaddexp(X.half(), I),
    "integers and a float of no dims": lambda m: m.logaddexp(I, X.double()[0, 0]),
    "a float and integers with a dtype": lambda m: m.logaddexp(I, X, dtype=torch.float64),
    "a product over no dims": lambda m: m.prod(X, []),
    "a masked product over no dims": lambda m: m.prod(I.int(), dim=[], keepdim=True, mask=MASK),
    "a product over all dims": lambda m: m.prod(X, ()),
    "a sum over an empty list of dims": lambda m: m.sum(X, [], mask=MASK),
    "a nested tensor": lambda m: m.softmax(nested(), -1).to_padded_tensor(0),
}


def nested() -> Any:
    return torch.nested.nested_tensor([torch.arange(6.0).reshape(2, 3), torch.ones(3, 3)])


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("call", KEPT.values(), ids=KEPT.keys())
def test_code_for_torch_keeps_its_results(call: Call) -> None:
    ours, theirs = call(masked), call(torch.masked)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", ["prod", "logaddexp"])
def test_gradients_go_through_what_is_not_loups(name: str) -> None:
    x = X.clone().requires_grad_()
    y = masked.prod(x, [], mask=MASK) if name == "prod" else masked.logaddexp(x, I)
    y.sum().backward()
    assert x.grad.tolist() == (MASK if name == "prod" else torch.full((2, 3), 0.5)).tolist()


def test_tensors_without_elements_go_to_torch() -> None:
    assert masked.sum(X.to("meta"), 0).shape == (3,)
    assert masked.sum(X.to("meta"), 0).is_meta
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        assert masked.softmax(torch.empty(4, 2), 0).shape == (4, 2)


# --- MaskedTensors of torch ---


def assert_same(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "amax", "median"])
def test_the_mask_of_a_masked_tensor_counts(name: str) -> None:
    own = torch.tensor([[True, True, True], [False, True, True]])
    x = masked.masked_tensor(X, own)
    function = getattr(masked, name)
    assert_same(function(x, 1), function(X, 1, mask=own))
    more = torch.tensor([True, False, True])
    assert_same(function(x, 1, mask=more), function(X, 1, mask=own & more))


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_both_operands_of_logaddexp_may_be_masked_tensors() -> None:
    a = masked.masked_tensor(X, MASK)
    b = masked.masked_tensor(X, ~MASK)
    assert torch.equal(masked.logaddexp(a, b), X)


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_a_masked_tensor_gets_its_gradient() -> None:
    x = masked.masked_tensor(X, MASK, requires_grad=True)
    masked.sum(x).backward()
    assert x.grad.to_tensor(0).tolist() == MASK.float().tolist()


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_masks_that_do_not_fit_a_masked_tensor_are_refused() -> None:
    x = masked.masked_tensor(X, MASK)
    with pytest.raises(IndexError, match="sum: expected a mask of at most 2 dims, got 3"):
        masked.sum(x, mask=MASK[None])
    with pytest.raises(RuntimeError):
        masked.sum(x, mask=MASK[:, :2])
