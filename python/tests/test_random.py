"""Random tensors: seeds, distributions, sampling, dropout and the generator."""

import copy
import pickle
import threading

import numpy as np
import pytest

import loup

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


def generator(seed: int = 1) -> loup.Generator:
    return loup.Generator(seed)


def array(x: loup.Tensor) -> np.ndarray:
    return x.to("float32").numpy() if x.dtype is loup.bfloat16 else x.numpy()


# --- seeds and state ---


def test_a_seed_repeats_the_numbers() -> None:
    loup.manual_seed(3)
    first = [loup.rand(5).tolist(), loup.randn(5).tolist(), loup.randint(9, (5,)).tolist()]
    loup.manual_seed(3)
    again = [loup.rand(5).tolist(), loup.randn(5).tolist(), loup.randint(9, (5,)).tolist()]
    assert first == again
    assert loup.rand(5).tolist() != first[0]


def test_these_are_the_numbers_of_seed_1() -> None:
    # Written down, so that no change goes unnoticed: users' results depend on them.
    assert loup.rand(4, generator=generator()).tolist() == [
        0.8902591466903687,
        0.8946846723556519,
        0.5857259035110474,
        0.7112680673599243,
    ]
    assert loup.randn(4, generator=generator()).tolist() == [
        0.38040074706077576,
        -0.29627788066864014,
        -0.2492334395647049,
        -1.00383722782135,
    ]
    assert loup.randint(1000, (4,), generator=generator()).tolist() == [890, 894, 585, 711]
    assert loup.randperm(8, generator=generator()).tolist() == [7, 6, 2, 4, 3, 0, 1, 5]


def test_every_call_takes_a_generator() -> None:
    x = loup.full((50,), 0.5)
    calls = [
        lambda g: loup.rand(50, generator=g),
        lambda g: loup.randn((50,), generator=g),
        lambda g: loup.normal(1.0, 2.0, (50,), generator=g),
        lambda g: loup.normal(x, 2.0, generator=g),
        lambda g: loup.randint(0, 1000, (50,), generator=g),
        lambda g: loup.randint_like(x, 1000, generator=g),
        lambda g: loup.rand_like(x, generator=g),
        lambda g: loup.randn_like(x, generator=g),
        lambda g: loup.bernoulli(x, generator=g),
        lambda g: loup.bernoulli(x, 0.5, generator=g),
        lambda g: loup.randperm(50, generator=g),
        lambda g: loup.multinomial(x, 20, generator=g),
        lambda g: loup.dropout(x, 0.5, generator=g),
        lambda g: loup.zeros(50).uniform_(generator=g),
        lambda g: loup.zeros(50).normal_(generator=g),
        lambda g: loup.zeros(50).bernoulli_(generator=g),
    ]
    for call in calls:
        g = generator(8)
        first = call(g).tolist()
        assert call(g).tolist() != first
        assert call(generator(8)).tolist() == first
        assert call(generator(9)).tolist() != first


def test_a_generator_is_saved_and_restored() -> None:
    g = generator(5)
    loup.rand(10, generator=g)
    state = g.get_state()
    assert state == (5, 3)
    pickled, copied = pickle.loads(pickle.dumps(g)), copy.deepcopy(g)
    wanted = loup.rand(10, generator=g).tolist()
    assert loup.rand(10, generator=pickled).tolist() == wanted
    assert loup.rand(10, generator=copied).tolist() == wanted
    assert loup.rand(10, generator=loup.Generator().set_state(state)).tolist() == wanted
    assert repr(pickled) == "Generator(seed=5, offset=6)"


def test_a_generator_takes_any_seed_of_64_bits() -> None:
    assert loup.Generator(2**64 - 1).initial_seed() == 2**64 - 1
    assert loup.Generator(-1).initial_seed() == 2**64 - 1
    g = generator()
    assert g.manual_seed(4) is g
    assert g.initial_seed() == 4
    assert g.seed() == g.initial_seed() != 4
    assert loup.Generator().initial_seed() != loup.Generator().initial_seed()
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(loup.ValueError, match="manual_seed: expected an int of 64 bits, got"):
            loup.manual_seed(seed)
    with pytest.raises(TypeError, match="manual_seed: expected an int, got float"):
        loup.manual_seed(1.5)
    with pytest.raises(TypeError, match="set_state: expected what get_state gives, got int"):
        g.set_state(3)
    with pytest.raises(TypeError, match="rand: expected a Generator, got int"):
        loup.rand(3, generator=3)


def test_threads_of_python_share_the_default_generator() -> None:
    results: list[list[float]] = []
    threads = [
        threading.Thread(
            target=lambda: results.extend(loup.rand(4).tolist() for _ in range(100)),
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(numbers) for numbers in results}) == 400


