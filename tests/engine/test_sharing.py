"""Batches shared among threads: same bits, no race on first use, nothing kept alive,
and again after a fork."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.engine import sharing, sharing_code
from linkwork.engine import workers as workers_module
from linkwork.engine.sharing_code import (
    ASLEEP,
    AWAKE,
    BOX,
    CLAIMED,
    JOB,
    LARGEST,
    PART,
    POSTED,
    SMALLEST,
    STATUS,
    TAKEN,
)
from linkwork.engine.threads import WORTH_SHARING
from linkwork.engine.workers import workers
from tests.engine.asleep import when_all_are_asleep


@pytest.fixture
def four_threads():
    before = lw.threads()
    lw.threads(4)
    yield
    lw.threads(before)


@pytest.fixture(scope="module")
def kernel():
    def polynomial(x):
        y = x
        for k in range(40):
            y = y * x + k
        return y

    return lw.compile(polynomial, {"x": 2}).prepare()


def enough(kernel, more: int = 1) -> int:
    return more * WORTH_SHARING // kernel.operations + 3


@pytest.mark.parametrize("more", [1, 3, 40])
def test_any_sharing_gives_the_same_bits(kernel, four_threads, more):
    x = np.random.default_rng(more).uniform(-1, 1, (enough(kernel, more), 2))
    shared, out = kernel(x), np.empty_like(x)
    assert kernel(x, out=out) is out
    lw.threads(1)
    np.testing.assert_array_equal(shared, kernel(x))
    np.testing.assert_array_equal(shared, out)
    assert SMALLEST < LARGEST < 40 * WORTH_SHARING  # so that the cases have few and many pieces


@pytest.mark.parametrize("count", [1, 4])
def test_rounds_give_the_same_bits_and_name_the_first_bad_sample(
    kernel, four_threads, monkeypatch, count
):
    x = np.random.default_rng(0).uniform(-1, 1, (enough(kernel, 3), 2))
    lw.threads(count)
    truth = kernel(x)
    monkeypatch.setattr(sharing, "ROUND", WORTH_SHARING)  # three calls
    assert kernel(x).tobytes() == truth.tobytes()
    bad = 2 * len(x) // 3
    x[bad:, 1] = np.nan
    with pytest.raises(lw.LinkworkError, match=rf"x\[{bad}, 1\] is nan"):
        kernel(x)


def test_the_first_bad_sample_is_named(kernel, four_threads):
    x = np.ones((enough(kernel, 8), 2))
    x[[5000, 70_000, len(x) - 1], 1] = np.nan
    with pytest.raises(lw.LinkworkError, match=r"x\[5000, 1\] is nan"):
        kernel(x)


def test_what_is_not_plain_is_shared_too(kernel, four_threads):
    x = np.random.default_rng(0).uniform(-1, 1, (enough(kernel), 2))
    expected = kernel(x)
    np.testing.assert_array_equal(kernel(np.asfortranarray(x)), expected)
    np.testing.assert_array_equal(kernel(np.repeat(x, 2, axis=0)[::2]), expected)
    over = x.copy()
    np.testing.assert_array_equal(kernel(over, out=over), expected)


def test_workers_keep_no_array(kernel, four_threads):
    x = np.ones((enough(kernel), 2))
    before = sys.getrefcount(x)
    kernel(x)
    for _ in range(60_000):  # a worker may be late: it has ten minutes
        if sys.getrefcount(x) == before:
            break
        time.sleep(0.01)
    assert sys.getrefcount(x) == before


RACE = """
import threading, numpy as np, linkwork as lw
lw.threads(3)
kernel = lw.compile(lambda x: x * x + 1, {"x": 3})
x = np.random.default_rng(0).normal(size=(2_000_000, 3))
found = []
callers = [threading.Thread(target=lambda: found.append(kernel(x))) for _ in range(6)]
for caller in callers: caller.start()
for caller in callers: caller.join()
assert len(found) == 6 and all(np.array_equal(f, found[0]) for f in found)
print("same")
"""
SQUARES = """
import numpy as np, linkwork as lw
kernel = lw.compile(lambda x: x * x + 1, {"x": 3})
x = np.ones((3_000_000, 3))
"""
FORK = f"""{SQUARES}
import os
lw.threads(3)
kernel(x)
child = os.fork()
if child == 0:
    os._exit(0 if (kernel(x) == 2).all() else 1)
