"""Results of any library as NumPy arrays of float64."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np


def to_array(library: str, value: Any) -> np.ndarray[Any, Any]:
    """Convert a contestant's result to float64."""
    if library == "loup":
        loup = importlib.import_module("loup")
        return np.asarray(value.to(loup.float64))
    if library == "torch":
        array: np.ndarray[Any, Any] = value.detach().double().numpy()
        return array
    if library == "mlx":
        mlx = importlib.import_module("mlx.core")
        value = np.array(value.astype(mlx.float32) if value.dtype == mlx.bfloat16 else value)
    if library == "pyarrow":
        value = value.as_py()
    return np.asarray(value, dtype=np.float64)
