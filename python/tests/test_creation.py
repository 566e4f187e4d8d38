"""Tensors of zeros, ones, ranges and copies; dtypes."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from tensors import DTYPES, NUMPY_DTYPES

import loup


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_and_ones_have_shape_and_dtype(dtype: str) -> None:
    zeros, ones = loup.zeros((2, 3), dtype), loup.ones((2, 3), dtype)
    assert (zeros.shape, zeros.dtype.name) == ((2, 3), dtype)
    assert zeros.tolist() == [[0] * 3] * 2
    assert ones.tolist() == [[1] * 3] * 2


def test_zeros_ones_and_empty_are_float32_by_default() -> None:
    assert {x(2).dtype for x in (loup.zeros, loup.ones, loup.empty)} == {loup.float32}


def test_full_takes_the_dtype_of_its_value() -> None:
    assert loup.full((2,), 2.5).dtype is loup.float32
    assert loup.full((2,), 2).dtype is loup.int64
    assert loup.full((2,), True).dtype is loup.bool
    assert loup.full((2,), 2.5, "int32").tolist() == [2, 2]


def test_like_forms_keep_shape_and_dtype() -> None:
    x = loup.zeros((2, 3), "int16")
    for like in (
        loup.zeros_like(x),
        loup.ones_like(x),
        loup.empty_like(x),
        loup.full_like(x, 7),
    ):
        assert (like.shape, like.dtype) == ((2, 3), loup.int16)
    assert loup.full_like(x, 7).tolist() == [[7] * 3] * 2
    assert loup.ones_like(x, "float64").dtype is loup.float64


@pytest.mark.parametrize(
    "arguments", [(5,), (2, 7), (0, 10, 3), (5, 0, -2), (3, 3), (5, 0), (1.0, 2.0, 0.25)]
)
def test_arange_counts_as_numpy_does(arguments: tuple) -> None:
    assert loup.arange(*arguments).tolist() == np.arange(*arguments).tolist()


def test_arange_is_int64_for_ints_and_float32_for_floats() -> None:
    assert loup.arange(3).dtype is loup.int64
    assert loup.arange(3.0).dtype is loup.float32
    assert loup.arange(3, dtype="uint8").dtype is loup.uint8


def test_arange_refuses_a_step_of_zero() -> None:
    with pytest.raises(loup.ValueError, match="expected finite ends and a step other than 0, got"):
        loup.arange(0, 5, 0)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_tensor_copies_an_array(dtype: str) -> None:
    array = np.array([[1, 0], [1, 1]], dtype)
    x = loup.tensor(array)
    assert (x.dtype.name, x.tolist()) == (dtype, array.tolist())
    array[0, 1] = 1
    assert x[0, 1].item() == 0


def test_tensor_converts_to_a_dtype() -> None:
    assert loup.tensor([1.75, -1.75], dtype="int8").tolist() == [1, -1]
    assert loup.tensor([[True, False]], dtype=loup.float16).dtype is loup.float16


def test_asarray_shares_and_tensor_copies() -> None:
    x = loup.ones(3)
    assert loup.asarray(x).data_ptr() == x.data_ptr()
    assert loup.tensor(x).data_ptr() != x.data_ptr()


@pytest.mark.parametrize("shape", [3, (3,), [3], range(3, 4)], ids=repr)
def test_takes_shapes_as_ints_and_sequences(shape: object) -> None:
    assert loup.zeros(shape).shape == (3,)


def test_has_up_to_eight_dims() -> None:
    assert loup.ones((2,) * 8).sum().item() == 256


@pytest.mark.parametrize(
    "make",
    [
        lambda: loup.zeros((1,) * 9),
        lambda: loup.zeros((1,) * 8)[None],
        lambda: loup.zeros((1,) * 8).unsqueeze(0),
        lambda: loup.zeros(1).expand((1,) * 9),
        lambda: loup.zeros(1).reshape((1,) * 9),
        lambda: loup.asarray(np.zeros((1,) * 9)),
        lambda: loup.tensor([[[[[[[[[1]]]]]]]]]),
    ],
)
def test_refuses_a_ninth_dim(make: object) -> None:
    with pytest.raises(loup.ShapeError, match=r": expected at most 8 dimensions, got 9$"):
        make()


# --- dtypes ---


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_are_single_objects_equal_to_their_names(name: str) -> None:
    dtype = getattr(loup, name)
    assert loup.zeros(1, name).dtype is dtype
    assert dtype == name
    assert dtype != "something"
    assert dtype != None  # noqa: E711
    assert hash(dtype) == hash(name)
    assert repr(dtype) == f"loup.{name}"
    assert dtype.name == name


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_stay_themselves_when_pickled_or_copied(name: str, protocol: int) -> None:
    dtype = getattr(loup, name)
    assert pickle.loads(pickle.dumps(dtype, protocol)) is dtype
    assert copy.deepcopy(dtype) is dtype


def test_dtypes_differ_from_each_other() -> None:
    assert len({getattr(loup, name) for name in DTYPES}) == len(DTYPES)


@pytest.mark.parametrize("name", NUMPY_DTYPES)
def test_dtypes_know_size_and_kind(name: str) -> None:
    dtype, same = getattr(loup, name), np.dtype(name)
    assert dtype.itemsize == same.itemsize
    assert dtype.is_floating_point == (same.kind == "f")


@pytest.mark.parametrize("value", ["complex64", "uint16", "float", "", np.complex128])
def test_refuses_dtypes_that_it_does_not_have(value: object) -> None:
    with pytest.raises(
        loup.DTypeError, match="zeros|full: expected a dtype such as float32 or int64"
    ):
        loup.zeros(1, value)


@pytest.mark.parametrize("value", [3, [loup.int8]], ids=repr)
def test_refuses_what_is_no_dtype(value: object) -> None:
    with pytest.raises(TypeError, match="full: expected a dtype, got"):
        loup.zeros(1, value)


@pytest.mark.parametrize("make", [loup.tensor, loup.asarray])
def test_a_dtype_keeps_all_digits_of_python_floats(make: Callable[..., loup.Tensor]) -> None:
    assert make([1 / 3, 1e300], dtype="float64").tolist() == [1 / 3, 1e300]
    assert make(1 / 3, dtype="float64").item() == 1 / 3
    assert make([1 / 3]).dtype == loup.float32
    assert make([2**60 + 1], dtype="int64").tolist() == [2**60 + 1]
