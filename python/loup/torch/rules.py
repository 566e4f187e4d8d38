"""Where torch.masked has another rule than loup, and one that loses nothing: dtypes and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from loup import _loup

DType: TypeAlias = torch.dtype | None
Inputs: TypeAlias = tuple[torch.Tensor, ...]

# --- dtypes ---


def _floats_only(inputs: Inputs, dtype: DType) -> tuple[Inputs, DType]:
    if not (dtype or inputs[0].dtype).is_floating_point:
        raise _loup.ValueError(
            f"mean: expected a floating point dtype, got {dtype or inputs[0].dtype}; "
            "give dtype=torch.float32"
        )
    return inputs, dtype


def _integers_stay(inputs: Inputs, dtype: DType) -> tuple[Inputs, DType]:
    own = inputs[0].dtype
    is_integer = not own.is_floating_point and own is not torch.bool
    return inputs, own if dtype is None and is_integer else dtype


def _first_decides(inputs: Inputs, dtype: DType) -> tuple[Inputs, DType]:
    first, second = inputs
    if first.dtype is second.dtype:
        return inputs, dtype
    if first.is_floating_point() != second.is_floating_point():
        common = torch.result_type(first, second)
        inputs = (first.to(common), second.to(common))
    return inputs, dtype or first.dtype


# What to give to loup, for inputs and the dtype that was asked for.
DTYPE_RULES: dict[str, Callable[[Inputs, DType], tuple[Inputs, DType]]] = {
    "mean": _floats_only,
    "cumsum": _integers_stay,
    "cumprod": _integers_stay,
    "logaddexp": _first_decides,
}

# --- errors ---


class ArgumentTypeError(TypeError, AttributeError):
    """Something that is no tensor; torch.masked fails on its attributes."""


class UnsupportedDTypeError(_loup.DTypeError, NotImplementedError):
    """A dtype without a kernel; torch.masked has no implementation for it either."""


class ConflictError(_loup.ValueError, AssertionError):
    """Arguments that exclude each other; torch.masked asserts that they do not come together."""


_WITHOUT_INTEGERS = {"softmax", "log_softmax", "softmin", "logaddexp"}


def as_torch_would(name: str, error: Exception, options: dict[str, Any]) -> Exception:
    """The error as one that is also of the class which torch.masked raises."""
    text = str(error)
    if isinstance(error, _loup.DTypeError) and name in _WITHOUT_INTEGERS:
        return UnsupportedDTypeError(text)
    if isinstance(error, _loup.ValueError) and "correction" in options and "unbiased" in text:
        return ConflictError(text)
    return error
