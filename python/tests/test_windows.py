"""Windows over dims: views, columns of images and their sums, beside NumPy and torch."""

from collections.abc import Callable

import numpy as np
import pytest
from op_cases.windows import col2im, im2col
from strided import rng

import loup
from loup.autograd import gradcheck, gradgradcheck

OPTIONS = [
    # kernel_size, dilation, padding, stride
    ((1, 1), (1, 1), (0, 0), (1, 1)),
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 3), (2, 1), (1, 2), (3, 1)),
    ((3, 2), (1, 2), (0, 3), (2, 5)),
    ((2, 2), (1, 1), (4, 5), (1, 1)),  # whole windows in the padding
    ((5, 6), (1, 1), (0, 0), (1, 1)),  # one window
    ((1, 2), (1, 1), (0, 0), (7, 7)),  # a stride beyond the image
]


def names(options: tuple[tuple[int, int], ...]) -> dict[str, tuple[int, int]]:
    return dict(zip(("kernel_size", "dilation", "padding", "stride"), options, strict=True))


@pytest.mark.parametrize("shape", [(7,), (3, 8), (2, 9, 4)])
@pytest.mark.parametrize(("size", "step"), [(1, 1), (3, 1), (3, 2), (2, 5), (4, 4), (0, 1)])
def test_unfold_shows_windows_of_the_same_memory(
    shape: tuple[int, ...], size: int, step: int
) -> None:
    x = loup.tensor(rng("unfold", *shape).random(shape))
    for dim in range(-len(shape), len(shape)):
        if size > shape[dim]:
            continue
        y = x.unfold(dim, size, step)
        count = (shape[dim] - size) // step + 1
        assert y.shape[-1] == size
        assert y.shape[dim % len(shape)] == count
        lines = np.moveaxis(x.numpy(), dim, 0)
        for i in range(count):
            window = np.moveaxis(lines[i * step : i * step + size], 0, -1)
            np.testing.assert_array_equal(y.select(dim % len(shape), i).numpy(), window)
        if y.numel() > 0:
            assert y.data_ptr() == x.data_ptr()


def test_unfold_is_torchs_own() -> None:
    torch = pytest.importorskip("torch")
    x = rng("unfold, torch").random((4, 6, 7))
    for dim, size, step in [(0, 2, 1), (1, 3, 2), (-1, 7, 3), (2, 0, 2), (1, 6, 100)]:
        expected = torch.from_numpy(x).unfold(dim, size, step).numpy()
        np.testing.assert_array_equal(loup.asarray(x).unfold(dim, size, step).numpy(), expected)
    assert loup.tensor(2.0).unfold(0, 1, 3).tolist() == [2.0]
    assert loup.tensor(2.0).unfold(-1, 0, 1).shape == (0,)
    assert torch.tensor(2.0).unfold(0, 1, 3).tolist() == [2.0]


def test_windows_that_do_not_overlap_can_be_written() -> None:
    x = loup.zeros((2, 7))
    x.unfold(1, 3, 3).add_(1)
    assert x.tolist() == [[1.0] * 6 + [0.0]] * 2
    x.T.unfold(0, 2, 4).fill_(5)
    assert x.tolist() == [[5.0, 5.0, 1.0, 1.0, 5.0, 5.0, 0.0]] * 2


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y.add_(1),
        lambda y: y.fill_(1),
        lambda y: y.copy_(2.0),
        lambda y: y.__setitem__(0, 1.0),
        lambda y: y.uniform_(),
    ],
)
def test_windows_that_overlap_cannot(change: Callable[[loup.Tensor], object]) -> None:
    x = loup.zeros((5, 2))
    with pytest.raises(ValueError, match=r"expected a tensor that holds each element once, got"):
        change(x.unfold(0, 3, 2))
    assert x.tolist() == [[0.0] * 2] * 5


def test_one_window_and_other_views_can_still_be_written() -> None:
    x = loup.zeros((4, 4, 4))
    for view in (x.unfold(0, 3, 2), x.diagonal(0, 1, 2), x.transpose(0, 2)[::2, 1:], x[:, ::3].T):
        view.fill_(1)
    assert x.sum().item() > 0


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("batch", [(2, 3), (0, 2), (3,)], ids=str)
def test_columns_of_images(batch: tuple[int, ...], options: tuple[tuple[int, int], ...]) -> None:
    x = rng("im2col", *batch).random((*batch, 5, 6))
    columns = loup.im2col(x, **names(options))
    np.testing.assert_array_equal(columns.numpy(), im2col(x, *options))
    assert columns.is_contiguous()
    again = loup.col2im(columns, (5, 6), **names(options))
    np.testing.assert_allclose(again.numpy(), col2im(columns.numpy(), (5, 6), *options), 1e-14)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_columns_are_torchs_own(options: tuple[tuple[int, int], ...]) -> None:
    torch = pytest.importorskip("torch")
    x = rng("im2col, torch").random((2, 3, 5, 6))
    given = torch.from_numpy(x).requires_grad_()
    columns = torch.nn.functional.unfold(given, *options)
    images = torch.nn.functional.fold(columns * columns, (5, 6), *options)
    images.cos().sum().backward()

    ours = loup.tensor(x, requires_grad=True)
    our_columns = ours.im2col(*options)
    our_images = (our_columns * our_columns).col2im((5, 6), *options)
    our_images.cos().sum().backward()

    np.testing.assert_array_equal(our_columns.detach().numpy(), columns.detach().numpy())
    np.testing.assert_allclose(our_images.detach().numpy(), images.detach().numpy(), 1e-13)
    np.testing.assert_allclose(ours.grad.numpy(), given.grad.numpy(), 1e-12, 1e-14)


