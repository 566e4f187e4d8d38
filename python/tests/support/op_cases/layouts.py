"""Views with all kinds of strides, of tensors of any dtype."""

from collections.abc import Callable

import numpy as np

import loup
from op_cases.values import tensor

# Each shows (4, 6) elements of a (10, 12) tensor.
LAYOUTS: dict[str, Callable[[loup.Tensor], loup.Tensor]] = {
    "contiguous": lambda x: x[:4, :6].clone(),
    "transposed": lambda x: x[:6, :4].T,
    "stepped": lambda x: x[::3, 1::2],
    "sliced": lambda x: x[3:7, 2:8],
    "column of rows": lambda x: x[:4, 3:4].expand(4, 6),
    "repeated row": lambda x: x[2:3, :6].expand(4, 6),
    "one element": lambda x: x[2, 3].expand(4, 6),
}


def base(values: np.ndarray, dtype: str) -> loup.Tensor:
    """120 of the values, in any order."""
    return tensor(np.resize(values, (10, 12)), dtype)


def dense(x: loup.Tensor) -> loup.Tensor:
    """The elements, row-major."""
    return x.clone().contiguous()
