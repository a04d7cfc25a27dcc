"""Neighbours: the nearest row of a growing table is numpy's, by scan and by trees alike,
to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from linkwork.engine.neighbours import FAR, Table
from tests.engine.growing_tables import Grown, grown, scanned

WIDTHS = (1, 2, 4)
TURN = 4.0
SMALL = dict(few=16, group=8, leaf=4, most=32)
"""Trees of 8, 16 and 32 rows, so that a hundred rows make all of them,
and more than one of the largest."""
STRAIGHT = Table(3, 4, (0.0, 0.0, 0.0), **SMALL)
AROUND = Table(2, 2, (TURN, 0.0), **SMALL)


def brute_force(
    points: np.ndarray, queries: np.ndarray, turns: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and squared distances by numpy; a row with NaN is never the nearest,
    of none it is the row 0."""
    ways = points[None] - queries[:, None]
    for c, turn in enumerate(turns):
        if turn:
            ways[..., c] -= turn * np.rint(ways[..., c] / turn)
    squared = np.minimum(np.nan_to_num((ways**2).sum(axis=-1), nan=FAR), FAR)
    if not len(points):
        return np.zeros(len(queries), dtype=int), np.full(len(queries), FAR)
    rows = squared.argmin(axis=1)
    return rows, squared[np.arange(len(queries)), rows]


# multiples of a quarter, and turns of 4: distances are exact, and many of them equal
quarters = st.integers(-30, 30).map(lambda k: 0.25 * k)
odd = st.sampled_from([np.nan, np.inf, -np.inf, 1e200, -0.0])


@pytest.mark.parametrize("table", [STRAIGHT, AROUND], ids=["straight", "around"])
@settings(max_examples=100, deadline=None)
@given(
    usual=st.lists(quarters, min_size=1, max_size=8),
    unusual=st.lists(odd, max_size=2),
    count=st.integers(0, 130),
    share=st.floats(0.0, 1.0),
    seed=st.integers(0, 1 << 30),
)
def test_a_growing_table_tells_what_brute_force_tells(
    table: Table, usual: list[float], unusual: list[float], count: int, share: float, seed: int
) -> None:
    """Ties, copies, NaN, infinite numbers, no rows at all; asked while the table grows."""
    rng, pool = np.random.default_rng(seed), np.array(usual + unusual)
    points, queries = (
        rng.choice(pool, (count, table.columns)),
        rng.choice(pool, (20, table.columns)),
    )
    queries[::2] = rng.integers(-30, 30, (10, table.columns)) * 0.25
    with_trees, without = Grown(table, points), Grown(scanned(table), points)
    for rows in (int(share * count), count):
        with_trees.grow(rows)
        without.grow(rows)
        with np.errstate(invalid="ignore", over="ignore"):
            nearest, distances = brute_force(points[:rows], queries, table.turns)
        for told, squared in (with_trees.nearest(queries), without.nearest(queries)):
            np.testing.assert_array_equal(squared, distances)
            np.testing.assert_array_equal(told, nearest)


@pytest.mark.parametrize("width", WIDTHS)
def test_trees_tell_the_bits_of_a_scan_at_every_width(width: int) -> None:
    """Rows that wander, where sums round and ways wrap many times around."""
    rng = np.random.default_rng(width)
    table = Table(4, width, (0.0, 2 * np.pi, 0.0, 0.3), few=128, group=64, leaf=16, most=512)
    points = np.cumsum(rng.normal(size=(3000, 4)), axis=0)
    points[1500:] = points[rng.integers(0, 1500, 1500)]  # copies: the first counts
    queries = np.concatenate([points[::50], points[::40] + rng.normal(scale=0.1, size=(75, 4))])
    rows, squared = grown(table, points).nearest(queries)
    rows_scanned, squared_scanned = grown(scanned(replace(table, width=1)), points).nearest(queries)
    np.testing.assert_array_equal(rows, rows_scanned)
    np.testing.assert_array_equal(squared.view(np.int64), squared_scanned.view(np.int64))
    distances = brute_force(points, queries, table.turns)[1]
    # sums here and there round differently
    np.testing.assert_allclose(squared, distances, rtol=1e-12, atol=1e-20)


@pytest.mark.parametrize("columns", [2, 8])
def test_ten_thousand_rows_are_searched_as_scipy_searches_them(columns: int) -> None:
    """Tables as they are by default; box sides 1 and 2 around."""
    rng = np.random.default_rng(columns)
    sides = np.array([1.0, 2.0] * (columns // 2))
    points, queries = rng.random((10_000, columns)) * sides, rng.random((200, columns)) * sides
    assert Table(columns, 4, tuple(sides)).first_tree <= 4096
    for turns, tree in (
        ((0.0,) * columns, cKDTree(points)),
        (tuple(sides), cKDTree(points, boxsize=sides)),
    ):
        rows, squared = grown(Table(columns, 4, turns), points).nearest(queries)
        distances, expected = tree.query(queries)
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_allclose(np.sqrt(squared), distances, rtol=1e-12)


def test_rows_in_order_are_sorted_in_any_order() -> None:
    """Rising, falling, there and back, all equal: pivots come from anywhere."""
    rising = np.arange(300.0)
    for column in (rising, rising[::-1], np.abs(rising - 150.0), np.zeros(300)):
        points = np.stack([column, np.zeros(300), np.zeros(300)], axis=1)
        table = grown(STRAIGHT, points)
        names = table.memory["names"].view(np.int64)
        assert sorted(names.tolist()) == list(range(300))
        queries = points + np.array([0.125, 1.0, 0.0])
        expected = brute_force(points, queries, STRAIGHT.turns)[0]
        np.testing.assert_array_equal(table.nearest(queries)[0], expected)


def test_tables_of_many_columns_are_scanned() -> None:
    """Boxes of many columns are near to every point; such tables have no trees,
    whatever their rows."""
    assert not Table(20, 4, (0.0,) * 20).has_trees and Table(18, 4, (0.0,) * 18).has_trees
    points = np.random.default_rng(0).normal(size=(64, 20))
    queries = points[::7] + 0.01
    rows, _ = grown(Table(20, 4, (0.0,) * 20, most=8, few=16), points).nearest(queries)
    np.testing.assert_array_equal(rows, np.arange(64)[::7])
