"""Staged kernels: loops over tables, early ends, scratch tiles, floats that doubles decide
again."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.engine import machine
from linkwork.engine.kernel import counts
from linkwork.engine.staged import Packed, StagedKernel, StagedSignature, staged
from linkwork.engine.stages import Stages, Table
from linkwork.errors import InvalidInput

RNG = np.random.default_rng(5)
X = RNG.normal(size=(203, 3))
BALLS = np.c_[RNG.normal(size=(40, 3)), RNG.uniform(0, 0.2, 40)]


def distances(x: np.ndarray, balls: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x[:, None] - balls[:, :3], axis=-1) - balls[:, 3]


def nearest_ball(k: Stages) -> None:
    x = k.input("x", 3)
    balls = k.table("balls", {"center": 3, "radius": 1})
    distance, which = k.variable(start=1e9), k.variable(start=-1.0)
    with k.rows(balls) as ball:
        k.least(distance, casadi.norm_2(x - ball["center"]) - ball["radius"], (which, ball.number))
    k.output("distance", distance)
    k.output("which", which)


def test_least_of_a_table_and_its_row() -> None:
    distance, which = staged(nearest_ball)(X, balls=BALLS)
    expected = distances(X, BALLS)
    np.testing.assert_allclose(distance, expected.min(axis=1), rtol=0, atol=1e-15)
    assert (which == expected.argmin(axis=1)).all()


def test_a_table_may_be_empty_or_of_another_length_without_compiling() -> None:
    f = staged(nearest_ball)
    f(X, balls=BALLS)
    before = counts["compiled"]
    distance, which = f(X, balls=np.zeros((0, 4)))
    assert (distance == 1e9).all() and (which == -1).all()
    distance, _ = f(X, balls=BALLS[:7])
    np.testing.assert_allclose(distance, distances(X, BALLS[:7]).min(axis=1), rtol=0, atol=1e-15)
    assert counts["compiled"] == before


def test_ties_go_to_the_lower_row() -> None:
    _, which = staged(nearest_ball)(X, balls=np.r_[BALLS, BALLS])
    assert (which < len(BALLS)).all()


@pytest.mark.parametrize("width", machine.widths())
def test_every_width_gives_the_same_bits(width: int) -> None:
    f = staged(nearest_ball)
    packed = f.pack(balls=BALLS)
    for expected, found in zip(f(X, balls=BALLS), f.kernel((X,), packed, width=width), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_place_in_the_batch_and_threads_change_nothing() -> None:
    f = staged(nearest_ball)
    many = np.tile(X, (60, 1))
    own = lw.threads()
    try:
        results = []
        for n in (1, 2):
            lw.threads(n)
            results.append(f(many, balls=BALLS))
    finally:
        lw.threads(own)
    np.testing.assert_array_equal(results[0][0], results[1][0])
    one = np.array([f(x, balls=BALLS)[0] for x in X])
    np.testing.assert_array_equal(results[0][0], np.tile(one, 60))


def in_groups(k: Stages) -> None:
    """How many points of groups whose centre is near lie within reach: nested loops, a condition,
    a tile."""
    x = k.input("x", 3)
    groups = k.table("groups", {"center": 3, "reach": 1}, ("row", "first", "count"))
    points = k.table("points", {"center": 3}, ())
    ways = k.tile("ways", 16, 3)
    total = k.variable()
    with k.rows(groups) as group:
        k.put(ways, group.whole("row"), x - group["center"])
    with k.rows(groups) as group:
        way = k.get(ways, group.whole("row"))
        with k.where(casadi.dot(way, way) < group["reach"] ** 2):
            with k.rows(points, group.whole("first"), group.whole("count")) as point:
                off = x - point["center"]
                k.assign(total, total.x + 1, casadi.dot(off, off) < 1)
    k.output("total", total)


@pytest.mark.parametrize("width", machine.widths())
def test_nested_loops_conditions_and_tiles(width: int) -> None:
    centers = RNG.normal(size=(6, 3))
    points = RNG.normal(size=(30, 3))
    groups = np.c_[centers, np.full(6, 1.2)]
    whole = np.array([[g, 5 * g, 5] for g in range(6)])
    f = staged(in_groups)
    found = f.kernel((X,), f.pack(groups=(groups, whole), points=points), width=width)
    near = np.linalg.norm(X[:, None] - centers, axis=-1) < 1.2
    inside = np.linalg.norm(X[:, None] - points, axis=-1) < 1
    expected = sum(near[:, g] * inside[:, 5 * g : 5 * g + 5].sum(axis=1) for g in range(6))
    np.testing.assert_array_equal(found, expected)


def looked_at(k: Stages) -> None:
    """Rows of a sorted table looked at until one is beyond x, and in all until the sum is 3."""
    x = k.input("x", 1)
    rows = k.table("rows", {"start": 1}, ())
    seen, total = k.variable(), k.variable()
    for _ in range(2):
        with k.rows(rows) as row:
            k.leave(row["start"] > x)
            k.assign(seen, seen.x + 1)
            k.assign(total, total.x + row["start"])
            k.finish(total.x >= 3)
    k.output("seen", seen)


@pytest.mark.parametrize("width", machine.widths())
def test_lanes_leave_loops_and_finish_alone(width: int) -> None:
    starts = np.sort(RNG.uniform(0, 1, 12))
    x = RNG.uniform(0, 1.2, 77)
    f = staged(looked_at)
    found = f.kernel((x[:, None],), f.pack(rows=starts[:, None]), width=width)
    for value, seen in zip(x, found, strict=True):
        total = expected = 0.0
        for start in [s for _ in range(2) for s in starts if s <= value]:
            expected, total = expected + 1, total + start
            if total >= 3:
                break
        assert seen == expected


def within(k: Stages) -> None:
    """Is x within any ball? In floats with a margin, which doubles do not need."""
    x = k.input("x", 3)
    balls = k.table("balls", {"center": 3, "radius": 1})
    margin = k.row(k.table("margins", {"margin": 1}))["margin"]
    hit, close = k.variable(), k.variable()
    with k.rows(balls) as ball:
        way = x - ball["center"]
        with k.where(casadi.dot(way, way) < (ball["radius"] + margin) ** 2):
            k.assign(close, 1.0)
            k.assign(hit, 1.0, casadi.dot(way, way) < casadi.fmax(ball["radius"] - margin, 0) ** 2)
            k.finish(hit.x)
    k.again(close.x * (1 - hit.x))
    k.output("hit", hit)


WITHIN = StagedSignature(
    "within",
    (("x", 3),),
    (Table("balls", (("center", 3), ("radius", 1))), Table("margins", (("margin", 1),))),
    (("hit", 1),),
    operations=1000,
    floats=True,
)


def test_floats_decide_as_doubles_do_also_beside_the_border() -> None:
    kernel = StagedKernel(WITHIN, within)
    rows = {"balls": (BALLS, np.zeros((40, 0))), "margins": ([[0.0]], np.zeros((1, 0)))}
    packed = Packed(WITHIN.tables, rows, narrow={"margins": [[1e-5]]})
    # points on the surfaces, to within a hundredth of what a float can tell
    direction = RNG.normal(size=(4000, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    ball = BALLS[RNG.integers(0, 40, 4000)]
    offset = RNG.uniform(-1e-9, 1e-9, 4000)
    x = np.r_[ball[:, :3] + direction * (ball[:, 3] + offset)[:, None], X]
    in_floats, in_doubles = kernel((x,), packed), kernel((x,), packed, width=1)
    np.testing.assert_array_equal(in_floats, in_doubles)
    assert 0.2 < in_doubles.mean() < 0.95
    careless = Packed(WITHIN.tables, rows, narrow={"margins": [[0.0]]})
    assert (kernel((x,), careless) != in_doubles).any()  # without a margin floats are wrong here


def first_zero(k: Stages) -> None:
    """Does a polynomial fall below zero at any of n places? The lanes share the places out."""
    a = k.input("a", 3)
    n = k.input("n", 1)
    rows = k.table("unused", {"x": 1})
    below = k.variable()
    with k.counting(n) as place:
        t = k.value(place / n, exact=True)
        value = k.value(a[0] + a[1] * t + a[2] * t * t)
        k.assign(below, 1.0, value < 0)
        k.finish(below.x, any_lane=True)
    with k.rows(rows):
        k.assign(below, 0.0)
    k.output("below", below)


def test_lanes_that_compute_one_sample_together() -> None:
    tables = (Table("unused", (("x", 1),)),)
    signature = StagedSignature(
        "first_zero", (("a", 3), ("n", 1)), tables, (("below", 1),), operations=500, together=True
    )
    kernel = StagedKernel(signature, first_zero)
    a = RNG.normal(size=(300, 3))
    n = RNG.integers(1, 60, size=(300, 1)).astype(float)
    packed = Packed(tables, {"unused": (np.zeros((0, 1)), np.zeros((0, 0)))})
    expected = []
    for row, count in zip(a, n[:, 0], strict=True):
        t = np.arange(count) / count
        expected.append(float((row[0] + row[1] * t + row[2] * t * t < 0).any()))
    for width in (0, *machine.widths()):
        np.testing.assert_array_equal(kernel((a, n), packed, width=width), expected)


def test_functions_of_floats_are_those_of_doubles_rounded() -> None:
    def waves(k: Stages) -> None:
        x = k.input("x", 1)
        rows = k.table("rows", {"scale": 1})
        y = k.variable(4)
        with k.rows(rows) as row:
            z = x * row["scale"]
            k.assign(
                y,
                casadi.vertcat(
                    casadi.sin(z), casadi.cos(z), casadi.sqrt(casadi.fabs(z)), casadi.floor(z)
                ),
            )
        k.output("y", y)

    x = np.float32(RNG.uniform(-1e6, 1e6, 500)).astype(float)
    found = staged(waves, floats=True)(x[:, None], rows=np.ones((1, 1)))
    expected = np.stack([np.sin(x), np.cos(x), np.sqrt(np.abs(x)), np.floor(x)], axis=1)
    np.testing.assert_array_equal(np.float32(found), np.float32(expected))


def test_results_for_every_row_of_a_table() -> None:
    def each(k: Stages) -> None:
        x = k.input("x", 3)
        balls = k.table("balls", {"center": 3, "radius": 1})
        distance, way = k.variable(), k.variable(3)
        with k.rows(balls) as ball:
            k.assign(way, x - ball["center"])
            k.assign(distance, casadi.norm_2(way.x) - ball["radius"])
            k.record(ball, distance=distance, way=way)

    for x in (X, X[:1], X[0]):
        distance, way = staged(each)(x, balls=BALLS)
        expected = distances(np.atleast_2d(x), BALLS).reshape(*x.shape[:-1], 40)
        np.testing.assert_allclose(distance, expected, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(way, x[..., None, :] - BALLS[:, :3])


def test_what_is_wrong_is_said_in_words() -> None:
    f = staged(nearest_ball)
    with pytest.raises(InvalidInput, match=r"x has shape \(5, 2\), expected \(..., 3\)"):
        f(np.zeros((5, 2)), balls=BALLS)
    with pytest.raises(InvalidInput, match=r"table balls has shape \(40, 3\), expected \(n, 4\)"):
        f(X, balls=BALLS[:, :3])
    with pytest.raises(InvalidInput, match="table balls is missing"):
        f(X)
    with pytest.raises(InvalidInput, match="there is no table 'ball', expected balls"):
        f(X, ball=BALLS)
    with pytest.raises(InvalidInput, match="not finite"):
        f(X, balls=BALLS * np.nan)
    bad = X.copy()
    bad[7, 1] = np.inf
    with pytest.raises(InvalidInput, match=r"x\[7, 1\] is inf, expected finite numbers"):
        f(bad, balls=BALLS)
    with pytest.raises(InvalidInput, match="no column 'centre'"):
        Table("balls", (("center", 3),)).start("centre")


def test_results_may_go_into_given_arrays() -> None:
    f = staged(nearest_ball)
    out = (np.empty(len(X)), np.empty(len(X)))
    assert f(X, balls=BALLS, out=out)[0] is out[0]
    np.testing.assert_array_equal(out[0], f(X, balls=BALLS)[0])
    with pytest.raises(InvalidInput, match="out must be"):
        f(X, balls=BALLS, out=(np.empty(3), np.empty(3)))
