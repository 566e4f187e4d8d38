"""The buffer protocol, and masked tensors, which stay at home."""

import ctypes
import gc
from collections.abc import Callable

import numpy as np
import pytest
from exchange import NUMPY_DTYPES, Producer, read_only_array

import loup


@pytest.mark.parametrize(
    ("dtype", "code"),
    list(zip(NUMPY_DTYPES, ["?", "B", "b", "h", "i", "q", "e", "f", "d"], strict=True)),
)
def test_buffers_describe_the_tensor(dtype: str, code: str) -> None:
    view = memoryview(loup.zeros((2, 3), dtype).T)
    size = np.dtype(dtype).itemsize
    assert (view.format, view.itemsize, view.nbytes) == (code, size, 6 * size)
    assert (view.shape, view.strides) == ((3, 2), (size, 3 * size))
    assert not view.readonly


def test_buffers_share_memory() -> None:
    x = loup.zeros(3, "int32")
    memoryview(x)[1] = 7
    assert x.tolist() == [0, 7, 0]


def test_buffers_keep_the_memory_alive() -> None:
    producer = Producer(versioned=True)
    view = memoryview(loup.from_dlpack(producer))
    gc.collect()
    assert producer.returned == 0
    assert view.tolist() == [0, 1, 2, 3]
    view.release()
    del view
    assert producer.returned == 1


def test_buffers_of_read_only_tensors_are_read_only() -> None:
    x = loup.asarray(read_only_array())
    assert memoryview(x).readonly
    assert not np.asarray(x).flags.writeable
    with pytest.raises(TypeError, match="read-only|writable"):
        (ctypes.c_double * 4).from_buffer(x)


def test_writable_consumers_get_writable_memory() -> None:
    x = loup.zeros(4, "float64")
    (ctypes.c_double * 4).from_buffer(x)[2] = 5
    assert x.tolist() == [0, 0, 5, 0]


def test_contiguous_tensors_are_bytes() -> None:
    assert bytes(loup.tensor([1, 2], dtype="uint8")) == b"\x01\x02"


def test_0d_and_empty_tensors_have_buffers() -> None:
    scalar, empty = memoryview(loup.tensor(1.5)), memoryview(loup.zeros((0, 3)))
    assert (scalar.shape, scalar.tolist()) == ((), 1.5)
    assert (empty.shape, empty.nbytes, bytes(empty)) == ((0, 3), 0, b"")


def test_buffers_have_no_bfloat16() -> None:
    with pytest.raises(BufferError, match="expected a dtype that buffers can name, got bfloat16"):
        memoryview(loup.ones(2, "bfloat16"))


class PyBuffer(ctypes.Structure):
    _fields_ = [
        *(("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t)),
        *(("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int)),
        *(("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p)),
        *(("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)),
    ]


STRIDED = 0x18
ORDERS = {"bytes": 0, "C": 0x20 | STRIDED, "Fortran": 0x40 | STRIDED, "any": 0x80 | STRIDED}


@pytest.mark.parametrize(
    ("name", "make", "orders"),
    [
        ("row-major", lambda: loup.zeros((2, 3)), {"bytes", "C", "any"}),
        ("column-major", lambda: loup.zeros((2, 3)).T, {"Fortran", "any"}),
        ("a row", lambda: loup.zeros(3), {"bytes", "C", "Fortran", "any"}),
        ("a stepped row", lambda: loup.zeros(6)[::2], set()),
        ("a stepped matrix", lambda: loup.zeros((4, 6))[:, ::2], set()),
        ("a scalar", lambda: loup.tensor(1.0), {"bytes", "C", "Fortran", "any"}),
        ("empty", lambda: loup.zeros((0, 3)), {"bytes", "C", "Fortran", "any"}),
    ],
)
@pytest.mark.parametrize("order", ORDERS)
def test_buffers_are_contiguous_as_promised(
    name: str, make: Callable, orders: set[str], order: str
) -> None:
    buffer = PyBuffer()
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(PyBuffer), ctypes.c_int]
    release = ctypes.pythonapi.PyBuffer_Release
    release.argtypes = [ctypes.POINTER(PyBuffer)]
    if order in orders:
        assert get(make(), buffer, ORDERS[order]) == 0
        release(buffer)
    else:
        with pytest.raises(BufferError, match="contiguous"):
            get(make(), buffer, ORDERS[order])


# --- masked tensors stay at home ---


@pytest.mark.parametrize(
    "take",
    [
        np.asarray,
        np.from_dlpack,
        loup.from_dlpack,
        lambda x: x.__dlpack__(),
        lambda x: x.__dlpack__(max_version=(1, 0)),
        lambda x: x.__dlpack_device__(),
        lambda x: x.__array__(),
    ],
)
def test_masked_tensors_are_not_exported(take: Callable) -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, False])
    with pytest.raises(
        TypeError, match=r"got a MaskedTensor, .* use to_tensor\(fill\) or get_data\(\)"
    ):
        take(x)


@pytest.mark.parametrize("take", [loup.asarray, loup.tensor])
def test_masked_tensors_do_not_become_plain_by_accident(take: Callable) -> None:
    with pytest.raises(TypeError, match="got a MaskedTensor; use get_data or to_tensor"):
        take(loup.masked_tensor([1.0, 2.0], [True, False]))
