"""logaddexp, which has two operands and a mask for each."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import loup
from sweep import torch_peer
from sweep.cases import FLOATS, MASKS, SHAPES, STRIDES, VALUES, Case
from sweep.check import agree, as_loup, as_numpy, bits
from sweep.operands import Array, Operands, make
from sweep.reference import EPS, Expected, nearest_bfloat16

torch: Any = torch_peer.torch


def cases(count: int) -> Iterator[Case]:
    """Yield `count` cases, always the same ones."""
    every = list(itertools.product(FLOATS, SHAPES, STRIDES, MASKS, VALUES))
    for number in sorted(random.Random("logaddexp").sample(range(len(every)), count)):
        dtype, shape, strides, mask, values = every[number]
        yield Case("logaddexp", dtype, shape, 0, strides, mask, values, {}, number)


def _second(case: Case) -> Operands:
    """Another operand of the same shape, laid out and masked in another way."""
    shift = case.number // 7
    return make(
        replace(
            case,
            strides=STRIDES[shift % len(STRIDES)],
            mask=MASKS[shift % len(MASKS)],
            number=case.number + 1_000_000,
        )
    )


def _expected(a: Operands, b: Operands) -> Expected:
    x = np.where(a.counts, a.x.astype(np.float64), -np.inf)
    y = np.where(b.counts, b.x.astype(np.float64), -np.inf)
    with np.errstate(all="ignore"):
        want = np.logaddexp(x, y)
    dtype = a.case.dtype
    bound = EPS[dtype] * (8 + 4 * np.abs(np.where(np.isfinite(want), want, 0)))
    stored = want.astype(np.float32 if dtype == "bfloat16" else dtype)
    if dtype == "bfloat16":
        stored = nearest_bfloat16(stored)
    return Expected(stored.astype(np.float64), dtype, bound)


def _mask(operands: Operands) -> loup.Tensor | None:
    return None if operands.mask is None else loup.asarray(operands.mask)


def _call(a: Operands, b: Operands, x: Any, y: Any) -> loup.Tensor:
    return loup.masked.logaddexp(x, y, input_mask=_mask(a), other_mask=_mask(b))


def _gradients(a: Operands, b: Operands, x: Array, y: Array) -> list[loup.Tensor]:
    dtype = a.case.dtype
    leaves = [as_loup(each, dtype).detach().requires_grad_() for each in (x, y)]
    _call(a, b, *leaves).sum().backward()
    return [leaf.grad for leaf in leaves if leaf.grad is not None]


def check(case: Case) -> tuple[str | None, list[str]]:
    """Return what is wrong, if anything, and which peers had a say."""
    a, b = make(case), _second(case)
    got = _call(a, b, as_loup(a.x, case.dtype), as_loup(b.x, case.dtype))
    wrong = agree(got, _expected(a, b))
    if wrong:
        return wrong, []
    poisoned = list(zip(a.poisoned(), b.poisoned(), strict=True))
    for x, y in poisoned:
        if bits(_call(a, b, as_loup(x, case.dtype), as_loup(y, case.dtype))) != bits(got):
            return "expected the same bits with poison", []
    clean = _gradients(a, b, a.x, b.x)
    for grad, operands in zip(clean, (a, b), strict=True):
        if (as_numpy(grad)[~operands.counts] != 0).any():
            return "expected gradient 0 where nothing counts", []
    for x, y in poisoned:
        dirty = _gradients(a, b, x, y)
        if [bits(each) for each in dirty] != [bits(each) for each in clean]:
            return "expected the same gradients with poison", []
    if torch is None or case.dtype != "float64" or case.values == "special":
        return None, []
    tensors = [torch.from_numpy(np.array(each.x)) for each in (a, b)]
    masks = [torch.from_numpy(each.counts.copy()) for each in (a, b)]
    theirs = torch.masked.logaddexp(*tensors, input_mask=masks[0], other_mask=masks[1]).numpy()
    is_right = np.allclose(as_numpy(got), theirs, rtol=1e-12, atol=1e-12)
    return (None if is_right else f"expected torch's {theirs.tolist()}"), [torch_peer.NAME]
