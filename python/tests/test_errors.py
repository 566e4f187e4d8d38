"""The classes of errors, and the messages of bad input."""

import builtins
import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest

import loup

CLASSES = [
    ("ShapeError", ValueError),
    ("DTypeError", TypeError),
    ("IndexError", IndexError),
    ("ValueError", ValueError),
    ("StateError", RuntimeError),
    ("LayoutError", TypeError),
]
MESSAGE = re.compile(r"^[\w ]+: expected [^A-Z].*, got .*[^.]$")


@pytest.mark.parametrize(("name", "builtin"), CLASSES)
def test_errors_are_loup_s_and_python_s(name: str, builtin: type) -> None:
    error = getattr(loup, name)
    assert issubclass(error, loup.Error)
    assert issubclass(error, builtin)
    assert issubclass(error, RuntimeError)
    assert error.__mro__.index(loup.Error) == 1


def test_error_is_a_runtime_error_and_nothing_more() -> None:
    assert loup.Error.__bases__ == (RuntimeError,)


@pytest.mark.parametrize("name", ["Error", *(name for name, _ in CLASSES)])
def test_errors_say_that_they_are_loup_s(name: str) -> None:
    error = getattr(loup, name)
    assert (error.__module__, error.__qualname__) == ("loup", name)
    assert error.__doc__


@pytest.mark.parametrize(("name", "_"), CLASSES)
def test_errors_can_be_pickled(name: str, _: type) -> None:
    error = pickle.loads(pickle.dumps(getattr(loup, name)("words")))
    assert type(error) is getattr(loup, name)
    assert error.args == ("words",)


def test_errors_do_not_hide_python_s_own() -> None:
    assert loup.ValueError is not builtins.ValueError
    assert loup.IndexError is not builtins.IndexError


def read_only() -> loup.Tensor:
    array = np.zeros(3)
    array.flags.writeable = False
    return loup.from_dlpack(array)


def write_item(x: loup.Tensor) -> None:
    x[0] = 1


X = loup.zeros((2, 3))
BAD_INPUT: dict[str, tuple[Callable[[], object], type, str, str]] = {
    "mask that does not broadcast": (
        lambda: loup.masked.sum(X, mask=[True, False]),
        loup.ShapeError,
        "sum: expected a mask broadcastable to [2, 3]",
        "got shape [2]",
    ),
    "mask with more dims": (
        lambda: loup.masked.sum(X, mask=np.ones((1, 2, 3), bool)),
        loup.IndexError,
        "sum: expected a mask of at most 2 dims",
        "got shape [1, 2, 3]",
    ),
    "shape that does not broadcast": (
        lambda: X.expand(4, 3),
        loup.ShapeError,
        "expand: expected ",
        "got shape [",
    ),
    "dim out of range": (
        lambda: loup.masked.sum(X, 2),
        loup.IndexError,
        "sum: expected a dim from -2 to 1",
        "got 2",
    ),
    "dim out of range from the back": (
        lambda: loup.masked.sum(X, (0, -3)),
        loup.IndexError,
        "sum: expected a dim from -2 to 1",
        "got -3",
    ),
    "dim of a 0-d tensor": (
        lambda: loup.masked.sum(1.0, 1),
        loup.IndexError,
        "sum: expected a dim from -1 to 0",
        "got 1",
    ),
    "repeated dim": (
        lambda: loup.masked.sum(X, (0, 0)),
        loup.ShapeError,
        "sum: expected every dim at most once",
        "got [0, 0]",
    ),
    "repeated dim in another spelling": (
        lambda: loup.masked.sum(X, (1, -1)),
        loup.ShapeError,
        "sum: expected every dim at most once",
        "got [1, -1]",
    ),
    "float mask": (
        lambda: loup.masked.sum(X, mask=np.zeros(3)),
        loup.DTypeError,
        "sum: expected a mask of bool or integers",
        "got float64",
    ),
    "size overflow": (
        lambda: loup.empty((2**40, 2**40)),
        loup.ShapeError,
        "shape: expected at most 9223372036854775807 elements",
        f"got shape [{2**40}, {2**40}]",
    ),
    "byte overflow": (
        lambda: loup.empty(2**62),
        loup.ShapeError,
        "empty: expected at most 9223372036854775807 bytes",
        f"got shape [{2**62}] of float32",
    ),
    "negative size": (
        lambda: loup.zeros((2, -1)),
        loup.ShapeError,
        "shape: expected sizes of at least 0",
        "got [2, -1]",
    ),
    "too many dims": (
        lambda: loup.zeros((1,) * 9),
        loup.ShapeError,
        "shape: expected at most 8 dimensions",
        "got 9",
    ),
    "fill_ of a read-only import": (
        lambda: read_only().fill_(1),
        loup.ValueError,
        "fill_: expected ",
        "got a read-only",
    ),
    "copy_ to a read-only import": (
        lambda: read_only().copy_([1, 2, 3]),
        loup.ValueError,
        "copy_: expected ",
        "got a read-only",
    ),
    "assignment to a read-only import": (
        lambda: write_item(read_only()),
        loup.ValueError,
        "index_put_: expected ",
        "got a read-only",
    ),
    "item of many elements": (
        lambda: X.item(),
        loup.ValueError,
        "item: expected a tensor of one element",
        "got shape [2, 3]",
    ),
    "gradient of integers": (
        lambda: loup.tensor([1], requires_grad=True),
        loup.DTypeError,
        "requires_grad: expected a floating dtype",
        "got int64",
    ),
    "backward without a record": (
        lambda: X.sum().backward(),
        loup.StateError,
        "backward: expected a tensor that requires grad",
        "got one without a record",
    ),
    "writing to a leaf": (
        lambda: loup.zeros(2).requires_grad_().fill_(1),
        loup.StateError,
        "fill_: expected a tensor that may change while gradients are recorded",
        "got a leaf that requires grad",
    ),
    "number of threads": (
        lambda: loup.set_num_threads(0),
        loup.ValueError,
        "set_num_threads: expected a number of threads from 1 to 1024",
        "got 0",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_names_the_rule_and_the_value(case: str) -> None:
    call, error, rule, value = BAD_INPUT[case]
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    assert type(caught.value) is error
    assert text.startswith(rule)
    assert value in text[len(rule) :]
    assert MESSAGE.match(text), text


def test_a_failed_call_leaves_the_tensor_as_it_was() -> None:
    x = loup.arange(3)
    with pytest.raises(loup.ShapeError):
        x.copy_([1, 2])
    assert x.tolist() == [0, 1, 2]


def test_memory_that_nobody_has_is_python_s_memory_error() -> None:
    with pytest.raises(MemoryError):
        loup.empty(2**55)
