"""cat, stack, hstack and vstack, and the views that take tensors apart."""

import numpy as np
import pytest
from strided import STRIDES, assert_same, random_array, rng, strided_array
from tensors import NUMPY_DTYPES, counting

import loup


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("name", STRIDES)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_joins_every_dtype_with_any_strides(dtype: str, name: str, dim: int) -> None:
    random = rng(dtype, name, dim)
    arrays = [strided_array(name, dtype, random), random_array(random, (4, 6), dtype)]
    assert_same(loup.cat([loup.asarray(a) for a in arrays], dim), np.concatenate(arrays, dim))


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -3])
def test_stack_makes_a_new_dim(dim: int) -> None:
    arrays = [counting(2, 3), -counting(2, 3), counting(2, 3) * 7]
    assert_same(loup.stack(arrays, dim), np.stack(arrays, dim))
    assert_same(loup.stack(arrays, axis=dim), np.stack(arrays, dim))


@pytest.mark.parametrize("shapes", [[(3,), (2,)], [(2, 3), (2, 1)], [(), ()], [(2, 2, 2)] * 3])
def test_hstack_joins_columns(shapes: list) -> None:
    arrays = [counting(*shape) for shape in shapes]
    assert_same(loup.hstack(arrays), np.hstack(arrays))


@pytest.mark.parametrize("shapes", [[(3,), (3,)], [(2, 3), (3,)], [(), ()], [(2, 2, 2)] * 3])
def test_vstack_joins_rows(shapes: list) -> None:
    arrays = [counting(*shape) for shape in shapes]
    assert_same(loup.vstack(arrays), np.vstack(arrays))


def test_cat_takes_the_dtype_that_holds_all() -> None:
    assert loup.cat([loup.arange(2), loup.ones(1)]).dtype == loup.float32
    assert loup.cat([loup.tensor([True]), loup.tensor([3], dtype="int8")]).tolist() == [1, 3]
    assert loup.cat([loup.ones(1, "float16"), loup.ones(1, "bfloat16")]).dtype == loup.float32


def test_cat_takes_empty_parts_and_one_part() -> None:
    x = loup.ones((2, 3))
    assert loup.cat([x[:0], x, x[:0]]).shape == (2, 3)
    assert loup.cat([loup.empty((0, 3))] * 2).shape == (0, 3)
    assert loup.cat((x,), axis=1).tolist() == x.tolist()
    assert loup.cat((x,)).data_ptr() != x.data_ptr()


def test_cat_of_many_tensors() -> None:
    parts = [np.arange(i % 5) for i in range(1000)]
    assert_same(loup.cat(parts), np.concatenate(parts))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: loup.cat([]), loup.ValueError, "cat: expected at least one tensor, got none"),
        (
            lambda: loup.hstack([]),
            loup.ValueError,
            "hstack: expected at least one tensor, got none",
        ),
        (lambda: loup.stack([]), loup.ValueError, "stack: expected at least one tensor, got none"),
        (
            lambda: loup.cat([1.0, 2.0]),
            loup.ShapeError,
            "cat: expected tensors with dims, got a 0-d tensor",
        ),
        (
            lambda: loup.cat([loup.ones((2, 3)), loup.ones((3, 2))]),
            loup.ShapeError,
            r"cat: expected shapes that agree but for dim 0, got \[2, 3\] and \[3, 2\]",
        ),
        (
            lambda: loup.cat([loup.ones((2, 3)), loup.ones(3)]),
            loup.ShapeError,
            r"cat: expected shapes that agree but for dim 0, got \[2, 3\] and \[3\]",
        ),
        (
            lambda: loup.cat([loup.ones((2, 3))], 2),
            loup.IndexError,
            "cat: expected a dim from -2 to 1, got 2",
        ),
        (
            lambda: loup.stack([loup.ones(2), loup.ones(3)]),
            loup.ShapeError,
            r"stack: expected tensors of one shape, got \[2\] and \[3\]",
        ),
        (
            lambda: loup.stack([loup.ones(2)], 2),
            loup.IndexError,
            "stack: expected a dim from -2 to 1, got 2",
        ),
        (
            lambda: loup.cat(3),
            TypeError,
            "cat: expected a sequence of tensors, got int",
        ),
        (
            lambda: loup.ones(3).split(0),
            loup.ValueError,
            "split: expected parts of at least 1 element, got 0",
        ),
        (
            lambda: loup.ones(3).split([2, 2]),
            loup.ValueError,
            r"split: expected sizes that add up to 3, got \[2, 2\]",
        ),
        (
            lambda: loup.ones(3).split([4, -1]),
            loup.ValueError,
            r"split: expected sizes that add up to 3, got \[4, -1\]",
        ),
        (
            lambda: loup.ones(3).split([-1, 4]),
            loup.ValueError,
            "split: expected sizes of at least 0, got -1",
        ),
        (
            lambda: loup.ones(3).chunk(0),
            loup.ValueError,
            "chunk: expected at least 1 chunk, got 0",
        ),
        (
            lambda: loup.tensor(1).unbind(),
            loup.ShapeError,
            "unbind: expected a tensor with dims, got 0-d",
        ),
    ],
)
def test_refuses(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        call()


def test_split_gives_views() -> None:
    x = loup.arange(10).reshape(5, 2)
    parts = x.split(2)
    assert [part.tolist() for part in parts] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9]]]
    parts[2].fill_(-1)
    assert x[4].tolist() == [-1, -1]
    assert [part.shape for part in loup.split(x, [1, 0, 4])] == [(1, 2), (0, 2), (4, 2)]
    assert [part.shape for part in x.split(1, dim=-1)] == [(5, 1), (5, 1)]
    assert [part.shape for part in loup.empty((0, 2)).split(3)] == [(0, 2)]


@pytest.mark.parametrize(("size", "chunks"), [(10, 3), (10, 5), (2, 5), (7, 1), (0, 2)])
def test_chunk_gives_as_many_parts_as_torch(size: int, chunks: int) -> None:
    torch = pytest.importorskip("torch")
    expected = torch.arange(size).chunk(chunks)
    parts = loup.arange(size).chunk(chunks)
    assert [part.tolist() for part in parts] == [part.tolist() for part in expected]


def test_unbind_removes_a_dim() -> None:
    x = loup.arange(6).reshape(2, 3)
    assert [part.tolist() for part in x.unbind()] == [[0, 1, 2], [3, 4, 5]]
    assert [part.tolist() for part in loup.unbind(x, -1)] == [[0, 3], [1, 4], [2, 5]]
    assert loup.empty((0, 2)).unbind() == ()


def test_gradients_reach_every_part() -> None:
    x = loup.ones(2).requires_grad_()
    y = loup.ones(3, "float64").requires_grad_()
    fixed = loup.ones(1)
    loup.cat([x, fixed, y, x]).backward(loup.arange(8, dtype="float64"))
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.tolist() == [6, 8]
    assert x.grad.dtype == loup.float32
    assert y.grad.tolist() == [3, 4, 5]
    assert y.grad.dtype == loup.float64