@pytest.mark.usefixtures("threads")
def test_numbers_depend_on_neither_threads_nor_target(targets: list[str]) -> None:
    def numbers() -> list[bytes]:
        g = generator(2)
        made = [
            *(loup.rand(300, 701, dtype=dtype, generator=g) for dtype in FLOATS),
            *(loup.randn(300, 701, dtype=dtype, generator=g) for dtype in FLOATS),
            *(loup.randint(100, (300, 701), dtype=dtype, generator=g) for dtype in INTEGERS),
            loup.randint(-(2**63), 2**63, (300, 701), generator=g),
            loup.randperm(100000, generator=g),
            loup.dropout(loup.ones((300, 701)), 0.3, generator=g),
        ]
        return [array(x).tobytes() for x in made]

    wanted = numbers()
    for count in (1, 2, 7):
        loup.set_num_threads(count)
        assert numbers() == wanted
    for target in targets:
        loup._loup.choose_target(target)
        assert numbers() == wanted


# --- shapes and dtypes ---


def test_shapes_are_given_as_numbers_or_as_a_tuple() -> None:
    for make in (loup.rand, loup.randn):
        assert make(2, 3).shape == make((2, 3)).shape == make([2, 3]).shape == (2, 3)
        assert make().shape == make(()).shape == ()
        assert make(0, 3).shape == (0, 3)
        assert make(3).dtype is loup.float32


