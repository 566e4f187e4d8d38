"""The dtype of a result: tensors with dims decide, then 0-d tensors, then numbers."""

import itertools

import numpy as np
import pytest
from op_cases.values import DTYPES, FLOATS, INTEGERS, assert_same, dtype_name, tensor

import loup

NUMBERS = {"bool": True, "int": 2, "float": 0.5}


def kind(dtype: str) -> int:
    return 0 if dtype == "bool" else 1 if dtype in INTEGERS else 2


def promoted(a: str, b: str) -> str:
    """The smallest dtype that holds both, by PyTorch's rules: floats hold integers."""
    if a == b:
        return a
    low, high = sorted((a, b), key=DTYPES.index)
    if {low, high} == {"uint8", "int8"}:
        return "int16"
    if {low, high} == {"float16", "bfloat16"}:
        return "float32"
    return high


def together(stronger: str, weaker: str) -> str:
    """Of operands of two classes, of which the weaker only counts if it is of a higher kind."""
    return promoted(stronger, weaker) if kind(weaker) > kind(stronger) else stronger


def small(dtype: str, *shape: int) -> loup.Tensor:
    values = np.array([1, 0, 1, 1, 0, 1]) if dtype == "bool" else np.array([1, 2, 3, 4, 5, 6])
    array = np.resize(values, shape)
    return tensor(array.astype("float32" if dtype == "bfloat16" else dtype), dtype)


PAIRS = list(itertools.product(DTYPES, repeat=2))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_two_tensors(a: str, b: str) -> None:
    x, y, common = small(a, 2, 3), small(b, 3), promoted(a, b)
    assert dtype_name(x + y) == common
    assert_same(x + y, x.to(common) + y.to(common))
    assert dtype_name(x / small("int8", 3)) == (a if a in FLOATS else "float32")
    assert dtype_name(x < y) == "bool"
    assert_same(x < y, x.to(common) < y.to(common))
    assert dtype_name(loup.where(x == x, x, y)) == common
    assert_same(loup.where(x == y, x, y), loup.where(x == y, x.to(common), y.to(common)))


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_tensor_without_dims_counts_less(a: str, b: str) -> None:
    x, y, common = small(a, 6), small(b, 6)[1], together(a, b)
    for result in (x + y, y + x, x * y):
        assert dtype_name(result) == common
    assert_same(x + y, x.to(common) + y.to(common))
    assert dtype_name(loup.maximum(x[0], y)) == promoted(a, b), "both without dims"


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_number_counts_least(dtype: str, number: str) -> None:
    natural = {"bool": "bool", "int": "int64", "float": "float32"}[number]
    value, common = NUMBERS[number], together(dtype, natural)
    for x in (small(dtype, 6), small(dtype, 6)[1]):
        for result in (x + value, value + x, loup.add(x, value), loup.add(value, x)):
            assert dtype_name(result) == common
        assert_same(x + value, x.to(common) + loup.full((), value, dtype=common))
        assert dtype_name(loup.where(x == x, x, value)) == common


def test_two_numbers_make_a_tensor_of_their_own_dtype() -> None:
    assert dtype_name(loup.add(1, 2)) == "int64"
    assert dtype_name(loup.add(True, True)) == "bool"
    assert dtype_name(loup.add(1, 2.5)) == "float32"
    assert loup.add(1, 2.5).item() == 3.5
    assert loup.add(1, 2).shape == ()


def test_numbers_are_compared_as_they_are() -> None:
    """Neither wrapped nor rounded before they are compared."""
    x = loup.tensor([0, 44, 255]).to(loup.uint8)
    assert (x < 300).tolist() == [True, True, True]
    assert (x == 300).tolist() == [False, False, False]
    assert (x > -1).tolist() == [True, True, True]
    assert (x == -1).tolist() == [False, False, False]
    assert (x > -1).tolist() == [True, True, True]
    assert (x < 44.5).tolist() == [True, True, False]
    big = loup.tensor([2**53, 2**53 + 1])
    assert (big == 2**53 + 1).tolist() == [False, True]
    assert (big > 2.0**53).tolist() == [False, False]  # in float64, where both are 2^53


def test_numbers_keep_their_digits_beside_float64() -> None:
    x = loup.ones(1).double()
    assert (x + 0.1).item() == 1.1
    assert loup.add(x, 0.1, alpha=3).item() == 1 + 0.1 * 3
    assert loup.where(x > 2, x, 0.1).item() == 0.1
    assert x.clamp(max=0.1).item() == 0.1
    assert x.clone().mul_(0.1).item() == 0.1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numbers_beside_half_types_are_the_same_in_place(dtype: str) -> None:
    x = small(dtype, 6)
    assert_same(x.clone().add_(0.1), x + 0.1)
    assert_same(x.clone().mul_(0.1), x * 0.1)
    assert_same(x.clone().clamp_(0.1, 2.3), x.clamp(0.1, 2.3))


def test_arrays_and_lists_are_operands() -> None:
    x = loup.tensor([1.0, 2.0])
    assert (x + np.array([1.0, 2.0], np.float32)).tolist() == [2, 4]
    assert (np.array([1.0, 2.0], np.float32) + x).tolist() == [2, 4]
    assert isinstance(np.array([1.0, 2.0]) + x, loup.Tensor)
    assert (x * [1, 2]).tolist() == [1, 4]
    assert ([1, 2] * x).tolist() == [1, 4]
    assert dtype_name(x + np.float64(1)) == "float32"
    assert dtype_name(x + np.float32(1)) == "float32"
    assert dtype_name(loup.tensor([1]).to(loup.int8) + np.int64(1)) == "int8"
