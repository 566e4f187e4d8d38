"""How a row becomes a call of a library: its functions, arrays and dtypes."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import NotOffered, OtherTask
from ..timing import Call
from .data import DType
from .row import ByName, Spelling, TensorCase, mapped

# Where a library keeps functions that have the name of an op.
PLACES = {"loup": ("", "Tensor."), "torch": ("", "special.", "nn.functional.", "Tensor.")}


def _at(library: str, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), importlib.import_module(library))


def function_of(case: TensorCase, library: str) -> Callable[..., Any]:
    """Return the function that a library does the row with, or raise."""
    spelling: Spelling = getattr(case.row, library)
    if spelling is None:
        raise OtherTask
    if callable(spelling):
        return spelling
    names = [case.op, *case.aliases] if isinstance(spelling, ByName) else [spelling]
    for name in names:
        for place in PLACES.get(library, ("",)):
            try:
                function: Callable[..., Any] = _at(library, place + name)
                return function
            except AttributeError:
                continue
    if library == "loup" or not isinstance(spelling, ByName):
        raise NotOffered(f"has no {names[0]}")
    raise OtherTask


def has(case: TensorCase, library: str) -> bool:
    """Tell whether a library has a way to do the row."""
    try:
        function_of(case, library)
    except (NotOffered, OtherTask):
        return False
    return True


def _dtype(library: str, name: str) -> Any:
    if library == "numpy" and name == "bfloat16":
        library = "ml_dtypes"  # comes with jax
    try:
        return _at(library, "bool_" if library == "numpy" and name == "bool" else name)
    except ImportError as error:
        raise NotOffered(f"has no {name}") from error


def _array(library: str, array: np.ndarray[Any, Any]) -> Any:
    if library == "loup":
        return importlib.import_module("loup").asarray(array)
    if library == "torch":
        return importlib.import_module("torch").from_numpy(array)
    if library == "jax":
        return importlib.import_module("jax.numpy").asarray(array)
    return array


def call_of(case: TensorCase, library: str) -> Call:
    """Return the call of a row in a library; arrays are shared where they are only read."""

    def convert(value: Any) -> Any:
        if isinstance(value, DType):
            return _dtype(library, value)
        return _array(library, value) if isinstance(value, np.ndarray) else value

    function = function_of(case, library)
    args = list(case.args)
    if case.row.writes:
        args[0] = args[0].copy(order="K")
    converted = tuple(mapped(convert, value) for value in args)
    kwargs = {name: mapped(convert, value) for name, value in case.row.kwargs.items()}
    return Call(function, converted, kwargs)
