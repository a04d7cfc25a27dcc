"""External forces keep their world axes while their points move with the bodies:
joint forces and derivatives."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.robot import Robot
from tests.pinocchio_models import Twin, twin
from tests.random_models import random_model
from tests.recursions.derivatives.oracles import states

CASES = [
    ("ur/ur5_robot", "fixed", ("wrist_3_link", "forearm_link")),
    ("solo/solo12", "fixed", ("FL_FOOT", "HR_FOOT")),
    ("bolt/bolt", "floating", ("FL_FOOT", "FR_LOWER_LEG", "base_link")),
]


def joint_forces(
    pair: Twin, configuration: np.ndarray, wrenches: dict[str, np.ndarray]
) -> np.ndarray:
    """-J'w (nv) by Pinocchio's Jacobians at one of its configurations."""
    model, data = pair.model, pair.model.createData()
    pin.computeJointJacobians(model, data, configuration)
    pin.updateFramePlacements(model, data)
    total = np.zeros(model.nv)
    for frame, w in wrenches.items():
        total -= (
            pin.getFrameJacobian(model, data, model.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED).T
            @ w
        )
    return total[pair.index]


def change_of_joint_forces(
    pair: Twin, q: np.ndarray, wrenches: dict[str, np.ndarray], h: float = 1e-4
) -> np.ndarray:
    """-d(J'w)/dq along the tangent (nv, nv): Pinocchio's Jacobians,
    differences of fourth order (error h^4 = 1e-16)."""
    model, index = pair.model, pair.index
    columns = []
    for k in index:
        moved = lambda x: pin.integrate(model, pair.q(q), x * h * np.eye(model.nv)[k])  # noqa: B023
        step = lambda x: joint_forces(pair, moved(x), wrenches)  # noqa: B023
        columns.append((8 * (step(1) - step(-1)) - (step(2) - step(-2))) / (12 * h))
    return np.column_stack(columns)


@pytest.mark.parametrize(
    "name, root, frames", [*CASES, ("ur/ur5_robot", "fixed", ("wrist_3_link", "ee_link"))]
)
def test_inverse_dynamics_carries_them(name, root, frames):
    pair = twin(name, root)
    robot, rng = pair.robot, np.random.default_rng(2)
    q, v, a = (x[0] for x in states(robot, 1))
    forces = {frame: rng.normal(size=6) for frame in frames}  # the last case has two on one body
    carried = robot.inverse_dynamics(q, v, a, forces=forces) - robot.inverse_dynamics(q, v, a)
    expected = joint_forces(pair, pair.q(q), forces)
    np.testing.assert_allclose(
        carried, expected, rtol=0, atol=1e-12 * np.abs(robot.inverse_dynamics(q, v, a)).max()
    )


@pytest.mark.parametrize("name, root, frames", CASES)
def test_they_add_what_pinocchios_jacobians_say(name, root, frames):
    pair = twin(name, root)
    robot, rng = pair.robot, np.random.default_rng(3)
    q, v, a = states(robot, 3)
    forces = {frame: 10 * rng.normal(size=(3, 6)) for frame in frames}
    loaded = robot.inverse_dynamics_derivatives(q, v, a, forces=forces)
    free = robot.inverse_dynamics_derivatives(q, v, a)
    for k in range(3):
        expected = change_of_joint_forces(pair, q[k], {frame: w[k] for frame, w in forces.items()})
        # rounding of the differences: 1e-16 * |tau| / h
        np.testing.assert_allclose(
            loaded[0][k] - free[0][k], expected, rtol=0, atol=1e-10 * np.abs(expected).max()
        )
    for with_forces, without in zip(loaded[1:], free[1:]):
        np.testing.assert_allclose(with_forces, without, rtol=0, atol=1e-12 * np.abs(without).max())


@pytest.mark.parametrize("name, root, frames", CASES)
def test_forward_dynamics_follows_by_the_implicit_function_theorem(name, root, frames):
    robot, rng = twin(name, root).robot, np.random.default_rng(4)
    q, v, tau = states(robot, 2)
    forces = {frame: rng.normal(size=6) for frame in frames}
    a = robot.forward_dynamics(q, v, tau, forces=forces)
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v, a, forces=forces)
    inverse = np.linalg.inv(M)
    for ours, expected in zip(
        robot.forward_dynamics_derivatives(q, v, tau, forces=forces),
        (-inverse @ by_q, -inverse @ by_v, inverse),
    ):
        accuracy = 1e-14 * np.linalg.cond(M).max()
        np.testing.assert_allclose(ours, expected, rtol=0, atol=accuracy * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(4))
def test_every_joint_type_by_differences(seed):
    types = (
        "revolute",
        "prismatic",
        "helical",
        "ball",
        "floating",
        "universal",
        "planar",
        "cylindrical",
    )
    robot = Robot(random_model(seed, bodies=4, types=types, mimic=seed % 2 == 1))
    q, v, a = (x[0] for x in states(robot, 1, seed))
    rng, h = np.random.default_rng(seed), 1e-5
    forces = {
        robot.bodies[-1]: rng.normal(size=6),
        robot.bodies[len(robot.bodies) // 2]: rng.normal(size=6),
    }
    exact = robot.inverse_dynamics_derivatives(q, v, a, forces=forces)[0]
    steps = h * np.eye(robot.nv)
    torque = lambda step: robot.inverse_dynamics(robot.integrate(q, step), v, a, forces=forces)
    by_differences = np.column_stack([(torque(e) - torque(-e)) / (2 * h) for e in steps])
    np.testing.assert_allclose(exact, by_differences, rtol=0, atol=1e-7 * np.abs(exact).max())
