"""Compiled loops are kept by what was traced: no two controllers share one,
whatever they are called."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.engine import kernel, keys
from linkwork.simulation import fixed
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import PD, PID, Controller, GravityCompensation
from linkwork.simulation.events import Event, Events
from linkwork.simulation.plants import plant_of
from linkwork.simulation.run import _forces, simulate
from linkwork.simulation.sampling import Sampled
from linkwork.simulation.step_loop import StepLoop
from linkwork.simulation.stops import EndStop, Stops
from linkwork.simulation.structure import bare

START = np.array([0.1, -0.5])
ROWS = [
    {"a": 0.5, "mass": 2.0, "com": (-0.25, 0.0, 0.0), "inertia": 0.1 * np.eye(3)} for _ in range(2)
]
RUN = {"duration": 0.02, "step": 1e-3}
WAYS = {"fixed": RUN, "adaptive": {"duration": 0.02, "sample": 0.01}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("LINKWORK_CACHE", str(place))
    return place


def arm():
    return lw.Robot.from_dh(ROWS)


def controller(gain, name="PD"):
    """A class called PD, like linkwork's own, with a law of its own and no word about it
    anywhere."""

    def law(self, plant, t, q, v, s, p):
        return gain * (0.3 - q) - 0.1 * gain * v, s

    bound = type(f"_Bound{name}", (Bound,), {"law": law})
    return type(name, (Controller,), {"bound": lambda self, plant, prefix="control": bound()})()


def written(gain):
    """The same as a function: equal text, another closure."""
    return lambda t, q, v: gain * (0.3 - q) - 0.1 * gain * v


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_controllers_of_one_name_and_different_laws(options, folder):
    """In one process, of one robot and of two equal ones, whose loops come from the cache on
    disk."""
    truth = {
        gain: simulate(arm(), START, control=PD(gain, 0.1 * gain, np.full(2, 0.3)), **options)
        for gain in (5.0, 20.0)
    }
    assert np.abs(truth[5.0].q[-1] - truth[20.0].q[-1]).max() > 1e-4
    for robot in (arm(), arm()):
        for gain in (5.0, 20.0, 5.0):
            for control in (controller(gain), written(gain)):
                found = simulate(robot, START, control=control, **options)
                np.testing.assert_allclose(found.q, truth[gain].q, atol=1e-9)


def test_a_subclass_with_an_option_of_its_own(folder):
    class Stronger(PD):
        def __init__(self, *args, factor):
            super().__init__(*args)
            self.factor = factor

        def bound(self, plant, prefix="control"):
            made = super().bound(plant, prefix)
            plain, factor = made.law, self.factor
            made.law = lambda *args: (factor * plain(*args)[0], args[4])
            return made

    robot, target = arm(), np.full(2, 0.3)
    for factor in (1.0, 2.0, 4.0, 1.0):
        found = simulate(robot, START, control=Stronger(0.5, 0.005, target, factor=factor), **RUN)
        truth = simulate(robot, START, control=PD(0.5 * factor, 0.005 * factor, target), **RUN)
        np.testing.assert_allclose(found.q, truth.q, atol=1e-12)


PROCESS = """
import sys
from test_structure import arm, controller, written, START, RUN
from linkwork.simulation.run import simulate
gain = float(sys.argv[1])
print([simulate(arm(), START, control=kind(gain), **RUN).q[-1].tolist() for kind in (controller, written)])
"""


def test_through_the_cache_on_disk_of_another_process(folder):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
    }
    for gain in (5.0, 20.0):
        truth = simulate(arm(), START, control=PD(gain, 0.1 * gain, np.full(2, 0.3)), **RUN).q[-1]
        command = [sys.executable, "-c", PROCESS, str(gain)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        np.testing.assert_allclose(eval(done.stdout), [truth, truth], atol=1e-9)


BUILT_IN = {
    "nothing": {},
    "PD": {"control": PD(2.0, 0.01, np.full(2, 0.3))},
    "a moving target": {"control": PD(2.0, 0.01, lambda t: t * np.full(2, 0.3))},
    "a sum": {"control": PD(2.0, 0.01, START) + GravityCompensation()},
    "sampled": {"control": Sampled(PID(2.0, 1.0, 0.01, START, limit=20.0), 0.002, 0.001)},
    "a force": {"forces": {"link2": np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])}},
    "a stop": {"stops": [EndStop("joint2", upper=2.0, stiffness=100.0)]},
    "an event": {"events": [Event("low", lambda t, q, v: q[1] + 1.0)]},
    "a payload": {"payload": lw.Payload("link2", 1.0)},
}


@pytest.mark.parametrize("options", BUILT_IN.values(), ids=BUILT_IN)
def test_a_second_robot_is_simulated_without_tracing(options, folder):
    """Built-in parts have a key known before tracing: what another process compiled is loaded."""
    first = simulate(arm(), START, **RUN, **options)
    before = dict(kernel.counts)
    again = simulate(arm(), START, **RUN, **options)
    made = {name: kernel.counts[name] - before[name] for name in before}
    assert np.array_equal(first.q, again.q) and np.array_equal(first.tau, again.tau)
    assert made["loaded"] >= 1 and made["traced"] == made["compiled"] == 0


def structure(**options) -> str:
    control = options.pop("control", PD(2.0, 0.01, START))
    plant = plant_of(arm())
    stops = Stops(options.get("stops", ()), plant)
    events = Events(tuple(options.get("events", ())), plant)
    forces = _forces(options.get("forces"), plant)
    loop = StepLoop(
        plant, control.bound(plant), forces, stops, events, options.get("method", "rk4")
    )
    return bare(loop)[1]


def test_numbers_of_a_run_are_no_part_of_the_structure_and_everything_else_is():
    same = [
        structure(),
        structure(control=PD(7.0, 2.0, 0.5 * START)),
        structure(control=PD(np.full((4, 2), 7.0), 2.0, np.tile(START, (4, 1)))),
    ]
    assert len(set(same)) == 1 and same[0] is not None
    other = [
        structure(method="semi_implicit_euler"),
        structure(control=PID(2.0, 1.0, 0.01, START)),
        structure(control=PID(2.0, 1.0, 0.01, START, limit=1.0)),
        structure(control=PD(2.0, 0.01, lambda t: t * START)),
        structure(control=PD(2.0, 0.01, lambda t: 2 * t * START)),
        structure(control=PD(2.0, 0.01, START) + PD(2.0, 0.01, START)),
        structure(stops=[EndStop("joint2", upper=2.0, stiffness=100.0)]),
        structure(stops=[EndStop("joint2", upper=2.0, stiffness=101.0)]),
        structure(events=[Event("low", lambda t, q, v: q[1] + 1.0)]),
        structure(events=[Event("low", lambda t, q, v: q[1] + 1.0, terminal=True)]),
        structure(events=[Event("low", lambda t, q, v: q[1] + 2.0)]),
        structure(forces={"link2": np.zeros(6)}),
        structure(forces={"link1": np.zeros(6)}),
        structure(forces={"link2": lambda t: t * np.ones(6)}),
    ]
    assert len({*same, *other}) == 1 + len(other) and None not in other


def test_tracing_sees_no_number_of_a_run():
    """The bare loop, from which everything is traced, has shapes where the loop has numbers."""
    plant = plant_of(arm())
    control = (PD(2.0, 0.01, START) + PID(2.0, 1.0, 0.01, START)).bound(plant)
    template, key = bare(StepLoop(plant, control, {}, Stops((), plant), Events((), plant), "rk4"))
    seen, waiting = set(), [template.control]
    while waiting:
        x = waiting.pop()
        assert not isinstance(x, np.ndarray)
        if id(x) not in seen:
            seen.add(id(x))
            waiting += (
                list(x)
                if isinstance(x, (list, tuple))
                else list(getattr(x, "__dict__", {}).values())
            )
            waiting += list(x.values()) if isinstance(x, dict) else []
    assert key is not None and keys.key("x") and template.control is not control
    assert isinstance(control.parameters["control0_kp"], np.ndarray)  # the loop itself is as it was


def test_robots_that_differ_in_a_name_of_a_coordinate_only(folder):
    """A stop belongs to a joint by its name: equal numbers do not make its loops equal."""
    model = arm().model
    names = {"joint2": "joint1", "joint1": "joint2"}
    joints = tuple(replace(joint, name=names.get(joint.name, joint.name)) for joint in model.joints)
    stop = EndStop("joint2", upper=START[1] - 0.1, stiffness=1e4, damping=10.0)
    robots = lw.Robot(model), lw.Robot(replace(model, joints=joints))
    one, other = (simulate(robot, START, stops=[stop], **RUN) for robot in robots)
    assert np.abs(one.q[-1] - other.q[-1]).max() > 1e-3
    assert all(fixed.built(robot.subject) for robot in robots)
