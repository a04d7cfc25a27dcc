"""Observers inside a loop: beside the same observers fed sample by sample in Python,
and what they are for."""

from __future__ import annotations

import functools

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.control import (
    ContactReaction,
    ExtendedState,
    ExtendedStateObserver,
    LevantDifferentiator,
    LevantVelocity,
    MomentumObserver,
)
from linkwork.control.disturbance_observer import _Momentum
from linkwork.errors import InvalidInput
from linkwork.simulation import PD, GravityCompensation, Sampled, simulate
from linkwork.simulation.numeric import NumericPlant
from linkwork.simulation.plants import plant_of

Q, GOAL, T = np.array([0.3, 0.8]), np.array([0.5, 1.0]), 1e-3


@functools.cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm")


def run(law, **options):
    settings = {
        "duration": 0.3,
        "step": 1e-3,
        "friction": False,
        "energy_tolerance": np.inf,
    } | options
    return simulate(arm(), Q, control=Sampled(law, T), **settings)


def test_levant_in_the_loop_is_the_differentiator_beside_it() -> None:
    """The inner law's force from estimated speeds,
    against a Python law that feeds LevantDifferentiator."""
    fed = LevantDifferentiator([60.0, 60.0], T)

    def beside(t, q, v):
        return 20.0 * (GOAL - q) - 2.0 * fed.update(np.array(q, dtype=float))

    observed = run(LevantVelocity(PD(20.0, 2.0, GOAL), 60.0))
    assert observed.where == "machine code"
    expected = run(beside)
    assert expected.where == "Python"
    np.testing.assert_allclose(observed.q, expected.q, atol=1e-9)
    # where the bound holds again the speed is exact up to the chatter of a sample:
    # period times bound
    exact = run(PD(20.0, 2.0, GOAL))
    assert np.abs(observed.q[-1] - exact.q[-1]).max() < 1e-3


def test_extended_state_is_the_observer_beside_it_and_needs_no_gravity() -> None:
    """No model of gravity: the observer finds it, and what is left fades."""
    inertia, w = np.array([0.18, 0.018]), 150.0
    fed = [ExtendedStateObserver(w, T, 1.0 / m) for m in inertia]
    state = {"tau": np.zeros(2), "begun": False}

    def beside(t, q, v):
        if not state["begun"]:
            for k in range(2):
                fed[k].state = np.array([q[k], v[k], 0.0])
        d = []
        for k in range(2):
            observer = fed[k]
            corrected = observer.state + observer.L * (q[k] - observer.state[0])
            d.append(corrected[2])
        tau = inertia * (400.0 * (GOAL - q) - 40.0 * v) - inertia * np.array(d)
        for k in range(2):
            fed[k].update(float(q[k]), float(tau[k]))
        state["begun"] = True
        return tau

    law = ExtendedState(PD(400.0 * inertia, 40.0 * inertia, GOAL), w, inertia)
    observed = run(law)
    np.testing.assert_allclose(observed.q, run(beside).q, atol=1e-8)
    settled = run(law, duration=1.5)
    sagging = run(PD(400.0 * inertia, 40.0 * inertia, GOAL), duration=1.5)
    assert np.abs(settled.q[-1] - GOAL).max() < 1e-4 < 1e-2 < np.abs(sagging.q[-1] - GOAL).max()
    estimated = run(
        ExtendedState(PD(400.0 * inertia, 40.0 * inertia, GOAL), w, inertia, velocity="estimated")
    )
    assert np.abs(estimated.q - observed.q).max() < 0.05


def test_a_contact_is_felt_and_changes_the_law() -> None:
    def push(t):
        return [casadi.if_else(t > 0.1, 20.0, 0.0), 0.0, 0.0, 0.0, 0.0, 0.0]

    law = GravityCompensation() + PD(30.0, 3.0, Q)
    felt = run(ContactReaction(law, GravityCompensation(), 100.0, 0.5), forces={"hand": push})
    plain = run(law, forces={"hand": push})
    when = MomentumObserver(arm(), 100.0, T).contact(felt, 0.5)
    assert when is not None and 0.1 < when < 0.12
    k = round(when / T)
    np.testing.assert_array_equal(felt.tau[:k], plain.tau[:k])
    limp = np.array([arm().gravity_torque(q) for q in felt.q[k:]])
    np.testing.assert_allclose(felt.tau[k:], limp, atol=1e-10)


def test_refusals_name_what_is_wrong() -> None:
    with pytest.raises(InvalidInput, match="bound is -1"):
        LevantVelocity(PD(1.0, 1.0, GOAL), -1.0)
    with pytest.raises(InvalidInput, match="inside Sampled"):
        simulate(
            arm(), Q, duration=0.01, step=1e-3, control=LevantVelocity(PD(1.0, 1.0, GOAL), 1.0)
        )
    with pytest.raises(InvalidInput, match="velocity"):
        ExtendedState(PD(1.0, 1.0, GOAL), 1.0, 1.0, velocity="guessed")
    with pytest.raises(InvalidInput, match="threshold is 0"):
        ContactReaction(PD(1.0, 1.0, GOAL), GravityCompensation(), 10.0, 0.0)


def test_the_momentum_changes_by_the_transposed_coriolis_matrix() -> None:
    """d(M v)/dt = tau + C' v - g: the rate of the momentum along a motion without joint forces."""
    v = np.array([1.3, -2.1])
    momentum, drift = np.split(NumericPlant(plant_of(arm())).compute(_Momentum(), Q, v), 2)
    np.testing.assert_allclose(momentum, arm().mass_matrix(Q) @ v, rtol=1e-12)
    a, h = arm().forward_dynamics(Q, v, np.zeros(2)), 1e-5
    ahead, behind = (arm().mass_matrix(Q + s * h * v) @ (v + s * h * a) for s in (1, -1))
    np.testing.assert_allclose(drift, (ahead - behind) / (2 * h), rtol=1e-6)