def test_images_need_not_be_contiguous() -> None:
    x = rng("im2col, strided").random((6, 5, 3, 2))
    image = loup.asarray(x).permute(3, 2, 1, 0)
    options = ((2, 3), (1, 1), (1, 0), (1, 2))
    columns = loup.im2col(image, *options)
    np.testing.assert_array_equal(columns.numpy(), im2col(x.transpose(3, 2, 1, 0), *options))
    turned = loup.asarray(np.asfortranarray(columns.numpy()))
    np.testing.assert_array_equal(
        turned.col2im((5, 6), *options).numpy(), columns.col2im((5, 6), *options).numpy()
    )


# Where numbers of a half type are 2 apart: one more is lost, three are not.
GAPS = [("float16", 2048.0), ("bfloat16", 256.0)]


@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize(("dtype", "large"), GAPS)
def test_columns_of_half_types_are_added_up_in_float32(
    dtype: str, large: float, place: int
) -> None:
    # Windows of 4 in 7 elements: the middle one is in all of them, at another place each.
    columns = np.ones((4, 4))
    columns[place, 3 - place] = large
    sums = loup.tensor(columns, dtype=dtype).col2im((1, 7), (1, 4))
    assert sums.dtype is getattr(loup, dtype)
    assert sums.tolist() == [[[1.0, 2.0, 3.0, large + 4, 3.0, 2.0, 1.0]]]


@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize(("dtype", "large"), GAPS)
def test_gradients_of_half_windows_are_added_up_in_float32(
    dtype: str, large: float, place: int
) -> None:
    gradient = np.ones((4, 4))
    gradient[3 - place, place] = large
    x = loup.zeros((7,), dtype, requires_grad=True)
    x.unfold(0, 4, 1).backward(loup.tensor(gradient, dtype=dtype))
    assert x.grad.tolist() == [1.0, 2.0, 3.0, large + 4, 3.0, 2.0, 1.0]


def test_long_sums_of_half_windows_do_not_stop() -> None:
    x = loup.ones((5000,), "bfloat16", requires_grad=True)
    x.unfold(0, 2500, 1).sum().backward()
    assert x.grad[2499].item() == loup.tensor(2500.0).to("bfloat16").item()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_do_not_depend_on_threads(threads: int) -> None:
    x = rng("threads").standard_normal((3, 4, 65, 70)).astype(np.float32)
    before = loup.num_threads()
    results = []
    for count in (1, threads):
        loup.set_num_threads(count)
        columns = loup.im2col(x, 3, padding=2, stride=2, dilation=2)
        results.append((columns.numpy(), loup.col2im(columns, (65, 70), 3, 2, 2, 2).numpy()))
    loup.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_gradients_of_both_orders(options: tuple[tuple[int, int], ...]) -> None:
    x = loup.tensor(rng("windows, gradients").random((1, 2, 5, 6)), requires_grad=True)
    assert gradcheck(lambda x: loup.im2col(x, *options), [x])
    assert gradgradcheck(lambda x: loup.im2col(x, *options), [x])
    y = loup.im2col(x, *options).detach().clone().requires_grad_()
    assert gradcheck(lambda y: loup.col2im(y, (5, 6), *options), [y])
    assert gradgradcheck(lambda y: loup.col2im(y, (5, 6), *options), [y])


@pytest.mark.parametrize("step", [5, 6, 2**31, 2**62, 2**63 - 1])
@pytest.mark.parametrize("size", [0, 2, 5])
def test_gradients_of_unfold_with_a_step_beyond_the_end(size: int, step: int) -> None:
    x = loup.ones((3, 5), requires_grad=True)
    x.transpose(0, 1).unfold(0, size, step).sum().backward()
    expected = np.zeros((3, 5))
    expected[:, :size] = 1
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_gradients_of_unfold_of_both_orders() -> None:
    x = loup.tensor(rng("unfold, gradients").random((3, 7)), requires_grad=True)
    for call in [(1, 3, 1), (1, 3, 2), (0, 2, 3), (1, 7, 1), (0, 0, 1)]:
        assert gradcheck(lambda x, call=call: x.unfold(*call).sin(), [x])
        assert gradgradcheck(lambda x, call=call: x.unfold(*call).sin(), [x])
    scalar = loup.tensor(0.5, dtype="float64", requires_grad=True)
    assert gradcheck(lambda x: x.unfold(0, 1, 1), [scalar])


