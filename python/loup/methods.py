"""Methods written in Python for the classes of the compiled module."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def method_of(owner: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a function a method of a class, also to those who ask where it is from."""

    def add(function: Callable[P, R]) -> Callable[P, R]:
        function.__module__ = owner.__module__
        function.__qualname__ = f"{owner.__qualname__}.{function.__name__}"
        setattr(owner, function.__name__, function)
        return function

    return add
