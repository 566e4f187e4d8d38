"""torch.masked on loup's kernels: the same names and signatures, torch tensors in and out.

>>> import loup.torch as masked
>>> import torch
>>> x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
>>> m = torch.tensor([[True, False, True], [False, False, False]])
>>> masked.softmax(x, 1, mask=m).sum().item()
1.0

Memory is shared, never copied, and gradients of any order flow through loup's kernels. What loup
has no kernels for (sparse layouts, complex numbers, other devices) is handed to torch.masked.
"""

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

# By value: users may put this module where torch has its own.
from torch import masked as _theirs
from torch.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

from loup.torch import functions

if _TYPE_CHECKING:
    from torch.masked import *  # noqa: F403  (the same signatures)
else:  # made from the operators that torch.masked and loup share
    globals().update(functions.table)

__all__ = [
    "MaskedTensor",
    "as_masked_tensor",
    "is_masked_tensor",
    "masked_tensor",
    *functions.table,
]

# import loup.torch.maskedtensor.core: torch's modules themselves, for their classes must be the same.
for _name, _module in list(_sys.modules.items()):
    if _name.startswith("torch.masked."):
        _sys.modules[__name__ + _name.removeprefix("torch.masked")] = _module


def __getattr__(name: str) -> object:
    """What is torch's alone: maskedtensor, and names that torch's own tests use."""
    try:
        return getattr(_theirs, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return dir(_theirs)
