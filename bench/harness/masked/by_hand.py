"""Contestants that a user would write by hand: one table, an entry per op.

Contestants named "float mask" get the mask as floats, prepared outside the timing, and a NaN
under it reaches their result. For pooling, where that mask is small, they count as peers; where
it has as many bytes as the data they do another task: measured and reported, not counted.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import OtherTask, Peer
from ..timing import Call
from . import formulas
from .peers import torch_step, torch_tensors
from .tasks import MaskedCase

Formula = Callable[[Any, Any], Any]


def _torch(formula: Callable[[Any, MaskedCase], Formula]) -> Callable[[MaskedCase], Call]:
    """Run formula(torch, case)(x, mask) eagerly."""
    return lambda case: torch_step(formula(importlib.import_module("torch"), case), case)


def _compiled(formula: Callable[[Any, MaskedCase], Formula]) -> Callable[[MaskedCase], Call]:
    def make(case: MaskedCase) -> Call:
        torch = importlib.import_module("torch")
        torch._dynamo.reset()
        return torch_step(torch.compile(formula(torch, case), dynamic=False), case)

    return make


def _mlx(formula: Callable[[Any, MaskedCase], Formula]) -> Callable[[MaskedCase], Call]:
    """Run formula(mlx.core, case)(x, mask) compiled, on the CPU."""

    def make(case: MaskedCase) -> Call:
        mlx = importlib.import_module("mlx.core")
        mlx.set_default_device(mlx.cpu)
        x = mlx.array(case.x, dtype=getattr(mlx, case.dtype))
        mask = mlx.array(case.mask)
        mlx.eval(x, mask)
        function = formula(mlx, case)
        compiled = mlx.compile(mlx.value_and_grad(function) if case.backward else function)

        def step(x: Any, mask: Any) -> Any:
            result = compiled(x, mask)
            mlx.eval(result)
            return result[1] if case.backward else result

        return Call(step, (x, mask))

    return make


def _einsum(case: MaskedCase) -> str:
    """Return the subscripts of a masked sum, such as "ij,ij->i"."""
    rows = case.dim in (-1, None) and case.x.flags.c_contiguous and case.mask.flags.c_contiguous
    if not rows or case.backward or case.dtype == "int32" or case.mask.shape != case.x.shape:
        raise OtherTask
    letters = "ijk"[: case.x.ndim]
    gone = letters if case.dim is None else letters[case.dim]
    return f"{letters},{letters}->{''.join(c for c in letters if c not in gone)}"


def _sum_where(torch: Any, case: MaskedCase) -> Formula:
    def formula(x: Any, mask: Any) -> Any:
        return torch.where(mask, x, 0).sum(dim=case.dim)

    return formula


def _sum_product(torch: Any, case: MaskedCase) -> Formula:
    return lambda x, mask: (x * mask).sum(dim=case.dim)


def _sum_einsum(torch: Any, case: MaskedCase) -> Formula:
    subscripts = _einsum(case)
    return lambda x, mask: torch.einsum(subscripts, x, mask.to(x.dtype))


def _sum_einsum_float(case: MaskedCase) -> Call:
    torch = importlib.import_module("torch")
    x, mask = torch_tensors(case)
    return Call(torch.einsum, (_einsum(case), x, mask.to(x.dtype)))


def _sum_bmm_float(case: MaskedCase) -> Call:
    torch = importlib.import_module("torch")
    if case.lengths is None:
        raise OtherTask
    x, mask = torch_tensors(case)
    weights = mask.to(x.dtype).transpose(1, 2).contiguous()
    return Call(lambda weights, x: torch.bmm(weights, x).squeeze(1), (weights, x))


def _slices(case: MaskedCase) -> Call:
    torch = importlib.import_module("torch")
    if case.lengths is None or case.backward:
        raise OtherTask
    x, _ = torch_tensors(case)
    lengths = case.lengths.tolist()
    reduce = formulas.SLICE[case.op]

    def slices(x: Any) -> Any:
        return torch.stack([reduce(x[b, :length]) for b, length in enumerate(lengths)])

    return Call(slices, (x,))


def _sum_numpy_slices(case: MaskedCase) -> Call:
    if case.lengths is None:
        raise OtherTask
    lengths = case.lengths.tolist()

    def slices(x: Any) -> Any:
        return np.stack([x[b, :length].sum(0) for b, length in enumerate(lengths)])

    return Call(slices, (case.x,))


_ONLY_SUM: list[Peer] = [
    Peer("torch product", "torch", _torch(_sum_product)),
    Peer("torch einsum", "torch", _torch(_sum_einsum)),
    Peer("torch einsum, float mask", "torch", _sum_einsum_float, counted=False),
    Peer("torch bmm, float mask", "torch", _sum_bmm_float),
    Peer("numpy slices", "numpy", _sum_numpy_slices),
]


def by_hand(op: str) -> list[Peer]:
    """Return the contestants that a user would write for this op."""
    found = list(_ONLY_SUM) if op == "sum" else []
    formula = _sum_where if op == "sum" else formulas.TORCH.get(op)
    if formula is not None:
        found.append(Peer("torch where", "torch", _torch(formula)))
        found.append(Peer("torch.compile", "torch", _compiled(formula)))
    if op in formulas.SLICE:
        found.append(Peer("torch slices", "torch", _slices))
    if op in formulas.MLX:
        found.append(Peer("mlx", "mlx", _mlx(formulas.MLX[op])))
    return found
