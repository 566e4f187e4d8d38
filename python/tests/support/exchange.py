"""What the tests of the exchange with other libraries share: arrays, and a producer that counts."""

import ctypes
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


def read_only_array() -> np.ndarray:
    array = np.arange(4.0)
    array.flags.writeable = False
    return array


def lent_by(x: loup.Tensor, **arguments: object) -> tuple[object, Managed | ManagedVersioned]:
    capsule = x.__dlpack__(**arguments)
    versioned = '"dltensor_versioned"' in repr(capsule)
    name = b"dltensor_versioned" if versioned else b"dltensor"
    kind = ManagedVersioned if versioned else Managed
    return capsule, kind.from_address(capsule_pointer(capsule, name))
