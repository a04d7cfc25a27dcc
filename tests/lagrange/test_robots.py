"""Systems and robots: the torque table by differentiation against the one by projected wrenches,
on the same arms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.lagrange import System
from tests.published import URDFS

ARMS = ("ur5_robot.urdf", "panda.urdf")


@pytest.mark.parametrize("file", ARMS)
def test_torque_tables_agree(file):
    robot = lw.load(next(path for path in URDFS.values() if path.name == file), mimic="independent")
    system = System.from_robot(robot)
    rng = np.random.default_rng(0)
    q, v, a = robot.random(4, seed=0), *rng.normal(size=(2, 4, robot.nv))
    expected = robot.torque_table(q, v, a)
    f = system.function("torque_table")
    found = np.array([np.array(f(*row)) for row in zip(q, v, a)])
    columns = [robot.bodies.index(name) for name in system.bodies]
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected[..., columns], rtol=0, atol=1e-10 * scale)
    silent = [k for k in range(len(robot.bodies)) if k not in columns]
    assert (expected[..., silent] == 0).all()  # bodies without matter
    kinetic, potential = robot.energy(q[0], v[0])
    K, P = (float(x) for x in system.function("energy").call([q[0], v[0]]))
    np.testing.assert_allclose([K, P], [kinetic, potential], rtol=1e-10)


def test_links_of_a_robot_can_be_removed():
    """Body and joint have one name there: the body goes first,
    as a joint cannot while it carries one."""
    robot = lw.load("ur5e")
    system = System.from_robot(robot)
    tip = "wrist_3_link"
    light = system.remove(tip)
    assert tip not in light.bodies and tip in light.frames
    assert light.coordinates == system.coordinates
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    f, g = system.function("torque_table"), light.function("torque_table")
    np.testing.assert_array_equal(np.array(g(q, v, a)), np.array(f(q, v, a))[:, :-1])
    assert light.stale_terms() == ()
    ends = [
        name
        for name in light.frames
        if not any(frame.parent == name for frame in light.frames.values())
    ]
    assert ends[-1] not in light.remove(ends[-1]).frames


def test_a_robot_can_be_extended_by_anything():
    """A spring from the hand to the wall, a mass on a slider at the hand: one more coordinate,
    two columns."""
    robot = lw.load(next(path for path in URDFS.values() if path.name == "ur5_robot.urdf"))
    system = System.from_robot(robot)
    hand = "wrist_3_link"
    more = system.with_spring("rubber", 100.0, hand, (1.0, 0.0, 0.5))
    from linkwork.lagrange import SpatialJoint

    more = more.with_joint("slide", SpatialJoint("prismatic", axis=(0, 0, 1)), hand).with_body(
        "tool", 0.4, frame="slide"
    )
    assert more.nq == robot.nv + 1
    assert list(more.terms)[-2:] == ["rubber", "tool"]
    q = np.zeros(7)
    stretched = robot.forward_kinematics(q[:6])[hand]
    body = robot.model.body(hand).mass_properties
    p = stretched[:3, :3] @ body.com + stretched[:3, 3]
    f = more.function("gravity_torque")
    pull = 100.0 * (p - np.array([1.0, 0.0, 0.5]))
    com = robot.with_frame("com", hand, body.com)
    J = com.jacobian(q[:6], "com")[:3]
    T = robot.pose(q[:6], hand)
    weight = 0.4 * 9.81 * np.array([0, 0, 1.0])
    at_tool = robot.jacobian(q[:6], hand)[:3]
    expected = robot.gravity_torque(q[:6]) + J.T @ pull + at_tool.T @ weight
    found = np.array(f(q)).ravel()
    np.testing.assert_allclose(found[:6], expected, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(found[6], T[:3, 2] @ weight, atol=1e-12)
