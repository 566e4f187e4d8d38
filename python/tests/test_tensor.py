"""loup.Tensor: sizes, conversion and printing."""

import math

import numpy as np
import pytest
from tensors import DTYPES, NUMPY_DTYPES

import loup


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
