"""Copies: other dtypes, other orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import Arguments, DType
from .row import Row


def _square(*more: Any) -> Arguments:
    return lambda d: (d.normal(4096, 4096), *more)


def _convert(dtype: str) -> Row:
    return Row(
        _square(DType(dtype)),
        loup="Tensor.to",
        numpy=lambda x, dtype: x.astype(dtype),
        torch="Tensor.to",
        reference=lambda x, dtype: x,
        dtype=dtype,
        has_limit=True,
    )


ROWS: dict[str, dict[str, Row]] = {
    "to": {"float16": _convert("float16"), "bfloat16": _convert("bfloat16")},
    "contiguous": {
        "transposed": Row(
            lambda d: (d.normal(4096, 4096).T,),
            loup="Tensor.contiguous",
            numpy=np.ascontiguousarray,
            torch="Tensor.contiguous",
            has_limit=True,
        )
    },
}
