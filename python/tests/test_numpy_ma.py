"""numpy.ma in and out: the data shared, the mask inverted."""

import gc
import re
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange import NUMPY_DTYPES, VIEWS, matrix

import loup

PAGE = Path(__file__).resolve().parents[2] / "docs/numpy_ma.md"
MASK = np.arange(48).reshape(6, 8) % 3 == 0


def masked(dtype: str = "float32") -> np.ma.MaskedArray:
    return np.ma.array(matrix(dtype), mask=MASK)


def view_of(array: np.ma.MaskedArray, view: str) -> np.ma.MaskedArray:
    """Of data and mask apart: asfortranarray, and perhaps others, would lose the mask."""
    return np.ma.array(VIEWS[view](array.data), mask=VIEWS[view](array.mask), copy=False)


def assert_same(x: loup.MaskedTensor, array: np.ma.MaskedArray) -> None:
    assert x.shape == array.shape
    assert x.get_mask().tolist() == (~np.ma.getmaskarray(array)).tolist()
    assert x.tolist() == array.tolist()


# --- in ---


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_data_are_shared_and_the_mask_is_inverted(dtype: str, view: str) -> None:
    array = view_of(masked(dtype), view)
    x = loup.from_numpy_ma(array)
    assert_same(x, array)
    assert x.dtype == dtype
    assert x.get_data().tolist() == array.data.tolist()
    if array.size and array.ndim:
        assert x.get_data().data_ptr() == array.data.ctypes.data


def test_writes_are_seen_in_data_but_not_in_masks() -> None:
    array = masked()
    x = loup.from_numpy_ma(array)
    array[0, 1] = 9
    array[1, 2] = np.ma.masked
    assert x[0, 1].item() == 9
    assert x.get_mask()[1, 2].item() is True
    x[0, 0] = 5
    assert array.data[0, 0] == 5
    assert array.mask[0, 0]


def test_without_share_nothing_is_shared() -> None:
    array = masked()
    x = loup.from_numpy_ma(array, share=False)
    array.data[:] = -1
    assert x.get_data().tolist() == matrix().tolist()


def test_nomask_means_that_everything_counts() -> None:
    array = np.ma.array(matrix())
    assert array.mask is np.ma.nomask
    x = loup.from_numpy_ma(array)
    assert x.get_mask().all().item() is True
    x[0, 0] = loup.masked_tensor(1.0, False)
    assert x.get_mask().sum().item() == 47


def test_hard_masks_are_taken_as_they_are() -> None:
    x = loup.from_numpy_ma(np.ma.array([1.0, 2.0], mask=[True, False], hard_mask=True))
    assert x.tolist() == [None, 2]
    x[0] = 3
    assert x.tolist() == [3, 2]


@pytest.mark.parametrize("mask", [False, True])
def test_takes_arrays_without_dims(mask: bool) -> None:
    x = loup.from_numpy_ma(np.ma.array(3.5, mask=mask))
    assert (x.shape, x.tolist()) == ((), None if mask else 3.5)


def test_takes_the_masked_constant_without_lending_it() -> None:
    x = loup.from_numpy_ma(np.ma.masked)
    assert (x.shape, x.tolist(), x.dtype) == ((), None, loup.float64)
    x[...] = 7.0
    assert float(np.ma.masked.data) == 0


@pytest.mark.parametrize("dtype", [name for name in NUMPY_DTYPES if np.dtype(name).itemsize > 1])
def test_other_byte_orders_are_converted(dtype: str) -> None:
    swapped = np.dtype(dtype).newbyteorder("S")
    array = np.ma.array(matrix(dtype).astype(swapped), mask=MASK)
    x = loup.from_numpy_ma(array)
    assert_same(x, array)
    assert x.dtype == dtype


def test_read_only_arrays_stay_so() -> None:
    data = matrix()
    data.flags.writeable = False
    x = loup.from_numpy_ma(np.ma.array(data, mask=MASK))
    assert x.get_data().data_ptr() == data.ctypes.data
    with pytest.raises(loup.ValueError, match="expected writable memory, got a read-only tensor"):
        x.get_data().fill_(1)
    assert data.tolist() == matrix().tolist()


def test_memory_mapped_arrays_are_shared(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "data", "float32", "w+", shape=(6, 8))
    x = loup.from_numpy_ma(np.ma.array(mapped, mask=MASK))
    x.get_data().fill_(3)
    mapped.flush()
    assert np.fromfile(tmp_path / "data", "float32").tolist() == [3.0] * 48


