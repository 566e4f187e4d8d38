"""What fails, or is silently wrong, with torch.masked.MaskedTensor works here."""

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import loup

T, F = True, False
Call = Callable[[loup.MaskedTensor], object]


def sample(requires_grad: bool = False, garbage: float = math.nan) -> loup.MaskedTensor:
    """Two rows; what is masked is garbage."""
    data = [[1.0, garbage, 3.0], [-4.0, 5.0, garbage]]
    return loup.MaskedTensor(data, [[T, F, T], [T, T, F]], requires_grad)


def listed(x: object) -> object:
    """Nested lists with None where the mask is False."""
    if isinstance(x, tuple):
        return [listed(part) for part in x]
    return x.tolist() if isinstance(x, loup.Tensor | loup.MaskedTensor) else x


# --- calls that raise TypeError there ---

INDEX = loup.tensor([[2, 0], [1, 0]])
EYE = np.eye(3, dtype=np.float32)
UNSUPPORTED: dict[str, tuple[Call, object]] = {
    "permute": (lambda x: x.permute(1, 0), [[1, -4], [None, 5], [3, None]]),
    "T": (lambda x: x.T, [[1, -4], [None, 5], [3, None]]),
    "squeeze": (lambda x: x[:1].squeeze(), [1, None, 3]),
    "repeat": (lambda x: x[0].repeat(2), [1, None, 3, 1, None, 3]),
    "flip": (lambda x: x.flip(1), [[3, None, 1], [None, 5, -4]]),
    "unbind": (lambda x: x.unbind(0), [[1, None, 3], [-4, 5, None]]),
    "iteration": (lambda x: tuple(x), [[1, None, 3], [-4, 5, None]]),
    "gather": (lambda x: x.gather(1, INDEX), [[3, 1], [5, -4]]),
    "index_select": (lambda x: x.index_select(1, [0, 1]), [[1, None], [-4, 5]]),
    "masked_fill": (lambda x: x.masked_fill(x.get_mask(), 7), [[7, None, 7], [7, 7, None]]),
    "max": (lambda x: x.max(), 5),
    "max of dim": (lambda x: tuple(x.max(1)), [[3, 5], [2, 1]]),
    "min": (lambda x: x.min(), -4),
    "min of dim": (lambda x: tuple(x.min(1)), [[1, -4], [0, 0]]),
    "any": (lambda x: x.any(1), [T, T]),
    "median": (lambda x: x.median(1), [1, -4]),
    "cumsum": (lambda x: x.cumsum(1), [[1, None, 4], [-4, 1, None]]),
    "cumprod": (lambda x: x.cumprod(1), [[1, None, 3], [-4, -20, None]]),
    "log_softmax": (lambda x: x.log_softmax(0).exp().round(decimals=3), [[0.993, None, 1], [0.007, 1, None]]),
    "logsumexp": (lambda x: x.logsumexp(1).round(decimals=3), [3.127, 5]),
    "sort": (lambda x: tuple(x.sort(1, descending=True)), [[[3, 1, None], [5, -4, None]], [[2, 0, 1], [1, 0, 2]]]),
    "topk": (lambda x: x.topk(1).values, [[3], [5]]),
    "matmul": (lambda x: x @ EYE, [[1, 0, 3], [-4, 5, 0]]),
    "mm": (lambda x: x.mm(EYE), [[1, 0, 3], [-4, 5, 0]]),
    "bmm": (lambda x: x[None].bmm(EYE[None]), [[[1, 0, 3], [-4, 5, 0]]]),
    "linear": (lambda x: loup.linear(x, EYE), [[1, 0, 3], [-4, 5, 0]]),
    "einsum": (lambda x: loup.einsum("ij,ij->i", x, x), [10, 41]),
    "relu": (lambda x: x.relu(), [[1, None, 3], [0, 5, None]]),
    "gelu": (lambda x: x.gelu().round(decimals=3), [[0.841, None, 2.996], [0, 5, None]]),
    "dropout": (lambda x: loup.dropout(x, 0.0), [[1, None, 3], [-4, 5, None]]),
    "logical_not": (lambda x: x.logical_not(), [[F, None, F], [F, F, None]]),
    "logical_and": (lambda x: x.logical_and(x), [[T, None, T], [T, T, None]]),
    "isinf": (lambda x: (x / 0).isinf(), [[T, None, T], [T, T, None]]),
    "allclose": (lambda x: loup.allclose(x, x + 0), T),
    "equal": (lambda x: x.equal(x + 0), T),
    "not equal": (lambda x: x.equal(x + 1), F),
    "1 - x": (lambda x: 1 - x, [[0, None, -2], [5, -4, None]]),
    "2 ** x": (lambda x: 2**x, [[2, None, 8], [0.0625, 32, None]]),
    "alpha": (lambda x: x.add(x, alpha=10), [[11, None, 33], [-44, 55, None]]),
    "rounding_mode": (lambda x: x.div(2, rounding_mode="floor"), [[0, None, 1], [-2, 2, None]]),
    "decimals": (lambda x: (x / 8).round(decimals=1), [[0.1, None, 0.4], [-0.5, 0.6, None]]),
    "clamp by a tensor": (lambda x: x.clamp(loup.tensor([0.0, 0, 2])), [[1, None, 3], [0, 5, None]]),
    "dim=None": (lambda x: x.sum(dim=None), 5),
    "two negative dims": (lambda x: x.sum((-2, -1)), 5),
    "prod of two dims": (lambda x: x.prod((0, 1)), -60),
    "dtype without dim": (lambda x: x.sum(dtype="float64"), 5),
    "unbiased": (lambda x: x.var(1, unbiased=False), [1, 20.25]),
    "correction": (lambda x: x.std(1, correction=0), [1, 4.5]),
    "norm": (lambda x: x.norm(1, dim=1), [4, 9]),
    "reshape of a transposed one": (lambda x: x.T.reshape(6), [1, -4, None, 5, 3, None]),
    "method where": (lambda x: x.where([[T, T, F]], 0.0), [[1, None, 0], [-4, 5, 0]]),
    "softmin": (lambda x: x.softmin(0)[0].round(decimals=3), [0.007, None, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_calls(name: str) -> None:
    call, expected = UNSUPPORTED[name]
    for garbage in (math.nan, math.inf, -math.inf, 1e30):
        result = listed(call(sample(garbage=garbage)))
        if isinstance(result, bool):
            assert result is expected
        else:
            np.testing.assert_array_equal(
                np.array(result, dtype=object) == None,  # noqa: E711
                np.array(expected, dtype=object) == None,  # noqa: E711
            )
            fill = np.vectorize(lambda cell: -99.0 if cell is None else float(cell), otypes=[float])
            np.testing.assert_allclose(fill(result), fill(expected), rtol=1e-6, atol=1e-6)


DIFFERENTIABLE = [
    name
    for name in UNSUPPORTED
    if not any(
        word in name for word in ("any", "logical", "isinf", "allclose", "equal", "rounding")
    )
]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_unsupported_calls_have_gradients(name: str) -> None:
    x = sample(requires_grad=True)
    result = UNSUPPORTED[name][0](x)
    parts = result if isinstance(result, tuple) else (result,)
    floating = [part for part in parts if part.requires_grad]
    assert floating
    sum((part.sum() for part in floating[1:]), floating[0].sum()).backward()
    gradient = x.grad
    assert isinstance(gradient, loup.MaskedTensor)
    assert loup.equal(gradient.get_mask(), x.get_mask())
    values = gradient.get_data().numpy()
    assert np.isfinite(values).all()
    assert not values[~x.get_mask().numpy()].any()


# --- what is silently wrong there ---


def test_setitem_changes_the_tensor() -> None:
    x = sample()
    x[0] = loup.tensor([7.0, 8, 9])
    x[1, 0] = loup.masked_tensor(1.0, F)
    assert x.tolist() == [[7, 8, 9], [None, 5, None]]


def test_in_place_on_a_view_reaches_its_base() -> None:
    x = sample()
    x[1].mul_(10)
    x.T[0].add_(1)
    assert x.tolist() == [[2, None, 3], [-39, 50, None]]


def test_in_place_leaves_what_is_masked() -> None:
    x = sample(garbage=2.0)
    x.add_(1)
    assert x.get_data().tolist() == [[2, 2, 4], [-3, 6, 2]]


def test_comparisons_count_where_both_do() -> None:
    a = loup.masked_tensor([1.0, 2.0, 3.0], [T, F, T])
    b = loup.masked_tensor([2.0, 2.0, 2.0], [T, T, F])
    assert (a < b).tolist() == [T, None, None]
    with loup.strict_masks(), pytest.raises(ValueError, match="<|lt"):
        a < b  # noqa: B015


def test_means_of_masked_tensors_divide_by_what_counts() -> None:
    x = sample()
    assert loup.masked.mean(x).item() == 1.25
    assert loup.masked.mean(x, 1).tolist() == [2, 0.5]
    assert loup.masked.var(x, 1).tolist() == [2, 40.5]
    assert loup.masked.sum(x, 1, mask=[T, F, F]).tolist() == [1, -4]  # the explicit mask, too


def test_softmax_of_masked_rows_is_zero() -> None:
    x = loup.MaskedTensor([[1.0, 2.0], [3.0, 4.0]], [[F, F], [T, F]], True)
    y = x.softmax(-1)
    assert y.get_data().tolist() == [[0, 0], [1, 0]]
    y[1].sum().backward()
    assert x.grad.get_data().tolist() == [[0, 0], [0, 0]]


def test_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leaf = loup.tensor([1.0, 2.0], requires_grad=True)
        x = loup.as_masked_tensor(leaf, [T, F])
        (x * 2 + 1).sum().backward()


def test_as_masked_tensor_shares_its_data() -> None:
    data = loup.tensor([1.0, 2.0])
    x = loup.as_masked_tensor(data, [T, F])
    data[0] = 5
    assert x.tolist() == [5, None]


# --- gradients ---


def test_the_gradient_of_a_plain_leaf_is_plain() -> None:
    leaf = loup.tensor([1.0, 0.0], requires_grad=True)
    loup.as_masked_tensor(leaf, [T, F]).log().sum().backward()
    assert type(leaf.grad) is loup.Tensor
    assert leaf.grad.tolist() == [1, 0]
    step = leaf.detach() - 0.1 * leaf.grad
    assert np.isfinite(step.numpy()).all()


def test_gradients_are_zero_where_masked() -> None:
    x = loup.MaskedTensor([4.0, 0.0, math.nan], [T, F, F], True)
    (1 / x + x.sqrt()).sum().backward()
    assert x.grad.get_data().tolist() == [-0.0625 + 0.25, 0, 0]


def test_indexing_keeps_the_mask_of_the_leaf() -> None:
    x = sample(requires_grad=True)
    x[0].sum().backward()
    assert x.grad.tolist() == [[1, None, 1], [0, 0, None]]


def test_gradients_of_two_uses_are_added() -> None:
    x = loup.MaskedTensor([1.0, 2.0], [T, T], True)
    other = loup.masked_tensor([1.0, 1.0], [T, F])
    ((x * other).sum() + x.sum()).backward()
    assert x.grad.tolist() == [2, 1]


def test_backward_needs_a_record() -> None:
    with pytest.raises(RuntimeError, match="expected"):
        sample().sum().backward()


WITHOUT_BACKWARD = {
    "sigmoid": (), "tanh": (), "clamp": (-2.0, 2.0), "maximum": (0.5,), "minimum": (0.5,),
    "fmax": (0.5,), "fmin": (0.5,), "atan2": (0.5,), "atanh": (), "digamma": (), "logit": (),
    "i0": (), "sinc": (), "round": (), "floor": (), "ceil": (), "trunc": (), "sign": (),
    "logaddexp2": (0.5,),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_BACKWARD)
@pytest.mark.parametrize("garbage", [math.nan, math.inf, 0.0])
def test_backward_exists(name: str, garbage: float) -> None:
    values = [0.25, 0.75]
    other = tuple(loup.tensor(v) if name not in ("clamp",) else v for v in WITHOUT_BACKWARD[name])
    plain = loup.tensor(values, requires_grad=True)
    getattr(loup, name)(plain, *other).sum().backward()
    x = loup.MaskedTensor([values[0], garbage, values[1]], [T, F, T], True)
    getattr(x, name)(*other).sum().backward()
    assert x.grad.get_mask().tolist() == [T, F, T]
    assert x.grad.get_data().tolist() == [plain.grad.tolist()[0], 0, plain.grad.tolist()[1]]


# --- the rest ---


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_empty_tensors_print(shape: tuple[int, ...]) -> None:
    x = loup.masked_tensor(loup.zeros(shape), loup.ones(shape, dtype="bool"))
    assert repr(x).startswith("MaskedTensor(")


def test_dlpack_does_not_hand_out_half_of_it() -> None:
    with pytest.raises(TypeError, match="to_tensor.*get_data"):
        np.from_dlpack(sample())
    with pytest.raises(TypeError, match="to_tensor.*get_data"):
        np.asarray(sample())


def test_comparison_with_none_is_false() -> None:
    assert (sample() == None) is False  # noqa: E711
