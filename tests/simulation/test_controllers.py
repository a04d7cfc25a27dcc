"""Controllers: laws, anti-windup, sampling, delay, saturation;
traced or in Python with the same result."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from linkwork.errors import InvalidInput
from linkwork.lagrange import System
from linkwork.simulation import (
    PD,
    PID,
    ComputedTorque,
    GravityCompensation,
    PerStep,
    Sampled,
    Saturated,
    simulate,
)
from linkwork.trajectory import quintic
from tests.simulation.mechanisms import CART, DOUBLE_PENDULUM, floating, ur5

MASS = System("x", gravity=None).with_body("m", 2.0, lambda q: (q.x,))
RUN = dict(duration=0.3, step=1e-3, sample=0.05)


def same(one, other, atol=1e-12):
    np.testing.assert_allclose(one.q, other.q, rtol=0, atol=atol)
    np.testing.assert_allclose(one.tau, other.tau, rtol=0, atol=atol * 1e3)


def test_pd_is_its_formula():
    run = simulate(CART, [0.1, 0.2], [0.3, -0.1], control=PD([10, 20], [1, 2], [1.0, 0.5]), **RUN)
    np.testing.assert_allclose(
        run.tau, [10, 20] * (np.array([1.0, 0.5]) - run.q) - [1, 2] * run.v, atol=1e-12
    )


def test_gravity_compensation_holds_still():
    run = simulate(
        DOUBLE_PENDULUM, [0.4, 0.3], control=GravityCompensation(), duration=5, step=1e-2
    )
    np.testing.assert_allclose(run.q, np.broadcast_to([0.4, 0.3], run.q.shape), atol=1e-12)
    both = simulate(
        DOUBLE_PENDULUM,
        [0.4, 0.3],
        control=PD(30, 10, [0.9, -0.2]) + GravityCompensation(),
        duration=20,
    )
    np.testing.assert_allclose(both.q[-1], [0.9, -0.2], atol=1e-6)  # no static offset


def test_computed_torque_gives_linear_error_dynamics():
    """e'' + kd e' + kp e = 0 with kp = w^2, kd = 2 w: e = e0 (1 + w t) exp(-w t)."""
    robot = ur5()
    q = robot.random(seed=2)
    w = 5.0
    run = simulate(
        robot,
        q,
        duration=1.0,
        step=1e-3,
        sample=0.1,
        control=ComputedTorque(w * w, 2 * w, np.zeros(6)),
    )
    t = run.time[:, None]
    np.testing.assert_allclose(run.q, q * (1 + w * t) * np.exp(-w * t), atol=1e-9)


def test_computed_torque_follows_a_moving_target():
    robot = ur5()

    def target(t):
        return casadi.vertcat(*[0.3 * casadi.sin((k + 1) * t) for k in range(6)])

    start = np.zeros(6)
    rates = 0.3 * np.arange(1, 7)
    run = simulate(
        robot,
        start,
        rates,
        duration=1.0,
        step=1e-3,
        sample=0.1,
        control=ComputedTorque(100, 20, target),
    )
    expected = 0.3 * np.sin(run.time[:, None] * np.arange(1, 7))
    np.testing.assert_allclose(run.q, expected, atol=1e-9)
    assert run.where == "machine code"


def test_pd_on_quaternions_turns_the_short_way():
    robot = floating()
    target = robot.neutral()
    target[3:7] = [0, 0, np.sin(0.5), np.cos(0.5)]
    control = PD(20.0, 10.0, target) + GravityCompensation()
    run = simulate(
        robot, duration=30, step=5e-3, sample=1.0, control=control, method="semi_implicit_euler"
    )
    np.testing.assert_allclose(np.abs(run.q[-1, 3:7]), np.abs(target[3:7]), atol=1e-5)
    assert run.q[:, 5].min() >= -1e-9  # never the long way


