"""Gradients of two functions compared, of first and second order."""

from collections.abc import Callable, Sequence

import numpy as np

import loup
from loup.autograd import grad

Function = Callable[..., object]


def total(values: Sequence[loup.Tensor]) -> loup.Tensor:
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result


def gradients(loss: loup.Tensor, inputs: Sequence[loup.Tensor]) -> tuple[list, list]:
    """Of first order, and those of the sum of their squares; None where there are none."""
    wanted = [x for x in inputs if x.requires_grad]
    first = grad(loss, wanted, create_graph=True, allow_unused=True)
    recorded = [g for g in first if g is not None and g.requires_grad]
    if not recorded:
        return list(first), []
    again = total([loup.masked.sum(g * g) for g in recorded])
    return list(first), list(grad(again, wanted, allow_unused=True))


def assert_same_gradients(
    f: Function, inputs: Sequence[loup.Tensor], one: Function, other: Function, about: object
) -> None:
    """Of one(f(inputs)) and other(f(inputs)); all of them finite."""
    for expected, got in zip(
        gradients(one(f(*inputs)), inputs), gradients(other(f(*inputs)), inputs), strict=True
    ):
        assert len(expected) == len(got), about
        for a, b in zip(expected, got, strict=True):
            assert (a is None) == (b is None), about
            if a is not None:
                assert np.isfinite(np.asarray(b.detach())).all(), (about, b)
                np.testing.assert_allclose(
                    np.asarray(b.detach()), np.asarray(a.detach()), rtol=1e-12, atol=1e-12
                )
