"""Laws that every arm needs: impedance of joints, learned models, LQR, priorities, admittance,
observers."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork import tasks
from linkwork.control import (
    LQR,
    Adaptive,
    AdaptiveRate,
    Admittance,
    DisturbanceObserver,
    JointImpedance,
    Level,
    OperationalSpace,
    Passivity,
    SlidingMode,
    Surface,
    closed_loop,
    linearise,
)
from linkwork.control.adaptive import _Regressed
from linkwork.errors import InvalidInput, NotPossible
from linkwork.simulation import PD, GravityCompensation, PerStep, Sampled
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plants import plant_of

Q = np.array([0.5, 1.1])
WEIGHT = {"body": "2", "mass": 1.0, "com": (0.225, 0.0, 0.0)}


@functools.cache
def arm():
    return lw.load("rehabilitation-arm")


def run(control, q=Q, duration=0.5, **options):
    options = {"step": 1e-3, "friction": False, "energy_tolerance": np.inf} | options
    return lw.simulate(arm(), q, duration=duration, control=control, **options)


def swing(t):
    import casadi

    return casadi.vertcat(0.5 + 0.4 * casadi.sin(2 * t), 1.1 + 0.3 * casadi.sin(3 * t))


def test_joint_impedance_with_numbers_is_pd_and_gravity():
    goal = Q + 0.1
    plain = run(GravityCompensation() + PD([20.0, 10.0], [2.0, 0.5], goal))
    found = run(JointImpedance([20.0, 10.0], [2.0, 0.5], goal))
    np.testing.assert_allclose(found.q, plain.q, atol=1e-12)


def test_a_damping_ratio_is_that_of_every_mode():
    K = np.array([[20.0, 3.0], [3.0, 10.0]])
    loop = closed_loop(arm(), JointImpedance(K, target=Q, ratio=0.7, at=Q), Q, friction=False)
    np.testing.assert_allclose(-loop.poles.real / np.abs(loop.poles), 0.7, rtol=1e-9)


def test_the_regressor_of_the_adaptive_law_is_its_model():
    """Y times the model's own parameters is what the model gives, so both together are twice
    that."""
    rng = np.random.default_rng(0)
    plant = NumericPlant(plant_of(arm()))
    q, v, v_r, a_r, s = rng.normal(size=(5, 2))
    none = plant.compute(_Regressed(), q, v, v_r, a_r, np.zeros(10 * len(arm().bodies)), s)
    twice = plant.compute(_Regressed(), q, v, v_r, a_r, arm().parameters(), s)
    np.testing.assert_allclose(twice[:2], 2 * none[:2], rtol=1e-10)
    step = 1e-3 * rng.normal(size=10 * len(arm().bodies))
    moved = plant.compute(_Regressed(), q, v, v_r, a_r, step, s)
    np.testing.assert_allclose((moved - none)[:2] @ s, step @ none[2:], atol=1e-12)  # Y' s beside Y


def test_an_adaptive_law_learns_a_payload_that_its_model_does_not_know():
    payload = lw.Payload(**WEIGHT)
    gains = {"slope": 5.0, "damping": 2.0}
    start = [0.5, 1.1]
    v0 = [0.8, 0.9]
    options = {"duration": 20.0, "step": 2e-3, "payload": payload, "v": v0}
    fixed = run(Passivity(target=swing, model=arm(), **gains), start, **options)
    learning = run(Adaptive(rate=2.0, target=swing, model=arm(), **gains), start, **options)
    wanted = np.stack(
        [0.5 + 0.4 * np.sin(2 * fixed.time), 1.1 + 0.3 * np.sin(3 * fixed.time)], axis=-1
    )
    late = fixed.time > 15.0
    assert np.abs(learning.q - wanted)[late].max() < 0.1 * np.abs(fixed.q - wanted)[late].max()
    exact = run(Adaptive(rate=0.0, target=swing, **gains), start, **options)
    assert np.abs(exact.q - wanted).max() < 1e-7
    off = {"q": [0.8, 0.7], **options, "duration": 0.3}
    # it learns nothing: the passive law
    still = run(Adaptive(rate=0.0, target=swing, model=arm(), **gains), **off)
    np.testing.assert_allclose(
        still.q, run(Passivity(target=swing, model=arm(), **gains), **off).q, atol=1e-11
    )


def test_lqr_is_that_of_python_control_and_costs_what_it_says():
    peer = pytest.importorskip("control")
    weights = np.array([10.0, 5.0, 1.0, 1.0])
    law = LQR(arm(), Q, weights, 0.1)
    model = linearise(arm(), Q)
    K, P, _ = peer.lqr(model.A, model.B, np.diag(weights), 0.1 * np.eye(2))
    np.testing.assert_allclose(law.gain, K, rtol=1e-8)
    np.testing.assert_allclose(law.cost, P, rtol=1e-8)
    hair = 1e-4 * np.array([1.0, -0.5])
    found = run(law, Q + hair, duration=8.0)
    x = np.hstack([found.q - Q, found.v])
    u = found.tau - arm().gravity_torque(Q)
    cost = np.trapezoid((x**2 * weights).sum(-1) + 0.1 * (u**2).sum(-1), found.time)
    assert cost == pytest.approx(np.r_[hair, 0, 0] @ P @ np.r_[hair, 0, 0], rel=2e-3)
    held = LQR(arm(), Q, weights, 0.1, period=5e-3)
    assert closed_loop(arm(), Sampled(held, 5e-3), Q, friction=False).stable


def test_lqr_along_a_rest_is_that_of_the_point_and_follows_a_motion():
    rest = PerStep(np.tile(Q, (3, 1)), np.zeros((3, 2)), np.zeros((3, 2)))
    along = LQR.along(arm(), rest, 5e-3, 10.0, 0.1)
    np.testing.assert_allclose(
        along.gain, np.tile(LQR(arm(), Q, 10.0, 0.1, 5e-3).gain, (3, 1, 1)), rtol=1e-8
    )
    t = 5e-3 * np.arange(41)
    rows = Q + np.outer(1 - np.cos(3 * t), [0.2, 0.1])
    rates = np.outer(3 * np.sin(3 * t), [0.2, 0.1]), np.outer(9 * np.cos(3 * t), [0.2, 0.1])
    law = LQR.along(arm(), PerStep(rows, *rates), 5e-3, [1e4, 1e4, 10.0, 10.0], 0.01)
    found = run(law, Q + 0.05, duration=0.2, step=5e-3)
    assert np.abs(found.q[-1] - rows[-1]).max() < 0.2 * 0.05


def test_an_observer_in_the_loop_takes_a_payload_off():
    payload = lw.Payload(**WEIGHT)
    law = GravityCompensation(model=arm()) + PD(30.0, 3.0, Q)
    sagging = run(Sampled(law, 1e-3), duration=3.0, payload=payload)
    observed = run(
        Sampled(DisturbanceObserver(law, 40.0, model=arm()), 1e-3), duration=3.0, payload=payload
    )
    assert np.abs(sagging.q[-1] - Q).max() > 1e-3
    assert np.abs(observed.q[-1] - Q).max() < 1e-3 * np.abs(sagging.q[-1] - Q).max()
    watched = run(
        Sampled(DisturbanceObserver(law, 40.0, model=arm(), share=0.0), 1e-3),
        duration=0.2,
        payload=payload,
    )
    same = run(Sampled(law, 1e-3), duration=0.2, payload=payload)
    np.testing.assert_array_equal(watched.q, same.q)


def test_a_task_error_fades_as_its_gains_say():
    """Two joints, two rows: e'' + 20 e' + 100 e = 0 exactly, so e = e0 (1 + 10 t) exp(-10 t),
    along a straight line."""
    goal = Q + [0.2, -0.3]
    task = tasks.FrameTask(
        "hand", arm().pose(goal, "hand"), position_cost=(1, 1, 0), rotation_cost=0.0
    )
    found = run(OperationalSpace(Level(task, 100.0)), duration=0.5)
    e = (arm().pose(goal, "hand") - arm().pose(found.q, "hand"))[:, :2, 3]
    t = found.time[:, None]
    np.testing.assert_allclose(e, e[0] * (1 + 10 * t) * np.exp(-10 * t), atol=1e-7)


def test_a_lower_level_does_not_touch_a_higher_one():
    goal = Q + [0.2, -0.3]
    x_only = tasks.FrameTask(
        "hand", arm().pose(goal, "hand"), position_cost=(1, 0, 0), rotation_cost=0.0
    )
    posture = tasks.PostureTask(Q + [1.0, 0.5], cost=1.0)
    found = run(OperationalSpace([Level(x_only, 100.0), Level(posture, 50.0)]), duration=1.5)
    e = arm().pose(goal, "hand")[0, 3] - arm().pose(found.q, "hand")[:, 0, 3]
    t = found.time
    np.testing.assert_allclose(e, e[0] * (1 + 10 * t) * np.exp(-10 * t), atol=1e-6)
    J = arm().jacobian(found.q[-1], "hand")[0]
    # what the posture still wants is only what the higher level forbids
    pull = Q + [1.0, 0.5] - found.q[-1]
    assert abs(J[0] * pull[1] - J[1] * pull[0]) < 1e-2 * np.linalg.norm(J) * np.linalg.norm(pull)


def test_levels_that_agree_are_both_met():
    """x above y: the lower level adds only what the higher one leaves,
    so that both errors fade as if alone."""
    goal = Q + [0.2, -0.3]
    rows = [(1, 0, 0), (0, 1, 0)]
    along = [
        tasks.FrameTask("hand", arm().pose(goal, "hand"), position_cost=c, rotation_cost=0.0)
        for c in rows
    ]
    found = run(OperationalSpace([Level(along[0], 100.0), Level(along[1], 100.0)]), duration=0.4)
    e = (arm().pose(goal, "hand") - arm().pose(found.q, "hand"))[:, :2, 3]
    t = found.time[:, None]
    np.testing.assert_allclose(e, e[0] * (1 + 10 * t) * np.exp(-10 * t), atol=1e-6)


def test_an_admittance_gives_way_like_its_mass_on_a_spring():
    place = arm().pose(Q, "hand")[:2, 3]
    law = Admittance(
        "hand",
        2.0,
        20.0,
        100.0,
        [3.0, 0.0],
        place,
        Q,
        [2000.0, 1000.0],
        [40.0, 10.0],
        axes=("x", "y"),
    )
    found = run(law, duration=1.5, step=5e-4)
    moved = arm().pose(found.q, "hand")[:, :2, 3] - place
    truth = solve_ivp(
        lambda t, y: [y[1], (3 - 20 * y[1] - 100 * y[0]) / 2],
        (0, 1.5),
        [0, 0],
        t_eval=found.time,
        rtol=1e-9,
    )
    np.testing.assert_allclose(moved[:, 0], truth.y[0], atol=2e-4)
    assert np.abs(moved[:, 1]).max() < 2e-4 and moved[-1, 0] == pytest.approx(0.03, abs=2e-4)


def test_a_gain_that_adapts_outgrows_a_disturbance():
    law = AdaptiveRate(gain=0.5, adaptation=50.0)
    sliding = SlidingMode(Surface(10.0), law, Q, model=arm())
    push = [0.3, 0.05]
    found = run(Sampled(sliding, 1e-3), duration=3.0, disturbance=push)
    nu = found.v + 10.0 * (found.q - Q)
    # 1.5 and 2.6 rad/s^2, beyond the first gain
    pushed = np.abs(np.linalg.solve(arm().mass_matrix(Q), push))
    assert (pushed > 0.5).all() and np.abs(nu[:300]).max() > 1e-2
    assert (np.abs(nu[-500:]) <= 1.01e-3 * pushed).all()  # what one period of the disturbance moves


def test_refusals_name_what_is_wrong():
    with pytest.raises(InvalidInput, match="one of them"):
        JointImpedance(1.0, target=Q)
    with pytest.raises(InvalidInput, match="no task"):
        run(OperationalSpace(Level("hand")))
    with pytest.raises(InvalidInput, match="effort_cost"):
        LQR(arm(), Q, 1.0, 0.0)
    with pytest.raises(InvalidInput, match="at has shape"):
        run(Admittance("hand", 1.0, 1.0, 1.0, [0.0, 0.0], Q, [0.0], 1.0, 1.0, axes=("x", "y")))
    with pytest.raises(NotPossible, match="regressor"):
        lw.simulate(
            lw.load("four-bar"),
            duration=0.01,
            step=1e-3,
            control=Adaptive(1.0, 1.0, 1.0, np.zeros(3)),
        )
