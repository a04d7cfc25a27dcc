"""Laws of motion that need no reference, for random trees with every joint type.

Rates along a motion are exact: CasADi's derivative of the trace by the time h at h = 0, with q(h) =
q (+) h v.
"""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest
from casadi import SX
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.model import Body, Joint, MassProperties, Placement
from linkwork.model.joint import TYPES
from linkwork.model.rotation import from_quaternion
from linkwork.recursions.articulated_body import articulated_body
from linkwork.recursions.center_of_mass import center_of_mass, center_of_mass_jacobian
from linkwork.recursions.composite_body import mass_matrix
from linkwork.recursions.configuration import integrate
from linkwork.recursions.coriolis import coriolis_matrix
from linkwork.recursions.energy import energy
from linkwork.recursions.momentum import centroidal_matrix, momentum
from linkwork.recursions.newton_euler import newton_euler
from linkwork.robot import Robot
from tests.pinocchio_models import assert_close
from tests.random_models import random_model
from tests.robots_list import robot
from tests.traced import evaluated, minimal, states, traced

MOVING = tuple(kind for kind in TYPES if kind != "fixed")
TREES = {"seed": st.integers(0, 10**6), "bodies": st.integers(1, 7)}
FEW = settings(max_examples=6)


def rate(expression, h: SX) -> SX:
    """d/dh at h = 0."""
    return casadi.substitute(casadi.jacobian(casadi.vec(expression), h), h, 0)


def tree_of(seed: int, bodies: int) -> tuple[Robot, tuple[np.ndarray, ...]]:
    one = Robot(random_model(seed, bodies, MOVING, mimic=False))
    return one, states(one, 2, seed)


@FEW
@given(**TREES)
def test_mass_matrix_is_positive_definite_and_gives_the_kinetic_energy(seed, bodies):
    one, (q, v, _) = tree_of(seed, bodies)
    tree, full = one.subject.tree, one.subject.full_tree
    M, kinetic, _ = evaluated(lambda q, v: (mass_matrix(tree, q), *energy(full, q, v)), q, v)
    M = M.reshape(len(q), one.nv, one.nv)
    assert np.array_equal(M, np.swapaxes(M, 1, 2))
    assert (np.linalg.eigvalsh(M) > 0).all()
    assert_close(kinetic[:, 0], 0.5 * np.einsum("ni,nij,nj->n", v, M, v), 1e-12)


@FEW
@given(**TREES)
def test_forward_undoes_inverse_dynamics(seed, bodies):
    one, (q, v, a) = tree_of(seed, bodies)
    tree, offset = minimal(one)
    x = offset
    (found,) = evaluated(
        lambda q, v, a: articulated_body(tree, q + x, v, newton_euler(tree, q + x, v, a)), q, v, a
    )
    M = evaluated(lambda q: mass_matrix(tree, q + x), q)[0].reshape(len(q), one.nv, one.nv)
    assert np.abs(found - a).max() < 1e-13 * np.linalg.cond(M).max()


@FEW
@given(**TREES)
def test_power_of_the_joints_is_the_rate_of_energy(seed, bodies):
    one, (q, v, a) = tree_of(seed, bodies)
    tree = one.subject.full_tree

    def balance(q, v, a):
        h = SX.sym("h")
        moving = sum(energy(tree, integrate(tree, q, h * v), v + h * a))
        return casadi.dot(newton_euler(tree, q, v, a), v), rate(moving, h), casadi.sumsqr(v)

    power, growth, size = evaluated(balance, q, v, a)
    assert np.abs(power - growth).max() < 1e-11 * max(1.0, np.abs(power).max(), size.max())


