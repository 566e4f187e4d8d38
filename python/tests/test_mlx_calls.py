"""loup.mlx: forms of a call, MaskedArray, and what is refused."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mlx_cases import MASK, NUMBERS, REDUCTIONS, array, call, masked, mx, numpy

import loup


@pytest.mark.parametrize("name", REDUCTIONS)
def test_dim_and_keepdim_are_axis_and_keepdims(name: str) -> None:
    x, mask = array(NUMBERS), mx.array(MASK)
    expected = call(name, x, mask, axis=(0, 2), keepdims=True)
    assert expected.shape == (1, 4, 1)
    found = call(name, x, mask, dim=(0, 2), keepdim=True)
    assert numpy(found).tobytes() == numpy(expected).tobytes()


def test_methods_are_the_functions() -> None:
    x, mask = array(NUMBERS), mx.array(MASK)
    both = masked.MaskedArray(x, mask)
    assert (both.shape, both.ndim, both.dtype) == ((3, 4, 5), 3, mx.float32)
    for method, function in [
        (both.sum, masked.masked_sum),
        (both.mean, masked.masked_mean),
        (both.softmax, masked.masked_softmax),
    ]:
        for options in ({"axis": 1}, {"dim": 0}, {}):
            assert (
                numpy(method(**options)).tobytes() == numpy(function(x, mask, **options)).tobytes()
            )


def test_a_masked_array_prints_what_counts() -> None:
    x = masked.MaskedArray(mx.array([1.0, 2.0]), mx.array([True, False]))
    assert repr(x) == "MaskedArray(\n  [ 1.0,   --]\n)"


def test_a_masked_array_becomes_a_masked_tensor_of_the_same_memory() -> None:
    data = mx.array([1.0, 2.0])
    x = masked.MaskedArray(data, mx.array([True, False])).to_loup()
    assert x.tolist() == [1, None]
    assert x.get_data().data_ptr() == loup.asarray(data).data_ptr()


X = mx.array([[1.0, 2.0, 3.0]])
M = mx.array([[True, False, True]])
REFUSED: dict[str, tuple[Callable[[], Any], type, str]] = {
    "axis and dim": (
        lambda: masked.masked_sum(X, M, axis=1, dim=0),
        TypeError,
        "masked_sum: expected axis or dim, got both: 1 and 0",
    ),
    "softmax by axis and dim": (
        lambda: masked.masked_softmax(X, M, axis=0, dim=1),
        TypeError,
        "masked_softmax: expected axis or dim, got both",
    ),
    "a list": (
        lambda: masked.masked_mean([1.0], M),
        TypeError,
        "masked_mean: expected data as an mlx.core.array, got list",
    ),
    "a NumPy mask": (
        lambda: masked.masked_sum(X, np.array(M)),
        TypeError,
        "masked_sum: expected mask as an mlx.core.array, got ndarray",
    ),
    "a float mask": (
        lambda: masked.masked_sum(X, X),
        TypeError,
        "sum: expected a mask of bool or integers, got float32",
    ),
    "a MaskedArray with a float mask": (
        lambda: masked.MaskedArray(X, X),
        TypeError,
        "MaskedArray: expected a mask of bool or integers, got mlx.core.float32",
    ),
    "a mask of another shape": (
        lambda: masked.masked_sum(X, M[:, :2]),
        ValueError,
        "sum: expected a mask broadcastable to [1, 3], got shape [1, 2]",
    ),
    "a MaskedArray of two shapes": (
        lambda: masked.MaskedArray(X, M[0]),
        ValueError,
        "MaskedArray: expected a mask of shape (1, 3), got (3,)",
    ),
    "a MaskedArray without a mask": (
        lambda: masked.MaskedArray(X, None),
        TypeError,
        "MaskedArray: expected mask as an mlx.core.array, got NoneType",
    ),
    "an axis out of range": (
        lambda: masked.masked_sum(X, M, axis=2),
        IndexError,
        "sum: expected a dim from -2 to 1, got 2",
    ),
    "uint16": (
        lambda: masked.masked_sum(X.astype(mx.uint16), M),
        TypeError,
        "masked_sum: expected bool, uint8, int8 to int64, float16, bfloat16, float32 or float64, "
        "got mlx.core.uint16",
    ),
    "complex numbers": (
        lambda: masked.masked_softmax(X.astype(mx.complex64), M),
        TypeError,
        "or float64, got mlx.core.complex64",
    ),
    "compile": (
        lambda: mx.compile(lambda x: masked.masked_sum(x, M))(X),
        NotImplementedError,
        "masked_sum: expected an array with values, got one inside of mx.compile or mx.vmap",
    ),
    "vmap": (
        lambda: mx.vmap(lambda x: masked.masked_softmax(x, None))(X),
        NotImplementedError,
        "masked_softmax: expected an array with values, got one inside of mx.compile or mx.vmap",
    ),
}


@pytest.mark.parametrize(("run", "error", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_errors_say_what_was_expected(run: Callable[[], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        run()


def test_loup_does_not_import_mlx(run_python: Callable[..., Any]) -> None:
    done = run_python("import sys, loup; loup.ones(3).sum(); sys.exit('mlx' in sys.modules)")
    assert done.returncode == 0, done.stderr
