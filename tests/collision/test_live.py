"""Live designs: every answer is that of the robot built anew with these lengths;
designs x configurations x scenes."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, Capsule, CollisionModel, HalfSpace, Obstacles, Sphere
from linkwork.engine.kernel import counts
from linkwork.errors import InvalidInput, NotPossible
from tests.collision.test_checker import by_coal

ARM = """
linkwork: 1
name: three
units: {length: m, angle: rad}
variables: {upper: 0.4, fore: 0.3, thick: 0.04}
bodies:
  base: {collisions: [{kind: sphere, size: [0.1]}]}
  arm:
    collisions:
      - kind: capsule
        size: ["${thick}", "${upper}"]
        placement: {xyz: ["${upper/2}", 0, 0], rpy: [0, 1.5707963267948966, 0]}
  elbow:
    collisions: [{kind: sphere, size: ["${1.3*thick}"]}]
  forearm:
    collisions:
      - kind: capsule
        size: ["${0.8*thick}", "${fore}"]
        placement: {xyz: ["${fore/2}", 0, 0], rpy: [0, 1.5707963267948966, 0]}
      - {kind: sphere, size: [0.03], placement: {xyz: ["${fore}", 0, 0.02]}}
  hand: {collisions: [{kind: sphere, size: [0.05]}]}
joints:
  turn: {type: revolute, parent: base, child: arm, axis: z, placement: [0, 0, 0.2], limits: {lower: -3, upper: 3}}
  stay: {type: fixed, parent: arm, child: elbow, placement: ["${upper}", 0, 0]}
  bend:
    {type: revolute, parent: elbow, child: forearm, axis: "y", placement: [0, 0, 0.02], limits: {lower: -3, upper: 3}}
  out:
    type: prismatic
    parent: forearm
    child: hand
    axis: x
    placement: ["${fore}", 0, 0]
    limits: {lower: 0, upper: 0.2}
