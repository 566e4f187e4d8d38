"""Products of matrices and vectors, against NumPy; their gradients, also under masks."""

from collections.abc import Callable

import numpy as np
import pytest
from strided import STRIDES, assert_same, random_array, rng, strided_array
from tensors import NUMPY_DTYPES

import loup
from loup.autograd import gradcheck, gradgradcheck

NUMBERS = [name for name in NUMPY_DTYPES if name != "bool"]
INTEGERS = [name for name in NUMBERS if "int" in name]
FLOATS = [name for name in NUMBERS if "float" in name]


def assert_close(result: loup.Tensor, a: np.ndarray, b: np.ndarray) -> None:
    """a @ b, up to rounding in the sums of at most 256 products each and of the result."""
    assert str(result.dtype).removeprefix("loup.") == str(a.dtype)
    a, b = a.astype(np.float64), b.astype(np.float64)
    wanted = a @ b
    epsilon = {"float16": 2**-24, "float32": 2**-24, "float64": 2**-53}[str(result.numpy().dtype)]
    bound = (np.abs(a) @ np.abs(b)) * epsilon * (min(a.shape[-1], 256) + a.shape[-1] // 256 + 2)
    # Every product of a denormal sum may be off by half of the smallest number.
    computed = np.float64 if result.dtype == loup.float64 else np.float32
    bound += float(np.finfo(computed).smallest_subnormal) * (a.shape[-1] + 1)
    if result.dtype == loup.float16:
        bound += np.abs(wanted) * 2**-11 + 2**-24
    assert result.shape == wanted.shape
    error = np.abs(result.numpy().astype(np.float64) - wanted)
    assert np.all(error <= bound), (error / bound).max()


# --- values ---

SHAPES = [
    ((3,), (3,)),
    ((0,), (0,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((2, 5, 1, 3), (1, 1, 3, 4)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 4)),
    ((0, 2, 3), (3, 4)),
    ((5, 0, 3), (5, 3, 0)),
    ((33, 270), (270, 50)),
    ((1, 9000), (9000, 1)),
    ((20, 9000), (9000, 1)),
    ((1, 9000), (9000, 20)),
    ((300, 1), (1, 300)),
    ((9, 70, 60), (9, 60, 50)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_matmul_of_floats(shapes: tuple, dtype: str) -> None:
    random = rng(shapes, dtype)
    a, b = (random_array(random, shape, dtype) for shape in shapes)
    assert_close(loup.matmul(a, b), a, b)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_matmul_of_integers_is_exact_and_wraps(shapes: tuple, dtype: str) -> None:
    random = rng(shapes, dtype)
    a, b = (random_array(random, shape, dtype) for shape in shapes)
    assert_same(loup.asarray(a) @ loup.asarray(b), np.asarray(a @ b, dtype))


@pytest.mark.parametrize("right", STRIDES)
@pytest.mark.parametrize("left", STRIDES)
def test_matmul_of_any_strides(left: str, right: str) -> None:
    random = rng(left, right)
    for dtype in NUMBERS:
        a = strided_array(left, dtype, random)
        b = strided_array(right, dtype, random).T
        if np.dtype(dtype).kind == "f":
            assert_close(loup.asarray(a) @ loup.asarray(b), a, b)
        else:
            assert_same(loup.asarray(a) @ loup.asarray(b), a @ b)
        assert_same(
            loup.asarray(a).long() @ loup.asarray(b[:, 1]).long(),
            a.astype(np.int64) @ b[:, 1].astype(np.int64),
        )


def test_matmul_of_bfloat16_adds_in_float32() -> None:
    random = rng("bfloat16")
    a, b = (loup.asarray(random.normal(size=(40, 40))).bfloat16() for _ in range(2))
    wanted = (a.float() @ b.float()).bfloat16()
    assert (a @ b).dtype == loup.bfloat16
    assert (a @ b).tolist() == wanted.tolist()


def test_matmul_of_nan_inf_and_denormals() -> None:
    tiny = np.float32(1e-40)
    a = np.array([[np.nan, 1], [np.inf, 1], [tiny, 0], [np.inf, -np.inf]], np.float32)
    with np.errstate(invalid="ignore"):
        wanted = a @ np.ones((2, 40), np.float32)
    assert_same(loup.matmul(a, np.ones((2, 40), np.float32)), wanted)


def test_matmul_promotes_dtypes() -> None:
    assert (loup.ones((2, 2), "int64") @ loup.ones((2, 2))).dtype == loup.float32
    assert (loup.ones((2, 2), "int8") @ loup.ones((2, 2), "uint8")).dtype == loup.int16
    assert (loup.ones((2, 2), "bool") @ loup.ones((2, 2), "int8")).tolist() == [[2, 2], [2, 2]]


def test_operator_takes_what_becomes_a_tensor() -> None:
    x = loup.tensor([[1.0, 2.0], [3.0, 4.0]])
    eye = np.eye(2, dtype=np.float32)
    for product in (x @ eye, eye @ x, x @ [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]] @ x):
        assert isinstance(product, loup.Tensor)
        assert product.tolist() == x.tolist()


@pytest.mark.parametrize("other", [3, "text", None, object()], ids=repr)
def test_operator_leaves_other_things_to_python(other: object) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        loup.ones((2, 2)) @ other
    with pytest.raises(TypeError, match="unsupported operand"):
        other @ loup.ones((2, 2))


def test_relatives_as_functions_and_methods() -> None:
    random = rng("relatives")
    a, b = random.normal(size=(3, 4)), random.normal(size=(4, 5))
    x, y = random.normal(size=4), random.normal(size=4)
    for module in (loup, loup.Tensor):
        t = loup.asarray
        np.testing.assert_allclose(module.mm(t(a), b), a @ b)
        np.testing.assert_allclose(module.matmul(t(a), other=b), a @ b)
        np.testing.assert_allclose(module.bmm(t(a[None]), b[None]), (a @ b)[None])
        np.testing.assert_allclose(module.mv(t(a), x), a @ x)
        np.testing.assert_allclose(module.dot(t(x), y), x @ y)
        assert_same(module.outer(t(x), y), np.outer(x, y))


def test_linear() -> None:
    random = rng("linear")
    x, w, b = random.normal(size=(2, 3, 4)), random.normal(size=(5, 4)), random.normal(size=5)
    np.testing.assert_allclose(loup.linear(x, w), x @ w.T)
    np.testing.assert_allclose(loup.linear(x, w, bias=b), x @ w.T + b)
    np.testing.assert_allclose(loup.linear(x, w[0], loup.tensor(2.0)), x @ w[0] + 2)
    np.testing.assert_allclose(loup.linear(x[0, 0], w), w @ x[0, 0])


EQUATIONS = [
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    ("ji,kj->ki", [(4, 3), (5, 4)]),
    ("i,i", [(4,), (4,)]),
    ("i,i->i", [(4,), (4,)]),
    ("i,j->ij", [(4,), (3,)]),
    ("i,j->ji", [(4,), (3,)]),
    ("ij,j", [(3, 4), (4,)]),
    ("ij,ij->", [(3, 4), (3, 4)]),
    ("ij->ji", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ij->j", [(3, 4)]),
    ("ba", [(3, 4)]),
    ("aB", [(3, 4)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ijj->i", [(2, 3, 3)]),
    ("jij->ij", [(3, 2, 3)]),
    ("iii->i", [(3, 3, 3)]),
    ("iijj->ij", [(2, 2, 3, 3)]),
    ("iij,jj->i", [(3, 3, 2), (2, 2)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]),
    ("bij,jk->bik", [(2, 3, 4), (4, 5)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)]),
    ("ijk,ijk->k", [(2, 3, 4), (2, 3, 4)]),
    ("ijk,jil->kl", [(2, 3, 4), (3, 2, 5)]),
    ("ijk,lk->", [(2, 3, 4), (5, 4)]),
    ("abc,cd,bd->a", [(2, 3, 4), (4, 5), (3, 5)]),
    ("ij,jk,kl,lm->im", [(2, 3), (3, 4), (4, 5), (5, 2)]),
    ("i,i,i->i", [(3,), (3,), (3,)]),
    (",i->i", [(), (3,)]),
    (",", [(), ()]),
    ("...", [(2, 3)]),
    ("...ij->...ji", [(2, 3, 4)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 6)]),
    ("...ij,...jk", [(2, 1, 3, 4), (5, 4, 6)]),
    ("i...,i...->...", [(2, 3, 4), (2, 3, 4)]),
    ("i...j,j->...i", [(2, 3, 4), (4,)]),
    (" i j , j k -> i k ", [(3, 4), (4, 5)]),
    ("ij,jk->ik", [(3, 0), (0, 5)]),
    ("ij->i", [(0, 3)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=str)
def test_einsum(equation: str, shapes: list) -> None:
    random = rng(equation, shapes)
    arrays = [random.normal(size=shape) for shape in shapes]
    result = loup.einsum(equation, *arrays)
    wanted = np.einsum(equation, *arrays)
    assert result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)
    integers = [random.integers(-99, 99, shape, dtype=np.int16) for shape in shapes]
    assert_same(loup.einsum(equation, *integers), np.einsum(equation, *integers))


def test_einsum_takes_a_list_of_operands() -> None:
    a, b = rng("list").normal(size=(2, 3, 3))
    assert_same(loup.einsum("ij,jk", [a, b]), np.asarray(loup.einsum("ij,jk", a, b)))


def test_einsum_that_only_reorders_is_a_view() -> None:
    x = loup.ones((2, 3))
    assert loup.einsum("ij->ji", x).data_ptr() == x.data_ptr()


# --- threads, forks, instruction sets ---


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    "shapes",
    [
        ((300, 700), (700, 200)),
        ((64, 40, 50), (64, 50, 40)),
        ((3, 150, 300), (300, 160)),
        ((2000, 1500), (1500,)),
        ((1500,), (1500, 2000)),
        ((2_000_000,), (2_000_000,)),
    ],
    ids=str,
)
def test_bits_do_not_depend_on_threads(dtype: str, shapes: tuple) -> None:
    random = rng(dtype, shapes)
    a, b = (random.normal(size=shape).astype(dtype) for shape in shapes)
    found = []
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        found.append(loup.matmul(a, b).numpy().tobytes())
    assert found[0] == found[1] == found[2]


def test_every_instruction_set_agrees(targets: list[str]) -> None:
    random = rng("targets")
    a, b = random.normal(size=(70, 300)), random.normal(size=(300, 90))
    for target in targets:
        loup._loup.choose_target(target)
        assert_close(loup.matmul(a, b), a, b)
        assert_close(loup.matmul(a, b[:, 0]), a, b[:, 0])
        assert_close(loup.matmul(a[0], b), a[0], b)


FORKED = """
import loup, numpy as np, os, sys
before, inside = int(sys.argv[1]), int(sys.argv[2])
a, b = np.random.default_rng(5).standard_normal((2, 400, 400), dtype=np.float32)
def bits():
    return (loup.asarray(a) @ loup.asarray(b)).numpy().tobytes()
loup.set_num_threads(before)
expected = bits()
child = os.fork()
loup.set_num_threads(inside)
same = bits() == expected
if child == 0:
    os._exit(0 if same else 3)
print(same, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("before", ["1", "4"])
@pytest.mark.parametrize("inside", ["1", "4"])
def test_parent_and_forked_child_go_on(run_python: Callable, before: str, inside: str) -> None:
    result = run_python(FORKED, before, inside)
    assert result.stdout == "True 0\n", result.stderr


# --- gradients ---


def leaf(array: np.ndarray) -> loup.Tensor:
    return loup.tensor(np.asarray(array)).requires_grad_()


def random_leaves(shapes: object, *salt: object) -> list[loup.Tensor]:
    random = rng("leaves", shapes, *salt)
    return [leaf(random.normal(size=shape)) for shape in shapes]


SMALL = [shapes for shapes in SHAPES if max(max(shape) for shape in shapes) < 10]


@pytest.mark.parametrize("shapes", SMALL, ids=str)
def test_gradients_of_matmul(shapes: tuple) -> None:
    inputs = random_leaves(shapes)
    assert gradcheck(loup.matmul, inputs)
    assert gradgradcheck(loup.matmul, inputs)


@pytest.mark.parametrize("equation", EQUATIONS, ids=str)
def test_gradients_of_einsum(equation: tuple) -> None:
    text, shapes = equation
    inputs = random_leaves(shapes)
    assert gradcheck(lambda *x: loup.einsum(text, *x), inputs)
    if sum(x.numel() for x in inputs) < 60:
        assert gradgradcheck(lambda *x: loup.einsum(text, *x), inputs)


@pytest.mark.parametrize("name", ["outer", "dot"])
def test_gradients_of_vectors(name: str) -> None:
    inputs = random_leaves([(3,), (3,)])
    assert gradcheck(getattr(loup, name), inputs)
    assert gradgradcheck(getattr(loup, name), inputs)


def test_gradients_of_linear() -> None:
    inputs = random_leaves([(2, 3, 4), (5, 4), (5,)])
    assert gradcheck(loup.linear, inputs)
    assert gradgradcheck(loup.linear, inputs)


def test_gradients_of_operands_with_strides() -> None:
    inputs = random_leaves([(4, 3), (6, 4)])
    assert gradcheck(lambda a, b: a.T @ b[::2].T.reshape(4, 3), inputs)
    assert gradgradcheck(lambda a, b: a.T @ b[::2].T.reshape(4, 3), inputs)


@pytest.mark.parametrize("shapes", [((4, 3), (3, 2)), ((2, 4, 3), (3, 2)), ((4, 3), (2, 3, 2)),
                                    ((2, 4, 3), (2, 3, 2)), ((4, 3), (3,))], ids=str)  # fmt: skip
def test_gradients_under_a_mask_ignore_garbage(shapes: tuple) -> None:
    """First and second order, with NaN where the mask hides."""
    random = rng("garbage", shapes)
    out = (loup.ones(shapes[0]) @ loup.ones(shapes[1])).shape
    mask = random.random(out) < 0.6
    poison = loup.asarray(np.where(mask, 0.0, np.nan))

    def f(a: loup.Tensor, b: loup.Tensor) -> loup.Tensor:
        return loup.masked.sum((a @ b) * (a @ b) + poison, mask=mask)

    inputs = random_leaves(shapes)
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


@pytest.mark.parametrize("shape", [(6, 30), (2, 3, 30)], ids=str)
@pytest.mark.parametrize("sizes", [(30, 20), (30, 1)], ids=str)
@pytest.mark.parametrize("kind", ["matmul", "linear", "einsum"])
def test_weight_gradient_equals_that_without_the_masked_rows_bit_for_bit(
    shape: tuple, sizes: tuple, kind: str
) -> None:
    random = rng("bits", shape, sizes, kind)
    x = random.normal(size=shape).astype(np.float32)
    w = random.normal(size=sizes).astype(np.float32)
    rows = np.array([True, False, True, True, False, True])
    apply = {
        "matmul": lambda x, w: x @ w,
        "linear": lambda x, w: loup.linear(x, w.T),
        "einsum": lambda x, w: loup.einsum("...i,ij->...j", x, w),
    }[kind]

    kept = leaf(w)
    loup.masked.sum(apply(loup.asarray(x.reshape(6, -1)[rows]), kept)).backward()
    x.reshape(6, -1)[~rows] = np.nan
    weight = leaf(w)
    y = apply(loup.asarray(x), weight)
    loup.masked.sum(y, mask=rows.reshape(*shape[:-1], 1)).backward()
    assert np.isfinite(weight.grad.numpy()).all()
    assert weight.grad.numpy().tobytes() == kept.grad.numpy().tobytes()


def test_padding_that_a_softmax_would_meet_does_not_reach_the_input() -> None:
    """The gradient of masked rows is a structural zero: log would turn an ordinary one into NaN."""
    x = leaf(np.array([[1.0, 2.0], [0.0, 4.0]]))
    loup.masked.sum(x.log() @ np.ones((2, 3)), mask=np.array([[True], [False]])).backward()
    assert x.grad.tolist() == [[3.0, 1.5], [0.0, 0.0]]


# --- errors ---


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: loup.ones((2, 3)) @ loup.ones((4, 5)),
            loup.ShapeError,
            r"matmul: expected as many columns of the first as rows of the second, got shapes "
            r"\[2, 3\] and \[4, 5\]",
        ),
        (
            lambda: loup.ones((2, 4, 3)) @ loup.ones((3, 3, 5)),
            loup.ShapeError,
            r"matmul: expected shapes that broadcast together, got \[2\] and \[3\]",
        ),
        (
            lambda: loup.matmul(3.0, loup.ones(3)),
            loup.ShapeError,
            r"matmul: expected tensors of 1 dim or more, got shapes \[\] and \[3\]",
        ),
        (
            lambda: loup.matmul(loup.tensor([[True]]), loup.tensor([[True]])),
            loup.DTypeError,
            r"matmul: expected numbers, got bool; convert with to\(loup.int32\)",
        ),
        (
            lambda: loup.matmul(loup.ones(3), "text"),
            TypeError,
            "matmul: expected a tensor, an array, .*, got str",
        ),
        (
            lambda: loup.mm(loup.ones(3), loup.ones((3, 3))),
            loup.ShapeError,
            r"mm: expected tensors of 2 and 2 dims, got shapes \[3\] and \[3, 3\]",
        ),
        (
            lambda: loup.linear(loup.ones((2, 3)), loup.ones((4, 3)), loup.ones(3)),
            loup.ShapeError,
            r"linear: expected a bias for 4 outputs, got shape \[3\]",
        ),
        (
            lambda: loup.einsum("ij,jk->ik", loup.ones((2, 3))),
            loup.ValueError,
            "einsum: expected 2 operands for 'ij,jk->ik', got 1",
        ),
        (
            lambda: loup.einsum("i?", loup.ones((2, 3))),
            loup.ValueError,
            r"einsum: expected letters and at most one '...' for a tensor, got 'i\?' in 'i\?'",
        ),
        (
            lambda: loup.einsum("ij,jk->ik", loup.ones((2, 3)), loup.ones((4, 2))),
            loup.ShapeError,
            "einsum: expected one size for index 'j', got 3 and 4",
        ),
        (
            lambda: loup.einsum("ij->k", loup.ones((2, 3))),
            loup.ValueError,
            "einsum: expected output indices that an operand has, got 'k' in 'ij->k'",
        ),
        (
            lambda: loup.einsum("ij->ii", loup.ones((2, 3))),
            loup.ValueError,
            "einsum: expected each output index once, got 'i' again in 'ij->ii'",
        ),
        (lambda: loup.einsum(3, loup.ones(2)), TypeError, "einsum"),
    ],
)
def test_errors_name_both_sides(call: Callable, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()
