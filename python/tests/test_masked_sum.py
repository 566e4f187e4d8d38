"""loup.masked.sum, compared with NumPy's sum(where=)."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sums import Axes, assert_same, numpy_of, numpy_sum, random_mask, small_integers, tensor_of

import loup
from loup import _loup

INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]

# --- strides ---

STRIDES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "transposed": lambda a: a.T,
    "moved": lambda a: np.moveaxis(a, 0, -1),
    "stepped inside": lambda a: a[..., ::2],
    "stepped outside": lambda a: a[::3],
    "stepped everywhere": lambda a: a[::2, 1::2, ::3],
    "reversed inside": lambda a: a[..., ::-1],
    "reversed everywhere": lambda a: a[::-1, ::-1, ::-1],
    "reversed in steps": lambda a: a[::-2, :, ::-3],
    "column-major": np.asfortranarray,
    "an inner block": lambda a: a[1:4, 2:6, 3:8],
    "repeated": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "one element repeated": lambda a: np.broadcast_to(a[0, 0, 0], a.shape),
}


@pytest.mark.parametrize("form", STRIDES)
@pytest.mark.parametrize("dims", [None, 0, 1, 2, (0, 2), (0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16"])
def test_reads_any_strides_of_the_input(form: str, dims: Axes, dtype: str) -> None:
    x = STRIDES[form](small_integers((6, 8, 10), dtype))
    mask = random_mask(x.shape)
    assert_same(loup.masked.sum(x, dims, mask=mask), numpy_sum(x, dims, mask))


@pytest.mark.parametrize("form", STRIDES)
@pytest.mark.parametrize("dims", [None, 0, 1, 2, (0, 2), (0, 1)])
def test_reads_any_strides_of_the_mask(form: str, dims: Axes) -> None:
    mask = STRIDES[form](random_mask((6, 8, 10)))
    x = small_integers(mask.shape, "float32")
    assert_same(loup.masked.sum(x, dims, mask=mask), numpy_sum(x, dims, mask))


@st.composite
def _calls(draw: st.DrawFn) -> tuple[np.ndarray, tuple[int, ...], np.ndarray, bool]:
    dtype = draw(st.sampled_from(["bool", "uint8", "int8", "int32", "int64", "float32", "float64"]))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5))
    x = small_integers(shape, dtype, draw(st.integers(0, 9)))
    x = x[draw(hnp.basic_indices(shape, allow_newaxis=True, max_dims=7))]
    x = np.transpose(x, draw(st.permutations(range(np.ndim(x)))))
    axes = tuple(draw(st.lists(st.integers(0, max(x.ndim - 1, 0)), unique=True, max_size=x.ndim)))
    axes = tuple(axis - x.ndim if draw(st.booleans()) else axis for axis in axes)
    mask_shape = [size if draw(st.booleans()) else 1 for size in x.shape]
    mask = random_mask(tuple(mask_shape[draw(st.integers(0, x.ndim)) :]), draw(st.integers(0, 9)))
    return x, axes, mask, draw(st.booleans())


@given(_calls())
def test_agrees_with_numpy_on_any_view_and_mask(call: tuple) -> None:
    x, axes, mask, keepdim = call
    result = loup.masked.sum(x, axes, mask=mask, keepdim=keepdim)
    assert_same(result, numpy_sum(x, axes or None, mask, keepdim))


# --- what the mask hides ---


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dims", [None, 0, 1])
def test_does_not_look_at_what_the_mask_hides(poison: float, dtype: str, dims: Axes) -> None:
    x, mask = small_integers((12, 12), dtype), random_mask((12, 12))
    expected = numpy_sum(np.where(mask, x, 0), dims, None)
    x[~mask] = poison
    assert_same(loup.masked.sum(tensor_of(x, dtype), dims, mask=mask), expected)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_lets_special_values_that_count_through(value: float) -> None:
    x = np.ones((2, 3))
    x[0, 1] = value
    mask = np.array([True, True, False])
    np.testing.assert_array_equal(numpy_of(loup.masked.sum(x, 1, mask=mask)), [value, 2.0])


def test_gives_nan_for_infinities_of_both_signs() -> None:
    x = np.array([math.inf, -math.inf, math.inf])
    assert math.isnan(loup.masked.sum(x).item())
    assert loup.masked.sum(x, mask=[True, False, True]).item() == math.inf


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
@pytest.mark.parametrize("dims", [None, 0, 1])
def test_gives_zero_where_nothing_counts(dtype: str, dims: Axes) -> None:
    x = tensor_of(small_integers((3, 4), dtype), dtype)
    result = loup.masked.sum(x, dims, mask=False)
    assert_same(result, np.zeros({None: (), 0: (4,), 1: (3,)}[dims]))


def test_gives_zero_only_to_the_rows_where_nothing_counts() -> None:
    mask = np.array([[True, False], [False, False], [True, True]])
    assert loup.masked.sum(np.ones((3, 2)), 1, mask=mask).tolist() == [1.0, 0.0, 2.0]


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32"])
@pytest.mark.parametrize(
    ("shape", "dims", "expected_shape"),
    [
        ((0,), None, ()),
        ((0,), 0, ()),
        ((3, 0), 1, (3,)),
        ((3, 0), 0, (0,)),
        ((0, 3), None, ()),
        ((2, 0, 4), (0, 1), (4,)),
        ((2, 0, 4), (0, 2), (0,)),
    ],
)
@pytest.mark.parametrize("mask", [None, True])
def test_gives_zero_for_no_elements(
    dtype: str, shape: tuple, dims: Axes, expected_shape: tuple, mask: bool | None
) -> None:
    result = loup.masked.sum(loup.zeros(shape, dtype), dims, mask=mask)
    assert_same(result, np.zeros(expected_shape))


def test_changes_neither_argument() -> None:
    x, mask = small_integers((5, 6), "float32"), random_mask((5, 6))
    kept_x, kept_mask = x.copy(), mask.copy()
    loup.masked.sum(x, 0, mask=mask)
    np.testing.assert_array_equal(x, kept_x)
    np.testing.assert_array_equal(mask, kept_mask)


# --- dtype= ---


@pytest.mark.parametrize("source", ["bool", "uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float32"])
def test_converts_integers_first_when_a_dtype_is_given(source: str, dtype: str) -> None:
    x, mask = small_integers((20, 9), source), random_mask((20, 9))
    result = loup.masked.sum(x, 0, mask=mask, dtype=dtype)
    assert result.dtype == dtype
    np.testing.assert_array_equal(
        numpy_of(result), np.sum(x.astype(dtype), 0, where=mask, dtype=dtype)
    )


def test_truncates_floats_before_summing_them_as_integers() -> None:
    x = np.array([1.75, 2.75, -1.75])
    assert loup.masked.sum(x, dtype=loup.int64).item() == 1 + 2 - 1
    assert loup.masked.sum(x, dtype="int32", mask=[True, True, False]).item() == 3


def test_wraps_narrow_integers_as_numpy_does() -> None:
    x = np.full(3, 100, np.int8)
    assert loup.masked.sum(x, dtype=loup.int8).item() == np.sum(x, dtype=np.int8)
    assert loup.masked.sum(x).item() == 300


def test_wraps_int64_as_numpy_does() -> None:
    x = np.array([2**63 - 1, 5], np.int64)
    assert loup.masked.sum(x).item() == np.sum(x)


@pytest.mark.parametrize(
    "dtype", [loup.float64, "float64", np.float64, np.dtype("float64")], ids=repr
)
def test_takes_each_spelling_of_a_dtype(dtype: object) -> None:
    assert loup.masked.sum(np.float32([0.5, 1]), dtype=dtype).dtype is loup.float64


def test_python_types_name_the_dtypes_of_python_numbers() -> None:
    assert loup.masked.sum([1, 2], dtype=float).dtype is loup.float32
    assert loup.masked.sum([1.5, 2], dtype=int).dtype is loup.int64
    assert loup.masked.sum([1.5, 2], dtype=bool).dtype is loup.bool


# --- the same bits, however it is computed ---

LARGE = [
    pytest.param((1500, 1003), 0, id="columns"),
    pytest.param((1500, 1003), 1, id="rows"),
    pytest.param((1500, 1003), None, id="all"),
    pytest.param((150_001, 8), 1, id="short rows"),
    pytest.param((40, 300, 101), 1, id="middle"),
    pytest.param((40, 300, 101), (0, 2), id="outer and inner"),
]


def mixed_magnitudes(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    wide = 2 if dtype == "float16" else 12
    values = rng.standard_normal(shape) * np.exp2(rng.integers(-wide, wide, shape))
    return values.astype("float32" if dtype == "bfloat16" else dtype)


def bits_of(x: loup.Tensor) -> bytes:
    return np.ascontiguousarray(numpy_of(x)).tobytes()


@pytest.mark.parametrize("count", [2, 7])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("shape", "dims"), LARGE)
@pytest.mark.usefixtures("threads")
def test_gives_the_same_bits_on_any_number_of_threads(
    shape: tuple, dims: Axes, dtype: str, count: int
) -> None:
    x = tensor_of(mixed_magnitudes(shape, dtype), dtype)
    mask = loup.asarray(random_mask(shape))
    loup.set_num_threads(1)
    expected = bits_of(loup.masked.sum(x, dims, mask=mask))
    loup.set_num_threads(count)
    assert bits_of(loup.masked.sum(x, dims, mask=mask)) == expected


@pytest.mark.parametrize("target", loup.info()["targets_runnable"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("shape", "dims"), LARGE)
@pytest.mark.usefixtures("targets")
def test_gives_the_same_bits_on_every_instruction_set(
    shape: tuple, dims: Axes, dtype: str, target: str
) -> None:
    x = tensor_of(mixed_magnitudes(shape, dtype), dtype)
    mask = loup.asarray(random_mask(shape))
    expected = bits_of(loup.masked.sum(x, dims, mask=mask))
    _loup.choose_target(target)
    assert loup.info()["target"] == target
    assert bits_of(loup.masked.sum(x, dims, mask=mask)) == expected


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_is_as_exact_as_pairwise_summation(dtype: str) -> None:
    x, mask = mixed_magnitudes((1_000_000,), dtype), random_mask((1_000_000,))
    exact = math.fsum(x[mask])
    # The bound of pairwise summation: log2(n) roundings of the sum of magnitudes.
    bound = 20 * float(np.finfo(dtype).eps) / 2 * math.fsum(abs(x[mask]))
    assert abs(loup.masked.sum(x, mask=mask).item() - exact) <= bound


def test_does_not_overflow_float16_on_the_way() -> None:
    x = np.array([60000, 60000, -60000, -59990], np.float16)
    assert loup.masked.sum(x).item() == float(np.sum(x.astype(np.float64)))


# --- gradients ---


def test_gradient_is_one_where_the_mask_counts_and_zero_elsewhere() -> None:
    mask = random_mask((3, 4))
    x = loup.tensor(small_integers((3, 4), "float64"), requires_grad=True)
    loup.masked.sum(x, mask=mask).backward()
    assert_same(x.grad, mask.astype(float))


def test_gradient_of_each_row_reaches_its_elements() -> None:
    mask = random_mask((3, 4))
    x = loup.ones((3, 4)).requires_grad_()
    loup.masked.sum(x, 1, mask=mask).backward([1.0, 10.0, 100.0])
    assert_same(x.grad, mask * np.array([[1.0], [10.0], [100.0]]))


def test_gradient_ignores_what_the_mask_hides() -> None:
    x = loup.tensor([math.nan, 1.0, math.inf], requires_grad=True)
    loup.masked.sum(x, mask=[False, True, False]).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_gradient_under_a_mask_is_zero_even_when_nan_arrives() -> None:
    x = loup.ones((2, 2)).requires_grad_()
    y = loup.masked.sum(x, 1, mask=[[True, False], [False, False]])
    y.backward([1.0, math.nan])
    assert x.grad is not None
    assert x.grad.tolist() == [[1.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("dtype", FLOATS)
def test_gradient_has_the_dtype_of_the_input(dtype: str) -> None:
    x = loup.ones(3, dtype).requires_grad_()
    loup.masked.sum(x, dtype=loup.float64, mask=[True, False, True]).backward()
    assert x.grad is not None
    assert x.grad.dtype == dtype
    assert x.grad.tolist() == [1.0, 0.0, 1.0]


def test_integer_results_have_no_gradient() -> None:
    x = loup.ones(3).requires_grad_()
    assert not loup.masked.sum(x, dtype=loup.int64).requires_grad


# --- the example of the first page ---


def test_the_first_example_prints_two_and_seven(run_python: Callable) -> None:
    result = run_python(
        "import loup, numpy as np; print(loup.masked.sum(np.arange(6.).reshape(2,3), dim=1, "
        "mask=np.array([[True,False,True],[True,True,False]])))"
    )
    assert result.returncode == 0, result.stderr
    assert [float(number) for number in re.findall(r"[-\d.]+(?=[,\]])", result.stdout)] == [2, 7]
