"""Tensors to and from NumPy, PyTorch, JAX, MLX and anything with __dlpack__: memory and lifetimes."""

import ctypes
import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import loup

NUMPY_DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
]
READ_ONLY, IS_COPIED = 1, 2

VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T,
    "stepped": lambda a: a[::2, 1::3],
    "reversed": lambda a: a[::-1, ::-1],
    "reversed in steps": lambda a: a[::-2, ::-3],
    "a row": lambda a: a[2],
    "0-d": lambda a: a[1, 2, ...],
    "one element": lambda a: a[1:2, 2:3],
    "empty": lambda a: a[:0],
    "empty inside": lambda a: a[:, 3:3],
    "column-major": np.asfortranarray,
}


def matrix(dtype: str = "float32") -> np.ndarray:
    return (np.arange(48) % 7).reshape(6, 8).astype(dtype)


# --- a producer that counts ---


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
set_capsule_name = ctypes.pythonapi.PyCapsule_SetName
set_capsule_name.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Producer:
    """Four float32 elements behind __dlpack__, and a count of how often they were given back."""

    def __init__(self, *, versioned: bool, **changes: int) -> None:
        self.versioned = versioned
        self.changes = changes
        self.returned = 0
        self.asked: list[object] = []
        self.elements = (ctypes.c_float * 4)(0, 1, 2, 3)
        self.shape = (ctypes.c_int64 * 1)(4)
        self.strides = (ctypes.c_int64 * 1)(1)
        self.deleter = Deleter(self.take_back)
        self.name = b"dltensor_versioned" if versioned else b"dltensor"
        self.managed = self.describe()

    def take_back(self, _: int) -> None:
        self.returned += 1

    def describe(self) -> Managed | ManagedVersioned:
        tensor = DLTensor(
            data=ctypes.addressof(self.elements),
            device=DLDevice(self.changes.get("device", 1), 0),
            ndim=self.changes.get("ndim", 1),
            dtype=DLDataType(
                self.changes.get("code", 2),
                self.changes.get("bits", 32),
                self.changes.get("lanes", 1),
            ),
            shape=self.shape,
            strides=None if self.changes.get("no_strides") else self.strides,
            byte_offset=self.changes.get("byte_offset", 0),
        )
        if not self.versioned:
            return Managed(tensor, None, self.deleter)
        major, flags = self.changes.get("major", 1), self.changes.get("flags", 0)
        return ManagedVersioned(major, 0, None, self.deleter, flags, tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, *, max_version: object = None, **_: object) -> object:
        self.asked.append(max_version)
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


class OldProducer(Producer):
    """From before DLPack 1: knows no arguments but stream."""

    def __dlpack__(self, stream: object = None) -> object:
        self.asked.append(None)
        return new_capsule(ctypes.addressof(self.managed), self.name, None)


FORMS = pytest.mark.parametrize("versioned", [True, False], ids=["versioned", "old form"])


@FORMS
def test_import_gives_the_memory_back_once_when_the_last_tensor_goes(versioned: bool) -> None:
    producer = Producer(versioned=versioned)
    x = loup.from_dlpack(producer)
    view = x[1:3]
    del x
    assert producer.returned == 0
    assert view.tolist() == [1, 2]
    del view
    assert producer.returned == 1


@FORMS
def test_import_shares_memory(versioned: bool) -> None:
    producer = Producer(versioned=versioned)
    x = loup.from_dlpack(producer)
    assert x.data_ptr() == ctypes.addressof(producer.elements)
    x[0] = 7
    assert list(producer.elements) == [7, 1, 2, 3]


def test_import_asks_for_version_1_and_takes_what_comes() -> None:
    producer = Producer(versioned=True)
    loup.from_dlpack(producer)
    assert producer.asked == [(1, 3)]


def test_import_asks_again_where_the_argument_is_unknown() -> None:
    producer = OldProducer(versioned=False)
    assert loup.from_dlpack(producer).tolist() == [0, 1, 2, 3]
    assert producer.asked == [None]
    assert producer.returned == 1


