"""Figures of merit against closed forms, and tuning against what a search by hand finds."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.control import compare, judge, tune
from linkwork.control.tuning import _around
from linkwork.simulation import PD, GravityCompensation, Metrics, Sampled, simulate


@functools.cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm").with_gravity((0.0, 0.0, 0.0)).locked(theta2=1.0)


GOAL = np.array([0.5])


@functools.cache
def inertia() -> float:
    return float(arm().mass_matrix(GOAL)[0, 0])


OPTIONS = {"duration": 3.0, "step": 1e-3, "friction": False}


def law(zeta: float, omega: float = 6.0) -> PD:
    return PD(inertia() * omega**2, 2.0 * zeta * omega * inertia(), GOAL)


def test_figures_of_a_second_order_step_are_the_textbooks() -> None:
    run = simulate(arm(), [0.0], control=law(0.5), **OPTIONS)
    found = judge(run, GOAL)
    assert found["overshoot"][0] == pytest.approx(np.exp(-np.pi * 0.5 / np.sqrt(0.75)), rel=1e-3)
    assert found["squared_error"] == pytest.approx(
        0.25 * (1 + 4 * 0.25) / (4 * 0.5 * 6.0), rel=5e-3
    )
    assert found["max_error"][0] == pytest.approx(0.5)
    assert found["rise"][0] == pytest.approx(1.638 / 6.0, rel=0.02)
    assert found["settling"][0] == pytest.approx(8.08 / 6.0, rel=0.02)
    assert found["steady_error"][0] < 1e-3
    metrics = simulate(arm(), [0.0], control=law(0.5), metrics=Metrics(GOAL), **OPTIONS).metrics
    for name in ("squared_error", "absolute_error", "timed_error", "effort", "energy"):
        np.testing.assert_allclose(found[name], metrics[name], rtol=1e-9, err_msg=name)


def test_frames_functions_and_batches() -> None:
    run = simulate(arm(), [[0.0], [0.1]], control=law(0.7), **OPTIONS)
    joint = judge(run, GOAL)
    assert joint["squared_error"].shape == (2,) and joint["peak"].shape == (2, 1)
    place = arm().pose(GOAL, "hand")[:2, 3]
    one = simulate(arm(), [0.0], control=law(0.7), duration=0.2, step=1e-3, friction=False)
    hand = judge(one, place, frame="hand", axes=("x", "y"), robot=arm())
    expected = np.abs(place - arm().pose(one.q, "hand")[:, :2, 3]).max(axis=0)
    np.testing.assert_allclose(hand["max_error"], expected, rtol=1e-12)
    ramp = judge(one, lambda t: 0.1 * t)
    np.testing.assert_allclose(
        ramp["max_error"][0], np.abs(0.1 * one.time - one.q[:, 0]).max(), rtol=1e-12
    )
    table = compare({"soft": law(0.5, 3.0), "hard": law(0.5, 9.0)}, arm(), [0.0], GOAL, **OPTIONS)
    assert table["hard"]["squared_error"] < table["soft"]["squared_error"]


def test_rotations_are_judged_by_rotation_vectors() -> None:
    """A goal 3.3 rad ahead is 2.98 rad behind; as numbers, as a pose, and in the loop."""
    turned = arm().pose(GOAL + 3.3, "hand")
    angle = np.arctan2(turned[1, 0], turned[0, 0])
    still = simulate(
        arm(), GOAL, metrics=Metrics([angle], "hand", ("rz",)), duration=0.01, step=1e-3
    )
    seen = judge(still, [angle], "hand", ("rz",), arm())
    assert seen["max_error"][0] == pytest.approx(2 * np.pi - 3.3)
    assert still.metrics["max_error"][0] == pytest.approx(2 * np.pi - 3.3)
    np.testing.assert_allclose(
        judge(still, turned, "hand", ("rz",), arm())["rms"], seen["rms"], rtol=1e-9
    )
    with pytest.raises(errors.InvalidInput, match="has 2 numbers a row, expected 1 or 16"):
        judge(still, [0.1, 0.2], "hand", ("rz",), arm())


def test_integrals_add_up_over_the_time() -> None:
    run = simulate(arm(), [0.0], control=law(0.7), duration=0.5, step=1e-3, friction=False)
    rows = {name: getattr(run, name) for name in ("time", "q", "v", "tau")}
    parts = [
        SimpleNamespace(**{name: x[at] for name, x in rows.items()})
        for at in (slice(0, 201), slice(200, None))
    ]
    whole, first, second = judge(run, GOAL), *[judge(part, GOAL) for part in parts]
    for name in ("squared_error", "absolute_error", "effort", "energy"):
        np.testing.assert_allclose(whole[name], first[name] + second[name], rtol=1e-12)


def test_tuning_finds_the_damping_with_the_least_squared_error() -> None:
    """ISE of a step at given stiffness is least at zeta = 1/2: (1 + 4 zeta^2)/(4 zeta omega)."""
    omega = 6.0

    def controller(kd):
        return GravityCompensation() + PD(inertia() * omega**2, kd, GOAL)

    bounds = {"kd": (0.2 * inertia(), 40.0 * inertia())}
    found = tune(arm(), controller, bounds, [0.0], Metrics(GOAL), samples=200, rounds=2, **OPTIONS)
    assert found.gains["kd"] == pytest.approx(2 * 0.5 * omega * inertia(), rel=0.05)
    front = found.pareto("squared_error", "effort")
    assert len(front) > 5
    errors_, efforts = found.figures["squared_error"][front], found.figures["effort"][front]
    assert (np.diff(errors_) > 0).all() and (np.diff(efforts) < 0).all()
    limited = tune(
        arm(),
        controller,
        bounds,
        [0.0],
        Metrics(GOAL),
        samples=100,
        constraints={"max_error": 0.51},
        method="grid",
        **OPTIONS,
    )
    assert limited.figures["max_error"][limited.best] <= 0.51
    free = limited.pareto("squared_error", "effort")
    most = float(np.median(limited.figures["effort"][free]))
    options = {"samples": 100, "constraints": {"effort": most}, "method": "grid", **OPTIONS}
    bounded = tune(arm(), controller, bounds, [0.0], Metrics(GOAL), **options)
    allowed = bounded.figures["effort"] <= most
    assert 0 < allowed[free].sum() < len(free)
    kept = bounded.pareto("squared_error", "effort")
    assert sorted(kept) == sorted(free[allowed[free]])  # sets that break a constraint are no choice


def test_a_round_draws_along_the_ridge_of_the_best() -> None:
    """Gains that go together are searched together:
    samples have the mean and the covariance of the elite."""
    along = np.linspace(-0.2, 0.2, 40)
    elite = 0.5 + np.stack([along, 0.5 * along + 0.005 * np.sin(40 * along)], axis=-1)
    drawn = _around(elite, np.random.default_rng(0), 4000)
    np.testing.assert_allclose(drawn.mean(axis=0), elite.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(elite.T), rtol=0.1)
    assert np.corrcoef(drawn.T)[0, 1] > 0.99


def test_unstable_sets_are_data() -> None:
    def controller(kp):
        return Sampled(PD(kp, 0.05 * inertia(), GOAL), 0.05)

    found = tune(
        arm(),
        controller,
        {"kp": (0.01 * inertia(), 1e7 * inertia())},
        [0.0],
        Metrics(GOAL),
        samples=40,
        duration=40.0,
        step=1e-2,
        friction=False,
    )
    wild = found.sets["kp"] > 1e6 * inertia()
    assert (~np.isfinite(found.score[wild]) | (found.score[wild] > 1e3 * found.score.min())).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: tune(
                arm(),
                lambda kd: PD(1.0, kd, GOAL),
                {"kd": (2.0, 1.0)},
                [0.0],
                Metrics(GOAL),
                **OPTIONS,
            ),
            "low below high",
        ),
        (
            lambda: tune(
                arm(),
                lambda kd: PD(1.0, kd, GOAL),
                {"kd": (1.0, 2.0)},
                [0.0],
                Metrics(GOAL),
                "mess",
                samples=4,
                **OPTIONS,
            ),
            'no figure "mess"',
        ),
        (
            lambda: judge(simulate(arm(), [0.0], duration=0.01, step=1e-3), np.zeros((3, 1))),
            "has 3 rows",
        ),
        (
            lambda: judge(simulate(arm(), [0.0], duration=0.01, step=1e-3), [0.0], frame="hand"),
            "needs robot=",
        ),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(errors.LinkworkError, match=words):
        call()