print("same" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else "differ")
"""


def test_a_worker_that_comes_too_late_finds_the_state_of_its_call(kernel, four_threads):
    """Many short calls on more threads than cores: workers wake when their call is over."""
    x = np.random.default_rng(5).uniform(-1, 1, (enough(kernel), 2))
    expected = kernel(x)
    for _ in range(200):
        np.testing.assert_array_equal(kernel(x), expected)


def test_workers_that_are_awake_take_the_next_batch_in_machine_code(
    kernel, four_threads, monkeypatch
):
    # a worker counts its looks, not the time: one that has no turn on a busy machine does not get
    # tired
    monkeypatch.setattr(workers_module, "STAYS", 5_000_000)
    x = np.random.default_rng(6).uniform(-1, 1, (enough(kernel, 4), 2))
    out, expected, found = np.empty_like(x), kernel(x), None
    for _ in range(100_000):  # until all of them have woken
        kernel(x)
        out[:] = 0
        found = kernel._plain(x, out)
        if found is not None:
            break
        time.sleep(0.001)
    assert found is out
    np.testing.assert_array_equal(out, expected)
    assert when_all_are_asleep(lambda: kernel._plain(x, out)) is None, "somebody must wake them"


def test_more_threads_than_before_get_more_workers(kernel):
    x, before = np.ones((enough(kernel, 4), 2)), lw.threads()
    try:
        for n in (2, 3, 5):
            lw.threads(n)
            for _ in range(50):  # some with workers awake, some without
                kernel(x)
            assert n - 1 <= workers.roll[1]
    finally:
        lw.threads(before)


def test_a_bad_sample_is_named_by_workers_that_are_awake(kernel, four_threads):
    x = np.ones((enough(kernel, 4), 2))
    for bad in (0, 4321, len(x) - 1):
        kernel(x)
        x[bad, 0] = np.inf
        with pytest.raises(lw.LinkworkError, match=rf"x\[{bad}, 0\] is inf"):
            kernel(x)
        x[bad, 0] = 1.0


def test_pieces_are_whole_grains_between_their_limits():
    for operations in (0, 1, 185, 995, 10**7):
        for grain in (1, 4, 8):
            small, large = sharing_code.piece_limits(operations, grain)
            assert grain <= small <= large and small % grain == large % grain == 0
            assert small == grain or small * operations <= SMALLEST


def letters(*status):
    """Letter boxes of workers that do not exist,
    and the arguments of `post` and `retract` up to the job."""
    boxes = np.zeros((len(status), BOX), dtype=np.int64)
    boxes[:, STATUS] = status
    return boxes, (boxes.ctypes.data, len(boxes))


def test_a_job_is_posted_to_those_who_are_awake_and_retracted():
    boxes, where = letters(ASLEEP, AWAKE, TAKEN, AWAKE, CLAIMED, AWAKE)
    post, retract = sharing_code.function("post"), sharing_code.function("retract")
    assert post(*where, 1234, 2) == 2
    assert boxes[:, STATUS].tolist() == [ASLEEP, POSTED, TAKEN, POSTED, CLAIMED, AWAKE]
    assert boxes[:, JOB].tolist() == [0, 1234, 0, 1234, 0, 0] and boxes[:, PART].tolist() == [
        0,
        1,
        0,
        2,
        0,
        0,
    ]
    assert post(*where, 99, 5) == 1 and boxes[5, JOB] == 99
    assert retract(*where, 1234, 10) == 1
    assert boxes[:, STATUS].tolist() == [ASLEEP, AWAKE, TAKEN, AWAKE, CLAIMED, POSTED]


def test_what_a_worker_computes_is_waited_for():
    boxes, where = letters(TAKEN, POSTED)
    boxes[:, JOB] = 1234
    retract = sharing_code.function("retract")
    assert retract(*where, 1234, 10) == 0 and boxes[0, STATUS] == TAKEN
    boxes[0, STATUS] = AWAKE
    assert retract(*where, 1234, 10) == 1 and boxes[:, STATUS].tolist() == [AWAKE, AWAKE]


def test_a_worker_without_work_goes_to_sleep_and_too_few_awake_means_nothing_done():
    boxes, where = letters(ASLEEP, AWAKE)
    sharing_code.function("serve")(boxes.ctypes.data, 10)
    assert boxes[0, STATUS] == ASLEEP
    job = np.zeros(sharing_code.JOB_WORDS, dtype=np.int64)
    assert sharing_code.function("share")(*where, job.ctypes.data, 2) == 0
    assert not job.any() and boxes[:, STATUS].tolist() == [ASLEEP, AWAKE]


INTERRUPT = f"""{SQUARES}
import _thread, random, threading, time
lw.threads(2)
kernel(x)
armed = threading.Event()

def interrupt():
    while True:
        armed.wait()
        time.sleep(random.uniform(0, 0.02))
        armed.clear()
        _thread.interrupt_main()

threading.Thread(target=interrupt, daemon=True).start()
for _ in range(30):
    try:
        armed.set()
        while armed.is_set(): kernel(x)
        time.sleep(600)
        raise SystemExit("no interrupt came through")
    except KeyboardInterrupt:
        pass
print("same" if (kernel(x) == 2).all() else "differ")
"""


@pytest.mark.parametrize(
    "program",
    [RACE, FORK, INTERRUPT],
    ids=["first calls at once", "after a fork", "interrupted at any moment"],
)
def test_in_a_new_process(program, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=3600, cwd=tmp_path
    )
    assert done.stdout == "same\n", done.stderr
