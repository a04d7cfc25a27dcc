"""Rates that are left out: a spline's, never zero;
against trajectories with known derivatives and Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.actuation.rates import with_rates
from linkwork.errors import InvalidInput
from linkwork.studies import duties, select
from tests.simulation.mechanisms import floating


@pytest.fixture(scope="module")
def arm() -> lw.Robot:
    return lw.load("ur10e")


def quintic(n: int = 101) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """shoulder_pan turns by 2.3 rad in one second, from rest to rest."""
    t = np.linspace(0.0, 1.0, n)
    x = np.stack(
        [10 * t**3 - 15 * t**4 + 6 * t**5, 30 * (t - t**2) ** 2, 60 * t - 180 * t**2 + 120 * t**3]
    )
    q, v, a = np.zeros((3, n, 6))
    q[:, 1] = -1.0
    q[:, 0], v[:, 0], a[:, 0] = 2.3 * x
    return t, q, v, a


@pytest.mark.parametrize("given", [(), ("v",), ("a",)])
def test_rates_left_out_are_differentiated(arm: lw.Robot, given: tuple[str, ...]) -> None:
    t, q, v, a = quintic()
    rates = {"v": v, "a": a}
    whole = arm.analyse({"time": t, "q": q, **rates})
    parts = arm.analyse({"time": t, "q": q, **{name: rates[name] for name in given}})
    # a quintic is a spline of degree 5: rounding of 1e-16 over dt^2 = 1e-4,
    # times inertias of some kg m^2
    assert np.abs(parts.loads.efforts - whole.loads.efforts).max() < 1e-8
    assert np.abs(whole.loads.efforts[:, 0]).max() > 10.0


def test_commands_left_out_are_differentiated(arm: lw.Robot) -> None:
    t, q, v, a = quintic()
    whole = arm.analyse({"time": t, "c": q, "cd": v, "cdd": a})
    parts = arm.analyse({"time": t, "c": q})
    assert np.abs(parts.loads.efforts - whole.loads.efforts).max() < 1e-8


def test_a_drive_is_selected_for_the_motion_that_was_given(arm: lw.Robot) -> None:
    t, q, v, a = quintic()
    whole, parts = (
        {d.name: d for d in duties(arm, m)}
        for m in ({"time": t, "q": q, "v": v, "a": a}, {"time": t, "q": q})
    )
    for name, duty in whole.items():
        assert parts[name].peak == pytest.approx(duty.peak, rel=1e-8, abs=1e-8)
        assert parts[name].speed == pytest.approx(duty.speed, rel=1e-8, abs=1e-8)
    chosen = select(arm, {"time": t, "q": q})["shoulder_pan_joint"]
    assert chosen.best is not None
    # the least that the motion above asks for
    assert chosen.best.actuator.peak * chosen.best.ratio > 10.0


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_a_polynomial_through_few_instants_is_exact(arm: lw.Robot, n: int) -> None:
    t = np.sort(np.random.default_rng(n).uniform(0.0, 2.0, n))
    degree = min(5, n - 1)
    c = np.random.default_rng(0).normal(size=(degree + 1, 6))
    q = np.polynomial.polynomial.polyval(t, c).T
    _, v, a = with_rates(arm.subject, {"time": t, "q": q}, ("q", "v", "a"), "test")
    one, two = (np.polynomial.polynomial.polyder(c, k) for k in (1, 2))
    assert np.allclose(v, np.polynomial.polynomial.polyval(t, one).T, atol=1e-7)
    assert np.allclose(a, np.polynomial.polynomial.polyval(t, two).T, atol=1e-5)


def test_quaternions_turn_in_the_axes_of_their_body() -> None:
    """Against Pinocchio's: q moves by exact joint velocities,
    and differences of half steps give accelerations."""
    robot = floating()  # a floating base, and a ball joint
    model = pin.Model()
    free = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
    model.addJoint(free, pin.JointModelSpherical(), pin.SE3.Identity(), "hip")
    t = np.linspace(0.0, 1.0, 401)
    speed = lambda s: np.array(
        [np.cos(3 * s), 0.3, np.sin(s), 2 * s, -1.0, np.sin(2 * s), s, 1.0, -s * s]
    )
    slope = lambda s: np.array(
        [-3 * np.sin(3 * s), 0, np.cos(s), 2, 0, 2 * np.cos(2 * s), 1, 0, -2 * s]
    )
    q = [pin.neutral(model)]
    h, fine = t[1] - t[0], 20
    for s in t[:-1]:
        x = q[-1]
        for k in range(fine):  # the midpoint rule: off by h^2 / 24 / 400
            x = pin.integrate(model, x, speed(s + (k + 0.5) * h / fine) * h / fine)
        q.append(x)
    rows = np.array(q)
    rows[200:, 3:7] *= -1.0  # the other name of the same orientation
    _, v, a = with_rates(robot.subject, {"time": t, "q": rows}, ("q", "v", "a"), "test")
    assert np.abs(v - [speed(s) for s in t]).max() < 1e-7
    assert np.abs(a - [slope(s) for s in t]).max() < 1e-4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"time": [0.0, 1.0, 1.0]}, "v and a is left out .* time does not grow"),
        ({"time": [0.0, np.nan, 1.0]}, "time has shape"),
        ({"q": np.full((3, 6), np.nan)}, "q is not finite"),
        ({"v": np.zeros((3, 5))}, r"v has shape \(3, 5\), expected \(3, 6\)"),
        ({"a": np.full((3, 6), np.inf)}, "a is not finite"),
    ],
)
def test_what_cannot_be_differentiated_is_refused(
    arm: lw.Robot, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        arm.analyse({"time": [0.0, 0.5, 1.0], "q": np.zeros((3, 6)), **change})
    with pytest.raises(InvalidInput, match="times is given beside arrays"):
        arm.analyse({"time": [0.0], "q": np.zeros((1, 6))}, times=[0.0])


def test_one_instant_is_a_pose_at_rest(arm: lw.Robot) -> None:
    q = np.array([[0.1, -0.5, 0.4, 0.0, 0.3, 0.0]])
    assert np.allclose(arm.analyse({"time": [0.0], "q": q}).loads.efforts, arm.gravity_torque(q))
