"""masked_select, masked_fill and nonzero, against NumPy."""

import numpy as np
import pytest
from strided import STRIDES, assert_same, random_array, rng, strided_array
from tensors import NUMPY_DTYPES

import loup

SHAPES = [
    (),
    (0,),
    (1,),
    (17,),
    (1000,),
    (40_000,),
    (3, 1, 7),
    (5, 1),
    (1, 1),
    (2, 0, 3),
    (60, 9, 70),
]
SHARES = [0.0, 0.01, 0.5, 0.99, 1.0]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_agrees_with_numpy(dtype: str, share: float, shape: tuple) -> None:
    random = rng(dtype, share, shape)
    array = random_array(random, shape, dtype)
    mask = np.asarray(random.random(shape) < share)
    for a, m in ((array, mask), (array.T, mask.T), (array.T.copy(), mask.T)):
        filled = np.where(m, np.ones((), dtype), a)
        assert_same(loup.masked_select(a, m), a[m])
        assert_same(loup.masked_fill(a, m, 1), filled)
        assert_same(loup.tensor(a).masked_fill_(loup.asarray(m), 1), filled)
        for ours, theirs in zip(
            loup.nonzero(a, as_tuple=True), np.nonzero(np.atleast_1d(a)), strict=True
        ):
            assert_same(ours, theirs)
        if shape:
            assert_same(loup.nonzero(m), np.argwhere(m))


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("strides", STRIDES)
def test_any_strides(dtype: str, strides: str) -> None:
    random = rng(dtype, strides)
    array = strided_array(strides, dtype, random)
    for mask in (strided_array(strides, "bool", random), random.random((4, 6)) < 0.5):
        assert_same(loup.masked_select(array, mask), array[mask])
        assert_same(loup.masked_fill(array, mask, 0), np.where(mask, np.zeros((), dtype), array))
    assert_same(loup.nonzero(array), np.argwhere(array))


def test_both_are_broadcast() -> None:
    array, mask = np.arange(6).reshape(2, 3), np.array([[True], [False]])
    assert_same(loup.masked_select(array, mask), np.array([0, 1, 2]))
    assert_same(loup.masked_select(array[:1], mask), np.array([0, 1, 2]))
    assert_same(loup.masked_fill(array[0], mask, 9), np.array([[9, 9, 9], [0, 1, 2]]))
    x = loup.tensor(array)
    x.masked_fill_([True, False, True], -1)
    assert x.tolist() == [[-1, 1, -1], [-1, 4, -1]]


def test_nan_is_not_zero() -> None:
    assert loup.nonzero(np.array([0.0, -0.0, np.nan, 5e-324])).tolist() == [[2], [3]]


def test_nonzero_of_a_number() -> None:
    assert loup.nonzero(3).shape == (1, 0)
    assert loup.nonzero(0).shape == (0, 0)
    assert loup.nonzero(3, as_tuple=True)[0].tolist() == [0]


def test_the_value_may_be_a_tensor() -> None:
    x = loup.zeros(2).masked_fill([True, False], loup.tensor(2.5, dtype="float64"))
    assert x.tolist() == [2.5, 0]
    assert x.dtype == loup.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: x.masked_select([1, 0, 1]),
            loup.DTypeError,
            "masked_select: expected a mask of bool, got int64",
        ),
        (
            lambda x: x.masked_fill([1.0, 0.0, 1.0], 0),
            loup.DTypeError,
            "masked_fill: expected a mask of bool, got float32",
        ),
        (
            lambda x: x.masked_select([True, False]),
            loup.ShapeError,
            r"masked_select: expected shapes that broadcast together, got \[2, 3\] and \[2\]",
        ),
        (
            lambda x: x.masked_fill_([True, False], 0),
            loup.ShapeError,
            r"masked_fill_: expected a mask broadcastable to \[2, 3\], got shape \[2\]",
        ),
        (
            lambda x: x.masked_fill([True, False, True], [1.0]),
            loup.ShapeError,
            r"masked_fill: expected a number or a 0-d tensor as value, got shape \[1\]",
        ),
        (
            lambda x: x.detach()[:1].expand(2, 3).masked_fill_([True, False, True], 0),
            loup.ValueError,
            "masked_fill_: expected a tensor that holds each element once, got one expanded along "
            "dim 0; clone it first",
        ),
    ],
)
def test_refuses(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        call(loup.ones((2, 3)))


def test_what_is_not_selected_gets_no_gradient_whatever_it_holds() -> None:
    x = loup.tensor([0.0, 1.0, 4.0], dtype="float64", requires_grad=True)
    mask = loup.tensor([False, True, True])
    (1 / x).masked_select(mask).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, -1, -0.0625]
    x.grad = None
    (1 / x)[mask].sum().backward()
    assert x.grad.tolist() == [0, -1, -0.0625]
    x.grad = None
    (1 / x).masked_fill(~mask, 7.0).sum().backward()
    assert x.grad.tolist() == [0, -1, -0.0625]


def test_large_ones_are_the_same_for_any_number_of_threads(threads: None) -> None:
    random = rng("large")
    array = random_array(random, (900, 1100), "float32")
    mask = random.random(array.shape) < 0.4
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        assert_same(loup.masked_select(array, mask), array[mask])
        assert_same(loup.masked_select(array.T, mask.T), array.T[mask.T])
        assert_same(loup.nonzero(mask), np.argwhere(mask))


def test_every_instruction_set_selects_the_same(targets: list[str]) -> None:
    random = rng("targets")
    for dtype in NUMPY_DTYPES:
        array = random_array(random, (3001,), dtype)
        mask = random.random(array.shape) < 0.4
        for target in targets:
            loup._loup.choose_target(target)
            assert_same(loup.masked_select(array, mask), array[mask])
            assert_same(loup.nonzero(mask), np.argwhere(mask))
