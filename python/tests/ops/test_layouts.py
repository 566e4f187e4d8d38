"""Strides and broadcasts: the result is that of the same elements, row-major and repeated."""

import itertools

import numpy as np
import pytest
from op_cases.binary import BINARY
from op_cases.layouts import LAYOUTS, base, dense
from op_cases.unary import UNARY
from op_cases.values import assert_same, sample, tensor
from strided import rng

import loup

# Whatever runs in lanes, in doubles, one by one, or to bool.
MACHINERY = ["add", "mul", "floor_divide", "atan2", "lt", "bitwise_and"]
BROADCASTS = [
    ((3, 1), (1, 4)),
    ((3, 1), (4,)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((1,), (5,)),
    ((0,), (1,)),
    ((3, 0), (3, 1)),
    ((2, 0, 3), (3,)),
    ((2, 1, 3, 1), (4, 1, 5)),
    ((2, 1, 2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2, 1, 3)),
]
# Around the sizes of what kernels are given at a time.
SIZES = [31, 32, 33, 1023, 1024, 1025, 1057, 32767, 32768, 32769]


def operands(name: str, dtype: str) -> list[loup.Tensor]:
    case = (UNARY | BINARY)[name]
    count = 1 if name in UNARY else 2
    arrays = [sample(dtype, 80, rng(name, dtype, i)) for i in range(count)]
    return [base(values, dtype) for values in case.prepare(*arrays)]


def of_shape(shape: tuple[int, ...], dtype: str, salt: object) -> loup.Tensor:
    values = np.resize(sample(dtype, 300, rng(shape, dtype, salt)), shape)
    return tensor(np.where(values == 0, values.dtype.type(1), values), dtype)


@pytest.mark.parametrize("name", UNARY)
def test_unary_operators_read_any_strides(name: str) -> None:
    op = getattr(loup, name)
    for dtype in UNARY[name].dtypes():
        (x,) = operands(name, dtype)
        for layout, view in LAYOUTS.items():
            assert_same(op(view(x)), op(dense(view(x))), (name, dtype, layout))


@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_read_any_strides(name: str) -> None:
    op = getattr(loup, name)
    for dtype in BINARY[name].dtypes():
        x, y = operands(name, dtype)
        for (one, first), (two, second) in itertools.product(LAYOUTS.items(), repeat=2):
            result = op(first(x), second(y))
            assert_same(result, op(dense(first(x)), dense(second(y))), (name, dtype, one, two))


@pytest.mark.parametrize("shapes", BROADCASTS, ids=str)
@pytest.mark.parametrize("name", MACHINERY)
def test_operands_are_broadcast(name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    op, common = getattr(loup, name), np.broadcast_shapes(*shapes)
    for dtype in BINARY[name].dtypes():
        x, y = (of_shape(shape, dtype, i) for i, shape in enumerate(shapes))
        wide = [dense(operand.expand(*common)) for operand in (x, y)]
        assert_same(op(x, y), op(*wide), (name, dtype, shapes))
        assert_same(op(y, x), op(*reversed(wide)), (name, dtype, shapes, "turned"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", MACHINERY)
def test_sizes_around_those_of_pieces(name: str, size: int) -> None:
    op = getattr(loup, name)
    shapes = [((size, 1), (size, 3)), ((3, size), (size,)), ((size,), (1,)), ((2, size), (2, 1))]
    dtypes = [
        dtype for dtype in ("int8", "int64", "float16", "float32") if BINARY[name].accepts(dtype)
    ]
    for dtype, (first, second) in itertools.product(dtypes, shapes):
        x, y = of_shape(first, dtype, 0), of_shape(second, dtype, 1)
        common = np.broadcast_shapes(first, second)
        wide = [dense(operand.expand(*common)) for operand in (x, y)]
        expected = op(*(operand.reshape(-1) for operand in wide)).reshape(*common)
        assert_same(op(x, y), expected, (name, dtype, first, second))
        turned = op(x.expand(*common).T, y.expand(*common).T) if len(common) == 2 else None
        if turned is not None:
            assert_same(turned, dense(expected.T), (name, dtype, first, second, "transposed"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["neg", "exp", "isnan", "sqrt", "logical_not"])
def test_sizes_of_unary_operators_around_those_of_pieces(name: str, size: int) -> None:
    op = getattr(loup, name)
    for dtype in ("int8", "int64", "float16", "float32", "float64"):
        x = of_shape((size, 3), dtype, name)
        expected = loup.stack([op(dense(x[:, i])) for i in range(3)], 1)
        assert_same(op(x), expected, (name, dtype, "row-major"))
        assert_same(op(x.T), dense(expected.T), (name, dtype, "transposed"))
        assert_same(op(x[::2]), dense(expected[::2]), (name, dtype, "stepped"))


@pytest.mark.parametrize("name", UNARY)
def test_unary_operators_take_any_shape(name: str) -> None:
    op = getattr(loup, name)
    for dtype in UNARY[name].dtypes():
        (x,) = operands(name, dtype)
        flat = op(dense(x.reshape(-1)))
        for shape in [(120,), (2, 1, 2, 3, 1, 5, 1, 2), (120, 1), (1, 120)]:
            assert_same(op(x.reshape(*shape)), flat.reshape(*shape), (name, dtype, shape))
        assert_same(op(x[3, 4]), flat[40], (name, dtype, "0-d"))
        for shape in [(0,), (3, 0), (0, 3, 0)]:
            assert op(x[:0].reshape(*shape)).shape == shape
            assert op(x[:0].reshape(*shape)).dtype == flat.dtype


def test_results_lie_in_memory_as_their_operands_do() -> None:
    x = loup.asarray(np.arange(24.0).reshape(2, 3, 4))
    turned = x.permute(2, 0, 1)
    assert loup.exp(turned).strides == turned.strides
    assert (turned + turned).strides == turned.strides
    assert (turned * 2).strides == turned.strides
    assert (turned < turned[0]).strides == turned.strides
    assert (turned + dense(turned)).is_contiguous()
    assert loup.exp(x[:, ::2]).is_contiguous()
