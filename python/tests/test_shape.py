"""Dims moved, cut and repeated, against NumPy."""

import numpy as np
import pytest
from strided import STRIDES, assert_same, random_array, rng, strided_array
from tensors import NUMPY_DTYPES, counting

import loup

SAME = {
    "flip": (lambda x: x.flip(), np.flip),
    "flip rows": (lambda x: x.flip(0), lambda a: np.flip(a, 0)),
    "flip by axis": (lambda x: loup.flip(x, axis=-1), lambda a: np.flip(a, -1)),
    "roll": (lambda x: x.roll(5), lambda a: np.roll(a, 5)),
    "roll rows": (lambda x: x.roll(-3, 0), lambda a: np.roll(a, -3, 0)),
    "roll both": (lambda x: x.roll((1, -13), (1, 0)), lambda a: np.roll(a, (1, -13), (1, 0))),
    "roll twice": (lambda x: x.roll((1, 2), dims=(0, 0)), lambda a: np.roll(a, 3, 0)),
    "roll by axis": (lambda x: loup.roll(x, 2, axis=1), lambda a: np.roll(a, 2, 1)),
    "repeat": (lambda x: x.repeat(2, 3), lambda a: np.tile(a, (2, 3))),
    "repeat in front": (lambda x: x.repeat((2, 1, 2)), lambda a: np.tile(a, (2, 1, 2))),
    "repeat never": (lambda x: x.repeat(2, 0), lambda a: np.tile(a, (2, 0))),
    "tile": (lambda x: x.tile(3), lambda a: np.tile(a, 3)),
    "tile in front": (lambda x: loup.tile(x, (2, 1, 1)), lambda a: np.tile(a, (2, 1, 1))),
    "interleave": (lambda x: x.repeat_interleave(3), lambda a: np.repeat(a, 3)),
    "interleave rows": (lambda x: x.repeat_interleave(2, 0), lambda a: np.repeat(a, 2, 0)),
    "interleave by axis": (
        lambda x: loup.repeat_interleave(x, 2, axis=1),
        lambda a: np.repeat(a, 2, 1),
    ),
    "tril": (lambda x: x.tril(), np.tril),
    "tril up": (lambda x: x.tril(2), lambda a: np.tril(a, 2)),
    "tril far": (lambda x: x.tril(-(2**62)), lambda a: np.tril(a, -50)),
    "triu": (lambda x: x.triu(), np.triu),
    "triu down": (lambda x: loup.triu(x, diagonal=-1), lambda a: np.triu(a, -1)),
    "triu far": (lambda x: x.triu(2**62), lambda a: np.triu(a, 50)),
    "diagonal": (lambda x: x.diagonal(), np.diagonal),
    "diagonal up": (lambda x: x.diagonal(3), lambda a: np.diagonal(a, 3)),
    "diagonal down": (lambda x: x.diagonal(-1, 1, 0), lambda a: np.diagonal(a, -1, 1, 0)),
    "diagonal outside": (lambda x: x.diagonal(2**62), lambda a: np.diagonal(a, 60)),
    "movedim": (lambda x: x.movedim(0, -1), lambda a: np.moveaxis(a, 0, -1)),
    "swapaxes": (lambda x: x.swapaxes(0, 1), lambda a: np.swapaxes(a, 0, 1)),
    "unflatten": (lambda x: x.unflatten(1, (2, -1)), lambda a: a.reshape(4, 2, 3)),
}


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("name", SAME)
def test_agrees_with_numpy(name: str, strides: str, dtype: str) -> None:
    ours, theirs = SAME[name]
    array = strided_array(strides, dtype, rng(name, strides, dtype))
    assert_same(ours(loup.asarray(array)), theirs(array))


@pytest.mark.parametrize("name", sorted(set(SAME) - {"unflatten"}))
@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (1, 1)])
def test_agrees_with_numpy_on_empty_tensors(name: str, shape: tuple) -> None:
    ours, theirs = SAME[name]
    assert_same(ours(loup.asarray(counting(*shape))), theirs(counting(*shape)))


@pytest.mark.parametrize("ndim", [0, 1, 3, 5, 8])
def test_works_with_any_number_of_dims(ndim: int) -> None:
    array = random_array(rng(ndim), (2,) * ndim, "float32")
    x = loup.asarray(array)
    assert_same(x.flip(), np.flip(array))
    assert_same(x.roll(1), np.roll(array, 1))
    repeats = (2, 3, 1, 1, 2, 1, 1, 2)[:ndim]
    assert_same(x.repeat(repeats), np.tile(array, repeats))
    assert_same(x.repeat_interleave(2), np.repeat(array, 2))


def test_0d_tensors_take_dim_0() -> None:
    x = loup.tensor(3.0)
    assert x.flip(0).shape == ()
    assert x.repeat().tolist() == 3.0
    assert x.repeat(2).tolist() == [3.0, 3.0]
    assert x.repeat_interleave(2, 0).tolist() == [3.0, 3.0]


def test_copies_do_not_share_memory() -> None:
    x = loup.ones((2, 3))
    for y in [
        x.repeat(1, 1),
        x.tile(1),
        x.flip(()),
        x.roll(0),
        x.repeat_interleave(1, 0),
        x.tril(9),
    ]:
        y.fill_(0)
    assert x.sum().item() == 6


