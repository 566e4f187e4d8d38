"""Aliases, methods, Python's operators and in-place forms are the same operators."""

import operator

import numpy as np
import pytest
from op_cases.binary import BINARY
from op_cases.layouts import LAYOUTS, base, dense
from op_cases.unary import UNARY
from op_cases.values import assert_same, sample, tensor
from strided import rng

import loup

LISTED = {entry["name"]: entry for entry in loup.ops()}
ELEMENTWISE = [*UNARY, *BINARY]
IN_PLACE = [name for name in ELEMENTWISE if LISTED[name]["in_place"]]
KIND = {"bool": 0, **dict.fromkeys(["uint8", "int8", "int16", "int32", "int64"], 1)}

SYMBOLS = {
    "add": operator.add,
    "bitwise_and": operator.and_,
    "bitwise_left_shift": operator.lshift,
    "bitwise_or": operator.or_,
    "bitwise_right_shift": operator.rshift,
    "bitwise_xor": operator.xor,
    "div": operator.truediv,
    "eq": operator.eq,
    "floor_divide": operator.floordiv,
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lt": operator.lt,
    "mul": operator.mul,
    "ne": operator.ne,
    "pow": operator.pow,
    "remainder": operator.mod,
    "sub": operator.sub,
}


def operands(name: str, dtype: str) -> list[loup.Tensor]:
    case = (UNARY | BINARY)[name]
    count = 1 if name in UNARY else 2
    arrays = [sample(dtype, 80, rng(name, dtype, i)) for i in range(count)]
    return [base(values, dtype) for values in case.prepare(*arrays)]


def dtype_for(name: str) -> str:
    return "float32" if (UNARY | BINARY)[name].accepts("float32") else "int16"


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_methods_and_aliases_equal_the_function(name: str) -> None:
    given = operands(name, dtype_for(name))
    expected = getattr(loup, name)(*given)
    assert_same(getattr(given[0], name)(*given[1:]), expected)
    for alias in LISTED[name]["aliases"]:
        assert_same(getattr(loup, alias)(*given), expected, alias)
        assert_same(getattr(given[0], alias)(*given[1:]), expected, alias)
        assert hasattr(loup.Tensor, f"{alias}_") == LISTED[name]["in_place"]


@pytest.mark.parametrize("name", SYMBOLS)
def test_python_operators_equal_the_function(name: str) -> None:
    x, y = operands(name, dtype_for(name))
    symbol, op = SYMBOLS[name], getattr(loup, name)
    assert_same(symbol(x, y), op(x, y))
    assert_same(symbol(x, 3), op(x, 3))
    assert_same(symbol(3, y), op(3, y))


def test_python_operators_of_one_operand() -> None:
    x = loup.tensor([-1.5, 0.0, 2.0])
    assert_same(-x, loup.neg(x))
    assert_same(+x, loup.positive(x))
    assert_same(abs(x), loup.abs(x))
    assert_same(~x.int(), loup.bitwise_not(x.int()))


def holds(to: str, result: str) -> bool:
    return KIND.get(to, 2) >= KIND.get(result, 2)


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_forms_write_what_the_function_gives(name: str) -> None:
    case, op = (UNARY | BINARY)[name], getattr(loup, name)
    for dtype in case.dtypes():
        given = operands(name, dtype)
        result_dtype = case.result_dtype(dtype)
        method = getattr(loup.Tensor, f"{name}_")
        if not holds(dtype, result_dtype):
            text = f"{name}_: expected a tensor that can hold {result_dtype}, got {dtype}"
            with pytest.raises(loup.DTypeError) as caught:
                method(*given)
            assert str(caught.value) == text
            continue
        for layout in ("contiguous", "transposed", "stepped", "sliced"):
            x = LAYOUTS[layout](given[0].clone())
            others = [dense(LAYOUTS[layout](y)) for y in given[1:]]
            expected, memory = op(dense(x), *others).to(dtype), x.data_ptr()
            assert method(x, *others) is x
            assert x.data_ptr() == memory
            assert_same(dense(x), dense(expected), (name, dtype, layout))


