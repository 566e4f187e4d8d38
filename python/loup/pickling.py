"""How tensors travel between processes: pickle copies them, multiprocessing shares them.

A tensor in shared memory that goes through a multiprocessing queue, pipe or argument arrives as the
same memory. What travels is a descriptor; it holds a reference of its own, so the sender may let go
of the memory, or be killed, while it is under way.
"""

import atexit
import os
import weakref
from typing import Any

from loup import _loup
from loup._loup import MaskedTensor, Segment, Tensor, as_masked_tensor

_is_registered = False


def rebuild_tensor(dtype: str, shape: tuple[int, ...], data: bytes, requires_grad: bool) -> Tensor:
    x = _loup.tensor_from_bytes(data, dtype, shape)
    x.requires_grad = requires_grad
    return x


def rebuild_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    return as_masked_tensor(data, mask)


def rebuild_shared_tensor(
    duplicate: Any,
    handle: tuple[str, str, bool, int],
    dtype: str,
    layout: tuple[tuple[int, ...], tuple[int, ...]],
    requires_grad: bool,
) -> Tensor:
    register()  # it may travel on
    x = _loup.tensor_from_handle(duplicate.detach(), *handle, dtype, *layout)
    x.requires_grad = requires_grad
    return x


def rebuild_segment(duplicate: Any, name: str, readonly: bool) -> Segment:
    register()
    return _loup.shm_from_descriptor(name, duplicate.detach(), readonly)


def travelling(fd: int, name: str) -> Any:
    """A descriptor that multiprocessing carries to another process. Takes fd over."""
    from multiprocessing.context import get_spawning_popen
    from multiprocessing.reduction import DupFd

    duplicate = DupFd(fd)
    popen = get_spawning_popen()
    if popen is None:
        os.close(fd)  # it was duplicated
    else:
        # The child inherits it when it is started, which is later.
        weakref.finalize(popen, _loup.shm_drop, name, fd)
    return duplicate


def reduce_tensor(x: Tensor) -> Any:
    handle = _loup.tensor_handle(x)
    if handle is None:
        return x.__reduce__()
    fd, kind, name, readonly, offset = handle
    duplicate = travelling(fd, name if kind == "segment" else "")
    layout = (x.shape, x.strides)
    arguments = (duplicate, (kind, name, readonly, offset), x.dtype.name, layout, x.requires_grad)
    return rebuild_shared_tensor, arguments


def reduce_segment(segment: Segment) -> Any:
    duplicate = travelling(segment.descriptor(), segment.name)
    return rebuild_segment, (duplicate, segment.name, segment.readonly)


def register() -> None:
    """Teach multiprocessing; done when shared memory is used for the first time."""
    global _is_registered
    if _is_registered:
        return
    _is_registered = True
    from multiprocessing.reduction import ForkingPickler

    ForkingPickler.register(Tensor, reduce_tensor)
    ForkingPickler.register(Segment, reduce_segment)
    # A descriptor that was closed last, by multiprocessing, left the name behind.
    atexit.register(_loup.shm_sweep, None, False)
