"""Gradients: of chosen tensors, switched on and off, and checked by finite differences."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar, overload

from loup._loup import (
    MaskedTensor,
    Tensor,
    autograd_backward,
    autograd_grad,
    autograd_record,
    is_grad_enabled,
)
from loup.gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "GradcheckError",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]

P = ParamSpec("P")
R = TypeVar("R")
Tensors = Tensor | MaskedTensor | Sequence[Tensor | MaskedTensor]


@overload
def grad(
    outputs: Tensors,
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]: ...
@overload
def grad(
    outputs: Tensors,
    inputs: MaskedTensor | Sequence[MaskedTensor],
    grad_outputs: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[MaskedTensor | None, ...]: ...
@overload
def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | MaskedTensor | None, ...]: ...
def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | MaskedTensor | None, ...]:
    """The gradients of the sum of outputs with respect to inputs, leaves or not.

    No tensor collects anything in its grad, and only what lies between the two is run.
    grad_outputs holds a gradient for each output, or None for one of a single element. The record
    is released unless retain_graph says otherwise; with create_graph it is retained, and the
    results can be differentiated again. An input that was not used is an error, or has the
    gradient None with allow_unused.

    All of them may be masked. The gradient of a masked input is masked, too: it has a copy of the
    input's mask and zeros under it. Something flows only from where both an output and its
    gradient count.
    """
    return autograd_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused)


def backward(
    tensors: Tensors,
    grad_tensors: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of all tensors to the leaves they were computed from, or to inputs.

    All of them may be masked: something flows only from where a tensor and its gradient count.
    """
    autograd_backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


class _Switch:
    """A context in which operations are recorded, or not; also a decorator of functions."""

    def __init__(self, records: bool) -> None:
        self._records = records
        self._previous: list[bool] = []  # one object may be entered twice

    def __enter__(self) -> None:
        self._previous.append(autograd_record(self._records))

    def __exit__(self, *args: object) -> None:
        autograd_record(self._previous.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise TypeError(
                f"{type(self).__name__}: expected a plain function, got {function.__name__}, which "
                "is suspended while others run; use a with block inside of it"
            )
        records = self._records

        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            before = autograd_record(records)
            try:
                return function(*args, **kwargs)
            finally:
                autograd_record(before)

        return wrapped


class no_grad(_Switch):  # noqa: N801  (the name that users know)
    """A context or decorator in which nothing is recorded for gradients."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_Switch):  # noqa: N801
    """A context or decorator in which operations are recorded, also inside of no_grad."""

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_Switch):  # noqa: N801
    """Switches recording on or off at once; used as a context, only until its end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._before: bool | None = autograd_record(self._records)

    def __enter__(self) -> None:
        super().__enter__()
        if self._before is not None:
            self._previous[-1], self._before = self._before, None

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        if self._before is not None:
            autograd_record(self._before)
            self._before = None
        return super().__call__(function)
