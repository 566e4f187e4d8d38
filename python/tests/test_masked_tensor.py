"""loup.MaskedTensor: construction, access, printing, gradients."""

import math
import warnings

import numpy as np
import pytest

import loup

DATA = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
MASK = [[True, False, False], [True, True, False]]
MAKERS = [loup.MaskedTensor, loup.masked_tensor, loup.as_masked_tensor]
COPYING = [loup.MaskedTensor, loup.masked_tensor]


# --- construction ---


@pytest.mark.parametrize("make", MAKERS)
def test_holds_data_and_mask(make: object) -> None:
    x = make(DATA, MASK)
    assert x.get_data().tolist() == DATA
    assert x.get_mask().tolist() == MASK
    assert (x.shape, x.ndim, x.dim(), x.numel()) == ((2, 3), 2, 2, 6)
    assert x.dtype is loup.float32
    assert not x.requires_grad


@pytest.mark.parametrize("make", COPYING)
def test_constructors_copy(make: object) -> None:
    data, mask = loup.tensor(DATA), loup.tensor(MASK)
    x = make(data, mask)
    data.fill_(-1)
    mask.fill_(False)
    assert x.get_data().tolist() == DATA
    assert x.get_mask().tolist() == MASK


def test_as_masked_tensor_shares() -> None:
    data, mask = np.array(DATA), np.array(MASK)
    x = loup.as_masked_tensor(data, mask)
    data[0, 0], mask[0, 0] = 9, False
    assert x.get_data()[0, 0].item() == 9
    assert x.get_mask()[0, 0].item() is False
    assert x.get_data().data_ptr() == data.ctypes.data


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
    ],
)
def test_takes_every_dtype(dtype: str) -> None:
    assert loup.masked_tensor(loup.ones(2, dtype), [True, False]).dtype == dtype


@pytest.mark.parametrize(("shape", "size"), [((), 1), ((0,), 0), ((2, 0, 3), 0), ((1,) * 8, 1)])
def test_takes_every_shape(shape: tuple, size: int) -> None:
    x = loup.masked_tensor(loup.zeros(shape), loup.ones(shape, "bool"))
    assert (x.shape, x.numel()) == (shape, size)


def masked() -> loup.MaskedTensor:
    return loup.masked_tensor(DATA, MASK)


ERRORS = [
    pytest.param(
        (masked(), 1.0, 1), TypeError, "expected data as a plain tensor, got a Mask", id="data"
    ),
    pytest.param(
        ("text", masked(), 1), TypeError, "expected a tensor, an array.* got str", id="text"
    ),
    pytest.param(
        (DATA, masked(), 1), TypeError, "expected mask as a plain tensor, got a Mask", id="mask"
    ),
    pytest.param((DATA, None, False), TypeError, "incompatible function arguments", id="no mask"),
    pytest.param(
        ([1], [1.0], 1), TypeError, "expected requires_grad as a bool, got int", id="flag"
    ),
    pytest.param(
        ([1], [1.0], True), loup.DTypeError, "expected a floating dtype, got int64", id="int leaf"
    ),
    pytest.param(
        ([True], [1], True), loup.DTypeError, "expected a floating dtype, got bool", id="bool leaf"
    ),
    pytest.param(
        (DATA, [[1, 0, 1]]),
        loup.DTypeError,
        "expected a mask of bool, got int64",
        id="integer mask",
    ),
    pytest.param(
        (DATA, [1.0]), loup.DTypeError, "expected a mask of bool, got float32", id="float mask"
    ),
    pytest.param(
        (DATA, [True] * 3), loup.ShapeError, r"a mask of 2 dims, got shape \[3\]", id="dims"
    ),
    pytest.param(
        (DATA, [[True] * 3]), loup.ShapeError, r"of shape \[2, 3\], got \[1, 3\]", id="sizes"
    ),
]