def test_elements_that_are_not_aligned_are_copied() -> None:
    records = np.zeros(4, [("flag", "i1"), ("value", "f4")])
    records["value"] = [1, 2, 3, 4]
    shifted = np.frombuffer(b"\0" + np.arange(4, dtype="f4").tobytes(), "f4", offset=1)
    for data in (records["value"], shifted):
        array = np.ma.array(data, mask=[True, False, False, True], copy=False)
        assert_same(loup.from_numpy_ma(array), array)


def test_arrays_that_repeat_are_shared() -> None:
    array = np.ma.array(np.broadcast_to(np.float32(3), (2, 5)), mask=np.eye(2, 5, dtype=bool))
    x = loup.from_numpy_ma(array)
    assert x.get_data().strides == (0, 0)
    assert x.sum().item() == 24


def test_memory_lives_as_long_as_the_tensor() -> None:
    data = np.arange(1000.0)
    alive = weakref.ref(data)
    x = loup.from_numpy_ma(np.ma.array(data, mask=data < 500))
    del data
    gc.collect()
    assert alive() is not None
    assert x.sum().item() == sum(range(500, 1000))
    del x
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("value", [np.ones(2), [1.0], 1.0, None, loup.ones(2)], ids=repr)
def test_refuses_what_has_no_mask(value: object) -> None:
    message = f"expected a numpy.ma.MaskedArray, got {type(value).__name__}; use loup.asarray"
    with pytest.raises(TypeError, match=re.escape(message)):
        loup.from_numpy_ma(value)


@pytest.mark.parametrize(
    "dtype",
    ["O", "U3", "S3", "M8[s]", "m8[s]", "uint16", "uint32", "uint64", "complex64", "longdouble"],
)
def test_refuses_dtypes_that_loup_has_not(dtype: str) -> None:
    array = np.ma.array(np.zeros(2, dtype), mask=[True, False])
    with pytest.raises(loup.DTypeError, match=f"or float64, got {re.escape(str(array.dtype))}"):
        loup.from_numpy_ma(array)


@pytest.mark.parametrize("mask", [np.ma.nomask, [(True, False), (False, True)]], ids=["no", "many"])
def test_refuses_records_and_their_masks(mask: Any) -> None:
    array = np.ma.array(np.zeros(2, [("a", "f4"), ("b", "i8")]), mask=mask)
    with pytest.raises(TypeError, match=r"from_numpy_ma: expected bool, .* got \[\('a'"):
        loup.from_numpy_ma(array)


def test_one_field_of_records_is_fine() -> None:
    array = np.ma.array(np.ones(2, [("a", "f4"), ("b", "i8")]), mask=[(True, False), (False, True)])
    assert loup.from_numpy_ma(array["b"]).tolist() == [1, None]


# --- out ---


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_round_trips(dtype: str, view: str) -> None:
    array = view_of(masked(dtype), view)
    back = loup.from_numpy_ma(array).to_numpy_ma()
    assert type(back) is np.ma.MaskedArray
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tolist() == array.tolist()
    assert back.data.tolist() == array.data.tolist()
    assert np.ma.getmaskarray(back).tolist() == np.ma.getmaskarray(array).tolist()
    if array.size and array.ndim:
        assert back.data.ctypes.data == array.data.ctypes.data


def test_numpy_sees_writes_to_data_but_not_to_masks() -> None:
    x = loup.masked_tensor([1.0, 2.0, 3.0], [True, False, True])
    array = x.to_numpy_ma()
    x[1] = 5
    assert array.data.tolist() == [1, 5, 3]
    assert array.mask.tolist() == [False, True, False]
    array[0] = np.ma.masked
    assert x.tolist() == [1, 5, 3]


def test_a_copy_shares_nothing() -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, False])
    array = x.to_numpy_ma(copy=True)
    x[0] = 5
    assert array.tolist() == [1, None]
    assert not np.shares_memory(array.data, x.get_data().numpy())


def test_fill_value_and_hard_mask_are_given() -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, False])
    array = x.to_numpy_ma(fill_value=-1, hard_mask=True)
    array[1] = 3
    assert array.filled().tolist() == [1, -1]
    assert array.hardmask
    assert not x.to_numpy_ma().hardmask
    assert x.to_numpy_ma().fill_value == np.ma.array([1.0]).fill_value


