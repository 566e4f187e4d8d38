"""
The masked operators and MaskedTensor.

Every operator takes ``mask=``: True where an element counts. Masks are broadcast to the input
and never change it; what they hide reaches neither a result nor a gradient.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import loup._loup
from loup._loup import (
    MaskedTensor as MaskedTensor,
    as_masked_tensor as as_masked_tensor,
    from_nan as from_nan,
    lengths_to_mask as lengths_to_mask,
    masked_equal as masked_equal,
    masked_inside as masked_inside,
    masked_invalid as masked_invalid,
    masked_outside as masked_outside,
    masked_where as masked_where,
    output_mask as output_mask
)


def masked_tensor(data: object, mask: object, requires_grad: bool = False) -> loup._loup.MaskedTensor:
    """A MaskedTensor with copies of data and mask."""

def is_masked_tensor(obj: object) -> TypeGuard[loup._loup.MaskedTensor]:
    """True for a MaskedTensor, False for anything else."""

def strict_masks() -> Iterator[None]:
    """
    Inside, operators of two masked tensors want equal masks, as in torch.masked.

        ValueError where masks differ; outside the result counts where both operands do. It holds for
        the thread that enters.
    """

def sum(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """Add the elements that count."""

def prod(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """Multiply the elements that count."""

def mean(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """Average the elements that count."""

def amax(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The largest of the elements that count."""

def amin(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The least of the elements that count."""

def argmax(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """Where the first of the largest elements is."""

def argmin(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """Where the first of the least elements is."""

def logsumexp(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials."""

def any(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """Whether an element that counts is not zero."""

def all(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """Whether no element that counts is zero."""

def count(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """How many elements count."""

def var(input: object, dim: int | Sequence[int] | None = None, unbiased: bool | None = None, *, correction: float | None = None, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The mean square of the distance from the mean, corrected."""

def std(input: object, dim: int | Sequence[int] | None = None, unbiased: bool | None = None, *, correction: float | None = None, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The root of the variance."""

def norm(input: object, ord: float = 2.0, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The length of the elements that count, as a vector."""

def max(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The largest element that counts, and along a dim its index."""

def min(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The least element that counts, and along a dim its index."""

def minmax(input: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> tuple[Any, Any]:
    """The least and the largest element that count."""

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

def median(input: object, dim: int = -1, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int = -1, keepdims: bool = False) -> Any:
    """The lower middle of the elements that count, when they are sorted."""

def quantile(input: object, q: object, dim: int | None = None, *, keepdim: bool = False, interpolation: str = 'linear', dtype: object = None, mask: object = None, axis: int | None = None, keepdims: bool = False) -> Any:
    """What stands at places of the sorted elements that count, from 0 to 1."""

def histogram(input: object, bins: object = 10, *, range: tuple[float, float] | None = None, density: bool = False, weight: object = None, mask: object = None) -> tuple[Any, Any]:
    """How many of the elements that count lie in each bin."""

def cov(input: object, *, correction: float = 1, fweights: object = None, aweights: object = None, mask: object = None) -> Any:
    """Covariances of rows, over the observations that count in both."""

def corrcoef(input: object, *, mask: object = None) -> Any:
    """Correlations of rows, over the observations that count in both."""

def weighted_mean(input: object, weight: object, dim: int | Sequence[int] | None = None, *, keepdim: bool = False, dtype: object = None, mask: object = None, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
    """The mean of the elements that count, each as often as its weight says."""

__all__: list[str] = ['MaskedTensor', 'as_masked_tensor', 'from_nan', 'is_masked_tensor', 'lengths_to_mask', 'masked_equal', 'masked_inside', 'masked_invalid', 'masked_outside', 'masked_tensor', 'masked_where', 'output_mask', 'strict_masks', 'sum', 'prod', 'mean', 'amax', 'amin', 'argmax', 'argmin', 'logsumexp', 'any', 'all', 'count', 'var', 'std', 'norm', 'max', 'min', 'minmax', 'softmax', 'log_softmax', 'softmin', 'normalize', 'cumsum', 'cumprod', 'logaddexp', 'median', 'quantile', 'histogram', 'cov', 'corrcoef', 'weighted_mean']