@pytest.mark.parametrize("name", [name for name in IN_PLACE if name in BINARY])
def test_in_place_forms_broadcast_the_other_operand_only(name: str) -> None:
    x, y = (operand[:3, :4].clone() for operand in operands(name, dtype_for(name)))
    expected = getattr(loup, name)(x, y[:1]).to(x.dtype)
    assert_same(getattr(x.clone(), f"{name}_")(y[:1]), dense(expected))
    with pytest.raises(loup.ShapeError) as caught:
        getattr(x[:1].clone(), f"{name}_")(y)
    text = f"{name}_: expected operands broadcastable to [1, 4], got shape [3, 4]"
    assert str(caught.value) == text


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if name not in IN_PLACE])
def test_no_in_place_form_where_the_list_has_none(name: str) -> None:
    assert not hasattr(loup.Tensor, f"{name}_")


def augmented(symbol: str, x: loup.Tensor, y: object) -> loup.Tensor:
    return getattr(operator, symbol)(x, y)


@pytest.mark.parametrize(
    "symbol", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"]
)
def test_augmented_assignment_writes_into_the_tensor(symbol: str) -> None:
    x = loup.tensor([1.0, -2.0, 3.5])
    expected = getattr(operator, symbol[1:])(x, 2.0)
    same = x
    x = augmented(symbol, x, 2.0)
    assert x is same
    assert_same(x, expected)


@pytest.mark.parametrize("symbol", ["iand", "ior", "ixor", "ilshift", "irshift"])
def test_augmented_assignment_of_integers_writes_into_the_tensor(symbol: str) -> None:
    x = loup.tensor([1, -2, 35])
    expected = getattr(operator, {"iand": "and_", "ior": "or_"}.get(symbol, symbol[1:]))(x, 3)
    same = x
    x = augmented(symbol, x, 3)
    assert x is same
    assert_same(x, expected)


OVERLAPS = {
    "the next ones": (lambda x: x[1:], lambda x: x[:-1]),
    "the ones before": (lambda x: x[:-1], lambda x: x[1:]),
    "itself": (lambda x: x, lambda x: x),
    "its transposed": (lambda x: x, lambda x: x.T),
    "one row of it": (lambda x: x, lambda x: x[3:4]),
    "one column of it": (lambda x: x, lambda x: x[:, 2:3]),
    "one element of it": (lambda x: x, lambda x: x[2, 3]),
    "every second one": (lambda x: x[::2], lambda x: x[: (x.shape[0] + 1) // 2]),
}


@pytest.mark.parametrize("size", [5, 40, 200])
@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16"])
def test_what_overlaps_is_read_before_it_is_written(dtype: str, overlap: str, size: int) -> None:
    written, read = OVERLAPS[overlap]
    values = np.resize(sample(dtype, size * size, rng(overlap, dtype)), (size, size))
    methods = ["add_", "mul_", "eq_", "clamp_", *(["lerp_"] if dtype != "int8" else [])]
    for method in methods:
        x, y = tensor(values, dtype), tensor(values, dtype)
        before = dense(read(y))
        more = [0.25] if method == "lerp_" else []
        getattr(written(y), method)(before, *more)
        getattr(written(x), method)(read(x), *more)
        assert_same(x, y, (method, overlap))


def test_a_change_is_refused_where_elements_repeat() -> None:
    x = loup.zeros((3, 1)).expand(3, 4)
    with pytest.raises(loup.ValueError) as caught:
        x.add_(1)
    text = "add_: expected a tensor that holds each element once, got one expanded along dim 1"
    assert str(caught.value).startswith(text)


def test_a_change_of_read_only_memory_is_refused() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    x = loup.asarray(array)
    for change in (lambda: x.add_(1), lambda: x.exp_(), lambda: x.clamp_(0)):
        with pytest.raises(loup.ValueError, match="expected .*, got"):
            change()
    assert array.tolist() == [0, 1, 2]
