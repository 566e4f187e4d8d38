"""Sorting, filling and comparing masked tensors; masks made from data; elements and copies."""

import copy
import pickle

import numpy as np
import pytest
from strided import rng

import loup


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_what_counts_is_sorted_first(dim: int, descending: bool) -> None:
    generator = rng("sort", dim)
    x = generator.choice([np.nan, -np.inf, -1.0, 0.0, 2.0, np.inf], (6, 7))
    mask = generator.random(x.shape) < 0.6
    m = loup.MaskedTensor(x, mask)
    values, indices = m.sort(dim, descending)
    np.testing.assert_array_equal(indices.numpy(), loup.argsort(m, dim, descending).numpy())
    for line, keep, out, places in zip(
        np.moveaxis(x, dim, -1), np.moveaxis(mask, dim, -1),
        np.moveaxis(np.array(values.tolist(), dtype=object), dim, -1),
        np.moveaxis(indices.numpy(), dim, -1), strict=True,
    ):  # fmt: skip
        counted = np.flatnonzero(keep)
        order = counted[loup.argsort(line[counted], -1, descending).numpy()]
        np.testing.assert_array_equal(places[: len(order)], order)
        np.testing.assert_array_equal(out[: len(order)].astype(float), line[order])
        assert all(each is None for each in out[len(order) :])
    top = m.topk(3, dim, largest=descending)
    assert top.values.tolist() == values.narrow(dim, 0, 3).tolist() or np.isnan(x).any()


def test_topk_refuses_too_many() -> None:
    with pytest.raises(ValueError, match=r"topk: expected k from 0 to 2, got 3"):
        loup.MaskedTensor([1.0, 2.0], [True, False]).topk(3)


def test_sort_has_gradients() -> None:
    x = loup.MaskedTensor([3.0, np.nan, 1.0], [True, False, True], requires_grad=True)
    (x.sort().values * loup.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.get_data().tolist() == [10.0, 0.0, 1.0]


def test_filling_makes_elements_count() -> None:
    x = loup.MaskedTensor([1.0, 2.0, 3.0], [True, False, True])
    assert x.masked_fill([False, True, True], 9.0).tolist() == [1.0, 9.0, 9.0]
    assert x.masked_select([True, True, False]).tolist() == [1.0, None]


def test_equal_and_close_look_at_what_counts() -> None:
    x = loup.MaskedTensor([1.0, np.nan], [True, False])
    assert loup.equal(x, loup.MaskedTensor([1.0, 5.0], [True, False]))
    assert not loup.equal(x, loup.MaskedTensor([1.0, 5.0], [True, True]))
    assert not x.equal(loup.MaskedTensor([2.0, 5.0], [True, False]))
    assert x.allclose(loup.tensor([1.0 + 1e-9, 7.0]))
    assert not loup.allclose(loup.tensor([1.1, 7.0]), x)
    assert x.isclose(1.0).tolist() == [True, None]


def test_masks_from_data() -> None:
    x = loup.tensor([1.0, np.nan, np.inf, -2.0])
    assert loup.from_nan(x).tolist() == [1.0, None, np.inf, -2.0]
    assert loup.masked_invalid(x).tolist() == [1.0, None, None, -2.0]
    assert loup.masked_where(x < 0, x).get_mask().tolist() == [True, True, True, False]
    assert loup.masked_equal([1, 2, 1], 1).tolist() == [None, 2, None]
    assert loup.masked_inside([1, 2, 3, 4], 2, 3).tolist() == [1, None, None, 4]
    assert loup.masked_outside([1, 2, 3, 4], 2, 3).tolist() == [None, 2, 3, None]
    both = loup.masked_equal(loup.masked_equal([1, 2, 3], 1), 3)
    assert both.tolist() == [None, 2, None]
    assert loup.from_nan(x).get_data().data_ptr() == x.data_ptr()
    with pytest.raises(loup.DTypeError, match=r"masked_where: expected a condition of bool, got"):
        loup.masked_where([1, 0], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"from_nan: expected a tensor, got a number"):
        loup.from_nan(1.0)


def test_masks_from_lengths() -> None:
    assert loup.lengths_to_mask([0, 2]).tolist() == [[False, False], [True, True]]
    assert loup.lengths_to_mask([1], 3).tolist() == [[True, False, False]]
    assert loup.lengths_to_mask(np.array([[1, 0]]), 1).shape == (1, 2, 1)
    assert loup.lengths_to_mask(np.zeros((0,), np.int64)).shape == (0, 0)
    with pytest.raises(
        loup.DTypeError, match=r"lengths_to_mask: expected lengths of integers, got"
    ):
        loup.lengths_to_mask([1.0])
    with pytest.raises(
        ValueError, match=r"lengths_to_mask: expected lengths of at least 0, got -1"
    ):
        loup.lengths_to_mask([-1])
    with pytest.raises(ValueError, match=r"lengths_to_mask: expected lengths of at most 2, got 3"):
        loup.lengths_to_mask([3], 2)


def test_items_and_lists() -> None:
    x = loup.MaskedTensor([[1.5, 2.5]], [[True, False]])
    assert x[0, 0].item() == float(x[0, 0]) == 1.5
    assert int(loup.MaskedTensor(3, True)) == 3
    assert bool(loup.MaskedTensor(True, True)) is True
    assert (len(x), x.size(), x.size(1), x.ndim) == (1, (1, 2), 2, 2)
    with pytest.raises(
        ValueError, match=r"item: expected an element that counts, got a masked one"
    ):
        x[0, 1].item()
    with pytest.raises(ValueError, match=r"item: expected one element, got shape \[1, 2\]"):
        x.item()
    with pytest.raises(TypeError, match=r"len: expected a tensor with dims, got a 0-d tensor"):
        len(x[0, 0])


def test_copies() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [True, False], requires_grad=True)
    for other in (x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.tolist() == [1.0, None]
        assert other.get_data().data_ptr() != x.get_data().data_ptr()
        assert other.get_mask().data_ptr() != x.get_mask().data_ptr()
    assert copy.deepcopy(x).is_leaf
    assert copy.deepcopy(x).requires_grad
    assert copy.copy(x).get_data().data_ptr() == x.get_data().data_ptr()
    assert not x.detach().requires_grad
    assert x.detach().get_data().data_ptr() == x.get_data().data_ptr()
    assert x.to(loup.float64).dtype == x.double().dtype == loup.float64
    assert x.long().tolist() == [1, None]
    assert x.T.is_contiguous()
    y = loup.MaskedTensor(np.ones((2, 3)), np.ones((2, 3), bool)).T
    assert not y.is_contiguous()
    assert y.contiguous().is_contiguous()


def test_dropout_keeps_the_mask() -> None:
    x = loup.MaskedTensor([1.0, np.nan, 3.0], [True, False, True])
    assert x.dropout(0.0).tolist() == [1.0, None, 3.0]
    assert x.dropout(1.0).tolist() == [0.0, None, 0.0]
