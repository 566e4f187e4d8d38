"""Threads, memory, forks, signals and the interpreter's lock."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import loup

# --- threads ---


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("count", [1, 2, 7, 1024])
def test_the_number_of_threads_can_be_set(count: int) -> None:
    loup.set_num_threads(count)
    assert loup.num_threads() == count
    assert loup.info()["threads"] == count


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("count", [0, -1, 1025])
def test_refuses_numbers_of_threads_that_make_no_sense(count: int) -> None:
    before = loup.num_threads()
    with pytest.raises(
        loup.ValueError, match=f"expected a number of .* from 1 to 1024, got {count}"
    ):
        loup.set_num_threads(count)
    assert loup.num_threads() == before


@pytest.mark.parametrize("count", ["2", 2.0, None, 2**40])
def test_refuses_numbers_of_threads_of_other_types(count: object) -> None:
    with pytest.raises(TypeError):
        loup.set_num_threads(count)


def test_the_default_is_within_the_affinity(run_python: Callable) -> None:
    code = "import os, loup; print(loup.num_threads(), len(os.sched_getaffinity(0)))"
    default, cpus = map(int, run_python(code).stdout.split())
    assert 1 <= default <= cpus


def test_one_cpu_means_one_thread(run_python: Callable) -> None:
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        "import loup; print(loup.num_threads())"
    )
    assert run_python(code).stdout.strip() == "1"


@pytest.mark.parametrize("count", ["1", "2", "7"])
def test_the_environment_sets_the_number_of_threads(run_python: Callable, count: str) -> None:
    code = "import loup; print(loup.num_threads())"
    assert run_python(code, LOUP_NUM_THREADS=count).stdout.strip() == count


@pytest.mark.parametrize(
    "text", ["0", "-1", "many", "", "2x", "1e3", "99999999999999999999", "1025"]
)
def test_a_bad_environment_is_an_error_and_no_crash(run_python: Callable, text: str) -> None:
    code = """
import loup
try:
    loup.num_threads()
except loup.ValueError as error:
    print(error)
"""
    result = run_python(code, LOUP_NUM_THREADS=text)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("LOUP_NUM_THREADS: expected a number of threads from 1 to 1024")
    assert f"got {text}" in result.stdout.replace("'", "")


# --- memory ---


@pytest.fixture
def pool() -> Iterator[None]:
    """Puts the limit of the pool back."""
    before = loup.pool_limit()
    yield
    loup.set_pool_limit(before)


@pytest.mark.usefixtures("pool")
def test_the_pool_keeps_freed_blocks_up_to_its_limit() -> None:
    loup.set_pool_limit(1 << 30)
    loup.trim_pool()
    x = loup.zeros(8_000_000)
    in_use = loup.pool_statistics()["bytes_in_use"]
    del x
    after = loup.pool_statistics()
    assert after["bytes_in_use"] <= in_use - 32_000_000
    assert after["bytes_kept"] >= 32_000_000
    loup.trim_pool()
    assert loup.pool_statistics()["bytes_kept"] == 0


@pytest.mark.usefixtures("pool")
def test_a_limit_of_zero_keeps_nothing() -> None:
    loup.set_pool_limit(0)
    assert loup.pool_limit() == 0
    loup.zeros(8_000_000)
    assert loup.pool_statistics()["bytes_kept"] == 0


@pytest.mark.usefixtures("pool")
def test_lowering_the_limit_gives_memory_back() -> None:
    loup.set_pool_limit(1 << 30)
    loup.zeros(8_000_000)
    loup.set_pool_limit(0)
    assert loup.pool_statistics()["bytes_kept"] == 0


def test_refuses_a_negative_limit() -> None:
    with pytest.raises(TypeError):
        loup.set_pool_limit(-1)


def test_the_pool_counts_allocations_and_their_peak() -> None:
    before = loup.pool_statistics()
    x = loup.zeros(8_000_000)
    after = loup.pool_statistics()
    assert after["allocations"] == before["allocations"] + 1
    assert after["bytes_in_use"] >= before["bytes_in_use"] + x.nbytes
    assert after["peak_bytes"] >= after["bytes_in_use"]


def test_a_failed_allocation_is_not_counted() -> None:
    before = loup.pool_statistics()
    with pytest.raises(MemoryError):
        loup.empty(2**55)
    after = loup.pool_statistics()
    assert after["bytes_in_use"] == before["bytes_in_use"]
    assert after["peak_bytes"] == before["peak_bytes"]


# --- forks ---


@pytest.fixture
def large() -> loup.Tensor:
    return loup.asarray(np.random.default_rng(5).standard_normal((2000, 1000), dtype=np.float32))


# In processes of their own: other libraries of these tests have threads that do not survive a fork.
FORKED = """
import loup, numpy as np, os, signal, sys
before, inside = int(sys.argv[1]), int(sys.argv[2])
values = np.random.default_rng(5).standard_normal((2000, 1000), dtype=np.float32)
def bits():
    return np.asarray(loup.masked.sum(values, 0, mask=values > 0)).tobytes()
