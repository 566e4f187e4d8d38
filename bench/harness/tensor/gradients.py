"""Gradients: a chain of operators, forward and backward."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from .data import Data
from .row import Row

SIDE = 1024


def _args(d: Data) -> tuple[Any, ...]:
    return d.normal(SIDE, SIDE), d.normal(SIDE, SIDE, seed=2), d.normal(SIDE, seed=3)


def _chain(x: Any, w: Any, b: Any) -> Any:
    return (x * w + b).tanh().sum()


def _backward(x: Any, w: Any, b: Any) -> list[Any]:
    """Return the gradients, the way that loup and torch share."""
    leaves = [each.detach().requires_grad_() for each in (x, w, b)]
    _chain(*leaves).backward()
    return [leaf.grad for leaf in leaves]


@functools.cache
def _compiled() -> Any:
    jax, jnp = importlib.import_module("jax"), importlib.import_module("jax.numpy")

    def chain(x: Any, w: Any, b: Any) -> Any:
        return jnp.tanh(x * w + b).sum()

    return jax.jit(jax.value_and_grad(chain, argnums=(0, 1, 2)))


def _jax(x: Any, w: Any, b: Any) -> list[Any]:
    _, gradients = _compiled()(x, w, b)
    return [gradient.block_until_ready() for gradient in gradients]


def _right(x: Any, w: Any, b: Any) -> list[Any]:
    slope = 1 - np.tanh(x * w + b) ** 2
    return [slope * w, slope * x, slope.sum(axis=0)]


ROWS: dict[str, dict[str, Row]] = {
    "backward": {
        "tanh": Row(
            _args,
            loup=_backward,
            numpy=None,
            torch=_backward,
            jax=_jax,
            reference=_right,
            bound=2e-6,
            note="forward and backward of (x * w + b).tanh().sum(), x and w [1024, 1024], b [1024]",
        )
    }
}