@pytest.mark.parametrize(("arguments", "error", "message"), ERRORS)
@pytest.mark.parametrize("make", COPYING)
def test_constructors_check_in_the_order_of_the_specification(
    make: object, arguments: tuple, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        make(*arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [case for case in ERRORS if case.id in {"mask", "integer mask", "float mask", "dims", "sizes"}],
)
def test_as_masked_tensor_checks_alike(arguments: tuple, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        loup.as_masked_tensor(*arguments[:2])


def test_as_masked_tensor_has_no_requires_grad() -> None:
    with pytest.raises(TypeError):
        loup.as_masked_tensor(DATA, MASK, True)


@pytest.mark.parametrize("make", COPYING)
def test_constructors_warn_when_they_cut_the_record(make: object) -> None:
    data = loup.tensor(DATA, requires_grad=True)
    with pytest.warns(UserWarning, match=r"got data that requires grad; .* as_masked_tensor does"):
        x = make(data, MASK)
    assert not x.requires_grad


def test_nothing_else_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = loup.masked_tensor(DATA, MASK, requires_grad=True)
        x.sum(1).sum().backward()
        loup.as_masked_tensor(loup.tensor(DATA, requires_grad=True), MASK)


@pytest.mark.parametrize("value", [loup.ones(2), np.ones(2), 1, None, "x", loup.MaskedTensor])
def test_is_masked_tensor_is_false_for_anything_else(value: object) -> None:
    assert loup.is_masked_tensor(value) is False


def test_is_masked_tensor_is_true_for_masked_tensors() -> None:
    assert loup.is_masked_tensor(masked()) is True
    assert loup.is_masked_tensor(masked().sum(1)) is True


# --- access ---


def test_to_tensor_fills_what_is_masked() -> None:
    assert masked().to_tensor(-1).tolist() == [[0, -1, -1], [3, 4, -1]]
    assert math.isnan(masked().to_tensor(math.nan)[0, 1].item())


def test_to_tensor_converts_the_value_to_the_dtype() -> None:
    x = loup.masked_tensor([1, 2], [True, False])
    assert x.to_tensor(7.75).tolist() == [1, 7]
    assert x.to_tensor(7).dtype is loup.int64


def test_to_tensor_needs_a_value() -> None:
    with pytest.raises(TypeError):
        masked().to_tensor()
    with pytest.raises(TypeError, match="to_tensor: expected a number, got str"):
        masked().to_tensor("zero")


def test_to_tensor_leaves_the_masked_tensor_alone() -> None:
    x = masked()
    x.to_tensor(9).fill_(5)
    assert x.get_data().tolist() == DATA


# --- printing ---


@pytest.mark.parametrize(
    ("data", "mask", "text"),
    [
        (DATA, MASK, "MaskedTensor(\n  [[ 0.0,   --,   --],\n   [ 3.0,  4.0,   --]]\n)"),
        (3.14159265, True, "MaskedTensor(3.1416)"),
        (3.14159265, False, "MaskedTensor(--)"),
        ([1, 5, 300], [True, False, True], "MaskedTensor(\n  [  1,  --, 300]\n)"),
        ([True, False, True], [True, True, False], "MaskedTensor(\n  [ True, False,    --]\n)"),
        (np.zeros(0, "f"), np.zeros(0, bool), "MaskedTensor([])"),
        ([1, 2], [False, False], "MaskedTensor(\n  [--, --]\n)"),
        ([1, 2], [True, True], "MaskedTensor(\n  [ 1,  2]\n)"),
        ([0.25, 1e9], [True, False], "MaskedTensor(\n  [ 0.25,    --]\n)"),
        ([-0.5, 2], [True, True], "MaskedTensor(\n  [-0.5,  2.0]\n)"),
        ([1e8, 1], [True, True], "MaskedTensor(\n  [ 1.0000e+08,  1.0000e+00]\n)"),
        ([5e-5, 1], [True, True], "MaskedTensor(\n  [ 5.0000e-05,  1.0000e+00]\n)"),
        ([1 / 3, 1], [True, True], "MaskedTensor(\n  [ 0.3333,  1.0000]\n)"),
        (
            [math.nan, math.inf, -math.inf, 1],
            [True, True, True, False],
            "MaskedTensor(\n  [ nan,  inf, -inf,   --]\n)",
        ),
    ],
)
def test_prints(data: object, mask: object, text: str) -> None:
    assert repr(loup.masked_tensor(data, mask)) == text


def test_prints_that_it_requires_grad() -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, False], requires_grad=True)
    assert repr(x) == "MaskedTensor(\n  [ 1.0,   --], requires_grad=True\n)"