"""
PAIRS = [("base", "forearm"), ("arm", "hand"), ("base", "hand")]
CELL = Obstacles(
    [Box((0.3, 0.2, 0.4), (0.5, 0.3, 0.2)), Capsule((-0.4, 0.2, 0), (-0.4, 0.2, 0.8), 0.05)]
)
OTHER = Obstacles([HalfSpace((0, 0, 1), -0.15), Sphere((0.3, -0.4, 0.3), 0.1)])
DESIGNS = [{"upper": 0.4, "fore": 0.3, "thick": 0.04}, {"upper": 0.7, "fore": 0.15, "thick": 0.02}]
DESIGNS += [{"upper": 0.2, "fore": 0.6, "thick": 0.07}]


@functools.cache
def file(folder: Path) -> Path:
    path = folder / "three.robot.yaml"
    path.write_text(ARM)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return file(tmp_path_factory.mktemp("live"))


@pytest.fixture(scope="module")
def live(path: Path) -> CollisionModel:
    return lw.collision.model(lw.load(path, live=["upper", "fore", "thick"]), pairs=PAIRS)


def rebuilt(path: Path, design: dict) -> CollisionModel:
    return lw.collision.model(lw.load(path).with_variables(**design), pairs=PAIRS)


def test_answers_are_those_of_the_robot_built_anew(path: Path, live: CollisionModel) -> None:
    """Verdicts and distances are those of coal for the robot with these lengths;
    gradients are those of differences."""
    design, other = DESIGNS[1], rebuilt(path, DESIGNS[1])
    q = live.robot.random(100, seed=1)
    least = by_coal(other, q, CELL)
    hits = live.collides(q, CELL, variables=design)
    np.testing.assert_array_equal(hits, least < 0.0)
    assert 0.05 < hits.mean() < 0.95 and (hits != live.collides(q, CELL)).any()
    nearest = live.clearance(q, CELL, variables=design)
    near = least < 0.01  # what coal was asked about
    np.testing.assert_allclose(nearest.distance[near], least[near], rtol=0, atol=1e-8)
    assert (nearest.distance[~near] >= 0.01 - 1e-8).all()
    steps = 1e-6 * np.eye(3)
    ahead, behind = (
        live.clearance(q[:, None] + sign * steps, CELL, variables=design).distance
        for sign in (1, -1)
    )
    right = np.abs(nearest.gradient - (ahead - behind) / 2e-6).max(axis=1) < 1e-5
    assert right.mean() > 0.95  # the others have two nearest shapes


def test_proofs_hold_for_every_design(live: CollisionModel) -> None:
    q, q1 = live.robot.random(200, seed=1), live.robot.random(200, seed=11)
    q1 = q + 0.2 * (q1 - q)
    values = {key: np.array([d[key] for d in DESIGNS])[:, None] for key in DESIGNS[0]}
    proof = live.certify_motion(q, q1, CELL, variables=values)
    dense = live.motion_is_free(q, q1, CELL, step=1e-3, variables=values)
    assert proof.free.shape == (3, 200) and not (proof.free & ~dense).any()
    assert (proof.free.sum(axis=1) > 20).all() and proof.undecided.mean() <= 0.01
    t = np.linspace(0, 1, 50)[:, None, None, None]
    way = live.clearance(q + t * (q1 - q), CELL, variables=values).distance.min(axis=0)
    assert (proof.clearance[proof.free] <= way[proof.free] + 1e-12).all()
    at = q + np.nan_to_num(proof.at)[..., None] * (q1 - q)
    assert live.collides(at, CELL, variables=values)[proof.collides].all()


def test_designs_configurations_and_scenes_in_one_call(path: Path, live: CollisionModel) -> None:
    q = live.robot.random(50, seed=3)
    values = {key: np.array([d[key] for d in DESIGNS])[:, None] for key in DESIGNS[0]}
    live.collides(q, [CELL, OTHER], variables=values)
    before = counts["compiled"]
    found = live.collides(q, [CELL, OTHER], variables=values)
    assert found.shape == (2, 3, 50) and counts["compiled"] == before
    np.testing.assert_array_equal(found[1, 1], by_coal(rebuilt(path, DESIGNS[1]), q, OTHER) < 0.0)
    for k, design in enumerate(DESIGNS):
        for scene, obstacles in enumerate((CELL, OTHER)):
            np.testing.assert_array_equal(
                found[scene, k], live.collides(q, obstacles, variables=design)
            )
    q1 = q + 0.1
    assert live.motion_is_free(q, q1, [CELL, OTHER], variables=values).shape == (2, 3, 50)
    assert live.certify_motion(q, q1, [CELL, OTHER], variables=values).free.shape == (2, 3, 50)
    single = live.collides(q[0], CELL, variables={"upper": 0.7})
    assert single == live.collides(q[:1], CELL, variables={"upper": [0.7]})[0]


def test_shapes_given_as_numbers_move_with_fixed_joints(path: Path) -> None:
    """The elbow sits at a live distance behind a fixed joint."""
    robot = lw.load(path, live=["upper"])
    model = CollisionModel(robot, {"elbow": [Sphere((0.0, 0, 0), 0.03)]}, pairs=[])
    wall = [HalfSpace((-1, 0, 0), -1.0)]  # solid where x >= 1
    for upper in (0.3, 0.5, 0.9):
        distance = model.clearance(robot.neutral(), wall, variables={"upper": upper}).distance
        assert distance == pytest.approx(1.0 - upper - 0.03, abs=1e-12)


def test_a_function_of_distances_follows(path: Path, live: CollisionModel) -> None:
    f = live.function([("base", "hand"), ("arm", "hand")])
    q, design = live.robot.random(seed=2), DESIGNS[1]
    expected = np.array(
        rebuilt(path, design).function([("base", "hand"), ("arm", "hand")])(q)
    ).ravel()
    found = np.array(f(q, *design.values())).ravel()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    grown = live.padded(0.02).function([("base", "hand"), ("arm", "hand")])
    np.testing.assert_allclose(
        np.array(grown(q, *design.values())).ravel(), expected - 0.04, rtol=0, atol=1e-12
    )


def test_what_cannot_follow_is_refused(path: Path, live: CollisionModel) -> None:
    with pytest.raises(
        NotPossible, match='depend on live variables, and "spheres" fitted to them would not'
    ):
        lw.collision.model(live.robot, shapes="spheres")
    with pytest.raises(InvalidInput, match="do not broadcast"):
        live.certify_motion(np.zeros((3, 3)), np.zeros((3, 3)), variables={"upper": np.ones(4)})
    with pytest.raises(NotPossible, match="do not follow live variables"):
        live.collides(np.zeros(3), [lw.collision.Convex(np.eye(3))])
