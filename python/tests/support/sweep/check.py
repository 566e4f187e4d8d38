"""One case through loup: against the reference, with poison, as a MaskedTensor, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import loup
from sweep import numpy_peer, torch_peer
from sweep.cases import FLOATS, OPS, Case
from sweep.operands import Array, Operands, make
from sweep.reference import Expected, Refused, cast, expected

GRADIENT_EVERY = 3  # a gradient takes longer than all else
ERRORS = {
    "IndexError": loup.IndexError,
    "RuntimeError": loup.ShapeError,
    "ValueError": loup.ValueError,
}


def as_loup(x: Array, dtype: str) -> loup.Tensor:
    """x as a tensor of the case's dtype, over the same memory where that is possible."""
    tensor = loup.asarray(x)
    return tensor.to(dtype) if dtype == "bfloat16" else tensor


def is_floating(x: loup.Tensor) -> bool:
    return any(x.dtype == name for name in FLOATS)


def as_numpy(x: loup.Tensor) -> Array:
    return np.asarray(x.double() if is_floating(x) else x)


def call(case: Case, x: Any, mask: Any) -> loup.Tensor:
    """Call the operator as the case says."""
    options = {key: value for key, value in case.options.items() if key not in ("dtype", "ord")}
    if "dtype" in case.options or case.op in ("softmax", "log_softmax", "softmin"):
        options["dtype"] = cast(case)
    if mask is not None:
        options["mask"] = mask
    function = getattr(loup.masked, case.op)
    if "ord" in case.options:
        return function(x, case.options["ord"], case.dims, **options)
    return function(x, case.dims, **options)


def agree(got: loup.Tensor, want: Expected) -> str | None:
    """What is wrong with a result; None if nothing is."""
    if got.dtype != want.dtype:
        return f"expected {want.dtype}, got {got.dtype}"
    if got.shape != want.values.shape:
        return f"expected shape {want.values.shape}, got {got.shape}"
    if not got.is_contiguous():
        return "expected a contiguous result"
    values = as_numpy(got)
    same = (values == want.values) | ((values != values) & (want.values != want.values))
    with np.errstate(all="ignore"):
        near = np.abs(values.astype(np.float64) - want.values.astype(np.float64)) <= want.bound
    if not (same | near).all():
        return f"expected {want.values.tolist()}, got {values.tolist()}, bound {want.bound.max()}"
    return None


def bits(x: loup.Tensor) -> bytes:
    return np.asarray(x.float() if x.dtype == "bfloat16" else x).tobytes()


def _gradient(case: Case, x: Array, mask: Any, weights: Array) -> loup.Tensor:
    leaf = as_loup(x, case.dtype).detach().requires_grad_()
    y = call(case, leaf, mask)
    y.backward(loup.asarray(weights.reshape(y.shape)).to(y.dtype))
    assert leaf.grad is not None
    return leaf.grad


def _check_gradients(operands: Operands, mask: Any, count: int) -> str | None:
    case = operands.case
    weights = np.random.default_rng(case.number).uniform(0.5, 1.5, count)
    clean = _gradient(case, operands.x, mask, weights)
    values = as_numpy(clean)
    if (values[~operands.counts] != 0).any():
        return f"expected gradient 0 where nothing counts, got {values.tolist()}"
    for poisoned in operands.poisoned():
        dirty = _gradient(case, poisoned, mask, weights)
        if bits(dirty) != bits(clean):
            return f"expected the same gradient with poison, got {as_numpy(dirty).tolist()}"
    return torch_peer.gradient_differs(operands, values, weights)


def check(case: Case) -> tuple[str | None, list[str]]:
    """Return what is wrong, if anything, and which peers had a say."""
    operands = make(case)
    mask = None if operands.mask is None else loup.asarray(operands.mask)
    x = as_loup(operands.x, case.dtype)
    try:
        want = expected(operands)
    except Refused as refused:
        try:
            call(case, x, mask)
        except ERRORS[str(refused)]:
            return None, []
        return f"expected {refused}, got a result", []
    got = call(case, x, mask)
    wrong = agree(got, want)
    if wrong:
        return wrong, []
    for poisoned in operands.poisoned():
        if bits(call(case, as_loup(poisoned, case.dtype), mask)) != bits(got):
            return f"expected the same bits with poison {poisoned.tolist()}", []
    if mask is not None:
        whole = loup.asarray(operands.counts.copy())
        masked = call(case, loup.as_masked_tensor(x, whole), None)
        # Its mask lies in memory in another way, so elements may be added in another order.
        wrong = agree(masked.get_data(), want)
        if wrong:
            return f"as a MaskedTensor: {wrong}", []
    peers = []
    for peer in (numpy_peer, torch_peer):
        other = peer.result(operands)
        if other is not None:
            peers.append(peer.NAME)
            wrong = peer.differs(operands, as_numpy(got), other)
            if wrong:
                return wrong, peers
    is_smooth = OPS[case.op].differentiable and case.options.get("ord") != 0
    if is_smooth and is_floating(got) and is_floating(x) and case.number % GRADIENT_EVERY == 0:
        return _check_gradients(operands, mask, want.values.size), peers
    return None, peers