@FORMS
def test_import_of_a_temporary_argument_ends_with_the_call(versioned: bool) -> None:
    producer = Producer(versioned=versioned)
    assert loup.masked.sum(producer, mask=[True, False, True, True]).item() == 5
    assert producer.returned == 1


@FORMS
def test_import_respects_offset_and_missing_strides(versioned: bool) -> None:
    producer = Producer(versioned=versioned, byte_offset=4, no_strides=1)
    producer.shape[0] = 3
    assert loup.from_dlpack(producer).tolist() == [1, 2, 3]


REFUSED = {
    "device": (
        {"device": 2},
        loup.ValueError,
        "expected memory of the CPU, got DLPack device type 2",
    ),
    "complex": ({"code": 5, "bits": 64}, loup.DTypeError, "got DLPack type code 5 with 64 bits"),
    "unsigned": ({"code": 1, "bits": 16}, loup.DTypeError, "got DLPack type code 1 with 16 bits"),
    "lanes": ({"lanes": 2}, loup.DTypeError, "with 32 bits and 2 lanes"),
    "dims": ({"ndim": 9}, loup.ShapeError, "expected at most 8 dimensions, got 9"),
    "alignment": (
        {"byte_offset": 1},
        loup.ValueError,
        "expected float32 elements aligned to 4 bytes",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@FORMS
def test_import_leaves_with_the_producer_what_it_refuses(case: str, versioned: bool) -> None:
    changes, error, message = REFUSED[case]
    producer = Producer(versioned=versioned, **changes)
    with pytest.raises(error, match=message):
        loup.from_dlpack(producer)
    assert producer.returned == 0


def test_import_refuses_another_major_version() -> None:
    producer = Producer(versioned=True, major=2)
    with pytest.raises(loup.ValueError, match=r"expected DLPack version 1, got 2\.0"):
        loup.from_dlpack(producer)
    assert producer.returned == 0


@FORMS
def test_a_capsule_is_consumed_once(versioned: bool) -> None:
    class Twice(Producer):
        capsule: object = None

        def __dlpack__(self, *, max_version: object = None, **_: object) -> object:
            self.capsule = self.capsule or super().__dlpack__()
            return self.capsule

    producer = Twice(versioned=versioned)
    x = loup.from_dlpack(producer)
    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        loup.from_dlpack(producer)
    del x
    assert producer.returned == 1


@pytest.mark.parametrize(
    ("value", "got"), [(3, "int"), ("text", "str"), (None, "NoneType"), ([1.0], "list")], ids=repr
)
def test_from_dlpack_refuses_other_objects(value: object, got: str) -> None:
    with pytest.raises(TypeError, match=rf"expected an object with __dlpack__, got {got}|NoneType"):
        loup.from_dlpack(value)


def test_from_dlpack_refuses_a_bare_capsule() -> None:
    with pytest.raises(TypeError, match="expected an object with __dlpack__, got a capsule"):
        loup.from_dlpack(loup.ones(2).__dlpack__())


def test_errors_of_the_producer_come_through() -> None:
    class Broken:
        def __dlpack__(self, **_: object) -> object:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        loup.from_dlpack(Broken())


# --- our capsules ---


def lent_by(x: loup.Tensor, **arguments: object) -> tuple[object, Managed | ManagedVersioned]:
    capsule = x.__dlpack__(**arguments)
    versioned = '"dltensor_versioned"' in repr(capsule)
    name = b"dltensor_versioned" if versioned else b"dltensor"
    kind = ManagedVersioned if versioned else Managed
    return capsule, kind.from_address(capsule_pointer(capsule, name))


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


# --- read-only ---


def read_only_array() -> np.ndarray:
    array = np.arange(4.0)
    array.flags.writeable = False
    return array


def write_item(x: loup.Tensor) -> None:
    x[1] = 5


@pytest.mark.parametrize(
    "write",
    [lambda x: x.fill_(5), lambda x: x.copy_([5] * 4), write_item, lambda x: x[:2].fill_(1)],
)
def test_read_only_memory_cannot_be_written(write: Callable) -> None:
    array = read_only_array()
    x = loup.asarray(array)
    assert x.is_readonly
    with pytest.raises(loup.ValueError, match=r": expected .*, got a read-only"):
        write(x)
    assert array.tolist() == [0, 1, 2, 3]


def test_read_only_memory_can_be_read_and_cloned() -> None:
    x = loup.asarray(read_only_array())
    assert x.sum().item() == 6
    y = x.clone()
    assert not y.is_readonly
    assert y.fill_(1).tolist() == [1, 1, 1, 1]


def test_read_only_is_passed_on_to_the_next_consumer() -> None:
    x = loup.asarray(read_only_array())
    _capsule, managed = lent_by(x, max_version=(1, 0))
    assert managed.flags == READ_ONLY
    assert not np.from_dlpack(x).flags.writeable
    assert loup.from_dlpack(x).is_readonly


@pytest.mark.parametrize("max_version", [None, (0, 8)])
def test_read_only_memory_is_not_lent_in_the_old_form(max_version: object) -> None:
    with pytest.raises(BufferError, match=r"expected a consumer of DLPack 1 .*; clone"):
        loup.asarray(read_only_array()).__dlpack__(max_version=max_version)


def test_a_copy_of_read_only_memory_is_lent_in_any_form() -> None:
    x = loup.asarray(read_only_array())
    _capsule, managed = lent_by(x, copy=True)
    assert managed.dl_tensor.data != x.data_ptr()


def test_the_old_form_counts_as_writable() -> None:
    assert not loup.from_dlpack(Producer(versioned=False)).is_readonly


def test_the_flag_of_a_producer_is_respected() -> None:
    assert loup.from_dlpack(Producer(versioned=True, flags=READ_ONLY)).is_readonly


# --- NumPy ---


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


# --- buffers ---


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


@pytest.mark.parametrize("take", [loup.asarray, loup.tensor, loup.zeros_like])
def test_masked_tensors_do_not_become_plain_by_accident(take: Callable) -> None:
    with pytest.raises(TypeError, match="got a MaskedTensor; use get_data or to_tensor"):
        take(loup.masked_tensor([1.0, 2.0], [True, False]))


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


# --- PyTorch, JAX, MLX ---


class Torch:
    """PyTorch shares memory in both directions, and writes to it."""

    def __init__(self) -> None:
        self.torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def take(self, x: loup.Tensor) -> object:
        return self.torch.from_dlpack(x)

    def make(self, values: np.ndarray) -> object:
        return self.torch.tensor(values)

    def address(self, tensor: object) -> int:
        return tensor.data_ptr()


class Jax:
    """JAX arrays are never written; it copies what is not aligned for it."""

    def __init__(self) -> None:
        pytest.importorskip("jax", reason="JAX is not installed")
        import jax

        jax.config.update("jax_platforms", "cpu")
        self.jax = jax

    def take(self, x: loup.Tensor) -> object:
        return self.jax.dlpack.from_dlpack(x)

    def make(self, values: np.ndarray) -> object:
        return self.jax.numpy.array(values)

    def address(self, tensor: object) -> int:
        return tensor.unsafe_buffer_pointer()


class Mlx:
    """MLX shares its own memory, and copies ours."""

    def __init__(self) -> None:
        self.mx = pytest.importorskip("mlx.core", reason="MLX is not installed")

    def take(self, x: loup.Tensor) -> object:
        return self.mx.from_dlpack(x)

    def make(self, values: np.ndarray) -> object:
        array = self.mx.array(values)
        self.mx.eval(array)
        return array

    def address(self, tensor: object) -> int:
        return np.asarray(memoryview(tensor)).ctypes.data


LIBRARIES = pytest.mark.parametrize("library", [Torch, Jax, Mlx])


@LIBRARIES
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32"])
def test_takes_tensors_of_other_libraries(library: Callable, dtype: str) -> None:
    made = library().make(matrix(dtype))
    x = loup.asarray(made)
    assert (x.shape, x.dtype.name) == ((6, 8), dtype)
    assert x.tolist() == matrix(dtype).tolist()


@LIBRARIES
def test_shares_the_memory_of_other_libraries(library: Callable) -> None:
    other = library()
    made = other.make(matrix())
    assert loup.asarray(made).data_ptr() == other.address(made)


@LIBRARIES
def test_memory_of_other_libraries_outlives_their_tensor(library: Callable) -> None:
    made = library().make(np.arange(50_000, dtype=np.int32))
    x = loup.asarray(made)
    del made
    gc.collect()
    assert x.sum().item() == sum(range(50_000))


@LIBRARIES
@pytest.mark.parametrize("dtype", ["int32", "float32", "float16"])
def test_other_libraries_take_our_tensors(library: Callable, dtype: str) -> None:
    x = loup.tensor(matrix(dtype))
    taken = library().take(x)
    assert np.asarray(taken).tolist() == x.tolist()


@LIBRARIES
def test_our_memory_outlives_the_tensor_elsewhere(library: Callable) -> None:
    x = loup.arange(50_000, dtype="int32")
    taken = library().take(x)
    del x
    gc.collect()
    loup.zeros(50_000, "int32")
    assert int(np.asarray(taken).sum()) == sum(range(50_000))


@LIBRARIES
def test_sums_tensors_of_other_libraries(library: Callable) -> None:
    other = library()
    x, mask = other.make(matrix()), other.make(matrix() > 2)
    result = loup.masked.sum(x, 0, mask=mask)
    assert result.tolist() == matrix().sum(0, where=matrix() > 2).tolist()


def test_pytorch_shares_our_memory_and_writes_to_it() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = loup.zeros((2, 3))
    taken = torch.from_dlpack(x)
    assert taken.data_ptr() == x.data_ptr()
    taken[1, 2] = 7
    assert x[1, 2].item() == 7
    x[0, 0] = 5
    assert taken[0, 0].item() == 5


@pytest.mark.parametrize("view", ["contiguous", "transposed", "stepped", "a row", "0-d", "empty"])
def test_pytorch_views_keep_their_strides(view: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    made = torch.from_numpy(VIEWS[view](matrix()))
    x = loup.from_dlpack(made)
    assert x.tolist() == made.tolist()
    assert torch.from_dlpack(x).tolist() == made.tolist()


def test_pytorch_has_bfloat16_too() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    made = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    x = loup.asarray(made)
    assert x.dtype is loup.bfloat16
    assert x.data_ptr() == made.data_ptr()
    assert torch.from_dlpack(x).tolist() == [1.5, -2.0]


def test_pytorch_gives_memory_back_when_it_goes() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    producer = Producer(versioned=True)
    x = loup.from_dlpack(producer)
    taken = torch.from_dlpack(x)
    del x
    gc.collect()
    assert producer.returned == 0
    assert taken.tolist() == [0, 1, 2, 3]
    del taken
    gc.collect()
    assert producer.returned == 1


def test_pytorch_tensors_with_gradients_are_refused_by_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises((BufferError, RuntimeError), match="requires_grad|require grad|gradient"):
        loup.asarray(torch.ones(2, requires_grad=True))


def test_pytorch_is_told_why_masked_tensors_stay() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(TypeError, match="use to_tensor"):
        torch.from_dlpack(loup.masked_tensor([1.0], [True]))


def test_jax_shares_our_memory() -> None:
    library = Jax()
    x = loup.zeros((64, 64))
    assert library.address(library.take(x)) == x.data_ptr()


def test_jax_gives_memory_back_when_it_goes() -> None:
    library = Jax()
    producer = Producer(versioned=False)
    x = loup.from_dlpack(producer)
    taken = library.take(x)
    del x, taken
    gc.collect()
    assert producer.returned == 1
