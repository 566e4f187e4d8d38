"""Masked operators that keep the shape as a contest: softmax, running values, logaddexp."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import floors
from ..arrays import to_array
from ..case import Array, Case, Entry, NotOffered, Pass, Peer, reading, span
from ..floors import TORCH_MASKED
from ..timing import Call
from .reference import OURS, PEERS
from .tasks import SIDE, SMALL, valid

GROUP = "masked"
FAMILIES = frozenset({"normalization", "norm-division", "scan"})


@dataclass(kw_only=True)
class LineCase(Case):
    """Apply an op to `x` along `dim`, where `mask` is true; with its gradient if `weights`."""

    x: Array
    mask: Array
    dim: int
    weights: Array | None = None
    other: Array | None = None  # the second operand of logaddexp

    def details(self) -> dict[str, Any]:
        return {"shape": list(self.x.shape), "dtype": self.dtype, "dim": self.dim}

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What stands behind the input."""
        return (2.0, self.dim) if self.op == "normalize" else (self.dim,)


def _dense(op: str, task: str, shape: tuple[int, ...], dim: int, dtype: str) -> LineCase:
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape, dtype=np.float32)
    if op == "cumprod":
        x = rng.uniform(0.99, 1.01, shape).astype(np.float32)
    case = LineCase(op=op, task=task, x=x.astype(dtype), mask=valid(shape, rng), dim=dim)
    case.dtype = dtype
    return case


Build = Callable[[str, str], LineCase]


def _shape(*shape: int, dim: int, dtype: str = "float32") -> Build:
    return lambda op, task: _dense(op, task, shape, dim, dtype)


def _transposed(op: str, task: str) -> LineCase:
    case = _dense(op, task, (SIDE, SIDE), -1, "float32")
    case.x, case.mask = case.x.T, case.mask.T
    return case


def _scores(op: str, task: str) -> LineCase:
    case = _dense(op, task, (16, 8, 512, 512), -1, "float32")
    lengths = np.random.default_rng(2).integers(1, 513, (16, 1, 1, 1))
    case.mask = np.arange(512) < lengths
    return case


def _two(*shape: int) -> Build:
    def make(op: str, task: str) -> LineCase:
        case = _dense(op, task, shape, -1, "float32")
        other: Array = np.random.default_rng(4).standard_normal(shape, dtype=np.float32)
        case.other = other
        return case

    return make


def _backward(op: str, task: str) -> LineCase:
    case = _dense(op, task, (SIDE, SIDE), -1, "float32")
    weights: Array = np.random.default_rng(3).standard_normal((SIDE, SIDE), dtype=np.float32)
    case.weights = weights
    case.note = "the limit copies x, then reads result and gradient and writes another"
    return case


TASKS: dict[str, Build] = {
    "row": _shape(SIDE, SIDE, dim=-1),
    "column": _shape(SIDE, SIDE, dim=0),
    "transposed": _transposed,
    "scores": _scores,
    "short8": _shape(1_000_000, 8, dim=-1),
    "short64": _shape(65_536, 64, dim=-1),
    "cache": _shape(256, 1024, dim=-1),
    "long": _shape(4, 4_000_000, dim=-1),
    "small": _shape(SMALL, dim=-1),
    "row_f64": _shape(SIDE, SIDE, dim=-1, dtype="float64"),
    "row_f16": _shape(SIDE, SIDE, dim=-1, dtype="float16"),
    "backward": _backward,
}

BINARY_TASKS: dict[str, Build] = {"square": _two(SIDE, SIDE), "small": _two(SMALL)}


# --- contestants ---


