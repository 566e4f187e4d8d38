"""Tensors between processes: multiprocessing shares them, pickle copies them."""

import copy
import gc
import multiprocessing as mp
import pickle
import uuid
from collections.abc import Iterator
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loup
from loup import shm


@pytest.fixture(autouse=True)
def namespace(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    ns = "m" + uuid.uuid4().hex[:7]
    monkeypatch.setenv("LOUP_NS", ns)
    yield ns
    gc.collect()
    shm.sweep(ns)
    assert shm.ls(ns) == []


@pytest.fixture(params=["fork", "spawn", "forkserver"])
def context(request: pytest.FixtureRequest) -> BaseContext:
    return mp.get_context(request.param)


def add_one(x: Any, done: Any) -> None:
    """In the worker: changes what it was given, and says what it saw."""
    data = x.get_data() if isinstance(x, loup.MaskedTensor) else x
    before = data.tolist()
    data += 1
    done.put((before, data.mapping() is not None and data.mapping().shared))


def answer(tasks: Any, results: Any) -> None:
    """In the worker: the same through queues, until None comes."""
    while (x := tasks.get()) is not None:
        x += 1
        results.put(x)


def use_ticket(ticket: Any, done: Any) -> None:
    with ticket.attach() as segment:
        segment.tensor("int32").fill_(5)
    done.put(True)


def run(context: BaseContext, target: Any, *args: Any) -> None:
    worker = context.Process(target=target, args=args)
    worker.start()
    worker.join(60)
    assert worker.exitcode == 0


def test_an_argument_is_the_same_memory(context: BaseContext) -> None:
    x = shm.share(loup.tensor([[1.0, 2.0], [3.0, 4.0]]))
    done = context.SimpleQueue()
    run(context, add_one, x, done)
    assert done.get() == ([[1, 2], [3, 4]], True)
    assert x.tolist() == [[2, 3], [4, 5]]


def test_a_masked_tensor_is_the_same_memory(context: BaseContext) -> None:
    x = shm.share(loup.masked_tensor([1.0, 2.0, 3.0], [True, False, True]))
    done = context.SimpleQueue()
    run(context, add_one, x, done)
    assert done.get() == ([1, 2, 3], True)
    assert x.get_data().tolist() == [2, 3, 4]


def test_views_and_named_segments_travel(context: BaseContext) -> None:
    segment = shm.create("named", nbytes=4096)
    x = segment.tensor("int64", (4, 6), offset=64)
    x.copy_(np.arange(24).reshape(4, 6))
    done = context.SimpleQueue()
    run(context, add_one, x.transpose(0, 1)[1:4:2], done)
    wanted = np.arange(24).reshape(4, 6).T[1:4:2]
    assert done.get() == (wanted.tolist(), True)
    changed = np.arange(24).reshape(4, 6)
    changed.T[1:4:2] += 1
    assert x.tolist() == changed.tolist()


def test_queues_carry_memory_both_ways(context: BaseContext) -> None:
    tasks, results = context.Queue(), context.Queue()
    worker = context.Process(target=answer, args=(tasks, results))
    worker.start()
    x = shm.share(loup.zeros(1000))
    for i in range(20):
        tasks.put(x)
        y = results.get(timeout=60)
        assert y.mapping().shared
        assert x[0].item() == i + 1
        y += 1
        assert x[999].item() == i + 2
        x -= 1
    plain = loup.zeros(3)
    tasks.put(plain)
    assert results.get(timeout=60).tolist() == [1, 1, 1]
    assert plain.tolist() == [0, 0, 0]
    tasks.put(None)
    worker.join(60)
    assert worker.exitcode == 0


def test_tickets_travel(context: BaseContext, namespace: str) -> None:
    segment = shm.create("ticket", nbytes=16)
    x = segment.tensor("int32", (4,))
    done = context.SimpleQueue()
    run(context, use_ticket, segment.ticket(), done)
    assert done.get()
    assert x.tolist() == [5] * 4


def test_shared_files_travel(context: BaseContext, tmp_path: Path) -> None:
    np.zeros(4, np.float32).tofile(tmp_path / "file")
    x = loup.from_file(tmp_path / "file", shared=True)
    done = context.SimpleQueue()
    run(context, add_one, x, done)
    assert done.get() == ([0] * 4, True)
    assert np.fromfile(tmp_path / "file", np.float32).tolist() == [1] * 4


def test_no_descriptor_stays_open() -> None:
    context = mp.get_context("spawn")
    x = shm.share(loup.zeros(10))
    done = context.SimpleQueue()
    run(context, add_one, x, done)
    done.get()
    gc.collect()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        run(context, add_one, x, done)
        done.get()
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_sharing_keeps_what_is_shared() -> None:
    x = shm.share(loup.tensor([1.0], requires_grad=True))
    assert x.requires_grad
    assert shm.share(x) is x
    masked = shm.share(loup.masked_tensor([1.0], [True]))
    assert shm.share(masked) is masked
    assert masked.get_data().mapping().lifetime == "anonymous"


# --- pickle ---


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "bfloat16", "float64"])
def test_pickle_copies(dtype: str) -> None:
    x = loup.tensor([[0, 1], [1, 0], [1, 1]]).to(dtype)
    y = pickle.loads(pickle.dumps(x))
    assert (y.dtype, y.shape, y.tolist()) == (x.dtype, x.shape, x.tolist())
    assert y.data_ptr() != x.data_ptr()


def test_pickle_copies_shared_memory_and_views() -> None:
    x = shm.share(loup.arange(12).reshape(3, 4))
    y = pickle.loads(pickle.dumps(x.transpose(0, 1)[1:]))
    assert y.tolist() == x.transpose(0, 1)[1:].tolist()
    assert y.mapping() is None
    assert pickle.loads(pickle.dumps(loup.zeros((0, 3)))).shape == (0, 3)
    assert pickle.loads(pickle.dumps(loup.tensor(2.5))).item() == 2.5


def test_pickle_keeps_requires_grad_and_masks() -> None:
    x = loup.tensor([1.0, 2.0], requires_grad=True)
    assert pickle.loads(pickle.dumps(x)).requires_grad
    m = loup.masked_tensor([1.0, 2.0], [True, False])
    again = pickle.loads(pickle.dumps(m))
    assert again.get_data().tolist() == [1, 2]
    assert again.get_mask().tolist() == [True, False]
    assert copy.deepcopy(m).get_mask().tolist() == [True, False]
