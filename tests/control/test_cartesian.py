"""Cartesian impedance and tracking laws: statics, passivity, peers of the same law in Python."""

from __future__ import annotations

import functools

import casadi
import numpy as np
import pytest
from scipy.linalg import eig, expm

import linkwork as lw
from linkwork import errors
from linkwork.control import (
    CartesianImpedance,
    FeedForward,
    Passivity,
    PDPlus,
    Posture,
    Rates,
    cartesian_mass,
    damping_for,
)
from linkwork.simulation import PD, Sampled, Viscous, simulate


@functools.cache
def ur5() -> lw.Robot:
    return lw.load("ur5e")


Q0 = np.array([0.3, -1.2, 1.4, -1.0, -1.3, 0.4])
TOOL = "tool0"


def run(control, robot=None, q=Q0, **options):
    settings = {"duration": 1.0, "step": 1e-3, "friction": False} | options
    return simulate(robot or ur5(), q, control=control, **settings)


def impedance(**options):
    settings = {"stiffness": [800.0] * 3 + [2.0] * 3, "damping": [40.0] * 3 + [0.02] * 3} | options
    settings.setdefault("target", ur5().pose(Q0, TOOL))
    return CartesianImpedance(TOOL, **settings)


def test_at_its_target_the_arm_stands_still() -> None:
    found = run(impedance())
    np.testing.assert_allclose(found.q[-1], Q0, atol=1e-9)


def test_a_push_gives_way_by_the_stiffness() -> None:
    push = np.array([20.0, -12.0, 8.0, 0.0, 0.0, 0.0])
    place = ur5().pose(Q0, TOOL)[:3, 3]
    law = CartesianImpedance(TOOL, 800.0, 40.0, target=place, axes=("x", "y", "z"))
    found = run(law, forces={TOOL: push}, duration=6.0, friction=Viscous(0.05))
    moved = ur5().pose(found.q[-1], TOOL)[:3, 3] - ur5().pose(Q0, TOOL)[:3, 3]
    np.testing.assert_allclose(moved, push[:3] / 800.0, atol=1e-5)
    commanded = run(impedance(wrench=-push), forces={TOOL: push}, duration=1.0)
    np.testing.assert_allclose(commanded.q[-1], Q0, atol=1e-6)


def test_the_law_is_its_formula_in_python() -> None:
    target = ur5().pose(Q0, TOOL).copy()
    target[:3, 3] += [0.02, -0.01, 0.015]
    K, D = np.diag([800.0] * 3 + [2.0] * 3), np.diag([40.0] * 3 + [0.02] * 3)

    def by_hand(t, q, v):
        pose, J = ur5().pose(q, TOOL), ur5().jacobian(q, TOOL)
        R = target[:3, :3] @ pose[:3, :3].T
        angle = np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1))
        axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        turned = axis / 2 * (angle / np.sin(angle) if angle > 1e-9 else 1.0)
        e = np.concatenate([target[:3, 3] - pose[:3, 3], turned])
        return J.T @ (K @ e - D @ (J @ v)) + ur5().gravity_torque(q)

    inside, outside = run(impedance(target=target), duration=0.2), run(by_hand, duration=0.2)
    assert (inside.where, outside.where) == ("machine code", "Python")
    np.testing.assert_allclose(inside.q, outside.q, atol=1e-9)


def test_free_motion_is_passive() -> None:
    """Kinetic energy and that of the springs never grow (eight random starts)."""
    spread = np.random.default_rng(0).normal(size=(8, 6))
    found = run(impedance(), q=Q0 + 0.1 * spread, v=0.3 * spread, duration=0.3, step=2e-4)
    K = np.array([800.0] * 3)
    target = ur5().pose(Q0, TOOL)
    pose = ur5().pose(found.q, TOOL)
    R = target[:3, :3] @ np.swapaxes(pose[..., :3, :3], -1, -2)
    angle = np.arccos(np.clip((np.trace(R, axis1=-2, axis2=-1) - 1) / 2, -1, 1))
    linear = target[:3, 3] - pose[..., :3, 3]
    stored = 0.5 * (K * linear**2).sum(-1) + 0.5 * 2.0 * angle**2
    total = found["energy.kinetic"] + stored
    assert np.diff(total, axis=-1).max() < 1e-6 * total.max()  # Runge-Kutta at 1 ms


