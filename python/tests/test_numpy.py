"""Tensors to and from NumPy without copies."""

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from exchange import NUMPY_DTYPES, VIEWS, Producer, matrix

import loup


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_arrays_are_shared(dtype: str, view: str) -> None:
    array = VIEWS[view](matrix(dtype))
    x = loup.asarray(array)
    assert (x.shape, x.dtype.name) == (array.shape, dtype)
    assert x.tolist() == array.tolist()
    if array.size:
        assert x.data_ptr() == array.ctypes.data


@pytest.mark.parametrize("take", [np.asarray, np.from_dlpack, loup.Tensor.numpy], ids=repr)
@pytest.mark.parametrize("view", VIEWS)
def test_numpy_shares_our_memory(view: str, take: Callable) -> None:
    x = loup.asarray(VIEWS[view](matrix()))
    array = take(x)
    assert (array.shape, array.dtype) == (x.shape, np.float32)
    assert array.tolist() == x.tolist()
    if array.size:
        assert array.ctypes.data == x.data_ptr()
        assert array.flags.writeable


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_writes_go_through_in_both_directions(dtype: str) -> None:
    array = np.zeros(3, dtype)
    x = loup.asarray(array)
    x[0] = 1
    array[1] = 1
    np.asarray(x)[2] = 1
    assert array.tolist() == x.tolist() == [1, 1, 1]


def test_arrays_with_repeated_elements_are_shared() -> None:
    array = np.broadcast_to(np.float32(3), (2, 5))
    x = loup.asarray(array)
    assert x.strides == (0, 0)
    assert x.sum().item() == 30
    assert np.asarray(x).strides == (0, 0)


def test_our_memory_outlives_the_tensor_in_numpy() -> None:
    x = loup.arange(100_000)
    array, address = np.asarray(x), x.data_ptr()
    del x
    fresh = loup.zeros(100_000, "int64")
    assert fresh.data_ptr() != address
    assert array.sum() == sum(range(100_000))


def test_numpy_memory_outlives_the_array_in_our_tensor() -> None:
    array = np.arange(100_000)
    alive = weakref.ref(array)
    x = loup.asarray(array)
    del array
    gc.collect()
    assert alive() is not None
    assert x.sum().item() == sum(range(100_000))
    del x
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("take", [np.asarray, np.from_dlpack])
def test_memory_goes_back_when_the_last_consumer_goes(take: Callable) -> None:
    producer = Producer(versioned=True)
    x = loup.from_dlpack(producer)
    array = take(x)
    del x
    gc.collect()
    assert producer.returned == 0
    assert array.tolist() == [0, 1, 2, 3]
    del array
    gc.collect()
    assert producer.returned == 1


def test_memory_goes_back_when_the_consumer_goes_first() -> None:
    producer = Producer(versioned=True)
    x = loup.from_dlpack(producer)
    array = np.from_dlpack(x)
    del array
    gc.collect()
    assert producer.returned == 0
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_asarray_converts_when_numpy_asks(dtype: str) -> None:
    x = loup.tensor([0.0, 1.75, 2])
    array = np.asarray(x, dtype=dtype)
    assert array.dtype == dtype
    assert array.tolist() == np.array([0, 1.75, 2], "float32").astype(dtype).tolist()


def test_copy_arguments_of_numpy_are_kept() -> None:
    x = loup.arange(3)
    assert np.asarray(x, copy=False).ctypes.data == x.data_ptr()
    assert np.array(x).ctypes.data != x.data_ptr()
    assert np.asarray(x, dtype="int64", copy=False).ctypes.data == x.data_ptr()
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype="float32", copy=False)


def test_array_method_takes_dtype_and_copy() -> None:
    x = loup.arange(3)
    assert x.__array__().ctypes.data == x.data_ptr()
    assert x.__array__(copy=True).ctypes.data != x.data_ptr()
    assert x.__array__("float64").dtype == np.float64
    with pytest.raises(
        loup.ValueError, match="expected the tensor's dtype int64 without a copy, got"
    ):
        x.__array__("float64", copy=False)


def test_numpy_functions_take_tensors() -> None:
    assert np.add(loup.arange(3), 1).tolist() == [1, 2, 3]
    assert np.stack([loup.arange(2), loup.arange(2)]).tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("take", [np.asarray, loup.Tensor.numpy], ids=repr)
def test_numpy_has_no_bfloat16(take: Callable) -> None:
    message = r"expected a dtype that NumPy has, got bfloat16; convert it with to\(loup.float32\)"
    with pytest.raises(loup.DTypeError, match=message):
        take(loup.ones(2, "bfloat16"))


@pytest.mark.parametrize("take", [np.asarray, loup.Tensor.numpy, memoryview], ids=repr)
def test_numpy_gets_no_tensor_with_a_gradient_record(take: Callable) -> None:
    with pytest.raises(BufferError, match="got one that requires grad; detach it first"):
        take(loup.ones(2).requires_grad_())


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        (np.zeros(2, "uint16"), loup.DTypeError, "got DLPack type code 1 with 16 bits"),
        (np.zeros(2, "uint64"), loup.DTypeError, "got DLPack type code 1 with 64 bits"),
        (np.zeros(2, "complex64"), loup.DTypeError, "got DLPack type code 5 with 64 bits"),
        (np.zeros(2, ">f4"), BufferError, "native byte order"),
        (np.zeros(2, object), BufferError, "only supports"),
        (np.array(["a"]), BufferError, "only supports"),
        (np.zeros(2, "datetime64[s]"), BufferError, "only supports"),
        (np.zeros(2, "f4,i4"), BufferError, "only supports"),
        (["a", "b"], TypeError, "asarray: expected a tensor, an array, .*, got list"),
        ([object()], TypeError, "asarray: expected a tensor, an array, .*, got list"),
        ([1j], loup.DTypeError, "got DLPack type code 5 with 128 bits"),
    ],
    ids=repr,
)
def test_refuses_elements_that_it_does_not_have(array: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        loup.asarray(array)


def test_refuses_unaligned_elements() -> None:
    array = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float32)
    with pytest.raises((loup.ValueError, BufferError), match="align"):
        loup.asarray(array)
