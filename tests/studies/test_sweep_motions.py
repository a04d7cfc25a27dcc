"""A sweep takes the motions that `robot.analyse` takes, and finds the same numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.studies.sweep import sweep

STEPS = 7


@pytest.fixture(scope="module")
def arm():
    return lw.load("rehabilitation-arm", live=["l1"])


@pytest.fixture(scope="module")
def law(arm):
    return lw.trajectory.quintic(arm.home, arm.home + np.linspace(0.1, 0.9, arm.nq), duration=0.3)


def peaks(arm, motion, steps=STEPS):
    """Largest effort of every actuator of the arm as it is."""
    wanted = {f"actuator.{name}": "peak" for name in arm.actuators}
    designs = {"l1": [dict(arm.model.variables)["l1"]]}
    found = sweep(arm, motion, designs, wanted, steps)
    return np.array([found[f"{name}.peak"][0] for name in wanted])


def expected(arm, motion, steps=STEPS):
    """The same of an analysis."""
    analysis = arm.analyse(motion, steps=steps)
    return np.array([np.abs(analysis[f"actuator.{name}"]).max() for name in arm.actuators])


def test_a_motion_is_sampled_as_an_analysis_samples_it(arm, law):
    # so that instants matter
    assert not np.allclose(expected(arm, law, 2), expected(arm, law), rtol=1e-6)
    for steps in (2, STEPS):
        np.testing.assert_allclose(peaks(arm, law, steps), expected(arm, law, steps), rtol=1e-10)


def test_whatever_can_be_sampled_or_commanded_is_a_motion(arm, law):
    by_joints = SimpleNamespace(duration=law.duration, sample=law.sample)
    by_commands = SimpleNamespace(
        duration=law.duration, commands=lambda t: arm.to_actuators(*law.sample(t))
    )
    for motion in (by_joints, by_commands):
        np.testing.assert_allclose(peaks(arm, motion), expected(arm, motion), rtol=1e-10)


def test_a_simulation_is_a_motion(arm):
    run = lw.simulate(arm, arm.home, duration=0.05, step=0.01)
    np.testing.assert_allclose(peaks(arm, run), expected(arm, run), rtol=1e-10)


def test_rates_of_joints_count_without_time_too(arm, law):
    time = np.linspace(0.0, law.duration, STEPS)
    q, v, a = law.sample(time)
    whole = {"time": time, "q": q, "v": v, "a": a}
    np.testing.assert_allclose(peaks(arm, whole), expected(arm, whole), rtol=1e-10)
    np.testing.assert_allclose(
        peaks(arm, {"q": q, "v": v, "a": a}), expected(arm, whole), rtol=1e-10
    )
    at_rest = whole | {"v": 0 * v, "a": 0 * a}
    np.testing.assert_allclose(peaks(arm, {"q": q}), expected(arm, at_rest), rtol=1e-10)


def test_names_that_a_motion_of_joints_does_not_have_are_refused(arm, law):
    q, v, _ = law.sample(np.linspace(0.0, law.duration, STEPS))
    with pytest.raises(InvalidInput, match=r'sweep: motion has "vel".*expected some of'):
        peaks(arm, {"q": q, "vel": v})
    with pytest.raises(InvalidInput, match=r"sweep: v has shape \(6, \d\), expected \(7, \d\)"):
        peaks(arm, {"q": q, "v": v[1:]})
