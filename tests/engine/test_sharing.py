"""Batches shared among threads: same bits, no race on first use, nothing kept alive, and again after a fork."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.engine.sharing import LARGEST, SMALLEST
from linkwork.engine.threads import WORTH_SHARING


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
    end = time.monotonic() + 60
    while sys.getrefcount(x) != before and time.monotonic() < end:
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
FORK = """
import os, numpy as np, linkwork as lw
lw.threads(3)
kernel = lw.compile(lambda x: x * x + 1, {"x": 3})
x = np.ones((2_000_000, 3))
kernel(x)
child = os.fork()
if child == 0:
    os._exit(0 if (kernel(x) == 2).all() else 1)
print("same" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else "differ")
"""


@pytest.mark.parametrize("program", [RACE, FORK], ids=["first calls at once", "after a fork"])
def test_in_a_new_process(program, tmp_path):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.stdout == "same\n", done.stderr


def test_a_worker_that_comes_too_late_finds_the_state_of_its_call(kernel, four_threads):
    """Many short calls on more threads than cores: workers wake when their call is over."""
    x = np.random.default_rng(5).uniform(-1, 1, (enough(kernel), 2))
    expected = kernel(x)
    for _ in range(200):
        np.testing.assert_array_equal(kernel(x), expected)
