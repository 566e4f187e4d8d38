"""Indexing by tensors of integers and bool, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strided import STRIDES, assert_same, random_array, rng, strided_array
from tensors import NUMPY_DTYPES, counting

import loup

INDEX_DTYPES = ["uint8", "int8", "int16", "int32", "int64"]


@st.composite
def _items(draw: st.DrawFn, shape: tuple) -> tuple:
    """Integers, slices, None, Ellipsis, arrays of integers and masks, in any mixture."""
    found = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=1, max_side=3))
    found = tuple(draw(st.sampled_from([size, size, size, 0])) for size in found)
    items: list = []
    dim = 0
    while dim < len(shape):
        size = shape[dim]
        kind = draw(
            st.sampled_from(["int", "slice", "array", "array", "mask", "none", "end", "bool"])
        )
        if kind == "end":
            break
        if kind == "none":
            items.append(None)
        elif kind == "bool":
            items.append(draw(st.booleans()))
        elif kind == "slice":
            items.append(draw(st.slices(size).filter(lambda s: (s.step or 1) > 0)))
            dim += 1
        elif kind == "int" and size > 0:
            items.append(draw(st.integers(-size, size - 1)))
            dim += 1
        elif kind == "array" and (size > 0 or 0 in found):
            own = tuple(draw(st.sampled_from([n, n, 1])) for n in found)
            own = own[draw(st.integers(0, max(len(own) - 1, 0))) :] or (1,)
            numbers = st.integers(-size, size - 1) if size > 0 else st.just(0)
            dtype = draw(st.sampled_from(INDEX_DTYPES[1:]))
            items.append(draw(hnp.arrays(dtype, own, elements=numbers)))
            dim += 1
        elif kind == "mask" and size > 0:
            count = draw(st.integers(1, min(2, len(shape) - dim)))
            mask = draw(hnp.arrays(bool, shape[dim : dim + count]))
            items.append(mask)
            dim += count
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    return tuple(items)


@st.composite
def _indexed(draw: st.DrawFn) -> tuple[np.ndarray, tuple]:
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    array = counting(*shape)
    order = draw(st.permutations(range(array.ndim)))
    return array.transpose(order), draw(_items(array.transpose(order).shape))


def _numpy(array: np.ndarray, items: tuple) -> np.ndarray | None:
    """Nothing where NumPy refuses."""
    try:
        return np.asarray(array[items])
    except IndexError:
        return None


@given(_indexed())
def test_finds_what_numpy_finds(case: tuple) -> None:
    array, items = case
    expected = _numpy(array, items)
    if expected is None or expected.ndim > 8:
        with pytest.raises(loup.Error):
            loup.asarray(array)[items]
        return
    assert_same(loup.asarray(array)[items], expected)


@given(_indexed())
def test_assigns_where_numpy_does(case: tuple) -> None:
    array, items = case
    expected = _numpy(array, items)
    if expected is None or expected.ndim > 8:
        return
    values = -1 - counting(*expected.shape)
    changed = array.copy()
    changed[items] = values
    x = loup.tensor(array)
    x[items] = values
    assert_same(x, changed)
    changed[items] = -7
    x[items] = -7
    assert_same(x, changed)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("strides", STRIDES)
@pytest.mark.parametrize("index", INDEX_DTYPES)
def test_every_dtype_strides_and_indices(dtype: str, strides: str, index: str) -> None:
    array = strided_array(strides, dtype, rng(dtype, strides, index))
    x = loup.asarray(array)
    rows = np.array([3, 0, 0, 2], index)
    cols = np.array([[5], [1]], index)
    mask = array[:, 0] != array[0, 0]
    assert_same(x[rows], array[rows])
    assert_same(x[:, cols], array[:, cols])
    assert_same(x[rows, cols], array[rows, cols])
    assert_same(x[mask], array[mask])
    assert_same(x[mask, 1:3], array[mask, 1:3])
    assert_same(x[array == array[1, 1]], array[array == array[1, 1]])
    if index != "uint8":
        assert_same(x[-1 - rows], array[-1 - rows])


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_assigns_every_dtype(dtype: str) -> None:
    random = rng("assign", dtype)
    array, values = random_array(random, (6, 5), dtype), random_array(random, (3, 5), dtype)
    x = loup.tensor(array.T).T
    x[[4, 0, 4]] = values
    array[[4, 0, 4]] = values
    x[:, [1, 2]] = values[:1, :1]
    array[:, [1, 2]] = values[:1, :1]
    mask = random.random((6, 5)) < 0.5
    x[mask] = values[0, 0].item()
    array[mask] = values[0, 0]
    assert_same(x, array)


def test_a_key_may_be_a_list_an_array_or_a_tensor() -> None:
    array = counting(4, 3)
    x = loup.asarray(array)
    for key in ([0, 2], np.array([0, 2]), loup.tensor([0, 2]), [True, False, True, False]):
        assert_same(x[key], array[[0, 2]])
    assert_same(x[[]], array[[]])
    assert_same(x[[[0, 1], [2, 3]]], array[[[0, 1], [2, 3]]])
    assert_same(x[[0, 1], [2, -1]], array[[0, 1], [2, -1]])
    assert_same(x[loup.tensor(2)], array[2])
    assert_same(x[np.int16(2), np.array(1)], array[2, 1])
    assert_same(x[True], array[True])
    assert_same(x[False, ..., 1], array[False, ..., 1])


def test_where_the_dims_of_indices_go() -> None:
    x = loup.zeros((2, 3, 4, 5))
    i = loup.tensor([[0, 1, 0]])
    assert x[:, i, i].shape == (2, 1, 3, 5)
    assert x[i, :, i].shape == (1, 3, 3, 5)
    assert x[0, :, i].shape == (1, 3, 3, 5)
    assert x[:, 0, i].shape == (2, 1, 3, 5)
    assert x[i, ..., 0].shape == (1, 3, 3, 4)
    assert x[:, i, None, i].shape == (1, 3, 2, 1, 5)


def test_assignment_takes_the_last_of_several() -> None:
    x = loup.zeros(3)
    x[[1, 1, 0, 1]] = [1.0, 2.0, 3.0, 4.0]
    assert x.tolist() == [3, 4, 0]


def test_assignment_reads_overlapping_sources_and_indices_first() -> None:
    x = loup.arange(5)
    x[x.flip(0)] = x
    assert x.tolist() == [4, 3, 2, 1, 0]
    x = loup.arange(5)
    x[x[1:]] = x[:4]
    assert x.tolist() == [0, 0, 1, 2, 3]


def test_a_mask_beside_other_indices_chooses_rows() -> None:
    array = counting(3, 4, 5)
    mask = array[:, :, 0] % 3 == 0
    x = loup.asarray(array)
    assert_same(x[mask], array[mask])
    assert_same(x[mask, 2], array[mask, 2])
    assert_same(x[mask][:, None], array[mask][:, None])


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ([4], loup.IndexError, "index: expected an index from -4 to 3 for dim 0, got 4"),
        ([-5], loup.IndexError, "index: expected an index from -4 to 3 for dim 0, got -5"),
        (
            (slice(None), [0, 3]),
            loup.IndexError,
            "index: expected an index from -3 to 2 for dim 1, got 3",
        ),
        (
            ([0], [2**62]),
            loup.IndexError,
            f"index: expected an index from -3 to 2 for dim 1, got {2**62}",
        ),
        ([0.5], loup.DTypeError, "index: expected indices of an integer dtype, got float32"),
        (
            ([True, False],),
            loup.IndexError,
            r"index: expected a mask of size 4 for dim 0, got shape \[2\]",
        ),
        (
            (0, np.ones((3, 1), bool)),
            loup.IndexError,
            "index: expected at most 2 indices, got 3",
        ),
        (
            ([0, 1], [0, 1, 2]),
            loup.ShapeError,
            r"index: expected shapes that broadcast together, got \[2\] and \[3\]",
        ),
        ((0, [0], [0]), loup.IndexError, "index: expected at most 2 indices, got 3"),
        (
            (Ellipsis, [0], Ellipsis),
            loup.IndexError,
            "index: expected at most one Ellipsis, got 2",
        ),
    ],
)
def test_refuses(key: object, error: type, message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        loup.zeros((4, 3))[key]


def test_a_refused_assignment_changes_nothing() -> None:
    x = loup.zeros((4, 3))
    with pytest.raises(
        loup.IndexError, match="^index_put_: expected an index from -4 to 3 for dim 0, got 9$"
    ):
        x[[0, 1, 9]] = 1
    with pytest.raises(
        loup.ShapeError,
        match=r"^index_put_: expected a source broadcastable to \[2, 3\], got shape \[2\]$",
    ):
        x[[0, 1]] = [1.0, 2.0]
    assert x.sum().item() == 0


def test_refuses_to_write_where_elements_repeat() -> None:
    with pytest.raises(
        loup.ValueError,
        match="index_put_: expected a tensor that holds each element once, got one expanded",
    ):
        loup.zeros(1).expand(3)[[0]] = 1


def test_the_result_is_a_copy() -> None:
    x = loup.zeros(4)
    x[[0, 1]].fill_(1)
    x[x == 0].fill_(1)
    assert x.sum().item() == 0


@pytest.mark.parametrize("shape", [(300_000,), (3000, 100), (100, 3000)])
def test_large_ones_are_the_same_for_any_number_of_threads(threads: None, shape: tuple) -> None:
    random = rng("large", shape)
    array = random_array(random, shape, "float32")
    rows = random.integers(-shape[0], shape[0], 200_000 // (1 if len(shape) == 1 else 100))
    mask = random.random(shape) < 0.3
    values = random_array(random, array[rows].shape, "float32")
    changed = array.copy()
    changed[rows] = values
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        x = loup.tensor(array)
        assert_same(x[rows], array[rows])
        assert_same(x[mask], array[mask])
        x[rows] = values
        assert_same(x, changed)


@pytest.mark.parametrize("key", [1, slice(1, 3), [2, 0], [False, True, True], ([1, 1], [0, 0])])
def test_assignment_is_recorded(key: object) -> None:
    x = loup.ones((3, 2), "float64").requires_grad_()
    v = loup.tensor(5.0, dtype="float64", requires_grad=True)
    weights = loup.arange(6.0, dtype="float64").reshape(3, 2)
    y = x * 2
    y[key] = v
    y.backward(weights)
    written = np.zeros((3, 2), bool)
    written[key] = True
    assert x.grad is not None
    assert v.grad is not None
    assert_same(x.grad, np.where(written, 0, 2 * np.asarray(weights)))
    assert v.grad.item() == np.asarray(weights)[written].sum()


def test_assignment_into_a_leaf_needs_no_grad() -> None:
    x = loup.zeros(3).requires_grad_()
    with pytest.raises(
        loup.StateError,
        match="^index_put_: expected a tensor that may change while gradients are recorded, got a leaf",
    ):
        x[[0]] = 1
    with loup.no_grad():
        x[[0]] = 1
    assert x.tolist() == [1, 0, 0]
