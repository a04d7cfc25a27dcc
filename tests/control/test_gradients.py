"""Gradients of figures, curves of equal effort, and gains judged by their worst case."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import linkwork as lw
from linkwork.control import figure_gradient, iso_figure, tune
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.simulation import PD, ComputedTorque, GravityCompensation, Metrics, Sampled

START, GOAL = np.array([0.3, 0.8]), np.array([0.5, 1.1])
RUN = {"duration": 0.3, "step": 1e-3, "friction": False}


@functools.cache
def arm():
    return lw.load("rehabilitation-arm")


def sampled(kp, kd):
    return GravityCompensation() + Sampled(PD(kp, kd, GOAL), 2e-3, delay=1e-3)


def smooth(kp, kd):
    return ComputedTorque(kp, kd, GOAL, model=arm())


def figure(make, name, **gains):
    run = lw.simulate(
        arm(),
        START,
        control=make(**gains),
        metrics=Metrics(GOAL),
        record=False,
        energy_tolerance=np.inf,
        **RUN,
    )
    return float(np.sum(run.metrics[name]))


@pytest.mark.parametrize(
    "make, gains", [(sampled, {"kp": 20.0, "kd": 2.0}), (smooth, {"kp": 90.0, "kd": 15.0})]
)
@pytest.mark.parametrize("name", ["squared_error", "effort"])
def test_a_gradient_is_what_differences_tend_to(make, gains, name):
    """Central differences of 1e-4 of a gain are good to 1e-7 of the slope's size here."""
    value, slopes = figure_gradient(arm(), make, gains, START, Metrics(GOAL), name, **RUN)
    assert value == pytest.approx(figure(make, name, **gains), rel=1e-12)
    for gain, slope in slopes.items():
        h = 1e-4 * gains[gain]
        up, down = (
            figure(make, name, **{**gains, gain: gains[gain] + side * h}) for side in (1, -1)
        )
        assert slope == pytest.approx((up - down) / (2 * h), rel=2e-6)


def test_the_curve_of_equal_effort_has_that_effort():
    kp = np.array([15.0, 25.0, 1000.0])
    curve = iso_figure(
        arm(), sampled, {"kp": kp, "kd": (0.5, 6.0)}, START, Metrics(GOAL), "effort", 2.0, **RUN
    )
    assert np.isnan(curve.gain[2]) and np.isnan(curve.figures["effort"][2])
    np.testing.assert_allclose(curve.figures["effort"][:2], 2.0, rtol=1e-6)
    assert figure(sampled, "effort", kp=15.0, kd=curve.gain[0]) == pytest.approx(2.0, rel=1e-6)


def test_the_worst_case_is_the_largest_figure_of_all_scenarios():
    loads = [{"payload": lw.Payload("2", m, com=(0.225, 0, 0))} for m in (1e-3, 2.0)]
    settings = {"samples": 40, "seed": 3, **RUN}
    bounds = {"kp": (5.0, 50.0), "kd": (0.5, 5.0)}
    alone = [
        tune(arm(), sampled, bounds, START, Metrics(GOAL), **settings, **load) for load in loads
    ]
    worst = tune(arm(), sampled, bounds, START, Metrics(GOAL), scenarios=loads, **settings)
    expected = np.maximum(*[each.figures["squared_error"] for each in alone])
    np.testing.assert_array_equal(worst.figures["squared_error"], expected)
    np.testing.assert_array_equal(worst.stable, alone[0].stable & alone[1].stable)
    assert worst.best == int(np.argmin(expected))


def test_refusals_name_what_is_wrong():
    with pytest.raises(UnknownName, match="max_error"):
        figure_gradient(
            arm(), sampled, {"kp": 1.0, "kd": 1.0}, START, Metrics(GOAL), "max_error", **RUN
        )
    with pytest.raises(InvalidInput, match="does not depend"):
        figure_gradient(
            arm(), lambda kp: sampled(1.0, 1.0), {"kp": 1.0}, START, Metrics(GOAL), **RUN
        )
    with pytest.raises(NotPossible, match="along a line"):
        figure_gradient(arm(), lambda w: smooth(w * w, w), {"w": 5.0}, START, Metrics(GOAL), **RUN)
    with pytest.raises(InvalidInput, match="two"):
        iso_figure(arm(), sampled, {"kp": [1.0]}, START, Metrics(GOAL), **RUN)
    with pytest.raises(InvalidInput, match="scenarios"):
        tune(
            arm(),
            sampled,
            {"kp": (1.0, 2.0), "kd": (1.0, 2.0)},
            START,
            Metrics(GOAL),
            scenarios=[],
            **RUN,
        )