@FEW
@given(**TREES)
def test_rate_of_the_mass_matrix_less_twice_coriolis_is_skew(seed, bodies):
    one, (q, v, _) = tree_of(seed, bodies)
    tree = one.subject.tree
    n = one.nv

    def matrices(q, v):
        h = SX.sym("h")
        C = coriolis_matrix(tree, q, v)
        bias = newton_euler(tree, q, v, 0 * v) - newton_euler(tree, q, 0 * v, 0 * v)
        return rate(mass_matrix(tree, integrate(tree, q, h * v)), h), casadi.vec(C), C @ v, bias

    Md, C, Cv, bias = (x.reshape(len(q), -1) for x in evaluated(matrices, q, v))
    Md, C = (np.swapaxes(x.reshape(len(q), n, n), 1, 2) for x in (Md, C))
    size = max(1.0, np.abs(C).max())
    assert np.abs(Md - C - np.swapaxes(C, 1, 2)).max() < 1e-12 * size
    assert np.abs(Cv - bias).max() < 1e-12 * size * max(1.0, np.abs(v).max())


@FEW
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 6))
def test_nothing_but_gravity_changes_the_momentum_of_a_free_robot(seed, bodies):
    """Whatever the joints do: linear momentum grows by m g,
    angular momentum about the centre of mass stays."""
    model = random_model(seed, bodies, mimic=False)
    free = Robot(
        replace(
            model,
            joints=(
                replace(model.joints[0], type="floating", armature=0.0, limits=()),
                *model.joints[1:],
            ),
        )
    )
    tree = free.subject.full_tree
    q, v, tau = states(free, 2, seed)
    tau[:, :6] = 0.0

    def rates(q, v, tau):
        h = SX.sym("h")
        a = articulated_body(tree, q, v, tau)
        later, faster = integrate(tree, q, h * v), v + h * a
        center, J = center_of_mass(tree, later), center_of_mass_jacobian(tree, q)
        p, A = momentum(tree, q, v), centroidal_matrix(tree, q)
        return rate(momentum(tree, later, faster), h), A @ v - p, rate(center, h) - J @ v, p

    mass = sum(body.mass_properties.mass for body in model.bodies)
    growth, first, second, p = evaluated(rates, q, v, tau)
    weight = np.array([0.0, 0.0, -9.81 * mass, 0.0, 0.0, 0.0])
    a = evaluated(lambda q, v, tau: articulated_body(tree, q, v, tau), q, v, tau)[0]
    size = max(1.0, np.abs(a).max()) * mass
    assert np.abs(growth - weight).max() < 1e-11 * size
    assert np.abs(first).max() < 1e-12 * max(1.0, np.abs(p).max())
    assert np.abs(second).max() < 1e-12 * max(1.0, np.abs(v).max())


@FEW
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 6))
def test_moving_the_world_moves_nothing(seed, bodies):
    """The robot placed elsewhere, gravity turned along: the same joint forces."""
    model = random_model(seed, bodies, mimic=False)
    rng = np.random.default_rng(seed)
    R = np.array(from_quaternion(rng.normal(size=4)))
    g = tuple(float(x) for x in R @ model.gravity)
    here = Robot(model)
    there = here.with_base(tuple(rng.normal(size=3)), R).with_gravity(g)
    q, v, a = states(here, 2, seed)
    (tau,), (other,) = (traced(each, "inverse_dynamics", q, v, a) for each in (here, there))
    assert_close(other, tau, 1e-11)


def test_a_payload_is_a_body_fixed_to_its_carrier():
    arm, carrier = robot("finger_edu/finger_edu"), "finger_middle_link"
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3))
    matter = MassProperties(1.7, (0.1, -0.2, 0.05), tuple(map(tuple, (0.01 * (A @ A.T)).tolist())))
    held = lw.Payload(carrier, matter.mass, matter.com, matter.inertia)
    more = replace(
        arm.model,
        bodies=(*arm.model.bodies, Body("load", matter)),
        joints=(*arm.model.joints, Joint("grip", "fixed", carrier, "load", Placement())),
    )
    other = Robot(more)
    q, v, a = states(arm, 5)
    tau = other.inverse_dynamics(q, v, a)
    assert_close(arm.inverse_dynamics(q, v, a, payload=held), tau, 1e-12)
    assert_close(arm.forward_dynamics(q, v, tau, payload=held), a, 1e-10)
    assert_close(arm.mass_matrix(q, payload=held), other.mass_matrix(q), 1e-12)
    assert_close(arm.coriolis_matrix(q, v, payload=held), other.coriolis_matrix(q, v), 1e-11)
    assert_close(arm.center_of_mass(q, payload=held), other.center_of_mass(q), 1e-12)
    assert_close(arm.momentum(q, v, payload=held), other.momentum(q, v), 1e-12)
    for ours, theirs in zip(arm.energy(q, v, payload=held), other.energy(q, v)):
        assert_close(ours, theirs, 1e-12)
    table = arm.torque_table(q, v, a, payload=held)
    apart = other.torque_table(q, v, a)
    apart[:, :, arm.bodies.index(carrier)] += apart[:, :, -1]
    assert_close(table, apart[:, :, :-1], 1e-11)


