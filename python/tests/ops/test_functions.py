"""Operators that are plain functions against NumPy: every dtype, any strides, gradients."""

from collections.abc import Callable

import numpy as np
import pytest
from gradients import assert_same_gradients, total
from op_cases.example import Example, assert_agrees, flat
from op_cases.functions import FUNCTIONS
from strided import rng

import loup
from loup.autograd import gradcheck, gradgradcheck

LISTED = {entry["name"]: entry for entry in loup.ops()}
CALLS = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name, examples in FUNCTIONS.items()
    for number, example in enumerate(examples)
    if name in LISTED
]
EVERY_CALL = pytest.mark.parametrize(("name", "example"), CALLS)
EVERY_DIFFERENTIABLE_CALL = pytest.mark.parametrize(
    ("name", "example"),
    [
        call
        for call in CALLS
        if LISTED[call.values[0]]["differentiable"]
        and "float64" in call.values[1].dtypes
        and call.values[1].gives_tensors
    ],
)


def operator(name: str) -> object:
    if LISTED[name]["masked"]:
        return getattr(loup.masked, name)
    return getattr(loup, name, None) or getattr(loup.Tensor, name)


def strided(x: loup.Tensor) -> loup.Tensor:
    """The same elements at every second place, dims turned around in memory."""
    memory = loup.zeros(tuple(2 * size + 1 for size in reversed(x.shape)), dtype=x.dtype)
    view = memory[tuple(slice(1, None, 2) for _ in x.shape)]
    view = view.permute(*reversed(range(x.ndim))) if x.ndim > 0 else view
    view.copy_(x)
    return view


@EVERY_CALL
def test_agrees_with_numpy(name: str, example: Example) -> None:
    for dtype in example.dtypes:
        arrays = example.arrays(dtype, rng(name, dtype))
        with np.errstate(all="ignore"):
            expected = example.reference(*arrays)
        result = example.run(operator(name), *example.tensors(arrays, dtype))
        assert_agrees(result, expected, dtype, example.rtol, (name, dtype))


@EVERY_CALL
def test_reads_any_strides(name: str, example: Example) -> None:
    for dtype in example.dtypes:
        arrays = example.arrays(dtype, rng(name, dtype))
        with np.errstate(all="ignore"):
            expected = example.reference(*arrays)
        tensors = [strided(x) for x in example.tensors(arrays, dtype)]
        result = example.run(operator(name), *tensors)
        assert_agrees(result, expected, dtype, example.rtol, (name, dtype, "strided"))


def leaves(name: str, example: Example) -> list[loup.Tensor]:
    """Inputs of float64; those that are not fixed require grad, and no two elements are equal."""
    arrays = example.arrays("float64", rng(name, "gradients"))
    result = []
    for i, (values, kind) in enumerate(zip(arrays, example.inputs, strict=True)):
        if isinstance(kind, np.ndarray):
            result.append(loup.asarray(values))
        else:
            spread = np.linspace(-1.9, 1.9, values.size) + 0.013 * (i + 1)
            shuffled = rng(name, i).permutation(spread).reshape(values.shape)
            result.append(loup.asarray(shuffled).requires_grad_())
    return result


def function_of(name: str, example: Example) -> Callable[..., list[loup.Tensor]]:
    """The call as a function of its inputs."""
    return lambda *tensors: flat(example.run(operator(name), *tensors))


@EVERY_DIFFERENTIABLE_CALL
def test_gradients_of_first_and_second_order(name: str, example: Example) -> None:
    f, inputs = function_of(name, example), leaves(name, example)
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


@EVERY_DIFFERENTIABLE_CALL
def test_what_a_gradient_mask_hides_does_not_leak(name: str, example: Example) -> None:
    f = function_of(name, example)

    def clean(outputs: list[loup.Tensor]) -> loup.Tensor:
        return total([loup.masked.sum(y * y, mask=hidden(y)) for y in outputs])

    def dirty(outputs: list[loup.Tensor]) -> loup.Tensor:
        # The gradient of what is divided by 0 is infinite or NaN, where the mask hides it.
        return total([loup.masked.sum(y * y / hidden(y).double(), mask=hidden(y)) for y in outputs])

    def hidden(y: loup.Tensor) -> loup.Tensor:
        return loup.asarray(rng(name, y.shape).random(y.shape) < 0.6)

    assert_same_gradients(f, leaves(name, example), clean, dirty, name)
