"""What a masked operator takes as input, mask, dims and flags, shown by loup.masked.sum."""

import numpy as np
import pytest
from sums import Axes, assert_same, numpy_sum, random_mask, small_integers

import loup

# --- what can be summed ---


@pytest.mark.parametrize(
    ("value", "total", "dtype"),
    [
        (3, 3, "int64"),
        (2.5, 2.5, "float32"),
        (True, 1, "int64"),
        (np.float64(1.1), 1.1, "float64"),
        (np.float32(0.5), 0.5, "float32"),
        (np.float16(0.5), 0.5, "float16"),
        (np.int8(-7), -7, "int64"),
        (np.bool_(True), 1, "int64"),
        ([1, 2, 3], 6, "int64"),
        ((1.5, 2), 3.5, "float32"),
        ([True, 2], 3, "int64"),
        ([[1, 2], [3.5, 4]], 10.5, "float32"),
        ([np.float64(1.1), np.float64(2)], 1.1 + 2, "float64"),
        ([np.array([1, 2]), np.array([3, 4])], 10, "int64"),
        ([], 0, "float32"),
        ([[], []], 0, "float32"),
        (range(5), 10, "int64"),
    ],
    ids=repr,
)
def test_takes_numbers_and_nested_lists(value: object, total: float, dtype: str) -> None:
    result = loup.masked.sum(value)
    assert (result.item(), result.dtype.name) == (total, dtype)


def test_takes_objects_with_the_array_method() -> None:
    class Wrapped:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.array([1.0, 2.0, 4.0])

    assert loup.masked.sum(Wrapped(), mask=[True, False, True]).item() == 5.0


@pytest.mark.parametrize("value", ["text", b"bytes", None, object(), {1: 2}, {3}], ids=repr)
def test_refuses_what_is_not_like_a_tensor(value: object) -> None:
    with pytest.raises(TypeError, match=r"^sum: expected a tensor, an array, .*, got \w+$"):
        loup.masked.sum(value)


def test_refuses_ragged_lists() -> None:
    with pytest.raises(loup.ShapeError, match="sum: expected nested lists of equal lengths, got"):
        loup.masked.sum([[1, 2], [3]])


@pytest.mark.parametrize("value", [[1, [2]], [[1], 2], [[[1]], [2]], [[], [1]]], ids=repr)
def test_refuses_lists_of_different_depths(value: list) -> None:
    with pytest.raises(loup.ShapeError, match="expected nested lists of equal lengths, got ragged"):
        loup.masked.sum(value)


def test_refuses_integers_beyond_64_bits() -> None:
    with pytest.raises(loup.ValueError, match=rf"expected an int of 64 bits, got {2**63}"):
        loup.masked.sum([1, 2**63])


def test_takes_any_object_that_is_like_a_tensor_as_a_mask() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert loup.masked.sum(x, 1, mask=[[True, False, True], [False, True, True]]).tolist() == [2, 9]
    assert loup.masked.sum(x, 1, mask=[1, 0, 1]).tolist() == [2.0, 8.0]
    assert loup.masked.sum(x, 1, mask=False).tolist() == [0.0, 0.0]
    assert loup.masked.sum(x, 1, mask=np.True_).tolist() == [3.0, 12.0]


# --- masked tensors ---


def test_uses_the_mask_of_a_masked_tensor() -> None:
    x = loup.masked_tensor([[1.0, 2.0], [3.0, 4.0]], [[True, False], [False, False]])
    result = loup.masked.sum(x, 1)
    assert isinstance(result, loup.MaskedTensor)
    assert result.get_data().tolist() == [1.0, 0.0]
    assert result.get_mask().tolist() == [True, False]


@pytest.mark.parametrize("explicit", [[True, False, True], [1, 0, 1], True, False], ids=repr)
@pytest.mark.parametrize("dims", [None, 0, 1, -1])
def test_counts_what_both_masks_let_through(explicit: object, dims: Axes) -> None:
    data, own = small_integers((4, 3), "float32"), random_mask((4, 3))
    both = own & np.broadcast_to(np.asarray(explicit, bool), (4, 3))
    result = loup.masked.sum(loup.masked_tensor(data, own), dims, mask=explicit)
    assert_same(result.get_data(), numpy_sum(data, dims, both))
    assert_same(result.get_mask(), both.any(axis=dims))