def test_views_share_memory() -> None:
    x = loup.zeros((3, 3))
    x.diagonal().fill_(1)
    x.movedim(0, 1)[0].fill_(2)
    x.swapaxes(0, 1)[1].fill_(3)
    x.unflatten(0, (1, 3))[0, 2].fill_(4)
    assert x.tolist() == [[2, 3, 0], [2, 3, 0], [4, 4, 4]]


@pytest.mark.parametrize(
    ("source", "destination"),
    [(0, 2), (-1, 0), ((0, 1), (1, 0)), ((0, 2), (-1, -2)), ((), ())],
)
def test_movedim_agrees_with_moveaxis(source: object, destination: object) -> None:
    array = counting(2, 3, 4)
    expected = np.moveaxis(array, source, destination)
    assert_same(loup.movedim(array, source, destination), expected)


@pytest.mark.parametrize("offset", range(-4, 5))
@pytest.mark.parametrize("dims", [(0, 1), (2, 0), (-1, -2)])
def test_diagonal_agrees_with_numpy(offset: int, dims: tuple) -> None:
    array = counting(2, 3, 4)
    assert_same(loup.diagonal(array, offset, *dims), np.diagonal(array, offset, *dims))


@pytest.mark.parametrize("indexing", ["ij", "xy"])
@pytest.mark.parametrize("sizes", [(3,), (3, 2), (2, 3, 4), (2, 0, 3)])
def test_meshgrid_agrees_with_numpy(indexing: str, sizes: tuple) -> None:
    vectors = [np.arange(size) * (i + 1) for i, size in enumerate(sizes)]
    expected = np.meshgrid(*vectors, indexing=indexing)
    for result in (
        loup.meshgrid(*vectors, indexing=indexing),
        loup.meshgrid(vectors, indexing=indexing),
    ):
        assert len(result) == len(expected)
        for ours, theirs in zip(result, expected, strict=True):
            assert_same(ours, theirs)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.tril(), loup.ShapeError, r"tril: expected at least 2 dims, got shape \[4\]"),
        (lambda x: x.triu(), loup.ShapeError, r"triu: expected at least 2 dims, got shape \[4\]"),
        (
            lambda x: x.diagonal(),
            loup.ShapeError,
            r"diagonal: expected at least 2 dims, got shape \[4\]",
        ),
        (
            lambda _: loup.ones((2, 2)).diagonal(0, 1, -1),
            loup.ShapeError,
            "diagonal: expected two different dims, got 1 and -1",
        ),
        (lambda x: x.flip(1), loup.IndexError, "flip: expected a dim from -1 to 0, got 1"),
        (
            lambda x: x.flip((0, -1)),
            loup.ShapeError,
            r"flip: expected every dim at most once, got \[0, -1\]",
        ),
        (
            lambda x: x.roll((1, 2)),
            loup.ValueError,
            r"roll: expected one shift without dims, got \[1, 2\]",
        ),
        (
            lambda x: x.roll((1, 2), 0),
            loup.ValueError,
            r"roll: expected as many shifts as dims, got \[1, 2\] and \[0\]",
        ),
        (lambda x: x.roll(1, 1), loup.IndexError, "roll: expected a dim from -1 to 0, got 1"),
        (
            lambda x: x.repeat(),
            loup.ShapeError,
            r"repeat: expected at least 1 repeats for shape \[4\], got \[\]",
        ),
        (lambda x: x.repeat(-1), loup.ValueError, "repeat: expected repeats of at least 0, got -1"),
        (lambda x: x.tile(-2), loup.ValueError, "tile: expected repeats of at least 0, got -2"),
        (
            lambda x: x.repeat_interleave(-1),
            loup.ValueError,
            "repeat_interleave: expected repeats of at least 0, got -1",
        ),
        (
            lambda x: x.repeat_interleave(2, 1),
            loup.IndexError,
            "repeat_interleave: expected a dim from -1 to 0, got 1",
        ),
        (
            lambda x: x.unflatten(0, (3, -1)),
            loup.ShapeError,
            r"unflatten: expected a shape of 4 elements, got \[3, -1\]",
        ),
        (
            lambda _: loup.tensor(1).unflatten(0, (1, 1)),
            loup.ShapeError,
            "unflatten: expected a tensor with dims, got 0-d",
        ),
        (
            lambda x: x.movedim((0, 0), (0, 1)),
            loup.ShapeError,
            r"movedim: expected every dim at most once, got \[0, 0\]",
        ),
        (
            lambda x: x.movedim(0, (0, 1)),
            loup.ShapeError,
            r"movedim: expected as many places as dims, got \[0\] and \[0, 1\]",
        ),
        (
            lambda x: loup.meshgrid(x, indexing="yx"),
            loup.ValueError,
            "meshgrid: expected indexing 'ij' or 'xy', got 'yx'",
        ),
        (
            lambda x: loup.meshgrid(x.reshape(2, 2)),
            loup.ShapeError,
            r"meshgrid: expected tensors of at most one dim, got shape \[2, 2\]",
        ),
        (
            lambda _: loup.meshgrid(),
            loup.ValueError,
            "meshgrid: expected at least one tensor, got none",
        ),
    ],
)
def test_refuses(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        call(loup.ones(4))


def test_large_tensors_are_the_same_for_any_number_of_threads(threads: None) -> None:
    array = random_array(rng("large"), (700, 900), "float32")
    x = loup.asarray(array)
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        assert_same(x.tril(3), np.tril(array, 3))
        assert_same(x.roll((5, -7), (0, 1)), np.roll(array, (5, -7), (0, 1)))
        assert_same(x.T.flip(0), np.flip(array.T, 0))
