"""The masked operators and MaskedTensor.

Every operator takes ``mask=``: True where an element counts. Masks are broadcast to the input
and never change it; what they hide reaches neither a result nor a gradient.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard

from loup import _loup
from loup._loup import (
    MaskedTensor,
    as_masked_tensor,
    from_nan,
    lengths_to_mask,
    masked_equal,
    masked_inside,
    masked_invalid,
    masked_outside,
    masked_where,
    output_mask,
)


def masked_tensor(data: object, mask: object, requires_grad: bool = False) -> MaskedTensor:
    """A MaskedTensor with copies of data and mask."""
    return MaskedTensor(data, mask, requires_grad)


def is_masked_tensor(obj: object) -> TypeGuard[MaskedTensor]:
    """True for a MaskedTensor, False for anything else."""
    return isinstance(obj, MaskedTensor)


@contextmanager
def strict_masks() -> Iterator[None]:
    """Inside, operators of two masked tensors want equal masks, as in torch.masked.

    ValueError where masks differ; outside the result counts where both operands do. It holds for
    the thread that enters.
    """
    previous = _loup.switch_strict_masks(True)
    try:
        yield
    finally:
        _loup.switch_strict_masks(previous)


# The functions come from the operator list of the C++ library: a new operator needs no line here.
# Type checkers read masked.pyi, which the build writes.
_names = [op["name"] for op in _loup.ops() if op["masked"]]
globals().update({name: getattr(_loup._masked_ops, name) for name in _names})

__all__ = [
    "MaskedTensor",
    "as_masked_tensor",
    "from_nan",
    "is_masked_tensor",
    "lengths_to_mask",
    "masked_equal",
    "masked_inside",
    "masked_invalid",
    "masked_outside",
    "masked_tensor",
    "masked_where",
    "output_mask",
    "strict_masks",
    *_names,
]
