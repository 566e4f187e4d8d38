"""unique, searchsorted and bucketize, against NumPy."""

import numpy as np
import pytest
from strided import STRIDES, assert_same, random_array, rng, strided_array
from tensors import NUMPY_DTYPES, counting

import loup


def _few(shape: tuple, dtype: str) -> np.ndarray:
    """Elements of which many are equal."""
    random = rng(shape, dtype)
    array = np.asarray(random.integers(0, 9, shape)).astype(dtype)
    if array.dtype.kind == "f":
        array = np.where(random.random(shape) < 0.1, np.nan, array - 4).astype(dtype)
    return array


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (50,), (50_000,), (6, 7), (2, 0)], ids=str)
def test_unique_agrees_with_numpy(dtype: str, shape: tuple) -> None:
    array = _few(shape, dtype)
    values, inverse, counts = loup.unique(array, return_inverse=True, return_counts=True)
    expected = np.unique(array, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(np.asarray(values), expected[0])
    assert_same(inverse, expected[1].reshape(shape))
    assert_same(counts, expected[2])
    np.testing.assert_array_equal(np.asarray(loup.unique(array)), expected[0])
    assert_same(loup.unique(array, return_counts=True)[1], expected[2])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float64"])
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_unique_slices_agree_with_numpy(dtype: str, dim: int) -> None:
    array = (_few((20, 3, 15), "int64") % 2).astype(dtype)[:, :, : 2 if dim != 2 else 15]
    values, inverse, counts = loup.unique(array, return_inverse=True, return_counts=True, dim=dim)
    expected = np.unique(array, return_inverse=True, return_counts=True, axis=dim)
    assert_same(values, expected[0])
    assert_same(inverse, expected[1].ravel())
    assert_same(counts, expected[2])
    assert_same(loup.unique(array, axis=dim), expected[0])


def test_unique_of_transposed_tensors() -> None:
    array = _few((5, 8), "int64").T
    values, inverse = loup.unique(array, return_inverse=True)
    assert_same(values[inverse], array)


def test_zeros_of_both_signs_are_one() -> None:
    assert loup.unique([0.0, -0.0, 0.0]).shape == (1,)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("count", [0, 1, 2, 7, 64, 1000])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_agrees_with_numpy(dtype: str, count: int, side: str) -> None:
    random = rng(dtype, count, side)
    sequence = np.sort(random_array(random, (count,), dtype))
    values = random_array(random, (3, 7), dtype)
    if count > 0:
        values[0] = random.choice(sequence, 7)
    if sequence.dtype.kind == "f":
        values[1, :3] = [np.nan, np.inf, -np.inf]
        sequence[count // 2 :] = np.nan if count > 5 else sequence[count // 2 :]
    expected = np.searchsorted(sequence, values, side)
    assert_same(loup.searchsorted(sequence, values, side=side), expected)
    assert_same(loup.searchsorted(sequence, values, right=side == "right"), expected)
    assert_same(loup.bucketize(values, sequence, right=side == "right"), expected)


@pytest.mark.parametrize("strides", STRIDES)
def test_searchsorted_takes_any_strides(strides: str) -> None:
    values = strided_array(strides, "float32", rng(strides))
    sequence = np.linspace(-2, 2, 9, dtype="float32")[::2]
    assert_same(loup.searchsorted(sequence, values), np.searchsorted(sequence, values))


def test_every_row_of_values_has_its_own_sequence() -> None:
    random = rng("rows")
    sequences = np.sort(random.normal(size=(4, 3, 50)))
    values = random.normal(size=(4, 3, 20))
    expected = np.stack(
        [
            np.searchsorted(s, v)
            for s, v in zip(sequences.reshape(12, 50), values.reshape(12, 20), strict=True)
        ]
    )
    assert_same(loup.searchsorted(sequences, values), expected.reshape(4, 3, 20))


def test_numbers_and_mixed_dtypes() -> None:
    assert loup.searchsorted([1, 3, 5], 3).tolist() == 1
    assert loup.searchsorted([1, 3, 5], 3.5).tolist() == 2
    assert loup.searchsorted([1.0, 3.0], np.array([2], "int64"), out_int32=True).dtype == loup.int32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: loup.searchsorted(1.0, [2.0]),
            loup.ShapeError,
            "searchsorted: expected a sequence with dims, got 0-d",
        ),
        (
            lambda: loup.searchsorted(counting(2, 3), counting(3, 3)),
            loup.ShapeError,
            r"searchsorted: expected a sequence of one dim, or one that agrees with the values "
            r"\[3, 3\] but for the last dim, got \[2, 3\]",
        ),
        (
            lambda: loup.searchsorted([1], [2], side="middle"),
            loup.ValueError,
            "searchsorted: expected side 'left' or 'right', got 'middle'",
        ),
        (
            lambda: loup.searchsorted([1], [2], right=True, side="left"),
            loup.ValueError,
            "searchsorted: expected right and side to agree, got True and 'left'",
        ),
        (
            lambda: loup.unique(counting(3), dim=1),
            loup.IndexError,
            "unique: expected a dim from -1 to 0, got 1",
        ),
        (
            lambda: loup.unique(3, dim=0),
            loup.ShapeError,
            "unique: expected a tensor with dims, got 0-d",
        ),
    ],
)
def test_refuses(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        call()


def test_large_ones_are_the_same_for_any_number_of_threads(threads: None) -> None:
    array = _few((300_000,), "float32")
    sequence = np.sort(random_array(rng("sequence"), (1000,), "float32"))
    expected = np.unique(array, return_inverse=True, return_counts=True)
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        values, inverse, counts = loup.unique(array, return_inverse=True, return_counts=True)
        np.testing.assert_array_equal(np.asarray(values), expected[0])
        assert_same(inverse, expected[1])
        assert_same(counts, expected[2])
        assert_same(loup.searchsorted(sequence, array), np.searchsorted(sequence, array))
