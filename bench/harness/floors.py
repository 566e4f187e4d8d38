"""Where an op counts as finished: tables of masked ops, of the tensor's own, of memory.

Ratios are times of the peer over times of loup. A floor that was not measured is not met.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class Floor:
    """What a task must reach; None asks nothing."""

    masked: float | None = None  # × torch.masked
    tuned: float | None = None  # × torch.masked with huge pages and kept memory
    best: float | None = None  # × the best peer of any kind
    limit: float | None = None  # % of the plain reader's or copier's speed
    where: float | None = None  # × numpy where=
    numpy: float | None = None  # × NumPy
    torch: float | None = None  # × torch
    micros: float | None = None  # µs at most
    pace: float | None = None  # × the float32 time that the bytes imply, at most

    def asked(self) -> dict[str, float]:
        """Return the floors that are set, by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def judge(self, reached: dict[str, float | None]) -> list[Verdict]:
        """Compare what a task reached with what is asked."""
        return [Verdict(kind, value, reached.get(kind)) for kind, value in self.asked().items()]


TORCH_MASKED = "torch.masked"  # contestants that floors name
NUMPY_WHERE = "numpy where="
IN_MEMORY = "loup, in memory"

AT_MOST = frozenset({"micros", "pace"})

LABELS = {
    "masked": "x torch.masked",
    "tuned": "x tuned torch.masked",
    "best": "x best peer",
    "limit": "% of the limit",
    "where": "x numpy where=",
    "numpy": "x numpy",
    "torch": "x torch",
    "micros": "µs",
    "pace": "x the time of its bytes",
}

_SMALL = Floor(masked=100, where=6, micros=0.6)
_SMALL_WITHOUT_WHERE = replace(_SMALL, where=None)  # NumPy's function has no where=
_HALF = Floor(pace=1.15)
_DTYPES = {"row_f64": _HALF, "row_f16": _HALF, "row_bf16": _HALF}
_COLUMN = Floor(masked=15, tuned=8, best=6, limit=60)
_SELECTED_COLUMN = replace(_COLUMN, limit=None)
_COMMON = {"column": _COLUMN, "transposed": _COLUMN, "small": _SMALL, **_DTYPES}


def _streaming(limit: float) -> dict[str, Floor]:
    row = Floor(masked=15, best=3.5, limit=limit)
    # In the cache the mask costs more than the reading: no share of the limit is asked.
    return {"row": row, "all": row, "cache": Floor(masked=15, best=3.5), **_COMMON}


def _rows(row: Floor, small: Floor = _SMALL) -> dict[str, Floor]:
    return {"row": row, **_COMMON, "small": small}


_ARG = Floor(masked=20, best=3, limit=65)
_VAR = Floor(masked=40, tuned=18, best=11, limit=55)
_POOL_AMAX = Floor(masked=22, tuned=7, best=1.4, limit=80)

_SOFTMAX = {
    "row": Floor(masked=7, tuned=4.5, best=5, limit=38),
    "column": Floor(masked=5, tuned=3.5, best=3, limit=38),
    "small": Floor(masked=100),
}
_SCAN = {"row": Floor(masked=11, tuned=7, best=7, limit=40), "small": Floor(masked=100)}

