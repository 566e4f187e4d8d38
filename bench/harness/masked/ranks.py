"""Order statistics, histograms and covariances as a contest: whoever knows missing values."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import floors
from ..arrays import to_array
from ..case import Array, Case, Entry, NotOffered, OtherTask, Pass, Peer, reading
from ..floors import TORCH_MASKED
from ..timing import Call
from .reference import OURS, PEERS
from .tasks import SIDE, SMALL, valid

GROUP = "masked"
PLACES = [0.1, 0.5, 0.9]
BINS = 64
RANGE = (-3.0, 3.0)


@dataclass(kw_only=True)
class RankCase(Case):
    """Describe `x` along `dim`, where `mask` is true; with its gradient if `backward`."""

    x: Array
    mask: Array
    dim: int | None
    backward: bool = False

    def details(self) -> dict[str, Any]:
        return {"shape": list(self.x.shape), "dtype": self.dtype, "dim": self.dim}

    @property
    def hidden(self) -> Array:
        """The data with NaN in place of what is masked, as peers without masks want it."""
        if self.x.dtype.kind != "f":
            raise NotOffered("codes masks as NaN, which integers have not")
        return np.where(self.mask, self.x, np.asarray(np.nan, self.x.dtype))


Build = Callable[[str, str], RankCase]


def _dense(
    op: str, task: str, shape: tuple[int, ...], dim: int | None, dtype: str = "float32"
) -> RankCase:
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape, dtype=np.float32)
    if dtype == "int32":
        x = np.rint(x * 1000)
    case = RankCase(op=op, task=task, x=x.astype(dtype), mask=valid(shape, rng), dim=dim)
    case.dtype = dtype
    return case


def _shape(*shape: int, dim: int | None, dtype: str = "float32") -> Build:
    return lambda op, task: _dense(op, task, shape, dim, dtype)


def _transposed(op: str, task: str) -> RankCase:
    case = _dense(op, task, (SIDE, SIDE), -1)
    case.x, case.mask = case.x.T, case.mask.T
    return case


def _mixed(op: str, task: str) -> RankCase:
    case = _dense(op, task, (SIDE, SIDE), -1)
    case.mask = case.mask.T
    return case


def _backward(op: str, task: str) -> RankCase:
    case = _dense(op, task, (SIDE, SIDE), -1)
    case.backward = True
    return case


TASKS: dict[str, dict[str, Build]] = {
    "median": {
        "row": _shape(SIDE, SIDE, dim=-1),
        "column": _shape(SIDE, SIDE, dim=0),
        "transposed": _transposed,
        "mixed": _mixed,
        "long": _shape(4, 4_000_000, dim=-1),
        "short8": _shape(1_000_000, 8, dim=-1),
        "short64": _shape(65_536, 64, dim=-1),
        "cache": _shape(256, 1024, dim=-1),
        "small": _shape(SMALL, dim=-1),
        "row_f64": _shape(SIDE, SIDE, dim=-1, dtype="float64"),
        "row_f16": _shape(SIDE, SIDE, dim=-1, dtype="float16"),
        "row_i32": _shape(SIDE, SIDE, dim=-1, dtype="int32"),
        "backward": _backward,
    },
    "quantile": {
        "row": _shape(SIDE, SIDE, dim=-1),
        "column": _shape(SIDE, SIDE, dim=0),
        "all": _shape(SIDE, SIDE, dim=None),
        "small": _shape(SMALL, dim=-1),
    },
    "histogram": {"all": _shape(SIDE, SIDE, dim=None), "small": _shape(SMALL, dim=None)},
    "covariance": {"square": _shape(512, 8192, dim=None), "small": _shape(8, SMALL, dim=None)},
    "correlation": {"square": _shape(512, 8192, dim=None)},
    "weighted-mean": {
        "row": _shape(SIDE, SIDE, dim=-1),
        "column": _shape(SIDE, SIDE, dim=0),
        "small": _shape(SMALL, dim=-1),
    },
}


# --- contestants ---


def _weights(case: RankCase) -> Array:
    weights: Array = np.linspace(0.5, 1.5, case.x.shape[-1], dtype=case.x.dtype)
    return weights


def _ours(case: RankCase) -> Call:
    loup = importlib.import_module("loup")
    function = getattr(loup.masked, case.op)
    x, mask = loup.asarray(case.x), loup.asarray(case.mask)
    if case.backward:
        x = loup.tensor(case.x, requires_grad=True)

        def step(x: Any, mask: Any) -> Any:
            x.grad = None
            function(x, case.dim, mask=mask).sum().backward()
            return x.grad

        return Call(step, (x, mask))
    if case.op == "median":
        return Call(function, (x, case.dim), {"mask": mask})
    if case.op == "quantile":
        return Call(function, (x, PLACES, case.dim), {"mask": mask})
    if case.op == "histogram":
        return Call(lambda x, mask: function(x, BINS, range=RANGE, mask=mask)[0], (x, mask))
    if case.op == "weighted_mean":
        return Call(function, (x, loup.asarray(_weights(case)), case.dim), {"mask": mask})
    return Call(function, (x,), {"mask": mask})


def _torch_masked(case: RankCase) -> Call:
    torch = importlib.import_module("torch")
    if case.op != "median":
        raise NotOffered(f"has no {case.op}")
    x, mask = torch.from_numpy(case.x), torch.from_numpy(case.mask)
    if not case.backward:
        return Call(torch.masked.median, (x, case.dim), {"mask": mask})
    x = x.clone().requires_grad_()

    def step(x: Any, mask: Any) -> Any:
        x.grad = None
        torch.masked.median(x, case.dim, mask=mask).sum().backward()
        return x.grad

    return Call(step, (x, mask))


def _torch(case: RankCase) -> Call:
    """What a user writes: NaN, zeros or weights of 0 in place of what is masked."""
    torch = importlib.import_module("torch")
    x, mask = torch.from_numpy(case.x), torch.from_numpy(case.mask)
    if case.backward or not x.is_floating_point():
        raise OtherTask
    if case.op == "median":
        return Call(
            lambda x, m: torch.nanmedian(x.masked_fill(~m, math.nan), case.dim)[0], (x, mask)
        )
    if case.op == "quantile":
        if case.dim is None:
            raise NotOffered("refuses more than 16 million elements")
        q = torch.tensor(PLACES)
        return Call(
            lambda x, m: torch.nanquantile(x.masked_fill(~m, math.nan), q, case.dim), (x, mask)
        )
    if case.op == "histogram":
        return Call(lambda x, m: torch.histogram(x[m], BINS, range=RANGE)[0], (x, mask))
    if case.op == "weighted_mean":
        weights = torch.from_numpy(_weights(case))

        def mean(x: Any, m: Any) -> Any:
            own = weights * m
            return (x.masked_fill(~m, 0) * own).sum(case.dim) / own.sum(case.dim)

        return Call(mean, (x, mask))

    def pairs(x: Any, m: Any) -> Any:
        """Sums over pairs of rows as products of matrices."""
        valid = m.to(x.dtype)
        x = x.masked_fill(~m, 0)
        count, sums = valid @ valid.T, x @ valid.T
        cov = x @ x.T - sums * sums.T / count
        if case.op == "cov":
            return cov / (count - 1)
        squares = (x * x) @ valid.T - sums * sums / count
        return cov / (squares * squares.T).sqrt()

    return Call(pairs, (x, mask))


def _bottleneck(case: RankCase) -> Call:
    bottleneck = importlib.import_module("bottleneck")
    if case.backward or case.op != "median":
        raise OtherTask
    if case.dtype not in ("float32", "float64"):
        raise NotOffered("codes masks as NaN in float32 and float64 only")
    return Call(bottleneck.nanmedian, (case.hidden,), {"axis": case.dim})


def _numpy(case: RankCase) -> Call:
    if case.backward:
        raise NotOffered("has no gradients")
    if case.op == "median":
        return Call(np.nanmedian, (case.hidden,), {"axis": case.dim})
    if case.op == "quantile":
        return Call(np.nanquantile, (case.hidden, PLACES), {"axis": case.dim})
    if case.op == "histogram":
        return Call(lambda x, m: np.histogram(x[m], BINS, range=RANGE)[0], (case.x, case.mask))
    if case.op == "weighted_mean":
        hidden = np.ma.array(case.x, mask=~case.mask)
        axis = -1 if case.dim is None else case.dim
        weights = np.broadcast_to(_weights(case), case.x.shape)
        return Call(np.ma.average, (hidden,), {"axis": axis, "weights": weights})
    hidden = np.ma.array(case.x, mask=~case.mask)
    function = np.ma.cov if case.op == "cov" else np.ma.corrcoef
    return Call(function, (hidden,))


CONTESTANTS: list[Peer] = [
    Peer(TORCH_MASKED, "torch", _torch_masked),
    Peer("torch by hand", "torch", _torch),
    Peer("bottleneck", "bottleneck", _bottleneck),
    Peer("numpy", "numpy", _numpy),
]


# --- what is right ---


def _exact(case: RankCase) -> list[Array] | None:
    x, mask = case.x.astype(np.float64), case.mask
    if case.op == "histogram":
        return [np.histogram(x[mask], BINS, range=RANGE)[0]]
    if case.op == "weighted_mean":
        weights = np.broadcast_to(_weights(case).astype(np.float64), x.shape) * mask
        return [(np.where(mask, x, 0) * weights).sum(case.dim) / weights.sum(case.dim)]
    if case.op in ("cov", "corrcoef"):
        number = mask.astype(np.float64)
        x = np.where(mask, x - np.mean(x, where=mask, axis=1, keepdims=True), 0)
        count, sums = number @ number.T, x @ number.T
        cov = x @ x.T - sums * sums.T / count
        if case.op == "cov":
            return [cov / (count - 1)]
        squares = (x * x) @ number.T - sums * sums / count
        return [cov / np.sqrt(squares * squares.T)]
    hidden = np.where(mask, x, np.nan)
    if case.op == "quantile":
        return [np.nanquantile(hidden, PLACES, axis=case.dim)]
    if case.backward:
        return None
    ordered = np.sort(hidden, axis=case.dim)
    count = mask.sum(axis=case.dim, keepdims=True)
    middle = np.take_along_axis(ordered, np.maximum(count - 1, 0) // 2, case.dim)
    return [np.squeeze(middle, case.dim)]


class RankContest:
    """Every op of these families, beside whoever can do the same."""

    columns = "masked"
    is_brief = False
    is_tuned = True

    def ours(self, case: RankCase) -> Call:
        return _ours(case)

    def peers(self, case: RankCase) -> list[Peer]:
        return CONTESTANTS

    def expected(self, case: RankCase) -> list[Array] | None:
        return _exact(case)

    def error(self, case: RankCase, library: str, result: Any, expected: list[Array]) -> float:
        got = np.asarray(to_array(library, result), dtype=np.float64)
        want = expected[0]
        if got.shape != want.shape:
            return math.inf
        counted = np.isfinite(want)
        scale = float(np.abs(want[counted]).max(initial=0.0)) or 1.0
        if case.op in ("median", "weighted_mean"):
            # Means of few elements may be close to 0: what cancelled there was rounded before.
            scale = float(np.abs(case.x[case.mask]).max(initial=0.0)) or 1.0
        worst = float(np.abs(got - want)[counted].max(initial=0.0)) / scale
        return worst if math.isfinite(worst) else math.inf

    def bounds(self, case: RankCase) -> tuple[float, float]:
        # Peers may take the mean of the two in the middle.
        return OURS[case.dtype], 1.0 if case.op == "median" else PEERS[case.dtype]

    def passes(self, case: RankCase, result: Any) -> list[Pass]:
        return [reading(case.x, case.mask)] if case.x.size > 8 * SMALL else []

    def companion(self, case: RankCase) -> RankCase | None:
        if case.dtype == "float32":
            return None
        return dataclasses.replace(case, x=case.x.astype(np.float32), dtype="float32")

    def floor(self, case: RankCase) -> floors.Floor:
        return floors.masked(case.op, case.task)


CONTEST = RankContest()


def _entry(op: str, task: str, make: Build) -> Entry:
    return Entry(GROUP, op, task, CONTEST, lambda: make(op, task))


def entries(op: dict[str, Any]) -> Iterator[Entry]:
    """Yield every task of a listed op of these families."""
    for task, make in TASKS.get(op["family"], {}).items():
        yield _entry(op["name"], task, make)
