"""What the tests of tensors share: the names of dtypes, and arrays to begin with."""

import math

import numpy as np

DTYPES = [
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64"),
]
NUMPY_DTYPES = [name for name in DTYPES if name != "bfloat16"]


def counting(*shape: int) -> np.ndarray:
    return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
