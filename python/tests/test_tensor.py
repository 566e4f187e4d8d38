"""loup.Tensor: creation, indexing, views, conversion, printing and gradients."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import loup

DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64"),
]
NUMPY_DTYPES = [name for name in DTYPES if name != "bfloat16"]


def counting(*shape: int) -> np.ndarray:
    return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)


# --- creation ---


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


# --- indexing ---


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
    ("index", "got"),
    [(True, "bool"), ("a", "str"), ([0], "list"), (1.0, "float"), ((0, "b"), "str")],
)
def test_refuses_indices_of_other_types(index: object, got: str) -> None:
    with pytest.raises(
        TypeError, match=f"index: expected None, Ellipsis, ints and slices, got {got}"
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


# --- sizes and conversion ---


def test_describes_itself() -> None:
    x = loup.zeros((2, 3, 4), "int16")
    assert (x.ndim, x.dim(), x.numel(), x.nbytes, len(x)) == (3, 3, 24, 48, 2)
    assert x.size() == (2, 3, 4)
    assert [x.size(0), x.size(-1)] == [2, 4]
    assert x.strides == (12, 4, 1)
    assert not x.is_readonly


def test_size_refuses_dims_out_of_range() -> None:
    with pytest.raises(loup.IndexError, match="expected a dim from -2 to 1, got 2"):
        loup.zeros((2, 3)).size(2)
    with pytest.raises(loup.IndexError, match="expected a tensor with dims, got 0-d"):
        loup.tensor(1.0).size(0)


def test_iterates_over_the_first_dim() -> None:
    assert [row.tolist() for row in loup.arange(6).reshape(3, 2)] == [[0, 1], [2, 3], [4, 5]]
    assert list(loup.zeros((0, 3))) == []


@pytest.mark.parametrize("use", [len, iter, list])
def test_a_0d_tensor_has_no_length_and_no_elements(use: object) -> None:
    with pytest.raises(TypeError, match="expected a tensor with dims, got a 0-d tensor"):
        use(loup.tensor(1.0))


@pytest.mark.parametrize(
    ("dtype", "kind"), [("bool", bool), ("uint8", int), ("int64", int), ("bfloat16", float)]
)
def test_item_is_a_python_number(dtype: str, kind: type) -> None:
    assert type(loup.ones((1, 1), dtype).item()) is kind


@pytest.mark.parametrize("dtype", DTYPES)
def test_tolist_gives_back_what_went_in(dtype: str) -> None:
    assert loup.tensor([[1, 0], [0, 1]], dtype=dtype).tolist() == [[1, 0], [0, 1]]


def test_python_converts_single_elements() -> None:
    assert float(loup.tensor([2.5])) == 2.5
    assert int(loup.tensor(-2.75)) == -2
    assert int(loup.tensor(2**62)) == 2**62
    assert bool(loup.tensor(0.5)) is True
    assert bool(loup.tensor([[False]])) is False


def test_int_of_what_no_int_can_be_is_python_s_own_error() -> None:
    with pytest.raises(OverflowError):
        int(loup.tensor(math.inf))
    with pytest.raises(ValueError, match="NaN"):
        int(loup.tensor(math.nan))


@pytest.mark.parametrize("convert", [float, int, bool, loup.Tensor.item])
@pytest.mark.parametrize("shape", [(2,), (0,)])
def test_refuses_to_be_one_number_when_it_is_not(convert: object, shape: tuple) -> None:
    with pytest.raises(
        loup.ValueError, match=rf"expected a tensor of one element, got shape \[{shape[0]}"
    ):
        convert(loup.zeros(shape))


@pytest.mark.parametrize("source", NUMPY_DTYPES)
@pytest.mark.parametrize("target", NUMPY_DTYPES)
def test_to_converts_as_numpy_does(source: str, target: str) -> None:
    array = np.array([0, 1, 2, 100], source)
    result = loup.asarray(array).to(target)
    assert result.dtype == target
    assert result.tolist() == array.astype(target).tolist()


def test_to_the_same_dtype_is_no_copy() -> None:
    x = loup.ones(3)
    assert x.to(loup.float32).data_ptr() == x.data_ptr()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("bool", "bool"),
        ("int", "int32"),
        ("long", "int64"),
        ("half", "float16"),
        ("bfloat16", "bfloat16"),
        ("float", "float32"),
        ("double", "float64"),
    ],
)
def test_shorthands_convert(name: str, dtype: str) -> None:
    assert getattr(loup.tensor([0, 3]), name)().dtype == dtype


def test_bfloat16_rounds_to_the_nearest_even() -> None:
    x = loup.tensor([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-16])
    assert x.bfloat16().tolist() == [1.0, 1 + 2**-6, 1 + 2**-7]


def test_copy_converts_broadcasts_and_returns_itself() -> None:
    x = loup.zeros((2, 3))
    assert x.copy_([1, 2, 3]) is x
    assert x.tolist() == [[1, 2, 3]] * 2


def test_fill_returns_itself() -> None:
    x = loup.zeros(2, "int8")
    assert x.fill_(3) is x
    assert x.tolist() == [3, 3]


@pytest.mark.parametrize(
    "call",
    [
        lambda: loup.Tensor.fill_(5, 3),
        lambda: loup.Tensor.copy_([1], 3),
        lambda: loup.Tensor.requires_grad_(5),
        lambda: loup.Tensor.numpy(5),
        lambda: loup.Tensor.__iter__(5),
        loup.Tensor,
        lambda: loup.masked.sum(loup.Tensor.__new__(loup.Tensor)),
        lambda: loup.Tensor.__new__(loup.Tensor).fill_(1),
        lambda: loup.masked.sum(loup.MaskedTensor.__new__(loup.MaskedTensor)),
    ],
)
def test_what_is_no_tensor_is_an_error_and_no_crash(call: object) -> None:
    with pytest.raises(TypeError):
        call()


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


# --- printing ---


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (loup.tensor([[1.0, 2.5], [3, 4]]), "Tensor(\n  [[ 1.0,  2.5],\n   [ 3.0,  4.0]]\n)"),
        (loup.tensor(2.0), "Tensor(2.0)"),
        (loup.tensor(True), "Tensor(True)"),
        (loup.tensor([1, 20, 300]), "Tensor(\n  [  1,  20, 300]\n)"),
        (loup.tensor([1], dtype="int8"), "Tensor(\n  [ 1], dtype=int8\n)"),
        (loup.ones(2).requires_grad_(), "Tensor(\n  [ 1.0,  1.0], requires_grad=True\n)"),
        (loup.zeros(0), "Tensor([])"),
        (loup.zeros((0, 3)), "Tensor([], shape=[0, 3])"),
        (
            loup.tensor([math.nan, math.inf, -math.inf]),
            "Tensor(\n  [ nan,  inf, -inf]\n)",
        ),
        (
            loup.arange(2000),
            "Tensor(\n  [   0,    1,    2, ..., 1997, 1998, 1999]\n)",
        ),
        (loup.tensor([1e9, 1.0]), "Tensor(\n  [ 1.0000e+09,  1.0000e+00]\n)"),
        (
            loup.tensor([[[1], [2]], [[3], [4]]]),
            "Tensor(\n  [[[ 1],\n    [ 2]],\n\n   [[ 3],\n    [ 4]]]\n)",
        ),
    ],
)
def test_prints(x: loup.Tensor, text: str) -> None:
    assert repr(x) == text
    assert str(x) == text


def test_prints_the_edges_of_each_dim_of_a_large_tensor() -> None:
    text = repr(loup.arange(10_000).reshape(100, 100))
    assert text.count("...") == 7
    assert len(text.splitlines()) == 9


# --- gradients ---


def test_gradients_flow_through_views_and_conversions() -> None:
    x = loup.arange(6.0).reshape(2, 3).requires_grad_()
    y = x.T[1:].double().clone().reshape(-1).sum()
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 1, 1], [0, 1, 1]]


def test_gradients_of_repeated_elements_add_up() -> None:
    x = loup.ones((1, 2)).requires_grad_()
    x.expand(3, 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[3, 3]]


def test_gradients_accumulate_until_they_are_cleared() -> None:
    x = loup.ones(2).requires_grad_()
    x.sum().backward()
    x.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]
    x.grad = None
    assert x.grad is None
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_gradient_can_only_be_cleared() -> None:
    x = loup.ones(2).requires_grad_()
    with pytest.raises(TypeError, match="grad: expected None, which clears the gradient, got"):
        x.grad = loup.ones(2)


def test_leaves_are_what_the_user_made() -> None:
    x = loup.ones(2).requires_grad_()
    assert x.is_leaf
    assert not x.sum().is_leaf
    assert x.sum().requires_grad
    assert not x.detach().requires_grad
    assert x.detach().data_ptr() == x.data_ptr()


def test_requires_grad_can_be_taken_back() -> None:
    x = loup.ones(2)
    assert x.requires_grad_() is x
    x.requires_grad = False
    assert not x.sum().requires_grad


def test_nothing_is_recorded_under_no_grad() -> None:
    x = loup.ones(2).requires_grad_()
    with loup.no_grad():
        assert not x.sum().requires_grad
    assert x.sum().requires_grad


def test_no_grad_ends_with_an_exception_too() -> None:
    x = loup.ones(2).requires_grad_()
    with pytest.raises(KeyError), loup.no_grad():
        raise KeyError
    assert x.sum().requires_grad


def test_one_no_grad_object_can_be_entered_twice() -> None:
    x, off = loup.ones(2).requires_grad_(), loup.no_grad()
    with off:
        with off:
            assert not x.sum().requires_grad
        assert not x.sum().requires_grad
    assert x.sum().requires_grad


def test_backward_twice_needs_retain_graph() -> None:
    x = loup.ones(2).requires_grad_()
    kept = x.sum()
    kept.backward(retain_graph=True)
    kept.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(loup.StateError, match=r"backward: expected a record .* got one released"):
        kept.backward()


def test_create_graph_keeps_the_record_of_the_gradient() -> None:
    x = loup.ones(2, "float64").requires_grad_()
    weight = loup.tensor(3.0, dtype="float64", requires_grad=True)
    x.sum().backward(weight, create_graph=True)
    assert x.grad is not None
    assert x.grad.requires_grad
    x.grad.sum().backward()
    assert weight.grad is not None
    assert weight.grad.item() == 2.0


def test_backward_takes_the_gradient_of_the_result() -> None:
    x = loup.ones((2, 3)).requires_grad_()
    x.sum(1).backward(gradient=[1, 2])
    assert x.grad is not None
    assert x.grad.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_backward_of_many_elements_needs_a_gradient() -> None:
    x = loup.ones((2, 3)).requires_grad_()
    with pytest.raises(loup.ValueError, match=r"expected a gradient for shape \[2\], got none"):
        x.sum(1).backward()
    with pytest.raises(loup.ShapeError, match=r"expected a gradient of shape \[2\], got \[3\]"):
        x.sum(1).backward([1, 2, 3])


def test_backward_notices_that_a_mask_was_changed() -> None:
    x, mask = loup.ones(3).requires_grad_(), loup.tensor([True, False, True])
    y = x.sum(mask=mask)
    mask.fill_(True)
    with pytest.raises(
        loup.StateError, match=r"sum backward: expected .*, got one changed in place"
    ):
        y.backward()
