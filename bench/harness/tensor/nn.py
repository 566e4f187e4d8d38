"""Layers and losses: the sizes of a language model's."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import Data
from .row import Row


def _normal(x: Any, shape: Any, weight: Any, bias: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    deviation = np.sqrt((centred * centred).mean(-1, keepdims=True) + x.dtype.type(1e-5))
    return centred / deviation * weight + bias


def _layer(d: Data, *shape: int) -> tuple[Any, ...]:
    last = d.size(shape[-1])
    return d.normal(*shape), (last,), d.normal(last, seed=2), d.normal(last, seed=3)


def _pair(d: Data, *shape: int) -> tuple[Any, ...]:
    return d.normal(*shape), d.normal(*shape, seed=2)


def _squares(x: Any, target: Any) -> Any:
    return np.square(x - target).mean()


def _sizes(x: Any, target: Any) -> Any:
    return np.abs(x - target).mean()


def _classes(d: Data, positions: int, classes: int) -> tuple[Any, ...]:
    return d.normal(positions, classes), d.indices(classes, positions)


def _logs(x: Any) -> Any:
    shifted = x - x.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def _entropy(x: Any, target: Any) -> Any:
    return -_logs(x)[np.arange(len(x)), target].mean()


ROWS: dict[str, dict[str, Row]] = {
    "layer_norm": {
        "large": Row(lambda d: _layer(d, 4096, 1024), numpy=_normal, bound=1e-6),
        "small": Row(lambda d: _layer(d, 8, 16), numpy=_normal, bound=1e-6),
    },
    "mse_loss": {
        "large": Row(lambda d: _pair(d, 4096, 1024), numpy=_squares),
        "small": Row(lambda d: _pair(d, 8, 8), numpy=_squares),
    },
    "l1_loss": {
        "large": Row(lambda d: _pair(d, 4096, 1024), numpy=_sizes),
        "small": Row(lambda d: _pair(d, 8, 8), numpy=_sizes),
    },
    "cross_entropy": {
        "large": Row(lambda d: _classes(d, 512, 8192), numpy=_entropy, bound=1e-6),
        "few_classes": Row(lambda d: _classes(d, 262144, 10), numpy=_entropy, bound=1e-6),
        "small": Row(lambda d: _classes(d, 8, 10), numpy=_entropy, bound=1e-6),
    },
}
