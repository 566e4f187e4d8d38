"""sort, argsort and topk, against NumPy."""

import numpy as np
import pytest
from strided import STRIDES, assert_same, random_array, rng, strided_array
from tensors import NUMPY_DTYPES, counting

import loup

SHAPES = [
    (0,),
    (1,),
    (5,),
    (33,),
    (100,),
    (4095,),
    (4097,),
    (200_000,),
    (7, 9),
    (3, 4, 5),
    (40, 100),
    (0, 3),
    (3, 0),
    (3, 1000),
]


def _array(shape: tuple, dtype: str) -> np.ndarray:
    random = rng(shape, dtype)
    array = random_array(random, shape, dtype)
    if array.dtype.kind == "f":
        odd = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf], dtype)
        array = np.where(random.random(shape) < 0.2, random.choice(odd, shape), array)
    return array


def _order(array: np.ndarray, dim: int, descending: bool) -> np.ndarray:
    """The stable order; NaN is the greatest."""
    if not descending:
        return np.argsort(array, dim, kind="stable")
    backwards = np.argsort(np.flip(array, dim), dim, kind="stable")
    return array.shape[dim] - 1 - np.flip(backwards, dim)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_agrees_with_numpy(dtype: str, shape: tuple, descending: bool) -> None:
    array = _array(shape, dtype)
    for dim in range(-1, len(shape) - 1):
        order = _order(array, dim, descending)
        values, indices = loup.sort(array, dim, descending)
        assert_same(indices, order)
        assert_same(values, np.take_along_axis(array, order, dim))
        assert_same(loup.argsort(array, dim, descending), order)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("largest", [False, True])
def test_topk_gives_the_first_of_the_order(dtype: str, shape: tuple, largest: bool) -> None:
    array = _array(shape, dtype)
    for dim in range(-1, len(shape) - 1):
        order = _order(array, dim, largest)
        size = shape[dim]
        for k in sorted({0, min(1, size), min(3, size), size // 9, size // 2, size}):
            first = np.take(order, range(k), dim)
            values, indices = loup.topk(array, k, dim, largest)
            assert_same(indices, first)
            assert_same(values, np.take_along_axis(array, first, dim))


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("strides", STRIDES)
def test_any_strides(dtype: str, strides: str) -> None:
    array = strided_array(strides, dtype, rng(dtype, strides))
    for dim in (0, 1):
        order = np.argsort(array, dim, kind="stable")
        assert_same(loup.argsort(array, dim), order)
        assert_same(loup.sort(array, dim)[0], np.take_along_axis(array, order, dim))
        assert_same(loup.topk(array, 2, dim, False)[1], np.take(order, range(2), dim))


def test_bfloat16_is_sorted_too() -> None:
    x = loup.tensor([1.5, float("nan"), -0.0, -3.0, 0.0, float("-inf")], dtype="bfloat16")
    assert loup.argsort(x).tolist() == [5, 3, 2, 4, 0, 1]
    assert loup.argsort(x, descending=True).tolist() == [1, 0, 2, 4, 3, 5]


@pytest.mark.parametrize("count", [31, 32, 33, 1000, 70_000])
def test_many_equal_elements_keep_their_order(count: int) -> None:
    array = rng(count).integers(0, 3, count)
    for dtype in ("int8", "int64", "float32"):
        assert_same(loup.argsort(array.astype(dtype)), np.argsort(array, kind="stable"))
    assert loup.argsort(np.zeros(count)).tolist() == list(range(count))


@pytest.mark.parametrize("low", [0, 2**20, 2**40, -(2**62)])
@pytest.mark.parametrize("width", [1, 300, 2**33])
def test_integers_of_a_small_range(low: int, width: int) -> None:
    array = low + rng(low, width).integers(0, width, 5000)
    assert_same(loup.argsort(array), np.argsort(array, kind="stable"))


def test_results_have_names() -> None:
    result = loup.sort([3, 1, 2])
    assert result.values.tolist() == [1, 2, 3]
    assert result.indices.tolist() == [1, 2, 0]
    assert loup.topk([3, 1, 2], 1).values.tolist() == [3]


def test_arguments_as_in_torch_and_numpy() -> None:
    x = loup.asarray(counting(2, 3))
    assert_same(loup.argsort(x, axis=0, descending=True), np.array([[1, 1, 1], [0, 0, 0]]))
    assert x.sort(dim=0, descending=True, stable=True)[1].tolist() == [[1, 1, 1], [0, 0, 0]]
    assert x.topk(k=1, dim=0, largest=False, sorted=False)[1].tolist() == [[0, 0, 0]]
    number = loup.tensor(5.0)
    assert [part.tolist() for part in number.sort()] == [5, 0]
    assert [part.tolist() for part in number.topk(1)] == [5, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.sort(2), loup.IndexError, "sort: expected a dim from -2 to 1, got 2"),
        (lambda x: x.argsort(-3), loup.IndexError, "argsort: expected a dim from -2 to 1, got -3"),
        (lambda x: x.topk(1, 2), loup.IndexError, "topk: expected a dim from -2 to 1, got 2"),
        (lambda x: x.topk(4), loup.ValueError, "topk: expected k from 0 to 3, got 4"),
        (lambda x: x.topk(-1, 0), loup.ValueError, "topk: expected k from 0 to 2, got -1"),
        (
            lambda _: loup.tensor(1).topk(0),
            loup.ValueError,
            "topk: expected k from 1 to 1, got 0",
        ),
    ],
)
def test_refuses(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        call(loup.ones((2, 3)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("shape", [(400_000,), (300, 1000), (2, 100_000)])
def test_large_ones_are_the_same_for_any_number_of_threads(
    threads: None, dtype: str, shape: tuple
) -> None:
    array = _array(shape, dtype)
    order = np.argsort(array, -1, kind="stable")
    first = np.argsort(array, -1, kind="stable")[..., :100]
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        values, indices = loup.sort(array)
        assert_same(indices, order)
        assert_same(values, np.take_along_axis(array, order, -1))
        assert_same(loup.topk(array, 100, largest=False)[1], first)
