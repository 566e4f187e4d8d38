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

__all__: list[str] = ['MaskedTensor', 'as_masked_tensor', 'is_masked_tensor', 'masked_tensor', 'output_mask', 'sum']