def test_methods_are_the_functions() -> None:
    data, mask = small_integers((3, 4), "float32"), random_mask((3, 4))
    expected = numpy_sum(data, 1, mask, keepdim=True)
    assert_same(loup.asarray(data).sum(1, mask=mask, keepdim=True), expected)
    result = loup.masked_tensor(data, mask).sum(1, keepdim=True)
    assert_same(result.get_data(), expected)
    assert_same(result.get_mask(), mask.any(1, keepdims=True))


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", [None, 0, (0, 2), -2])
def test_output_mask_says_where_something_counts(keepdim: bool, dims: Axes) -> None:
    mask = np.random.default_rng(3).random((3, 1, 5)) < 0.2
    x = small_integers((3, 4, 5), "int32")
    expected = np.broadcast_to(mask, x.shape).any(axis=dims, keepdims=keepdim)
    assert_same(loup.masked.output_mask("sum", x, dims, mask=mask, keepdim=keepdim), expected)


def test_output_mask_is_true_everywhere_without_a_mask() -> None:
    assert loup.masked.output_mask("sum", np.ones((2, 3)), 1).tolist() == [True, True]


def test_output_mask_refuses_unknown_operators() -> None:
    with pytest.raises(loup.ValueError, match=r"output_mask: expected the name .*, got 'nosuch'"):
        loup.masked.output_mask("nosuch", [1.0])


# --- arguments ---


@pytest.mark.parametrize("dims", [None, (), []], ids=repr)
@pytest.mark.parametrize("keepdim", [False, True])
def test_no_dims_means_all_of_them(dims: object, keepdim: bool) -> None:
    result = loup.masked.sum(np.arange(6.0).reshape(2, 3), dims, keepdim=keepdim)
    assert result.shape == ((1, 1) if keepdim else ())
    assert result.item() == 15.0


@pytest.mark.parametrize("dims", [0, -1, None, (), (0,), (-1,)], ids=repr)
@pytest.mark.parametrize("keepdim", [False, True])
def test_a_0d_tensor_stays_0d(dims: object, keepdim: bool) -> None:
    assert loup.masked.sum(4.0, dims, keepdim=keepdim).shape == ()


def test_takes_the_names_that_numpy_uses() -> None:
    x, mask = small_integers((3, 4), "float32"), random_mask((3, 4))
    ours = loup.masked.sum(x, dim=1, keepdim=True, mask=mask)
    theirs = loup.masked.sum(x, axis=1, keepdims=True, mask=mask)
    assert ours.tolist() == theirs.tolist()
    assert ours.shape == theirs.shape


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"dim": 0, "axis": 0}, "dim or axis"),
        ({"dim": 0, "axis": 1}, "dim or axis"),
        ({"keepdim": True, "keepdims": True}, "keepdim or keepdims"),
        ({"keepdim": False, "keepdims": True}, "keepdim or keepdims"),
    ],
)
def test_refuses_both_names_of_one_argument(arguments: dict, names: str) -> None:
    with pytest.raises(TypeError, match=f"sum: expected {names}, got both"):
        loup.masked.sum([[1.0]], **arguments)


@pytest.mark.parametrize(
    ("dims", "got"),
    [
        (True, "bool"),
        (False, "bool"),
        ((0, True), "bool"),
        ("0", "str"),
        (("x",), "str"),
        (1.0, "float"),
        ([1.5], "float"),
        ({0}, "set"),
        (np.bool_(True), "bool"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ["dim", "axis"])
def test_refuses_dims_that_are_not_ints(dims: object, got: str, name: str) -> None:
    with pytest.raises(TypeError, match=rf"^sum: expected an int, got {got}"):
        loup.masked.sum([[1.0]], **{name: dims})


def test_takes_integers_of_numpy_as_dims() -> None:
    assert loup.masked.sum(np.ones((2, 3)), np.int64(1)).tolist() == [3.0, 3.0]
    assert loup.masked.sum(np.ones((2, 3)), (np.int8(0), np.uint8(1))).item() == 6.0


@pytest.mark.parametrize("dims", [range(2), (0, 1), [1, 0]], ids=repr)
def test_takes_any_sequence_of_dims(dims: object) -> None:
    assert loup.masked.sum(np.ones((2, 3)), dims).item() == 6.0


@pytest.mark.parametrize("value", [1, "yes", 0.0], ids=repr)
def test_refuses_a_keepdim_that_is_not_a_bool(value: object) -> None:
    with pytest.raises(TypeError, match="sum: expected keepdim as a bool, got"):
        loup.masked.sum([1.0], keepdim=value)


def test_takes_the_mask_by_keyword_only() -> None:
    with pytest.raises(TypeError):
        loup.masked.sum([1.0], None, False)
