"""What a test knows of an operator that is a plain function: calls, and what NumPy makes of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import loup
from op_cases.values import DTYPES, FLOATS, array, carrier, dtype_name, sample, tensor

Arrays = np.ndarray | bool | Sequence[np.ndarray]


@dataclass(frozen=True)
class Anything:
    """An input of any elements of the dtype that is tested, NaN and extremes included."""

    shape: tuple[int, ...]

    def values(self, dtype: str, generator: np.random.Generator) -> np.ndarray:
        count = int(np.prod(self.shape))
        return generator.permutation(sample(dtype, count, generator))[:count].reshape(self.shape)


@dataclass(frozen=True)
class Moderate:
    """An input of distinct small numbers, whose sums and products stay small, too."""

    shape: tuple[int, ...]

    def values(self, dtype: str, generator: np.random.Generator) -> np.ndarray:
        count = int(np.prod(self.shape))
        numbers = generator.permutation(np.arange(1, count + 1))
        if dtype in FLOATS:
            numbers = numbers / 4 * generator.choice([-1, 1], count)
        elif dtype == "bool":
            numbers = numbers % 2
        return numbers.astype(carrier(dtype)).reshape(self.shape)


@dataclass(frozen=True)
class Example:
    """One call: `run` gets the operator and the tensors, `reference` the same elements as arrays.
    Inputs that are arrays stay as they are, whatever dtype is tested, and get no gradients."""

    inputs: tuple[Anything | Moderate | np.ndarray, ...]
    run: Callable[..., object]
    reference: Callable[..., Arrays]
    dtypes: Sequence[str] = DTYPES
    rtol: float = 0  # in units of the dtype's last place of the largest element
    gives_tensors: bool = True  # else truth values: no function to differentiate

    def arrays(self, dtype: str, generator: np.random.Generator) -> list[np.ndarray]:
        return [x if isinstance(x, np.ndarray) else x.values(dtype, generator) for x in self.inputs]

    def tensors(self, arrays: list[np.ndarray], dtype: str) -> list[loup.Tensor]:
        fixed = [isinstance(x, np.ndarray) for x in self.inputs]
        return [
            tensor(values, None if is_fixed else dtype)
            for values, is_fixed in zip(arrays, fixed, strict=True)
        ]


def anything(*shape: int) -> Anything:
    return Anything(shape)


def moderate(*shape: int) -> Moderate:
    return Moderate(shape)


def flat(results: object) -> list[object]:
    if isinstance(results, list | tuple):
        return [item for result in results for item in flat(result)]
    return [results]


def assert_agrees(
    results: object, expected: object, dtype: str, rtol: float, about: object
) -> None:
    got, wanted = flat(results), flat(expected)
    assert len(got) == len(wanted), about
    for one, other in zip(got, wanted, strict=True):
        if isinstance(other, bool):
            assert one is other, about
            continue
        wanted_dtype = str(other.dtype)
        if dtype == "bfloat16" and wanted_dtype == "float32":
            wanted_dtype = "bfloat16"
        assert dtype_name(one) == wanted_dtype, about
        assert one.shape == other.shape, about
        if rtol == 0:
            np.testing.assert_array_equal(array(one), other, err_msg=str(about))
        else:
            eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float64": 2.0**-52}
            size = np.max(np.abs(other), initial=1)
            bound = rtol * eps.get(wanted_dtype, 2.0**-23) * size
            np.testing.assert_allclose(array(one), other, rtol=0, atol=bound, err_msg=str(about))
