"""Routines: loops that walk and grow tables give what numpy gives; points are spread evenly."""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir
from scipy.stats import qmc

from linkwork.engine.routines import Doubles, Routine, compiled
from linkwork.engine.spread import write_spread


def called(name: str, write: object, function: str, arguments: int) -> object:
    address = compiled(f"test {name}", write, (function,))[function]  # type: ignore[arg-type]
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arguments)(address)


def test_spread_points_are_haltons() -> None:
    spread = called("spread 5", lambda m: write_spread(m, 5), "spread", 5)
    expected = qmc.Halton(5, scramble=False).random(200)
    shift, lower, span, point = np.zeros(5), np.zeros(5), np.ones(5), np.zeros(5)
    for k in range(1, 200):
        spread(k, *(x.ctypes.data for x in (shift, lower, span, point)))  # type: ignore[operator]
        np.testing.assert_allclose(point, expected[k], atol=1e-15)
    shift[:] = 0.75
    spread(7, *(x.ctypes.data for x in (shift, lower, span, point)))  # type: ignore[operator]
    np.testing.assert_allclose(point, (expected[7] + 0.75) % 1.0, atol=1e-15)


def test_many_dimensions_are_filled_evenly() -> None:
    size = 20
    spread = called("spread 20", lambda m: write_spread(m, size), "spread", 5)
    shift, lower, span, point = (
        np.zeros(size),
        np.full(size, -1.0),
        np.full(size, 2.0),
        np.zeros(size),
    )
    rows = np.empty((4000, size))
    for k in range(len(rows)):
        spread(k, *(x.ctypes.data for x in (shift, lower, span, point)))  # type: ignore[operator]
        rows[k] = point
    assert (np.abs(rows) <= 1.0).all()
    # mean and correlations of independent uniform numbers, five standard deviations
    assert np.abs(rows.mean(axis=0)).max() < 5 * np.sqrt(1 / 3 / 4000)
    assert np.abs(np.corrcoef(rows.T) - np.eye(size)).max() < 5 / np.sqrt(4000)


def test_loops_cells_and_conditions() -> None:
    """Doubles that are below a bound are appended to a list, until one is negative."""

    def write(module: ir.Module) -> None:
        r = Routine(module, "gather", 4)
        source, count, target, bound = r.arguments
        numbers, gathered, limit = Doubles(r, source), Doubles(r, target), Doubles(r, bound)
        length = r.whole(0)
        with r.times(count) as k:
            r.leave(numbers[k] < 0.0)
            r.skip(numbers[k] >= limit[0])
            with r.either(numbers[k].equals(2.0)) as (yes, no):
                with yes:
                    gathered[length] = -2.0
                with no:
                    gathered[length] = r.root(numbers[k])
            length.set(length + 1)
        r.give(length)

    gather = called("gather", write, "gather", 4)
    numbers, bound, out = (
        np.array([4.0, 9.0, 2.0, 16.0, 1.0, -1.0, 1.0]),
        np.array([10.0]),
        np.zeros(7),
    )
    count = gather(numbers.ctypes.data, 7, out.ctypes.data, bound.ctypes.data)  # type: ignore[operator]
    assert count == 4 and out[:count].tolist() == [2.0, 3.0, -2.0, 1.0]