def test_pid_removes_the_static_offset():
    link = System.planar_chain("R", 1.0, 1.0)
    pd = simulate(link, [0.5], duration=20, step=1e-3, sample=1.0, control=PD(50, 10, [0.5]))
    pid = simulate(link, [0.5], duration=20, step=1e-3, sample=1.0, control=PID(50, 40, 10, [0.5]))
    assert abs(pd.q[-1, 0] - 0.5) > 0.1
    assert abs(pid.q[-1, 0] - 0.5) < 1e-4


def test_anti_windup_shortens_the_overshoot():
    """A mass far from its target with a weak motor:
    the integral waits while the motor is at its limit."""
    far = dict(duration=40, step=1e-3, sample=0.01)
    clever = simulate(MASS, [0.0], control=PID(20, 15, 10, [10.0], limit=2.0), **far)
    naive = simulate(MASS, [0.0], control=Saturated(PID(20, 15, 10, [10.0]), 2.0), **far)
    assert np.abs(clever.tau).max() == 2.0
    assert np.abs(naive.tau).max() == 2.0
    assert naive.q.max() - 10 > 3 * (clever.q.max() - 10)
    assert abs(clever.q[-1, 0] - 10) < 0.05


def by_hand(law, period, delay, limit, steps, h, x=0.0, v=0.0):
    """A mass under sampled control, step by step: measure at multiples of the period,
    act `delay` steps later."""
    rows, held, under_way = [], 0.0, {}
    for k in range(steps + 1):
        if k % period == 0:
            under_way[k + delay] = float(np.clip(law(k * h, x, v), -limit, limit))
        held = under_way.pop(k, held)
        rows.append((x, held))
        v += h * held / 2.0
        x += h * v
    return np.array(rows)


@pytest.mark.parametrize(("period", "delay"), [(1, 0), (5, 0), (5, 3), (5, 5), (5, 13), (1, 4)])
def test_sampled_control_with_delay_and_saturation(period, delay):
    h, steps = 1e-3, 200
    law = lambda t, q, v: 3000 * (1 - q) - 20 * v
    control = Sampled(law, period * h, delay * h, limit=50.0)
    run = simulate(
        MASS, [0.0], duration=steps * h, step=h, control=control, method="semi_implicit_euler"
    )
    expected = by_hand(lambda t, x, v: 3000 * (1 - x) - 20 * v, period, delay, 50.0, steps, h)
    np.testing.assert_allclose(run.q[:, 0], expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(run.tau[:, 0], expected[:, 1], atol=1e-9)
    adaptive = simulate(
        MASS, [0.0], duration=steps * h, sample=h * 20, control=control, method="dop853"
    )
    # exact for constant force
    exact = simulate(MASS, [0.0], duration=steps * h, sample=h * 20, step=h, control=control)
    np.testing.assert_allclose(adaptive.q, exact.q, atol=1e-8)
    np.testing.assert_allclose(adaptive.tau[:-1], exact.tau[:-1], atol=1e-5)


def test_a_sampled_pid_integrates_at_its_own_instants():
    run = simulate(
        MASS, [0.0], duration=0.1, step=1e-3, control=Sampled(PID(0.0, 10.0, 0.0, [1.0]), 0.02)
    )
    expected, integral = [], 0.0
    for k in range(101):
        if k % 20 == 0:
            force = 10.0 * integral
            integral += 0.02 * (1.0 - run.q[k, 0])
        expected.append(force)
    np.testing.assert_allclose(run.tau[:, 0], expected, atol=1e-13)


def test_a_traceable_function_runs_inside_machine_code():
    run = simulate(
        CART, [0.0, 0.5], control=lambda t, q, v: (5 * casadi.sin(t) - v[0], -q[1]), **RUN
    )
    assert run.where == "machine code"
    assert run.why == ""


def table_lookup(t, q, v):
    """Not traceable: it decides by a value."""
    return (1.0 if q[1] > 0.45 else -1.0, -float(v[1]))


def test_another_function_runs_step_by_step_and_the_result_says_so():
    run = simulate(CART, [0.0, 0.5], control=table_lookup, **RUN)
    assert run.where == "Python"
    assert "table_lookup cannot be traced" in run.why
    smooth = lambda t, q, v: (np.sign(q[1] - 0.45), -v[1])
    assert run.q.shape == (7, 2)
    traced = simulate(
        CART, [0.0, 0.5], control=lambda t, q, v: (casadi.sign(q[1] - 0.45), -v[1]), **RUN
    )
    assert traced.where == "machine code"
    same(run, traced, 1e-12)
    assert smooth(0, np.array([0, 1.0]), np.array([0, 0.0]))[0] == 1.0


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "dop853"])
def test_python_and_machine_code_agree(method):
    options = dict(duration=0.3, sample=0.05, method=method) | (
        {} if method == "dop853" else {"step": 1e-3}
    )
    law = lambda t, q, v: (np.sin(3 * t) - q[0], 0.1 * q[0] * q[1] - v[1])

    def opaque(t, q, v):
        float(t)  # a symbol has no value: not traceable
        return law(t, q, v)

    one = simulate(
        CART,
        [0.0, 0.5],
        control=lambda t, q, v: (casadi.sin(3 * t) - q[0], 0.1 * q[0] * q[1] - v[1]),
        **options,
    )
    other = simulate(CART, [0.0, 0.5], control=opaque, **options)
    assert other.where == "Python"
    same(one, other, 1e-11)