def test_damping_ratio_damps_every_mode() -> None:
    mass = cartesian_mass(ur5(), Q0, TOOL, ("x", "y", "z"))
    D = damping_for(mass, [500.0, 900.0, 1500.0], 0.7)
    A = np.block(
        [
            [np.zeros((3, 3)), np.eye(3)],
            [-np.linalg.solve(mass, np.diag([500.0, 900.0, 1500.0])), -np.linalg.solve(mass, D)],
        ]
    )
    poles = eig(A)[0]
    np.testing.assert_allclose(-poles.real / np.abs(poles), 0.7, rtol=1e-9)
    designed = impedance(damping=None, ratio=1.0, at=Q0)
    assert np.isfinite(run(designed, q=Q0 + 0.05, duration=0.3).q).all()


def test_posture_moves_the_joints_and_not_the_tool() -> None:
    """Three axes of a six-axis arm leave three joints' worth of freedom."""
    law = CartesianImpedance(
        TOOL,
        2000.0,
        60.0,
        target=ur5().pose(Q0, TOOL)[:3, 3],
        axes=("x", "y", "z"),
        nullspace=Posture(
            Q0 + [0.0, 0.2, 0.0, 0.3, 0.3, 0.3], 5.0, [5.0, 5.0, 2.0, 0.2, 0.2, 0.02]
        ),
    )
    found = run(law, duration=1.0)
    assert np.abs(found.q[-1] - Q0).max() > 0.05
    assert np.abs(ur5().pose(found.q[-1], TOOL)[:3, 3] - ur5().pose(Q0, TOOL)[:3, 3]).max() < 1e-3


HOME = np.array([0.5, 1.1])


@functools.cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm")


def moving(t):
    return casadi.vertcat(
        *[float(x) + 0.2 * casadi.sin(2 * t + k) - 0.2 * np.sin(k) for k, x in enumerate(HOME)]
    )


@pytest.mark.parametrize(
    "law",
    [
        FeedForward(moving) + PD(100.0, 20.0, moving),
        PDPlus(100.0, 20.0, moving),
        Passivity(5.0, 20.0, moving),
    ],
    ids=["feed-forward", "PD+", "passivity"],
)
def test_tracking_laws_follow_exactly_with_an_exact_model(law) -> None:
    found = run(law, arm(), HOME, v=0.4 * np.cos(np.arange(2.0)), duration=0.5)
    t = casadi.SX.sym("t")
    wanted = np.array(casadi.Function("f", [t], [moving(t)]).map(len(found.time))(found.time)).T
    assert np.abs(found.q - wanted).max() < 1e-7


def test_energy_of_the_error_never_grows_under_the_passive_law() -> None:
    found = run(Passivity(5.0, 2.0, HOME), arm(), HOME + 0.3, v=0.5 * np.ones(2), duration=0.5)
    s = found.v + 5.0 * (found.q - HOME)
    energy = 0.5 * np.einsum("ti,tij,tj->t", s, arm().mass_matrix(found.q), s)
    assert np.diff(energy).max() < 1e-9 * energy[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: impedance(damping=None), "damping .* or ratio"),
        (lambda: impedance(damping=None, ratio=0.7), "needs at=q"),
        (lambda: CartesianImpedance(TOOL, 1.0, 1.0), "target is missing"),
        (lambda: run(impedance(target=[0.1, 0.2])), "elements, expected 6 or 16"),
        (lambda: run(impedance(wrench=[1.0])), "wrench has 1 elements"),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(errors.InvalidInput, match=words):
        call()


@functools.cache
def planar() -> lw.Robot:
    return lw.load("rehabilitation-arm")


HERE = np.array([0.5, 1.1])
PLANE = {"axes": ("x", "y")}


def hand(law, **options):
    settings = {
        "duration": 0.4,
        "step": 1e-3,
        "friction": False,
        "energy_tolerance": np.inf,
    } | options
    return simulate(planar(), HERE, control=law, **settings)


def places(found) -> np.ndarray:
    return planar().pose(found.q, "hand")[:, :2, 3]


def test_a_shaped_inertia_is_what_the_free_motion_shows() -> None:
    """inertia e'' + D e' + K e = 0 exactly, by the matrix exponential;
    the arm itself weighs something else."""
    inertia, K, D = (
        np.array([[2.0, 0.4], [0.4, 3.0]]),
        np.diag([300.0, 200.0]),
        np.diag([20.0, 30.0]),
    )
    goal = planar().pose(HERE, "hand")[:2, 3] + [0.03, -0.02]
    law = CartesianImpedance("hand", K, D, target=goal, inertia=inertia, **PLANE)
    found = hand(law)
    zero, one = np.zeros((2, 2)), np.eye(2)
    A = np.block([[zero, one], [-np.linalg.solve(inertia, K), -np.linalg.solve(inertia, D)]])
    start = np.concatenate([goal - places(found)[0], np.zeros(2)])
    errors = (expm(A * found.time[:, None, None]) @ start)[:, :2]
    np.testing.assert_allclose(goal - places(found), errors, atol=1e-8)
    own = hand(CartesianImpedance("hand", K, D, target=goal, **PLANE))
    assert np.abs(goal - places(own) - errors).max() > 1e-3


