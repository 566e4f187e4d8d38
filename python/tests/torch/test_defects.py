"""What torch.masked gets wrong, and loup.torch right: each test shows both."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import loup.torch as masked  # noqa: E402

NAN, INF = float("nan"), float("inf")


def defect_of_torch(test: Callable[..., None]) -> Callable[..., None]:
    """The test holds for loup.torch, and not for torch.masked: if it does, the defect is gone."""

    @functools.wraps(test)
    def shown(**arguments: Any) -> None:
        test(masked, **arguments)
        with pytest.raises((AssertionError, RuntimeError, IndexError)):
            test(torch.masked, **arguments)

    parameters = list(inspect.signature(test).parameters.values())[1:]
    shown.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return shown


def tensor(values: Any, dtype: Any = None) -> Any:
    return torch.tensor(values, dtype=dtype)


@defect_of_torch
def test_masked_uint8_is_not_exp_of_zero(module: Any) -> None:
    x = tensor([1, 2, 9], torch.uint8)
    mask = tensor([True, True, False])
    expected = torch.softmax(tensor([1.0, 2.0]), 0).tolist()
    found = module.softmax(x, 0, dtype=torch.float32, mask=mask).tolist()
    assert found == pytest.approx([*expected, 0.0])


@defect_of_torch
def test_logsumexp_of_integers_is_not_truncated(module: Any) -> None:
    found = module.logsumexp(tensor([1, 2, 9]), mask=tensor([True, True, False]))
    assert found.item() == pytest.approx(2.3132617)


@defect_of_torch
def test_an_index_points_at_what_counts(module: Any) -> None:
    mask = tensor([False, True, True])
    assert module.argmax(tensor([9, 0, 0], torch.uint8), mask=mask).item() == 1


@defect_of_torch
def test_an_index_of_infinities_points_at_what_counts(module: Any) -> None:
    assert module.argmax(tensor([9.0, -INF, -INF]), mask=tensor([False, True, True])).item() == 1


@defect_of_torch
def test_an_index_is_not_rounded(module: Any) -> None:
    x = torch.zeros(5000, dtype=torch.float16)
    x[4001] = 1
    assert int(module.argmax(x)) == 4001


@defect_of_torch
def test_an_index_does_not_wrap(module: Any) -> None:
    x = torch.zeros(300, dtype=torch.int8)
    x[200] = 1
    assert int(module.argmax(x)) == 200


@defect_of_torch
def test_the_gradient_of_a_maximum_goes_to_what_counts(module: Any) -> None:
    x = tensor([5.0, -INF, -INF]).requires_grad_()
    module.amax(x, mask=tensor([False, True, True])).backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]


@defect_of_torch
def test_norms_of_negative_order_skip_what_is_masked(module: Any) -> None:
    x = tensor([2.0, 4.0, 8.0])
    assert module.norm(x, -1, mask=tensor([True, True, False])).item() == pytest.approx(4 / 3)


@defect_of_torch
def test_a_valid_nan_reaches_the_median(module: Any) -> None:
    assert module.median(tensor([1.0, NAN, 3.0]), 0).isnan()


@defect_of_torch
def test_a_median_of_integers_is_exact(module: Any) -> None:
    assert module.median(tensor([2**24 + 1]), 0).item() == 2**24 + 1


@defect_of_torch
def test_a_mean_of_halves_does_not_overflow(module: Any) -> None:
    x = torch.full((100,), 1000.0, dtype=torch.float16)
    assert module.mean(x).item() == 1000
    assert module.var(x).item() == 0


@pytest.mark.parametrize("name", ["var", "std"])
@defect_of_torch
def test_a_deviation_of_halves_is_rounded_once(module: Any, name: str) -> None:
    torch.manual_seed(3)
    x = torch.randn(50, 16).half()
    assert torch.equal(getattr(module, name)(x, 1), getattr(torch, name)(x.double(), 1).half())


@defect_of_torch
def test_halves_that_do_not_count_are_normalized_to_zero(module: Any) -> None:
    x, mask = torch.ones(2, dtype=torch.float16), tensor([False, False])
    assert module.normalize(x, 2.0, 0, mask=mask).tolist() == [0.0, 0.0]


@defect_of_torch
def test_a_gradient_too_large_for_halves_stays_where_it_is(module: Any) -> None:
    x = tensor([6e-6, 0.0, 0.0], torch.float16).requires_grad_()
    module.normalize(x, 2.0, 0).backward(tensor([0.0, 1.0, 0.0], torch.float16))
    assert x.grad.tolist() == [0.0, INF, 0.0]


@defect_of_torch
def test_no_integers_have_no_logarithm(module: Any) -> None:
    x, mask = tensor([1, 2]), tensor([False, False])
    assert module.logsumexp(x, dtype=torch.float32, mask=mask).item() == -INF


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
@defect_of_torch
def test_masked_integers_add_nothing_to_a_float(module: Any, dtype: Any) -> None:
    x, y = tensor([1.0, 2.0]), tensor([3, 4], dtype)
    masks = {"input_mask": tensor([True, False]), "other_mask": tensor([False, False])}
    assert module.logaddexp(x, y, **masks).tolist() == [1.0, -INF]


@pytest.mark.parametrize("name", ["softmax", "softmin", "log_softmax"])
@defect_of_torch
def test_a_line_without_elements_is_defined(module: Any, name: str) -> None:
    x = tensor([1.0, 2.0]).requires_grad_()
    y = getattr(module, name)(x, 0, mask=tensor([False, False]))
    assert y.tolist() == ([-INF, -INF] if name == "log_softmax" else [0.0, 0.0])
    y.backward(torch.ones(2))
    assert x.grad.tolist() == [0.0, 0.0]


@defect_of_torch
def test_a_line_of_negative_infinities_is_one_without_elements(module: Any) -> None:
    assert module.softmax(tensor([-INF, -INF]), 0).tolist() == [0.0, 0.0]


@defect_of_torch
def test_integers_of_a_line_without_elements_are_not_uniform(module: Any) -> None:
    mask = tensor([False, False])
    found = module.softmax(tensor([1, 2]), 0, dtype=torch.float32, mask=mask)
    assert found.tolist() == [0.0, 0.0]


@defect_of_torch
def test_attention_without_keys_has_finite_gradients(module: Any) -> None:
    scores = torch.randn(2, 3, 4).requires_grad_()
    values = torch.randn(2, 4, 5).requires_grad_()
    mask = tensor([[True, True, False, True], [False] * 4]).reshape(2, 1, 4)
    out = module.softmax(scores, -1, mask=mask) @ values
    out.sum().backward()
    assert out[1].tolist() == [[0.0] * 5] * 3
    assert scores.grad.isfinite().all()
    assert values.grad.isfinite().all()


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("garbage", [NAN, INF])
@defect_of_torch
def test_gradients_of_deviations_do_not_see_garbage(module: Any, name: str, garbage: float) -> None:
    x = tensor([1.0, 4.0, garbage]).requires_grad_()
    getattr(module, name)(x, mask=tensor([True, True, False])).backward()
    assert x.grad.isfinite().all()
    assert x.grad[2] == 0


@pytest.mark.parametrize("name", ["var", "std"])
@defect_of_torch
def test_slices_without_elements_send_no_gradient(module: Any, name: str) -> None:
    x = tensor([[1.0, 4.0], [2.0, 3.0]]).requires_grad_()
    mask = tensor([[True, True], [False, False]])
    y = getattr(module, name)(x, 1, mask=mask)
    y.sum().backward()
    assert x.grad[0].isfinite().all()
    assert x.grad[1].tolist() == [0.0, 0.0]


@defect_of_torch
def test_the_gradient_of_a_deviation_of_equals_is_zero(module: Any) -> None:
    x = tensor([2.0, 2.0, 2.0]).requires_grad_()
    module.std(x).backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@defect_of_torch
def test_masked_outputs_of_log_softmax_send_no_gradient(module: Any) -> None:
    x = tensor([1.0, 2.0, 3.0]).requires_grad_()
    mask = tensor([True, True, False])
    module.log_softmax(x, 0, mask=mask).backward(tensor([1.0, 1.0, 100.0]))
    assert x.grad.sum().item() == pytest.approx(0, abs=1e-6)


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
@defect_of_torch
def test_the_mean_of_a_masked_tensor_divides_by_what_counts(module: Any) -> None:
    x = torch.masked.masked_tensor(tensor([1.0, 3.0, 100.0]), tensor([True, True, False]))
    assert float(module.mean(x)) == 2


@defect_of_torch
def test_dims_repeated_in_another_form_are_refused(module: Any) -> None:
    with pytest.raises(RuntimeError):
        module.prod(torch.ones(2, 2, 2), (2, -1))


@defect_of_torch
def test_a_product_honours_its_dtype(module: Any) -> None:
    assert module.prod(tensor([1, 2], torch.int32), dtype=torch.int32).dtype is torch.int32
    assert module.prod(tensor([3.0, 2.0]), dtype=torch.int32).dtype is torch.int32
