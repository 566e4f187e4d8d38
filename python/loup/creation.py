"""Tensors of zeros and ones: full() with the value that users expect."""

from collections.abc import Sequence
from typing import overload

from loup._loup import MaskedTensor, Tensor, float32, full, full_like


def zeros(shape: int | Sequence[int], dtype: object = None, requires_grad: bool = False) -> Tensor:
    """Zeros everywhere; float32 unless another dtype is given."""
    return full(shape, 0, float32 if dtype is None else dtype, requires_grad)


def ones(shape: int | Sequence[int], dtype: object = None, requires_grad: bool = False) -> Tensor:
    """Ones everywhere; float32 unless another dtype is given."""
    return full(shape, 1, float32 if dtype is None else dtype, requires_grad)


@overload
def zeros_like(  # type: ignore[overload-overlap]
    input: MaskedTensor, dtype: object = None, requires_grad: bool = False
) -> MaskedTensor: ...
@overload
def zeros_like(input: object, dtype: object = None, requires_grad: bool = False) -> Tensor: ...
def zeros_like(
    input: object, dtype: object = None, requires_grad: bool = False
) -> Tensor | MaskedTensor:
    """Zeros with the shape of input, and its dtype unless another is given; a MaskedTensor also
    gives its mask."""
    return full_like(input, 0, dtype, requires_grad)


@overload
def ones_like(  # type: ignore[overload-overlap]
    input: MaskedTensor, dtype: object = None, requires_grad: bool = False
) -> MaskedTensor: ...
@overload
def ones_like(input: object, dtype: object = None, requires_grad: bool = False) -> Tensor: ...
def ones_like(
    input: object, dtype: object = None, requires_grad: bool = False
) -> Tensor | MaskedTensor:
    """Ones with the shape of input, and its dtype unless another is given; a MaskedTensor also
    gives its mask."""
    return full_like(input, 1, dtype, requires_grad)