MASKED: dict[str, dict[str, Floor]] = {
    "sum": {
        **_streaming(80),
        "pool": Floor(masked=22, tuned=9, best=1.7, limit=80),
        "short8": Floor(masked=6, best=2, limit=35),
        "short40": Floor(masked=10, best=2, limit=65),
        "short64": Floor(masked=15, best=2, limit=85),
    },
    "mean": {
        **_streaming(70),
        "pool": Floor(masked=30, tuned=18, best=1.7, limit=80),
        "backward": Floor(masked=30, tuned=12, best=12, limit=55),
    },
    "prod": _streaming(70),
    "amax": {**_streaming(80), "pool": _POOL_AMAX},
    "amin": {**_streaming(80), "pool": _POOL_AMAX},
    "norm": {
        **_streaming(80),
        "all": Floor(masked=10, best=3.5, limit=80),
        "small": _SMALL_WITHOUT_WHERE,
    },
    "argmax": _rows(_ARG, _SMALL_WITHOUT_WHERE),
    "argmin": _rows(_ARG, _SMALL_WITHOUT_WHERE),
    "var": _rows(_VAR),
    "std": _rows(_VAR),
    "median": {
        **_rows(Floor(masked=22, tuned=18, best=12)),
        # Selection is bound by instructions, so no share of the readers' speed is asked.
        "column": _SELECTED_COLUMN,
        "transposed": _SELECTED_COLUMN,
        # np.median has no where=: np.nanmedian stands in.
        "small": Floor(masked=100, numpy=6, micros=0.6),
    },
    "logsumexp": _rows(Floor(masked=18, best=8, limit=45), _SMALL_WITHOUT_WHERE),
    "softmax": {
        **_SOFTMAX,
        "scores": Floor(masked=6, tuned=2.2, best=3, limit=38),
        "backward": Floor(masked=10, tuned=5, best=5, limit=30),
    },
    "log_softmax": _SOFTMAX,
    "softmin": _SOFTMAX,
    "normalize": {"row": Floor(masked=25, tuned=12, best=8, limit=55)},
    "cumsum": _SCAN,
    "cumprod": _SCAN,
}

# Families whose every operator is at least as fast as NumPy's, where NumPy has it.
ELEMENTWISE = frozenset({"unary", "binary", "selection"})

_NEAR_TORCH = Floor(torch=round(1 / 1.3, 3))
_HOT = {"large": _NEAR_TORCH, "cache": _NEAR_TORCH}
_CALL = {"small": Floor(torch=1.0)}
_PRODUCT = Floor(torch=0.9)

TENSOR: dict[str, dict[str, Floor]] = {
    "add": {**_HOT, **_CALL},
    "mul": _HOT,
    "exp": {**_HOT, **_CALL},
    "tanh": _HOT,
    "sigmoid": _HOT,
    "where": _HOT,
    "matmul": dict.fromkeys(("256", "512", "1024", "2048", "scores", "mixing"), _PRODUCT),
    "index_select": {"rows": Floor(torch=1.0)},
}

_ATTACH = Floor(torch=3.0)
# "Not slower": the same system call takes nearly all of the time, so the rest is noise.
_CREATE = Floor(torch=0.95)
SHM: dict[str, Floor] = {
    "create_1MiB": _CREATE,
    "create_1GiB": _CREATE,
    **dict.fromkeys(("attach_1", "attach_2", "attach_4", "attach_8"), _ATTACH),
    "sum_4GiB": Floor(limit=80),  # as in memory
}


@dataclass(frozen=True)
class Verdict:
    """A floor and what was reached; `value` is None when it could not be measured."""

    kind: str
    floor: float
    value: float | None

    @property
    def met(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.floor if self.kind in AT_MOST else self.value >= self.floor

    def __str__(self) -> str:
        bound = "at most" if self.kind in AT_MOST else "at least"
        rule = f"expected {bound} {self.floor:g} {LABELS[self.kind]}"
        if self.value is None:
            return f"{rule}, got no measurement"
        far = abs(self.value / self.floor - 1) * 100
        return f"{rule}, got {self.value:.3g} ({far:.0f} % off)"


def masked(op: str, task: str) -> Floor:
    """Return the floor of a masked task."""
    return MASKED.get(op, {}).get(task, Floor())


def tensor(op: str, task: str, family: str, *, numpy_has_it: bool) -> Floor:
    """Return the floor of a task of the tensor's own operators."""
    named = TENSOR.get(op, {}).get(task, Floor())
    if family in ELEMENTWISE and task in ("large", "cache") and numpy_has_it:
        return replace(named, numpy=1.0)
    return named