loup.set_num_threads(before)
expected = bits()
child = os.fork()
loup.set_num_threads(inside)
same = bits() == expected
if child == 0:
    os._exit(0 if same else 3)
print(same, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
POOL = """
import loup, multiprocessing, numpy as np, sys
def total(seed):
    values = np.random.default_rng(seed).standard_normal(500_000)
    return loup.masked.sum(values, mask=values > 0).item()
loup.set_num_threads(2)
expected = [total(seed) for seed in range(6)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map_async(total, range(6)).get(timeout=60) == expected)
"""


@pytest.mark.parametrize("before", ["1", "4"])
@pytest.mark.parametrize("inside", ["1", "4"])
def test_parent_and_forked_child_go_on(run_python: Callable, before: str, inside: str) -> None:
    result = run_python(FORKED, before, inside)
    assert result.stdout == "True 0\n", result.stderr


def test_works_in_a_pool_of_forked_processes(run_python: Callable) -> None:
    result = run_python(POOL)
    assert result.stdout == "True\n", result.stderr


@pytest.mark.usefixtures("threads")
def test_works_from_many_python_threads(large: loup.Tensor) -> None:
    loup.set_num_threads(2)
    expected = np.asarray(large.sum(0)).tobytes()
    results: list[bytes] = []

    def work() -> None:
        for _ in range(10):
            results.append(np.asarray(large.sum(0)).tobytes())

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [expected] * 40


# --- the interpreter's lock, and Ctrl-C ---


def test_other_python_threads_run_during_a_long_sum() -> None:
    # Without the lock released the counter could not move between these two readings: switching
    # threads by time is off.
    x = loup.ones(1).expand(2**28)
    counter = [0]
    stop = threading.Event()
    started = threading.Event()

    def count() -> None:
        started.set()
        while not stop.is_set():
            counter[0] += 1
            stop.wait(0.0001)

    worker = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    worker.start()
    started.wait()
    try:
        sys.setswitchinterval(1000)
        before = counter[0]
        x.sum()
        after = counter[0]
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        worker.join()
    assert after > before + 1


# The second thread can speak only when the first has given the lock away: inside of the sum.
INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
import loup, sys, threading
x = loup.ones(1).expand(2**38)
loup.set_num_threads(int(sys.argv[1]))
go = threading.Event()
def speak():
    go.wait()
    print("started", flush=True)
threading.Thread(target=speak, daemon=True).start()
sys.setswitchinterval(1000)
go.set()
try:
    x.sum()
except KeyboardInterrupt:
    print("interrupted", loup.ones(100_000).sum().item(), flush=True)
    if sys.argv[2] == "again":
        raise
"""


@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("then", ["again", "go on"])
def test_ctrl_c_ends_a_long_sum_and_nothing_else(
    environment: dict[str, str], threads: str, then: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, threads, then],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "started\n"
            child.send_signal(signal.SIGINT)
            output, errors = child.communicate(timeout=60)
        finally:
            child.kill()
    assert output == "interrupted 100000.0\n"
    if then == "again":
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert child.returncode == -signal.SIGINT
    else:
        assert (errors, child.returncode) == ("", 0)


def test_signal_handlers_run_during_a_long_sum(run_python: Callable) -> None:
    code = """
import loup, os, signal, threading
class Stop(Exception): pass
def handler(*_): raise Stop("from the handler")
signal.signal(signal.SIGUSR1, handler)
threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGUSR1]).start()
try:
    loup.ones(1).expand(2**38).sum()
except Stop as error:
    print(error)
"""
    result = run_python(code)
    assert result.stdout == "from the handler\n", result.stderr
