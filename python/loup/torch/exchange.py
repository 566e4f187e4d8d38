"""Tensors to and from PyTorch: the same memory, kept alive by whoever looks at it."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.utils.dlpack

from loup import _loup

_NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64"
DTYPES = {getattr(torch, name): getattr(_loup, name) for name in _NAMES.split()}
MAX_NDIM = 8
_BOOL = torch.bool
_VERSION = (1, 0)
# The classes whose elements are in memory. Others may keep them elsewhere, or have none (FakeTensor).
PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})


def _export(x: torch.Tensor) -> object:
    return x.detach().__dlpack__(max_version=_VERSION)


# What the public functions come down to, after checks that cost more than most calls.
_lend = getattr(torch._C, "_to_dlpack_versioned", _export)
_borrow = getattr(torch._C, "_from_dlpack", torch.utils.dlpack.from_dlpack)
_import = _loup.from_dlpack
_new = object.__new__
_is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
_is_batched = torch._C._functorch.is_legacy_batchedtensor  # in gradients of many outputs at once


class _Loan:
    """Lends a tensor whether or not it requires a gradient: who reads it has seen to that."""

    __slots__ = ("tensor",)
    tensor: torch.Tensor

    def __dlpack__(self, *, max_version: tuple[int, int] = _VERSION) -> object:
        x = self.tensor
        try:
            return _lend(x)
        except RuntimeError:
            refuse_transformed([x])
            raise


def without_class(x: torch.Tensor) -> torch.Tensor:
    """x as a plain tensor, unless its class says what operations on it mean."""
    if type(x) in PLAIN or type(x).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return x
    return x.as_subclass(torch.Tensor)


def is_shareable(x: torch.Tensor) -> bool:
    """Whether loup can read a plain tensor where it is."""
    return (
        x.is_cpu
        and x.layout is torch.strided
        and x.dtype in DTYPES
        and not x.is_nested
        and x.ndim <= MAX_NDIM
        and not x._is_zerotensor()
        and not _is_transformed(x)
    )


def _is_transformed(x: torch.Tensor) -> bool:
    return _is_wrapped(x) or _is_batched(x)


def refuse_transformed(tensors: Iterable[torch.Tensor]) -> None:
    """Tensors inside of vmap, grad and other transforms of torch.func stand for others."""
    for x in tensors:
        if _is_transformed(x):
            raise NotImplementedError(
                "loup.torch: expected gradients with elements, got those of a transform of "
                "torch.func; call the function inside of the transform, too"
            )


def to_loup(x: torch.Tensor) -> _loup.Tensor:
    """The elements of x, as they are in memory."""
    loan = _new(_Loan)  # an __init__ would take as long as the lending
    loan.tensor = x.resolve_neg() if x.is_neg() else x
    return _import(loan)


def mask_to_loup(mask: torch.Tensor) -> _loup.Tensor:
    """What counts, as bools: copied only if they are something else."""
    loan = _new(_Loan)
    loan.tensor = mask if mask.dtype is _BOOL else mask.bool()
    return _import(loan)


def to_torch(x: _loup.Tensor) -> Any:
    """The elements of x, which has no gradient record and is nobody else's to protect."""
    return _borrow(x.__dlpack__())
