"""Indexing, assignment and views."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tensors import counting

import loup


def _forward(index: object) -> object:
    """The same index with positive steps, the only ones that loup's views have."""
    if isinstance(index, tuple):
        return tuple(_forward(item) for item in index)
    if isinstance(index, slice) and index.step is not None:
        return slice(index.start, index.stop, abs(index.step))
    return index


@st.composite
def _indexed(draw: st.DrawFn) -> tuple[np.ndarray, object]:
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5))
    return counting(*shape), _forward(
        draw(hnp.basic_indices(shape, allow_newaxis=True, max_dims=8))
    )


@given(_indexed())
def test_indexes_as_numpy_does(case: tuple) -> None:
    array, index = case
    expected = np.asarray(array[index])
    result = loup.asarray(array)[index]
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


@given(_indexed())
def test_assigns_as_numpy_does(case: tuple) -> None:
    array, index = case
    x = loup.tensor(array)
    x[index] = -1
    expected = array.copy()
    expected[index] = -1
    assert x.tolist() == expected.tolist()


@given(_indexed())
def test_indexing_gives_views_of_the_same_memory(case: tuple) -> None:
    array, index = case
    shared = array.copy()
    loup.asarray(shared)[index].fill_(-1)
    array[index] = -1
    np.testing.assert_array_equal(shared, array)


@pytest.mark.parametrize(
    "index",
    [
        slice(None, 10**30),
        slice(-(10**30), None),
        slice(1, None, 10**18),
        slice(np.int64(1), np.int8(3)),
        (slice(None), np.int64(1)),
        (Ellipsis, -1),
        (None, Ellipsis, None, 0),
        (),
    ],
    ids=repr,
)
def test_takes_unusual_indices(index: object) -> None:
    array = counting(4, 3)
    assert loup.asarray(array)[index].tolist() == array[index].tolist()


@pytest.mark.parametrize("step", [-1, -3, 0])
def test_refuses_steps_that_are_not_positive(step: int) -> None:
    with pytest.raises(loup.ValueError, match=f"slice: expected a positive step, got {step}"):
        loup.arange(5)[::step]


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (5, "expected an index from -4 to 3 for dim 0, got 5"),
        (-5, "expected an index from -4 to 3 for dim 0, got -5"),
        ((0, 3), "expected an index from -3 to 2 for dim 0, got 3"),
        ((0, 0, 0), "index: expected at most 2 indices, got 3"),
        ((Ellipsis, Ellipsis), "index: expected at most one Ellipsis, got 2"),
    ],
    ids=repr,
)
def test_refuses_indices_out_of_range(index: object, message: str) -> None:
    with pytest.raises(loup.IndexError, match=message):
        loup.zeros((4, 3))[index]


@pytest.mark.parametrize(
    ("index", "got"), [("a", "str"), (1.0, "float"), ((0, "b"), "str"), ((0, b"c"), "bytes")]
)
def test_refuses_indices_of_other_types(index: object, got: str) -> None:
    with pytest.raises(
        TypeError,
        match="^index: expected None, Ellipsis, ints, slices and tensors of ints or bool, "
        f"got {got}$",
    ):
        loup.zeros((4, 3))[index]


def test_a_0d_tensor_has_no_index_but_none_and_ellipsis() -> None:
    x = loup.tensor(1.5)
    assert x[...].item() == 1.5
    assert x[None, ..., None].shape == (1, 1)
    with pytest.raises(loup.IndexError, match="expected at most 0 indices, got"):
        x[0]


@pytest.mark.parametrize(
    "value",
    [7, 2.5, True, [1, 2, 3], [[5], [6]], np.arange(3), loup.arange(3), np.float32(1.5)],
    ids=repr,
)
def test_assignment_broadcasts_and_converts(value: object) -> None:
    x, expected = loup.zeros((4, 3)), np.zeros((4, 3), np.float32)
    x[1:3] = value
    expected[1:3] = np.asarray(value)
    assert x.tolist() == expected.tolist()


