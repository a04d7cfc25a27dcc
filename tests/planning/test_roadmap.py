"""Roadmaps, anytime search, shortcuts: lengths fall towards known optima;
maps follow obstacles and files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, CollisionModel, Obstacles, Sphere
from linkwork.errors import InvalidFile, InvalidInput, NotPossible
from linkwork.model import Body, Joint, Limits, MassProperties, Model
from linkwork.planning import Roadmap, plan, shorten, smooth
from linkwork.planning.questions import length_of, search_of, settings_of, space_of

WALL = Obstacles([Box((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))])
START, GOAL = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
# around two corners, by the visibility graph; the point has 1 mm
SHORTEST = 2 * np.hypot(0.5, 0.5) + 1.0


@cache
def point() -> CollisionModel:
    """A point that slides in x and y."""
    inertia = MassProperties(1.0, (0.0, 0.0, 0.0), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
    limits = (Limits(-2.0, 2.0),)
    joints = (
        Joint("x", "prismatic", None, "slide", axis=(1.0, 0, 0), limits=limits),
        Joint("y", "prismatic", "slide", "point", axis=(0, 1.0, 0), limits=limits),
    )
    robot = lw.Robot(Model("point", (Body("slide", inertia), Body("point", inertia)), joints))
    return CollisionModel(robot, {"point": [Sphere((0, 0, 0), 0.001)]}, pairs=[])


def test_a_roadmap_follows_obstacles_and_files(tmp_path: Path) -> None:
    built = Roadmap.build(point(), WALL, 400, spare=0.5)
    way = built.plan(START, GOAL)
    assert way.certified and (way.path[0] == START).all() and (way.path[-1] == GOAL).all()
    assert 0 < built.free_edges.sum() < len(built.edges)
    # without obstacles everything is free, and the first comes back exactly
    empty = built.updated(None)
    assert empty.free_nodes.all() and empty.free_edges.all()
    assert empty.plan(START, GOAL).length == pytest.approx(2.0)
    again = empty.updated(WALL)
    assert (again.free_edges == built.free_edges).all() and (
        again.free_nodes == built.free_nodes
    ).all()
    # a wall from side to side: no path, and it is said
    closed = built.updated([Box((0.2, 8.0, 1.0), (0.0, 0.0, 0.0))])
    assert not closed.plan(START, GOAL).success and closed.plan(START, GOAL).reason.startswith(
        "no path"
    )
    file = built.save(tmp_path / "map.npz")
    loaded = Roadmap.load(file, point(), WALL)
    assert loaded.plan(START, GOAL).path.tobytes() == way.path.tobytes()
    with pytest.raises(InvalidFile, match="there is no file"):
        Roadmap.load(tmp_path / "none.npz", point())
    (tmp_path / "bad.npz").write_bytes(b"not a map")
    with pytest.raises(InvalidFile, match="is no roadmap"):
        Roadmap.load(tmp_path / "bad.npz", point())


def test_shorten_and_smooth_keep_ends_and_freedom() -> None:
    detour = np.array([START, [-1.0, 1.5], [0.0, 1.8], [1.0, 1.5], GOAL])
    short = shorten(point(), detour, WALL)
    assert length_of(short) < length_of(detour) and (short[[0, -1]] == detour[[0, -1]]).all()
    assert point().path_is_free(short, WALL, step=1 / 500)
    assert length_of(short) <= 1.1 * SHORTEST
    curve = smooth(point(), short, WALL)
    q, first, _ = curve(np.linspace(0, 1, 4001))
    assert not point().collides(q, WALL).any()
    turn = np.arccos(np.clip(np.sum(first[1:] * first[:-1], axis=1) / np.prod(
        [np.linalg.norm(x, axis=1) for x in (first[1:], first[:-1])], axis=0), -1, 1))  # fmt: skip
    assert turn.max() < 0.3  # no corner is left
    with pytest.raises(
        NotPossible, match="the motion from waypoint 0 to the next touches something"
    ):
        shorten(point(), [START, GOAL], WALL)
    with pytest.raises(InvalidInput, match="expected"):
        smooth(point(), [START], WALL)


def test_a_bound_is_kept() -> None:
    """With a bound no path is longer, and below the optimum there is none."""
    space = space_of(point(), None, None, "test")
    search = search_of(point(), space, WALL)
    from dataclasses import replace

    for bound, there in ((1.3 * SHORTEST, True), (0.99 * SHORTEST, False)):
        settings = replace(settings_of(1 / 32, 1.0), bound=bound)
        job = search.job(START, GOAL[None], WALL, space.box(START), settings, np.zeros(2))
        status = search.go_on(job, 20_000, search.arena(job))
        assert (status == 1) == there
        if there:
            assert length_of(job.waypoints) < bound


def test_a_plate_that_samples_step_over_is_planned_around() -> None:
    """What is returned as certified has passed the proof, not the samples alone."""
    plate = Obstacles([Box((0.001, 1.0, 1.0), (0.017, 0.0, 0.0))])
    sampled = plan(point(), START, GOAL, plate, step=0.3, certify=False)
    assert len(sampled.path) == 2 and not sampled.certified  # straight through the plate
    proved = plan(point(), START, GOAL, plate, step=0.3)
    assert proved.certified and proved.length > 2.2
    assert point().path_is_free(proved.path, plate, step=1e-4)
