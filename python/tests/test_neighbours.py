"""Tensors to and from PyTorch, JAX and MLX, where they are installed."""

import gc
from collections.abc import Callable

import numpy as np
import pytest
from exchange import VIEWS, Producer, matrix

import loup


class Torch:
    """PyTorch shares memory in both directions, and writes to it."""

    def __init__(self) -> None:
        self.torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def take(self, x: loup.Tensor) -> object:
        return self.torch.from_dlpack(x)

    def make(self, values: np.ndarray) -> object:
        return self.torch.tensor(values)

    def address(self, tensor: object) -> int:
        return tensor.data_ptr()


class Jax:
    """JAX arrays are never written; it copies what is not aligned for it."""

    def __init__(self) -> None:
        pytest.importorskip("jax", reason="JAX is not installed")
        import jax

        jax.config.update("jax_platforms", "cpu")
        self.jax = jax

    def take(self, x: loup.Tensor) -> object:
        return self.jax.dlpack.from_dlpack(x)

    def make(self, values: np.ndarray) -> object:
        return self.jax.numpy.array(values)

    def address(self, tensor: object) -> int:
        return tensor.unsafe_buffer_pointer()


class Mlx:
    """MLX shares its own memory, and copies ours."""

    def __init__(self) -> None:
        self.mx = pytest.importorskip("mlx.core", reason="MLX is not installed")

    def take(self, x: loup.Tensor) -> object:
        return self.mx.from_dlpack(x)

    def make(self, values: np.ndarray) -> object:
        array = self.mx.array(values)
        self.mx.eval(array)
        return array

    def address(self, tensor: object) -> int:
        return np.asarray(memoryview(tensor)).ctypes.data


LIBRARIES = pytest.mark.parametrize("library", [Torch, Jax, Mlx])


@LIBRARIES
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32"])
def test_takes_tensors_of_other_libraries(library: Callable, dtype: str) -> None:
    made = library().make(matrix(dtype))
    x = loup.asarray(made)
    assert (x.shape, x.dtype.name) == ((6, 8), dtype)
    assert x.tolist() == matrix(dtype).tolist()


@LIBRARIES
def test_shares_the_memory_of_other_libraries(library: Callable) -> None:
    other = library()
    made = other.make(matrix())
    assert loup.asarray(made).data_ptr() == other.address(made)


@LIBRARIES
def test_memory_of_other_libraries_outlives_their_tensor(library: Callable) -> None:
    made = library().make(np.arange(50_000, dtype=np.int32))
    x = loup.asarray(made)
    del made
    gc.collect()
    assert x.sum().item() == sum(range(50_000))


@LIBRARIES
@pytest.mark.parametrize("dtype", ["int32", "float32", "float16"])
def test_other_libraries_take_our_tensors(library: Callable, dtype: str) -> None:
    x = loup.tensor(matrix(dtype))
    taken = library().take(x)
    assert np.asarray(taken).tolist() == x.tolist()


@LIBRARIES
def test_our_memory_outlives_the_tensor_elsewhere(library: Callable) -> None:
    x = loup.arange(50_000, dtype="int32")
    taken = library().take(x)
    del x
    gc.collect()
    loup.zeros(50_000, "int32")
    assert int(np.asarray(taken).sum()) == sum(range(50_000))


@LIBRARIES
def test_sums_tensors_of_other_libraries(library: Callable) -> None:
    other = library()
    x, mask = other.make(matrix()), other.make(matrix() > 2)
    result = loup.masked.sum(x, 0, mask=mask)
    assert result.tolist() == matrix().sum(0, where=matrix() > 2).tolist()


def test_pytorch_shares_our_memory_and_writes_to_it() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = loup.zeros((2, 3))
    taken = torch.from_dlpack(x)
    assert taken.data_ptr() == x.data_ptr()
    taken[1, 2] = 7
    assert x[1, 2].item() == 7
    x[0, 0] = 5
    assert taken[0, 0].item() == 5


@pytest.mark.parametrize("view", ["contiguous", "transposed", "stepped", "a row", "0-d", "empty"])
def test_pytorch_views_keep_their_strides(view: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    made = torch.from_numpy(VIEWS[view](matrix()))
    x = loup.from_dlpack(made)
    assert x.tolist() == made.tolist()
    assert torch.from_dlpack(x).tolist() == made.tolist()


def test_pytorch_has_bfloat16_too() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    made = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    x = loup.asarray(made)
    assert x.dtype is loup.bfloat16
    assert x.data_ptr() == made.data_ptr()
    assert torch.from_dlpack(x).tolist() == [1.5, -2.0]


def test_pytorch_gives_memory_back_when_it_goes() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    producer = Producer(versioned=True)
    x = loup.from_dlpack(producer)
    taken = torch.from_dlpack(x)
    del x
    gc.collect()
    assert producer.returned == 0
    assert taken.tolist() == [0, 1, 2, 3]
    del taken
    gc.collect()
    assert producer.returned == 1


def test_pytorch_tensors_with_gradients_are_refused_by_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises((BufferError, RuntimeError), match="requires_grad|require grad|gradient"):
        loup.asarray(torch.ones(2, requires_grad=True))


def test_pytorch_is_told_why_masked_tensors_stay() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(TypeError, match="use to_tensor"):
        torch.from_dlpack(loup.masked_tensor([1.0], [True]))


def test_jax_shares_our_memory() -> None:
    library = Jax()
    x = loup.zeros((64, 64))
    assert library.address(library.take(x)) == x.data_ptr()


def test_jax_gives_memory_back_when_it_goes() -> None:
    library = Jax()
    producer = Producer(versioned=False)
    x = loup.from_dlpack(producer)
    taken = library.take(x)
    del x, taken
    gc.collect()
    assert producer.returned == 1
