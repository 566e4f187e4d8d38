"""The masked operators and MaskedTensor.

Every operator takes ``mask=``: True where an element counts. Masks are broadcast to the input
and never change it; what they hide reaches neither a result nor a gradient.
"""

from typing import TypeGuard

from loup import _loup
from loup._loup import MaskedTensor, as_masked_tensor, output_mask


def masked_tensor(data: object, mask: object, requires_grad: bool = False) -> MaskedTensor:
    """A MaskedTensor with copies of data and mask."""
    return MaskedTensor(data, mask, requires_grad)


def is_masked_tensor(obj: object) -> TypeGuard[MaskedTensor]:
    """True for a MaskedTensor, False for anything else."""
    return isinstance(obj, MaskedTensor)


# The functions come from the operator list of the C++ library: a new operator needs no line here.
# Type checkers read masked.pyi, which the build writes.
_names = [op["name"] for op in _loup.ops() if op["masked"]]
globals().update({name: getattr(_loup._masked_ops, name) for name in _names})

__all__ = [
    "MaskedTensor",
    "as_masked_tensor",
    "is_masked_tensor",
    "masked_tensor",
    "output_mask",
    *_names,
]
