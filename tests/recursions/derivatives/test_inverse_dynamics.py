"""Derivatives of inverse dynamics against Pinocchio, differences,
the Christoffel symbols and the mass matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.model import MassProperties
from linkwork.robot import Robot
from tests.pinocchio_models import assert_close, twin, twin_of
from tests.random_models import random_model
from tests.recursions.derivatives.oracles import (
    assert_all_close,
    inverse_by_pinocchio,
    states,
    traced,
)
from tests.robots_list import MACHINES

NAME = "inverse_dynamics_derivatives"


@pytest.mark.parametrize("seed", range(10))
def test_random_trees_agree_with_pinocchio(seed):
    pair = twin_of(random_model(seed, bodies=6, mimic=False))
    state = states(pair.robot, 2, seed)
    assert_all_close(traced(pair.robot, NAME, *state), inverse_by_pinocchio(pair, *state), 1e-12)


@pytest.mark.parametrize("name", MACHINES)
def test_every_published_machine_agrees_with_pinocchio(name):
    pair = twin(name)
    if pair.robot.nv == 0:
        assert pair.robot.function(NAME).numel_out() == 0  # a drone without joints on a fixed base
        return
    state = states(pair.robot, 3)
    assert_all_close(traced(pair.robot, NAME, *state), inverse_by_pinocchio(pair, *state), 1e-12)


@pytest.mark.parametrize("name", ["ur/ur5_robot", "solo/solo12", "g1/g1_29dof_rev_1_0"])
def test_a_floating_base_agrees_with_pinocchio(name):
    pair = twin(name, "floating")
    state = states(pair.robot, 3)
    for ours, theirs in zip(traced(pair.robot, NAME, *state), inverse_by_pinocchio(pair, *state)):
        assert_close(ours, theirs, 1e-10)


def test_by_velocity_it_is_twice_the_christoffel_matrix_and_by_acceleration_the_mass_matrix():
    robot = twin("xarm/xarm7").robot
    q, v, a = states(robot, 4)
    _, d_dv, d_da = robot.inverse_dynamics_derivatives(q, v, a)
    np.testing.assert_allclose(
        d_dv, 2 * np.einsum("nkij,nj->nki", robot.christoffel(q), v), rtol=0, atol=1e-13
    )
    np.testing.assert_allclose(d_da, robot.mass_matrix(q), rtol=0, atol=1e-14)


def test_compiled_code_equals_the_trace_single_and_batch():
    robot = twin("xarm/xarm7").robot
    state = states(robot, 9)
    batch, expected = robot.inverse_dynamics_derivatives(*state), traced(robot, NAME, *state)
    single = robot.inverse_dynamics_derivatives(*(x[4] for x in state))
    out = [np.full_like(x, np.nan) for x in batch]
    assert all(x is y for x, y in zip(robot.inverse_dynamics_derivatives(*state, out=out), out))
    for b, e, s, o in zip(batch, expected, single, out):
        np.testing.assert_allclose(b, e, rtol=0, atol=1e-13 * np.abs(e).max())
        assert np.array_equal(b[4], s)
        assert np.array_equal(b, o)


def test_mimicking_joints_contract_the_derivatives():
    model = random_model(3, bodies=6, types=("revolute", "prismatic"))
    follows, free = (
        Robot(model),
        Robot(replace(model, joints=tuple(replace(j, mimic=None) for j in model.joints))),
    )
    Gq, b, G = follows.subject.tree.mimic_map
    (q,), (v,), (a,) = states(follows, 1)
    expected = [G.T @ d @ G for d in free.inverse_dynamics_derivatives(Gq @ q + b, G @ v, G @ a)]
    assert_all_close(follows.inverse_dynamics_derivatives(q, v, a), expected, 1e-13)


def test_a_payload_is_a_live_input():
    robot = twin("ur/ur5_robot").robot
    (q,), (v,), (a,) = states(robot, 1)
    body, I = robot.bodies[-1], np.diag([0.01, 0.02, 0.03])
    load = MassProperties(2.0, (0.1, 0.0, 0.2), tuple(map(tuple, I.tolist())))
    bodies = [
        replace(b, mass_properties=b.mass_properties + load) if b.name == body else b
        for b in robot.model.bodies
    ]
    expected = Robot(replace(robot.model, bodies=tuple(bodies))).inverse_dynamics_derivatives(
        q, v, a
    )
    payload = lw.Payload(body, 2.0, (0.1, 0.0, 0.2), I)
    assert_all_close(robot.inverse_dynamics_derivatives(q, v, a, payload=payload), expected, 1e-12)


def test_forces_from_outside_keep_their_direction_while_joints_turn():
    """Central differences of inverse dynamics under the same forces,
    whose error is some 1e-9 of the largest entry."""
    robot = twin("xarm/xarm7").robot
    q, v, a = (x[0] for x in states(robot, 1))
    forces = {
        "link7": np.array([3.0, -20.0, 11.0, 0.7, -0.4, 0.9]),
        "link3": np.array([-5.0, 8.0, 30.0, 1.0, 2.0, -3.0]),
    }
    step, unit = 1e-5, np.eye(robot.nv)
    ahead, behind = (
        robot.inverse_dynamics(
            q + sign * step * unit, np.tile(v, (7, 1)), np.tile(a, (7, 1)), forces=forces
        )
        for sign in (1, -1)
    )
    exact = robot.inverse_dynamics_derivatives(q, v, a, forces=forces)[0]
    np.testing.assert_allclose(
        exact, (ahead - behind).T / (2 * step), rtol=0, atol=1e-8 * np.abs(exact).max()
    )
