"""Observers: forces from outside, derivatives, disturbances against what is known."""

from __future__ import annotations

import functools

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.control import ExtendedStateObserver, LevantDifferentiator, MomentumObserver
from linkwork.simulation import PD, GravityCompensation, Sampled, simulate


@functools.cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm")


def test_momentum_observer_finds_a_push_with_its_lag() -> None:
    push = np.array([0.6, -0.3])

    def late(t):
        return casadi.vertcat(*[casadi.if_else(t >= 0.2, float(x), 0.0) for x in push])

    law = Sampled(GravityCompensation() + PD(20.0, 3.0, [0.5, 1.1]), 1e-3)
    run = simulate(
        arm(),
        [0.3, 0.8],
        duration=0.6,
        step=1e-4,
        sample=1e-3,
        control=law,
        disturbance=late,
        friction=False,
    )
    observer = MomentumObserver(arm(), 100.0, 1e-3)
    found = observer.over(run)
    # the observer takes C' v - g at the samples only
    assert np.abs(found[run.time < 0.19]).max() < 0.03
    np.testing.assert_allclose(found[-1], push, atol=0.01)
    after = int(np.argmin(np.abs(run.time - 0.2101)))
    np.testing.assert_allclose(found[after] / push, 1 - np.exp(-1.0), atol=0.08)
    assert observer.contact(run, 0.2) == pytest.approx(0.205, abs=0.004)
    assert MomentumObserver(arm(), 100.0, 1e-3).contact(run, 5.0) is None


def test_levant_differentiator_is_exact_within_its_bound() -> None:
    T = 1e-4
    differentiator = LevantDifferentiator(12.0, T)
    t = np.arange(20_000) * T
    found = np.array([differentiator.update(x) for x in np.sin(3.0 * t)])
    assert np.abs(found - 3.0 * np.cos(3.0 * t))[10_000:].max() < 0.02


def test_extended_state_observer_has_its_poles_and_finds_a_disturbance() -> None:
    T, w = 1e-3, 60.0
    observer = ExtendedStateObserver(w, T, gain=2.0)
    poles = np.linalg.eigvals(observer.A @ (np.eye(3) - np.outer(observer.L, [1.0, 0.0, 0.0])))
    # a triple pole is sensitive to rounding
    np.testing.assert_allclose(poles, np.exp(-w * T), atol=1e-4)
    x = np.array([0.3, -0.2])
    for k in range(800):
        u = np.sin(0.01 * k)
        estimate = observer.update(x[0], u)
        a = 2.0 * u + 0.7
        x = np.array([x[0] + T * x[1] + T * T / 2 * a, x[1] + T * a])
    assert estimate[2] == pytest.approx(0.7, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MomentumObserver(arm(), 3000.0, 1e-3), "unstable"),
        (lambda: MomentumObserver(3, 10.0, 1e-3), "expected a robot"),
        (lambda: LevantDifferentiator(1.0, 1e-3).update(np.nan), "sample is nan"),
        (lambda: LevantDifferentiator(1.0, 1e-3).update(np.array(np.nan)), "not taken"),
        (lambda: ExtendedStateObserver(10.0, 1e-3).update(np.inf), "not taken"),
        (lambda: ExtendedStateObserver(10.0, 1e-3).update(np.ones((1, 1))), "expected a number"),
        (lambda: ExtendedStateObserver(10.0, 1e-3).update(0.1, [1.0, 2.0]), "u has shape"),
        (
            lambda: LevantDifferentiator([1.0, 1.0], 1e-3).update([1.0, 2.0, 3.0]),
            r"shape \(3,\), expected \(2,\)",
        ),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(errors.InvalidInput, match=words):
        call()
