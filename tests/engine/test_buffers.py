"""Memory of results: their own while they live, used again afterwards."""

from __future__ import annotations

import gc
import pickle
import threading

import numpy as np

import linkwork as lw
from linkwork.engine import buffers

SHAPE = (20_000, 4)


def test_results_that_live_do_not_share_memory():
    alive = [buffers.empty(SHAPE) for _ in range(5)]
    for k, array in enumerate(alive):
        array[:] = k
    assert all((array == k).all() for k, array in enumerate(alive))
    assert all(a.flags.c_contiguous and a.flags.writeable and a.dtype == np.float64 for a in alive)


def test_forgotten_memory_is_used_again_but_not_under_a_view():
    first = buffers.empty(SHAPE)
    place = first.ctypes.data
    row = first[3]
    row[:] = 7.0
    del first
    gc.collect()
    other = buffers.empty(SHAPE)
    assert other.ctypes.data != place, "a view still looks at that memory"
    del row
    gc.collect()
    waiting = buffers.kept()
    again = buffers.empty(SHAPE)
    assert again.ctypes.data == place
    assert buffers.kept() == waiting - again.nbytes


def test_a_part_of_the_owner_of_a_result_does_not_free_it():
    result = buffers.empty(SHAPE)
    part = result.base[2:5]
    waiting = buffers.kept()
    del part
    gc.collect()
    assert buffers.kept() == waiting


def test_kept_memory_is_bounded():
    many = [buffers.empty((buffers.LARGEST // 16,)) for _ in range(6)]
    del many
    gc.collect()
    assert 0 < buffers.kept() <= buffers.KEPT


def test_sizes_that_nobody_asks_for_any_more_make_room():
    # more than is kept, no two alike
    full = [buffers.empty((buffers.SMALLEST // 8 + k,)) for k in range(200)]
    del full
    gc.collect()
    first = buffers.empty((80_003,))  # a size of its own
    del first
    gc.collect()
    waiting = buffers.kept()
    again = buffers.empty((80_003,))
    assert buffers.kept() == waiting - again.nbytes, "it waited for its next use"


def test_small_and_huge_results_are_plain():
    assert buffers.empty((3, 2)).base is None
    assert buffers.empty((buffers.LARGEST // 8 + 1,)).base is None


def test_results_of_calls_keep_their_numbers():
    double = lw.compile(lambda x: 2 * x, {"x": 4})
    X = np.random.default_rng(0).normal(size=SHAPE)
    results = [double(X + k) for k in range(4)]
    for k, result in enumerate(results):
        np.testing.assert_array_equal(result, 2 * (X + k))
    assert np.array_equal(pickle.loads(pickle.dumps(results[0])), results[0])


def test_threads_never_meet():
    double = lw.compile(lambda x: 2 * x, {"x": 4})
    wrong = []

    def work(seed: int) -> None:
        X = np.full(SHAPE, float(seed))
        for _ in range(50):
            if not (double(X) == 2.0 * seed).all():
                wrong.append(seed)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    assert not wrong
