"""Integrators: order of convergence, drift of energy, unit quaternions,
the same motion by every one of them."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.lagrange import System
from linkwork.simulation import PID, ComputedTorque, simulate
from tests.simulation.mechanisms import CART, DOUBLE_PENDULUM, floating, ur5

ORDERS = {"rk4": 4, "semi_implicit_euler": 1}
FREE = np.array([0.1, -0.2, 0.3, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, np.sin(0.4), np.cos(0.4)])
SPIN = np.array([0.3, -0.2, 0.5, 1.5, -2.0, 0.7, 0.5, 1.0, -1.5])
CASES = {
    "double pendulum": (lambda: DOUBLE_PENDULUM, np.array([0.3, 0.4]), np.array([1.0, -0.5]), 0.5),
    "cart with drag": (lambda: CART, np.array([0.0, 1.0]), np.array([0.3, 0.0]), 0.5),
    "floating pair": (floating, FREE, SPIN, 0.4),
}


def distance(mechanism, one, other):
    if hasattr(mechanism, "difference"):
        return np.abs(mechanism.difference(one, other)).max()
    return np.abs(one - other).max()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("method", ORDERS)
def test_order_of_convergence(method, case):
    """Halving the step divides the error by 2^order, against DOP853 at 1e-12."""
    make, q, v, duration = case
    mechanism = make()
    reference = simulate(mechanism, q, v, duration=duration, tolerance=1e-12, sample=duration).q[-1]
    steps = {"rk4": (50, 100), "semi_implicit_euler": (400, 800)}[method]
    errors = []
    for n in steps:
        run = simulate(
            mechanism, q, v, duration=duration, step=duration / n, sample=duration, method=method
        )
        errors.append(distance(mechanism, reference, run.q[-1]))
    order = np.log2(errors[0] / errors[1])
    assert order == pytest.approx(ORDERS[method], abs=0.25), errors
    assert errors[1] > 1e-13  # above rounding: the order is measured, not noise


def evaluations_and_error(method, case, tolerance, reference):
    """(how often the accelerations were asked for, error at the end): the control counts,
    and pushes nothing."""
    make, q, v, duration = case
    mechanism, asked = make(), []

    def count(t, q, v):
        asked.append(float(t))  # a symbol has no value: this control runs in Python
        return np.zeros(mechanism.nv)

    options = dict(method=method, tolerance=tolerance, sample=duration, control=count)
    run = simulate(mechanism, q, v, duration=duration, **options)
    assert run.where == "Python"
    return len(asked), distance(mechanism, reference, run.q[-1])


@pytest.mark.parametrize(
    "case", [CASES["cart with drag"], CASES["floating pair"]], ids=["cart", "floating"]
)
@pytest.mark.parametrize("method", ["dop853", "lsoda"])
def test_order_of_the_adaptive_methods(method, case):
    """The error follows the tolerance, and falls with at least the seventh power of the work:
    DOP853 has order eight, LSODA a variable one of up to twelve. Against RK4 with an error of
    1e-13.
    """
    make, q, v, duration = case
    duration = 8 * duration
    reference = simulate(
        make(), q, v, duration=duration, step=duration / 40_000, sample=duration
    ).q[-1]
    tolerances = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
    found = [
        evaluations_and_error(method, (make, q, v, duration), t, reference) for t in tolerances
    ]
    counts, errors = np.array(found).T
    assert np.polyfit(np.log(tolerances), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.25), (
        errors
    )
    assert (errors < 1000 * np.array(tolerances)).all(), errors
    assert errors[-1] > 1e-12  # above the error of the reference
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] > 7, (counts, errors)


def test_order_of_convergence_with_a_control_that_integrates():
    """The integral of a PID is carried through the stages like the motion itself."""
    control = PID(30.0, 40.0, 4.0, [0.7, -0.2])
    options = dict(duration=0.8, sample=0.8, control=control)
    reference = simulate(DOUBLE_PENDULUM, [0.3, 0.4], tolerance=1e-12, **options).q[-1]
    errors = [
        np.abs(
            simulate(DOUBLE_PENDULUM, [0.3, 0.4], step=0.8 / n, **options).q[-1] - reference
        ).max()
        for n in (40, 80)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.25), errors


@pytest.mark.parametrize(
    ("options", "drift"),
    [
        ({"method": "dop853", "tolerance": 1e-11}, 1e-8),
        ({"method": "lsoda", "tolerance": 1e-11}, 1e-6),
        ({"method": "rk4", "step": 1e-3}, 1e-6),
        ({"method": "semi_implicit_euler", "step": 1e-4}, 0.2),
    ],
    ids=lambda x: x["method"] if isinstance(x, dict) else "",
)
def test_energy_drift_of_each_integrator(options, drift):
    run = simulate(DOUBLE_PENDULUM, [0.3, 0.4], duration=5, sample=0.01, **options)
    total = run["energy.total"]
    assert np.abs(total - total[0]).max() < drift
    assert np.abs(run["energy.balance"]).max() < drift
    assert np.ptp(run["energy.kinetic"]) > 10


def test_semi_implicit_euler_is_symplectic_on_an_oscillator():
    """The energy of a harmonic oscillator stays within w h / 2 of its start for 20 000 steps."""
    spring = System("x", gravity=None).with_body("m", 1.0, lambda q: (q.x,), spring=1.0)
    run = simulate(
        spring, [1.0], duration=1000, step=0.05, sample=1.0, method="semi_implicit_euler"
    )
    assert np.abs(run["energy.total"] / run["energy.total"][0] - 1).max() < 0.026
    explicit_growth = (1 + 0.05**2) ** (1000 / 0.05)
    assert explicit_growth > 1e20  # what explicit Euler would do


def test_a_falling_pair_of_bodies_keeps_its_laws():
    """Unit quaternions, a centre that falls as a parabola, constant angular momentum about it;
    by every integrator."""
    robot = floating()
    runs = [
        simulate(robot, FREE, SPIN, duration=0.8, sample=0.2, tolerance=1e-11),
        simulate(robot, FREE, SPIN, duration=0.8, sample=0.2, step=1e-3),
        simulate(
            robot, FREE, SPIN, duration=0.8, sample=0.2, step=1e-4, method="semi_implicit_euler"
        ),
        simulate(robot, FREE, SPIN, duration=0.8, sample=0.2, tolerance=1e-11, method="lsoda"),
    ]
    for run, accuracy in zip(runs, (1e-7, 1e-7, 1e-2, 1e-7), strict=True):
        norms = [np.linalg.norm(run.q[:, at], axis=1) for at in (slice(3, 7), slice(7, 11))]
        np.testing.assert_allclose(norms, 1.0, rtol=0, atol=1e-14)
        momentum = world_momentum(robot, run.q, run.v)
        centers = np.array([center(robot, q) for q in run.q])
        t = run.time[:, None]
        parabola = momentum[0, :3] / 2.7 * t + np.array([0, 0, -9.81]) * t**2 / 2
        np.testing.assert_allclose(centers - centers[0], parabola, atol=accuracy)
        spin = momentum[:, 3:] - np.cross(centers, momentum[:, :3])
        np.testing.assert_allclose(spin, np.broadcast_to(spin[0], spin.shape), atol=accuracy)
        assert np.abs(run["energy.balance"]).max() < 10 * accuracy
    assert distance(robot, runs[0].q[-1], runs[1].q[-1]) < 1e-8


def world_momentum(robot, q, v):
    """Linear momentum, and angular momentum about the origin, from positions alone:
    sum over the mass elements."""
    from tests.numeric import pseudo_inertia

    found = []
    h = 1e-6
    for one, rate in zip(q, v):
        ends = [
            robot.forward_kinematics(robot.integrate(one, s * h * rate)).matrix() for s in (-1, 1)
        ]
        middle = robot.forward_kinematics(one).matrix()
        total = np.zeros((4, 4))
        for body, (a, b), T in zip(robot.model.bodies, zip(*ends), middle):
            # sum of m pd p'
            total += (b - a) / (2 * h) @ pseudo_inertia(body.mass_properties) @ T.T
        linear = total[:3, 3]
        angular = np.array(
            [total[2, 1] - total[1, 2], total[0, 2] - total[2, 0], total[1, 0] - total[0, 1]]
        )
        found.append(np.concatenate([linear, angular]))
    return np.array(found)


def center(robot, q):
    poses = robot.forward_kinematics(q)
    parts = [
        body.mass_properties.mass * (T[:3, :3] @ body.mass_properties.com + T[:3, 3])
        for body, T in zip(robot.model.bodies, poses.matrix())
    ]
    return sum(parts) / sum(body.mass_properties.mass for body in robot.model.bodies)


def test_robot_and_system_move_alike():
    robot = ur5().locked(wrist_1_joint=0.3, wrist_2_joint=-0.4, wrist_3_joint=0.5)
    system = System.from_robot(robot)
    q, v = np.array([0.2, -1.0, 0.7]), np.linspace(-1, 1, 3)
    one = simulate(robot, q, v, duration=0.5, step=1e-3, sample=0.1)
    other = simulate(system, q, v, duration=0.5, step=1e-3, sample=0.1)
    np.testing.assert_allclose(one.q, other.q, atol=1e-10)
    # a tenth of a second of chaos and a condition of 1e3
    np.testing.assert_allclose(one.v, other.v, atol=1e-9)
    np.testing.assert_allclose(one["energy.kinetic"], other["energy.kinetic"], atol=1e-9)
    assert list(one)[:4] == ["time", *[f"q.{name}" for name in robot.joints]]


def test_a_batch_is_its_samples_bit_for_bit():
    robot = ur5()
    q = robot.random(11, seed=1)
    control = ComputedTorque(100.0, 20.0, np.full(6, 0.3))
    batch = simulate(robot, q, duration=0.2, step=1e-3, sample=0.05, control=control)
    assert batch.q.shape == (11, 5, 6)
    assert batch["energy.total"].shape == (11, 5)
    for k in (0, 7, 10):
        one = simulate(robot, q[k], duration=0.2, step=1e-3, sample=0.05, control=control)
        assert (one.q == batch.q[k]).all()
        assert (one.tau == batch.tau[k]).all()
    shaped = simulate(
        robot, q[:6].reshape(2, 3, 6), duration=0.2, step=1e-3, sample=0.05, control=control
    )
    assert (shaped.q.reshape(6, 5, 6) == batch.q[:6]).all()
    assert simulate(robot, q[:1], duration=0.01, step=1e-3).q.shape == (1, 11, 6)


@pytest.mark.parametrize(
    "options", [{"step": 1e-2}, {"method": "dop853"}], ids=["fixed", "adaptive"]
)
def test_a_batch_of_none_is_a_batch(options):
    run = simulate(DOUBLE_PENDULUM, np.zeros((0, 2)), duration=0.1, sample=0.05, **options)
    assert (run.q.shape, run.success.shape, run["energy.total"].shape) == ((0, 3, 2), (0,), (0, 3))


@pytest.mark.parametrize("options", [{"step": 1e-3}, {}], ids=["fixed", "adaptive"])
def test_a_bar_is_seen_and_ends_full(options, capfd):
    simulate(DOUBLE_PENDULUM, [0.1, 0.2], duration=0.2, sample=0.01, progress=True, **options)
    out, shown = capfd.readouterr()
    assert out == ""
    assert "simulating" in shown and "━━━━" in shown and "100%" in shown


def test_a_function_sees_every_row_done():
    seen = []
    simulate(
        DOUBLE_PENDULUM,
        [0.1, 0.2],
        duration=0.2,
        step=1e-3,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (201, 201)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen}) and len(seen) > 50


def test_pieces_for_a_progress_bar_change_no_bit():
    options = dict(duration=1.0, step=1e-3, sample=0.002)
    plain = simulate(DOUBLE_PENDULUM, np.zeros((3, 2)), [1.0, 2.0], **options)
    watched = simulate(DOUBLE_PENDULUM, np.zeros((3, 2)), [1.0, 2.0], progress=True, **options)
    assert (plain.q == watched.q).all()
    assert (plain.tau == watched.tau).all()
    assert (plain["energy.balance"] == watched["energy.balance"]).all()


def test_rows_do_not_depend_on_how_many_are_kept():
    dense = simulate(CART, [0.0, 1.0], duration=1.0, step=1e-3)
    sparse = simulate(CART, [0.0, 1.0], duration=1.0, step=1e-3, sample=0.1)
    assert (dense.q[::100] == sparse.q).all()
    assert len(dense.time) == 1001


def test_constraints_hold_during_a_motion():
    from tests.lagrange.test_system import slider_crank

    system, (q, v) = slider_crank()
    run = simulate(system, q, v * 5, duration=2, step=5e-4, sample=0.02)
    residual, rate = system.constraint_residual(run.q, run.v)
    assert np.abs(residual).max() < 1e-8
    assert np.abs(rate).max() < 1e-7
    assert np.abs(run["energy.balance"]).max() < 1e-5 * run["energy.kinetic"].max()
    assert np.ptp(run["q.crank"]) > 1


def test_explicit_time_moves_the_support():
    """A pendulum on a support that accelerates sideways by a:
    it hangs at atan(a / g) from the vertical when damped."""
    system = System("theta", gravity=(0, -9.81))
    from casadi import cos, sin

    system = system.with_body("bob", 1.0, lambda q, t: (1.5 * t**2 + sin(q.theta), -cos(q.theta)))
    system = system.with_joint_drag("friction", 4.0, "theta")
    run = simulate(system, duration=20, tolerance=1e-10)
    assert run.q[-1, 0] == pytest.approx(-np.arctan2(3.0, 9.81), abs=1e-8)
    assert "energy.balance" not in run
    assert "energy.total" in run
