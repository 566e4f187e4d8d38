"""Binary operators against NumPy: every dtype, special values."""

import numpy as np
import pytest
from op_cases.binary import BINARY
from op_cases.values import DTYPES, carrier, sample, specials, tensor
from strided import rng

import loup

EVERY_OP = pytest.mark.parametrize("name", BINARY)


def operands(name: str, dtype: str) -> tuple[np.ndarray, ...]:
    """Random ones, and every pair of special values."""
    x, y = (sample(dtype, 500, rng(name, dtype, i)) for i in range(2))
    special = specials(dtype)
    pairs = np.meshgrid(special, special)
    pair = (np.concatenate([a, b.ravel()]) for a, b in zip((x, y), pairs, strict=True))
    return BINARY[name].prepare(*pair)


@EVERY_OP
def test_agrees_with_the_reference(name: str) -> None:
    case = BINARY[name]
    for dtype in case.dtypes():
        x, y = operands(name, dtype)
        result = getattr(loup, name)(tensor(x, dtype), tensor(y, dtype))
        case.check(result, (x, y), dtype, about=name)


@EVERY_OP
def test_refuses_dtypes_it_is_not_defined_for(name: str) -> None:
    case = BINARY[name]
    rules = {"numeric": "a numeric dtype", "integral": "integers or bool"}
    for dtype in DTYPES:
        if case.accepts(dtype):
            continue
        x = tensor(np.ones(3, carrier(dtype)), dtype)
        with pytest.raises(loup.DTypeError) as caught:
            getattr(loup, name)(x, x)
        assert str(caught.value) == f"{name}: expected {rules[case.kind]}, got {dtype}"
