"""Tensors made like masked ones keep the mask; new ones are plain."""

from collections.abc import Callable

import numpy as np
import pytest

import loup

MASK = np.array([[True, False, True], [False, False, True]])


def example(dtype: str = "float32", requires_grad: bool = False) -> loup.MaskedTensor:
    data = loup.tensor(np.full((2, 3), 0.5), dtype)
    return loup.MaskedTensor(data, MASK, requires_grad)


LIKE: dict[str, Callable[..., loup.MaskedTensor]] = {
    "zeros_like": loup.zeros_like,
    "ones_like": loup.ones_like,
    "empty_like": loup.empty_like,
    "full_like": lambda x, **options: loup.full_like(x, 7, **options),
    "rand_like": loup.rand_like,
    "randn_like": loup.randn_like,
}


@pytest.mark.parametrize("name", LIKE)
def test_like_forms_keep_the_mask(name: str) -> None:
    x = example()
    y = LIKE[name](x)
    assert isinstance(y, loup.MaskedTensor)
    assert (y.shape, y.dtype, y.requires_grad) == (x.shape, x.dtype, False)
    np.testing.assert_array_equal(y.get_mask().numpy(), MASK)
    assert y.get_mask().data_ptr() != x.get_mask().data_ptr()
    y[0, 1] = 1.0
    assert x.get_mask().tolist() == MASK.tolist()


@pytest.mark.parametrize("name", LIKE)
def test_like_forms_take_dtype_and_requires_grad(name: str) -> None:
    y = LIKE[name](example("float16"), dtype="float64", requires_grad=True)
    assert y.dtype is loup.float64
    assert y.requires_grad
    assert y.is_leaf
    (y * 2).sum().backward()
    assert y.grad.get_data().tolist() == np.where(MASK, 2.0, 0.0).tolist()
    plain = LIKE[name](example().get_data(), dtype="float64", requires_grad=True)
    assert isinstance(plain, loup.Tensor)
    assert plain.requires_grad


def test_what_like_forms_hold() -> None:
    x = example("int16")
    assert loup.zeros_like(x).tolist() == [[0, None, 0], [None, None, 0]]
    assert loup.ones_like(x).tolist() == [[1, None, 1], [None, None, 1]]
    assert loup.full_like(x, 7).dtype is loup.int16
    with pytest.raises(loup.DTypeError, match=r"requires_grad: expected"):
        loup.zeros_like(x, requires_grad=True)


@pytest.mark.parametrize("name", ["rand_like", "randn_like"])
def test_random_numbers_do_not_depend_on_the_mask(name: str) -> None:
    make = getattr(loup, name)
    x = example()
    numbers = make(x, generator=loup.Generator(3))
    plain = make(x.get_data(), generator=loup.Generator(3))
    np.testing.assert_array_equal(numbers.get_data().numpy(), plain.numpy())
    assert getattr(x, name)(generator=loup.Generator(3)).tolist() == numbers.tolist()


def test_random_integers() -> None:
    x = example("int32")
    numbers = loup.randint_like(x, 5, 9, generator=loup.Generator(1))
    plain = x.get_data().randint_like(5, 9, generator=loup.Generator(1))
    assert numbers.dtype is loup.int32
    np.testing.assert_array_equal(numbers.get_data().numpy(), plain.numpy())
    np.testing.assert_array_equal(numbers.get_mask().numpy(), MASK)
    assert x.randint_like(9).dtype is loup.int32


@pytest.mark.parametrize("make", [example, lambda: example().get_data()], ids=["masked", "plain"])
def test_new_tensors_are_plain(make: Callable[[], loup.Tensor | loup.MaskedTensor]) -> None:
    x = make().to("float64")
    results = [
        x.new_zeros(2, 3),
        x.new_ones((2, 3)),
        x.new_empty([2, 3]),
        x.new_full((2, 3), 5),
        x.new_tensor([[1, 2, 3], [4, 5, 6]]),
    ]
    for y in results:
        assert isinstance(y, loup.Tensor)
        assert (y.shape, y.dtype, y.requires_grad) == ((2, 3), loup.float64, False)
    assert results[0].tolist() == [[0.0] * 3] * 2
    assert results[1].tolist() == [[1.0] * 3] * 2
    assert results[3].tolist() == [[5.0] * 3] * 2
    assert results[4].tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert x.new_zeros(()).shape == ()
    assert x.new_zeros(4, dtype="int32").dtype is loup.int32
    assert x.new_full((2,), 1, dtype=loup.float32, requires_grad=True).requires_grad
    assert x.new_tensor([1.5], requires_grad=True).is_leaf


def test_new_tensor_copies() -> None:
    given = np.ones(3)
    copied = example().new_tensor(given, dtype="float64")
    given[0] = 9
    assert copied.tolist() == [1.0] * 3
    with pytest.raises(TypeError, match=r"tensor: expected a plain tensor, got a MaskedTensor"):
        example().new_tensor(example())


def test_creation_takes_requires_grad() -> None:
    for x in (
        loup.zeros(2, requires_grad=True),
        loup.ones(2, requires_grad=True),
        loup.empty(2, requires_grad=True),
        loup.full((2,), 1.5, requires_grad=True),
    ):
        assert x.requires_grad
        assert x.is_leaf
