"""loup.shm and loup.from_file: segments, tickets, mapped files, errors."""

import builtins
import os
import pickle
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import loup
from loup import shm


@pytest.fixture(autouse=True)
def namespace(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A namespace of the test's own, in which nothing may be left."""
    ns = "p" + uuid.uuid4().hex[:7]
    monkeypatch.setenv("LOUP_NS", ns)
    yield ns
    assert shm.ls(ns) == []


def test_a_segment_is_shared_by_name() -> None:
    segment = shm.create("batch", nbytes=1 << 20)
    x = segment.tensor("float32", (512, 512))
    x.fill_(2.0)
    with shm.attach("batch", readonly=True) as other:
        y = other.tensor("float32", (512, 512))
        assert y.is_readonly
        assert y.sum().item() == 2.0 * 512 * 512
        assert segment.attachments() == 2
        del y
    assert segment.attachments() == 1


def test_tensors_keep_the_segment(namespace: str) -> None:
    with shm.create("kept", nbytes=4096) as segment:
        x = segment.tensor("int64")
        part = x[3:5]
        del x
    assert segment.closed
    part.fill_(7)
    assert part.tolist() == [7, 7]
    assert [entry.live for entry in shm.ls(namespace)] == [True]
    del part
    assert shm.ls(namespace) == []


def test_the_mapping_of_a_tensor_is_told() -> None:
    segment = shm.create("told", nbytes=4096, label="for people")
    x = segment.tensor("float64", (4, 4), offset=64)
    mapping = x.transpose(0, 1)[1:].mapping()
    assert mapping is not None
    assert (mapping.kind, mapping.shared, mapping.readonly) == ("segment", True, False)
    assert mapping.lifetime == "last_detach"
    assert mapping.path.endswith(segment.name)
    assert loup.zeros(3).mapping() is None
    told = segment.info()
    assert (told.label, told.nbytes, told.attachments) == ("for people", 4096, 1)
    assert told.holders[0]["pid"] == os.getpid()


def test_a_masked_tensor_lives_in_one_segment() -> None:
    segment = shm.create("masked", nbytes=4096)
    x = segment.masked_tensor("float32", (3, 5))
    x.get_data().copy_(np.arange(15.0).reshape(3, 5))
    x.get_mask().copy_(np.arange(15).reshape(3, 5) % 2 == 0)
    other = shm.attach("masked").masked_tensor("float32", (3, 5))
    assert other.sum().to_tensor(0).item() == sum(range(0, 15, 2))
    assert x.get_data().mapping().path == x.get_mask().mapping().path


def test_what_does_not_fit_is_refused() -> None:
    segment = shm.create("small", nbytes=100)
    with pytest.raises(loup.ShapeError, match=r"expected at most 100 bytes from 0 on, got 400"):
        segment.tensor("float32", (100,))
    with pytest.raises(loup.ValueError, match=r"expected an offset that is a multiple of 4.*got 2"):
        segment.tensor("float32", (3,), offset=2)
    with pytest.raises(loup.ShapeError):
        segment.masked_tensor("float32", (20,))
    segment.close()
    with pytest.raises(loup.StateError, match="expected an open segment, got one after close"):
        segment.tensor()


def test_segments_grow() -> None:
    segment = shm.create("grows", nbytes=100)
    old = segment.tensor("uint8", (100,))
    other = shm.attach("grows")
    segment.grow(1_000_000)
    segment.tensor("uint8").fill_(3)
    assert old.tolist() == [3] * 100
    assert other.refresh()
    assert other.tensor("uint8").sum().item() == 3_000_000


def test_persistent_segments_stay(namespace: str) -> None:
    shm.create("stays", nbytes=10, lifetime="persistent").close()
    assert shm.sweep(namespace).kept == [f"lp.{namespace}.stays"]
    assert shm.info("stays").live is False
    assert shm.remove("stays")
    assert not shm.remove("stays")


def test_sweep_removes_what_a_killed_process_left(namespace: str) -> None:
    code = "import loup, os, signal; s = loup.shm.create('left', 10); os.kill(os.getpid(), 9)"
    environment = os.environ | {"PYTHONPATH": str(Path(loup.__file__).parent.parent)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    name = f"lp.{namespace}.left"
    assert shm.sweep(namespace, dry_run=True).removed == [name]
    assert shm.sweep(namespace).removed == [name]
    assert shm.sweep(namespace).removed == []


def test_a_ticket_is_a_reference(namespace: str) -> None:
    segment = shm.create("handed", nbytes=16)
    segment.tensor("int32", (4,)).copy_([1, 2, 3, 4])
    ticket = segment.ticket()
    segment.close()
    with ticket.attach() as received:
        assert received.tensor("int32", (4,)).tolist() == [1, 2, 3, 4]
    with pytest.raises(loup.StateError, match="expected an unused ticket"):
        ticket.attach()
    unused = shm.create("unused", nbytes=16).ticket()
    assert len(shm.ls(namespace)) == 1
    del unused
    assert shm.ls(namespace) == []


def test_errors_are_those_of_the_system() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        shm.attach("missing")
    assert isinstance(caught.value, loup.MapError)
    assert isinstance(caught.value, loup.Error)
    assert caught.value.errno == 2
    assert caught.value.filename.endswith(".missing")
    assert str(caught.value).startswith('attach: expected an existing file, got "')
    held = shm.create("taken", nbytes=1)
    with pytest.raises(FileExistsError):
        shm.create("taken", nbytes=1)
    with pytest.raises(loup.MapError, match="expected a segment that nobody uses") as busy:
        shm.remove("taken")
    assert busy.value.errno == 16
    with pytest.raises(loup.ValueError, match=r"expected a name of 1 to 200"):
        shm.create("no spaces please")
    with pytest.raises(loup.MapError, match="expected at most"):
        shm.create("huge", nbytes=(1 << 63) - 1)
    held.close()


@pytest.mark.parametrize("name", ["IoError", "MapError"])
def test_error_classes_are_python_s_too(name: str) -> None:
    error = getattr(loup, name)
    assert issubclass(error, OSError)
    assert issubclass(error, loup.Error)
    for variant in ("NotFound", "Exists", "Permission"):
        derived = getattr(loup, name.removesuffix("Error") + variant + "Error")
        assert issubclass(derived, error)
    made = error(2, "words", "file")
    again = pickle.loads(pickle.dumps(made))
    assert (again.errno, again.filename, str(again)) == (2, "file", "words")


# --- mapped files ---


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.bin"
    np.arange(24, dtype=np.float32).tofile(path)
    return path


def test_from_file_maps_the_whole_file(numbers: Path) -> None:
    x = loup.from_file(numbers)
    assert x.tolist() == list(range(24))
    assert x.mapping().kind == "file"
    assert x.mapping().path == str(numbers)
    x.fill_(0)
    assert np.fromfile(numbers, np.float32).sum() == sum(range(24))


def test_from_file_takes_dtype_shape_and_offset(numbers: Path) -> None:
    x = loup.from_file(str(numbers), "float32", (2, 3), offset=8)
    assert x.tolist() == [[2, 3, 4], [5, 6, 7]]
    assert loup.from_file(os.fsencode(numbers), loup.uint8).numel() == 96
    assert loup.from_file(numbers, "float64").shape == (12,)


def test_from_file_shared_changes_the_file(numbers: Path) -> None:
    x = loup.from_file(numbers, shared=True)
    x[0] = 100.0
    assert np.fromfile(numbers, np.float32)[0] == 100.0
    grown = loup.from_file(numbers, shape=(100,), shared=True)
    assert grown[:24].tolist() == [100.0, *range(1, 24)]
    assert grown[24:].sum().item() == 0
    assert numbers.stat().st_size == 400


def test_from_file_readonly_is_readonly(numbers: Path) -> None:
    x = loup.from_file(numbers, readonly=True)
    assert x.is_readonly
    with pytest.raises(loup.ValueError, match="read-only"):
        x.fill_(0)


def test_from_file_refuses_what_does_not_fit(numbers: Path, tmp_path: Path) -> None:
    with pytest.raises(loup.MapError, match=r"expected a file of at least 400 bytes, got .* of 96"):
        loup.from_file(numbers, shape=(100,))
    with pytest.raises(loup.ValueError, match="expected a whole number of float64 elements"):
        loup.from_file(numbers, "float64", offset=88 + 16)
    with pytest.raises(loup.ValueError, match="expected an offset that is a multiple of 4"):
        loup.from_file(numbers, offset=2)
    with pytest.raises(builtins.FileNotFoundError):
        loup.from_file(tmp_path / "missing")
    with pytest.raises(loup.MapError, match="expected a regular file, got a directory"):
        loup.from_file(tmp_path)
    with pytest.raises(loup.ShapeError):
        loup.from_file(numbers, shape=(1 << 62,))
    (tmp_path / "empty").touch()
    assert loup.from_file(tmp_path / "empty").shape == (0,)
