"""What is written, added and found at places of masked tensors, and windows over them."""

from collections.abc import Callable

import numpy as np
import pytest
from strided import rng

import loup
from loup.autograd import gradcheck, gradgradcheck

X = np.arange(1.0, 13).reshape(3, 4)
MASK = np.array([[True, False, True, False], [False, False, True, True], [True] * 4])
SOURCE = np.arange(-6.0, 0).reshape(3, 2)
SOURCE_MASK = np.array([[True, False], [False, True], [True, True]])
INDEX = np.array([[0, 1], [3, 3], [2, 2]])
ROWS = np.array([2, 0])
GARBAGE = [0.0, np.nan, np.inf, -1e300]

Call = Callable[..., object]


def masked(values: np.ndarray, mask: np.ndarray, garbage: float) -> loup.MaskedTensor:
    return loup.MaskedTensor(np.where(mask, values, garbage), mask)


def bits(x: loup.Tensor) -> list[int]:
    return np.ascontiguousarray(x.numpy()).view(np.uint64).ravel().tolist()


def test_scatter_writes_data_and_mask() -> None:
    x, source = masked(X, MASK, np.nan), masked(SOURCE, SOURCE_MASK, np.nan)
    result = x.scatter(1, INDEX, source)
    assert result.tolist() == [
        [-6.0, None, 3.0, None],
        [None, None, 7.0, -3.0],
        [9.0, 10.0, -1.0, 12.0],
    ]
    plain = loup.scatter(x, 1, INDEX, SOURCE)
    assert plain.get_mask()[0].tolist() == [True, True, True, False]
    number = loup.scatter(x, 1, INDEX, 5)
    assert number.tolist()[0] == [5.0, 5.0, 3.0, None]
    into_plain = loup.scatter(X, 1, INDEX, source)
    assert isinstance(into_plain, loup.MaskedTensor)
    assert into_plain.tolist()[0] == [-6.0, None, 3.0, 4.0]
    # the last for one place decides
    hides = x.scatter(1, INDEX, loup.MaskedTensor(SOURCE, ~SOURCE_MASK))
    assert hides.tolist()[1] == [None, None, 7.0, None]


def test_scatter_add_adds_what_counts() -> None:
    x, source = masked(X, MASK, np.nan), masked(SOURCE, SOURCE_MASK, np.nan)
    result = loup.scatter_add(x, 1, INDEX, source)
    assert result.tolist() == [
        [1.0 - 6, None, 3.0, None],
        [None, None, 7.0, 8.0 - 3],
        [9.0, 10.0, 11.0 - 2 - 1, 12.0],
    ]
    plain = x.scatter_add(1, INDEX, loup.tensor(SOURCE))
    assert plain.tolist()[0] == [1.0 - 6, -5.0, 3.0, None]
    nothing = loup.scatter_add(X, 1, INDEX, masked(SOURCE, np.zeros((3, 2), bool), np.inf))
    assert nothing.tolist() == X.tolist()


def test_index_forms() -> None:
    x = masked(X, MASK, np.nan)
    source = masked(X[:, :2], MASK[:, :2], np.inf)
    assert x.index_add(1, ROWS, source, alpha=2).tolist() == [
        [1.0, None, 3.0 + 2 * 1, None],
        [None, None, 7.0, 8.0],
        [9.0 + 2 * 10, 10.0, 11.0 + 2 * 9, 12.0],
    ]
    assert x.index_copy(1, ROWS, source).tolist() == [
        [None, None, 1.0, None],
        [None, None, None, 8.0],
        [10.0, 10.0, 9.0, 12.0],
    ]
    assert x.index_fill(0, ROWS, 0.5).tolist() == [[0.5] * 4, [None, None, 7.0, 8.0], [0.5] * 4]
    assert loup.index_add(X, 0, [0], masked(X[:1], MASK[:1], np.nan)).tolist()[0] == [
        2.0, 2.0, 6.0, 4.0,
    ]  # fmt: skip