def test_repeated_elements_go_out() -> None:
    mask = loup.tensor([[True], [False]]).expand(2, 3)
    array = loup.as_masked_tensor(loup.ones((2, 1)).expand(2, 3), mask).to_numpy_ma()
    assert array.tolist() == [[1] * 3, [None] * 3]
    array.mask[0, 0] = True
    assert array.tolist() == [[None, 1, 1], [None] * 3]


def test_a_gradient_record_must_be_left_behind() -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, False], requires_grad=True)
    with pytest.raises(loup.StateError, match=r"without a gradient record, got .*; use detach\(\)"):
        x.to_numpy_ma()
    assert x.detach().to_numpy_ma().tolist() == [1, None]


def test_bfloat16_is_not_a_dtype_of_numpy() -> None:
    x = loup.masked_tensor(loup.ones(2, "bfloat16"), [True, False])
    with pytest.raises(loup.DTypeError, match=r"dtype that NumPy has, got bfloat16; .* to\(loup"):
        x.to_numpy_ma()
    assert x.float().to_numpy_ma().tolist() == [1, None]


# --- the recipes of the documentation ---

ROW = re.compile(r"^\| `(?P<theirs>.+?)` \| `(?P<ours>.+?)` \|$", re.MULTILINE)
RECIPES = ROW.findall(PAGE.read_text().split("recipes:begin")[1].split("recipes:end")[0])
A = np.ma.array(
    [[1.0, 2.5, 3.0, 0.5], [4.0, 2.0, -1.0, 6.0], [7.0, 8.0, 2.0, 3.5]],
    mask=[[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]],
)
B = np.ma.array(
    [[1.0, 3.0, 0.0, 2.0], [5.0, 1.0, 1.5, 2.0], [0.5, 4.0, 2.0, 1.0]],
    mask=[[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]],
)


def names() -> dict[str, Any]:
    a, b = A.copy(), B.copy()
    v = np.array([[1.0, np.nan, 3.0, 2.0], [np.inf, 2.0, 0.5, 1.5], [2.0, 9.0, -np.inf, 3.0]])
    x, y = loup.from_numpy_ma(a), loup.from_numpy_ma(b)
    m, w = v > 1.5, np.array([1.0, 2.0, 0.5, 1.0])
    given = {"a": a, "b": b, "v": v, "m": m, "w": w, "x": x, "y": y}
    return {"np": np, "loup": loup, **given}


def test_the_table_has_recipes() -> None:
    assert len(RECIPES) > 40


@pytest.mark.parametrize(("theirs", "ours"), RECIPES, ids=[theirs for theirs, _ in RECIPES])
def test_each_recipe_gives_the_same(theirs: str, ours: str) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = eval(theirs, names())
    found = eval(ours, names())
    if isinstance(found, loup.MaskedTensor):
        found = found.to_numpy_ma()
        assert np.ma.getmaskarray(found).tolist() == np.ma.getmaskarray(expected).tolist()
        np.testing.assert_allclose(found.compressed(), np.ma.compressed(expected), rtol=1e-12)
    elif isinstance(found, loup.Tensor):
        np.testing.assert_allclose(found.numpy(), np.asarray(expected), rtol=1e-12)
    else:
        assert found == expected


def test_import_does_not_load_numpy(run_python: Callable[..., Any]) -> None:
    code = "import sys, loup; loup.from_numpy_ma; sys.exit('numpy' in sys.modules)"
    assert run_python(code).returncode == 0


# --- differences that the documentation lists ---


def test_what_leaves_its_domain_counts() -> None:
    x = loup.masked_tensor([-1.0, 4.0], [True, True])
    assert np.ma.sqrt(np.ma.array([-1.0, 4.0])).tolist() == [None, 2]
    assert x.sqrt().get_mask().tolist() == [True, True]
    assert loup.masked_invalid(x.sqrt()).tolist() == [None, 2]


def test_a_reduction_of_nothing_does_not_count() -> None:
    a = np.ma.array([1.0, 2.0], mask=True)
    assert a.sum() is np.ma.masked
    assert loup.from_numpy_ma(a).sum().tolist() is None


