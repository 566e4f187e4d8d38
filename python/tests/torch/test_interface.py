"""loup.torch has the names, signatures, dtypes and errors of torch.masked."""

import inspect
import pickle
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
    "softmax of a sparse tensor": lambda m: m.softmax(X.to_sparse(), 0),
    "a product of a sparse tensor without a mask": lambda m: m.prod(X.to_sparse(), 0),
}


@pytest.mark.filterwarnings("ignore:Sparse")
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
}


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("call", KEPT.values(), ids=KEPT.keys())
def test_code_for_torch_keeps_its_results(call: Call) -> None:
    ours, theirs = call(masked), call(torch.masked)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    torch.testing.assert_close(ours, theirs)


def test_tensors_without_elements_go_to_torch() -> None:
    assert masked.sum(X.to("meta"), 0).shape == (3,)
    assert masked.sum(X.to("meta"), 0).is_meta
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        assert masked.softmax(torch.empty(4, 2), 0).shape == (4, 2)


# --- what torch does and loup.torch does not; docs/torch.md says why ---

DIFFERENT: dict[str, tuple[Call, Any]] = {
    "no dim for softmax": (lambda m: m.softmax(X, None), TypeError),
    "two dims for softmax": (lambda m: m.softmax(X, (0, 1)), TypeError),
    "no dim for a median": (lambda m: m.median(X, None), TypeError),
    "a bool as dim": (lambda m: m.sum(X, True), TypeError),
    "an integer variance": (lambda m: m.var(X, dtype=torch.int32), ValueError),
    "the dtype of a product": (lambda m: m.prod(I, dtype=torch.int32), torch.int32),
    "the dtype of a median": (lambda m: m.median(X, dtype=torch.float64), torch.float64),
    "the dtype of an index": (lambda m: m.argmax(X), torch.int64),
    "logsumexp of integers": (lambda m: m.logsumexp(I), torch.float32),
    "scans of bools": (lambda m: m.cumsum(B, 1), torch.int64),
    "the largest of bools": (lambda m: m.amax(B, mask=MASK), torch.bool),
    "the variance of bools": (lambda m: m.var(B), torch.float32),
}


def outcome(call: Call, module: Any) -> Any:
    try:
        return call(module).dtype
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(("call", "expected"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_differences_are_those_of_the_documentation(call: Call, expected: Any) -> None:
    ours, theirs = outcome(call, masked), outcome(call, torch.masked)
    if isinstance(expected, type):
        assert issubclass(ours, expected)
        assert not isinstance(theirs, type)
    else:
        assert ours == expected
        assert theirs != expected


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