def test_two_payloads_and_batches_of_them_add():
    arm = robot("ur/ur5_robot")
    q, v, a = states(arm, 4)
    first = lw.Payload("wrist_3_link", np.array([0.5, 1.0, 1.5, 0.0]), (0.0, 0.1, 0.0))
    second = lw.Payload("forearm_link", 2.0, (0.1, 0.0, 0.2))
    nothing = arm.inverse_dynamics(q, v, a)
    one, other = (arm.inverse_dynamics(q, v, a, payload=p) - nothing for p in (first, second))
    assert_close(
        arm.inverse_dynamics(q, v, a, payload=[first, second]), nothing + one + other, 1e-12
    )
    assert np.abs(one[3]).max() < 1e-13 * np.abs(nothing).max()
    assert np.abs(one[0]).max() > 1e-2


def test_a_force_on_a_frame_acts_through_its_jacobian():
    arm = robot("panda/panda")
    q, v, a = states(arm, 4)
    f = np.random.default_rng(1).normal(size=(4, 6))
    pushed = arm.inverse_dynamics(q, v, a, forces={"panda_hand": f})
    through = arm.tip_force_torque(q, f, "panda_hand")
    J = arm.jacobian(q, "panda_hand")
    assert_close(through, np.einsum("nij,ni->nj", J, f), 1e-13)
    assert_close(arm.inverse_dynamics(q, v, a) - pushed, through, 1e-12)
    assert_close(arm.forward_dynamics(q, v, pushed, forces={"panda_hand": f}), a, 1e-9)


def test_a_swinging_pendulum_keeps_its_energy():
    """A second of a double pendulum by Runge and Kutta's fourth-order rule: the error of the rule,
    1e-9 J."""
    pendulum = robot("double_pendulum/double_pendulum")
    q, v, h = np.array([2.0, -1.0]), np.zeros(2), 2e-4
    nothing = np.zeros(2)
    start = sum(pendulum.energy(q, v))
    f = pendulum.forward_dynamics
    for _ in range(5000):
        k1 = f(q, v, nothing)
        k2 = f(q + h / 2 * v, v + h / 2 * k1, nothing)
        k3 = f(q + h / 2 * v + h * h / 4 * k1, v + h / 2 * k2, nothing)
        k4 = f(q + h * v + h * h / 2 * k2, v + h * k3, nothing)
        q, v = q + h * v + h * h / 6 * (k1 + k2 + k3), v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    kinetic, potential = pendulum.energy(q, v)
    assert kinetic > 1e-3
    assert abs(kinetic + potential - start) < 1e-9


@pytest.mark.parametrize(
    "name", ["inverse_dynamics", "forward_dynamics", "coriolis_matrix", "regressor", "momentum"]
)
def test_one_sample_and_a_batch_of_one_give_the_same_numbers(name):
    arm = robot("ur/ur5_robot")
    q, v, a = states(arm, 1)
    given = {"coriolis_matrix": (q, v), "momentum": (q, v)}.get(name, (q, v, a))
    single = getattr(arm, name)(*(x[0] for x in given))
    batch = getattr(arm, name)(*given)
    assert batch.shape == (1, *single.shape)
    assert np.array_equal(batch[0], single)
