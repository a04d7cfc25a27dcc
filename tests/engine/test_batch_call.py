"""The short way for plain batches gives what the long way gives,
and leaves everything unusual to it."""

from __future__ import annotations

import sys
import threading
import tracemalloc

import numpy as np
import pytest

import linkwork as lw
from linkwork.engine.buffers import SMALLEST
from linkwork.engine.kernel import BATCH
from linkwork.engine.threads import WORTH_SHARING
from linkwork.errors import InvalidInput
from tests.engine.asleep import when_all_are_asleep


@pytest.fixture(scope="module")
def kernel():
    return lw.compile(lambda x, y: (x * y + 1, x[0] - y[2]), {"x": 3, "y": 3}).prepare(BATCH)


@pytest.fixture
def xy():
    rng = np.random.default_rng(0)
    return rng.normal(size=(13, 3)), rng.normal(size=(13, 3))


def short(kernel, args, out=()):
    """What the machine code alone gives, or None where it leaves the arguments to Python."""
    return kernel._batches.builtin("short", lambda *arguments: None)(*args, *out)


def test_plain_batches_take_it(kernel, xy):
    x, y = xy
    found = short(kernel, xy)
    np.testing.assert_array_equal(
        found[0], kernel.call(xy, None, lw.engine.kernel.Context(), BATCH)[0]
    )
    np.testing.assert_allclose(found[0], x * y + 1, rtol=1e-15)
    np.testing.assert_allclose(found[1], x[:, 0] - y[:, 2], rtol=1e-15)
    deep = short(kernel, (x[:12].reshape(3, 4, 3), y[:12].reshape(3, 4, 3)))
    np.testing.assert_array_equal(deep[0].reshape(12, 3), found[0][:12])


def test_out_is_written_and_returned(kernel, xy):
    out = [np.full((13, 3), np.nan), np.full(13, np.nan)]
    found = kernel(*xy, out=out)
    assert found[0] is out[0]
    assert found[1] is out[1]
    np.testing.assert_array_equal(out[0], kernel(*xy)[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda x, y: (x.tolist(), y),
        lambda x, y: (x[::2], y[::2]),
        lambda x, y: (np.asfortranarray(x), y),
        lambda x, y: (x.astype(np.float32), y),
        lambda x, y: (x, y[0]),
        lambda x, y: (x[0], y[0]),
        lambda x, y: (x[:0], y[:0]),
    ],
)
def test_what_is_not_plain_goes_the_long_way(kernel, xy, change):
    args = change(*xy)
    assert short(kernel, args) is None
    expected = np.asarray(args[0], dtype=float) * np.asarray(args[1]) + 1
    # x y + 1 is fused
    np.testing.assert_allclose(kernel(*args)[0], expected, rtol=1e-14, atol=1e-15)


def test_out_over_an_argument_goes_the_long_way(kernel, xy):
    x, y = xy
    expected, out = kernel(x, y)[0], [x, np.empty(13)]
    assert short(kernel, (x, y), out) is None
    np.testing.assert_array_equal(kernel(x, y, out=out)[0], expected)


def test_what_is_wrong_is_explained_as_always(kernel, xy):
    x, y = xy
    bad = x.copy()
    bad[5, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"x\[5, 1\] is nan"):
        kernel(bad, y)
    with pytest.raises(InvalidInput, match="expected"):
        kernel(x, y[:, :2])
    out = [np.empty((13, 3)), np.empty(13)]
    out[0].flags.writeable = False
    with pytest.raises(InvalidInput, match="writeable"):
        kernel(x, y, out=out)


def test_what_is_worth_sharing_while_no_worker_is_awake_goes_the_long_way(kernel):
    many = np.ones((WORTH_SHARING // kernel.operations + 1, 3))
    out = [np.empty(many.shape), np.empty(len(many))]
    before = lw.threads()
    try:
        lw.threads(2)
        assert when_all_are_asleep(lambda: short(kernel, (many, many), out)) is None
        assert short(kernel, (many[1:], many[1:]), [o[1:] for o in out]) is not None
        lw.threads(1)
        assert short(kernel, (many, many), out)[0] is out[0]
    finally:
        lw.threads(before)
    np.testing.assert_array_equal(out[0], np.full(many.shape, 2.0))


def test_large_results_are_left_to_memory_in_stock(kernel):
    many = np.ones((SMALLEST // 24 + 1, 3))
    assert short(kernel, (many, many)) is None
    assert short(kernel, (many[2:], many[2:])) is not None


def test_wrong_numbers_of_arguments_subclasses_and_deep_batches(kernel, xy):
    x, y = xy
    assert short(kernel, (x,)) is None
    assert short(kernel, (x, y), [np.empty((13, 3))]) is None
    assert short(kernel, (x, y), [np.empty((13, 3)), np.empty(13), np.empty(13)]) is None
    assert short(kernel, (x, y), [np.empty((13, 3)), np.empty(12)]) is None
    assert short(kernel, (x.view(np.matrix), y)) is None
    assert short(kernel, (x.astype(">f8"), y)) is None
    assert short(kernel, (3, None)) is None
    deep = (1,) * 24
    assert short(kernel, (x[:1].reshape(*deep, 3), y[:1].reshape(*deep, 3)))[1].shape == deep
    assert short(kernel, (x[:1].reshape(1, *deep, 3), y[:1].reshape(1, *deep, 3))) is None


def test_no_memory_and_no_reference_is_lost(kernel, xy):
    x, y = xy
    out = [np.empty((13, 3)), np.empty(13)]
    bad = x.copy()
    bad[0, 0] = np.inf
    before = [sys.getrefcount(o) for o in (*xy, *out)]
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for _ in range(300):
        short(kernel, xy)
        short(kernel, xy, out)
        assert short(kernel, (bad, y)) is None
        assert short(kernel, (bad, y), out) is None
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert [sys.getrefcount(o) for o in (*xy, *out)] == before
    assert grown < 20_000  # one lost result a round would be 100 kB


def test_python_threads_run_beside_each_other(kernel):
    many = np.ones((10_000, 3))
    expected = kernel(many, many)[0]
    found: list[np.ndarray] = []
    workers = [
        threading.Thread(target=lambda: found.append(kernel(many, many)[0])) for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 8
    for result in found:
        np.testing.assert_array_equal(result, expected)


def test_a_kernel_without_code_for_batches_yet_goes_the_long_way(xy):
    fresh = lw.compile(lambda x, y: x * y - 1, {"x": 3, "y": 3})
    assert short(fresh, xy) is None
    np.testing.assert_allclose(fresh(*xy), xy[0] * xy[1] - 1, rtol=1e-14, atol=1e-15)
    assert short(fresh, xy) is not None
