"""loup.save and loup.load: round trips, mapping, masks, and what is refused."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import loup

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
SHAPES = [(), (0,), (1,), (5,), (2, 0, 3), (3, 1, 7), (1,) * 8]


def array_of(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if dtype == "bool":
        return random.random(shape) < 0.5
    return np.frombuffer(random.bytes(size), dtype).reshape(shape)


def bits(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def masked(shape: tuple[int, ...] = (2, 3)) -> loup.MaskedTensor:
    data = loup.asarray(array_of("float32", shape))
    return loup.masked_tensor(data, loup.asarray(array_of("bool", shape)))


def assert_equal(a: object, b: object) -> None:
    assert type(a) is type(b)
    if isinstance(a, loup.MaskedTensor):
        assert_equal(a.get_data(), b.get_data())
        assert_equal(a.get_mask(), b.get_mask())
    elif isinstance(a, dict):
        assert sorted(a) == sorted(b)
        for key in a:
            assert_equal(a[key], b[key])
    else:
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        left, right = (x.to("float32") if x.dtype == loup.bfloat16 else x for x in (a, b))
        assert bits(np.asarray(left)) == bits(np.asarray(right))


# --- round trips ---


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("name", ["x.npy", "x.safetensors"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_comes_back(tmp_path: Path, dtype: str, name: str, mapped: bool) -> None:
    for shape in SHAPES:
        x = loup.asarray(array_of(dtype, shape))
        loup.save(x, tmp_path / name)
        assert_equal(loup.load(tmp_path / name, mapped=mapped), x)
    assert names_in(tmp_path) == [name]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_masked_tensor_comes_back(tmp_path: Path, shape: tuple[int, ...]) -> None:
    x = masked(shape)
    loup.save(x, tmp_path / "x.safetensors")
    assert_equal(loup.load(tmp_path / "x.safetensors"), x)


@pytest.mark.parametrize(
    ("name", "compressed"), [("x.npz", False), ("x.npz", True), ("x.safetensors", False)]
)
@pytest.mark.parametrize("mapped", [True, False])
def test_a_dict_comes_back(tmp_path: Path, name: str, compressed: bool, mapped: bool) -> None:
    items = {"a": masked(), "b/c": loup.arange(5), 'é "\\\n': loup.zeros(()), "": loup.ones(0)}
    items["t"] = loup.arange(6).reshape(2, 3).T
    items |= {dtype: loup.asarray(array_of(dtype, (4, 3))) for dtype in DTYPES}
    loup.save(items, tmp_path / name, compressed=compressed)
    assert_equal(loup.load(tmp_path / name, mapped=mapped), items)


def test_an_empty_dict_comes_back(tmp_path: Path) -> None:
    for name in ("x.npz", "x.safetensors"):
        loup.save({}, tmp_path / name)
        assert loup.load(tmp_path / name) == {}


def test_bfloat16_comes_back_from_safetensors(tmp_path: Path) -> None:
    x = loup.tensor([1.5, -2.0, float("inf")], dtype="bfloat16")
    loup.save({"x": x}, tmp_path / "x.safetensors")
    back = loup.load(tmp_path / "x.safetensors")["x"]
    assert back.dtype == loup.bfloat16
    assert back.tolist() == x.tolist()


@hypothesis.settings(
    max_examples=80, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(data=st.data())
def test_any_tensors_come_back(tmp_path: Path, data: st.DataObject) -> None:
    shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
    items: dict[str, object] = {}
    for name in data.draw(st.lists(st.text(max_size=5), unique=True, max_size=4)):
        hypothesis.assume(
            not name.endswith(".mask") and name != "__metadata__" and "\0" not in name
        )
        try:
            name.encode()
        except UnicodeEncodeError:
            hypothesis.reject()
        array = array_of(data.draw(st.sampled_from(DTYPES)), data.draw(shapes))
        x = loup.asarray(array)
        if data.draw(st.booleans()):
            x = x.permute(*data.draw(st.permutations(range(x.ndim)))) if x.ndim else x
        is_masked = data.draw(st.booleans())
        items[name] = (
            loup.masked_tensor(x, loup.asarray(array_of("bool", x.shape))) if is_masked else x
        )
    suffix, compressed = data.draw(
        st.sampled_from([(".npz", False), (".npz", True), (".safetensors", False)])
    )
    path = tmp_path / f"x{suffix}"
    loup.save(items, path, compressed=compressed)
    assert_equal(loup.load(path, mapped=data.draw(st.booleans())), items)


# --- what load gives ---


def test_masks_are_tensors_if_asked(tmp_path: Path) -> None:
    x = masked()
    loup.save({"x": x}, tmp_path / "x.npz")
    assert_equal(
        loup.load(tmp_path / "x.npz", masked=False), {"x": x.get_data(), "x.mask": x.get_mask()}
    )
    loup.save(x, tmp_path / "x.safetensors")
    assert_equal(
        loup.load(tmp_path / "x.safetensors", masked=False),
        {"data": x.get_data(), "mask": x.get_mask()},
    )


def test_what_is_loaded_may_be_changed_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    loup.save(loup.zeros(1000), path)
    before = path.read_bytes()
    for mapped in (True, False):
        x = loup.load(path, mapped=mapped)
        x.fill_(1)
        assert x.sum().item() == 1000
        assert path.read_bytes() == before


def test_a_file_that_is_replaced_stays_for_its_readers(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    loup.save(loup.arange(10_000), path)
    x = loup.load(path)
    loup.save(loup.zeros(3), path)
    assert x.sum().item() == 49_995_000
    path.unlink()
    assert x[-1].item() == 9999


def test_a_mapped_tensor_can_be_saved_over_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    loup.save(loup.arange(1000), path)
    loup.save(loup.load(path) + 1, path)
    loup.save(loup.load(path), path)
    assert loup.load(path).sum().item() == 500_500


def test_training_in_place_on_loaded_tensors_works(tmp_path: Path) -> None:
    """Two tensors of one file are two tensors: a change of one is no change of the other."""
    path = tmp_path / "x.safetensors"
    loup.save({"a": loup.ones(3), "b": loup.ones(3)}, path)
    items = loup.load(path)
    a = items["a"].requires_grad_()
    loss = (a * a).sum()
    items["b"].fill_(2)
    loss.backward()
    assert a.grad.tolist() == [2, 2, 2]


def test_gradient_records_are_not_saved(tmp_path: Path) -> None:
    x = loup.ones(3).requires_grad_()
    loup.save({"x": x, "y": x * 2}, tmp_path / "x.safetensors")
    assert not any(y.requires_grad for y in loup.load(tmp_path / "x.safetensors").values())


def test_arrays_and_lists_can_be_saved(tmp_path: Path) -> None:
    loup.save(np.arange(3), tmp_path / "x.npy")
    assert loup.load(tmp_path / "x.npy").tolist() == [0, 1, 2]
    loup.save({"x": [1.0, 2.0], "y": 3}, tmp_path / "x.npz")
    assert {k: v.tolist() for k, v in loup.load(tmp_path / "x.npz").items()} == {
        "x": [1, 2],
        "y": 3,
    }


def test_paths_are_str_bytes_or_path_like(tmp_path: Path) -> None:
    path = tmp_path / "é x.npy"
    for form in (path, str(path), bytes(path)):
        loup.save(loup.arange(3), form)
        assert loup.load(form).tolist() == [0, 1, 2]
        path.unlink()


# --- file_info ---


def test_file_info_tells_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    x = masked()
    loup.save({"x": x, "y": loup.zeros((4, 0), dtype="int8")}, path, metadata={"by": "me"})
    assert loup.file_info(path) == {
        "format": "safetensors",
        "bytes": path.stat().st_size,
        "tensors": [
            {
                "name": "x",
                "dtype": loup.float32,
                "shape": (2, 3),
                "bytes": 30,
                "masked": True,
                "valid": int(np.asarray(x.get_mask()).sum()),
            },
            {
                "name": "y",
                "dtype": loup.int8,
                "shape": (4, 0),
                "bytes": 0,
                "masked": False,
                "valid": None,
            },
        ],
        "metadata": {"by": "me"},
    }


def test_file_info_has_no_name_for_the_only_tensor(tmp_path: Path) -> None:
    for name in ("x.npy", "x.safetensors"):
        loup.save(loup.zeros(3), tmp_path / name)
        info = loup.file_info(tmp_path / name)
        assert [entry["name"] for entry in info["tensors"]] == [None]
        assert info["metadata"] == {}


# --- refusals ---

MESSAGE = re.compile(r"^[\w ]+: expected [^A-Z].*, got .*[^.]$")
Save = Callable[[Path], None]
REFUSED: dict[str, tuple[Save, type, str, str]] = {
    "extension": (
        lambda folder: loup.save(loup.zeros(1), folder / "x.pt"),
        loup.ValueError,
        "save: expected a path that ends in .npy, .npz or .safetensors",
        'x.pt"',
    ),
    "MaskedTensor as .npy": (
        lambda folder: loup.save(masked(), folder / "x.npy"),
        loup.ValueError,
        "save: expected a Tensor for .npy",
        "got a MaskedTensor",
    ),
    "Tensor as .npz": (
        lambda folder: loup.save(loup.zeros(1), folder / "x.npz"),
        loup.ValueError,
        "save: expected named tensors for .npz",
        "got a Tensor",
    ),
    "bfloat16 as .npy": (
        lambda folder: loup.save(loup.zeros(1, dtype="bfloat16"), folder / "x.npy"),
        loup.DTypeError,
        "save: expected a dtype that NumPy has",
        "got bfloat16",
    ),
    "compressed .npy": (
        lambda folder: loup.save(loup.zeros(1), folder / "x.npy", compressed=True),
        loup.ValueError,
        "save: expected .npz for compressed arrays",
        "got .npy",
    ),
    "metadata in .npz": (
        lambda folder: loup.save({}, folder / "x.npz", metadata={"a": "b"}),
        loup.ValueError,
        "save: expected .safetensors for metadata",
        "got .npz",
    ),
    "our metadata": (
        lambda folder: loup.save({}, folder / "x.safetensors", metadata={"loup.x": "b"}),
        loup.ValueError,
        "save: expected keys of metadata that do not begin with loup.",
        'got "loup.x"',
    ),
    "metadata that is not text": (
        lambda folder: loup.save({}, folder / "x.safetensors", metadata={"a": 1}),
        TypeError,
        "save: expected metadata as a dict of str",
        "got int",
    ),
    "metadata that is no dict": (
        lambda folder: loup.save({}, folder / "x.safetensors", metadata=["a"]),
        TypeError,
        "save: expected metadata as a dict",
        "got list",
    ),
    "keys that are not text": (
        lambda folder: loup.save({1: loup.zeros(1)}, folder / "x.npz"),
        TypeError,
        "save: expected a dict with names as keys",
        "got int",
    ),
    "a name twice": (
        lambda folder: loup.save({"x": masked(), "x.mask": loup.zeros(1)}, folder / "x.npz"),
        loup.ValueError,
        "save: expected one tensor of each name",
        'got "x.mask" twice',
    ),
    "the name of the metadata": (
        lambda folder: loup.save({"__metadata__": loup.zeros(1)}, folder / "x.safetensors"),
        loup.ValueError,
        "save: expected names other than __metadata__",
        "got it",
    ),
    "text": (
        lambda folder: loup.save("text", folder / "x.npy"),
        TypeError,
        "save: expected a tensor, an array, a number or nested lists of numbers",
        "got str",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_saved_is_refused_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    call, error, rule, value = REFUSED[case]
    with pytest.raises(error) as caught:
        call(tmp_path)
    text = str(caught.value)
    assert type(caught.value) is error
    assert text.startswith(rule)
    assert value in text[len(rule) :]
    assert MESSAGE.match(text), text
    assert names_in(tmp_path) == []


def test_names_with_halves_of_pairs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        loup.save({"\ud800": loup.zeros(1)}, tmp_path / "x.npz")


@pytest.mark.parametrize("path", [None, 1, ["x"]], ids=str)
def test_a_path_must_be_a_path(path: object) -> None:
    with pytest.raises(TypeError):
        loup.save(loup.zeros(1), path)
    with pytest.raises(TypeError):
        loup.load(path)


def test_bad_content_is_a_format_error_that_names_the_path(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(b"nonsense")
    for call in (loup.load, loup.file_info):
        with pytest.raises(loup.FormatError) as caught:
            call(path)
        assert isinstance(caught.value, loup.ValueError)
        assert isinstance(caught.value, ValueError)
        assert str(caught.value) == (
            "load: expected an .npy, .npz or .safetensors file, got one that begins with "
            f'6e 6f 6e 73 65 6e 73 65; in "{path}"'
        )


@pytest.mark.parametrize("mapped", [True, False])
def test_a_file_that_is_not_there_is_a_file_not_found_error(tmp_path: Path, mapped: bool) -> None:
    path = tmp_path / "none.npy"
    with pytest.raises(FileNotFoundError) as caught:
        loup.load(path, mapped=mapped)
    assert isinstance(caught.value, loup.Error)
    assert (caught.value.errno, caught.value.filename) == (2, str(path))


def test_a_folder_that_is_not_there_is_a_file_not_found_error(tmp_path: Path) -> None:
    path = tmp_path / "none" / "x.npy"
    with pytest.raises(FileNotFoundError) as caught:
        loup.save(loup.zeros(1), path)
    assert isinstance(caught.value, loup.Error)
    assert (caught.value.errno, caught.value.filename) == (2, str(path))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.npy").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for mapped in (True, False):
        for name in ("x.npy", "pipe"):
            with pytest.raises(OSError, match="expected a regular file"):
                loup.load(tmp_path / name, mapped=mapped)
    with pytest.raises(OSError, match="expected a regular file or none"):
        loup.save(loup.zeros(1), tmp_path / "x.npy")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, run_python: Callable) -> None:
    """Python ignores SIGXFSZ, so a limit of the file's size stands for a full disk."""
    path = tmp_path / "x.npy"
    loup.save(loup.arange(3), path)
    result = run_python(
        """
import resource, sys, loup
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    loup.save(loup.zeros(10000), sys.argv[1])
except OSError as error:
    print(error.errno)
""",
        str(path),
    )
    assert (result.stdout, result.stderr) == ("27\n", "")
    assert loup.load(path).tolist() == [0, 1, 2]
    assert names_in(tmp_path) == ["x.npy"]
