"""The functions of torch.masked, made from the operators that loup shares with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.masked
from torch.autograd import forward_ad
from torch.masked import is_masked_tensor

from loup import _loup, masked
from loup.torch.exchange import (
    DTYPES,
    PLAIN,
    is_shareable,
    mask_to_loup,
    to_loup,
    to_torch,
    without_class,
)
from loup.torch.gradients import Call, apply
from loup.torch.rules import DTYPE_RULES, ArgumentTypeError, as_torch_would

# What a first gradient is computed from, apart from the mask and its own gradient.
_READ_INPUT = {"prod", "amax", "amin", "logsumexp", "var", "std", "norm", "normalize", "cumprod"}
_READ_OUTPUT = {"amax", "amin", "logsumexp", "std", "norm", "cumprod"}
_READ_OUTPUT |= {"softmax", "log_softmax", "softmin"}

_trace = torch._C._get_tracing_state
_modes = torch._C._len_torch_dispatch_stack
_is_transforming = torch._C._are_functorch_transforms_active


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
        self.dtype_rule = DTYPE_RULES.get(name)

    def call(
        self,
        inputs: tuple[Any, ...],
        arguments: tuple[object, ...],
        masks: Mapping[str, Any],
        options: dict[str, Any],
    ) -> Any:
        """The result for inputs and masks as torch.masked takes them."""
        # Who watches torch's operations would take loup's numbers for constants.
        if _trace() is not None or _modes() or forward_ad._current_level >= 0:
            return self.theirs(*inputs, *arguments, **masks, **options)
        for x in inputs + tuple(masks.values()):
            if type(x) not in PLAIN:
                return self._call_with_others(inputs, arguments, masks, options)
        try:
            given = self._translated(options) if options else {}
            taken = inputs
            if self.dtype_rule is not None:
                taken, dtype = self.dtype_rule(inputs, options.get("dtype"))
                if dtype is not None:
                    given["dtype"] = DTYPES[dtype]
            for x in taken:
                if x.requires_grad and self.is_differentiable and torch.is_grad_enabled():
                    if _is_transforming():  # torch.func does not take our nodes
                        return self.theirs(*inputs, *arguments, **masks, **options)
                    return self._record(taken, arguments, masks, given)
            last: Any = None
            for key, mask in masks.items():
                if mask is not last:  # the operands of a pair often share one
                    last, lent = mask, mask_to_loup(mask)
                given[key] = lent
            # Written out: to unpack the operands from a list takes 0.15 µs.
            if len(taken) == 1:
                return to_torch(self.ours(to_loup(taken[0]), *arguments, **given))
            return to_torch(self.ours(to_loup(taken[0]), to_loup(taken[1]), **given))
        except Exception as error:
            if _are_shareable(inputs, masks, options):
                raise as_torch_would(self.name, error, options) from None
        if _are_shareable(inputs, {}, options):  # then it is the mask: torch makes it dense, too
            dense = {key: mask.to_dense() for key, mask in masks.items()}
            if _are_shareable(inputs, dense, options):
                return self.call(inputs, arguments, dense, options)
        return self.theirs(*inputs, *arguments, **masks, **options)

    def _translated(self, options: dict[str, Any]) -> dict[str, Any]:
        if not options.keys() <= self.keywords:
            unknown = ", ".join(sorted(options.keys() - self.keywords))
            raise TypeError(
                f"{self.name}: expected arguments {', '.join(self.keywords)}, got {unknown}"
            )
        given = {**options}
        if options.get("dtype") is not None:
            given["dtype"] = DTYPES[options["dtype"]]
        if "keepdim" in options:
            given["keepdim"] = bool(options["keepdim"])
        return given

    def _record(
        self,
        inputs: tuple[torch.Tensor, ...],
        arguments: tuple[object, ...],
        masks: Mapping[str, torch.Tensor],
        given: dict[str, Any],
    ) -> Any:
        kept = []
        for key, mask in masks.items():
            kept.append(mask.bool())
            given[key] = mask_to_loup(kept[-1])
        call = Call(self.ours, arguments, given, kept, self.reads)
        return apply(call, *inputs)

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


def _are_shareable(
    inputs: tuple[torch.Tensor, ...], masks: Mapping[str, torch.Tensor], options: dict[str, Any]
) -> bool:
    tensors = (*inputs, *masks.values())
    return options.get("dtype") in (None, *DTYPES) and all(map(is_shareable, tensors))


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


# --- the functions, by what they make of their arguments ---


def _function_of(operator: Operator) -> Callable[..., Any]:
    def function(input: Any, *arguments: object, mask: Any = None, **options: Any) -> Any:
        masks = {} if mask is None else {"mask": mask}
        return operator.call((input,), arguments, masks, options)

    return function


def _product_of(operator: Operator) -> Callable[..., Any]:
    reduce = _function_of(operator)

    def function(input: Any, dim: Any = None, **options: Any) -> Any:
        if type(dim) is list and not dim:  # no dims; elsewhere, as (), it is all of them
            return operator.theirs(input, dim, **options)
        return reduce(input, dim, **options)

    return function


def _deviation_of(operator: Operator) -> Callable[..., Any]:
    reduce = _function_of(operator)

    def function(input: Any, dim: Any = None, unbiased: Any = None, **options: Any) -> Any:
        if unbiased is not None:
            unbiased = bool(unbiased)
        if options.get("correction") is not None:
            options["correction"] = torch.sym_float(options["correction"])
        return reduce(input, dim, unbiased, **options)

    return function


def _pair_function_of(operator: Operator) -> Callable[..., Any]:
    def function(
        input: Any, other: Any, *, input_mask: Any = None, other_mask: Any = None, **options: Any
    ) -> Any:
        masks = {} if input_mask is None else {"input_mask": input_mask}
        if other_mask is not None:
            masks["other_mask"] = other_mask
        return operator.call((input, other), (), masks, options)

    return function


_MAKERS = {
    "prod": _product_of,
    "var": _deviation_of,
    "std": _deviation_of,
    "logaddexp": _pair_function_of,
}


def _functions() -> dict[str, Callable[..., Any]]:
    functions = {}
    for op in _loup.ops():
        name = op["name"]
        if not op["masked"] or name not in torch.masked.__all__:
            continue
        operator = Operator(name, is_differentiable=op["differentiable"])
        function = _MAKERS.get(name, _function_of)(operator)
        function.__name__ = function.__qualname__ = name
        function.__module__ = "loup.torch"
        function.__doc__ = f"{op['summary']} As torch.masked.{name}, on loup's kernels."
        function.__annotations__ = dict(operator.theirs.__annotations__)
        function.__kwdefaults__ = dict(operator.theirs.__kwdefaults__ or {})
        function.__signature__ = operator.signature  # type: ignore[attr-defined]
        functions[name] = function
    return functions


table = _functions()
