"""Motions: one verdict a motion, that of its samples one by one."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import CollisionModel, Obstacles, Sphere
from linkwork.collision.motions import kernel_of
from linkwork.collision.part_distances import Poses, distances
from linkwork.engine import machine
from linkwork.errors import InvalidInput
from tests.collision.scenes import SCENES, capsule_gantry, cones, shapes_on
from tests.collision.test_checker import some_pairs


@pytest.fixture(scope="module")
def arm() -> CollisionModel:
    robot = lw.load("ur5e")
    shapes = shapes_on(robot, 2)
    return CollisionModel(robot, shapes, pairs=some_pairs(robot, shapes))


def ends(model: CollisionModel, count: int, length: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(12)
    q = model.robot.random(count, seed=12)
    way = rng.normal(size=(count, model.robot.nv))
    return q, model.robot.integrate(q, length * way / np.linalg.norm(way, axis=1)[:, None])


def sampled(
    model: CollisionModel, q0: np.ndarray, q1: np.ndarray, scene: object, step: float = 1 / 32
) -> bool:
    v = model.robot.difference(q0, q1)
    count = max(int(np.ceil(np.linalg.norm(v) / step)), 1)
    t = np.arange(count + 1)[:, None] / count
    return not model.collides(
        model.robot.integrate(np.repeat(q0[None], count + 1, axis=0), t * v), scene
    ).any()


@pytest.mark.parametrize("scene", SCENES)
def test_a_motion_is_free_if_its_samples_are(arm: CollisionModel, scene: str) -> None:
    q0, q1 = ends(arm, 150)
    free = arm.motion_is_free(q0, q1, SCENES[scene])
    expected = [sampled(arm, a, b, SCENES[scene]) for a, b in zip(q0, q1, strict=True)]
    np.testing.assert_array_equal(free, expected)
    assert 0.02 < free.mean() < 0.98


def test_other_steps_and_no_way_at_all(arm: CollisionModel) -> None:
    q0, q1 = ends(arm, 60)
    scene = SCENES["shelves"]
    for step in (0.5, 0.01):
        expected = [sampled(arm, a, b, scene, step) for a, b in zip(q0, q1, strict=True)]
        np.testing.assert_array_equal(arm.motion_is_free(q0, q1, scene, step=step), expected)
    np.testing.assert_array_equal(arm.motion_is_free(q0, q0, scene), ~arm.collides(q0, scene))


@pytest.mark.parametrize("width", [*machine.widths(), 16])
def test_every_width_gives_the_same_verdicts(width: int) -> None:
    """Balls and capsules among boxes, capsules, tapered ones, and with each other; tapered ones:
    test_checker.py."""
    model = capsule_gantry()
    q0, q1 = ends(model, 100)
    v = q1 - q0
    count = np.ceil(np.linalg.norm(v, axis=1) * 32)[:, None]
    for scene in (SCENES["shelves"], SCENES["cage"], cones(), Obstacles([])):
        free = kernel_of(model.tables)((q0, v, count), model.tables.pack(scene), width=width) == 0
        np.testing.assert_array_equal(free, model.motion_is_free(q0, q1, scene))
        assert 0.05 < free.mean() < 0.95


def test_shapes_of_one_motion_a_batch_and_a_path(arm: CollisionModel) -> None:
    q0, q1 = ends(arm, 12)
    scene = SCENES["cage"]
    each = arm.motion_is_free(q0, q1, scene)
    assert np.shape(arm.motion_is_free(q0[0], q1[0], scene)) == ()
    assert bool(arm.motion_is_free(q0[0], q1[0], scene)) == each[0]
    np.testing.assert_array_equal(arm.motion_is_free(q0[0], q1, scene)[0], each[0])
    path = np.stack([q0, q1, q0], axis=1)
    np.testing.assert_array_equal(
        arm.path_is_free(path, scene), each & arm.motion_is_free(q1, q0, scene)
    )
    assert arm.path_is_free(path[0], scene) == (each & arm.motion_is_free(q1, q0, scene))[0]


def test_verdicts_go_into_an_array_of_the_caller(arm: CollisionModel) -> None:
    (q0, q1), scene = ends(arm, 80), SCENES["shelves"]
    path = np.stack([q0, q1], axis=1)
    asked = {
        "collides": lambda **out: arm.collides(q0, scene, **out),
        "motion_is_free": lambda **out: arm.motion_is_free(q0, q1, scene, **out),
        "path_is_free": lambda **out: arm.path_is_free(path, scene, **out),
    }
    for name, ask in asked.items():
        out = np.ones(80, dtype=bool)
        assert ask(out=out) is out
        np.testing.assert_array_equal(out, ask())
        assert 0 < out.sum() < 80
        for wrong, came in ((np.ones(80), "float64"), (np.ones(5, dtype=bool), "bool"), (3, "3")):
            with pytest.raises(
                InvalidInput, match=rf"{name}: out is {came}.*of bool of shape \(80,\)"
            ):
                ask(out=wrong)
        out.flags.writeable = False
        with pytest.raises(InvalidInput, match=f"{name}: out is read-only"):
            ask(out=out)


def test_a_floating_base_moves_along_its_screw(tmp_path) -> None:
    path = tmp_path / "free.xml"
    path.write_text(
        "<mujoco><worldbody><body name='trunk'><freejoint/><geom size='.1' "
        "mass='1'/></body></worldbody></mujoco>"
    )
    robot = lw.load(path)
    model = CollisionModel(
        robot, {"trunk": [Sphere((0.2, 0, 0), 0.1), Sphere((-0.2, 0, 0), 0.1)]}, pairs=[]
    )
    q0, q1 = ends(model, 80)
    scene, steps = SCENES["shelves"], 29  # of 1/32 in a way of 0.9
    v = np.repeat(robot.difference(q0, q1), steps + 1, axis=0)
    t = np.tile(np.arange(steps + 1) / steps, len(q0))[:, None]
    samples = robot.integrate(np.repeat(q0, steps + 1, axis=0), t * v)
    still = np.broadcast_to(np.eye(3), (len(samples), 3, 3)), np.zeros((len(samples), 3))
    distance = distances(
        model.shapes["trunk"], Poses(model.subject, samples).of("trunk"), scene.shapes, still
    )
    expected = (distance.reshape(len(q0), -1) >= 0.0).all(axis=1)
    np.testing.assert_array_equal(model.motion_is_free(q0, q1, scene), expected)
    assert 0.05 < expected.mean() < 0.95


def test_what_is_wrong_is_said_in_words(arm: CollisionModel) -> None:
    q = np.zeros(6)
    with pytest.raises(InvalidInput, match=r"q1 has shape \(5,\), expected \(..., 6\)"):
        arm.motion_is_free(q, np.zeros(5))
    with pytest.raises(InvalidInput, match="step is 0, expected a positive length"):
        arm.motion_is_free(q, q, step=0)
    with pytest.raises(InvalidInput, match="q0 is not finite"):
        arm.motion_is_free(q * np.nan, q)
    with pytest.raises(
        InvalidInput, match=r"waypoints has shape \(1, 6\), expected \(..., m, 6\) with m >= 2"
    ):
        arm.path_is_free(np.zeros((1, 6)))
    with pytest.raises(InvalidInput, match="samples"):
        arm.motion_is_free(q, q + 1, step=1e-9)