def _ours(case: LineCase) -> Call:
    loup = importlib.import_module("loup")
    function = getattr(loup.masked, case.op)
    mask = loup.asarray(case.mask)
    if case.other is not None:
        return Call(function, (loup.asarray(case.x), loup.asarray(case.other)), {"mask": mask})
    if case.weights is None:
        return Call(function, (loup.asarray(case.x), *case.arguments), {"mask": mask})
    x, weights = loup.tensor(case.x, requires_grad=True), loup.asarray(case.weights)

    def step(x: Any, mask: Any) -> Any:
        x.grad = None
        function(x, *case.arguments, mask=mask).backward(weights)
        return x.grad

    return Call(step, (x, mask))


def _by_torch(make: Callable[[Any, LineCase], Any]) -> Callable[[LineCase], Call]:
    """Run make(torch, case)(x, mask), with its gradient if the case asks for it."""

    def build(case: LineCase) -> Call:
        torch = importlib.import_module("torch")
        function = make(torch, case)
        x, mask = torch.from_numpy(case.x), torch.from_numpy(case.mask)
        if case.weights is None:
            return Call(function, (x, mask))
        x, weights = x.clone().requires_grad_(), torch.from_numpy(case.weights)

        def step(x: Any, mask: Any) -> Any:
            x.grad = None
            function(x, mask).backward(weights)
            return x.grad

        return Call(step, (x, mask))

    return build


def _torch_masked(torch: Any, case: LineCase) -> Any:
    function = getattr(torch.masked, case.op)
    if case.other is not None:
        other = torch.from_numpy(case.other)
        return lambda x, mask: function(x, other, input_mask=mask, other_mask=mask)
    return lambda x, mask: function(x, *case.arguments, mask=mask)


def _filled(torch: Any, case: LineCase) -> Any:
    """What a user writes: fill what is masked, then call the plain op."""
    if case.other is not None:
        other = torch.from_numpy(case.other)
        return lambda x, mask: torch.where(mask, torch.logaddexp(x, other), -math.inf)
    if case.op in ("softmax", "log_softmax"):
        function = getattr(torch, case.op)
        return lambda x, mask: function(x.masked_fill(~mask, -math.inf), case.dim)
    if case.op == "softmin":
        plain = torch.nn.functional.softmin
        return lambda x, mask: plain(x.masked_fill(~mask, math.inf), case.dim)
    if case.op == "normalize":
        plain = torch.nn.functional.normalize
        return lambda x, mask: plain(x.masked_fill(~mask, 0), 2.0, case.dim)
    function = getattr(torch, case.op)
    identity = 0 if case.op == "cumsum" else 1
    return lambda x, mask: function(x.masked_fill(~mask, identity), case.dim)


def _compiled(torch: Any, case: LineCase) -> Any:
    torch._dynamo.reset()
    return torch.compile(_filled(torch, case), dynamic=False)


def _jax(case: LineCase) -> Call:
    jax = importlib.import_module("jax")
    jnp = importlib.import_module("jax.numpy")
    formulas: dict[str, Callable[[Any, Any], Any]] = {
        "softmax": lambda x, m: jax.nn.softmax(x, axis=case.dim, where=m),
        "log_softmax": lambda x, m: jax.nn.log_softmax(x, axis=case.dim, where=m),
        "softmin": lambda x, m: jax.nn.softmax(-x, axis=case.dim, where=m),
        "cumsum": lambda x, m: jnp.cumsum(jnp.where(m, x, 0), axis=case.dim),
        "cumprod": lambda x, m: jnp.cumprod(jnp.where(m, x, 1), axis=case.dim),
        "logaddexp": lambda x, m: jnp.where(m, jnp.logaddexp(x, case.other), -math.inf),
    }
    if case.op not in formulas or case.weights is not None or case.dtype != "float32":
        raise NotOffered("is measured on float32 without gradients")
    compiled = jax.jit(formulas[case.op])
    arguments = (jnp.asarray(case.x), jnp.asarray(case.mask))
    return Call(lambda x, m: compiled(x, m).block_until_ready(), arguments)