def test_the_median_is_the_lower_middle() -> None:
    a = np.ma.array([[1.0, 2.0, 4.0, 9.0]], mask=[[False, False, False, True]])[:, :2]
    x = loup.from_numpy_ma(a)
    assert np.ma.median(a, axis=1).tolist() == x.quantile(0.5, 1).tolist() == [1.5]
    assert x.median(1).tolist() == [1]


NUMPYS_OWN: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, t: np.add(a, t),
    "add, turned": lambda a, t: np.add(t, a),
    "maximum": lambda a, t: np.maximum(a, t),
    "concatenate": lambda a, t: np.concatenate([a, t]),
}


@pytest.mark.filterwarnings("ignore:__array_wrap__:DeprecationWarning")
@pytest.mark.parametrize("name", NUMPYS_OWN)
def test_numpys_own_functions_of_a_plain_tensor_lose_the_mask(name: str) -> None:
    a = np.ma.array([1.0, 2.0], mask=[False, True])
    found = NUMPYS_OWN[name](a, loup.ones(2))
    assert not np.ma.is_masked(found)
    with pytest.raises(TypeError):
        NUMPYS_OWN[name](a, loup.masked_tensor([1.0, 1.0], [True, True]))


def test_converted_operands_keep_the_mask() -> None:
    a, t = np.ma.array([1.0, 2.0], mask=[False, True]), loup.ones(2)
    assert (loup.from_numpy_ma(a) + t).tolist() == [2, None]
    assert loup.cat([loup.from_numpy_ma(a), t]).tolist() == [1, None, 1, 1]
    assert np.ma.add(a, t.numpy()).tolist() == [2, None]
    with pytest.raises(TypeError, match=r"add: expected a plain array, .* use from_numpy_ma"):
        a + t


def test_one_element_is_masked_by_a_masked_tensor() -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, True])
    x[0] = loup.masked_tensor(0.0, False)
    assert x.tolist() == [None, 2]


def test_masks_are_not_joined_in_place() -> None:
    a, b = np.ma.array([1.0, 2.0], mask=[1, 0]), np.ma.array([1.0, 2.0], mask=[0, 1])
    x, y = loup.from_numpy_ma(a.copy()), loup.from_numpy_ma(b)
    a += b
    assert a.tolist() == [None, None]
    with pytest.raises(ValueError, match="mask"):
        x += y


def test_correlations_do_not_exceed_one() -> None:
    x = loup.from_numpy_ma(A)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.abs(np.ma.corrcoef(A)).max() > 1.2
    rows = A.filled(np.nan)[:2]
    both = rows[:, ~np.isnan(rows).any(axis=0)]
    found = loup.masked.corrcoef(x)[0, 1].item()
    np.testing.assert_allclose(found, np.corrcoef(both)[0, 1], rtol=1e-12)


A_MASKED = np.ma.array([1.0, 2.0], mask=[True, False])
LOSSES: dict[str, Callable[[], object]] = {
    "asarray": lambda: loup.asarray(A_MASKED),
    "tensor": lambda: loup.tensor(A_MASKED),
    "from_dlpack": lambda: loup.from_dlpack(A_MASKED),
    "data": lambda: loup.masked_tensor(A_MASKED, [True, True]),
    "mask": lambda: loup.masked_tensor([1.0, 2.0], A_MASKED > 1),
    "shared data": lambda: loup.as_masked_tensor(A_MASKED, [True, True]),
    "an operand": lambda: loup.ones(2) + A_MASKED,
    "a left operand": lambda: A_MASKED + loup.ones(2),
    "the operand of a masked tensor": lambda: loup.masked_invalid(loup.ones(2)) * A_MASKED,
    "an input": lambda: loup.masked.sum(A_MASKED),
    "the mask of a call": lambda: loup.masked.sum(loup.ones(2), mask=A_MASKED > 1),
    "a mask from data": lambda: loup.masked_invalid(A_MASKED),
    "an assignment": lambda: loup.ones(2).__setitem__(slice(None), A_MASKED),
    "a list": lambda: loup.tensor([A_MASKED, A_MASKED]),
    "the constant": lambda: loup.tensor(np.ma.masked),
    "the constant in a list": lambda: loup.tensor([1.0, np.ma.masked]),
    "the constant as a number": lambda: loup.full(2, np.ma.masked),
}


@pytest.mark.parametrize("call", LOSSES.values(), ids=LOSSES.keys())
def test_no_mask_is_lost_silently(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"got a numpy.ma \w+, whose mask would be lost; use from_"):
        call()
