"""Who shares memory with whom: results have masks of their own, views share both parts or none."""

import pickle
from collections.abc import Callable

import pytest

import loup

T, F = True, False
inf, nan = float("inf"), float("nan")


def sample(requires_grad: bool = False) -> loup.MaskedTensor:
    return loup.masked_tensor([[1.0, 2.0], [3.0, 4.0]], [[T, F], [T, T]], requires_grad)


RESULTS: dict[str, Callable[[loup.MaskedTensor], loup.MaskedTensor]] = {
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(1),
    "softmin": lambda x: x.softmin(1),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(1),
    "normalize": lambda x: x.normalize(2.0, 1),
    "softmax with a mask": lambda x: loup.masked.softmax(x, 0, mask=x.get_mask()),
    "values of max": lambda x: x.max(1, keepdim=True)[0].expand(2, 2).clone(),
    "layer_norm": lambda x: loup.layer_norm(x, 2),
    "exp": lambda x: x.exp(),
    "sum of two": lambda x: x + x,
    "dropout": lambda x: loup.dropout(x, 0.5),
    "sort": lambda x: x.sort(1).values,
    "to": lambda x: x.to(loup.float64),
}


@pytest.mark.parametrize("name", RESULTS)
def test_writing_into_a_result_leaves_the_input_alone(name: str) -> None:
    x = sample()
    result = RESULTS[name](x)
    result[0, 1] = 9.0
    result.fill_(7.0)
    result[1, 0] = loup.masked_tensor(0.0, F)
    assert x.tolist() == [[1.0, None], [3.0, 4.0]]


def test_values_and_places_have_masks_of_their_own() -> None:
    values, places = sample().max(1)
    values[0] = loup.masked_tensor(0.0, F)
    assert places.tolist() == [0, 1]


def test_the_order_of_a_number_is_a_copy() -> None:
    x = loup.masked_tensor(1.0, T)
    x.sort().values.fill_(5.0)
    assert x.tolist() == 1.0


def test_dropout_that_does_nothing_shows_both_parts() -> None:
    x = sample()
    y = loup.dropout(x, 0.5, training=False)
    y[0, 0] = loup.masked_tensor(0.0, F)
    assert x.tolist() == y.tolist() == [[None, None], [3.0, 4.0]]


