"""MLX arrays, masks and calls of loup.mlx. Skips what imports it where MLX is missing."""

import math
from typing import Any

import numpy as np
import pytest

mx = pytest.importorskip("mlx.core", reason="MLX is not installed")
import loup.mlx as masked  # noqa: E402

import loup  # noqa: E402

FLOATS = ["float16", "bfloat16", "float32", "float64"]
REDUCTIONS = ["sum", "mean", "max", "min"]
POISON = [math.nan, math.inf, -math.inf]

NUMBERS = (np.arange(60).reshape(3, 4, 5) * 7 % 11) - 4.0
MASK = np.arange(60).reshape(3, 4, 5) % 3 != 1
MASK[1] = False  # nothing counts
MASK[:, 2] = False


def array(values: Any, dtype: str = "float32") -> Any:
    wanted = mx.bool_ if dtype == "bool" else getattr(mx, dtype)
    return mx.array(np.asarray(values).tolist(), dtype=wanted)


def numpy(x: Any) -> np.ndarray:
    tensor = loup.asarray(x)
    return (tensor.float() if tensor.dtype is loup.bfloat16 else tensor).numpy()


def call(name: str, x: Any, mask: Any, **options: Any) -> Any:
    if name in {"sum", "mean", "softmax", "log_softmax"}:
        return getattr(masked, f"masked_{name}")(x, mask, **options)
    return getattr(masked.MaskedArray(x, mask), name)(**options)