IMAGE = loup.zeros((2, 3, 5, 6))
COLUMNS = loup.zeros((2, 12, 20))

REFUSALS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a window that is too large": (
        lambda: IMAGE.unfold(2, 6, 1),
        loup.ValueError,
        "unfold: expected a size from 0 to 5, got 6",
    ),
    "a negative size": (
        lambda: IMAGE.unfold(2, -1, 1),
        loup.ValueError,
        "unfold: expected a size from 0 to 5, got -1",
    ),
    "no step": (
        lambda: IMAGE.unfold(2, 1, 0),
        loup.ValueError,
        "unfold: expected a positive step, got 0",
    ),
    "a dim out of range": (
        lambda: IMAGE.unfold(4, 1, 1),
        loup.IndexError,
        "unfold: expected a dim from -4 to 3, got 4",
    ),
    "a size of floats": (
        lambda: IMAGE.unfold(1, 1.5, 1),
        TypeError,
        "unfold: expected an int, got float",
    ),
    "a ninth dim": (
        lambda: loup.zeros((1,) * 8).unfold(0, 1, 1),
        loup.ShapeError,
        "shape: expected at most 8 dimensions, got 9",
    ),
    "an image of 2 dims": (
        lambda: loup.im2col(IMAGE[0, 0], 2),
        loup.ShapeError,
        "im2col: expected images of 3 or 4 dims, got shape [5, 6]",
    ),
    "three sizes": (
        lambda: loup.im2col(IMAGE, (1, 2, 3)),
        loup.ValueError,
        "im2col: expected kernel_size as one or two integers, got [1, 2, 3]",
    ),
    "an empty kernel": (
        lambda: loup.im2col(IMAGE, (2, 0)),
        loup.ValueError,
        "im2col: expected kernel_size from 1 to 2147483647, got 0",
    ),
    "no dilation": (
        lambda: loup.im2col(IMAGE, 2, dilation=0),
        loup.ValueError,
        "im2col: expected dilation from 1 to 2147483647, got 0",
    ),
    "negative padding": (
        lambda: loup.im2col(IMAGE, 2, padding=-1),
        loup.ValueError,
        "im2col: expected padding from 0 to 2147483647, got -1",
    ),
    "no stride": (
        lambda: loup.im2col(IMAGE, 2, stride=0),
        loup.ValueError,
        "im2col: expected stride from 1 to 2147483647, got 0",
    ),
    "a stride beyond reason": (
        lambda: loup.im2col(IMAGE, 2, stride=2**40),
        loup.ValueError,
        f"im2col: expected stride from 1 to 2147483647, got {2**40}",
    ),
    "a kernel that does not fit": (
        lambda: loup.im2col(IMAGE, (1, 3), dilation=4, padding=(0, 1)),
        loup.ShapeError,
        "im2col: expected images that windows of 9 elements fit into, got 8 elements in dim 3 with "
        "padding",
    ),
    "a result without end": (
        lambda: loup.im2col(IMAGE, 1, padding=2**31 - 1),
        loup.ShapeError,
        f"shape: expected at most {2**63 - 1} elements, got shape [{2**32 + 3}, {2**32 + 4}]",
    ),
    "columns of 4 dims": (
        lambda: loup.col2im(IMAGE, 4, 2),
        loup.ShapeError,
        "col2im: expected columns of 2 or 3 dims, got shape [2, 3, 5, 6]",
    ),
    "rows that do not make channels": (
        lambda: loup.col2im(COLUMNS, (5, 6), (5, 1)),
        loup.ShapeError,
        "col2im: expected a multiple of 5 rows, got shape [2, 12, 20]",
    ),
    "another number of columns": (
        lambda: loup.col2im(COLUMNS, (5, 5), 2),
        loup.ShapeError,
        "col2im: expected 16 columns for images of [5, 5], got shape [2, 12, 20]",
    ),
    "images of three sizes": (
        lambda: loup.col2im(COLUMNS, (5, 5, 5), 2),
        loup.ValueError,
        "col2im: expected output_size as one or two integers, got [5, 5, 5]",
    ),
    "a word": (
        lambda: loup.im2col("a", 2),
        TypeError,
        "im2col: expected a tensor, an array, a number or nested lists of numbers, got str",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refuses(what: str) -> None:
    call, error, text = REFUSALS[what]
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert str(caught.value) == text


def test_t_and_ravel() -> None:
    x = loup.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.t().tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert x.t().data_ptr() == x.ravel().data_ptr() == x.data_ptr()
    assert x.t().ravel().tolist() == [1.0, 3.0, 2.0, 4.0]
    with pytest.raises(loup.ShapeError, match=r"t: expected at most 2 dims, got shape \[1, 2, 2\]"):
        x[None].t()