MOVES: dict[str, Callable[[loup.MaskedTensor], loup.MaskedTensor]] = {
    "reshape": lambda x: x.reshape(4),
    "flatten": lambda x: x.flatten(),
    "ravel": lambda x: x.ravel(),
    "contiguous": lambda x: x.contiguous().view(4),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("expanded", ["data", "mask"])
def test_where_one_part_must_be_copied_both_are(name: str, expanded: str) -> None:
    data, mask = loup.tensor([[1.0, 2.0], [3.0, 4.0]]), loup.tensor([[T, T], [F, T]])
    if expanded == "data":
        data = data[:, :1].expand(2, 2)
    else:
        mask = mask[:, :1].expand(2, 2)
    x = loup.as_masked_tensor(data, mask)
    before = x.tolist()
    moved = MOVES[name](x)
    moved[0] = loup.masked_tensor(99.0, F)
    assert moved.tolist()[0] is None
    assert x.tolist() == before


def test_a_mask_that_repeats_is_written_out_when_it_changes() -> None:
    mask = loup.tensor([[T], [F]]).expand(2, 3)
    y = loup.as_masked_tensor(loup.ones((2, 3)), mask) * 2
    assert y.get_mask().strides[1] == 0
    y[1, 1] = 5.0
    assert y.tolist() == [[2.0, 2.0, 2.0], [None, 5.0, None]]
    z = loup.masked_where([[F], [T]], loup.ones((2, 2)))
    z.fill_(3.0)
    assert z.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_a_mask_that_repeats_and_is_shared_is_refused() -> None:
    mask = loup.tensor([[T], [F]]).expand(2, 3)
    y = loup.as_masked_tensor(loup.ones((2, 3)), mask)
    with pytest.raises(ValueError, match="setitem: expected a tensor that holds each element once"):
        y[1, 1] = 5.0
    assert y.tolist() == [[1.0, 1.0, 1.0], [None, None, None]]


def test_masks_may_change_behind_recorded_changes() -> None:
    x = loup.masked_tensor([1.0, 2.0, 3.0], [T, F, T], requires_grad=True)
    y = x * 1
    y.mul_(3)
    y[1] = 5.0
    y.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [9.0, None, 9.0]


@pytest.mark.parametrize("change", ["fill_", "copy_", "masked_fill_", "index_fill_", "setitem"])
def test_a_refused_change_leaves_records_usable(change: str) -> None:
    x = loup.masked_tensor([1.0, 2.0, 3.0], [T, F, T], requires_grad=True)
    total = x.sum()
    calls: dict[str, Callable[[], object]] = {
        "fill_": lambda: x.fill_(0.0),
        "copy_": lambda: x.copy_(loup.zeros(3)),
        "masked_fill_": lambda: x.masked_fill_([T, T, T], 0.0),
        "index_fill_": lambda: x.index_fill_(0, [0], 0.0),
        "setitem": lambda: x.__setitem__(0, 0.0),
    }
    with pytest.raises(loup.StateError, match="expected a tensor that may change"):
        calls[change]()
    total.backward()
    assert x.grad.tolist() == [1.0, None, 1.0]


def test_a_mask_that_is_the_data_of_the_other_is_read_first() -> None:
    flags = loup.tensor([T, F, T, F])
    x = loup.as_masked_tensor(flags, loup.tensor([T, T, F, F]))
    x.copy_(loup.as_masked_tensor(loup.tensor([F, T, F, T]), flags))
    assert x.get_mask().tolist() == [T, F, T, F]
    assert x.get_data().tolist() == [F, T, F, T]


def test_a_tensor_that_fills_gets_a_gradient() -> None:
    value = loup.tensor(5.0, requires_grad=True)
    x = loup.masked_tensor([1.0, 2.0, 3.0], [T, F, T]).masked_fill([T, T, F], value)
    assert x.tolist() == [5.0, 5.0, 3.0]
    x.sum().backward()
    assert value.grad.item() == 2.0


def test_an_infinite_factor_does_not_meet_what_is_masked() -> None:
    x = loup.masked_tensor([1.0, 2.0], [T, T])
    source = loup.masked_tensor([1.0, nan], [T, F])
    assert x.index_add(0, [0, 1], source, alpha=inf).tolist() == [inf, 2.0]


@pytest.mark.parametrize("bounds", [(2, 3), (3, 2)])
def test_bounds_come_in_either_order_as_in_numpy(bounds: tuple[int, int]) -> None:
    x = loup.tensor([1.0, 2.0, 3.0, 4.0])
    assert loup.masked_outside(x, *bounds).tolist() == [None, 2.0, 3.0, None]
    assert loup.masked_inside(x, *bounds).tolist() == [1.0, None, None, 4.0]


def test_output_masks_of_masked_tensors() -> None:
    x = sample()
    assert loup.masked.output_mask("softmax", x, 1).tolist() == [[T, F], [T, T]]
    assert loup.masked.output_mask("sum", x, 0, mask=[[T, T], [F, F]]).tolist() == [T, F]
    other = loup.masked_tensor([[1.0, 2.0], [3.0, 4.0]], [[F, F], [F, T]])
    found = loup.masked.output_mask("logaddexp", x, other=other, input_mask=[[T, T], [F, T]])
    assert found.tolist() == [[T, F], [F, T]]


METHODS = ["scatter_", "uniform_", "masked_fill_", "index_fill_", "add_", "clamp_", "exp_"]


@pytest.mark.parametrize("name", METHODS)
def test_methods_want_a_tensor(name: str) -> None:
    index = loup.tensor([0])
    arguments = {
        "scatter_": (0, index, loup.ones(1)),
        "uniform_": (),
        "masked_fill_": ([T], 1.0),
        "index_fill_": (0, index, 1.0),
        "add_": (1.0,),
        "clamp_": (0.0, 1.0),
        "exp_": (),
    }[name]
    with pytest.raises(TypeError, match="self: expected a Tensor, got list"):
        getattr(loup.Tensor, name)([1.0], *arguments)


@pytest.mark.parametrize("name", ["sort", "max", "min", "minmax"])
def test_results_of_several_parts_have_names_and_can_be_pickled(name: str) -> None:
    x = sample()
    result = getattr(x, name)(1)
    fields = ("min", "max") if name == "minmax" else ("values", "indices")
    assert result._fields == fields
    copy = pickle.loads(pickle.dumps(result))
    assert type(copy) is type(result)
    assert [part.tolist() for part in copy] == [part.tolist() for part in result]


def test_tuples_are_compared_as_lists_are() -> None:
    x = loup.masked_tensor([1.0, 2.0], [T, F])
    assert (x == (1.0, 3.0)).tolist() == [T, None]
    assert (x != [1.0, 3.0]).tolist() == [F, None]
    assert (x == None) is False  # noqa: E711
