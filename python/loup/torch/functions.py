"""The functions of torch.masked, made from the operators that loup shares with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch
import torch.masked
from torch.autograd import forward_ad
from torch.masked import is_masked_tensor

from loup import _loup, masked
from loup.torch.exchange import (
    DTYPES,
    PLAIN,
    is_shareable,
    refuse_transformed,
    to_loup,
    to_torch,
    without_class,
)
from loup.torch.gradients import Call, apply

DType: TypeAlias = torch.dtype | None

# What a first gradient is computed from, apart from the mask and its own gradient.
_READ_INPUT = {"prod", "amax", "amin", "logsumexp", "var", "std", "norm", "normalize", "cumprod"}
_READ_OUTPUT = {"amax", "amin", "logsumexp", "std", "norm", "cumprod"}
_READ_OUTPUT |= {"softmax", "log_softmax", "softmin"}


class ArgumentTypeError(TypeError, AttributeError):
    """Something that is no tensor; torch.masked fails on its attributes."""


class UnsupportedDTypeError(_loup.DTypeError, NotImplementedError):
    """A dtype without a kernel; torch.masked has no implementation for it either."""


class ConflictError(_loup.ValueError, AssertionError):
    """Arguments that exclude each other; torch.masked asserts that they do not come together."""


def _floats_only(inputs: tuple[torch.Tensor, ...], dtype: DType) -> DType:
    if not (dtype or inputs[0].dtype).is_floating_point:
        raise _loup.ValueError(
            f"mean: expected a floating point dtype, got {dtype or inputs[0].dtype}; "
            "give dtype=torch.float32"
        )
    return dtype


def _integers_stay(inputs: tuple[torch.Tensor, ...], dtype: DType) -> DType:
    own = inputs[0].dtype
    is_integer = not own.is_floating_point and own is not torch.bool
    return own if dtype is None and is_integer else dtype


def _first_decides(inputs: tuple[torch.Tensor, ...], dtype: DType) -> DType:
    return inputs[0].dtype if dtype is None and inputs[1].dtype != inputs[0].dtype else dtype


# Where torch.masked has another rule than loup, and one that loses nothing.
_DTYPE_RULES: dict[str, Callable[[tuple[torch.Tensor, ...], DType], DType]] = {
    "mean": _floats_only,
    "cumsum": _integers_stay,
    "cumprod": _integers_stay,
    "logaddexp": _first_decides,
}


class Operator:
    """One function of torch.masked, and loup's operator of that name."""

    def __init__(self, name: str, *, is_differentiable: bool) -> None:
        self.name = name
        self.ours: Callable[..., _loup.Tensor] = getattr(masked, name)
        self.theirs: Callable[..., torch.Tensor] = getattr(torch.masked, name)
        self.signature = inspect.signature(self.theirs)
        self.keywords = self.signature.parameters.keys()
        self.is_differentiable = is_differentiable
        self.reads = (name in _READ_INPUT, name in _READ_OUTPUT)
        self.dtype_rule = _DTYPE_RULES.get(name)

    def call(
        self,
        inputs: tuple[Any, ...],
        arguments: tuple[object, ...],
        masks: Mapping[str, Any],
        options: dict[str, Any],
    ) -> Any:
        """The result for inputs and masks as torch.masked takes them."""
        if not options.keys() <= self.keywords:
            unknown = ", ".join(sorted(options.keys() - self.keywords))
            raise TypeError(
                f"{self.name}: expected arguments {', '.join(self.keywords)}, got {unknown}"
            )
        tensors = (*inputs, *masks.values())
        for x in tensors:
            if type(x) not in PLAIN:
                return self._call_with_others(inputs, arguments, masks, options)
        try:
            return self._run(inputs, arguments, masks, dict(options))
        except Exception as error:
            if all(map(is_shareable, tensors)) and options.get("dtype") in (None, *DTYPES):
                raise self._as_torch_would(error, options) from None
        refuse_transformed(tensors)
        if all(map(is_shareable, inputs)):  # then it is the mask: torch makes it dense, too
            dense = {key: mask.to_dense() for key, mask in masks.items()}
            if all(map(is_shareable, dense.values())) and options.get("dtype") in (None, *DTYPES):
                return self.call(inputs, arguments, dense, options)
        return self.theirs(*inputs, *arguments, **masks, **options)

    def _run(
        self,
        inputs: tuple[torch.Tensor, ...],
        arguments: tuple[object, ...],
        masks: Mapping[str, torch.Tensor],
        options: dict[str, Any],
    ) -> Any:
        dtype = options.get("dtype")
        if self.dtype_rule is not None:
            dtype = self.dtype_rule(inputs, dtype)
        if dtype is not None:
            options["dtype"] = DTYPES[dtype]
        if "keepdim" in options:
            options["keepdim"] = bool(options["keepdim"])
        kept = []
        for key, mask in masks.items():
            counts = mask if mask.dtype is torch.bool else mask.bool()
            kept.append(counts)
            options[key] = to_loup(counts)
        if self._is_recorded(inputs):
            call = Call(self.ours, arguments, options, kept, self.reads)
            return apply(call, *inputs)
        return to_torch(self.ours(*map(to_loup, inputs), *arguments, **options))

    def _is_recorded(self, inputs: tuple[torch.Tensor, ...]) -> bool:
        if not self.is_differentiable:
            return False
        if forward_ad._current_level >= 0:  # a record refuses tangents, instead of losing them
            return True
        return torch.is_grad_enabled() and any(x.requires_grad for x in inputs)

    def _call_with_others(
        self,
        inputs: tuple[Any, ...],
        arguments: tuple[object, ...],
        masks: Mapping[str, Any],
        options: dict[str, Any],
    ) -> Any:
        """The same where not everything is a plain tensor."""
        names = list(self.signature.parameters)[: len(inputs)]
        for name, x in [*zip(names, inputs, strict=True), *masks.items()]:
            if not isinstance(x, torch.Tensor):
                raise ArgumentTypeError(
                    f"{self.name}: expected {name} as a torch tensor, got {type(x).__name__}"
                )
        plain, counts = list(inputs), dict(masks)
        for i, x in enumerate(inputs):
            if is_masked_tensor(x) and x.layout is torch.strided:
                key = "mask" if len(inputs) == 1 else f"{names[i]}_mask"
                plain[i], own = _parts(x)
                counts[key] = _both(self.name, own, counts.get(key))
        plain = [without_class(x) for x in plain]
        counts = {key: without_class(mask) for key, mask in counts.items()}
        if all(type(x) in PLAIN for x in (*plain, *counts.values())):
            return self.call(tuple(plain), arguments, counts, options)
        return self.theirs(*inputs, *arguments, **masks, **options)

    def _as_torch_would(self, error: Exception, options: dict[str, Any]) -> Exception:
        """The error as one that is also of the class which torch.masked raises."""
        text = str(error)
        if isinstance(error, _loup.DTypeError) and self.name in _WITHOUT_INTEGERS:
            return UnsupportedDTypeError(text)
        if isinstance(error, _loup.ValueError) and "correction" in options and "unbiased" in text:
            return ConflictError(text)
        return error


