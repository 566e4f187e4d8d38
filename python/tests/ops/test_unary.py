"""Unary operators against NumPy: every dtype, special values, options."""

import numpy as np
import pytest
from op_cases.unary import UNARY
from op_cases.values import DTYPES, sample, tensor
from strided import rng

import loup

EVERY_OP = pytest.mark.parametrize("name", UNARY)


@EVERY_OP
def test_agrees_with_the_reference(name: str) -> None:
    case = UNARY[name]
    for dtype in case.dtypes():
        (x,) = case.prepare(sample(dtype, 600, rng(name, dtype)))
        case.check(getattr(loup, name)(tensor(x, dtype)), (x,), dtype, about=name)


@pytest.mark.parametrize("name", [name for name, case in UNARY.items() if case.accepts("float16")])
def test_agrees_with_the_reference_for_every_float16(name: str) -> None:
    case = UNARY[name]
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)[::7]
    case.check(getattr(loup, name)(tensor(x)), (x,), "float16", about=name)


@pytest.mark.parametrize("name", [name for name, case in UNARY.items() if case.options])
def test_options_change_what_they_say(name: str) -> None:
    case = UNARY[name]
    for options, reference in case.options:
        for dtype in case.dtypes():
            (x,) = case.prepare(sample(dtype, 300, rng(name, dtype)))
            result = getattr(loup, name)(tensor(x, dtype), **options)
            case.check(result, (x,), dtype, reference, about=(name, options))


@EVERY_OP
def test_refuses_dtypes_it_is_not_defined_for(name: str) -> None:
    case = UNARY[name]
    rules = {"numeric": "a numeric dtype", "integral": "integers or bool"}
    for dtype in DTYPES:
        if case.accepts(dtype):
            continue
        rule = rules.get(case.kind, "a dtype it is defined for")
        if dtype != "bool" and case.kind == "numeric":
            rule = "a dtype it is defined for"
        with pytest.raises(loup.DTypeError) as caught:
            getattr(loup, name)(
                tensor(np.ones(3, "float32" if dtype == "bfloat16" else dtype), dtype)
            )
        assert str(caught.value) == f"{name}: expected {rule}, got {dtype}"
