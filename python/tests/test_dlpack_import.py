"""Tensors from anything with __dlpack__: memory, lifetimes, read-only memory."""

import ctypes
from collections.abc import Callable

import numpy as np
import pytest
from exchange import FORMS, READ_ONLY, OldProducer, Producer, lent_by, read_only_array

import loup


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


# --- read-only ---


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
