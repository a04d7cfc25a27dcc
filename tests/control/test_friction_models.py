"""Friction models in a run: closed forms of one joint, sticking, energy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.simulation import Coulomb, LuGre, Stribeck, Viscous, simulate


@functools.cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm").with_gravity((0.0, 0.0, 0.0)).locked(theta2=1.0)


def coasting(friction, v0=2.0, **options):
    settings = {"duration": 0.5, "step": 1e-3} | options
    return simulate(arm(), [0.3], [v0], friction=friction, **settings)


def inertia() -> float:
    return float(arm().mass_matrix([0.3])[0, 0])


def test_viscous_friction_decays_exponentially_and_coulomb_linearly() -> None:
    run = coasting(Viscous(0.4))
    np.testing.assert_allclose(run.v[:, 0], 2.0 * np.exp(-0.4 / inertia() * run.time), rtol=1e-9)
    dry = coasting(Coulomb(0.3))
    expected = np.maximum(2.0 - 0.3 / inertia() * dry.time, 0.0)
    np.testing.assert_allclose(dry.v[:, 0], expected, atol=1e-9)
    both = coasting([Viscous(0.4), Coulomb(0.3)])
    assert (both.v[1:, 0] <= np.minimum(run.v, dry.v)[1:, 0] + 1e-12).all()


@pytest.mark.parametrize(
    "friction",
    [
        Viscous(0.4),
        Coulomb(0.3, 0.01),
        Stribeck(0.3, 0.5, 0.1, 0.05),
        LuGre(0.3, 0.5, 0.1, 500.0, 1.0, 0.05),
    ],
)
def test_the_energy_account_counts_every_model(friction) -> None:
    run = coasting(friction, step=1e-4)
    if not isinstance(friction, LuGre):  # bristles store a little, which no column holds
        assert np.abs(run["energy.balance"]).max() < 1e-6
    assert run["energy.dissipated"][-1] > 0.1
    assert abs(run.v[-1, 0]) < 2.0


def test_lugre_sticks_elastically_and_breaks_away_at_the_static_level() -> None:
    model = LuGre(level=0.3, static=0.5, speed=0.05, stiffness=2000.0, bristle_damping=20.0)
    held = coasting(model, v0=0.0, disturbance=[0.2], duration=1.0, step=1e-4)
    # the bristles' deflection, and a first small slip
    assert 0.9 < (held.q[-1, 0] - 0.3) / (0.2 / 2000.0) < 2.0
    assert abs(held.v[-1, 0]) < 1e-6
    loose = coasting(model, v0=0.0, disturbance=[0.6], duration=1.0, step=1e-4)
    assert loose.q[-1, 0] - 0.3 > 0.05


def test_exact_dry_friction_sticks_and_smoothed_one_creeps() -> None:
    stuck = coasting(Coulomb(0.3), v0=0.0, disturbance=[0.25])
    creeping = coasting(Coulomb(0.3, 0.01), v0=0.0, disturbance=[0.25])
    assert np.abs(stuck.q - 0.3).max() == 0.0
    assert creeping.v[-1, 0] == pytest.approx(0.01 * np.arctanh(0.25 / 0.3), rel=0.01)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Viscous(-1.0), "damping is -1"),
        (lambda: Coulomb(0.1, 0.0), "width is 0"),
        (lambda: LuGre(0.0, 0.5, 0.1, 500.0), "level is 0"),
        (lambda: coasting(Coulomb([0.1, 0.2, 0.3])), "expected a number or"),
        (lambda: coasting("sticky"), "expected True"),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(errors.InvalidInput, match=words):
        call()


def test_stribeck_falls_from_the_static_level_to_the_sliding_one() -> None:
    model = Stribeck(level=2.0, static=3.0, speed=0.1, damping=0.5, width=1e-4)
    speeds = np.array([1e-3, 0.1, 2.0])
    lost, _ = model.force(model.numbers, speeds, None)
    np.testing.assert_allclose(lost - 0.5 * speeds, [3.0, 2.0 + np.exp(-1.0), 2.0], rtol=1e-4)
    np.testing.assert_allclose(model.force(model.numbers, -speeds, None)[0], -lost, rtol=1e-15)
