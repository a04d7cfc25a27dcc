"""Friction: damping and dry friction of every coordinate, and of nothing else."""

from __future__ import annotations

import numpy as np

from linkwork.model import Body, Joint, MassProperties, Mimic, Model
from linkwork.robot import Robot

MATTER = MassProperties(1.0, (0.1, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
DAMPING, DRY = (2.0, 0.5), (0.3, 0.0)


def pair(damping=DAMPING, dry=DRY, mimic=None) -> Robot:
    joints = (
        Joint("first", "revolute", None, "upper", damping=damping[0], friction=dry[0]),
        Joint(
            "second", "revolute", "upper", "lower", damping=damping[1], friction=dry[1], mimic=mimic
        ),
    )
    return Robot(Model("pair", (Body("upper", MATTER), Body("lower", MATTER)), joints))


def test_damping_grows_with_speed_and_dry_friction_has_its_sign():
    v = np.array([[1.0, 2.0], [-3.0, -1.0], [0.0, 0.0]])
    expected = v * DAMPING + np.sign(v) * DRY
    assert np.array_equal(pair().friction_torque(v), expected)
    assert np.array_equal(pair().friction_torque(v[1]), expected[1])


def test_a_mimicking_joint_rubs_on_its_leader():
    robot = pair(mimic=Mimic("first", -2.0))
    v = np.array([1.5])
    follower = 0.5 * (-3.0)
    assert np.allclose(robot.friction_torque(v), 2.0 * 1.5 + 0.3 - 2.0 * follower, rtol=1e-15)


def test_no_other_quantity_contains_friction():
    rough, smooth = pair(), pair((0.0, 0.0), (0.0, 0.0))
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    assert np.array_equal(rough.inverse_dynamics(q, v, a), smooth.inverse_dynamics(q, v, a))
    assert np.array_equal(rough.forward_dynamics(q, v, a), smooth.forward_dynamics(q, v, a))


def test_robots_with_other_friction_do_not_share_its_kernel():
    other = pair((1.0, 1.0), (0.0, 0.0))
    assert np.array_equal(pair().friction_torque([1.0, 1.0]), [2.3, 0.5])
    assert np.array_equal(other.friction_torque([1.0, 1.0]), [1.0, 1.0])