def test_assignment_refuses_what_does_not_broadcast() -> None:
    with pytest.raises(
        loup.ShapeError, match=r"expected a source broadcastable to \[2\], got shape"
    ):
        loup.zeros((3, 2))[0] = [1, 2, 3]


def test_assignment_reads_an_overlapping_source_first() -> None:
    x = loup.arange(5)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3]


# --- views ---

VIEWS = {
    "transpose": (lambda x: x.transpose(0, 2), lambda a: a.swapaxes(0, 2)),
    "permute": (lambda x: x.permute(2, 0, 1), lambda a: a.transpose(2, 0, 1)),
    "permute by a tuple": (lambda x: x.permute((2, -3, 1)), lambda a: a.transpose(2, 0, 1)),
    "T": (lambda x: x.T, lambda a: a.T),
    "reshape": (lambda x: x.reshape(6, -1), lambda a: a.reshape(6, -1)),
    "view": (lambda x: x.view((4, 6)), lambda a: a.reshape(4, 6)),
    "flatten": (lambda x: x.flatten(), lambda a: a.reshape(-1)),
    "flatten some": (lambda x: x.flatten(1), lambda a: a.reshape(2, 12)),
    "unsqueeze": (lambda x: x.unsqueeze(-1), lambda a: a[..., None]),
    "squeeze": (lambda x: x[:, :1].squeeze(1), lambda a: a[:, 0]),
    "squeeze all": (lambda x: x[:1, :1].squeeze(), lambda a: a[0, 0]),
    "expand": (lambda x: x[:, :1].expand(-1, 5, -1), lambda a: a[:, [0] * 5]),
    "broadcast_to": (
        lambda x: x.broadcast_to((2, 2, 3, 4)),
        lambda a: np.broadcast_to(a, (2, 2, 3, 4)),
    ),
    "narrow": (lambda x: x.narrow(1, 1, 2), lambda a: a[:, 1:3]),
    "select": (lambda x: x.select(2, -1), lambda a: a[:, :, -1]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_show_what_numpy_shows(name: str) -> None:
    ours, theirs = VIEWS[name]
    array = counting(2, 3, 4)
    result, expected = ours(loup.asarray(array)), theirs(array)
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


@pytest.mark.parametrize("name", VIEWS)
def test_views_share_memory(name: str) -> None:
    x = loup.zeros((2, 3, 4))
    view = VIEWS[name][0](x)
    x.fill_(5)
    assert set(np.asarray(view).ravel()) == {5}


def test_reshape_copies_only_where_it_must() -> None:
    x = loup.arange(6).reshape(2, 3)
    assert x.reshape(3, 2).data_ptr() == x.data_ptr()
    assert x.T.reshape(6).data_ptr() != x.data_ptr()
    assert x.T.reshape(6).tolist() == [0, 3, 1, 4, 2, 5]


def test_view_refuses_to_copy() -> None:
    with pytest.raises(
        loup.ShapeError, match=r"view: expected a shape that needs no copy .* reshape$"
    ):
        loup.zeros((2, 3)).T.view(6)


def test_contiguous_copies_only_where_it_must() -> None:
    x = loup.arange(6).reshape(2, 3)
    assert x.contiguous().data_ptr() == x.data_ptr()
    turned = x.T.contiguous()
    assert turned.is_contiguous()
    assert turned.strides == (2, 1)
    assert not x.T.is_contiguous()


def test_clone_is_independent() -> None:
    x = loup.zeros(3)
    y = x.clone()
    y.fill_(1)
    assert x.tolist() == [0, 0, 0]


def test_writes_to_an_expanded_tensor_are_refused() -> None:
    with pytest.raises(
        loup.ValueError, match="expected a tensor that holds each element once, got"
    ):
        loup.zeros(1).expand(3).fill_(1)
