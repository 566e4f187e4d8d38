"""Options of elementwise operators, beyond the references of the sweeps."""

import math

import numpy as np
import pytest
from op_cases.values import INTEGERS, assert_same, dtype_name

import loup


def test_alpha_scales_the_second_operand() -> None:
    x, y = loup.tensor([1.0, 2.0]), loup.tensor([10.0, 20.0])
    assert loup.add(x, y, alpha=0.5).tolist() == [6, 12]
    assert loup.sub(x, y, alpha=2).tolist() == [-19, -38]
    assert x.add(y, alpha=0.5).tolist() == [6, 12]
    assert x.clone().sub_(y, alpha=2).tolist() == [-19, -38]
    assert loup.subtract(x, y, alpha=2).tolist() == [-19, -38]
    assert loup.add(x, 3, alpha=2).tolist() == [7, 8]
    assert loup.add(1, y, alpha=2).tolist() == [21, 41]


def test_alpha_keeps_integers_integers() -> None:
    x = loup.tensor([1, 2])
    assert loup.add(x, x, alpha=3).tolist() == [4, 8]
    assert dtype_name(loup.add(x, x, alpha=3)) == "int64"
    assert dtype_name(loup.add(x, x, alpha=0.5)) == "float32"
    assert dtype_name(loup.add(x.to(loup.int8), 2, alpha=3)) == "int8"
    assert loup.add(x, 2**40, alpha=2**20).tolist() == [2**60 + 1, 2**60 + 2]


def test_alpha_is_recorded() -> None:
    x, y = loup.tensor([1.0, 2.0]).requires_grad_(), loup.tensor([3.0, 4.0]).requires_grad_()
    loup.masked.sum(loup.sub(x, y, alpha=3)).backward()
    assert x.grad.tolist() == [1, 1]
    assert y.grad.tolist() == [-3, -3]


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "float32", "float64"])
def test_rounding_mode_chooses_the_division(dtype: str) -> None:
    signs = [1] if dtype == "uint8" else [1, -1]
    values = np.array([a * s for s in signs for a in (7, 6, 1, 0)], dtype)
    x = loup.asarray(values)
    for divisor in [3, 2] if dtype == "uint8" else [3, -3, 2, -2]:
        assert_same(loup.div(x, divisor, rounding_mode="floor"), loup.floor_divide(x, divisor))
        assert_same(loup.div(x, divisor, rounding_mode="trunc"), loup.trunc_divide(x, divisor))
        floor = [math.floor(int(v) / divisor) for v in values]
        trunc = [math.trunc(int(v) / divisor) for v in values]
        assert loup.div(x, divisor, rounding_mode="floor").tolist() == floor
        assert x.clone().div_(divisor, rounding_mode="trunc").tolist() == trunc
    assert dtype_name(loup.div(x, 2)) == ("float32" if dtype in INTEGERS else dtype)


def test_rounding_mode_none_is_plain_division() -> None:
    x = loup.tensor([7.0, -7.0])
    assert_same(loup.div(x, 2, rounding_mode=None), x / 2)


def test_decimals_may_be_negative() -> None:
    x = loup.tensor([1234.5678, -0.005, 15.0, 25.0]).double()
    assert loup.round(x, decimals=2).tolist() == [1234.57, -0.0, 15, 25]
    assert loup.round(x, -1).tolist() == [1230, -0.0, 20, 20]
    assert x.round(decimals=0).tolist() == [1235, -0.0, 15, 25]
    assert x.clone().round_(decimals=3).tolist() == [1234.568, -0.005, 15, 25]


def test_nan_to_num_replaces_by_what_is_given() -> None:
    inf, nan = math.inf, math.nan
    x = loup.tensor([nan, inf, -inf, 1.0])
    assert loup.nan_to_num(x, 5).tolist()[0] == 5
    assert loup.nan_to_num(x, nan=inf).tolist()[0] == inf
    assert loup.nan_to_num(x, posinf=inf, neginf=-inf).tolist() == [0, inf, -inf, 1]
    assert loup.nan_to_num(x, posinf=7.0).tolist()[1:3] == [7, -float(np.finfo("float32").max)]
    assert loup.nan_to_num(x, neginf=-7.0).tolist()[2] == -7
    assert math.isnan(loup.nan_to_num(x, nan=nan).tolist()[0])
    assert x.clone().nan_to_num_(1.0, 2.0, 3.0).tolist() == [1, 2, 3, 1]


