"""Masked arrays of NumPy to and from masked tensors: the same data, the mask inverted.

In numpy.ma True means masked; here True means that the element counts. NumPy is imported when one
of these is called, never before.
"""

from typing import Any

from loup import _loup
from loup._loup import DTypeError, MaskedTensor, StateError, Tensor, as_masked_tensor
from loup.methods import method_of

_NAMES = "bool uint8 int8 int16 int32 int64 float16 float32 float64"
DTYPES = frozenset(_NAMES.split())


def from_numpy_ma(array: Any, share: bool = True) -> MaskedTensor:
    """A MaskedTensor with the data of a numpy.ma.MaskedArray and its mask inverted.

    The data are shared where loup can read them in place, and copied otherwise (another byte order,
    elements that are not aligned) or without share. The mask is new, so later changes of the array's
    mask are not seen. A nomask means that everything counts; fill_value and hardmask are lost.
    """
    import numpy as np

    if not isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            f"from_numpy_ma: expected a numpy.ma.MaskedArray, got {type(array).__name__}; use "
            "loup.asarray for arrays without a mask"
        )
    if array.dtype.name not in DTYPES:  # names say nothing about the order of bytes
        raise DTypeError(
            "from_numpy_ma: expected bool, uint8, int8 to int64, float16, float32 or float64, got "
            f"{array.dtype}"
        )
    data = np.ma.getdata(array, subok=False)
    # The memory of numpy.ma.masked is everybody's.
    shared = _shared(data) if share and array is not np.ma.masked else None
    values = _loup.asarray(_native_copy(data)) if shared is None else shared
    mask = np.ma.getmask(array)
    if mask is np.ma.nomask:
        return as_masked_tensor(values, _loup.full(array.shape, True, _loup.bool))
    return as_masked_tensor(values, _loup.asarray(np.logical_not(mask, order="C")))


@method_of(MaskedTensor)
def to_numpy_ma(
    self: MaskedTensor, copy: bool = False, fill_value: Any = None, hard_mask: bool = False
) -> Any:
    """A numpy.ma.MaskedArray of the same memory, with a new mask: True where nothing counts.

    What is masked keeps its data, as numpy.ma does. With copy the data are copied.
    """
    import numpy as np

    if self.requires_grad:
        raise StateError(
            "to_numpy_ma: expected a tensor without a gradient record, got one that requires grad; "
            "use detach() first"
        )
    if self.dtype is _loup.bfloat16:
        raise DTypeError(
            "to_numpy_ma: expected a dtype that NumPy has, got bfloat16; convert it with "
            "to(loup.float32)"
        )
    data = self.get_data().numpy()
    return np.ma.MaskedArray(
        data.copy() if copy else data,
        mask=np.logical_not(self.get_mask().numpy(), order="C"),
        fill_value=fill_value,
        hard_mask=hard_mask,
    )


def _shared(data: Any) -> Tensor | None:
    """A tensor of the array's memory; None where there cannot be one."""
    is_readable = data.dtype.isnative and data.flags.aligned
    if not is_readable or any(stride % data.itemsize for stride in data.strides):
        return None
    try:
        return _loup.asarray(data)
    except BufferError:  # NumPy before 2.1 lends nothing that is read-only
        return None


def _native_copy(data: Any) -> Any:
    return data.astype(data.dtype.newbyteorder("="), order="C", copy=True)