_WITHOUT_INTEGERS = {"softmax", "log_softmax", "softmin", "logaddexp"}


def _parts(x: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return x.get_data(), x.get_mask()


def _both(name: str, own: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    if mask is None:
        return own
    if mask.ndim > own.ndim:
        raise _loup.IndexError(
            f"{name}: expected a mask of at most {own.ndim} dims, got {mask.ndim}"
        )
    return own & mask.bool().expand(own.shape)


def _function_of(operator: Operator) -> Callable[..., Any]:
    def function(input: Any, *arguments: object, mask: Any = None, **options: Any) -> Any:
        masks = {} if mask is None else {"mask": mask}
        return operator.call((input,), arguments, masks, options)

    return function


def _pair_function_of(operator: Operator) -> Callable[..., Any]:
    def function(
        input: Any, other: Any, *, input_mask: Any = None, other_mask: Any = None, **options: Any
    ) -> Any:
        both = {"input_mask": input_mask, "other_mask": other_mask}
        masks = {key: mask for key, mask in both.items() if mask is not None}
        return operator.call((input, other), (), masks, options)

    return function


def _functions() -> dict[str, Callable[..., Any]]:
    functions = {}
    for op in _loup.ops():
        name = op["name"]
        if not op["masked"] or name not in torch.masked.__all__:
            continue
        operator = Operator(name, is_differentiable=op["differentiable"])
        is_pair = "other" in operator.keywords
        function = (_pair_function_of if is_pair else _function_of)(operator)
        function.__name__ = function.__qualname__ = name
        function.__module__ = "loup.torch"
        function.__doc__ = f"{op['summary']} As torch.masked.{name}, on loup's kernels."
        function.__signature__ = operator.signature  # type: ignore[attr-defined]
        functions[name] = function
    return functions


table = _functions()
