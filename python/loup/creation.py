"""Tensors of zeros and ones: full() with the value that users expect."""

from collections.abc import Sequence

from loup._loup import Tensor, float32, full, full_like


def zeros(shape: int | Sequence[int], dtype: object = None) -> Tensor:
    """Zeros everywhere; float32 unless another dtype is given."""
    return full(shape, 0, float32 if dtype is None else dtype)


def ones(shape: int | Sequence[int], dtype: object = None) -> Tensor:
    """Ones everywhere; float32 unless another dtype is given."""
    return full(shape, 1, float32 if dtype is None else dtype)


def zeros_like(input: object, dtype: object = None) -> Tensor:
    """Zeros with the shape of input, and its dtype unless another is given."""
    return full_like(input, 0, dtype)


def ones_like(input: object, dtype: object = None) -> Tensor:
    """Ones with the shape of input, and its dtype unless another is given."""
    return full_like(input, 1, dtype)
