"""Derivatives of forward dynamics against Pinocchio, differences,
and the derivatives of inverse dynamics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import NotPossible
from linkwork.model import Body, Joint, Model
from linkwork.robot import Robot
from tests.pinocchio_models import twin, twin_of
from tests.random_models import random_model
from tests.recursions.derivatives.oracles import (
    assert_all_close,
    forward_by_pinocchio,
    states,
    traced,
)

NAME = "forward_dynamics_derivatives"


def tolerance(robot: Robot, *state: np.ndarray) -> float:
    """Two factorisations differ by rounding times the condition of M."""
    return 1e-14 * np.linalg.cond(traced(robot, "inverse_dynamics_derivatives", *state)[2]).max()


@pytest.mark.parametrize("seed", range(10))
def test_random_trees_agree_with_pinocchio(seed):
    pair = twin_of(random_model(seed, bodies=5, mimic=False))
    state = states(pair.robot, 2, seed)
    ours = traced(pair.robot, NAME, *state)
    assert_all_close(ours, forward_by_pinocchio(pair, *state), tolerance(pair.robot, *state))


@pytest.mark.parametrize(
    "name",
    [
        "ur/ur5_robot",
        "xarm/xarm7",
        "solo/solo12",
        "kinova/kinova",
        "double_pendulum/double_pendulum_continuous",
    ],
)
@pytest.mark.parametrize("root", ["fixed", "floating"])
def test_published_robots_agree_with_pinocchio(name, root):
    pair = twin(name, root)
    state = states(pair.robot, 3)
    ours = traced(pair.robot, NAME, *state)
    assert_all_close(ours, forward_by_pinocchio(pair, *state), tolerance(pair.robot, *state))


def test_they_undo_those_of_inverse_dynamics():
    robot = twin("ur/ur5_robot").robot
    q, v, tau = states(robot, 5)
    a = robot.forward_dynamics(q, v, tau)
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v, a)
    d_dq, d_dv, d_dtau = robot.forward_dynamics_derivatives(q, v, tau)
    np.testing.assert_allclose(
        M @ d_dtau, np.broadcast_to(np.eye(6), (5, 6, 6)), rtol=0, atol=1e-11
    )
    np.testing.assert_allclose(M @ d_dq, -by_q, rtol=0, atol=1e-12 * np.abs(by_q).max())
    np.testing.assert_allclose(M @ d_dv, -by_v, rtol=0, atol=1e-12 * np.abs(by_q).max())
    assert np.array_equal(d_dtau, d_dtau.swapaxes(1, 2))


def test_mimicking_joints_contract_the_derivatives():
    model = random_model(3, bodies=6, types=("revolute", "prismatic"))
    follows, free = (
        Robot(model),
        Robot(replace(model, joints=tuple(replace(j, mimic=None) for j in model.joints))),
    )
    Gq, b, G = follows.subject.tree.mimic_map
    (q,), (v,), (a,) = states(follows, 1)
    by_q, by_v, M = (
        G.T @ d @ G for d in free.inverse_dynamics_derivatives(Gq @ q + b, G @ v, G @ a)
    )
    tau, inverse = follows.inverse_dynamics(q, v, a), np.linalg.inv(M)
    expected = (-inverse @ by_q, -inverse @ by_v, inverse)
    assert_all_close(follows.forward_dynamics_derivatives(q, v, tau), expected, 1e-11)


def test_a_payload_is_a_live_input():
    robot = twin("ur/ur5_robot").robot
    (q,), (v,), (tau,) = states(robot, 1)
    payload = lw.Payload(robot.bodies[-1], 2.0, (0.1, 0.0, 0.2), np.diag([0.01, 0.02, 0.03]))
    a = robot.forward_dynamics(q, v, tau, payload=payload)
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v, a, payload=payload)
    inverse = np.linalg.inv(M)
    expected = (-inverse @ by_q, -inverse @ by_v, inverse)
    assert_all_close(
        robot.forward_dynamics_derivatives(q, v, tau, payload=payload), expected, 1e-11
    )


def test_a_joint_without_inertia_is_named():
    model = Model(
        name="empty", bodies=(Body("link"),), joints=(Joint("hinge", "revolute", None, "link"),)
    )
    with pytest.raises(NotPossible, match="hinge"):
        Robot(model).forward_dynamics_derivatives([0.1], [0.2], [0.3])
    geared = replace(model, joints=(replace(model.joints[0], armature=0.5),))
    _, _, d_dtau = Robot(geared).forward_dynamics_derivatives([0.1], [0.2], [0.3])
    assert d_dtau == pytest.approx(2.0)
