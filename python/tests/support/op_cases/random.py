"""Random operators: the same seed gives the same numbers, and what is not random is as expected.

Their distributions are tested in test_random.py.
"""

import numpy as np

import loup
from op_cases.example import Example, moderate
from op_cases.values import DTYPES, FLOATS


def _twice(call):
    """Whether a call gives the same elements for the same seed, and others for the next."""

    def run(op, *x):
        first, again = (call(op, loup.Generator(3), *x) for _ in range(2))
        other = call(op, loup.Generator(4), *x)
        assert first.dtype == other.dtype
        assert first.shape == other.shape
        return [loup.equal(first, again), loup.equal(first, other)]

    return run


def _seeded(*inputs, dtypes=("float32",)):
    return lambda call: [
        Example(inputs, _twice(call), lambda *x: [True, False], dtypes, gives_tensors=False)
    ]


def _kept(*shape):
    """What dropout with seed 1 keeps, 2 for each: the same in every dtype."""
    return np.asarray(loup.dropout(loup.ones(shape), 0.5, generator=loup.Generator(1)))


_new = _seeded()
_like = _seeded(moderate(6, 7), dtypes=FLOATS)

RANDOM: dict[str, list[Example]] = {
    "rand": _new(lambda op, g: op(6, 7, generator=g)),
    "randn": _new(lambda op, g: op((6, 7), generator=g)),
    "normal": [
        *_new(lambda op, g: op(1.0, 2.0, (6, 7), generator=g)),
        # mean + std z, so the gradients are 1 and z.
        Example(
            (moderate(5), moderate(5)),
            lambda op, mean, std: op(mean, std * std, generator=loup.Generator(1)),
            lambda mean, std: (
                mean
                + std
                * std
                * np.asarray(loup.randn(5, generator=loup.Generator(1), dtype="float64"))
            ),
            ("float64",),
            rtol=4,
        ),
    ],
    "randint": _new(lambda op, g: op(1000, (6, 7), generator=g)),
    "rand_like": _like(lambda op, g, x: op(x, generator=g)),
    "randn_like": _like(lambda op, g, x: op(x, generator=g)),
    "randint_like": _seeded(moderate(6, 7), dtypes=DTYPES[1:])(
        lambda op, g, x: op(x, 100, generator=g)
    ),
    "bernoulli": _like(lambda op, g, x: op(x, 0.5, generator=g)),
    "uniform_": _like(lambda op, g, x: loup.Tensor.uniform_(x.clone(), -1, 1, generator=g)),
    "normal_": _like(lambda op, g, x: loup.Tensor.normal_(x.clone(), generator=g)),
    "bernoulli_": _like(lambda op, g, x: loup.Tensor.bernoulli_(x.clone(), generator=g)),
    "randperm": _new(lambda op, g: op(100, generator=g)),
    "multinomial": _seeded(np.arange(1, 101, dtype=np.float32))(
        lambda op, g, x: op(x, 20, generator=g)
    ),
    "dropout": [
        *_like(lambda op, g, x: op(x, 0.5, generator=g)),
        Example(
            (moderate(6, 7),),
            lambda op, x: op(x, 0.5, generator=loup.Generator(1)),
            lambda x: np.where(_kept(6, 7) != 0, x * x.dtype.type(2), 0),
            FLOATS,
        ),
        Example((moderate(5),), lambda op, x: op(x, 0.5, training=False), lambda x: x, FLOATS),
        Example((moderate(5),), lambda op, x: op(x, 0.0), lambda x: x, FLOATS),
        Example((moderate(5),), lambda op, x: op(x, 1.0), lambda x: 0 * np.abs(x), FLOATS),
    ],
}
