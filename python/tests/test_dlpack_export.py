"""Tensors lent by __dlpack__: capsules, versions, copies; nothing leaks."""

import ctypes
import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from exchange import (
    FORMS,
    IS_COPIED,
    Managed,
    ManagedVersioned,
    Producer,
    lent_by,
    set_capsule_name,
)

import loup


@pytest.mark.parametrize(
    ("max_version", "versioned"),
    [(None, False), ((0, 8), False), ((1, 0), True), ((1, 3), True), ((2, 0), True)],
)
def test_export_has_the_form_that_the_consumer_understands(
    max_version: object, versioned: bool
) -> None:
    x = loup.arange(3)
    _, managed = lent_by(x, max_version=max_version)
    assert isinstance(managed, ManagedVersioned if versioned else Managed)
    assert managed.dl_tensor.data == x.data_ptr()
    if versioned:
        assert (managed.major, managed.flags) == (1, 0)


DL_TYPES = [
    *(("bool", 6, 8), ("uint8", 1, 8), ("int8", 0, 8), ("int16", 0, 16), ("int32", 0, 32)),
    *(("int64", 0, 64), ("float16", 2, 16), ("bfloat16", 4, 16), ("float32", 2, 32)),
    ("float64", 2, 64),
]


@pytest.mark.parametrize(("dtype", "code", "bits"), DL_TYPES)
def test_export_names_the_dtype(dtype: str, code: int, bits: int) -> None:
    _capsule, managed = lent_by(loup.zeros(2, dtype))
    found = managed.dl_tensor.dtype
    assert (found.code, found.bits, found.lanes) == (code, bits, 1)


@pytest.mark.parametrize(("dtype", "code", "bits"), DL_TYPES)
def test_every_dtype_survives_the_way_there_and_back(dtype: str, code: int, bits: int) -> None:
    x = loup.tensor([0, 1], dtype=dtype)
    back = loup.from_dlpack(x)
    assert (back.dtype.name, back.tolist(), back.data_ptr()) == (dtype, [0, 1], x.data_ptr())


def test_export_describes_shape_strides_and_device() -> None:
    _capsule, managed = lent_by(loup.zeros((3, 4)).T[1:])
    tensor = managed.dl_tensor
    assert tensor.shape[: tensor.ndim] == [3, 3]
    assert tensor.strides[: tensor.ndim] == [1, 4]
    assert (tensor.device.device_type, tensor.device.device_id) == (1, 0)
    assert loup.zeros(1).__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_a_capsule_that_nobody_consumes_is_freed(max_version: object) -> None:
    producer = Producer(versioned=True)
    x = loup.from_dlpack(producer)
    capsule = x.__dlpack__(max_version=max_version)
    del x
    assert producer.returned == 0
    del capsule
    assert producer.returned == 1


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_a_consumed_capsule_leaves_the_memory_to_the_consumer(max_version: object) -> None:
    producer = Producer(versioned=True)
    capsule, managed = lent_by(loup.from_dlpack(producer), max_version=max_version)
    set_capsule_name(capsule, b"used_dltensor_versioned" if max_version else b"used_dltensor")
    del capsule
    assert producer.returned == 0
    managed.deleter(ctypes.addressof(managed))
    assert producer.returned == 1


def test_export_copies_when_asked() -> None:
    x = loup.arange(3)
    capsule, managed = lent_by(x, copy=True, max_version=(1, 0))
    assert managed.dl_tensor.data != x.data_ptr()
    assert managed.flags == IS_COPIED
    del capsule


@pytest.mark.parametrize("copy", [None, False])
def test_export_shares_otherwise(copy: bool | None) -> None:
    x = loup.arange(3)
    _capsule, managed = lent_by(x, copy=copy, max_version=(1, 0))
    assert managed.dl_tensor.data == x.data_ptr()
    assert managed.flags == 0


def test_export_takes_the_cpu_as_device_and_nothing_else() -> None:
    assert lent_by(loup.ones(1), dl_device=(1, 0))[0] is not None
    with pytest.raises(BufferError, match="expected the CPU as device, got DLPack device type 2"):
        loup.ones(1).__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dl_device": "cpu"}, "expected dl_device as a tuple of two ints, got str"),
        ({"dl_device": (1,)}, "expected dl_device as a tuple of two ints, got tuple"),
        ({"max_version": 1}, "expected max_version as a tuple of two ints, got int"),
        ({"max_version": ("1", 0)}, "expected an int, got str"),
        ({"copy": "yes"}, "expected copy as a bool or None, got str"),
    ],
)
def test_export_refuses_arguments_of_other_types(arguments: dict, message: str) -> None:
    with pytest.raises(TypeError, match=f"__dlpack__: {message}"):
        loup.ones(1).__dlpack__(**arguments)


def test_export_refuses_a_gradient_record() -> None:
    with pytest.raises(loup.StateError, match=r"got one that requires grad; detach it first"):
        loup.ones(2).requires_grad_().__dlpack__()


# --- nothing leaks ---

REPEATS = 10_000


@FORMS
def test_repeated_imports_give_everything_back(versioned: bool) -> None:
    producer = Producer(versioned=versioned)
    for _ in range(REPEATS):
        loup.from_dlpack(producer)
    assert producer.returned == REPEATS


@pytest.mark.parametrize(
    "exchange",
    [
        lambda x: x.__dlpack__(),
        lambda x: x.__dlpack__(max_version=(1, 0)),
        lambda x: x.__dlpack__(copy=True),
        np.from_dlpack,
        np.asarray,
        memoryview,
        loup.from_dlpack,
        lambda x: loup.asarray(np.asarray(x)),
        lambda x: loup.masked.sum(np.asarray(x), mask=np.asarray(x)),
    ],
)
def test_repeated_exports_keep_nothing(exchange: Callable) -> None:
    producer = Producer(versioned=True, code=0)  # the same bytes as int32
    x = loup.from_dlpack(producer)
    exchange(x)
    gc.collect()
    in_use, objects = loup.pool_statistics()["bytes_in_use"], len(gc.get_objects())
    for _ in range(REPEATS):
        exchange(x)
    gc.collect()
    assert loup.pool_statistics()["bytes_in_use"] == in_use
    assert len(gc.get_objects()) < objects + REPEATS // 10
    del x
    assert producer.returned == 1


def test_repeated_failures_keep_nothing() -> None:
    array = np.zeros(3, "uint16")
    alive = weakref.ref(array)
    for _ in range(REPEATS):
        with pytest.raises(loup.DTypeError):
            loup.asarray(array)
    del array
    gc.collect()
    assert alive() is None


def test_large_blocks_go_back_to_the_pool() -> None:
    in_use = loup.pool_statistics()["bytes_in_use"]
    array = np.from_dlpack(loup.zeros(4_000_000))
    assert loup.pool_statistics()["bytes_in_use"] >= in_use + array.nbytes
    del array
    gc.collect()
    assert loup.pool_statistics()["bytes_in_use"] == in_use