CHANGES: dict[str, Call] = {
    "scatter": lambda f, source: f(1, INDEX, source),
    "scatter_add": lambda f, source: f(1, INDEX, source),
    "index_add": lambda f, source: f(1, ROWS, source, alpha=3),
    "index_copy": lambda f, source: f(1, ROWS, source),
    "index_fill": lambda f, _: f(1, ROWS, 4.0),
    "masked_fill": lambda f, _: f(X > 6, 4.0),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kind", ["masked", "plain"])
def test_in_place_forms_write_the_same(name: str, kind: str) -> None:
    x = masked(X, MASK, np.nan)
    source = masked(SOURCE, SOURCE_MASK, np.nan) if kind == "masked" else loup.tensor(SOURCE)
    expected = CHANGES[name](getattr(x, name), source)
    data, mask = x.get_data(), x.get_mask()
    assert CHANGES[name](getattr(x, f"{name}_"), source) is x
    assert x.tolist() == expected.tolist()
    assert data.data_ptr() == x.get_data().data_ptr()
    np.testing.assert_array_equal(mask.numpy(), expected.get_mask().numpy())


@pytest.mark.parametrize("name", CHANGES)
def test_in_place_forms_keep_the_record(name: str) -> None:
    leaf = loup.MaskedTensor(X, MASK, requires_grad=True)
    source = loup.MaskedTensor(SOURCE, SOURCE_MASK, requires_grad=True)
    outside = CHANGES[name](getattr(leaf * 2, name), source * 3)
    outside.sum().backward()
    expected = [x.grad.tolist() if x.grad is not None else None for x in (leaf, source)]
    leaf.grad = source.grad = None
    y = leaf * 2
    CHANGES[name](getattr(y, f"{name}_"), source * 3)
    y.sum().backward()
    assert [x.grad.tolist() if x.grad is not None else None for x in (leaf, source)] == expected
    with pytest.raises(loup.StateError, match=rf"{name}_: expected a tensor that may change"):
        CHANGES[name](getattr(leaf, f"{name}_"), SOURCE)


@pytest.mark.parametrize("name", CHANGES)
def test_garbage_changes_no_bit(name: str) -> None:
    seen = set()
    for garbage in GARBAGE:
        x = loup.MaskedTensor(np.where(MASK, X, garbage), MASK, requires_grad=True)
        source = loup.MaskedTensor(
            np.where(SOURCE_MASK, SOURCE, garbage), SOURCE_MASK, requires_grad=True
        )
        result = CHANGES[name](getattr(x, name), source)
        (result * result).sum().backward()
        grads = [each.grad.get_data() for each in (x, source) if each.grad is not None]
        seen.add(str([bits(y) for y in (result.to_tensor(0).detach(), *grads)]))
    assert len(seen) == 1


def through(f: Call, mask: np.ndarray) -> Callable[[loup.Tensor], loup.Tensor]:
    """A function of plain data whose result is plain, with 0 where nothing counts."""
    return lambda data: f(loup.as_masked_tensor(data, loup.tensor(mask))).to_tensor(0)


IMAGE_MASK = rng("image mask").random((1, 2, 4, 5)) < 0.6
COLUMN_MASK = rng("column mask").random((1, 8, 12)) < 0.5
GRADIENTS: dict[str, tuple[Call, np.ndarray]] = {
    "scatter": (lambda x: x.scatter(1, INDEX, x[:, :2]), MASK),
    "scatter_add": (lambda x: x.scatter_add(1, INDEX, x[:, :2] * x[:, 2:]), MASK),
    "index_add": (lambda x: x.index_add(1, ROWS, x[:, 1:3], alpha=2), MASK),
    "index_copy": (lambda x: x.index_copy(1, ROWS, x[:, 1:3]), MASK),
    "index_fill": (lambda x: x.index_fill(1, ROWS, 2.0), MASK),
    "tril": (lambda x: x.tril(), MASK),
    "triu": (lambda x: x.triu(1), MASK),
    "unfold": (lambda x: x.unfold(1, 3, 1), MASK),
    "im2col": (lambda x: x.im2col(2, padding=1), IMAGE_MASK),
    "col2im": (lambda x: x.col2im((4, 5), 2), COLUMN_MASK),
    "t": (lambda x: x.t(), MASK),
    "ravel": (lambda x: x.t().ravel(), MASK),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_both_orders(name: str) -> None:
    f, mask = GRADIENTS[name]
    data = loup.tensor(rng(name, "gradients").random(mask.shape), requires_grad=True)
    g = through(lambda x: f(x) * f(x), mask)
    assert gradcheck(g, [data])
    assert gradgradcheck(g, [data])


@pytest.mark.parametrize("name", GRADIENTS)
def test_garbage_reaches_no_gradient(name: str) -> None:
    f, mask = GRADIENTS[name]
    values = rng(name, "garbage").random(mask.shape)
    seen = set()
    for garbage in GARBAGE:
        x = loup.MaskedTensor(np.where(mask, values, garbage), mask, requires_grad=True)
        y = f(x)
        (y * y).sum().backward()
        seen.add(str((bits(y.to_tensor(-1).detach()), bits(x.grad.get_data()))))
        assert not x.grad.get_data().numpy()[~mask].any()
    assert len(seen) == 1


def test_windows_move_data_and_mask() -> None:
    values = rng("masked windows").random((1, 2, 4, 5))
    x = masked(values, IMAGE_MASK, np.nan)
    for call in (
        lambda x: x.unfold(2, 3, 1),
        lambda x: x.unfold(-1, 2, 2),
        lambda x: loup.im2col(x, (2, 3), stride=2, padding=1),
    ):
        moved = call(x)
        np.testing.assert_array_equal(
            moved.get_mask().numpy(), call(loup.tensor(IMAGE_MASK)).numpy()
        )
        np.testing.assert_array_equal(
            moved.to_tensor(0).numpy(), call(loup.tensor(np.where(IMAGE_MASK, values, 0))).numpy()
        )
    shown = x.unfold(3, 2, 2)
    assert shown.get_data().data_ptr() == x.get_data().data_ptr()
    shown[0, 0, 0, 0, 1] = 7.0
    assert x[0, 0, 0, 1].item() == 7.0
    with pytest.raises(ValueError, match=r"setitem: expected a tensor that holds each element"):
        x.unfold(3, 2, 1)[0] = 1.0


def test_padding_does_not_count() -> None:
    x = loup.MaskedTensor(np.ones((1, 2, 2)), np.ones((1, 2, 2), bool))
    columns = x.im2col(2, padding=1)
    assert columns.get_mask().numpy().sum() == 16
    assert columns.sum().item() == 16


def test_images_count_where_one_of_their_places_does() -> None:
    values = rng("fold").random((1, 8, 12))
    x = masked(values, COLUMN_MASK, np.nan)
    image = loup.col2im(x, (4, 5), 2)
    np.testing.assert_array_equal(
        image.get_mask().numpy(), loup.col2im(COLUMN_MASK.astype(int), (4, 5), 2).numpy() > 0
    )
    np.testing.assert_array_equal(
        image.to_tensor(0).numpy(),
        loup.col2im(np.where(COLUMN_MASK, values, 0), (4, 5), 2).numpy(),
    )


def test_triangles_have_zeros_that_count() -> None:
    x = masked(X, MASK, np.nan)
    assert x.tril().tolist() == [
        [1.0, 0.0, 0.0, 0.0],
        [None, None, 0.0, 0.0],
        [9.0, 10.0, 11.0, 0.0],
    ]
    assert loup.triu(x, 1).tolist() == [
        [0.0, None, 3.0, None],
        [0.0, 0.0, 7.0, 8.0],
        [0.0, 0.0, 0.0, 12.0],
    ]


def test_nonzero_finds_what_counts() -> None:
    x = masked(np.where(X == 3, 0.0, X), MASK, np.nan)
    expected = np.argwhere(MASK & (X != 3))
    np.testing.assert_array_equal(x.nonzero().numpy(), expected)
    for place, column in zip(loup.nonzero(x, as_tuple=True), expected.T, strict=True):
        np.testing.assert_array_equal(place.numpy(), column)
    assert isinstance(x.nonzero(), loup.Tensor)


def test_unique_knows_what_counts() -> None:
    x = loup.MaskedTensor([[3.0, 1.0, 9.0], [1.0, 3.0, 3.0]], [[True, True, False], [True] * 3])
    assert x.unique().tolist() == [1.0, 3.0]
    values, inverse, counts = loup.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1.0, 3.0]
    assert inverse.tolist() == [[1, 0, None], [0, 1, 1]]
    assert counts.tolist() == [2, 3]
    empty = loup.MaskedTensor([1.0], [False]).unique(return_counts=True)
    assert [each.tolist() for each in empty] == [[], []]
    with pytest.raises(TypeError, match=r"unique: expected no dim for a MaskedTensor, got 1"):
        x.unique(dim=1)


def test_bucketize_keeps_the_mask() -> None:
    x = loup.MaskedTensor([0.5, np.nan, 3.0], [True, False, True])
    assert x.bucketize([1.0, 2.0, 3.0]).tolist() == [0, None, 2]
    right = loup.bucketize(x, [1.0, 2.0, 3.0], right=True, out_int32=True)
    assert right.tolist() == [0, None, 3]
    assert right.dtype is loup.int32


def test_copy_and_fill() -> None:
    x = masked(X, MASK, np.nan)
    assert x.copy_(loup.MaskedTensor([[1], [2], [3]], [[True], [False], [True]])) is x
    assert x.tolist() == [[1.0] * 4, [None] * 4, [3.0] * 4]
    x.copy_([1.0, 2.0, 3.0, 4.0])
    assert x.tolist() == [[1.0, 2.0, 3.0, 4.0]] * 3
    x[:, :3].copy_(x[:, 1:])  # what overlaps is read first
    assert x.tolist() == [[2.0, 3.0, 4.0, 4.0]] * 3
    y = masked(X, MASK, np.nan)
    assert y.fill_(2).tolist() == [[2.0] * 4] * 3
    with pytest.raises(loup.ShapeError, match=r"copy_: expected"):
        y.copy_(np.ones(3))
    mask = loup.tensor([True]).expand(2, 2)
    fixed = loup.as_masked_tensor(loup.zeros((2, 2)), mask)
    with pytest.raises(ValueError, match=r"fill_: expected a tensor that holds each element"):
        fixed.fill_(1)
    assert fixed.get_data().tolist() == [[0.0] * 2] * 2


def test_masked_fill_in_place_makes_elements_count() -> None:
    x = masked(X, MASK, np.nan)
    x.masked_fill_(~MASK, -1)
    assert x.tolist() == np.where(MASK, X, -1).tolist()


def test_bernoulli_looks_at_probabilities_that_count() -> None:
    p = loup.MaskedTensor([1.0, np.nan, 0.0, 7.0], [True, False, True, False])
    assert p.bernoulli().tolist() == [1.0, None, 0.0, None]
    assert loup.bernoulli(p, 1.0).tolist() == [1.0, None, 1.0, None]
    with pytest.raises(ValueError, match=r"bernoulli: expected"):
        loup.MaskedTensor([2.0], [True]).bernoulli()


def test_multinomial_draws_what_counts() -> None:
    weights = loup.MaskedTensor([1.0, np.nan, 1.0, 5.0], [True, False, True, False])
    drawn = weights.multinomial(50, replacement=True, generator=loup.Generator(1))
    assert isinstance(drawn, loup.Tensor)
    assert set(drawn.tolist()) == {0, 2}
    with pytest.raises(ValueError, match=r"multinomial: expected"):
        loup.multinomial(loup.MaskedTensor([1.0, 2.0], [False, False]), 1)


def test_random_numbers_are_written_where_elements_count() -> None:
    for name in ("uniform_", "normal_", "bernoulli_"):
        x = masked(X, MASK, 99.0)
        assert getattr(x, name)(generator=loup.Generator(5)) is x
        plain = getattr(loup.zeros((3, 4), "float64"), name)(generator=loup.Generator(5))
        np.testing.assert_array_equal(
            x.get_data().numpy(), np.where(MASK, plain.numpy(), 99.0), err_msg=name
        )
        np.testing.assert_array_equal(x.get_mask().numpy(), MASK)
    x = masked(X, MASK, 99.0)
    assert x.bernoulli_(np.ones((3, 4))).sum().item() == MASK.sum()


def test_refusals() -> None:
    x = masked(X, MASK, np.nan)
    index = loup.MaskedTensor(INDEX, INDEX > 0)
    for call in (
        lambda: loup.scatter(x, 1, index, SOURCE),
        lambda: x.scatter_add_(1, index, SOURCE),
        lambda: loup.tensor(X).scatter_(1, INDEX, loup.MaskedTensor(SOURCE, SOURCE_MASK)),
        lambda: x.bucketize(x[0]),
    ):
        with pytest.raises(TypeError, match=r"expected a plain tensor, got a MaskedTensor"):
            call()
    with pytest.raises(loup.IndexError, match=r"scatter: expected an index from -4 to 3"):
        x.scatter(1, INDEX + 4, SOURCE)
    with pytest.raises(loup.ShapeError, match=r"scatter_add: expected a source nowhere shorter"):
        x.scatter_add(1, INDEX, SOURCE[:2])
    with pytest.raises(loup.DTypeError, match=r"scatter: expected a source that int64 holds, got"):
        loup.MaskedTensor([1, 2], [True, True]).scatter(0, [0], loup.tensor([1.5]))
