"""
The masked operators and MaskedTensor.

Every operator takes ``mask=``: True where an element counts. Masks are broadcast to the input
and never change it; what they hide reaches neither a result nor a gradient.
"""

from collections.abc import Sequence
from typing import Any, TypeGuard

import loup._loup
from loup._loup import (
    MaskedTensor as MaskedTensor,
    as_masked_tensor as as_masked_tensor,
    output_mask as output_mask
)


def masked_tensor(data: object, mask: object, requires_grad: bool = False) -> loup._loup.MaskedTensor:
    """A MaskedTensor with copies of data and mask."""

def is_masked_tensor(obj: object) -> TypeGuard[loup._loup.MaskedTensor]:
    """True for a MaskedTensor, False for anything else."""

def sum(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """Add the elements that count."""

def softmax(input: object, dim: int | None = None, *, dtype: object = None, mask: object = None, axis: int | None = None) -> Any:
    """Exponentials of the elements that count, divided by their sum."""

def log_softmax(input: object, dim: int | None = None, *, dtype: object = None, mask: object = None, axis: int | None = None) -> Any:
    """Logarithms of softmax, exact where that is tiny."""

def softmin(input: object, dim: int | None = None, *, dtype: object = None, mask: object = None, axis: int | None = None) -> Any:
    """Softmax of -x."""

def normalize(input: object, ord: float, dim: int | Sequence[int] | None = None, *, eps: float = 1e-12, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None) -> Any:
    """Divide the elements that count by their norm, or by eps."""

def cumsum(input: object, dim: int | None = None, *, dtype: object = None, mask: object = None, axis: int | None = None) -> Any:
    """Running sums of the elements that count."""

def cumprod(input: object, dim: int | None = None, *, dtype: object = None, mask: object = None, axis: int | None = None) -> Any:
    """Running products of the elements that count."""

def logaddexp(input: object = None, other: object = None, *, dtype: object = None, input_mask: object = None, other_mask: object = None, mask: object = None, input1: object = None, input2: object = None) -> Any:
    """log(exp(x) + exp(y)) of what counts of the two."""

__all__: list[str] = ['MaskedTensor', 'as_masked_tensor', 'is_masked_tensor', 'masked_tensor', 'output_mask', 'sum', 'softmax', 'log_softmax', 'softmin', 'normalize', 'cumsum', 'cumprod', 'logaddexp']