def test_randint_reads_its_arguments_as_torch_and_numpy_do() -> None:
    assert loup.randint(10, (2, 3)).shape == (2, 3)
    assert loup.randint(5, 10, (2, 3)).shape == (2, 3)
    assert loup.randint(10, size=4).shape == (4,)
    assert loup.randint(low=5, high=10, size=(4,)).shape == (4,)
    assert loup.randint(5, 6).item() == 5
    assert loup.randint(1).item() == 0
    assert loup.randint(10, (2,)).dtype is loup.int64


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_made_in_every_dtype(dtype: str) -> None:
    u = array(loup.rand(100000, dtype=dtype, generator=generator())).astype("float64")
    z = array(loup.randn(100000, dtype=dtype, generator=generator())).astype("float64")
    assert (u.min() >= 0) & (u.max() < 1)
    assert abs(u.mean() - 0.5) < 0.005
    assert abs(z.mean()) < 0.02
    assert abs(z.std() - 1) < 0.02


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_made_in_every_dtype(dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = loup.randint(limits.min, limits.max + 1, (100000,), dtype=dtype, generator=generator())
    assert x.dtype.name == dtype
    width = float(limits.max) - float(limits.min)
    assert float(x.numpy().min()) - float(limits.min) < 1e-3 * width
    assert float(limits.max) - float(x.numpy().max()) < 1e-3 * width
    counts = np.bincount(loup.randint(7, (70000,), dtype=dtype, generator=generator()).numpy())
    assert ((counts - 10000) ** 2 / 10000).sum() < 25


def test_requires_grad_makes_a_leaf() -> None:
    for x in (
        loup.rand(3, requires_grad=True),
        loup.randn(3, requires_grad=True),
        loup.randn_like(loup.zeros(3), requires_grad=True),
        loup.normal(0.0, 1.0, 3, requires_grad=True),
    ):
        assert x.requires_grad
        assert x.is_leaf


def test_like_forms_take_arrays_and_are_methods() -> None:
    assert loup.rand_like(np.zeros((2, 3))).dtype is loup.float64
    assert loup.zeros((2, 3)).randn_like(dtype="float16").dtype is loup.float16
    assert loup.randint_like(loup.zeros(3, "int8"), 2, 5).dtype is loup.int8


def test_in_place_forms_return_the_tensor_and_follow_its_strides() -> None:
    x = loup.zeros((4, 6))
    view = x.T[::2]
    assert view.uniform_(2.0, 3.0, generator=generator()) is view
    assert ((x.numpy()[:, ::2] >= 2) & (x.numpy()[:, ::2] < 3)).all()
    assert (x.numpy()[:, 1::2] == 0).all()
    wanted = loup.rand(3, 4, generator=generator()).numpy() + 2
    np.testing.assert_allclose(view.numpy(), wanted, rtol=1e-6)
    assert loup.zeros(5, "int32").bernoulli_(1.0).tolist() == [1] * 5
    assert loup.zeros((2, 2)).bernoulli_(loup.tensor([0.0, 1.0])).tolist() == [[0, 1]] * 2


def test_in_place_forms_refuse_leaves_that_require_grad() -> None:
    x = loup.zeros(3)
    x.requires_grad = True
    with pytest.raises(loup.StateError, match="normal_: expected .*, got a leaf that requires"):
        x.normal_()
    with loup.no_grad():
        x.normal_()
    assert x.tolist() != [0, 0, 0]


def test_normal_takes_numbers_and_tensors() -> None:
    mean = loup.tensor([[100.0], [200.0]])
    x = loup.normal(mean, loup.tensor([0.0, 1.0, 2.0]))
    assert x.shape == (2, 3)
    assert x.tolist()[0][0] == 100
    assert loup.normal(loup.zeros(4, "float64"), 0.0).tolist() == [0] * 4
    assert loup.normal(0, loup.ones(4, "float64")).dtype is loup.float64
    assert loup.normal(3.0, 0.0, (2,)).tolist() == [3, 3]
    assert loup.normal().shape == ()
    with pytest.raises(TypeError, match="normal: expected a size only where .*, got tensors"):
        loup.normal(mean, 1.0, (2, 1))


def test_bernoulli_takes_probabilities_or_one() -> None:
    p = loup.tensor([0.0, 1.0, 0.0, 1.0])
    assert loup.bernoulli(p).tolist() == [0, 1, 0, 1]
    assert p.bernoulli(0.0).tolist() == [0] * 4
    assert loup.bernoulli(loup.zeros(3, "int64"), 1.0).dtype is loup.int64
    assert loup.bernoulli(p, dtype="bool").tolist() == [False, True, False, True]
    assert loup.bernoulli(np.full(10000, 0.25), generator=generator()).numpy().mean() == (
        pytest.approx(0.25, abs=0.02)
    )


# --- sampling and dropout ---


def test_randperm_orders_every_number_once() -> None:
    for n in (0, 1, 10, 100000):
        assert sorted(loup.randperm(n).tolist()) == list(range(n))
    assert loup.randperm(3).dtype is loup.int64


def test_multinomial_draws_by_weight() -> None:
    weights = [[0.0, 1.0, 0.0], [1.0, 0.0, 3.0]]
    assert loup.multinomial(weights, 1).shape == (2, 1)
    x = loup.multinomial(weights, 10000, replacement=True, generator=generator()).numpy()
    assert (x[0] == 1).all()
    assert (x[1] == 2).mean() == pytest.approx(0.75, abs=0.02)
    assert sorted(loup.multinomial([1.0, 2.0, 3.0], 3).tolist()) == [0, 1, 2]


def test_dropout_scales_what_it_keeps() -> None:
    x = loup.ones((1000,))
    y = loup.dropout(x, 0.75, generator=generator()).numpy()
    assert set(y) == {0.0, 4.0}
    assert (y == 0).mean() == pytest.approx(0.75, abs=0.05)
    assert loup.dropout(x, 0.0).tolist() == x.tolist()
    assert x.dropout(1.0).tolist() == [0] * 1000
    assert loup.dropout(x, 0.5, training=False).tolist() == x.tolist()


def test_dropout_keeps_nan_out_of_gradients() -> None:
    x = loup.full((200,), 3.0, "float64")
    x.requires_grad = True
    divisor = loup.dropout(loup.ones(200, "float64"), 0.5, generator=generator())
    y = loup.dropout(x / divisor, 0.5, generator=generator())
    y.backward(loup.ones(200, "float64"))
    assert set(x.grad.tolist()) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: loup.rand(2, dtype="int64"), loup.DTypeError, "a floating dtype, got int64"),
        (lambda: loup.randn(2, dtype=bool), loup.DTypeError, "a floating dtype, got bool"),
        (lambda: loup.randint(3, 3, (2,)), loup.ValueError, "low < high, got low 3 and high 3"),
        (lambda: loup.randint(0, (2,)), loup.ValueError, "low < high, got low 0 and high 0"),
        (
            lambda: loup.randint(0, 2**63 + 1, (2,)),
            loup.ValueError,
            "numbers of int64, .*, got low 0 and high 9223372036854775809",
        ),
        (
            lambda: loup.randint(256, (2,), dtype="int8"),
            loup.ValueError,
            "numbers of int8, from -128 to 127, got a range from 0 to 255",
        ),
        (lambda: loup.randint(1.5, (2,)), TypeError, "an int, got float"),
        (lambda: loup.randint(True, (2,)), TypeError, "an int, got bool"),
        (lambda: loup.randperm(-1), loup.ValueError, "n of at least 0, got -1"),
        (lambda: loup.normal(0.0, -1.0, 3), loup.ValueError, "std of at least 0, got -1"),
        (lambda: loup.zeros(3).normal_(0, -1), loup.ValueError, "std of at least 0, got -1"),
        (lambda: loup.zeros(3).uniform_(2, 1), loup.ValueError, "finite low <= high .*, got 2 and"),
        (lambda: loup.bernoulli([0.5, 1.5]), loup.ValueError, r"in \[0, 1\], got 1.5"),
        (lambda: loup.bernoulli([1, 0]), loup.DTypeError, "a floating dtype, got int64"),
        (lambda: loup.dropout([1.0], -0.1), loup.ValueError, r"p in \[0, 1\], got -0.1"),
        (lambda: loup.dropout([1]), loup.DTypeError, "a floating dtype, got int64"),
        (lambda: loup.multinomial([1.0], 2), loup.ValueError, "2 weights above 0 in a row, got 1"),
        (lambda: loup.rand(-1), loup.ShapeError, r"sizes of at least 0, got \[-1\]"),
    ],
)
def test_errors_say_what_was_expected(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=rf"\w+: expected .*{message}"):
        call()
