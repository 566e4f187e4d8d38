"""Memory that torch and loup share."""

import gc
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import loup.torch as masked  # noqa: E402
from loup.torch.exchange import DTYPES, to_loup, to_torch  # noqa: E402

import loup  # noqa: E402


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_goes_both_ways_without_a_copy(dtype: Any) -> None:
    x = torch.tensor([[1, 0], [3, 4]]).to(dtype)
    lent = to_loup(x)
    assert lent.dtype == DTYPES[dtype]
    assert lent.data_ptr() == x.data_ptr()
    back = to_torch(lent)
    assert back.dtype is dtype
    assert back.data_ptr() == x.data_ptr()
    assert torch.equal(back, x)


VIEWS = {
    "transposed": lambda x: x.T,
    "stepped": lambda x: x[::2, 1::2],
    "expanded": lambda x: x[:, :1].expand(4, 5),
    "a scalar": lambda x: x[2, 3],
    "empty": lambda x: x[:0],
    "of one row": lambda x: x[3:4],
    "requiring a gradient": lambda x: x.clone().requires_grad_(),
    "a parameter": torch.nn.Parameter,
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_views_are_read_where_they_are(view: Any) -> None:
    x = view(torch.arange(24.0).reshape(4, 6).contiguous())
    lent = to_loup(x)
    assert lent.tolist() == x.tolist()
    assert x.numel() == 0 or lent.data_ptr() == x.data_ptr()
    mask = x.detach() > 2
    torch.testing.assert_close(masked.sum(x, mask=mask), torch.masked.sum(x, mask=mask))


def test_a_negative_view_is_resolved() -> None:
    x = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert x.is_neg()
    assert masked.sum(x).item() == 2
    assert masked.cumsum(x, 0).tolist() == [-2, 2]


def test_zeros_without_memory_are_zeros() -> None:
    assert masked.sum(torch._efficientzerotensor(3)).item() == 0


def test_a_subclass_with_memory_is_a_tensor() -> None:
    class Named(torch.Tensor):
        pass

    x = torch.ones(3).as_subclass(Named)
    none = torch.zeros(3, dtype=torch.bool)
    assert masked.softmax(x, 0, mask=none).tolist() == [0, 0, 0]


def test_each_side_keeps_the_memory_alive() -> None:
    lent = to_loup(torch.full((1000,), 7.0))
    borrowed = to_torch(loup.ones((1000,)))
    gc.collect()
    torch.full((1000,), 1.0)
    assert lent.tolist() == [7.0] * 1000
    assert borrowed.tolist() == [1.0] * 1000


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "mean", "cumsum", "cumprod", "median"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_results_are_new(name: str, shape: tuple[int, ...]) -> None:
    x = torch.full(shape, 3.0)
    y = getattr(masked, name)(x, 0)
    y.fill_(5)
    assert x.flatten().tolist() == [3.0]
    assert y.is_contiguous()


def test_arguments_are_not_changed() -> None:
    x, mask = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.bool)
    options = {"mask": mask, "dtype": torch.float64, "keepdim": 1}
    masked.sum(x, 1, **options)
    assert options == {"mask": mask, "dtype": torch.float64, "keepdim": 1}
    assert x._version == mask._version == 0
