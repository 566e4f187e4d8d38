"""index_select, gather, scatter and their like, against NumPy."""

import numpy as np
import pytest
from strided import STRIDES, assert_same, random_array, rng, strided_array
from tensors import NUMPY_DTYPES

import loup

INDEX_DTYPES = ["uint8", "int8", "int16", "int32", "int64"]


def _indices(random: np.random.Generator, size: int, shape: tuple, dtype: str) -> np.ndarray:
    low = 0 if dtype == "uint8" else -size
    return random.integers(low, size, shape).astype(dtype)


def _added(array: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray) -> np.ndarray:
    """scatter_add, one element after the other; half types are added up in float32."""
    wide = array.astype(np.float32) if array.dtype == np.float16 else array.copy()
    for place in np.ndindex(index.shape):
        target = list(place)
        target[dim] = index[place]
        if array.dtype == bool:
            wide[tuple(target)] |= source[place]
        else:
            with np.errstate(over="ignore"):
                wide[tuple(target)] += source[place]
    return wide.astype(array.dtype)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_every_dtype_with_any_strides(dtype: str, strides: str, dim: int) -> None:
    random = rng(dtype, strides, dim)
    array = strided_array(strides, dtype, random)
    x = loup.asarray(array)
    for index_dtype in INDEX_DTYPES:
        vector = _indices(random, array.shape[dim], (5,), index_dtype)
        shape = [3, 3]
        shape[dim] = 7
        index = _indices(random, array.shape[dim], tuple(shape), index_dtype)
        part = array[tuple(slice(None) if d == dim % 2 else slice(3) for d in range(2))]
        source = random_array(random, (8, 9), dtype)
        assert_same(x.index_select(dim, vector), np.take(array, vector, dim))
        assert_same(x.gather(dim, index), np.take_along_axis(part, index.astype(int), dim))
        assert_same(x.scatter_add(dim, index, source), _added(array, dim, index, source))
        expected = array.copy()
        for place in np.ndindex(index.shape):
            target = list(place)
            target[dim] = index[place]
            expected[tuple(target)] = source[place]
        assert_same(x.scatter(dim, index, source), expected)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_slices_are_added_copied_and_filled(dtype: str) -> None:
    random = rng("slices", dtype)
    array = random_array(random, (4, 3, 2), dtype)
    index = np.array([2, 0, -1])
    for dim in range(3):
        chosen = index % array.shape[dim]
        shape = list(array.shape)
        shape[dim] = 3
        source = random_array(random, tuple(shape), dtype)
        where = tuple([slice(None)] * dim + [chosen])
        wide = np.broadcast_to(chosen.reshape([-1 if d == dim else 1 for d in range(3)]), shape)
        assert_same(loup.index_add(array, dim, chosen, source), _added(array, dim, wide, source))
        expected = array.copy()
        expected[where] = source
        assert_same(loup.index_copy(array, dim, chosen, source), expected)
        expected[where] = 1
        assert_same(loup.index_fill(array, dim, chosen, 1), expected)


def test_index_add_multiplies_by_alpha() -> None:
    x = loup.index_add(loup.zeros(3), 0, [0, 0, 2], loup.ones(3), alpha=2.5)
    assert x.tolist() == [5, 0, 2.5]


