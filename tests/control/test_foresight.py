"""What is known before a run: sampled dampers that cannot hold, with the limit that can."""

from __future__ import annotations

import functools
import logging
import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.control import CartesianImpedance, FractionalImpedance
from linkwork.simulation import PD, GravityCompensation, PerStep, Sampled, Saturated
from linkwork.simulation.foreseen import foreseen_target
from linkwork.simulation.foresight import HeldLoop
from linkwork.simulation.plants import plant_of

OPTIONS = {
    "duration": 0.02,
    "step": 1e-3,
    "energy_tolerance": np.inf,
    "failures": "keep",
    "friction": False,
}
HOME = np.deg2rad([-45.0, 90.0, 0.0, -45.0])
Q = np.array([0.5, 1.1])


@functools.cache
def arm():
    return lw.load("rehabilitation-arm")


@functools.cache
def scara():
    return lw.load("scara-arm")


def place():
    return scara().pose(HOME, "E")[:3, 3]


@pytest.mark.parametrize("late", [0.0, 0.4, 1.0, 2.3])
def test_the_held_map_is_the_motion_of_the_masses(late):
    M, K, D, T = (
        np.array([[2.0, 0.3], [0.3, 1.0]]),
        np.diag([50.0, 20.0]),
        np.diag([6.0, 2.0]),
        0.05,
    )
    A = HeldLoop(M, K, D, T, late * T).matrix
    rng = np.random.default_rng(0)
    # of the samples before, newest first
    forces = [rng.normal(size=2) for _ in range((len(A) - 4) // 2)]
    x, v = rng.normal(size=(2, 2))
    state = np.concatenate([x, v, *forces])
    forces = [-K @ x - D @ v, *forces]
    whole, rest = int(late + 1e-9), late % 1.0
    for share, age in ((rest, whole + 1), (1.0 - rest, whole)):
        if share > 1e-9:
            a = np.linalg.solve(M, forces[age])
            x, v = x + share * T * v + 0.5 * (share * T) ** 2 * a, v + share * T * a
    np.testing.assert_allclose((A @ state)[:4], [*x, *v], rtol=1e-12)
    np.testing.assert_allclose(
        (A @ state)[4:], np.concatenate([*forces, np.zeros(0)])[: len(A) - 4], rtol=1e-12
    )


def test_a_joint_damper_is_judged_with_the_inertia_of_its_joint(caplog):
    """Pure damping on a held mass is stable up to 2 m / T."""
    law = GravityCompensation() + Sampled(Saturated(PD(0.0, [0.0, 60.0], Q), 1e6), 1e-3)
    seen = 1.0 / np.linalg.inv(arm().mass_matrix(Q))[1, 1]
    with caplog.at_level(logging.WARNING, logger="linkwork"):
        words = lw.simulate(arm(), Q, control=law, **OPTIONS).foreseen
    assert 'damping 60 N m s/rad of "theta2" is unstable at 1 ms' in words and words in caplog.text
    assert float(words.split("limit ")[1]) == pytest.approx(2 * seen / 1e-3, rel=1e-3)
    calm = GravityCompensation() + Sampled(PD(0.0, [0.0, 1.9 * seen / 1e-3], Q), 1e-3)
    assert lw.simulate(arm(), Q, control=calm, **OPTIONS).foreseen == ""


@pytest.mark.parametrize(
    "stiffness, damping, half, words",
    [
        (8e3, 7600.0, 0.0, r"damping 7600 N s/m is unstable at 5 ms for 18.3 kg \(limit 7293\)"),
        (8e5, 5000.0, 0.0, "stiffness 800000 N/m is unstable at 5 ms"),
        (8e3, 2500.0, 9e4, "half damping 90000 is unstable at 5 ms for 18.33 kg; limit 6.4"),
    ],
)
def test_the_published_gains_are_flagged_before_they_run(stiffness, damping, half, words):
    law = FractionalImpedance("E", stiffness, damping, half, place(), axes=("x", "y", "z"))
    run = lw.simulate(scara(), HOME, control=Sampled(law, 5e-3), **OPTIONS | {"duration": 0.005})
    assert re.search(words, run.foreseen)


def test_gains_that_hold_and_batches_of_gains_say_nothing():
    axes = {"target": place(), "axes": ("x", "y", "z")}
    for gains in ((8e3, 2500.0), (8e3, np.full((4, 1), 9e3))):
        law = Sampled(CartesianImpedance("E", *gains, **axes), 5e-3)
        run = lw.simulate(scara(), HOME, control=law, **OPTIONS | {"duration": 0.005})
        assert run.foreseen == ""
    law = Sampled(CartesianImpedance("E", 8e3, 9e3, **axes), 5e-3)
    assert (
        "CartesianImpedance: damping 9000"
        in lw.simulate(scara(), HOME, control=law, **OPTIONS).foreseen
    )


START = np.array([0.76254998, 0.87496250])  # the hand at (0, 0.25) m; it reaches 0.55 m


@pytest.mark.parametrize(
    "law, words",
    [
        (
            lambda: PD(20.0, 2.0, lambda t: [0.4 * t, 0.5 + 0.0 * t]),
            r'PD: target: joint "theta1" = 85\.\d+ deg is above 85',
        ),
        (lambda: PD(20.0, 2.0, [-1.6, 0.5]), r'"theta1" = -91.67 deg is below .* at t = 0 s'),
        (
            lambda: PD(20.0, 2.0, PerStep(np.linspace([0.0, 0.5], [1.6, 0.5], 4000))),
            r"above 85 deg at t = 3.7\d+ s",
        ),
        (
            lambda: hand([0.0, 0.6]),
            r'"hand" along x, y is outside the workspace at t = 0 s: about 0.05\d? m',
        ),
        (lambda: hand(lambda t: [0.1 * t, 0.25 + 0.0 * t]), ""),
        (
            lambda: hand(lambda t: [0.0 * t, 0.25 + 0.1 * t]),
            r"the path of .* meets a singularity at t = (2.9|3)",
        ),
        (lambda: hand([0.0, 0.3]), ""),
        (
            lambda: hand(lambda t: [0.0 * t, 0.25 + 0.5 / (1.0 + (60.0 * (t - 2.12)) ** 4)]),
            "workspace at t = 2.12 s",
        ),
    ],
    ids=[
        "function",
        "numbers",
        "rows",
        "out of reach",
        "reached",
        "stretched",
        "held",
        "for an instant",
    ],
)
def test_a_target_out_of_range_or_reach_is_told_with_its_time(law, words):
    """theta1 turns by 85 degrees (Table 1 of the paper): 0.4 rad/s gets there at 3.709 s."""
    foreseen = foreseen_target(plant_of(arm()), law().bound(plant_of(arm())), START, 0.0, 4.0, 1e-3)
    assert re.search(words, foreseen) if words else foreseen == ""


def hand(target):
    return CartesianImpedance("hand", 400.0, 20.0, target=target, axes=("x", "y"))


def test_a_run_says_what_is_wrong_with_gains_and_target_together(caplog):
    law = GravityCompensation() + Sampled(Saturated(PD(0.0, [0.0, 60.0], [2.0, 1.1]), 1e6), 1e-3)
    with caplog.at_level(logging.WARNING, logger="linkwork"):
        words = lw.simulate(arm(), Q, control=law, **OPTIONS).foreseen
    assert (
        "is unstable at 1 ms" in words
        and 'PD: target: joint "theta1" = 114.6 deg is above 85 deg' in words
    )
    assert "114.6 deg" in caplog.text
