"""Files of NumPy and safetensors in loup, and loup's in theirs."""

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import loup

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
SHAPES = [(), (0,), (5,), (2, 0, 3), (3, 1, 7)]


def array_of(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    random = np.random.default_rng(1)
    return np.asarray(random.normal(size=shape) * 100).astype(dtype)


def assert_same(x: loup.Tensor, array: np.ndarray) -> None:
    assert np.asarray(x).dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(np.asarray(x), array, strict=array.dtype.isnative)


# --- .npy ---


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_npy_is_byte_for_byte_what_numpy_writes(
    tmp_path: Path, dtype: str, shape: tuple[int, ...]
) -> None:
    array = array_of(dtype, shape)
    for form in (array, array.T, array[..., ::2] if array.ndim else array):
        np.save(tmp_path / "numpy.npy", form)
        loup.save(loup.asarray(form), tmp_path / "loup.npy")
        assert (tmp_path / "loup.npy").read_bytes() == (tmp_path / "numpy.npy").read_bytes()


@pytest.mark.parametrize("mapped", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("byteorder", ["<", ">"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_npy_of_numpy_is_read(
    tmp_path: Path, dtype: str, byteorder: str, order: str, mapped: bool
) -> None:
    path = tmp_path / "x.npy"
    for shape in SHAPES:
        array = np.asarray(array_of(dtype, shape), order=order)
        array = array.astype(array.dtype.newbyteorder(byteorder), order=order)
        np.save(path, array)
        x = loup.load(path, mapped=mapped)
        assert_same(x, array)
        if array.size:
            assert x.strides == tuple(s // array.itemsize for s in np.load(path).strides)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_of_every_version_is_read(tmp_path: Path, version: tuple[int, int]) -> None:
    path = tmp_path / "x.npy"
    array = array_of("float32", (3, 4))
    with path.open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    assert_same(loup.load(path), array)


def test_npy_can_be_mapped_by_numpy(tmp_path: Path) -> None:
    loup.save(loup.arange(10), tmp_path / "x.npy")
    assert np.load(tmp_path / "x.npy", mmap_mode="r").tolist() == list(range(10))


def test_npy_of_open_memmap_is_read(tmp_path: Path) -> None:
    array = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype="<i4", shape=(3, 2))
    array[:] = 7
    array.flush()
    assert loup.load(tmp_path / "x.npy").tolist() == [[7, 7]] * 3


@pytest.mark.parametrize(
    ("array", "descr"),
    [
        (np.array([None, 1], object), "'|O'; pickled objects are never loaded"),
        (np.array(["a"]), "'<U1'"),
        (np.array([b"a"]), "'|S1'"),
        (np.zeros(2, "u4"), "'<u4'"),
        (np.zeros(2, "c16"), "'<c16'"),
        (np.zeros(2, "M8[s]"), "'<M8[s]'"),
        (np.zeros(2, [("a", "i4")]), "a structured one"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arrays_that_loup_does_not_have_are_refused(
    tmp_path: Path, array: np.ndarray, descr: str
) -> None:
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    with pytest.raises(loup.FormatError) as caught:
        loup.load(tmp_path / "x.npy")
    assert str(caught.value) == (
        "load: expected a dtype of bool, uint8, int8 to int64 or float16 to float64, "
        f'got {descr}; in "{tmp_path / "x.npy"}"'
    )


def test_bfloat16_of_ml_dtypes_is_refused(tmp_path: Path) -> None:
    """Its files say that they hold two bytes of anything."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    np.save(tmp_path / "x.npy", np.ones(2, ml_dtypes.bfloat16))
    with pytest.raises(loup.FormatError, match="got '.V2'"):
        loup.load(tmp_path / "x.npy")


# --- .npz ---


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("mapped", [True, False])
def test_npz_of_numpy_is_read(tmp_path: Path, save: object, mapped: bool) -> None:
    path = tmp_path / "x.npz"
    arrays = {
        f"{dtype}{len(shape)}": array_of(dtype, shape) for dtype in DTYPES for shape in SHAPES
    }
    arrays["fortran"] = np.asfortranarray(array_of("int32", (3, 4)))
    arrays["big"] = array_of("float64", (3, 4)).astype(">f8")
    save(path, **arrays)
    items = loup.load(path, mapped=mapped)
    assert sorted(items) == sorted(arrays)
    for name, array in arrays.items():
        assert_same(items[name], array)


@pytest.mark.parametrize("compressed", [False, True])
def test_npz_is_read_by_numpy(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "x.npz"
    arrays = {f"é{dtype}": array_of(dtype, (3, 4)) for dtype in DTYPES}
    loup.save({k: loup.asarray(v) for k, v in arrays.items()}, path, compressed=compressed)
    with np.load(path) as file:
        assert sorted(file.files) == sorted(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(file[name], array, strict=True)
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        methods = {member.compress_type for member in file.infolist()}
    assert methods == {zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED}


def test_npz_shows_masks_to_numpy(tmp_path: Path) -> None:
    x = loup.masked_tensor(loup.arange(4), loup.tensor([True, False, True, True]))
    loup.save({"x": x}, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as file:
        assert file["x"].tolist() == [0, 1, 2, 3]
        assert file["x.mask"].tolist() == [True, False, True, True]


def test_masks_of_numpy_become_masks(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.arange(3), **{"x.mask": np.array([True, False, True])})
    x = loup.load(tmp_path / "x.npz")["x"]
    assert isinstance(x, loup.MaskedTensor)
    assert x.to_tensor(9).tolist() == [0, 9, 2]


def npy_bytes(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_archives_of_other_tools_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.comment = b"a comment " * 100
        file.writestr("a.npy", npy_bytes(np.arange(3)))
        file.writestr("b.npy", npy_bytes(np.arange(4)), zipfile.ZIP_DEFLATED, 9)
        with file.open("c.npy", "w", force_zip64=True) as member:
            member.write(npy_bytes(np.arange(5)))
    assert {k: v.size() for k, v in loup.load(path).items()} == {"a": (3,), "b": (4,), "c": (5,)}


def test_archives_written_to_a_pipe_are_read(tmp_path: Path) -> None:
    """Sizes and checksums follow the data there."""

    class Pipe(io.RawIOBase):
        data = b""

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.data += bytes(data)
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", npy_bytes(np.arange(3)))
    (tmp_path / "x.npz").write_bytes(pipe.data)
    assert loup.load(tmp_path / "x.npz")["a"].tolist() == [0, 1, 2]


def test_a_bomb_is_refused_before_memory_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", bytes(1000))
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\1\2", 24), (b"PK\3\4", 22)):
        at = data.index(signature) + offset
        data[at : at + 4] = struct.pack("<I", 2**32 - 2)
    path.write_bytes(data)
    with pytest.raises(loup.FormatError, match="at most 1032 times the packed bytes"):
        loup.load(path)


def test_checksums_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    loup.save({"x": loup.arange(4)}, path)
    data = path.read_bytes()
    at = data.index(struct.pack("<4q", 0, 1, 2, 3))
    path.write_bytes(data[:at] + b"\7" + data[at + 1 :])
    with pytest.raises(loup.FormatError, match="expected checksum 0x[0-9a-f]{8} of member"):
        loup.load(path)
    assert loup.load(path, verify=False)["x"].tolist() == [7, 1, 2, 3]


# --- safetensors ---

safetensors_numpy = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
safetensors = pytest.importorskip("safetensors", reason="safetensors is not installed")


def test_safetensors_of_the_reference_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    arrays = {
        f"{dtype}{len(shape)}": array_of(dtype, shape) for dtype in DTYPES for shape in SHAPES
    }
    safetensors_numpy.save_file(arrays, path, metadata={"é": '"'})
    items = loup.load(path)
    assert sorted(items) == sorted(arrays)
    for name, array in arrays.items():
        assert_same(items[name], array)
    assert loup.file_info(path)["metadata"] == {"é": '"'}


def test_safetensors_are_read_by_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    arrays = {f"é{dtype}{len(s)}": array_of(dtype, s) for dtype in DTYPES for s in SHAPES}
    loup.save({k: loup.asarray(v) for k, v in arrays.items()}, path, metadata={"a": "b\n"})
    back = safetensors_numpy.load_file(path)
    assert sorted(back) == sorted(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array, strict=True)
    with safetensors.safe_open(path, "numpy") as file:
        assert file.metadata() == {"a": "b\n"}


def test_bfloat16_is_exchanged_with_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    safetensors_torch = pytest.importorskip("safetensors.torch")
    values = [1.5, -2.0, 3.0e38]
    loup.save({"x": loup.tensor(values, dtype="bfloat16")}, tmp_path / "a.safetensors")
    x = safetensors_torch.load_file(tmp_path / "a.safetensors")["x"]
    assert x.dtype == torch.bfloat16
    safetensors_torch.save_file({"x": x}, tmp_path / "b.safetensors")
    y = loup.load(tmp_path / "b.safetensors")["x"]
    assert y.dtype == loup.bfloat16
    assert y.tolist() == x.tolist()


def test_masked_tensors_are_two_tensors_to_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    x = loup.masked_tensor(loup.arange(4), loup.tensor([True, False, True, True]))
    loup.save(x, path)
    back = safetensors_numpy.load_file(path)
    assert back["data"].tolist() == [0, 1, 2, 3]
    assert back["mask"].tolist() == [True, False, True, True]
    with safetensors.safe_open(path, "numpy") as file:
        assert file.metadata() == {"loup.format": "masked_tensor", "loup.version": "1"}
    loup.save({"x": x}, path)
    assert sorted(safetensors_numpy.load_file(path)) == ["x", "x.mask"]


def test_the_order_of_tensors_is_that_of_the_reference(tmp_path: Path) -> None:
    arrays = {
        "b": array_of("bool", (3,)),
        "a": array_of("bool", (2,)),
        "z": array_of("float64", (1,)),
    }
    arrays |= {"h": array_of("float16", (3,)), "f": array_of("float32", (1,))}

    def offsets(path: Path) -> dict[str, list[int]]:
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        assert (8 + length) % 8 == 0
        return {k: v["data_offsets"] for k, v in json.loads(data[8 : 8 + length]).items()}

    safetensors_numpy.save_file(arrays, tmp_path / "a.safetensors")
    loup.save({k: loup.asarray(v) for k, v in arrays.items()}, tmp_path / "b.safetensors")
    assert offsets(tmp_path / "a.safetensors") == offsets(tmp_path / "b.safetensors")


@pytest.mark.parametrize("count", [1, 3, 7])
def test_what_the_reference_refuses_is_refused(tmp_path: Path, count: int) -> None:
    """Random damage to the header: loup accepts nothing that the reference refuses."""
    path = tmp_path / "x.safetensors"
    random = np.random.default_rng(count)
    arrays = {"a": array_of("float32", (2, 3)), "b": array_of("bool", (4,))}
    whole = bytearray(safetensors_numpy.save(arrays, metadata={"k": "v"}))
    (length,) = struct.unpack("<Q", whole[:8])
    accepted = 0
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(count):
            data[random.integers(0, 8 + length)] = random.integers(0, 256)
        path.write_bytes(data)
        try:
            loup.load(path)
        except loup.FormatError:
            continue
        accepted += 1
        safetensors_numpy.load(bytes(data))
    print(f"seed {count}: {accepted} of 500 accepted")