CONTESTANTS: list[Peer] = [
    Peer(TORCH_MASKED, "torch", _by_torch(_torch_masked)),
    Peer("torch filled", "torch", _by_torch(_filled)),
    Peer("torch.compile", "torch", _by_torch(_compiled)),
    Peer("jax.jit", "jax", _jax),
]


# --- what is right ---


def _exact(case: LineCase, x: Array, mask: Array) -> Array:
    if case.other is not None:
        joined: Array = np.where(mask, np.logaddexp(x, case.other), -np.inf)
        return joined
    if case.op in ("cumsum", "cumprod"):
        identity = 0 if case.op == "cumsum" else 1
        running: Array = getattr(np, case.op)(np.where(mask, x, identity), axis=case.dim)
        return running
    if case.op == "normalize":
        norm = np.sqrt(np.square(np.where(mask, x, 0)).sum(axis=case.dim, keepdims=True))
        divided: Array = np.where(mask, x, 0) / np.maximum(norm, 1e-12)
        return divided
    moved = np.where(mask, -x if case.op == "softmin" else x, -np.inf)
    top = moved.max(axis=case.dim, keepdims=True)
    moved = moved - np.where(np.isinf(top), 0, top)
    total = np.exp(moved).sum(axis=case.dim, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        if case.op == "log_softmax":
            logs: Array = moved - np.log(total)
            return logs
        return np.where(total > 0, np.exp(moved) / total, 0)


class LineContest:
    """Every op along lines, beside whoever can do the same."""

    columns = "masked"
    is_brief = False
    is_tuned = True

    def ours(self, case: LineCase) -> Call:
        return _ours(case)

    def peers(self, case: LineCase) -> list[Peer]:
        return CONTESTANTS

    def expected(self, case: LineCase) -> list[Array] | None:
        x, mask = case.x.astype(np.float64), np.broadcast_to(case.mask, case.x.shape)
        y = _exact(case, x, mask)
        if case.weights is None:
            return [y]
        if case.op not in ("softmax", "softmin"):
            return None
        g = case.weights.astype(np.float64)
        slope = y * (g - (g * y).sum(axis=case.dim, keepdims=True))
        return [-slope if case.op == "softmin" else slope]

    def error(self, case: LineCase, library: str, result: Any, expected: list[Array]) -> float:
        got = np.asarray(to_array(library, result), dtype=np.float64)
        whole = np.broadcast_to(case.mask, case.x.shape)
        # Where nothing counts peers give NaN; elsewhere masked elements do not count either.
        counted = whole & whole.any(axis=case.dim, keepdims=True)
        got, want = got[counted], expected[0][counted]
        scale = float(np.abs(want).max(initial=0.0)) or 1.0
        worst = float(np.abs(got - want).max(initial=0.0)) / scale
        return worst if math.isfinite(worst) else math.inf

    def bounds(self, case: LineCase) -> tuple[float, float]:
        return OURS[case.dtype], PEERS[case.dtype]

    def passes(self, case: LineCase, result: Any) -> list[Pass]:
        if case.x.size <= SMALL:
            return []
        passes = [Pass("copy", [span(case.x)]), reading(case.mask)]
        if case.other is not None:
            passes.append(reading(case.other))
        if case.weights is not None:
            passes += [Pass("copy", [span(case.x)]), reading(case.weights, case.mask)]
        return passes

    def companion(self, case: LineCase) -> LineCase | None:
        return None

    def floor(self, case: LineCase) -> floors.Floor:
        return floors.masked(case.op, case.task)


CONTEST = LineContest()


def _entry(op: str, task: str, make: Build) -> Entry:
    return Entry(GROUP, op, task, CONTEST, lambda: make(op, task))


def entries(op: dict[str, Any]) -> Iterator[Entry]:
    """Yield every task of a listed op that works along lines."""
    tasks = TASKS if op["family"] in FAMILIES else {}
    if op["family"] == "masked-binary":
        tasks = BINARY_TASKS
    for task, make in tasks.items():
        yield _entry(op["name"], task, make)
