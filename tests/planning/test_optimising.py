"""Optimised paths: shorter, smoother, clear of things, proved at every step,
never worse than their seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.collision import Box, Obstacles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.planning import Plans, optimise, plan, plan_many
from linkwork.planning.optimising import (
    BEND,
    POINTS,
    PUSHES,
    _Descent,
    length_of,
    spread,
    squared_acceleration,
)
from linkwork.planning.planes import ALIKE, Planes
from linkwork.planning.questions import space_of
from tests.collision.scenes import SCENES
from tests.collision.test_checker import by_coal
from tests.planning.test_constraints import four_bar_with_arm
from tests.planning.test_plan import arm, ends
from tests.planning.test_roadmap import GOAL, SHORTEST, START, WALL, point


def test_a_shortened_path_becomes_smooth_and_stays_free() -> None:
    start, goal = ends("cage")
    seed = plan(arm(), start, goal, SCENES["cage"])
    better = optimise(arm(), seed)
    assert better.certified and (better.path[[0, -1]] == seed.path[[0, -1]]).all()
    assert better.length < seed.length
    assert squared_acceleration(better.path) < 0.1 * squared_acceleration(spread(seed.path, POINTS))
    assert by_coal(arm(), better.path[::8], SCENES["cage"]).min() > 0.0
    assert arm().path_is_free(better.path, SCENES["cage"], step=1 / 500)
    assert arm().clearance(better.path, SCENES["cage"]).distance.min() > 0.01  # 0.02 is aimed at


def test_around_a_corner_it_takes_the_clearance_and_no_detour() -> None:
    seed = plan(point(), START, GOAL, WALL)
    paths = optimise(point(), [seed.path, seed.path[::-1]], WALL, clearance=0.05, seeds=2)
    assert isinstance(paths, Plans) and paths.certified.all()
    for answer in paths:
        assert SHORTEST < answer.length < 1.1 * SHORTEST
        assert 0.02 < point().clearance(answer.path, WALL).distance.min() < 0.06
    np.testing.assert_array_equal(
        optimise(point(), seed, clearance=0.05).path, optimise(point(), seed, clearance=0.05).path
    )
    # a straight way cannot be improved: it comes back, spread evenly
    straight = optimise(point(), [START, [-1.0, 1.0]], WALL, clearance=0.0)
    assert straight.length == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(st.floats(-0.4, 0.4), st.floats(0.2, 0.9), st.floats(0.0, 0.2))
def test_no_answer_is_worse_than_its_seed(y: float, size: float, clearance: float) -> None:
    scene = Obstacles([Box((size, size, 1.0), (0.0, y, 0.0))])
    seed = plan(point(), START, GOAL, scene)
    answer = optimise(point(), seed, clearance=clearance, iterations=20)
    assert answer.certified
    figures = [
        objective(path, scene, clearance) for path in (answer.path, spread(seed.path, POINTS))
    ]
    assert figures[0] <= figures[1] * (1 + 1e-12)


def objective(path: np.ndarray, scene: Obstacles, clearance: float) -> float:
    """As the first lines of optimising.py have it."""
    n = len(path) - 1
    missing = np.maximum(clearance - point().clearance(path, scene).distance, 0.0)
    ways = np.diff(path, axis=0)
    return (
        n * (ways**2).sum()
        + BEND * squared_acceleration(path)
        + PUSHES[-1] / n * (missing**2).sum()
    )


def test_steps_are_those_of_the_objective() -> None:
    """The slope of the quadratic model is that of the objective, by differences."""
    start, goal = ends("cage")
    x = spread(plan(arm(), start, goal, SCENES["cage"]).path, 12)[None]
    work = _Descent(arm(), space_of(arm(), None, None, "test"), SCENES["cage"], 0.2, x)
    push, h = PUSHES[0], 1e-7
    missing = np.maximum(0.2 - work.now.distance[0, 1:-1], 0.0)
    slope = work._slope(x[0]) - push / 11 * missing[:, None] * work.now.gradient[0, 1:-1]
    for i, j in ((0, 0), (4, 2), (9, 5)):
        moved = np.repeat(x, 2, axis=0)
        moved[:, 1 + i, j] += [h, -h]
        up, down = work._valued(moved).with_push(push)
        assert (up - down) / (2 * h) == pytest.approx(2 * slope[i, j], rel=2e-5, abs=2e-4)


def test_planes_tell_what_a_step_would_run_into() -> None:
    """Against a loop over all looks, written out."""
    generator = np.random.default_rng(4)
    count, size, aim = 40, 3, 0.1
    planes = Planes(2, count, size)
    looks = []
    for _ in range(6):  # of which the last four count
        x, distance = generator.normal(size=(count, size)), generator.uniform(0.0, 0.3, count)
        gradient = generator.normal(size=(count, size))
        planes.keep(1, x, distance, gradient)
        looks.append((x, distance, gradient))
    here, step = 0.1 * generator.normal(size=(2, count, size))
    nearest = generator.uniform(0.0, 0.1, count), generator.normal(size=(count, size))
    misses, slopes = planes.broken(1, here, step, nearest, aim)
    for i in range(count):
        expected = (np.inf, 0.0, np.zeros(size))
        for x, distance, gradient in looks[2:]:
            lengths = np.linalg.norm(gradient[i]) * np.linalg.norm(nearest[1][i])
            height = max(distance[i] + gradient[i] @ (here[i] - x[i]), nearest[0][i])
            after = height + gradient[i] @ step[i]
            if gradient[i] @ nearest[1][i] <= ALIKE * lengths and after < min(aim, expected[0]):
                expected = (after, aim - height, gradient[i])
        assert misses[i] == pytest.approx(expected[1], abs=1e-12)
        np.testing.assert_array_equal(slopes[i], expected[2])
    assert slopes.any(axis=1).sum() > 10 and not slopes.any(axis=1).all()
    none = planes.broken(0, here, step, nearest, aim)  # nobody has looked at the other path
    assert not none[0].any() and not none[1].any()


def test_between_two_walls_planes_spare_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane just wide enough for the clearance: away from one wall is towards the other."""
    lane = Obstacles([Box((1.0, 2.0, 1.0), (0.0, y, 0.0)) for y in (-1.12, 1.12)])
    bent = [[-2.0, -0.6], [-0.5, -0.1], [0.5, 0.1], [2.0, 0.6]]
    answer = optimise(point(), bent, lane, clearance=0.12)
    assert answer.certified
    assert point().clearance(answer.path, lane).distance.min() > 0.11

    def none(planes: Planes, path: int, x: np.ndarray, *_: object) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(x)), np.zeros(x.shape)

    monkeypatch.setattr(Planes, "broken", none)
    without = optimise(point(), bent, lane, clearance=0.12)
    assert answer.iterations < without.iterations
    figures = [objective(path, lane, 0.12) for path in (answer.path, without.path)]
    assert figures[0] == pytest.approx(figures[1], rel=1e-4)  # one optimum, found by both


def test_what_cannot_be_optimised_is_refused() -> None:
    with pytest.raises(InvalidInput, match="clearance is -1"):
        optimise(point(), [START, [-1.0, 1.0]], clearance=-1)
    with pytest.raises(
        NotPossible, match="the motion from waypoint 0 to the next touches something"
    ):
        optimise(point(), [START, GOAL], WALL)
    closed = plan_many(
        point(), START, GOAL, [Box((0.2, 8.0, 1.0), (0.0, 0.0, 0.0))], time_limit=0.01
    )
    with pytest.raises(NotPossible, match="a plan has no path"):
        optimise(point(), closed)
    q = np.zeros((2, 5))
    with pytest.raises(NotPossible, match='robot "four-bar" has closed loops'):
        optimise(four_bar_with_arm(), q)
    assert length_of(q) == 0.0
