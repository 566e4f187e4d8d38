"""A row: the arguments of a call, and how each library spells it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..case import Array, Case
from .data import Arguments


@dataclass(frozen=True)
class ByName:
    """The function of the op's name, or of one of its aliases."""


# A function, or the dotted name of one inside the library; None where the library has none.
Spelling = str | Callable[..., Any] | ByName | None

BY_NAME = ByName()


@dataclass(frozen=True)
class Row:
    """How a task of the tensor's own operators is measured."""

    args: Arguments
    kwargs: dict[str, Any] = field(default_factory=dict)
    loup: Spelling = BY_NAME
    numpy: Spelling = BY_NAME
    torch: Spelling = BY_NAME
    jax: Spelling = None
    # What is right, in NumPy, on float64; by default NumPy's own or else torch's result.
    reference: Spelling = BY_NAME
    dtype: str = "float32"  # of the results, for the errors they may have
    is_checked: bool = True  # false where results are random
    is_exact: bool = False  # right is what NumPy computes in the same dtype
    writes: bool = False  # the first argument is written; every library has its own
    bound: float | None = None  # the largest error, where it is not that of the dtype
    has_limit: bool = False
    note: str = ""


@dataclass(kw_only=True)
class TensorCase(Case):
    """A row with its data."""

    family: str
    aliases: tuple[str, ...]
    row: Row
    args: tuple[Any, ...]

    def details(self) -> dict[str, Any]:
        shapes = [list(array.shape) for array in arrays_in(self.args)]
        return {"shapes": shapes, "dtype": self.dtype}


def arrays_in(values: Iterable[Any]) -> list[Array]:
    """Return the arrays among arguments and inside their lists."""
    found: list[Array] = []
    for value in values:
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += arrays_in(value)
    return found


def mapped(convert: Callable[[Any], Any], value: Any) -> Any:
    """Return an argument with its leaves converted."""
    if isinstance(value, list | tuple):
        return type(value)(mapped(convert, each) for each in value)
    return convert(value)
