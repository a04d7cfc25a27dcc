"""Payloads of simulations: one or a batch of them,
against robots that have the same matter in their links."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.engine import kernel
from linkwork.errors import InvalidInput, NotPossible
from linkwork.model import Body, Joint, MassProperties, Model, Placement
from linkwork.simulation import (
    PD,
    ComputedTorque,
    EndStop,
    Event,
    GravityCompensation,
    Sampled,
    accounts,
    adaptive,
    fixed,
    numeric,
    simulate,
)
from tests.loops.machines import four_bar
from tests.published import URDFS
from tests.simulation.mechanisms import floating, ur5

TOOL = "wrist_3_link"
MASSES = np.array([0.0, 0.5, 2.0, 4.0])
COMS = np.array([[0.0, 0.0, 0.1], [0.05, 0.0, 0.1], [-0.02, 0.03, 0.2], [0.0, 0.1, 0.0]])
INERTIAS = (
    np.array([[0.02, 0.003, -0.001], [0.003, 0.03, 0.002], [-0.001, 0.002, 0.025]])
    * MASSES[:, None, None]
)
LOADS = lw.Payload(TOOL, MASSES, COMS, INERTIAS)
START, SPEED = (
    np.array([0.3, -1.2, 0.9, -0.4, 0.7, 0.2]),
    np.array([0.5, -0.3, 0.4, 0.2, -0.6, 0.8]),
)
RUN = {"duration": 0.1, "step": 1e-3}


def one(k: int, body: str = TOOL) -> lw.Payload:
    return lw.Payload(body, MASSES[k], COMS[k], INERTIAS[k])


def with_matter(
    robot: lw.Robot, body: str, mass: float, com: np.ndarray, inertia: np.ndarray
) -> lw.Robot:
    """The robot with matter joined to a link: masses add, parallel axes."""

    def heavier(link: Body) -> Body:
        own = link.mass_properties
        total = own.mass + mass
        centre = (own.mass * np.array(own.com) + mass * com) / total
        about = np.zeros((3, 3))
        for m, c, I in ((own.mass, np.array(own.com), np.array(own.inertia)), (mass, com, inertia)):
            d = c - centre
            about += I + m * (d @ d * np.eye(3) - np.outer(d, d))
        return replace(
            link, mass_properties=MassProperties(total, tuple(centre), tuple(map(tuple, about)))
        )

    bodies = tuple(heavier(link) if link.name == body else link for link in robot.model.bodies)
    return lw.Robot(replace(robot.model, bodies=bodies))


@cache
def heavier(k: int, body: str = TOOL) -> lw.Robot:
    return with_matter(ur5(), body, MASSES[k], COMS[k], INERTIAS[k])


def same(run, other, tolerance=1e-12):
    for name in ("q", "v", "tau"):
        np.testing.assert_allclose(getattr(run, name), getattr(other, name), rtol=0, atol=tolerance)
    for name in ("kinetic", "potential", "total", "balance"):
        energy = f"energy.{name}"
        np.testing.assert_allclose(run[energy], other[energy], rtol=0, atol=100 * tolerance)


METHODS = {
    "rk4": RUN,
    "semi implicit": {**RUN, "method": "semi_implicit_euler", "energy_tolerance": np.inf},
    "dop853": {"duration": 0.1, "sample": 0.01, "method": "dop853"},
    "lsoda": {"duration": 0.1, "sample": 0.01, "method": "lsoda"},
    "Python": {"duration": 0.02, "step": 1e-3, "control": lambda t, q, v: np.array([float(t)] * 6)},
}


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_of_payloads_moves_as_robots_that_have_the_matter_in_their_links(name):
    """1e-8: what the tolerance 1e-9 of adaptive methods leaves;
    fixed steps differ by rounding alone."""
    run = simulate(ur5(), START, SPEED, payload=LOADS, **METHODS[name])
    assert run.q.shape[0] == 4
    assert np.ptp(run.q[:, -1], axis=0).max() > 1e-4  # the payloads are felt
    k, tolerance = 3, 1e-8 if run.step is None else 1e-11
    truth = simulate(heavier(k), START, SPEED, **METHODS[name])
    np.testing.assert_allclose(run.q[k], truth.q, rtol=0, atol=tolerance)
    np.testing.assert_allclose(run.v[k], truth.v, rtol=0, atol=10 * tolerance)
    np.testing.assert_allclose(
        run["energy.total"][k], truth["energy.total"], rtol=0, atol=100 * tolerance
    )
    if name != "semi implicit":
        np.testing.assert_allclose(run["energy.balance"], 0, atol=1e-6)


def test_a_batch_of_payloads_moves_as_pinocchio_says():
    """Pinocchio's accelerations, the payload appended to its last joint,
    in Runge-Kutta steps of the test's own."""
    model = pin.buildModelFromUrdf(
        str(next(path for path in URDFS.values() if path.name == "ur5_robot.urdf"))
    )
    frame = model.frames[model.getFrameId(TOOL)]
    run = simulate(ur5(), START, SPEED, payload=LOADS, **RUN)
    for k in range(4):
        loaded = pin.Model(model)
        matter = pin.Inertia(MASSES[k], COMS[k], INERTIAS[k])
        loaded.appendBodyToJoint(frame.parentJoint, matter, frame.placement)
        data = loaded.createData()

        def rate(x, loaded=loaded, data=data):
            return np.concatenate([x[6:], pin.aba(loaded, data, x[:6], x[6:], np.zeros(6))])

        x, h = np.concatenate([START, SPEED]), RUN["step"]
        for _ in range(100):
            k1 = rate(x)
            k2 = rate(x + h / 2 * k1)
            k3 = rate(x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + h * k3))
        np.testing.assert_allclose(run.q[k, -1], x[:6], rtol=0, atol=1e-11)
        np.testing.assert_allclose(run.v[k, -1], x[6:], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", METHODS)
def test_one_at_a_time_or_in_a_batch_is_the_same(name):
    together = simulate(ur5(), START, SPEED, payload=LOADS, **METHODS[name])
    for k in range(4):
        alone = simulate(ur5(), START, SPEED, payload=one(k), **METHODS[name])
        np.testing.assert_array_equal(together.q[k], alone.q)
        np.testing.assert_allclose(together["energy.total"][k], alone["energy.total"], rtol=1e-13)


def test_batches_of_states_and_payloads_broadcast():
    # (3, 1, 6) with payloads (4,) and gains (2, 1, 1, 6)
    q = START + np.linspace(0, 0.3, 3)[:, None, None]
    gains = np.array([10.0, 40.0]).reshape(2, 1, 1, 1) * np.ones(6)
    masses = lw.Payload(TOOL, MASSES, (0.0, 0.0, 0.1))
    run = simulate(ur5(), q, payload=masses, control=PD(gains, 5.0, START), **RUN)
    assert run.q.shape == (2, 3, 4, 101, 6)
    for at in ((0, 0, 1), (1, 2, 3)):
        load = lw.Payload(TOOL, MASSES[at[2]], (0.0, 0.0, 0.1))
        same(
            Sample(run, at),
            simulate(
                ur5(), q[at[1], 0], payload=load, control=PD(gains[at[0], 0, 0], 5.0, START), **RUN
            ),
        )
    assert simulate(ur5(), START, payload=lw.Payload(TOOL, [2.0]), **RUN).q.shape == (1, 101, 6)
    assert simulate(ur5(), START, payload=lw.Payload(TOOL, np.zeros(0)), **RUN).q.shape == (
        0,
        101,
        6,
    )


class Sample(dict):
    """One sample of a run."""

    def __init__(self, run, at):
        super().__init__({name: x[at] for name, x in run.columns.items() if name != "time"})
        self.q, self.v, self.tau = run.q[at], run.v[at], run.tau[at]


def test_several_payloads_on_one_body_and_on_others():
    """Two halves are a whole; what the fixed base holds moves nothing."""
    halves = lw.Payload(TOOL, MASSES / 2, COMS, INERTIAS / 2)
    base = ur5().model.bodies[0].name
    parts = simulate(ur5(), START, SPEED, payload=[halves, halves, lw.Payload(base, 7.0)], **RUN)
    same(parts, simulate(ur5(), START, SPEED, payload=LOADS, **RUN), 1e-11)
    both = simulate(ur5(), START, SPEED, payload=[LOADS, one(3, "forearm_link")], **RUN)
    same(both, simulate(heavier(3, "forearm_link"), START, SPEED, payload=LOADS, **RUN), 1e-11)


def test_floating_bodies_and_closed_loops_carry_batches():
    run = simulate(
        floating(),
        payload=lw.Payload("arm", MASSES, COMS, INERTIAS),
        v=np.linspace(-1, 1, 9),
        **RUN,
    )
    truth = with_matter(floating(), "arm", MASSES[1], COMS[1], INERTIAS[1])
    same(Sample(run, 1), simulate(truth, v=np.linspace(-1, 1, 9), **RUN), 1e-11)
    robot = lw.Robot(four_bar())
    body = robot.model.bodies[-1].name
    loops = simulate(robot, payload=lw.Payload(body, MASSES, COMS, INERTIAS), **RUN)
    assert np.ptp(loops.q[:, -1], axis=0).max() > 1e-4
    truth = with_matter(robot, body, MASSES[3], COMS[3], INERTIAS[3])
    same(Sample(loops, 3), simulate(truth, **RUN), 1e-10)


@pytest.mark.parametrize("name", METHODS)
def test_new_numbers_neither_trace_nor_compile(name, monkeypatch):
    def run(*loads):
        return simulate(ur5(), START, SPEED, payload=loads, **METHODS[name])

    before = run(one(1))
    many = run(LOADS)  # another width of the same loop may be compiled here, once
    built = {text: list(scan._loaded) for text, scan in fixed.built(ur5().subject).items()}
    counted = dict(kernel.counts)

    def refuse(*_, **__):
        raise AssertionError("traced again")

    monkeypatch.setattr(fixed, "build", refuse)
    for room, maker in (
        (adaptive, "_rate_kernel"),
        (accounts, "_energy_kernel"),
        (numeric, "compiled"),
    ):
        monkeypatch.setattr(room, maker, refuse)
    after = run(one(2))
    assert np.abs(after.q[-1] - before.q[-1]).max() > 1e-5
    more = run(lw.Payload(TOOL, MASSES + 1.0, COMS[::-1], INERTIAS))
    assert np.abs(more.q[:, -1] - many.q[:, -1]).max() > 1e-5
    assert kernel.counts == counted
    assert {text: list(scan._loaded) for text, scan in fixed.built(ur5().subject).items()} == built


def test_without_a_payload_a_loop_has_no_parameter_for_one():
    robot = lw.Robot(ur5().model)
    simulate(robot, START, **RUN)
    simulate(robot, START, payload=one(1), **RUN)
    bare, loaded = fixed.built(robot.subject).values()
    assert set(bare.names["parameters"]) == {"h", "start", "first"}
    assert set(loaded.names["parameters"]) == {"h", "start", "first", "payload0"}


@pytest.mark.parametrize(
    "options", [RUN, {"duration": 0.1, "sample": 0.05}], ids=["fixed", "adaptive"]
)
def test_controllers_know_the_payload_of_their_sample(options):
    held = simulate(ur5(), START, control=GravityCompensation(), payload=LOADS, **options)
    np.testing.assert_allclose(held.q, np.broadcast_to(START, held.q.shape), atol=1e-9)
    forces = ur5().gravity_torque(START, payload=LOADS)
    np.testing.assert_allclose(held.tau[:, 0], forces, atol=1e-12)
    led = simulate(
        ur5(), START, SPEED, control=ComputedTorque(100.0, 20.0, START), payload=LOADS, **options
    )
    # linear, whatever is carried
    np.testing.assert_allclose(led.q, np.broadcast_to(led.q[0], led.q.shape), atol=1e-8)
    by_period = simulate(
        ur5(), START, control=Sampled(GravityCompensation(), 0.01), payload=LOADS, **options
    )
    np.testing.assert_allclose(by_period.tau[:, -1], forces, atol=1e-6)


def test_events_and_hard_stops_are_those_of_the_sample():
    event = Event("low", lambda t, q, v: q[1] + 1.0, terminal=True)
    stop = EndStop("elbow_joint", upper=0.95, restitution=0.5)
    options = {"duration": 0.4, "step": 1e-3, "events": [event], "stops": [stop]}
    control = PD(0.0, [0.0, 40.0, 0.0, 0.0, 0.0, 0.0], START)
    run = simulate(ur5(), START, SPEED, control=control, payload=LOADS, **options)
    # each ends at a time of its own, so that energies have rows without a state
    assert len(set(run.end.tolist())) == 4
    assert np.abs(run["energy.stops"][:, 100]).min() > 1e-6
    for k in range(4):
        alone = simulate(ur5(), START, SPEED, control=control, payload=one(k), **options)
        assert run.end[k] == pytest.approx(alone.end, abs=1e-12)
        same(Sample(run, k), alone)
        known = np.isfinite(run["energy.balance"][k])
        assert known.sum() == (run.time <= run.end[k]).sum()
        np.testing.assert_allclose(run["energy.balance"][k, known], 0, atol=1e-3)


WAYS = {
    "fixed": {"step": 1e-2},
    "controlled": {"step": 1e-2, "control": GravityCompensation()},
    "adaptive": {"method": "dop853"},
    "Python": {"step": 1e-2, "control": lambda t, q, v: np.array([0.0 * float(t), 0.0])},
}


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_a_sample_without_matter_is_named_by_its_own_payload(options):
    """All matter in one point at the tip of two stretched links has no acceleration;
    with a turning one it has."""
    at, axis = Placement(position=(0.5, 0.0, 0.0)), (0.0, 1.0, 0.0)
    joints = (
        Joint("shoulder", "revolute", None, "upper", axis=axis),
        Joint("elbow", "revolute", "upper", "lower", at, axis),
    )
    bodies = (Body("upper"), Body("lower", MassProperties(1.0, (0.5, 0.0, 0.0))))
    robot = lw.Robot(Model("arm", bodies, joints))
    turning = lw.Payload("lower", 0.0, inertia=np.array([np.eye(3), np.zeros((3, 3))]))
    run = simulate(robot, [0.0, 0.0], duration=0.1, payload=turning, failures="keep", **options)
    assert run.success.tolist() == [True, False]
    assert 'joints "shoulder", "elbow" move no inertia there' in str(run.reason[1])


REFUSALS = {
    "states and payloads": (
        lambda: simulate(ur5(), np.zeros((3, 6)), payload=lw.Payload(TOOL, np.ones(2)), **RUN),
        r"batch shapes do not broadcast: states (3,), payload0 (2,)",
    ),
    "parts of a payload": (
        lambda: simulate(ur5(), payload=lw.Payload(TOOL, np.ones(2), np.zeros((3, 3))), **RUN),
        f'simulate: payload on "{TOOL}": batch shapes do not broadcast: mass (2,), com (3,), '
        "inertia ()",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_batches_that_do_not_fit_are_refused(case):
    call, words = REFUSALS[case]
    with pytest.raises(InvalidInput) as caught:
        call()
    assert words in str(caught.value)


def test_live_variables_are_numbers_of_a_run():
    """Every length of the batch equals a robot built with it;
    nothing is compiled for another value."""
    live = lw.load("rehabilitation-arm", live=["l1", "l2"])
    lengths, start = np.array([0.25, 0.325, 0.4]), np.array([0.4, 0.9])
    options = {
        "duration": 0.2,
        "step": 1e-3,
        "control": PD(5.0, 0.5, start + 0.2) + GravityCompensation(),
    }
    runs = lw.simulate(live, start, variables={"l1": lengths}, **options)
    for k, l1 in enumerate(lengths):
        alone = lw.simulate(
            lw.load("rehabilitation-arm").with_variables(l1=float(l1)), start, **options
        )
        np.testing.assert_allclose(runs.q[k], alone.q, rtol=1e-11)
        np.testing.assert_allclose(runs["energy.balance"][k], alone["energy.balance"], atol=1e-12)
    known = len(fixed.built(live.subject))
    lw.simulate(live, start, variables={"l1": 0.31, "l2": 0.2}, **options)
    assert len(fixed.built(live.subject)) == known
    with pytest.raises(InvalidInput, match="no live variables"):
        lw.simulate(lw.load("ur5e"), np.zeros(6), duration=0.1, variables={"l1": 0.3})
    with pytest.raises(InvalidInput, match="finite"):
        lw.simulate(live, start, duration=0.1, variables={"l1": np.nan})
    name = next(iter(dict(lw.load("scara-arm").model.variables)))
    sprung = lw.load("scara-arm", live=[name])
    with pytest.raises(NotPossible, match="with_variables"):
        lw.simulate(sprung, duration=0.1, variables={name: 0.3})
