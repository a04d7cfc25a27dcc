"""Refusals of simulate: a sentence that names what came,
and partial results where a motion could not go on."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import cos, sin, sqrt, vertcat

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, SimulationStopped, UnknownName
from linkwork.lagrange import System
from linkwork.model import Body, Joint, MassProperties, Model, Placement
from linkwork.simulation import PD, PID, EndStop, Event, PerStep, Sampled, simulate
from tests.simulation.mechanisms import CART, DOUBLE_PENDULUM, floating

RUN = dict(duration=0.1, step=1e-2)
SENTENCES = {
    "not a mechanism": (
        lambda: simulate("ur5", duration=1),
        InvalidInput,
        "expected a Robot or a System",
    ),
    "nothing that moves": (
        lambda: simulate(lw.Robot(Model("stone", (Body("s", MassProperties(1.0)),), ())), **RUN),
        NotPossible,
        'robot "stone" has no joint that moves',
    ),
    "no masses": (
        lambda: simulate(lw.load("crx-10ia"), **RUN),
        NotPossible,
        'robot "crx-10ia" is kinematic only',
    ),
    "shape of q": (
        lambda: simulate(CART, [1, 2, 3], **RUN),
        InvalidInput,
        'q has shape (3,), expected (..., 2): system "system"',
    ),
    "nan": (lambda: simulate(CART, [1, np.nan], **RUN), InvalidInput, "q contains nan"),
    "batches": (
        lambda: simulate(CART, np.zeros((3, 2)), np.zeros((4, 2)), **RUN),
        InvalidInput,
        "do not broadcast",
    ),
    "method": (
        lambda: simulate(CART, duration=1, method="euler"),
        InvalidInput,
        "'semi_implicit_euler'",
    ),
    "step of adaptive": (
        lambda: simulate(CART, duration=1, method="lsoda", step=0.1),
        InvalidInput,
        "chooses its own",
    ),
    "negative step": (
        lambda: simulate(CART, duration=1, step=-0.1),
        InvalidInput,
        "step is -0.1, expected a positive",
    ),
    "no whole steps": (
        lambda: simulate(CART, duration=1, step=0.3),
        InvalidInput,
        "duration 1 s is no whole number of steps",
    ),
    "no whole rows": (
        lambda: simulate(CART, duration=1, step=0.1, sample=0.15),
        InvalidInput,
        "sample 0.15 s is no whole",
    ),
    "rows that do not fit": (
        lambda: simulate(CART, duration=1, step=0.1, sample=0.3),
        InvalidInput,
        "no multiple of sample",
    ),
    "unknown body": (
        lambda: simulate(CART, forces={"bb": [0, 0, 1]}, **RUN),
        UnknownName,
        'no body "bb"',
    ),
    "force size": (
        lambda: simulate(CART, forces={"bob": [0, 0, 1, 2]}, **RUN),
        InvalidInput,
        "expected 2 or 3 or 6",
    ),
    "robot force size": (
        lambda: simulate(floating(), forces={"arm": [0, 0, 1]}, **RUN),
        InvalidInput,
        "expected 6",
    ),
    "moment on a point": (
        lambda: simulate(CART, forces={"bob": [0] * 6}, **RUN),
        NotPossible,
        "is a point mass",
    ),
    "gain shape": (
        lambda: simulate(CART, control=PD([1, 2, 3], 1, [0, 0]), **RUN),
        InvalidInput,
        "PD: kp has shape (3,)",
    ),
    "negative gain": (
        lambda: simulate(CART, control=PD(1, -1, [0, 0]), **RUN),
        InvalidInput,
        "PD: kd is",
    ),
    "target": (
        lambda: simulate(CART, control=PID(1, 1, 1, [0]), **RUN),
        InvalidInput,
        "PID: target has 1 elements, expected 2",
    ),
    "target's quaternion": (
        lambda: simulate(floating(), control=PD(1, 1, np.zeros(11)), **RUN),
        InvalidInput,
        "PD: target: the quaternion of a floating or ball joint is off unit length",
    ),
    "law shape": (
        lambda: simulate(CART, control=lambda t, q, v: q[0], **RUN),
        InvalidInput,
        "gives [1] numbers, expected 2",
    ),
    "python law shape": (
        lambda: simulate(CART, control=lambda t, q, v: [float(q[0])], **RUN),
        InvalidInput,
        "gave shape (1,) at t = 0, expected (2,)",
    ),
    "control type": (
        lambda: simulate(CART, control=3.0, **RUN),
        InvalidInput,
        "expected a controller or a function",
    ),
    "period": (
        lambda: simulate(CART, control=Sampled(PD(1, 1, [0, 0]), 0.015), **RUN),
        InvalidInput,
        "period 0.015 s is no",
    ),
    "start": (lambda: simulate(CART, start="now", **RUN), InvalidInput, "simulate: start"),
    "start of nan": (
        lambda: simulate(CART, start=np.nan, **RUN),
        InvalidInput,
        "simulate: start is nan",
    ),
    "energy tolerance": (
        lambda: simulate(CART, energy_tolerance=None, **RUN),
        InvalidInput,
        "energy_tolerance is None, expected a positive number",
    ),
    "energy tolerance of nan": (
        lambda: simulate(CART, energy_tolerance=np.nan, **RUN),
        InvalidInput,
        "is nan",
    ),
    "one stop": (
        lambda: simulate(CART, stops=EndStop("x", upper=1.0, stiffness=1.0), **RUN),
        InvalidInput,
        "stops is EndStop, expected a list of EndStop",
    ),
    "stops by name": (
        lambda: simulate(CART, stops=["x"], **RUN),
        InvalidInput,
        "expected a list of EndStop",
    ),
    "one event": (
        lambda: simulate(CART, events=Event("e", lambda t, q, v: q[0]), **RUN),
        InvalidInput,
        "events is Event, expected a list of Event",
    ),
    "event without function": (
        lambda: simulate(CART, events=[Event("e", 3.0)], **RUN),
        InvalidInput,
        'Event "e": function is 3.0, expected a function (t, q, v)',
    ),
    "stop in words": (
        lambda: simulate(CART, stops=[EndStop("x", upper="far", stiffness=1.0)], **RUN),
        InvalidInput,
        'EndStop "x": upper',
    ),
    "forces": (
        lambda: simulate(CART, forces=[0, 1], **RUN),
        InvalidInput,
        "expected a mapping by name",
    ),
    "payload": (
        lambda: simulate(floating(), payload=2.0, **RUN),
        InvalidInput,
        "payload is float, expected a Payload",
    ),
    "payload body": (
        lambda: simulate(floating(), payload=lw.Payload("arms", 1.0), **RUN),
        UnknownName,
        'payload on unknown body "arms"',
    ),
    "period in words": (
        lambda: Sampled(PD(1, 1, [0, 0]), "often"),
        InvalidInput,
        "Sampled: period",
    ),
    "no period": (lambda: Sampled(PD(1, 1, [0, 0]), None), InvalidInput, "Sampled: period"),
    "no time": (lambda: simulate(CART, **RUN).at(np.nan), InvalidInput, "at: t is nan"),
    "negative delay": (lambda: Sampled(PD(1, 1, [0, 0]), 0.1, -1.0), InvalidInput, "delay is -1.0"),
    "rows of adaptive": (
        lambda: simulate(CART, duration=1, control=PD(1, 1, PerStep(np.zeros((5, 2))))),
        NotPossible,
        "rows a step need a fixed step",
    ),
    "too few rows": (
        lambda: simulate(CART, control=PD(1, 1, PerStep(np.zeros((5, 2)))), **RUN),
        InvalidInput,
        "has 5 rows",
    ),
    "hard stop of adaptive": (
        lambda: simulate(CART, duration=1, stops=[EndStop("x", 0, 1, restitution=0.5)]),
        NotPossible,
        "give them stiffness",
    ),
    "stop coordinate": (
        lambda: simulate(CART, stops=[EndStop("z", 0, 1, 1.0)], **RUN),
        UnknownName,
        "no coordinate",
    ),
    "stop kind": (
        lambda: simulate(CART, stops=[EndStop("x", 0, 1)], **RUN),
        InvalidInput,
        "either stiffness",
    ),
    "stop range": (
        lambda: simulate(CART, stops=[EndStop("x", 1, 0, 1.0)], **RUN),
        InvalidInput,
        "no range",
    ),
    "restitution": (
        lambda: simulate(CART, stops=[EndStop("x", 0, 1, restitution=2)], **RUN),
        InvalidInput,
        "expected 0 to 1",
    ),
    "event twice": (
        lambda: simulate(CART, events=[Event("a", lambda t, q, v: t)] * 2, **RUN),
        InvalidInput,
        "two events",
    ),
    "quaternion": (
        lambda: simulate(floating(), np.full(11, 0.3), **RUN),
        InvalidInput,
        "off unit length",
    ),
    "failures": (lambda: simulate(CART, failures="ignore", **RUN), InvalidInput, "'raise', 'keep'"),
    "column": (lambda: simulate(CART, **RUN)["q.thta"], UnknownName, 'did you mean "q.theta"'),
}


@pytest.mark.parametrize(("call", "error", "words"), SENTENCES.values(), ids=SENTENCES)
def test_bad_input_is_refused_in_words(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_an_initial_state_off_the_constraints_is_refused():
    ring = System("x y", gravity=(0, -9.81)).with_body("b", 1.0, lambda q: (q.x, q.y))
    ring = ring.with_constraint("ring", lambda q: q.x**2 + q.y**2 - 1)
    with pytest.raises(
        InvalidInput, match=r"breaks the constraints of system .* by 0.21; q, v = system.consistent"
    ):
        simulate(ring, [1.1, 0.0], **RUN)
    q, v = ring.consistent([1.1, 0.0])
    assert simulate(ring, q, v, **RUN).success


STIFF = dict(control=PD(2e4, 0.0, [0.5, 0.5]), method="rk4")


def test_a_step_too_large_is_found_by_the_energies_and_partial_results_are_kept():
    with pytest.raises(SimulationStopped) as caught:
        simulate(DOUBLE_PENDULUM, duration=2, step=0.02, **STIFF)
    sentence, partial = str(caught.value), caught.value.partial
    assert "the step of 0.02 s is too large" in sentence
    assert "at t = " in sentence or "after t = " in sentence
    assert "q = [" in sentence
    assert not partial.success
    assert np.isfinite(partial.q[0]).all()
    assert partial.end < 2
    assert np.isnan(partial.q[partial.time > partial.end + 1e-9]).all()
    fine = simulate(DOUBLE_PENDULUM, duration=2, step=2e-4, sample=0.02, **STIFF)
    assert fine.success


def test_a_state_that_is_not_finite_stops_with_time_and_state():
    """y'' = y^3 runs away in finite time; energies balance well until numbers end."""
    wild = (
        System("y", gravity=None)
        .with_body("m", 1.0, lambda q: (q.y,))
        .with_potential("hill", lambda q: -(q.y**4))
    )
    with pytest.raises(
        SimulationStopped, match=r"not finite after t = .*; the last finite one is q = \["
    ) as caught:
        simulate(wild, [1.0], duration=5, step=1e-3, energy_tolerance=1e9)
    partial = caught.value.partial
    assert 0.3 < partial.end < 2.0
    assert np.isfinite(partial.q[partial.time < 0.3]).all()
    kept = simulate(wild, [1.0], duration=5, step=1e-3, energy_tolerance=1e9, failures="keep")
    assert kept.reason == partial.reason
    np.testing.assert_array_equal(kept.q, partial.q)
    with pytest.raises(SimulationStopped, match=r"simulate: stopped at t = .* in q = \[") as caught:
        simulate(wild, [1.0], duration=5)
    assert 0.3 < caught.value.partial.end < 2.0


def test_one_bad_sample_does_not_take_the_others_along():
    wild = (
        System("y", gravity=None)
        .with_body("m", 1.0, lambda q: (q.y,))
        .with_potential("hill", lambda q: -(q.y**4))
    )
    run = simulate(wild, [[0.0], [1.0], [0.01]], duration=3, step=1e-3, sample=0.1, failures="keep")
    assert run.success.tolist() == [True, False, True]
    assert run.reason[0] == "" and "too large" in run.reason[1]
    assert np.isfinite(run.q[[0, 2]]).all()
    with pytest.raises(
        SimulationStopped, match=r"simulate of sample \(1,\): .* \(1 of 3 samples\)"
    ):
        simulate(wild, [[0.0], [1.0], [0.01]], duration=3, step=1e-3, sample=0.1)


@pytest.mark.parametrize("options", [{}, {"step": 1e-2}], ids=["adaptive", "fixed"])
def test_a_singular_place_stops_a_run_with_the_coordinate(options):
    polar = System("r phi", gravity=None).with_body(
        "b", 1.0, lambda q: (q.r * cos(q.phi), q.r * sin(q.phi))
    )
    run = simulate(polar, [0.0, 0.1], [1.0, 0.5], duration=1, failures="keep", **options)
    assert not run.success
    assert run.end == 0.0
    assert 'coordinate "phi" carries no inertia there' in str(run.reason)


@pytest.mark.parametrize("options", [{}, {"step": 1e-2}], ids=["adaptive", "fixed"])
def test_a_singular_place_of_a_robot_names_its_joints(options):
    """All matter in one point at the tip of two stretched links; halves,
    so that no rounding hides the zero."""
    bodies = (Body("upper"), Body("lower", MassProperties(1.0, (0.5, 0.0, 0.0))))
    at, axis = Placement(position=(0.5, 0.0, 0.0)), (0.0, 1.0, 0.0)
    joints = (
        Joint("shoulder", "revolute", None, "upper", axis=axis),
        Joint("elbow", "revolute", "upper", "lower", at, axis),
    )
    robot = lw.Robot(Model("arm", bodies, joints))
    run = simulate(robot, [0.0, 0.0], duration=1, failures="keep", **options)
    assert not run.success
    assert 'joints "shoulder", "elbow" move no inertia there' in str(run.reason)


def broken_from(when, value):
    """A control that cannot be traced and gives another number from a time on."""
    return lambda t, q, v: np.array([value if float(t) >= when else 0.1, 0.0])


@pytest.mark.parametrize("options", [{}, {"step": 1e-2}], ids=["adaptive", "fixed"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_control_that_is_not_finite_is_named_with_its_time_and_what_was_before_is_kept(
    value, options
):
    with pytest.raises(
        SimulationStopped, match=r"control <lambda> gave \[(nan|inf), 0.0\] at t = 0\.5"
    ) as caught:
        simulate(
            CART, [0.0, 1.0], duration=1, sample=0.05, control=broken_from(0.5, value), **options
        )
    partial = caught.value.partial
    assert 0.3 < partial.end <= 0.51
    assert np.isfinite(partial.q[partial.time < partial.end - 0.05]).all()
    assert not partial.success


def test_a_force_that_is_not_finite_is_named():
    push = lambda t: [np.nan if float(t) > 0.2 else 1.0, 0.0, 0.0]
    with pytest.raises(
        SimulationStopped, match=r'force on "bob" gave \[nan, 0.0, 0.0\] at t = 0\.2'
    ):
        simulate(CART, [0.0, 1.0], duration=1, step=1e-2, forces={"bob": push})


def test_a_traced_control_without_a_finite_value_is_blamed_and_not_the_step():
    """The root of 0.5 - x: the cart is pushed until x = 0.5, where the control ends."""
    law = lambda t, q, v: vertcat(5 * sqrt(0.5 - q[0]), 0)
    with pytest.raises(
        SimulationStopped, match=r"there is no finite force: control <lambda>.* is nan"
    ) as caught:
        simulate(CART, duration=3, step=1e-2, control=law)
    assert "too large" not in str(caught.value)
    assert caught.value.partial.where == "machine code"
    assert 0.45 < np.nanmax(caught.value.partial.q[:, 0]) < 0.55


def test_work_without_end_is_refused_before_it_starts():
    with pytest.raises(
        InvalidInput,
        match=r"simulate: 3e\+11 steps, expected at most 1e\+11; set step= or duration=",
    ):
        simulate(CART, duration=3e5, step=1e-6)


def test_a_motion_that_runs_away_ends_with_a_sentence():
    """Gains that feed speed with speed: adaptive steps would become ever shorter and never end."""
    pendulum = lw.Robot.from_dh(
        [{"a": 0.5, "mass": 1.0, "com": (-0.25, 0, 0), "inertia": 0.01 * np.eye(3)}]
    )
    with pytest.raises(
        SimulationStopped, match="the motion runs away, as with gains too large"
    ) as stopped:
        simulate(pendulum, [0.1], duration=10.0, control=PID(1.0, 1e4, 0.0, [0.0]))
    assert 0.0 < stopped.value.partial.end < 10.0
