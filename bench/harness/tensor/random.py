"""Random numbers: ten million at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import Arguments, Data
from .row import Row, Spelling

_RNG = np.random.default_rng(1)
_COUNT = 10_000_000


def _random(args: Arguments, numpy: Spelling = None, writes: bool = False) -> Row:
    return Row(args, numpy=numpy, is_checked=False, writes=writes)


def _count(d: Data) -> tuple[Any, ...]:
    return ((d.size(_COUNT),),)


def _like(d: Data) -> tuple[Any, ...]:
    return (d.normal(_COUNT),)


def _unit(d: Data) -> tuple[Any, ...]:
    return (d.uniform(0, 1, _COUNT),)


def _floats(shape: Any) -> Any:
    return _RNG.random(shape, dtype=np.float32)


def _normals(shape: Any) -> Any:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _integers(low: int, high: int, shape: Any) -> Any:
    return _RNG.integers(low, high, shape)


ROWS: dict[str, dict[str, Row]] = {
    "rand": {"large": _random(_count, _floats)},
    "randn": {"large": _random(_count, _normals)},
    "randint": {"large": _random(lambda d: (0, 1000, *_count(d)), _integers)},
    "bernoulli": {"large": _random(_unit, lambda p: _floats(p.shape) < p)},
    "normal": {"large": _random(lambda d: (1.0, 2.0, *_count(d)))},
    "rand_like": {"large": _random(_like, lambda x: _floats(x.shape))},
    "randn_like": {"large": _random(_like, lambda x: _normals(x.shape))},
    "randint_like": {"large": _random(lambda d: (*_like(d), 0, 1000))},
    "uniform_": {"large": _random(_like, writes=True)},
    "normal_": {"large": _random(_like, writes=True)},
    "bernoulli_": {"large": _random(lambda d: (*_like(d), 0.5), writes=True)},
    "randperm": {"large": _random(lambda d: (d.size(1_000_000),), _RNG.permutation)},
    "multinomial": {
        "large": _random(lambda d: (d.uniform(0, 1, 100_000), d.size(1_000_000), True))
    },
    "dropout": {"large": _random(lambda d: (d.normal(4096, 1024), 0.1, True))},
}