def test_approximate_chooses_the_gelu() -> None:
    x = loup.tensor([-1.0, 0.5, 2.0])
    assert_same(loup.gelu(x, approximate="none"), loup.gelu(x))
    near = loup.gelu(x, "tanh")
    assert not loup.equal(near, loup.gelu(x))
    assert loup.allclose(near, loup.gelu(x), atol=1e-3)
    assert_same(x.clone().gelu_("tanh"), near)


def test_softplus_is_the_identity_above_its_threshold() -> None:
    x = loup.tensor([3.0, 0.0])
    assert loup.softplus(x, threshold=2).tolist()[0] == 3
    assert loup.softplus(x, 2, 4).tolist()[0] == 3
    assert loup.softplus(x, beta=2.0).tolist()[1] == pytest.approx(math.log(2) / 2)
    assert loup.softplus(x, 1.0, 20.0).tolist() == loup.softplus(x).tolist()


def test_logit_moves_into_its_interval() -> None:
    x = loup.tensor([-1.0, 0.0, 0.5, 1.0, 2.0])
    quarter = math.log(1 / 3)
    assert loup.logit(x, eps=0.25).tolist() == pytest.approx(
        [quarter, quarter, 0, -quarter, -quarter]
    )
    plain = loup.logit(x).tolist()
    assert plain[1:4] == [-math.inf, 0, math.inf]
    assert math.isnan(plain[0])
    assert math.isnan(plain[4])


def test_clamp_takes_numbers_tensors_and_none() -> None:
    x = loup.tensor([-2.0, 0.5, 3.0, math.nan])
    assert x.clamp(-1, 1).tolist()[:3] == [-1, 0.5, 1]
    assert math.isnan(x.clamp(-1, 1).tolist()[3])
    assert x.clamp(min=0).tolist()[:3] == [0, 0.5, 3]
    assert x.clamp(max=0).tolist()[:3] == [-2, 0, 0]
    assert x.clamp(loup.tensor([0.0]), 2).tolist()[:3] == [0, 0.5, 2]
    assert x.clamp(min=loup.zeros((2, 1))).shape == (2, 4)
    assert loup.clip(x, 2, 1).tolist()[:3] == [1, 1, 1]
    assert math.isnan(x.clamp(min=math.nan).tolist()[0])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_clamp_takes_bounds_beyond_the_integers_of_the_dtype(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = loup.asarray(np.array([info.min, 1, info.max], dtype))
    if dtype != "int64":
        assert_same(x.clamp(info.min - 5, info.max + 2**33), x)
        assert_same(x.clamp(max=2**40), x)
    assert x.clamp(0, 1).tolist() == [0, 1, 1]


def test_where_is_a_method_too() -> None:
    x = loup.tensor([1.0, 2.0])
    assert x.where(x > 1, 0).tolist() == [0, 2]
    assert loup.where([True, False], x, -x).tolist() == [1, -2]
    assert loup.where(loup.tensor(True), 1, 2).item() == 1


def test_lerp_is_exact_at_its_ends() -> None:
    a, b = loup.tensor([0.1, 1e10, 3.0]), loup.tensor([0.7, -1.0, 3.0])
    assert_same(a.lerp(b, 0), a)
    assert_same(a.lerp(b, 1), b)
    assert a.lerp(b, loup.tensor([0.5, 0.5, 2.0])).tolist()[2] == 3
    assert a.clone().lerp_(b, 0.5).tolist() == a.lerp(b, 0.5).tolist()
    assert loup.tensor([1, 3]).lerp(2, 0.5).tolist() == [1.5, 2.5]
