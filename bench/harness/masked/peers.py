"""Contestants found by the name of the op: loup, NumPy and the libraries that are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import NotOffered, Peer
from ..floors import NUMPY_WHERE, TORCH_MASKED
from ..timing import Call
from .reference import TORCH_KEYWORDS, WHERE_KEYWORDS
from .tasks import MaskedCase


def _offered(module: Any, op: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = getattr(module, op, None)
    if function is None:
        raise NotOffered(f"has no {op}")
    return function


def ours(case: MaskedCase) -> Call:
    """Return the call of loup itself."""
    loup = importlib.import_module("loup")
    function = _offered(loup.masked, case.op)
    mask = loup.asarray(case.mask)
    if case.backward:
        x = loup.tensor(case.x, requires_grad=True)

        def step(x: Any, mask: Any) -> Any:
            x.grad = None
            function(x, dim=None, mask=mask).backward()
            return x.grad

        return Call(step, (x, mask))
    if case.dtype == "bfloat16":
        x = loup.tensor(case.x, dtype=loup.bfloat16)
    else:
        x = loup.asarray(case.x)
    return Call(function, (x,), {"dim": case.dim, "mask": mask})


def torch_tensors(case: MaskedCase) -> tuple[Any, Any]:
    """Return x and mask as torch tensors over the same memory, bfloat16 as a copy."""
    torch = importlib.import_module("torch")
    x, mask = torch.from_numpy(case.x), torch.from_numpy(case.mask)
    if case.dtype == "bfloat16":
        x = x.to(torch.bfloat16)
    if case.backward:
        x = x.clone().requires_grad_()
    return x, mask


def torch_step(function: Callable[[Any, Any], Any], case: MaskedCase) -> Call:
    """Return the call, with backward if the case asks for it."""
    x, mask = torch_tensors(case)
    if not case.backward:
        return Call(function, (x, mask))

    def step(x: Any, mask: Any) -> Any:
        x.grad = None
        function(x, mask).backward()
        return x.grad

    return Call(step, (x, mask))


def _torch_masked(case: MaskedCase) -> Call:
    torch = importlib.import_module("torch")
    function = _offered(torch.masked, case.op)
    keywords = TORCH_KEYWORDS.get(case.op, {})
    if case.backward:
        return torch_step(lambda x, m: function(x, dim=None, mask=m, **keywords), case)
    x, mask = torch_tensors(case)
    return Call(function, (x,), {"dim": case.dim, "mask": mask, **keywords})


def _numpy_data(case: MaskedCase) -> Any:
    if case.backward:
        raise NotOffered("has no gradients")
    if case.dtype != "bfloat16":
        return case.x
    ml_dtypes = importlib.import_module("ml_dtypes")
    return case.x.astype(ml_dtypes.bfloat16)


def _numpy_where(case: MaskedCase) -> Call:
    x = _numpy_data(case)
    keywords = WHERE_KEYWORDS.get(case.op, {})
    function = _offered(np, case.op)
    return Call(function, (x,), {"axis": case.dim, "where": case.mask, **keywords})


def _numpy_ma(case: MaskedCase) -> Call:
    hidden = ~np.broadcast_to(case.mask, case.x.shape)
    if case.x.flags.f_contiguous:
        hidden = np.asfortranarray(hidden)
    x = np.ma.array(_numpy_data(case), mask=hidden)
    method = {"amax": "max", "amin": "min"}.get(case.op, case.op)
    return Call(_offered(x, method), kwargs={"axis": case.dim})


def _bottleneck(case: MaskedCase) -> Call:
    bottleneck = importlib.import_module("bottleneck")
    if case.backward:
        raise NotOffered("has no gradients")
    if case.dtype not in ("float32", "float64"):
        raise NotOffered("codes masks as NaN in float32 and float64 only")
    function = _offered(bottleneck, "nan" + {"amax": "max", "amin": "min"}.get(case.op, case.op))
    x = case.x.copy(order="K")
    x[~np.broadcast_to(case.mask, x.shape)] = np.nan
    return Call(function, (x,), {"axis": case.dim})


def _one_dimension(case: MaskedCase) -> tuple[Any, Any]:
    if case.backward:
        raise NotOffered("has no gradients")
    if case.dim is not None and case.x.ndim > 1:
        raise NotOffered("reduces one-dimensional data only")
    return case.x.reshape(-1), case.mask.reshape(-1)


def _pyarrow(case: MaskedCase) -> Call:
    x, mask = _one_dimension(case)
    pyarrow = importlib.import_module("pyarrow")
    compute = importlib.import_module("pyarrow.compute")
    function = _offered(compute, {"amax": "max", "amin": "min"}.get(case.op, case.op))
    return Call(function, (pyarrow.array(x, mask=~mask),))


def _polars(case: MaskedCase) -> Call:
    x, mask = _one_dimension(case)
    polars = importlib.import_module("polars")
    series = polars.DataFrame({"x": x, "mask": mask}).select(
        polars.when(polars.col("mask")).then(polars.col("x")).alias("x")
    )["x"]
    return Call(_offered(series, {"amax": "max", "amin": "min"}.get(case.op, case.op)))


def _jax(case: MaskedCase) -> Call:
    jax = importlib.import_module("jax")
    jnp = importlib.import_module("jax.numpy")
    function = _offered(jnp, case.op)
    keywords = WHERE_KEYWORDS.get(case.op, {})

    def reduce(x: Any, mask: Any) -> Any:
        return function(x, axis=case.dim, where=mask, **keywords)

    compiled = jax.jit(jax.value_and_grad(reduce) if case.backward else reduce)
    x = jnp.asarray(case.x, dtype=case.dtype)
    mask = jnp.asarray(case.mask)
    if case.backward:
        return Call(lambda x, m: jax.block_until_ready(compiled(x, m))[1], (x, mask))
    return Call(lambda x, m: compiled(x, m).block_until_ready(), (x, mask))


PEERS: list[Peer] = [
    Peer(TORCH_MASKED, "torch", _torch_masked),
    Peer(NUMPY_WHERE, "numpy", _numpy_where),
    Peer("numpy.ma", "numpy", _numpy_ma),
    Peer("bottleneck", "bottleneck", _bottleneck),
    Peer("pyarrow", "pyarrow", _pyarrow),
    Peer("polars", "polars", _polars),
    Peer("jax.jit", "jax", _jax),
]