def test_take_along_dim_undoes_argsort() -> None:
    array = random_array(rng("along"), (3, 1, 5), "float64")
    for dim in (0, 1, 2, -1):
        order = np.argsort(array, dim, kind="stable")
        expected = np.take_along_axis(array, order, dim)
        assert_same(loup.take_along_dim(array, order, dim), expected)
        assert_same(loup.take_along_dim(array, order, axis=dim), expected)
    flat = np.argsort(array, None, kind="stable")
    assert_same(loup.take_along_dim(array, flat), np.take_along_axis(array, flat, None))
    wide = np.zeros((3, 4, 2), int)
    assert_same(loup.take_along_dim(array, wide, 2), np.take_along_axis(array, wide, 2))


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_in_place_forms_write_what_the_others_return(dtype: str) -> None:
    random = rng("in place", dtype)
    base = random_array(random, (6, 8), dtype)
    index = _indices(random, 3, (2, 4), "int64")
    source = random_array(random, (2, 4), dtype)
    vector = np.array([1, 1])
    calls = [
        ("scatter", (0, index, source)),
        ("scatter", (0, index, 1)),
        ("scatter_add", (0, index, source)),
        ("index_add", (0, vector, source)),
        ("index_copy", (0, vector, source)),
        ("index_fill", (0, vector, 0)),
    ]
    for name, arguments in calls:
        for view in (lambda x: x[:3, :4], lambda x: x[::2, ::2], lambda x: x.T[:3, :4]):
            memory = loup.tensor(base)
            x = view(memory)
            expected = np.asarray(getattr(x.clone(), name)(*arguments))
            assert getattr(x, name + "_")(*arguments) is x
            assert_same(x, expected)
            assert_same(view(memory), expected)


def test_sums_of_half_types_do_not_stall() -> None:
    index = np.zeros(5000, int)
    for dtype in ("float16", "bfloat16"):
        x = loup.zeros(1, dtype).scatter_add(0, index, loup.ones(5000, dtype))
        assert x.to("float32").item() == pytest.approx(5000, rel=2**-8)


def test_the_last_of_several_stays() -> None:
    x = loup.zeros(3).scatter(0, [1, 1, 0, 1], loup.arange(4.0))
    assert x.tolist() == [2, 3, 0]


def test_empty_and_0d_tensors() -> None:
    x = loup.ones((3, 4))
    empty = loup.zeros(0, "int64")
    assert x.index_select(1, empty).shape == (3, 0)
    assert x.gather(0, empty.reshape(0, 0)).shape == (0, 0)
    assert x.scatter_add(0, empty.reshape(0, 0), x).tolist() == x.tolist()
    number, zero = loup.tensor(7.0), loup.tensor(0)
    assert number.gather(0, zero).tolist() == 7
    assert number.index_select(0, zero).tolist() == 7
    assert number.scatter(0, zero, 5.0).tolist() == 5
    assert number.scatter_add(0, zero, number).tolist() == 14
    assert loup.zeros((0, 3)).index_select(1, loup.tensor([2])).shape == (0, 1)