def test_prints_no_dtype() -> None:
    assert "dtype" not in repr(loup.masked_tensor(loup.ones(2, "int8"), [True, False]))


def test_prints_three_elements_at_each_end_beyond_a_thousand() -> None:
    x = loup.masked_tensor(loup.arange(1001), np.arange(1001) != 1000)
    assert repr(x) == "MaskedTensor(\n  [  0,   1,   2, ..., 998, 999,  --]\n)"
    assert "..." not in repr(loup.masked_tensor(loup.arange(1000), loup.ones(1000, "bool")))


# --- operators and gradients ---


def test_sum_has_the_output_mask() -> None:
    x = loup.masked_tensor(DATA, [[True, False, False], [False, False, False]])
    rows = x.sum(1)
    assert rows.get_data().tolist() == [0, 0]
    assert rows.get_mask().tolist() == [True, False]
    assert repr(rows) == "MaskedTensor(\n  [ 0.0,   --]\n)"


@pytest.mark.parametrize("dim", [None, 0, 1, (0, 1), (-2, -1), []], ids=repr)
@pytest.mark.parametrize("keepdim", [False, True])
def test_method_and_function_agree(dim: object, keepdim: bool) -> None:
    method = masked().sum(dim, keepdim=keepdim, dtype="float64")
    function = loup.masked.sum(masked(), dim, keepdim=keepdim, dtype="float64")
    assert method.get_data().tolist() == function.get_data().tolist()
    assert method.get_mask().tolist() == function.get_mask().tolist()
    assert method.dtype is function.dtype is loup.float64


def test_sum_of_everything_masked_is_masked() -> None:
    assert repr(loup.masked_tensor(DATA, np.zeros((2, 3), bool)).sum()) == "MaskedTensor(--)"


def test_grad_has_the_mask_and_zeros_under_it() -> None:
    x = loup.masked_tensor([math.nan, 2.0, 3.0], [False, True, True], requires_grad=True)
    x.sum().backward()
    assert isinstance(x.grad, loup.MaskedTensor)
    assert x.grad.get_mask().tolist() == [False, True, True]
    assert x.grad.get_data().tolist() == [0, 1, 1]


def test_grad_is_none_before_backward() -> None:
    assert loup.masked_tensor(DATA, MASK, requires_grad=True).grad is None
    assert masked().grad is None


def test_grad_is_zero_under_the_mask_even_through_get_data() -> None:
    x = loup.masked_tensor([1.0, 2.0], [False, True], requires_grad=True)
    x.get_data().sum().backward()
    assert x.grad is not None
    assert x.grad.get_data().tolist() == [0, 1]


def test_a_plain_leaf_gets_a_plain_gradient() -> None:
    data = loup.tensor([1.0, 2.0], requires_grad=True)
    loup.as_masked_tensor(data, [False, True]).sum().backward()
    assert isinstance(data.grad, loup.Tensor)
    assert data.grad.tolist() == [0, 1]


def test_gradients_flow_through_to_tensor() -> None:
    x = loup.masked_tensor([1.0, 2.0], [False, True], requires_grad=True)
    x.to_tensor(5).sum().backward()
    assert x.grad is not None
    assert x.grad.get_data().tolist() == [0, 1]


def test_backward_without_a_record_is_an_error() -> None:
    with pytest.raises(
        loup.StateError, match="expected a tensor that requires grad, got one without"
    ):
        masked().sum().backward()