def test_functions_with_a_memory_are_not_frozen_into_machine_code():
    class Integrator:
        def __init__(self):
            self.total = 0.0

        def __call__(self, t, q, v):
            self.total = self.total + (1 - q[0])
            return [self.total]

    controller = Integrator()
    run = simulate(MASS, [0.0], duration=0.05, step=1e-3, control=Sampled(controller, 1e-3))
    assert run.where == "Python"
    assert "keeps something between calls" in run.why
    assert isinstance(controller.total, (float, np.floating))
    assert run.tau[3, 0] == pytest.approx((1 - run.q[:4, 0]).sum())


def test_functions_with_a_closure_are_left_as_they_were():
    memory = {"calls": 0, "last": 0.0}

    def law(t, q, v):
        memory["calls"] += 1
        memory["last"] = q[0]
        return [memory["calls"] * 0.0 + 1.0 - q[0]]

    run = simulate(MASS, [0.0], duration=0.01, step=1e-3, control=Sampled(law, 1e-3))
    assert run.where in ("Python", "machine code")
    assert not isinstance(memory["last"], casadi.SX)
    rng = np.random.default_rng(0)
    noise = Sampled(lambda t, q, v: [rng.normal() - q[0]], 1e-3)
    noisy = simulate(MASS, [0.0], duration=0.01, step=1e-3, control=noise)
    assert noisy.where == "Python"
    assert len(set(np.diff(noisy.tau[:, 0]))) > 5


def test_a_law_may_use_the_equations_of_its_system_whatever_was_called_before():
    system = System.planar_chain("RR", 1.0, 1.0)
    runs = []
    for _ in range(2):
        law = lambda t, q, v: system.function("gravity_torque")(q) - v
        runs.append(simulate(system, [0.1, 0.2], duration=0.01, step=1e-3, control=law))
        system.inverse_dynamics(*np.zeros((3, 2)))  # its kernels cannot be copied, and need not be
    assert [run.where for run in runs] == ["machine code"] * 2
    assert (runs[0].q == runs[1].q).all()


def test_gains_and_targets_may_differ_between_samples():
    kp = np.array([[10.0], [20.0], [40.0]])
    targets = np.array([[1.0], [2.0], [3.0]])
    run = simulate(MASS, [0.0], duration=0.1, step=1e-3, sample=0.1, control=PD(kp, 1.0, targets))
    assert run.q.shape == (3, 2, 1)
    for k in range(3):
        one = simulate(
            MASS, [0.0], duration=0.1, step=1e-3, sample=0.1, control=PD(kp[k], 1.0, targets[k])
        )
        assert (one.q == run.q[k]).all()


def test_a_target_may_have_one_row_a_step():
    rows = np.linspace(0, 1, 100)[:, None]
    run = simulate(MASS, [0.0], duration=0.1, step=1e-3, control=PD(10.0, 1.0, PerStep(rows)))
    expected = 10 * (rows - run.q[:-1]) - run.v[:-1]
    np.testing.assert_allclose(run.tau[:-1], expected, atol=1e-13)


