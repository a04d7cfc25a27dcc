"""The short way for plain batches gives what the long way gives, and leaves everything unusual to it."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.engine.kernel import BATCH
from linkwork.errors import InvalidInput


@pytest.fixture(scope="module")
def kernel():
    return lw.compile(lambda x, y: (x * y + 1, x[0] - y[2]), {"x": 3, "y": 3}).prepare(BATCH)


@pytest.fixture
def xy():
    rng = np.random.default_rng(0)
    return rng.normal(size=(13, 3)), rng.normal(size=(13, 3))


def short(kernel, args, out=None, most=10**9):
    return kernel._batch(args, out, most)


def test_plain_batches_take_it(kernel, xy):
    x, y = xy
    found = short(kernel, xy)
    np.testing.assert_array_equal(found[0], kernel.call(xy, None, lw.engine.kernel.Context(), BATCH)[0])
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
    np.testing.assert_allclose(kernel(*args)[0], expected, rtol=1e-14, atol=1e-15)  # x y + 1 is fused


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
    assert short(kernel, (x, y), most=12) is None  # worth sharing among threads
