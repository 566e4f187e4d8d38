"""What a test knows of an elementwise operator: a reference, a rule for dtypes, where it is smooth.

A reference is a function of NumPy arrays. With `ulps` of 0 it is called with elements of the dtype
that kernels compute with, and the result must be its result, rounded to the dtype once. Otherwise
it is called with long doubles, and the result may be off by so many units of the last place of
float64; results of the other dtypes are computed in double lanes and off by less than one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

import loup
from op_cases.values import DTYPES, FLOATS, INTEGERS, array, assert_near, compute_dtype, dtype_name

Interval = tuple[float, float]
Domain = tuple[Interval, ...]
ANYWHERE: Domain = ((-2.0, 2.0),)
AROUND_ZERO: Domain = ((-2.0, -0.2), (0.2, 2.0))
POSITIVE: Domain = ((0.2, 2.0),)
FRACTION: Domain = ((0.1, 0.9),)
BETWEEN_INTEGERS: Domain = ((-1.8, -1.2), (-0.8, -0.2), (0.2, 0.8), (1.2, 1.8))


@dataclass(frozen=True)
class Elementwise:
    """One operator."""

    reference: Callable[..., np.ndarray]
    kind: str = "floating"  # as ResultKind in loup/ops/elementwise.h
    ulps: float = 1.0
    domains: tuple[Domain, ...] = (ANYWHERE,)  # where gradients are tested, for each operand
    takes_integers: bool = True
    asks_dtype: bool = False  # the reference wants to know it, as a keyword
    absolute: bool = False  # near its zeros a result is only as exact as around 1
    signed_zero: bool = True  # whether the sign of a zero is a promise
    single_ulps: float = 1.5  # for float32
    # Options that change the result, and the references that belong to them.
    options: tuple[tuple[dict[str, object], Callable[..., np.ndarray]], ...] = ()
    # Operands as the operator may be given them: divisors of integers other than 0.
    prepare: Callable[..., tuple[np.ndarray, ...]] = field(default=lambda *operands: operands)

    def accepts(self, dtype: str) -> bool:
        if dtype == "bool":
            return self.kind != "numeric"
        if dtype in INTEGERS:
            return self.takes_integers
        return self.kind != "integral"

    def dtypes(self) -> list[str]:
        return [dtype for dtype in DTYPES if self.accepts(dtype)]

    def result_dtype(self, dtype: str) -> str:
        """Of operands that have one dtype."""
        if self.kind == "boolean":
            return "bool"
        return "float32" if self.kind == "floating" and dtype not in FLOATS else dtype

    def check(
        self,
        result: loup.Tensor,
        operands: tuple[np.ndarray, ...],
        dtype: str,
        reference: Callable[..., np.ndarray] | None = None,
        about: object = "",
    ) -> None:
        """Compares a result with the reference for operands of `dtype`."""
        reference = reference or self.reference
        assert dtype_name(result) == self.result_dtype(dtype), about
        if self.kind == "floating" and dtype not in FLOATS:
            dtype, operands = "float32", tuple(x.astype(np.float32) for x in operands)
        if self.asks_dtype:
            reference = partial(reference, dtype=dtype)
        got = array(result)
        with np.errstate(all="ignore"):
            if dtype in FLOATS and self.kind != "boolean":
                computed = compute_dtype(dtype) if self.ulps == 0 else "longdouble"
                wanted = reference(*(x.astype(computed) for x in operands))
                # Half types are rounded from float32.
                single = self.single_ulps if dtype == "float32" else 0.55
                ulps = self.ulps if dtype == "float64" or self.ulps == 0 else single
                assert_near(
                    got,
                    wanted,
                    dtype,
                    ulps,
                    inputs=operands,
                    signed_zero=self.signed_zero,
                    absolute=self.absolute,
                    about=(about, dtype),
                )
            else:
                wanted = np.asarray(reference(*operands)).astype(got.dtype)
                assert got.shape == wanted.shape, (about, dtype)
                wrong = got != wanted
                assert not wrong.any(), (
                    (about, dtype),
                    [x[wrong][:4] for x in operands],
                    got[wrong][:4],
                    wanted[wrong][:4],
                )
