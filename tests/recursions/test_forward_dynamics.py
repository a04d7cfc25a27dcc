"""Forward dynamics: the cheaper way, mimic, payloads, forces, and joints that move nothing."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from casadi import SX

import linkwork as lw
from linkwork.engine.passes import optimised
from linkwork.engine.program import from_casadi
from linkwork.errors import ComputationError, NotPossible
from linkwork.model import Body, Joint, MassProperties, Model, Placement
from linkwork.quantities import trace
from linkwork.recursions.forward_dynamics import forward_dynamics, without_inertia
from linkwork.robot import Robot
from tests.pinocchio_models import assert_close
from tests.random_models import random_model
from tests.robots_list import robot
from tests.traced import minimal, states, traced

BALL = MassProperties(2.0, (0.1, 0.0, 0.05), ((0.02, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.03)))
AWAY = Placement(position=(0.3, 0.0, 0.0))


def count(function: casadi.Function) -> int:
    return optimised(from_casadi(function)).operations


@pytest.mark.parametrize("name", ["xarm/xarm7", "ur/ur5_robot"])
def test_the_cheaper_way_is_taken(name):
    """xArm7: the factors of the mass matrix; UR5: articulated bodies."""
    arm = robot(name)
    tree, offset = minimal(arm)
    q, v, tau = SX.sym("q", tree.nq), SX.sym("v", tree.nv), SX.sym("tau", tree.nv)
    ways, _ = forward_dynamics(tree, q + offset, v, tau)
    counts = [count(casadi.Function("way", [q, v, tau], [way], {"cse": True})) for way in ways]
    assert counts[0] != counts[1]
    assert count(trace(arm.subject, "forward_dynamics")) == min(counts)
    assert counts.index(min(counts)) == (0 if name == "xarm/xarm7" else 1)


@pytest.mark.parametrize("seed", range(3))
def test_mimicking_joints(seed):
    """Three joints of one coordinate follow each other across branches:
    inverse dynamics gives the forces back."""
    one = Robot(random_model(seed, 8, ("revolute", "prismatic", "helical", "ball")))
    assert one.subject.tree.mimic
    q, v, a = states(one)
    (tau,) = traced(one, "inverse_dynamics", q, v, a)
    assert_close(traced(one, "forward_dynamics", q, v, tau)[0], a, 1e-9)


def arm(
    *matter: MassProperties, axes=((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)), at=AWAY, armature=(0.0, 0.0)
) -> Robot:
    joints = (
        Joint("shoulder", "revolute", None, "upper", axis=axes[0], armature=armature[0]),
        Joint("elbow", "revolute", "upper", "lower", at, axes[1], armature=armature[1]),
    )
    return Robot(Model("arm", (Body("upper", matter[0]), Body("lower", matter[1])), joints))


def test_a_joint_without_inertia_is_named():
    weightless = arm(BALL, MassProperties())
    assert np.isfinite(weightless.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [0.5, 0.5])).all()
    with pytest.raises(NotPossible, match='joint "elbow" of robot "arm" moves no inertia'):
        weightless.forward_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])


def test_two_coaxial_joints_with_nothing_between_are_one_too_many():
    """The mass matrix has no zero on its diagonal, and yet no inverse."""
    doubled = arm(MassProperties(), BALL, axes=((0.0, 0.0, 1.0), (0.0, 0.0, 1.0)), at=Placement())
    assert (np.diag(doubled.mass_matrix([0.1, 0.2])) > 0).all()
    with pytest.raises(NotPossible, match='joint "shoulder"'):
        doubled.forward_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])


def stretched() -> Robot:
    """Two links with all their matter in one point at the tip: stretched out,
    they cannot be told apart."""
    point = MassProperties(1.0, (0.5, 0.0, 0.0))  # halves: no rounding hides the zero
    return arm(
        MassProperties(), point, axes=((0.0, 1.0, 0.0),) * 2, at=Placement(position=(0.5, 0.0, 0.0))
    )


@pytest.mark.parametrize("given", ["plain", "batch", "out", "payload", "derivatives", "mobility"])
def test_a_configuration_without_inertia_names_its_joints(given):
    one, rest = stretched(), np.zeros(2)
    calls = {
        "plain": lambda: one.forward_dynamics([0.0, 0.0], rest, [0.0, 1.0]),
        "batch": lambda: one.forward_dynamics([[0.0, 0.5], [0.0, 0.0]], rest, [0.0, 1.0]),
        "out": lambda: one.forward_dynamics(
            np.array([0.0, 0.0]), rest, np.array([0.0, 1.0]), out=np.empty(2)
        ),
        "payload": lambda: one.forward_dynamics(
            [0.0, 0.0], rest, [0.0, 1.0], payload=lw.Payload("lower", 2.0, (0.5, 0.0, 0.0))
        ),
        "derivatives": lambda: one.forward_dynamics_derivatives([0.0, 0.0], rest, [0.0, 1.0]),
        "mobility": lambda: one.operational_space_mobility([0.0, 0.0], "lower"),
    }
    words = (
        r'mass matrix is singular at q = \[0, 0\]: joints "shoulder", "elbow" move no inertia there'
    )
    with pytest.raises(ComputationError, match=words):
        calls[given]()
    assert np.isfinite(one.forward_dynamics([0.0, 0.5], rest, [0.0, 1.0])).all()
    assert np.isfinite(one.inverse_dynamics([0.0, 0.0], rest, [0.0, 1.0])).all()


def test_rotor_inertia_or_a_payload_makes_a_weightless_link_move():
    q, v, a = [0.1, 0.2], [1.0, 2.0], [0.5, -0.5]
    geared = arm(BALL, MassProperties(), armature=(0.0, 0.01))
    assert np.allclose(
        geared.forward_dynamics(q, v, geared.inverse_dynamics(q, v, a)), a, rtol=1e-12
    )
    weightless, held = (
        arm(BALL, MassProperties()),
        lw.Payload("lower", 0.5, (0.1, 0.0, 0.0), np.eye(3) * 1e-3),
    )
    tau = weightless.inverse_dynamics(q, v, a, payload=held)
    assert np.allclose(weightless.forward_dynamics(q, v, tau, payload=held), a, rtol=1e-12)


def test_pivots_that_vanish_at_some_states_only_are_no_reason_to_refuse():
    x = SX.sym("x")
    pivots = casadi.vertcat(casadi.horzcat(x - x + casadi.fmax(x - 1, 0), 1), casadi.horzcat(1, 1))
    assert without_inertia(pivots, {}) == []
    assert without_inertia(pivots, {"x": 0.5}) == [0]


def test_a_pendulum():
    """One coordinate: m (c^2 + k^2) a = tau - m g c sin q about a horizontal axis."""
    rod = MassProperties(2.0, (0.0, 0.0, -0.5), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.0)))
    swing = Robot(
        Model(
            "swing",
            (Body("rod", rod),),
            (Joint("pivot", "revolute", None, "rod", axis=(0.0, 1.0, 0.0)),),
        )
    )
    a = swing.forward_dynamics([[0.3], [0.0]], [[1.0], [5.0]], [[0.7], [1.2]])
    assert a[:, 0] == pytest.approx([(0.7 - 9.81 * np.sin(0.3)) / 0.6, 1.2 / 0.6], rel=1e-14)


def test_a_robot_without_joints():
    still = Robot(Model("rock", (Body("rock", BALL),), ()))
    assert still.forward_dynamics(np.zeros((3, 0)), np.zeros((3, 0)), np.zeros((3, 0))).shape == (
        3,
        0,
    )
    assert still.mass_matrix(np.zeros(0)).shape == (0, 0)
