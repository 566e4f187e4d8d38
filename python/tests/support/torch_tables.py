"""PyTorch's own samples for torch.masked, run through loup.torch and torch.masked."""

import sys
import types
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import loup.torch as masked
import torch
from loup.torch.exchange import DTYPES

# The tables import PyTorch's test classes, which want this module; no table uses it.
try:
    import expecttest  # noqa: F401
except ImportError:
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase  # type: ignore[attr-defined]

from torch.testing._internal.opinfo.definitions._masked import op_db

OPERATORS = {op.name.removeprefix("masked."): op for op in op_db}
HALVES = (torch.float16, torch.bfloat16)
LINES = ("softmax", "log_softmax", "softmin")


@dataclass
class Outcome:
    """A result, and the gradients of the inputs where it has any."""

    result: Any
    gradients: list[Any]


@dataclass
class Sample:
    """One call, made as often as needed."""

    name: str
    inputs: list[Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    def run(self, module: Any, dtype: Any = None, *, hides_gradient: bool = False) -> Outcome:
        """Call the function of a module, on inputs made dtype."""
        inputs = [x.detach().to(dtype or x.dtype).clone() for x in self.inputs]
        for x, given in zip(inputs, self.inputs, strict=True):
            x.requires_grad_(given.requires_grad)
        result = getattr(module, self.name)(*inputs, *self.arguments, **self.options)
        if not result.requires_grad:
            return Outcome(result, [])
        gradient = torch.linspace(0.5, 1.5, result.numel(), dtype=torch.float64)
        gradient = gradient.to(self.inputs[0].dtype).to(result.dtype).reshape(result.shape)
        if hides_gradient:
            gradient = torch.where(self.counts(), gradient, 0)
        found = torch.autograd.grad(result, inputs, gradient, allow_unused=True)
        zeros = map(torch.zeros_like, inputs)
        return Outcome(
            result.detach(), [z if g is None else g for g, z in zip(found, zeros, strict=True)]
        )

    def counts(self) -> Any:
        mask = self.options.get("mask")
        shape = self.inputs[0].shape
        return torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)

    def lines_without_elements(self) -> Any:
        """Where a normalization has nothing that counts along its dim."""
        counts = self.counts()
        return ~counts.any(self.arguments[0], keepdim=True).expand(counts.shape)


def samples(name: str, dtype: Any, *, requires_grad: bool) -> Iterator[Sample]:
    for given in OPERATORS[name].sample_inputs("cpu", dtype, requires_grad=requires_grad):
        tensors = [x for x in given.args if isinstance(x, torch.Tensor)]
        arguments = given.args[len(tensors) :]
        yield Sample(name, [given.input, *tensors], arguments, given.kwargs)


def all_samples(name: str) -> Iterator[Sample]:
    """Samples of every dtype of the table that loup has; with gradients where there are any."""
    for dtype in sorted(OPERATORS[name].dtypes & DTYPES.keys(), key=str):
        yield from samples(name, dtype, requires_grad=False)
        if dtype.is_floating_point and OPERATORS[name].supports_autograd:
            yield from samples(name, dtype, requires_grad=True)


TOLERANCES = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float64: 1e-9}


def is_close(found: Any, expected: Any, dtype: Any) -> bool:
    """Whether two results agree as far as dtype allows, measured by the largest that is finite."""
    tolerance = TOLERANCES.get(dtype, 2e-5)
    if dtype in HALVES:
        expected = expected.to(dtype)  # what is too large is inf
    found, expected = found.double(), expected.double()
    size = torch.where(torch.isfinite(expected), expected.abs(), 0)
    scale = 1 + size.max().item() if dtype in HALVES and size.numel() else 1
    return found.shape == expected.shape and torch.allclose(
        found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True
    )


def differences(sample: Sample) -> Iterator[str]:
    """The ways in which loup.torch departs from torch.masked; "other" for those without a name."""
    dtype = sample.inputs[0].dtype
    ours, theirs = sample.run(masked), sample.run(torch.masked)
    is_index = sample.name in ("argmax", "argmin")
    if ours.result.dtype != theirs.result.dtype:
        if is_index and ours.result.dtype is torch.int64:
            yield "an index is int64"
            ours.result = ours.result.to(theirs.result.dtype)
        elif sample.name == "logsumexp" and ours.result.dtype is torch.float32:
            yield "integers give float32"
            theirs = sample.run(torch.masked, torch.float32)
        else:
            yield f"{ours.result.dtype} instead of {theirs.result.dtype}"
    if dtype in HALVES and not is_index:
        theirs = sample.run(torch.masked, torch.float64)  # torch's own halves overflow, and round
    if not is_close(ours.result, theirs.result, dtype):
        empty = sample.lines_without_elements() if sample.name in LINES else torch.tensor(False)
        value = -torch.inf if sample.name == "log_softmax" else 0
        theirs.result = torch.where(empty, value, theirs.result)
        same = empty.any() and is_close(ours.result, theirs.result, dtype)
        yield "lines without elements are not NaN" if same else "other value"
    yield from _differences_of_gradients(sample, ours, theirs)


def _differences_of_gradients(sample: Sample, ours: Outcome, theirs: Outcome) -> Iterator[str]:
    dtype = sample.inputs[0].dtype
    if len(ours.gradients) != len(theirs.gradients):
        yield "other requires_grad"
        return
    if all(_are_close(ours, theirs, dtype)):
        return
    if sample.name in LINES:
        exact = torch.float64 if dtype in HALVES else None
        theirs = sample.run(torch.masked, exact, hides_gradient=True)
        empty = sample.lines_without_elements()
        if empty.any():
            yield "lines without elements are not NaN"
            theirs.gradients[0] = torch.where(empty, 0, theirs.gradients[0])
        if all(_are_close(ours, theirs, dtype)):
            if sample.name == "log_softmax" and not sample.counts().all():
                yield "gradients of masked outputs do not count"
            return
    yield "other gradient"


def _are_close(ours: Outcome, theirs: Outcome, dtype: Any) -> Iterator[bool]:
    for found, expected in zip(ours.gradients, theirs.gradients, strict=True):
        yield found.dtype == dtype and is_close(found, expected, dtype)
