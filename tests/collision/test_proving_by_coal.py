"""Motions of hulls, meshes and cylinders, which coal measures:
proofs hold however densely they are sampled."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import (
    Box,
    Capsule,
    Cloud,
    CollisionModel,
    Convex,
    Cylinder,
    HeightField,
    Mesh,
    Obstacles,
    Sphere,
)
from tests.collision.scenes import gantry, turned
from tests.collision.test_exact_tapers import CORNERS, FACES
from tests.collision.test_motions import ends

SCENE = Obstacles(
    [
        Mesh(0.3 * CORNERS, FACES, turned(0.4, (0.5, 0.3, 0.2)), name="block"),
        Convex(
            np.random.default_rng(3).normal(size=(12, 3)) * 0.08 + [-0.4, 0.4, 0.4], name="stone"
        ),
        Cylinder(0.05, 0.8, turned(0.0, (0.1, -0.6, 0.3)), name="post"),
        Box((0.3, 0.3, 0.02), turned(0.5, (-0.5, -0.3, 0.3)), name="plate"),
        HeightField(
            [[0.0, 0.02, 0.0], [0.05, 0.0, 0.02], [0.0, 0.0, 0.03]],
            1.5,
            (-1.5, -1.5, -0.25),
            name="ground",
        ),
        Cloud(
            np.random.default_rng(4).normal(size=(40, 3)) * 0.05 + [0.4, -0.5, 0.5],
            0.01,
            name="dust",
        ),
    ]
)


def arm() -> CollisionModel:
    """An arm of hulls and meshes."""
    robot = lw.load("ur5e")
    rng = np.random.default_rng(7)
    shapes = {
        "upper_arm_link": [Convex(rng.normal(size=(10, 3)) * [0.15, 0.03, 0.03] + [-0.2, 0, 0.1])],
        "forearm_link": [Mesh(CORNERS * [0.35, 0.08, 0.06], FACES, turned(0.0, (-0.2, 0, 0)))],
        "wrist_1_link": [Convex(CORNERS * [0.08, 0.1, 0.06])],
        "wrist_2_link": [Mesh(CORNERS * [0.07, 0.07, 0.1], FACES, margin=0.005)],
        "wrist_3_link": [Convex(0.08 * CORNERS + [0, 0, 0.1])],
    }
    listed = list(shapes)
    pairs = [(a, b) for k, a in enumerate(listed) for b in listed[k + 2 :]]
    return CollisionModel(robot, shapes, pairs=pairs)


def slides() -> CollisionModel:
    """A robot with sliding joints, and with a capsule and a sphere that machine code knows."""
    post = Capsule((0.0, 0.1, 0.0), (0.0, 0.1, 0.3), 0.03)
    blade = Mesh(CORNERS * [0.2, 0.04, 0.04], FACES, margin=0.01)
    shapes = {"cart": [Convex(0.1 * CORNERS), post], "tip": [Sphere((0.1, 0, 0), 0.03), blade]}
    return CollisionModel(gantry(), shapes, pairs=[("cart", "tip")])


@pytest.fixture(scope="module", params=[arm, slides], ids=["arm", "slides"])
def model(request: pytest.FixtureRequest) -> CollisionModel:
    return request.param()


def test_proofs_hold_and_touches_touch(model: CollisionModel) -> None:
    """Many more: test_many.py."""
    check_proofs(model, *ends(model, 12), samples=25)


def check_proofs(model: CollisionModel, q0: np.ndarray, q1: np.ndarray, samples: int) -> None:
    """Dense samples of free motions are free and no nearer than the bound;
    the touching sample of others touches."""
    proof = model.certify_motion(q0, q1, SCENE, cap=0.1)
    assert (proof.free.astype(int) + proof.collides + proof.undecided == 1).all()
    assert proof.free.any() and proof.collides.any() and proof.undecided.sum() <= 1e-3 * len(q0)
    v = model.robot.difference(q0, q1)
    for k in range(len(q0)):
        # before its first touch a motion is free
        end = 1.0 if proof.free[k] else proof.at[k] - 1.5e-3
        t = np.linspace(0.0, max(end, 0.0), samples)[:, None]
        way = model.robot.integrate(np.repeat(q0[k][None], samples, axis=0), t * v[k])
        if proof.free[k]:
            least = model.clearance(way, SCENE).distance.min()
            assert 0.0 <= proof.clearance[k] <= least
        elif end > 0.0:
            assert not model.collides(way, SCENE).any()
    touching = model.robot.integrate(q0, np.nan_to_num(proof.at)[:, None] * v)
    assert model.collides(touching[proof.collides], SCENE).all()
    assert np.isnan(proof.at[~proof.collides]).all() and (proof.clearance[~proof.free] <= 0.0).all()


def test_the_bound_says_something(model: CollisionModel) -> None:
    """Short motions: the bound is a good part of the distance at their beginning."""
    q0, q1 = ends(model, 40, length=0.1)
    proof = model.certify_motion(q0, q1, SCENE, cap=0.2)
    free = np.flatnonzero(proof.free)
    start = np.minimum(model.clearance(q0[free], SCENE).distance, 0.2)
    assert len(free) > 3 and np.median(proof.clearance[free] / start) > 0.2


def test_a_hull_passes_no_thin_wall(model: CollisionModel) -> None:
    """A sheet through the last body, where it is after 0.53 of its way."""
    q0, q1 = ends(model, 8, length=0.5)
    last = list(model.shapes)[-1]
    for a, b in zip(q0, q1, strict=True):
        middle = model.robot.integrate(a, 0.53 * model.robot.difference(a, b))
        T = model.robot.pose(middle, last)
        T[:3, 3] += T[:3, 2] * model.shapes[last][-1].ball()[0][2]
        wall = [Mesh([[-3, -3, 0], [3, -3, 0], [0, 4, 0]], [[0, 1, 2]], T)]
        proof = model.certify_motion(a, b, wall)
        assert (
            proof.collides
            and not proof.free
            and np.shape(proof.at) == ()
            and proof.at <= 0.53 + 1e-3
        )


def test_what_machine_code_knows_is_proved_with_the_rest(model: CollisionModel) -> None:
    """A sphere among the obstacles, known to machine code: the earlier of both touches counts."""
    q0, q1 = ends(model, 10)
    middle = model.robot.integrate(q0, 0.25 * model.robot.difference(q0, q1))
    last = list(model.shapes)[-1]
    for a, b, at in zip(q0, q1, middle, strict=True):
        ball = Sphere(model.robot.pose(at, last)[:3, 3], 0.06, name="ball")
        both = model.certify_motion(a, b, SCENE.with_shapes(ball))
        alone = model.certify_motion(a, b, [ball])
        without = model.certify_motion(a, b, SCENE)
        assert both.collides and alone.collides
        assert abs(both.at - np.nanmin([alone.at, without.at])) <= 1e-3
