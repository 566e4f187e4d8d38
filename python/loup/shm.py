"""Shared memory that survives crashes.

>>> import loup
>>> with loup.shm.create("doc-batch", nbytes=1024) as segment:
...     x = segment.tensor("float32", (16, 16))
...     x[0, 0] = 1.0
...     with loup.shm.attach("doc-batch", readonly=True) as other:
...         other.tensor("float32", (16, 16))[0, 0].item()
1.0

Names disappear with the last process that uses them, also when it is killed. docs/memory.md tells
how, and what happens on a full disk, after fork and in containers.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from loup import _loup, pickling
from loup._loup import Mapping, MaskedTensor, Segment, Tensor, set_sigbus_shield

__all__ = [
    "Mapping",
    "Segment",
    "SegmentInfo",
    "SweepReport",
    "Ticket",
    "anonymous",
    "attach",
    "create",
    "from_file",
    "info",
    "ls",
    "remove",
    "set_sigbus_shield",
    "share",
    "sweep",
]

Shared = TypeVar("Shared", Tensor, MaskedTensor)


@dataclass(frozen=True)
class SegmentInfo:
    """What there is to know about a segment."""

    name: str
    path: str
    label: str
    nbytes: int
    capacity: int
    allocated: int  # bytes of memory in use
    lifetime: str
    live: bool
    attachments: int
    generation: int
    uid: int
    creator_pid: int
    created: float  # seconds since 1970
    holders: list[dict[str, Any]]  # those attached for writing, as far as there is room


@dataclass(frozen=True)
class SweepReport:
    """Names that were removed (or would be), kept because they are in use, and failures."""

    removed: list[str]
    kept: list[str]
    failed: list[str]


class Ticket:
    """A segment on its way to another process; holds a reference by itself.

    Good for one attach(). Pickled by multiprocessing only: what travels is a descriptor.
    """

    def __init__(self, segment: Segment) -> None:
        self._name = segment.name
        self._readonly = segment.readonly
        self._fd = segment.descriptor()

    @classmethod
    def _from_descriptor(cls, duplicate: Any, name: str, readonly: bool) -> "Ticket":
        ticket = cls.__new__(cls)
        ticket._name, ticket._readonly, ticket._fd = name, readonly, duplicate.detach()
        return ticket

    def attach(self, readonly: bool = False) -> Segment:
        """Attach to the segment, which uses the ticket up."""
        if self._fd < 0:
            raise _loup.StateError("attach: expected an unused ticket, got one that is used up")
        pickling.register()
        fd, self._fd = self._fd, -1
        return _loup.shm_from_descriptor(self._name, fd, readonly or self._readonly)

    def close(self) -> None:
        """Give the reference up."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            _loup.shm_drop(self._name, fd)

    def __reduce__(self) -> Any:
        if self._fd < 0:
            raise _loup.StateError("pickle: expected an unused ticket, got one that is used up")
        duplicate = pickling.travelling(os.dup(self._fd), self._name)
        return Ticket._from_descriptor, (duplicate, self._name, self._readonly)

    def __enter__(self) -> "Ticket":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            self.close()


def create(
    name: str | None = None,
    nbytes: int = 0,
    *,
    lifetime: str = "last_detach",
    label: str = "",
    capacity: int = 0,
) -> Segment:
    """Make a segment; without a name, with a random one.

    Its name lives until nobody is attached, or with lifetime="persistent" until remove().
    """
    pickling.register()
    return _loup.shm_create(name, nbytes, lifetime, label, capacity)


def anonymous(nbytes: int, *, label: str = "", seal_writes: bool = False) -> Segment:
    """Make a segment without a name: it goes to others as a ticket, or with a tensor inside.

    With seal_writes those who receive it can only read.
    """
    pickling.register()
    return _loup.shm_anonymous(nbytes, label, seal_writes)


def attach(
    name: str, *, readonly: bool = False, allow_foreign: bool = False, timeout: float = 1.0
) -> Segment:
    """Attach to a segment. timeout is for one that somebody is just about to remove."""
    pickling.register()
    return _loup.shm_attach(name, readonly, allow_foreign, timeout)


def ls(ns: str | None = None) -> list[SegmentInfo]:
    """The segments of this machine, or those of one namespace."""
    return [SegmentInfo(**entry) for entry in _loup.shm_list(ns)]


def info(name: str) -> SegmentInfo:
    """One segment, without attaching to it."""
    return SegmentInfo(**_loup.shm_info(name))


def sweep(ns: str | None = None, *, dry_run: bool = False) -> SweepReport:
    """Remove the names that killed processes left behind."""
    return SweepReport(*_loup.shm_sweep(ns, dry_run))


def remove(name: str, *, force: bool = False) -> bool:
    """Remove a name; False when there is none. One in use needs force; its users keep the memory."""
    return _loup.shm_remove(name, force)


def from_file(
    path: str | bytes | os.PathLike[Any],
    dtype: object = "float32",
    shape: int | Sequence[int] | None = None,
    *,
    shared: bool = False,
    readonly: bool = False,
    offset: int = 0,
) -> Tensor:
    """A tensor whose elements are the bytes of a file, mapped: nothing is read before it is used.

    Without shape all elements from byte offset on. Changes stay in this process unless shared;
    then a file that is too short for the shape becomes longer.
    """
    if shared:
        pickling.register()
    return _loup.map_file(path, dtype, shape, shared, readonly, offset)


def share(x: Shared) -> Shared:
    """The same elements in shared memory without a name; x itself when it is there already."""
    pickling.register()
    if isinstance(x, MaskedTensor):
        return _share_masked(x)
    mapping = x.mapping()
    if mapping is not None and mapping.shared:
        return x
    result = anonymous(x.nbytes).tensor(x.dtype, x.shape)
    result.copy_(x.detach())
    result.requires_grad = x.requires_grad
    return result


def _share_masked(x: MaskedTensor) -> MaskedTensor:
    data, mask = x.get_data(), x.get_mask()
    mappings = data.mapping(), mask.mapping()
    if all(mapping is not None and mapping.shared for mapping in mappings):
        return x
    room = -(-data.nbytes // 64) * 64 + mask.nbytes
    result = anonymous(room).masked_tensor(data.dtype, data.shape)
    result.get_data().copy_(data.detach())
    result.get_mask().copy_(mask)
    if data.requires_grad:
        leaf = result.get_data()
        leaf.requires_grad = True
        return _loup.as_masked_tensor(leaf, result.get_mask())
    return result
