"""Derivatives of inverse and forward dynamics against Pinocchio, against differences, and against each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.errors import NotPossible
from linkwork.model import Body, Joint, MassProperties, Model
from linkwork.quantities import quantity
from linkwork.robot import Robot
from tests.pinocchio_models import Twin, assert_close, twin, twin_of
from tests.random_models import random_model
from tests.robots_list import ROBOTS

FLOATING = ("ur/ur5_robot", "solo/solo12", "g1/g1_29dof_rev_1_0")


def states(robot: Robot, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.random(n, seed=seed), rng.normal(size=(n, robot.nv)), rng.normal(size=(n, robot.nv))


def traced(robot: Robot, name: str, *arguments: np.ndarray) -> list[np.ndarray]:
    """Every result of a quantity through CasADi's own evaluation: no compilation."""
    f, count = robot.function(name), len(quantity(name).outputs)
    rows = [[np.array(x) for x in f.call(list(row))[:count]] for row in zip(*arguments)]
    return [np.stack(column) for column in zip(*rows)]


def pinocchio_inverse(pair: Twin, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    data, at = pair.model.createData(), np.ix_(pair.index, pair.index)
    found = []
    for x, y, z in zip(q, v, a):
        d = pin.computeRNEADerivatives(pair.model, data, pair.q(x), pair.v(y), pair.v(z))
        M = np.triu(d[2]) + np.triu(d[2], 1).T
        found.append([d[0][at].copy(), d[1][at].copy(), M[at]])
    return [np.stack(column) for column in zip(*found)]


def pinocchio_forward(pair: Twin, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> list[np.ndarray]:
    data, at = pair.model.createData(), np.ix_(pair.index, pair.index)
    found = []
    for x, y, z in zip(q, v, tau):
        d = pin.computeABADerivatives(pair.model, data, pair.q(x), pair.v(y), pair.v(z))
        M = np.triu(d[2]) + np.triu(d[2], 1).T
        found.append([d[0][at].copy(), d[1][at].copy(), M[at]])
    return [np.stack(column) for column in zip(*found)]


def assert_all_close(ours, theirs, tolerance, labels=("d_dq", "d_dv", "d_da")):
    """To the largest entry of each matrix: entries that are differences of large ones have no better digits.

    By velocity the matrices are differences of inertias, so that they are no better than these are rounded.
    """
    rounding = 1e-15 * np.abs(theirs[2]).max()
    for x, y, label in zip(ours, theirs, labels):
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance * np.abs(y).max() + rounding, err_msg=label)


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics_of_every_published_robot_agrees_with_pinocchio(name):
    pair = twin(name)
    if pair.robot.nv == 0:
        return
    state = states(pair.robot, 3)
    assert_all_close(traced(pair.robot, "inverse_dynamics_derivatives", *state), pinocchio_inverse(pair, *state), 1e-12)


@pytest.mark.parametrize("name", FLOATING)
def test_inverse_dynamics_on_a_floating_base(name):
    pair = twin(name, "floating")
    state = states(pair.robot, 3)
    ours, theirs = traced(pair.robot, "inverse_dynamics_derivatives", *state), pinocchio_inverse(pair, *state)
    for x, y in zip(ours, theirs):
        assert_close(x, y, 1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_random_trees_agree_with_pinocchio(seed):
    pair = twin_of(random_model(seed, bodies=6, mimic=False))
    state = states(pair.robot, 2, seed)
    inverse = traced(pair.robot, "inverse_dynamics_derivatives", *state)
    assert_all_close(inverse, pinocchio_inverse(pair, *state), 1e-12)
    forward = traced(pair.robot, "forward_dynamics_derivatives", *state)
    condition = np.linalg.cond(inverse[2]).max()
    assert_all_close(forward, pinocchio_forward(pair, *state), 1e-14 * condition, ("d_dq", "d_dv", "d_dtau"))


@pytest.mark.parametrize(
    "name", ["ur/ur5_robot", "xarm/xarm7", "solo/solo12", "kinova/kinova", "double_pendulum/double_pendulum_continuous"]
)
@pytest.mark.parametrize("root", ["fixed", "floating"])
def test_forward_dynamics_agrees_with_pinocchio(name, root):
    pair = twin(name, root)
    state = states(pair.robot, 3)
    ours = traced(pair.robot, "forward_dynamics_derivatives", *state)
    M = traced(pair.robot, "inverse_dynamics_derivatives", *state)[2]
    tolerance = 1e-14 * np.linalg.cond(M).max()  # two factorisations differ by rounding times the condition of M
    assert_all_close(ours, pinocchio_forward(pair, *state), tolerance, ("d_dq", "d_dv", "d_dtau"))


@pytest.mark.parametrize("seed", range(6))
def test_tangent_derivatives_are_those_of_integrate(seed):
    """Central differences of tau and a along every tangent direction, on quaternions too."""
    robot = Robot(
        random_model(seed, bodies=4, types=("revolute", "prismatic", "helical", "ball", "floating"), mimic=False)
    )
    (q,), (v,), (x,) = states(robot, 1, seed)
    E, h = np.eye(robot.nv), 1e-5
    step = [robot.integrate(q, s * h * E) for s in (1, -1)]
    for name, method in (("inverse_dynamics", robot.inverse_dynamics), ("forward_dynamics", robot.forward_dynamics)):
        exact = getattr(robot, f"{name}_derivatives")(q, v, x)
        by_q = (method(step[0], v, x) - method(step[1], v, x)).T / (2 * h)
        by_v = (method(q, v + h * E, x) - method(q, v - h * E, x)).T / (2 * h)
        by_x = (method(q, v, x + h * E) - method(q, v, x - h * E)).T / (2 * h)
        # truncation h^2 = 1e-10 and rounding 1e-16 / h, of values a few orders above the smallest derivative
        scale = max(np.abs(d).max() for d in exact) + np.abs(method(q, v, x)).max()
        for ours, theirs in zip(exact, (by_q, by_v, by_x)):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-7 * scale, err_msg=name)


def test_velocity_derivative_is_twice_the_christoffel_matrix():
    robot = twin("xarm/xarm7").robot
    q, v, a = states(robot, 4)
    _, d_dv, d_da = robot.inverse_dynamics_derivatives(q, v, a)
    np.testing.assert_allclose(d_dv, 2 * np.einsum("nkij,nj->nki", robot.christoffel(q), v), rtol=0, atol=1e-13)
    np.testing.assert_allclose(d_da, robot.mass_matrix(q), rtol=0, atol=1e-14)


def test_forward_is_the_inverse_of_inverse():
    robot = twin("ur/ur5_robot").robot
    q, v, tau = states(robot, 5)
    a = robot.forward_dynamics(q, v, tau)
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v, a)
    d_dq, d_dv, d_dtau = robot.forward_dynamics_derivatives(q, v, tau)
    np.testing.assert_allclose(M @ d_dtau, np.broadcast_to(np.eye(6), (5, 6, 6)), rtol=0, atol=1e-11)
    np.testing.assert_allclose(M @ d_dq, -by_q, rtol=0, atol=1e-12 * np.abs(by_q).max())
    np.testing.assert_allclose(M @ d_dv, -by_v, rtol=0, atol=1e-12 * np.abs(by_q).max())