CASES = {
    "index above": (
        lambda x: x.gather(1, [[4]]),
        loup.IndexError,
        "gather: expected an index from -4 to 3 for dim 1, got 4",
    ),
    "index below": (
        lambda x: x.index_select(-1, [-5]),
        loup.IndexError,
        "index_select: expected an index from -4 to 3 for dim 1, got -5",
    ),
    "index far": (
        lambda x: x.gather(0, [[2**62]]),
        loup.IndexError,
        f"gather: expected an index from -3 to 2 for dim 0, got {2**62}",
    ),
    "no element": (
        lambda _: loup.zeros((0, 3)).index_select(0, [0]),
        loup.IndexError,
        "index_select: expected an index from 0 to -1 for dim 0, got 0",
    ),
    "no element looked up": (
        lambda _: loup.zeros((3, 0)).index_select(0, [3]),
        loup.IndexError,
        "index_select: expected an index from -3 to 2 for dim 0, got 3",
    ),
    "scatter index": (
        lambda x: x.scatter(0, [[5]], x),
        loup.IndexError,
        "scatter: expected an index from -3 to 2 for dim 0, got 5",
    ),
    "dim": (
        lambda x: x.gather(2, [[0]]),
        loup.IndexError,
        "gather: expected a dim from -2 to 1, got 2",
    ),
    "float index": (
        lambda x: x.gather(0, [[0.0]]),
        loup.DTypeError,
        "gather: expected indices of an integer dtype, got float32",
    ),
    "bool index": (
        lambda x: x.index_select(0, [True]),
        loup.DTypeError,
        "index_select: expected indices of an integer dtype, got bool",
    ),
    "index dims": (
        lambda x: x.gather(0, [0]),
        loup.ShapeError,
        r"gather: expected indices of 2 dims, got shape \[1\]",
    ),
    "index too long": (
        lambda x: x.gather(1, np.zeros((4, 1), int)),
        loup.ShapeError,
        r"gather: expected indices nowhere longer than \[3, 4\] but for dim 1, got shape \[4, 1\]",
    ),
    "index matrix": (
        lambda x: x.index_select(0, [[0]]),
        loup.ShapeError,
        r"index_select: expected a vector of indices, got shape \[1, 1\]",
    ),
    "source too short": (
        lambda x: x.scatter_add(0, [[0, 0]], [[1.0]]),
        loup.ShapeError,
        r"scatter_add: expected a source nowhere shorter than the indices of shape \[1, 2\], "
        r"got \[1, 1\]",
    ),
    "source shape": (
        lambda x: x.index_add(0, [0], [[1.0]]),
        loup.ShapeError,
        r"index_add: expected a source of shape \[1, 4\], got \[1, 1\]",
    ),
    "source dtype": (
        lambda x: x.scatter(0, [[0]], loup.ones((1, 1), "float64")),
        loup.DTypeError,
        "scatter: expected a source that float32 holds, got float64",
    ),
    "broadcast": (
        lambda x: x.take_along_dim(np.zeros((2, 1), int), 1),
        loup.ShapeError,
        r"take_along_dim: expected shapes that broadcast together, got \[3, 1\] and \[2, 1\]",
    ),
    "along dims": (
        lambda x: x.take_along_dim([0], 1),
        loup.ShapeError,
        r"take_along_dim: expected indices of 2 dims, got shape \[1\]",
    ),
    "0-d in place": (
        lambda _: loup.tensor(1.0).index_fill_(0, [0], 1),
        loup.ShapeError,
        "index_fill_: expected a tensor with dims, got 0-d",
    ),
    "repeated in place": (
        lambda x: x[:, :1].expand(3, 4).scatter_(0, [[0]], 1),
        loup.ValueError,
        "scatter_: expected a tensor that holds each element once, got one expanded along dim 1; "
        "clone it first",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refuses(name: str) -> None:
    call, error, message = CASES[name]
    with pytest.raises(error, match=f"^{message}$"):
        call(loup.ones((3, 4)))


def test_a_refused_change_changes_nothing() -> None:
    x = loup.zeros((3, 4))
    with pytest.raises(loup.IndexError):
        x.scatter_(0, [[0, 1, 5, 0]], 1)
    with pytest.raises(loup.IndexError):
        x.index_add_(0, [0, 7], loup.ones((2, 4)))
    assert x.sum().item() == 0


@pytest.mark.parametrize("shape", [(500_000,), (5000, 100), (100, 5000), (20, 1000, 25)])
def test_sums_have_the_same_bits_for_any_number_of_threads(threads: None, shape: tuple) -> None:
    random = rng("threads", shape)
    x = loup.asarray(random_array(random, shape, "float32"))
    source = loup.asarray(random_array(random, shape, "float32"))
    results = []
    for dim in range(len(shape)):
        index = random.integers(-7, 7, shape)
        vector = random.integers(-shape[dim], shape[dim], shape[dim])
        for count in (1, 2, 7):
            loup.set_num_threads(count)
            changed = x.scatter_add(dim, index, source)
            changed.index_add_(dim, vector, source)
            changed.scatter_(dim, index[:3], source)
            results.append(np.asarray(changed).tobytes())
        assert len(set(results)) == 1
        results.clear()


def test_gradients_of_conversions() -> None:
    x = loup.zeros(3, "float64").requires_grad_()
    y = loup.ones(2).requires_grad_()
    x.scatter_add(0, [2, 2], y).backward(loup.tensor([1.0, 2.0, 3.0], dtype="float64"))
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.tolist() == [1, 2, 3]
    assert y.grad.tolist() == [3, 3]
    assert y.grad.dtype == loup.float32


def test_backward_notices_that_an_index_was_changed() -> None:
    x, index = loup.ones(3).requires_grad_(), loup.tensor([0, 1])
    y = x.gather(0, index)
    index.fill_(2)
    with pytest.raises(
        loup.StateError, match=r"gather backward: expected .*, got one changed in place"
    ):
        y.sum().backward()
