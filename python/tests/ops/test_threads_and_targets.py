"""The same bits for any number of threads, nearly the same on any instruction set."""

import numpy as np
import pytest
from op_cases.binary import BINARY
from op_cases.unary import UNARY
from op_cases.values import FLOATS, array, assert_near, assert_same, sample, tensor
from strided import rng

import loup
from loup import _loup

EVERY_OP = pytest.mark.parametrize("name", [*UNARY, *BINARY])
# Enough for several tasks, and no multiple of anything.
COUNT = 100_003


def operands(name: str, dtype: str, count: int) -> list[loup.Tensor]:
    case = (UNARY | BINARY)[name]
    salts = range(1 if name in UNARY else 2)
    arrays = case.prepare(*(sample(dtype, 997, rng(name, dtype, i)) for i in salts))
    return [tensor(np.resize(values, count), dtype) for values in arrays]


@EVERY_OP
def test_results_do_not_depend_on_the_number_of_threads(name: str, threads: None) -> None:
    op, case = getattr(loup, name), (UNARY | BINARY)[name]
    dtype = "float64" if case.accepts("float64") else "int32"
    given = operands(name, dtype, COUNT)
    results = []
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        results.append(op(*given))
    assert_same(results[1], results[0], (name, "2 threads"))
    assert_same(results[2], results[0], (name, "7 threads"))


@EVERY_OP
def test_results_hardly_depend_on_the_instruction_set(name: str, targets: list[str]) -> None:
    op, case = getattr(loup, name), (UNARY | BINARY)[name]
    for dtype in case.dtypes():
        given = operands(name, dtype, 1009)
        best = op(*given)
        for target in targets:
            _loup.choose_target(target)
            result = op(*given)
            _loup.choose_target("")
            if case.result_dtype(dtype) not in FLOATS or case.ulps == 0:
                assert_same(result, best, (name, dtype, target))
            else:
                about = (name, dtype, target)
                result_dtype = case.result_dtype(dtype)
                # Each is so near to the exact result.
                allowed = 2 * case.single_ulps
                assert_near(array(result), array(best), result_dtype, allowed, about=about)