def test_compiled_code_equals_the_trace_single_and_batch():
    robot = twin("xarm/xarm7").robot
    state = states(robot, 9)
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        batch, expected = getattr(robot, name)(*state), traced(robot, name, *state)
        single = getattr(robot, name)(*(x[4] for x in state))
        out = [np.full_like(x, np.nan) for x in batch]
        assert all(x is y for x, y in zip(getattr(robot, name)(*state, out=out), out))
        for b, e, s, o in zip(batch, expected, single, out):
            np.testing.assert_allclose(b, e, rtol=0, atol=1e-13 * np.abs(e).max())
            assert np.array_equal(b[4], s)
            assert np.array_equal(b, o)


def test_mimicking_joints_contract_the_derivatives():
    model = random_model(3, bodies=6, types=("revolute", "prismatic"))
    follows, free = Robot(model), Robot(replace(model, joints=tuple(replace(j, mimic=None) for j in model.joints)))
    Gq, b, G = follows.subject.tree.mimic_map
    (q,), (v,), (a,) = states(follows, 1)
    expected = [G.T @ d @ G for d in free.inverse_dynamics_derivatives(Gq @ q + b, G @ v, G @ a)]
    assert_all_close(follows.inverse_dynamics_derivatives(q, v, a), expected, 1e-13)
    tau = follows.inverse_dynamics(q, v, a)
    inverse = np.linalg.inv(expected[2])
    forward = (-inverse @ expected[0], -inverse @ expected[1], inverse)
    assert_all_close(follows.forward_dynamics_derivatives(q, v, tau), forward, 1e-11)


def test_payload_is_a_live_input():
    robot = twin("ur/ur5_robot").robot
    (q,), (v,), (a,) = states(robot, 1)
    body, I = robot.bodies[-1], np.diag([0.01, 0.02, 0.03])
    load = MassProperties(2.0, (0.1, 0.0, 0.2), tuple(map(tuple, I.tolist())))
    bodies = [replace(b, mass_properties=b.mass_properties + load) if b.name == body else b for b in robot.model.bodies]
    heavier = Robot(replace(robot.model, bodies=tuple(bodies)))
    payload = lw.Payload(body, 2.0, (0.1, 0.0, 0.2), I)
    expected = heavier.inverse_dynamics_derivatives(q, v, a)
    assert_all_close(robot.inverse_dynamics_derivatives(q, v, a, payload=payload), expected, 1e-12)
    expected = heavier.forward_dynamics_derivatives(q, v, a)
    assert_all_close(robot.forward_dynamics_derivatives(q, v, a, payload=payload), expected, 1e-10)


def test_a_joint_without_inertia_is_named():
    model = Model(name="empty", bodies=(Body("link"),), joints=(Joint("hinge", "revolute", None, "link"),))
    with pytest.raises(NotPossible, match="hinge"):
        Robot(model).forward_dynamics_derivatives([0.1], [0.2], [0.3])
    geared = replace(model, joints=(replace(model.joints[0], armature=0.5),))
    _, _, d_dtau = Robot(geared).forward_dynamics_derivatives([0.1], [0.2], [0.3])
    assert d_dtau == pytest.approx(2.0)
