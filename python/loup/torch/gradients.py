"""Gradients of any order: torch asks, loup's own record answers.

A call keeps loup's record of itself. Its backward pulls a gradient back through that record. When
torch wants to differentiate once more, the pullback is a call in turn, run again from the inputs
and recorded; so there is one kind of node for all orders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.masked import is_masked_tensor

from loup import _loup
from loup.creation import zeros
from loup.torch.exchange import PLAIN, refuse_transformed, to_loup, to_torch, without_class

Tensors = Sequence[_loup.Tensor]

_keeps_graph = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", lambda: True)


class Call:
    """An operator with all its arguments but the inputs.

    It lists the tensors whose change between forward and backward would make gradients wrong.
    """

    __slots__ = ("arguments", "function", "masks", "options", "reads_input", "reads_output")

    def __init__(
        self,
        function: Callable[..., _loup.Tensor],
        arguments: tuple[object, ...],
        options: dict[str, object],
        masks: Sequence[torch.Tensor],
        reads: tuple[bool, bool],
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.options = options
        self.masks = masks
        self.reads_input, self.reads_output = reads

    def __call__(self, inputs: Tensors) -> Tensors:
        return (self.function(*inputs, *self.arguments, **self.options),)

    def saves(
        self, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        read = [*self.masks]
        if self.reads_input:
            read += inputs
        if self.reads_output:
            read += outputs
        return read


class Pullback:
    """From gradients of a call's outputs, followed by its inputs, to gradients of the inputs."""

    __slots__ = ("call", "count", "wanted")

    def __init__(self, call: Call | Pullback, count: int, wanted: Sequence[bool]) -> None:
        self.call = call
        self.count = count
        self.wanted = wanted

    def __call__(self, inputs: Tensors) -> Tensors:
        gradients, rest = inputs[: self.count], list(inputs[self.count :])
        for i, is_wanted in enumerate(self.wanted):
            if is_wanted and not rest[i].requires_grad:
                rest[i] = rest[i].detach().requires_grad_()
        chosen = [x for x, is_wanted in zip(rest, self.wanted, strict=True) if is_wanted]
        return _pull(self.call(rest), chosen, gradients, retain=True, create=True)

    def saves(
        self, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        return [*inputs, *outputs]


def _pull(
    outputs: Tensors, inputs: Tensors, gradients: Tensors, *, retain: bool, create: bool
) -> Tensors:
    recorded = [i for i, y in enumerate(outputs) if y.requires_grad]
    if not recorded:
        return [zeros(x.shape, x.dtype) for x in inputs]
    if len(recorded) < len(outputs):
        outputs = [outputs[i] for i in recorded]
        gradients = [gradients[i] for i in recorded]
    found = _loup.autograd_grad(outputs, inputs, gradients, retain, create, True)
    return [
        g if isinstance(g, _loup.Tensor) else zeros(x.shape, x.dtype)
        for g, x in zip(found, inputs, strict=True)
    ]


class Recorded(torch.autograd.Function):
    """A call of loup as a node of torch's graph."""

    @staticmethod
    def forward(ctx: Any, call: Call | Pullback, *inputs: torch.Tensor) -> Any:
        leaves = [to_loup(x) for x in inputs]
        before = _loup.autograd_record(True)
        try:
            for i, is_needed in enumerate(ctx.needs_input_grad[1:]):
                if is_needed:
                    leaves[i].requires_grad_()
            made = call(leaves)
        finally:
            _loup.autograd_record(before)
        outputs = tuple([to_torch(y.detach()) for y in made])
        saved = call.saves(inputs, outputs)
        ctx.save_for_backward(*saved)
        ctx.call, ctx.record, ctx.is_guarded = call, (made, leaves), bool(saved)
        ctx.inputs, ctx.versions = inputs, [x._version for x in inputs]
        for output in outputs:
            if not output.is_floating_point():
                ctx.mark_non_differentiable(output)
        return outputs if len(outputs) > 1 else outputs[0]

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        if ctx.is_guarded:
            _ = ctx.saved_tensors  # torch refuses what was changed or released
        wanted = ctx.needs_input_grad[1:]
        gradients = tuple([_plain(g) for g in gradients])
        if torch.is_grad_enabled():  # create_graph=True
            _refuse_changes(ctx)
            pullback = Pullback(ctx.call, len(gradients), wanted)
            found = apply(pullback, *gradients, *ctx.inputs)
            found = iter(found if isinstance(found, tuple) else (found,))
        else:
            given = [to_loup(g) for g in gradients]
            outputs, leaves = ctx.record
            # Torch, too, can go back twice through what it saved nothing for.
            retain = not ctx.is_guarded or _keeps_graph()
            if not retain:
                ctx.record = ctx.inputs = None
            chosen = [leaves[i] for i, is_wanted in enumerate(wanted) if is_wanted]
            found = map(to_torch, _pull(outputs, chosen, given, retain=retain, create=False))
        return (None, *[next(found) if is_wanted else None for is_wanted in wanted])

    @staticmethod
    def jvp(ctx: Any, *tangents: object) -> Any:
        raise NotImplementedError(
            "loup.torch: expected gradients in backward mode, got a forward-mode tangent"
        )


# Function.apply itself serves the transforms of torch.func, and then comes down to this.
_apply: Callable[..., Any] = super(torch.autograd.Function, Recorded).apply


def apply(call: Call | Pullback, *inputs: torch.Tensor) -> Any:
    """Run a call as a node of torch's graph."""
    refuse_transformed(inputs)
    return _apply(call, *inputs)


def _plain(gradient: Any) -> torch.Tensor:
    """A gradient that is in memory; what a MaskedTensor hides is zero."""
    if type(gradient) in PLAIN:
        return gradient.clone() if gradient._is_zerotensor() else gradient
    if is_masked_tensor(gradient):
        parts: Any = gradient
        return torch.where(parts.get_mask(), parts.get_data(), 0)
    plain = without_class(gradient)
    if type(plain) not in PLAIN:
        raise NotImplementedError(
            f"loup.torch: expected a gradient with elements, got {type(gradient).__name__}"
        )
    return plain


def _refuse_changes(ctx: Any) -> None:
    """Higher orders run the call again from its inputs, whether or not the first order read them."""
    for x, version in zip(ctx.inputs, ctx.versions, strict=True):
        if x._version != version:
            raise RuntimeError(
                "loup.torch: expected inputs as they were in the forward pass, got one modified by "
                f"an inplace operation, at version {x._version} instead of {version}"
            )