def test_rows_with_their_rates_are_followed():
    """A time law as rows, in machine code: with velocities and accelerations the arm stays on it,
    without it lags."""
    law = quintic(np.zeros(6), [1.0, -0.8, 0.6, 0.5, -1.2, 2.0], duration=1.0)
    rows, options = law.at(np.arange(1000) * 1e-3), dict(duration=1.0, step=1e-3, sample=0.05)
    run = simulate(ur5(), control=ComputedTorque(100.0, 20.0, PerStep(*rows)), **options)
    assert run.where == "machine code"
    # rows are held: half a step behind, at most 3.75 rad/s * 0.5 ms
    assert np.abs(run.q - law.at(run.time)[0]).max() < 2e-3
    late = simulate(ur5(), control=ComputedTorque(100.0, 20.0, PerStep(rows[0])), **options)
    assert np.abs(late.q - law.at(late.time)[0]).max() > 0.1
    half = simulate(ur5(), control=PD(100.0, 20.0, PerStep(*rows[:2])), **options)
    np.testing.assert_allclose(
        half.tau[10],
        100.0 * (rows[0][500] - half.q[10]) + 20.0 * (rows[1][500] - half.v[10]),
        rtol=1e-12,
    )


def test_rows_of_a_floating_robot_have_rates_of_its_velocities():
    robot = floating()
    n, h = 200, 1e-3
    turning = np.zeros(robot.nv)
    turning[5] = 2.0
    rows = robot.integrate(robot.neutral(), np.arange(n)[:, None] * h * turning)
    rates = np.tile(turning, (n, 1))
    control = ComputedTorque(100.0, 20.0, PerStep(rows, rates))
    run = simulate(robot, robot.neutral(), turning, control=control, duration=n * h, step=h)
    assert np.abs(robot.difference(run.q[:-1], rows)).max() < 2e-3
    with pytest.raises(
        InvalidInput, match=r"PD: target: velocity has 10 elements a row, expected 9"
    ):
        simulate(
            robot, control=PD(1.0, 1.0, PerStep(rows, np.zeros((n, 10)))), duration=n * h, step=h
        )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (lambda: PerStep(np.zeros((5, 1)), np.zeros((4, 1))), "velocity has 4 rows, expected 5"),
        (
            lambda: PerStep(np.zeros((5, 1)), None, np.zeros((5, 1))),
            "acceleration is given without velocity",
        ),
        (lambda: PerStep(np.zeros((5, 1)), np.full((5, 1), np.nan)), "velocity contains nan"),
    ],
)
def test_rates_that_do_not_fit_their_rows_are_refused(rows, words):
    with pytest.raises(InvalidInput, match=words):
        PD(1.0, 1.0, rows())


def test_rows_of_a_force_have_no_rates():
    forces = {"m": PerStep(np.zeros((10, 3)), np.zeros((10, 3)))}
    with pytest.raises(InvalidInput, match='force on "m" has rates, expected rows alone'):
        simulate(MASS, [0.0], duration=0.01, step=1e-3, forces=forces)


def test_rows_with_rates_are_the_same_in_python():
    rows = [np.sin(np.arange(50) * 1e-2 + k)[:, None] for k in (0, 1, 2)]
    law = PD(10.0, 2.0, PerStep(*rows))
    one, other = (
        simulate(MASS, [0.0], duration=0.05, step=1e-3, control=control)
        for control in (law, law + (lambda t, q, v: [0.0 * float(t)]))
    )
    assert (one.where, other.where) == ("machine code", "Python")
    same(one, other, 1e-13)


def test_targets_by_a_python_function_of_time():
    def target(t):
        return [round(float(t), 1)], [0.0], [0.0]

    run = simulate(MASS, [0.0], duration=0.2, step=1e-3, control=PD(10.0, 1.0, target))
    assert run.where == "Python"
    assert "target" in run.why
    assert run.tau[100, 0] == pytest.approx(10 * (0.1 - run.q[100, 0]) - run.v[100, 0])
