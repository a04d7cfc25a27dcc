"""Certificates: what is proved free stays free however densely it is sampled, what touches has a sample that does."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, Capsule, CollisionModel, Sphere
from linkwork.errors import InvalidInput
from tests.collision.scenes import SCENES, shapes_on
from tests.collision.test_checker import some_pairs
from tests.collision.test_motions import ends


def made(name: str, kinds: str = "sphere") -> CollisionModel:
    robot = lw.load(name)
    shapes = shapes_on(robot, 2, kinds)
    return CollisionModel(robot, shapes, pairs=some_pairs(robot, shapes))


SLIDER = """<robot name="gantry">
  <link name="rail"/><link name="cart"/><link name="arm"/><link name="tip"/>
  <joint name="x" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="turn" type="revolute"><parent link="cart"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="out" type="prismatic"><parent link="arm"/><child link="tip"/><axis xyz="1 0 0"/><origin xyz="0.3 0 0.2"/>
    <limit lower="0" upper="0.5" velocity="1" effort="1"/></joint>
</robot>"""


def gantry() -> lw.Robot:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gantry.urdf"
        path.write_text(SLIDER)
        return lw.load(path)


@pytest.fixture(scope="module", params=["ur5e", "redundant-7", "gantry"])
def model(request: pytest.FixtureRequest) -> CollisionModel:
    if request.param != "gantry":
        return made(request.param, "mixed" if request.param == "ur5e" else "sphere")
    robot = gantry()
    shapes = {"cart": [Sphere((0, 0, 0.1), 0.05)], "tip": [Capsule((0, 0, 0), (0.2, 0, 0), 0.03)]}
    return CollisionModel(robot, shapes, pairs=[("cart", "tip")])


@pytest.mark.parametrize("scene", SCENES)
def test_proofs_hold_and_touches_touch(model: CollisionModel, scene: str) -> None:
    q0, q1 = ends(model, 150)
    obstacles = SCENES[scene]
    found = model.certify_motion(q0, q1, obstacles)
    dense = model.motion_is_free(q0, q1, obstacles, step=0.9 / 1000)
    assert not (found.free & ~dense).any()
    assert (found.free.astype(int) + found.collides + found.undecided == 1).all()
    assert found.undecided.mean() <= 0.01  # one of 150
    at = found.at[found.collides][:, None]
    v = model.robot.difference(q0, q1)[found.collides]
    touching = model.robot.integrate(q0[found.collides], at * v)
    assert model.collides(touching, obstacles).all()
    assert np.isnan(found.at[~found.collides]).all()
    assert found.collides.any() and (found.samples >= 1).all()


def test_the_first_touch_is_the_first(model: CollisionModel) -> None:
    q0, q1 = ends(model, 120)
    obstacles = SCENES["shelves"]
    found = model.certify_motion(q0, q1, obstacles)
    v = model.robot.difference(q0, q1)
    for k in np.flatnonzero(found.collides)[:20]:
        t = np.arange(2001)[:, None] / 2000
        way = model.robot.integrate(np.repeat(q0[k][None], 2001, axis=0), t * v[k])
        first = np.flatnonzero(model.collides(way, obstacles))
        assert not len(first) or found.at[k] <= t[first[0], 0] + 1.5e-3


def test_the_clearance_is_a_lower_bound_that_says_something(model: CollisionModel) -> None:
    q0, q1 = ends(model, 60, length=0.4)
    obstacles = SCENES["table"]
    found = model.certify_motion(q0, q1, obstacles, cap=0.2)
    free = np.flatnonzero(found.free)
    v = model.robot.difference(q0, q1)[free]
    t = np.linspace(0, 1, 400)
    way = model.robot.integrate(np.repeat(q0[free], 400, axis=0), np.tile(t, len(free))[:, None] * np.repeat(v, 400, 0))
    least = model.clearance(way, obstacles).distance.reshape(len(free), 400).min(axis=1)
    assert (found.clearance[free] <= least + 1e-12).all()
    assert (found.clearance[free] > 0).all()
    assert np.median(found.clearance[free] / np.minimum(least, 0.2)) > 0.2


def test_a_thin_wall_between_samples_is_found() -> None:
    """Sampling at 1/32 rad steps over a plate of 1 mm; the proof does not."""
    robot = lw.load("ur5e")
    tool = robot.bodies[-1]
    model = CollisionModel(robot, {tool: [Sphere((0, 0, 0), 0.001)]}, pairs=[])
    q0 = np.array([0.0, -1.2, 1.0, -1.0, -1.5, 0.0])
    q1 = q0 + [0.5, 0, 0, 0, 0, 0]
    across = robot.pose(q0 + 0.5 * (q1 - q0) * (1 + 1 / 17), tool)[:3, 3]
    plate = np.eye(4)
    angle = np.arctan2(across[1], across[0])
    plate[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    plate[:3, 3] = across
    wall = [Box((0.2, 0.0005, 0.2), plate)]
    assert model.motion_is_free(q0, q1, wall)
    found = model.certify_motion(q0, q1, wall)
    assert found.collides and not found.free and 0.4 < found.at < 0.6
    assert np.shape(found.at) == ()


def test_no_motion_at_all(model: CollisionModel) -> None:
    q = model.robot.random(40, seed=20)
    found = model.certify_motion(q, q, SCENES["cage"])
    hits = model.collides(q, SCENES["cage"])
    np.testing.assert_array_equal(found.collides, hits)
    np.testing.assert_array_equal(found.free, ~hits)


def test_what_is_wrong_is_said_in_words(model: CollisionModel) -> None:
    q = model.robot.random(2, seed=1)
    with pytest.raises(InvalidInput, match="q1 has shape"):
        model.certify_motion(q[0], q[1][:-1])
