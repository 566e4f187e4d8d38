"""The compiled half of loup; import loup instead."""

import builtins
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn


class Error(RuntimeError):
    """Base of all errors that loup raises."""

class ShapeError(Error, builtins.ValueError):
    """Shapes or strides do not fit."""

class DTypeError(Error, TypeError):
    """A dtype is not accepted."""

class IndexError(Error, builtins.IndexError):
    """A dim or an index is out of range."""

class ValueError(Error, builtins.ValueError):
    """Any other bad argument."""

class StateError(Error):
    """The right call at the wrong moment."""

class LayoutError(Error, TypeError):
    """Layouts do not fit together."""

class dtype:
    """What the elements of a tensor are."""

    @property
    def name(self) -> str: ...

    @property
    def itemsize(self) -> builtins.int: ...

    @property
    def is_floating_point(self) -> builtins.bool: ...

    def __eq__(self, other: object | None) -> builtins.bool: ...

    def __hash__(self) -> builtins.int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> str: ...

bool: dtype = ...

uint8: dtype = ...

int8: dtype = ...

int16: dtype = ...

int32: dtype = ...

int64: dtype = ...

float16: dtype = ...

bfloat16: dtype = ...

float32: dtype = ...

float64: dtype = ...

class Tensor:
    """An n-dimensional array: a strided view of shared memory."""

    @property
    def shape(self) -> tuple[builtins.int, ...]: ...

    @property
    def strides(self) -> tuple[builtins.int, ...]:
        """In elements."""

    @property
    def dtype(self) -> dtype: ...

    @property
    def ndim(self) -> builtins.int: ...

    @property
    def nbytes(self) -> builtins.int: ...

    def dim(self) -> builtins.int: ...

    def numel(self) -> builtins.int:
        """Number of elements."""

    def size(self, dim: builtins.int | None = None) -> Any:
        """The shape, or the size of one dim."""

    def is_contiguous(self) -> builtins.bool: ...

    @property
    def is_readonly(self) -> builtins.bool: ...

    def __len__(self) -> builtins.int: ...

    def __iter__(self) -> Iterator[Tensor]: ...

    def __repr__(self) -> str: ...

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Swap two dims."""

    def permute(self, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Reorder the dims."""

    def reshape(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Another shape over the same elements, as a view where possible."""

    def view(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Another shape over the same elements, never a copy."""

    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Make dims one."""

    def squeeze(self, dim: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
        """Drop dims of size 1."""

    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """Insert a dim of size 1."""

    def expand(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Repeat dims of size 1 without a copy; -1 keeps a size."""

    def broadcast_to(self, shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Repeat to a shape without a copy."""

    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """A range of one dim."""

    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """One element of one dim, which disappears."""

    @property
    def T(self) -> Tensor:
        """The dims in reverse order."""

    def __getitem__(self, key: Any) -> Tensor: ...

    def __setitem__(self, key: Any, value: object) -> None: ...

    def clone(self) -> Tensor:
        """A contiguous copy."""

    def contiguous(self) -> Tensor:
        """The tensor itself when contiguous, otherwise a copy."""

    def detach(self) -> Tensor:
        """The same elements without a gradient record."""

    def to(self, dtype: object) -> Tensor:
        """The elements converted to another dtype."""

    def copy_(self, source: object) -> Tensor:
        """Write the elements of source, broadcast and converted."""

    def fill_(self, value: builtins.float) -> Tensor:
        """Write one value into every element."""

    def bool(self) -> Tensor: ...

    def int(self) -> Tensor: ...

    def long(self) -> Tensor: ...

    def half(self) -> Tensor: ...

    def bfloat16(self) -> Tensor: ...

    def float(self) -> Tensor: ...

    def double(self) -> Tensor: ...

    def __dlpack__(self, *, stream: object = None, max_version: tuple[builtins.int, builtins.int] | None = None, dl_device: tuple[builtins.int, builtins.int] | None = None, copy: builtins.bool | None = None) -> object: ...

    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...

    def __array__(self, dtype: object = None, copy: builtins.bool | None = None) -> Any: ...

    def numpy(self) -> Any:
        """A NumPy array of the same memory."""

    def item(self) -> builtins.float | builtins.int | builtins.bool:
        """The only element."""

    def tolist(self) -> Any:
        """Nested Python lists."""

    def __float__(self) -> builtins.float: ...

    def __int__(self) -> builtins.int: ...

    def __bool__(self) -> builtins.bool: ...

    def data_ptr(self) -> builtins.int:
        """Address of the first element."""

    @property
    def requires_grad(self) -> builtins.bool:
        """Whether operations on this tensor are recorded for gradients."""

    @requires_grad.setter
    def requires_grad(self, arg: builtins.bool, /) -> None: ...

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor: ...

    @property
    def is_leaf(self) -> builtins.bool: ...

    @property
    def grad(self) -> Tensor | None:
        """The gradient collected so far, or None."""

    @grad.setter
    def grad(self, value: object | None) -> None: ...

    def backward(self, gradient: object = None, retain_graph: builtins.bool = False, create_graph: builtins.bool = False) -> None:
        """Add the gradient of this tensor to every leaf it was computed from."""

    def sum(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Add the elements that count."""

def tensor(data: object, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
    """A tensor with a copy of data: an array, a number or nested lists."""

def asarray(obj: object, dtype: object = None) -> Tensor:
    """A tensor that shares the memory of obj where that is possible."""

def from_dlpack(obj: object) -> Tensor:
    """A tensor that shares the memory of an object with __dlpack__."""

def empty(shape: builtins.int | Sequence[builtins.int], dtype: object = None) -> Tensor:
    """Uninitialised elements."""

def full(shape: builtins.int | Sequence[builtins.int], fill_value: builtins.float, dtype: object = None) -> Tensor:
    """One value everywhere."""

def full_like(input: object, fill_value: builtins.float, dtype: object = None) -> Tensor: ...

def empty_like(input: object, dtype: object = None) -> Tensor: ...

def arange(start: builtins.float, stop: builtins.float | None = None, step: builtins.float = 1, dtype: object = None) -> Tensor:
    """Evenly spaced values: arange(stop) or arange(start, stop, step)."""

class MaskedTensor:
    """Data and a mask that tells which elements count (True = counts)."""

    def __init__(self, data: object, mask: object, requires_grad: builtins.bool = False) -> None: ...

    def get_data(self) -> Tensor:
        """The data, masked elements included."""

    def get_mask(self) -> Tensor:
        """The mask: True where an element counts."""

    def to_tensor(self, value: builtins.float) -> Tensor:
        """The data with value where the mask is False."""

    @property
    def shape(self) -> tuple[builtins.int, ...]: ...

    @property
    def dtype(self) -> dtype: ...

    @property
    def ndim(self) -> builtins.int: ...

    def dim(self) -> builtins.int: ...

    def numel(self) -> builtins.int:
        """Number of elements, masked ones included."""

    @property
    def requires_grad(self) -> builtins.bool: ...

    @property
    def grad(self) -> MaskedTensor | None:
        """The gradient collected so far, or None."""

    def backward(self) -> None:
        """Add the gradient of this tensor to every leaf it was computed from."""

    def __dlpack__(self, **kwargs: object) -> NoReturn: ...

    def __dlpack_device__(self) -> NoReturn: ...

    def __array__(self, *args: object, **kwargs: object) -> NoReturn: ...

    def __repr__(self) -> str: ...

    def sum(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """Add the elements that count."""

def as_masked_tensor(data: object, mask: object) -> MaskedTensor:
    """
    A MaskedTensor that shares the memory of both and keeps the gradient record of data.
    """

def output_mask(op_name: str, input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None) -> Tensor:
    """Which outputs of a masked operator have an element that counts."""

version: str = '0.1.0'

def info() -> dict[str, Any]:
    """Version, instruction sets and threads."""

def ops() -> list[dict[str, Any]]:
    """The masked operators: name, family, summary, signature."""

def num_threads() -> builtins.int:
    """How many threads operators use."""

def set_num_threads(count: builtins.int) -> None:
    """Set how many threads operators use."""

def choose_target(name: str) -> None:
    """
    Run kernels on one instruction set; an empty name means the best. For tests.
    """

def pool_limit() -> builtins.int:
    """The most bytes of freed memory kept for reuse."""

def set_pool_limit(bytes: builtins.int) -> None:
    """Set the most bytes of freed memory kept for reuse."""

def trim_pool() -> None:
    """Return all freed memory to the system."""

def pool_statistics() -> dict[str, builtins.int]:
    """Counters of large blocks of memory."""

class no_grad:
    """A context in which nothing is recorded for gradients."""

    def __init__(self) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *args: object) -> None: ...