def test_a_shaped_hand_follows_a_target_that_accelerates() -> None:
    """inertia (x'' - target'') + D (x' - target') + K (x - target) = 0:
    who starts on the target stays on it."""
    here = planar().pose(HERE, "hand")[:2, 3]

    def target(t):
        return [here[0] + 0.2 * t**2, here[1] - 0.1 * t**2]

    found = hand(
        CartesianImpedance("hand", 300.0, 20.0, target=target, inertia=2.0, **PLANE), duration=0.3
    )
    wanted = np.array([target(t) for t in found.time])
    assert np.abs(wanted[-1] - here).max() > 0.01
    np.testing.assert_allclose(places(found), wanted, atol=1e-8)


def test_a_limited_target_is_a_ramp_from_where_the_frame_is() -> None:
    here = planar().pose(HERE, "hand")[:2, 3]
    limited = CartesianImpedance(
        "hand", 400.0, 20.0, target=here + [0.04, 0.0], rates=Rates(target=[0.2, 0.1]), **PLANE
    )

    def ramp(t):
        return [here[0] + 0.2 * (t + 1e-3), here[1] + 0.0 * t]

    plain = CartesianImpedance("hand", 400.0, 20.0, target=ramp, **PLANE)
    first, second = (hand(Sampled(law, 1e-3), duration=0.19) for law in (limited, plain))
    assert first.where == "machine code"
    np.testing.assert_allclose(first.q, second.q, atol=1e-10)
    settled = hand(Sampled(limited, 1e-3), duration=2.0)
    np.testing.assert_allclose(places(settled)[-1], here + [0.04, 0.0], atol=1e-5)


def test_a_limited_pose_arrives_and_stiffness_and_wrench_are_ramps() -> None:
    turned = planar().pose(HERE + [0.0, 0.2], "hand")
    axes = ("x", "y", "rz")
    law = CartesianImpedance(
        "hand", [300.0, 300.0, 5.0], [20.0, 20.0, 0.5], target=turned, axes=axes
    )
    slow = CartesianImpedance(
        "hand",
        [300.0, 300.0, 5.0],
        [20.0, 20.0, 0.5],
        target=turned,
        axes=axes,
        rates=Rates(target=0.3),
    )
    fast, limited = (hand(Sampled(each, 1e-3), duration=3.0) for each in (law, slow))
    np.testing.assert_allclose(limited.q[-1], fast.q[-1], atol=1e-6)
    assert np.abs(limited.tau).max() < np.abs(fast.tau).max()
    here = planar().pose(HERE, "hand")[:2, 3]

    def jump(t):
        return [100.0 + casadi.if_else(t > 0.0995, 300.0, 0.0)] * 2

    def rise(t):
        return [100.0 + casadi.fmin(casadi.fmax(1000.0 * (t - 0.099), 0.0), 300.0)] * 2

    goal, both = here + [0.02, 0.01], []
    for stiffness, rates in ((jump, Rates(stiffness=1000.0)), (rise, None)):
        both.append(CartesianImpedance("hand", stiffness, 20.0, target=goal, rates=rates, **PLANE))
    a, b = (hand(Sampled(each, 1e-3)) for each in both)
    np.testing.assert_allclose(a.q, b.q, atol=1e-9)

    def pushed(t):
        return [casadi.fmin(50.0 * (t + 1e-3), 5.0), 0.0]

    given = ((5.0, 0.0), Rates(wrench=50.0)), (pushed, None)
    laws = [
        CartesianImpedance("hand", 300.0, 20.0, target=here, wrench=w, rates=r, **PLANE)
        for w, r in given
    ]
    c, d = (hand(Sampled(each, 1e-3)) for each in laws)
    np.testing.assert_allclose(c.q, d.q, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rates": Rates(wrench=1.0)}, "the law commands none"),
        ({"rates": 3.0}, "rates is float"),
        ({"rates": Rates(target=[1.0, 1.0, 1.0])}, r"expected one number or \(2,\)"),
        ({"inertia": -1.0}, "inertia has the eigenvalue -1"),
    ],
)
def test_refusals_of_rates_and_inertia(options, words) -> None:
    with pytest.raises(errors.InvalidInput, match=words):
        hand(
            Sampled(
                CartesianImpedance("hand", 1.0, 1.0, target=[0.0, 0.3], **PLANE, **options), 1e-3
            )
        )
    with pytest.raises(errors.InvalidInput, match="nothing is limited"):
        Rates()
