"""Several rates, memories, own models, disturbances and metrics in one loop,
against plain Python loops."""

from __future__ import annotations

from functools import cache

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.engine import scan as engine_scan
from linkwork.simulation import (
    PD,
    PID,
    ComputedTorque,
    GravityCompensation,
    Metrics,
    PerStep,
    Sampled,
    simulate,
)

Q0 = np.array([0.3, 0.8])
TARGET = np.array([0.5, 1.1])
STEP = 1e-3


@cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm").with_gravity((0.0, -9.81, 0.0))


def plain_loop(force, steps: int, h: float = STEP) -> np.ndarray:
    """Rows (steps + 1, 2) of q by classical Runge-Kutta; force(k, q, v) acts during step k."""

    def rate(q, v, tau):
        return v, arm().forward_dynamics(q, v, tau)

    q, v, rows = Q0.copy(), np.zeros(2), [Q0.copy()]
    for k in range(steps):
        law = force(k, q, v)
        d1, a1 = rate(q, v, law(q, v))
        d2, a2 = rate(q + h / 2 * d1, v + h / 2 * a1, law(q + h / 2 * d1, v + h / 2 * a1))
        d3, a3 = rate(q + h / 2 * d2, v + h / 2 * a2, law(q + h / 2 * d2, v + h / 2 * a2))
        d4, a4 = rate(q + h * d3, v + h * a3, law(q + h * d3, v + h * a3))
        q, v = q + h / 6 * (d1 + 2 * d2 + 2 * d3 + d4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        rows.append(q.copy())
    return np.array(rows)


def run(control, **options):
    settings = {"duration": 0.2, "step": STEP, "friction": False} | options
    return simulate(arm(), Q0, control=control, **settings)


def two_rates(fast: float, slow: float, delay: float = 0.0, offset: float = 0.0):
    held = Sampled(PD(20.0, 2.0, TARGET), fast)
    late = Sampled(PD(5.0, 0.5, TARGET), slow, delay=delay, offset=offset)
    return GravityCompensation() + held + late


def test_two_rates_beside_a_continuous_law() -> None:
    held = {}

    def force(k, q, v):
        if k % 2 == 0:
            held["fast"] = 20.0 * (TARGET - q) - 2.0 * v
        if k >= 3 and (k - 3) % 5 == 0:
            held["measured"] = [*held.get("measured", []), 5.0 * (TARGET - q) - 0.5 * v]
        if k >= 10 and (k - 10) % 5 == 0:
            held["slow"] = held["measured"].pop(0)
        fast, slow = held["fast"].copy(), held.get("slow", np.zeros(2)).copy()
        return lambda q, v: arm().gravity_torque(q) + fast + slow

    found = run(two_rates(2e-3, 5e-3, delay=7e-3, offset=3e-3))
    assert found.where == "machine code"
    np.testing.assert_allclose(found.q, plain_loop(force, 200), atol=1e-12)


def test_new_periods_compile_nothing() -> None:
    run(two_rates(2e-3, 5e-3))
    before = engine_scan.counts["compiled"]
    run(two_rates(4e-3, 20e-3))
    assert engine_scan.counts["compiled"] == before


def test_adaptive_steps_have_the_same_instants() -> None:
    control = two_rates(10e-3, 25e-3, delay=15e-3, offset=5e-3)
    fixed, adaptive = (
        run(control),
        run(control, step=None, method="dop853", sample=STEP, tolerance=1e-11),
    )
    # what is left is RK4's error at 1 ms
    np.testing.assert_allclose(adaptive.q, fixed.q, atol=1e-9)


def test_sampled_law_with_a_small_period_tends_to_the_continuous_one() -> None:
    """First order in the period: the hold delays by half of it."""
    law = PD(20.0, 2.0, TARGET)
    exact = run(law, step=2.5e-4).q[-1]
    gaps = [
        np.abs(run(Sampled(law, period), step=2.5e-4).q[-1] - exact).max()
        for period in (4e-3, 2e-3, 1e-3)
    ]
    assert gaps[0] / gaps[1] == pytest.approx(2.0, rel=0.1)
    assert gaps[1] / gaps[2] == pytest.approx(2.0, rel=0.1)


def test_sampled_integral_moves_by_forward_euler() -> None:
    integral, held = np.zeros(2), {}

    def force(k, q, v):
        nonlocal integral
        if k % 4 == 0:
            e = TARGET - q
            held["tau"] = 20.0 * e + 30.0 * integral - 2.0 * v
            integral = integral + 4 * STEP * e
        tau = held["tau"].copy()
        return lambda q, v: tau

    found = run(Sampled(PID(20.0, 30.0, 2.0, TARGET), 4e-3))
    np.testing.assert_allclose(found.q, plain_loop(force, 200), atol=1e-12)


def test_a_wrong_model_is_the_same_in_machine_code_and_in_python() -> None:
    wrong = lw.load("rehabilitation-arm").with_gravity((0.0, -9.81, 0.0)).with_variables(l1=0.4)

    def by_hand(t, q, v):
        return wrong.inverse_dynamics(q, v, 100.0 * (TARGET - q) - 20.0 * v)

    inside = run(ComputedTorque(100.0, 20.0, TARGET, model=wrong))
    outside = run(by_hand)
    assert (inside.where, outside.where) == ("machine code", "Python")
    np.testing.assert_allclose(inside.q, outside.q, atol=1e-11)
    true = run(ComputedTorque(100.0, 20.0, TARGET))
    assert np.abs(true.q - inside.q).max() > 1e-3  # the wrong length matters


def test_gravity_of_another_model() -> None:
    light = arm().with_gravity((0.0, 0.0, 0.0))
    found = run(GravityCompensation(model=light) + PD(20.0, 2.0, TARGET))
    np.testing.assert_allclose(found.q, run(PD(20.0, 2.0, TARGET)).q, atol=1e-13)
    with pytest.raises(errors.InvalidInput, match="expected those of"):
        run(GravityCompensation(model=lw.load("arm-4")))


def test_springs_are_part_of_what_holds_an_arm_still() -> None:
    scara, q = lw.load("scara-arm"), np.deg2rad([-45.0, 90.0, 20.0, -45.0])
    still = simulate(scara, q, duration=0.1, step=STEP, control=GravityCompensation())
    np.testing.assert_allclose(still.q[-1], q, atol=1e-12)


def test_a_disturbance_is_a_joint_force_that_the_law_does_not_know() -> None:
    push = np.array([0.4, -0.2])
    known = run(lambda t, q, v: casadi.vertcat(*push) + 20.0 * (TARGET - q) - 2.0 * v)
    unknown = run(PD(20.0, 2.0, TARGET), disturbance=push)
    np.testing.assert_allclose(unknown.q, known.q, atol=1e-13)
    assert np.abs(unknown["energy.balance"]).max() < 1e-6  # RK4 at 1 ms; the push does 0.05 J
    rows = np.tile(push, (201, 1))
    np.testing.assert_array_equal(
        run(PD(20.0, 2.0, TARGET), disturbance=PerStep(rows)).q, unknown.q
    )
    batch = run(PD(20.0, 2.0, TARGET), disturbance=np.stack([push, 0 * push]))
    np.testing.assert_array_equal(batch.q[0], unknown.q)
    with pytest.raises(errors.InvalidInput, match="expected 2"):
        run(None, disturbance=[1.0, 2.0, 3.0])


def test_metrics_are_those_of_the_rows() -> None:
    def target(t):
        return casadi.vertcat(0.5 + 0.1 * casadi.sin(5 * t), 1.1)

    figures = Metrics(target)
    found = run(Sampled(PD(20.0, 2.0, target), 5e-3), metrics=figures)
    t = found.time[:-1]
    e = np.stack([0.5 + 0.1 * np.sin(5 * t), 1.1 + 0 * t], axis=-1) - found.q[:-1]
    tau, v = found.tau[:-1], found.v[:-1]
    m = found.metrics
    assert m["squared_error"] == pytest.approx((e**2).sum() * STEP, rel=1e-12)
    np.testing.assert_allclose(m["absolute_error"], np.abs(e).sum(0) * STEP, rtol=1e-12)
    np.testing.assert_allclose(m["timed_error"], (t[:, None] * np.abs(e)).sum(0) * STEP, rtol=1e-12)
    np.testing.assert_allclose(m["max_error"], np.abs(e).max(0), rtol=1e-12)
    assert m["effort"] == pytest.approx((tau**2).sum() * STEP, rel=1e-12)
    np.testing.assert_allclose(m["peak"], np.abs(tau).max(0), rtol=1e-12)
    assert m["energy"] == pytest.approx(np.abs(tau * v).sum() * STEP, rel=1e-12)
    few = run(Sampled(PD(20.0, 2.0, target), 5e-3), metrics=figures, record=False)
    assert len(few.time) == 2
    np.testing.assert_array_equal(few.metrics["squared_error"], m["squared_error"])
    watched = run(
        Sampled(PD(20.0, 2.0, target), 5e-3), metrics=figures, progress=lambda done, all_: None
    )
    np.testing.assert_allclose(watched.metrics["effort"], m["effort"], rtol=1e-12)


def test_metrics_of_a_frame_and_of_python_laws() -> None:
    place = arm().pose(TARGET, "hand")[:2, 3]
    figures = Metrics(place, "hand", ("x", "y"))
    law = Sampled(PD(20.0, 2.0, TARGET), 5e-3)
    calls = []

    def untraceable(t, q, v):
        calls.append(float(t))
        return 20.0 * (TARGET - q) - 2.0 * v

    inside, outside = run(law, metrics=figures), run(Sampled(untraceable, 5e-3), metrics=figures)
    assert outside.where == "Python"
    assert len(calls) <= 60  # once a period
    for name in inside.metrics:
        np.testing.assert_allclose(outside.metrics[name], inside.metrics[name], rtol=1e-9)
    e = place - arm().pose(inside.q[:-1], "hand")[:, :2, 3]
    assert inside.metrics["squared_error"] == pytest.approx((e**2).sum() * STEP, rel=1e-10)


def test_one_run_and_any_lane_of_a_batch_have_the_same_bits() -> None:
    gains = np.linspace(5.0, 40.0, 21)[:, None] * np.ones(2)
    law = Sampled(PD(gains, 2.0, TARGET), 5e-3, delay=5e-3)
    many = run(law)
    for k in (0, 7, 20):
        np.testing.assert_array_equal(
            many.q[k], run(Sampled(PD(gains[k], 2.0, TARGET), 5e-3, delay=5e-3)).q
        )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: run(Sampled(PD(1, 1, TARGET), 1.5e-3)),
            "period 0.0015 s is no whole number of steps",
        ),
        (lambda: run(Sampled(PD(1, 1, TARGET), 2e-3, offset=5e-4)), "offset 0.0005 s is no whole"),
        (lambda: Sampled(PD(1, 1, TARGET), 0.0), "period is 0"),
        (lambda: run(PD(1, 1, TARGET), metrics=3), "expected Metrics"),
        (lambda: run(None, metrics=Metrics(TARGET), step=None), "fixed step"),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(errors.InvalidInput, match=words):
        call()
