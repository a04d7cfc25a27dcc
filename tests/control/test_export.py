"""Exported controllers: compiled with the system's compiler,
they give what `step_function` and a simulation give."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.control import (
    FractionalImpedance,
    PowerExponential,
    SlidingMode,
    Stepper,
    Surface,
    export_c,
    step_function,
    stepped,
)
from linkwork.simulation import PD, PID, GravityCompensation, Sampled, simulate


@functools.cache
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm")


GOAL = np.array([0.5, 1.1])
COMPILER = shutil.which("cc")


def moving(t):
    return casadi.vertcat(0.5 + 0.1 * casadi.sin(3 * t), 1.1)


LAWS = {
    "sliding": Sampled(
        SlidingMode(
            Surface([40.0, 50.0], 10.0),
            PowerExponential([2.0, 0.8], 0.1, 2.0, 0.5, 0.25),
            moving,
            limit=[9.0, 4.0],
        ),
        1e-3,
    ),
    "pid": Sampled(GravityCompensation() + PID(20.0, 5.0, 2.0, GOAL, limit=8.0), 2e-3),
    "fractional": Sampled(
        FractionalImpedance("hand", 300.0, 20.0, 50.0, [0.1, 0.3], ("x", "y"), memory=5), 5e-3
    ),
}


TARGETS = {"sliding": [], "pid": GOAL, "fractional": [0.1, 0.3]}


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("name", LAWS)
def test_exported_c_equals_the_step_over_ten_thousand_samples(name, tmp_path) -> None:
    law = LAWS[name]
    source = export_c(law, arm(), tmp_path / f"{name}.c")
    library = tmp_path / "law.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([COMPILER, *flags, str(source), "-lm"], check=True, capture_output=True)
    loaded = ctypes.CDLL(str(library))
    step, init = getattr(loaded, f"{name}_step"), getattr(loaded, f"{name}_init")
    step.argtypes = [ctypes.c_void_p, ctypes.c_double, *[ctypes.c_void_p] * 4]
    state = (ctypes.c_double * 64)()
    init(ctypes.byref(state))
    random = np.random.default_rng(1)
    q, v = GOAL + 0.3 * random.standard_normal((10_000, 2)), random.standard_normal((10_000, 2))
    tau, found = np.zeros(2), np.zeros((10_000, 2))
    places, result = (q.ctypes.data, v.ctypes.data), tau.ctypes.data

    def one(k: int, reference: np.ndarray | None) -> np.ndarray:
        wanted = None if reference is None else reference.ctypes.data
        measured = [at + k * q.strides[0] for at in places]
        assert step(ctypes.byref(state), k * law.period, *measured, wanted, result) == 0
        return tau

    for k in range(10_000):
        found[k] = one(k, None)
    function, reference = step_function(law, arm()), TARGETS[name]
    expected = stepped(function, q, v, law.period, reference)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    rows = np.loadtxt(tmp_path / f"{name}_vectors.csv", delimiter=",", skiprows=1)
    again = stepped(function, rows[:, :2], rows[:, 2:4], law.period, reference)
    np.testing.assert_allclose(again, rows[:, 4:], rtol=1e-14)
    before, held = bytes(state), tau.copy()
    bad = np.array([0.5, np.nan])
    for measured in ((bad.ctypes.data, v.ctypes.data), (q.ctypes.data, bad.ctypes.data)):
        # refused, and nothing of it is kept
        assert step(ctypes.byref(state), 0.0, *measured, None, result) == 1
    assert bytes(state) == before
    np.testing.assert_array_equal(tau, held)
    if len(reference):  # another target, while it runs
        init(ctypes.byref(state))
        other = np.array(reference) + 0.05
        expected = stepped(function, q[:50], v[:50], law.period, other)
        np.testing.assert_allclose(
            [one(k, other).copy() for k in range(50)], expected, rtol=1e-12, atol=1e-12
        )
        assert np.abs(expected - found[:50]).max() > 0.1


def test_the_exported_step_is_what_a_simulation_runs() -> None:
    law = LAWS["pid"]
    run = simulate(arm(), [0.3, 0.8], duration=0.2, step=1e-3, control=law, friction=False)
    samples = slice(0, 200, 2)
    tau = stepped(step_function(law, arm()), run.q[samples], run.v[samples], law.period, GOAL)
    np.testing.assert_allclose(tau, run.tau[samples], rtol=1e-10)


@pytest.mark.parametrize("name", LAWS)
def test_a_stepper_is_the_same_law_sample_by_sample(name) -> None:
    law = LAWS[name]
    random = np.random.default_rng(2)
    q, v = GOAL + 0.3 * random.standard_normal((40, 2)), random.standard_normal((40, 2))
    expected = stepped(step_function(law, arm()), q, v, law.period, TARGETS[name])
    stepper = Stepper(law, arm())
    found = np.array([stepper.step(q[k], v[k]) for k in range(20)])
    with pytest.raises(errors.LinkworkError):
        stepper.step([np.nan, 0.0], [0.0, 0.0])  # never enters the memory
    found = np.concatenate([found, [stepper.step(q[k], v[k]) for k in range(20, 40)]])
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    stepper.reset()
    np.testing.assert_allclose(stepper.step(q[0], v[0]), expected[0], rtol=1e-11, atol=1e-11)
    if len(TARGETS[name]):
        stepper.reset()
        moved = stepped(
            step_function(law, arm()), q[:1], v[:1], law.period, np.array(TARGETS[name]) + 0.05
        )
        np.testing.assert_allclose(
            stepper.step(q[0], v[0], np.array(TARGETS[name]) + 0.05), moved[0], rtol=1e-11
        )
    with pytest.raises(errors.InvalidInput, match="reference has"):
        stepper.step(q[0], v[0], np.zeros(7))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda path: export_c(
                Sampled(PD(1.0, 1.0, GOAL), 1e-3), arm(), path / "x.c", period=2e-3
            ),
            "period is 0.002 s, but Sampled has 0.001 s",
        ),
        (lambda path: export_c(PD(1.0, 1.0, GOAL), arm(), path / "x.c"), "period is None"),
        (
            lambda path: export_c(Sampled(PD(1.0, 1.0, GOAL), 1e-3), arm(), path / "x.txt"),
            "ends in .c",
        ),
        (
            lambda path: export_c(Sampled(PD(1.0, 1.0, GOAL), 1e-3), arm(), path / "my-law.c"),
            "no C identifier",
        ),
        (
            lambda path: export_c(
                Sampled(PD(1.0, 1.0, GOAL), 1e-3, delay=1e-3), arm(), path / "x.c"
            ),
            "delay of 0.001 s",
        ),
        (
            lambda path: export_c(
                Sampled(PD(np.ones((3, 2)), 1.0, GOAL), 1e-3), arm(), path / "x.c"
            ),
            "choose one",
        ),
        (
            lambda path: export_c(
                lambda t, q, v: arm().gravity_torque(q), arm(), path / "x.c", period=1e-3
            ),
            "cannot be traced",
        ),
    ],
)
def test_refusals_name_the_number(call, words: str, tmp_path) -> None:
    with pytest.raises(errors.LinkworkError, match=words):
        call(tmp_path)


def test_the_file_names_its_law_its_period_and_its_units(tmp_path) -> None:
    law = Sampled(GravityCompensation() + PD(1.0, 1.0, GOAL), 1e-3, limit=5.0)
    text = export_c(law, arm(), tmp_path / "held.c").with_suffix(".h").read_text()
    assert "/* q in the order of theta1, theta2; v and tau in that of theta1, theta2 */" in text
    assert text.startswith(
        "/* Saturated(GravityCompensation + PD), sampled every 0.001 s; q, v [rad, m; rad/s, m/s]"
    )
