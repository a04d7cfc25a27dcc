"""The world around a mechanism: external forces, end stops, events, and the account of energies."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.lagrange import System
from linkwork.simulation import EndStop, Event, PerStep, simulate
from tests.simulation.mechanisms import CART, DOUBLE_PENDULUM, POINT, ur5

G = 9.81
MASS = System("x", gravity=None).with_body("m", 2.0, lambda q: (q.x,))
BALL = System("y", gravity=(0, -G)).with_body("m", 1.0, lambda q: (0, q.y))


def test_a_constant_force_accelerates_a_mass():
    run = simulate(POINT, duration=1, step=1e-2, forces={"ball": [4.0, 2 * G + 1.0, 0.0]})
    np.testing.assert_allclose(run.q[-1], [1.0, 0.25], atol=1e-12)
    assert run["energy.external"][-1] == pytest.approx(4.0 * 1.0 + (2 * G + 1.0) * 0.25)
    np.testing.assert_allclose(run["energy.balance"], 0, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{"step": 1e-3}, {"method": "dop853"}], ids=["machine code", "adaptive"]
)
def test_a_force_over_time_by_a_function(options):
    """F = 2 sin(3 t) on 2 kg: x = t/3 - sin(3 t)/9."""
    run = simulate(
        MASS, duration=1, forces={"m": lambda t: [2 * casadi.sin(3 * t), 0, 0]}, **options
    )
    np.testing.assert_allclose(run.q[-1, 0], 1 / 3 - np.sin(3) / 9, atol=1e-9)


def test_a_force_over_time_by_rows_and_by_a_python_function():
    rows = np.zeros((100, 3))
    rows[20:50, 0] = 3.0
    by_rows = simulate(MASS, duration=0.1, step=1e-3, forces={"m": PerStep(rows)})
    assert by_rows.v[-1, 0] == pytest.approx(3.0 * 0.03 / 2)

    def kick(t):
        return [3.0 if 0.0199 < float(t) < 0.0499 else 0.0, 0.0, 0.0]

    by_python = simulate(
        MASS, duration=0.1, step=1e-3, forces={"m": kick}, method="semi_implicit_euler"
    )
    assert by_python.where == "Python"
    assert by_python.v[-1, 0] == pytest.approx(3.0 * 0.03 / 2)


def test_forces_may_differ_between_samples():
    run = simulate(MASS, duration=1, step=1e-2, forces={"m": [[2.0, 0, 0], [4.0, 0, 0]]})
    np.testing.assert_allclose(run.q[:, -1, 0], [0.5, 1.0])


def test_a_wrench_on_a_robot_is_that_of_forward_dynamics():
    robot = ur5()
    frame = "wrist_3_link"
    q, v, wrench = (
        robot.random(seed=4),
        np.linspace(-1, 1, 6),
        np.array([1.0, -2.0, 3.0, 0.3, 0.2, -0.1]),
    )
    h = 1e-6
    run = simulate(
        robot, q, v, duration=h, step=h, method="semi_implicit_euler", forces={frame: wrench}
    )
    a = robot.forward_dynamics(q, v, np.zeros(6), forces={frame: wrench})
    np.testing.assert_allclose((run.v[1] - v) / h, a, rtol=1e-8)
    longer = simulate(robot, q, v, duration=0.3, step=1e-3, forces={frame: wrench})
    assert np.abs(longer["energy.external"][-1]) > 0.1
    np.testing.assert_allclose(longer["energy.balance"], 0, atol=1e-7)


def test_a_payload_is_felt():
    robot = ur5()
    body = "wrist_3_link"
    load = lw.Payload(body, 2.0, (0.0, 0.0, 0.1), np.eye(3) * 0.01)
    q = robot.random(seed=5)
    h = 1e-6
    run = simulate(robot, q, duration=h, step=h, method="semi_implicit_euler", payload=load)
    a = robot.forward_dynamics(q, np.zeros(6), np.zeros(6), payload=load)
    np.testing.assert_allclose(run.v[1] / h, a, rtol=1e-8)
    longer = simulate(robot, q, duration=0.3, step=1e-3, payload=load)
    np.testing.assert_allclose(longer["energy.balance"], 0, atol=1e-7)


@pytest.mark.parametrize(
    "options", [{"step": 1e-3}, {"method": "dop853"}, {"method": "lsoda"}], ids=str
)
def test_an_event_finds_when_a_ball_hits_the_ground(options):
    ground = Event("ground", lambda t, q, v: q[0], terminal=True, direction=-1)
    top = Event("top", lambda t, q, v: v[0])
    run = simulate(BALL, [1.0], [2.0], duration=3, events=[ground, top], **options)
    hit = (2.0 + np.sqrt(4.0 + 2 * G)) / G
    assert [e.name for e in run.events] == ["top", "ground"]
    assert run.events[0].time == pytest.approx(2.0 / G, abs=1e-8)
    assert run.events[1].time == pytest.approx(hit, abs=1e-8)
    assert run.events[1].v[0] == pytest.approx(-np.sqrt(4 + 2 * G), abs=1e-7)
    assert run.end == pytest.approx(hit, abs=1e-8)
    assert run.success
    assert run.reason == 'event "ground"'
    assert np.isnan(run.q[run.time > hit]).all()
    assert np.isfinite(run.q[run.time < hit]).all()


def test_events_of_a_batch_end_each_sample_alone():
    heights = np.array([[1.0], [2.0], [4.0], [100.0]])
    ground = Event("ground", lambda t, q, v: q[0], terminal=True)
    run = simulate(BALL, heights, duration=2, step=1e-2, sample=0.1, events=[ground])
    np.testing.assert_allclose(run.end[:3], np.sqrt(2 * heights[:3, 0] / G), atol=1e-9)
    assert run.end[3] == 2.0
    assert [e.sample for e in run.events] == [(0,), (1,), (2,)]
    assert run.reason.tolist() == ['event "ground"'] * 3 + [""]
    assert run.time.shape == (21,)


def test_directions_of_events():
    swing = System.planar_chain("R", 1.0, 1.0)
    kinds = {d: Event(f"d{d}", lambda t, q, v: q[0] + np.pi / 2, direction=d) for d in (-1, 0, 1)}
    run = simulate(swing, [-np.pi / 2 + 0.3], duration=5, step=1e-3, events=list(kinds.values()))
    count = {d: sum(e.name == f"d{d}" for e in run.events) for d in kinds}
    assert count[0] == count[1] + count[-1]
    assert abs(count[1] - count[-1]) <= 1
    assert count[0] >= 4


def test_an_event_that_cannot_be_traced_runs_in_python():
    run = simulate(
        BALL,
        [1.0],
        duration=1,
        step=1e-2,
        events=[Event("e", lambda t, q, v: 1.0 if q[0] > 0.3 else -1.0)],
    )
    assert run.where == "Python"
    assert run.events[0].time == pytest.approx(np.sqrt(2 * 0.7 / G), abs=1e-2)


def test_a_hard_stop_returns_its_part_of_the_speed():
    run = simulate(
        BALL, [1.0], duration=1.6, step=1e-4, stops=[EndStop("y", lower=0.0, restitution=0.5)]
    )
    after = run.time > np.sqrt(2 / G)
    assert run.q[after].max() == pytest.approx(0.25, abs=2e-3)  # height e^2
    assert run.q.min() >= -1e-12
    np.testing.assert_allclose(run["energy.balance"], 0, atol=1e-9)
    assert run["energy.stops"][-1] < -5
    resting = simulate(
        BALL, [0.01], duration=3, step=1e-3, stops=[EndStop("y", lower=0.0, restitution=0.0)]
    )
    assert resting.q[-1, 0] == pytest.approx(0.0, abs=1e-12)


def test_stops_are_the_same_in_python():
    stops = [
        EndStop("y", lower=0.0, restitution=0.5),
        EndStop("y", upper=1.05, stiffness=1e4, damping=3.0),
    ]

    def opaque(t, q, v):
        return [0.5 if float(t) < 0.1 else 0.0]

    traced = lambda t, q, v: [casadi.if_else(t < 0.1, 0.5, 0.0)]
    options = dict(duration=0.6, step=1e-3, sample=0.01, stops=stops)
    python = simulate(BALL, [1.0], [2.0], control=opaque, **options)
    machine = simulate(BALL, [1.0], [2.0], control=traced, **options)
    assert (python.where, machine.where) == ("Python", "machine code")
    np.testing.assert_allclose(python.q, machine.q, atol=1e-12)
    np.testing.assert_allclose(python["energy.stops"], machine["energy.stops"], atol=1e-11)
    assert machine["energy.stops"][-1] < -0.5


def test_an_impact_goes_through_the_whole_mechanism():
    """Momentum conjugate to the coordinates that do not hit is kept:
    M (v+ - v-) has an entry at the stop alone."""
    system = DOUBLE_PENDULUM
    h = 1e-4
    run = simulate(
        system,
        [0.2, 0.1],
        [0.5, 2.0],
        duration=0.2,
        step=h,
        stops=[EndStop("joint2", upper=0.3, restitution=0.8)],
    )
    k = int(np.argmax(run.v[1:, 1] < 0.0)) + 1
    M = system.mass_matrix(run.q[k])
    jump = M @ (run.v[k] - run.v[k - 1])
    assert abs(jump[0]) < 20 * h * 10  # what gravity does in one step
    assert jump[1] < -0.5


def test_a_soft_stop_stores_and_returns_energy():
    stops = [EndStop("y", lower=0.0, stiffness=1e4)]
    run = simulate(BALL, [1.0], duration=1.2, step=1e-4, stops=stops)
    peak = run.q[run.time > 0.6].max()
    assert peak == pytest.approx(1.0, abs=1e-3)
    assert run.q.min() == pytest.approx(-np.sqrt(2 * G / 1e4), rel=0.05)
    lossy = simulate(
        BALL,
        [1.0],
        duration=1.2,
        method="lsoda",
        stops=[EndStop("y", lower=0.0, stiffness=1e4, damping=20.0)],
    )
    assert lossy.q[lossy.time > 0.6].max() < 0.9
    np.testing.assert_allclose(run["energy.balance"], 0, atol=1e-4)
    both = simulate(
        MASS, [0.0], [3.0], duration=5, step=1e-3, stops=[EndStop("x", -1.0, 1.0, stiffness=1e5)]
    )
    assert np.abs(both.q).max() < 1.05
    assert both.q.min() < -0.9


def test_the_account_of_energies():
    """total - total(0) = control + external + stops - dissipated, each by its own meaning."""
    run = simulate(
        CART,
        [0.0, 1.0],
        duration=2,
        step=1e-3,
        control=lambda t, q, v: [3.0, 0.0],
        forces={"bob": [0.0, 1.0, 0.0]},
    )
    assert run["energy.control"][-1] == pytest.approx(3.0 * run.q[-1, 0], abs=1e-9)
    height = lambda q: -0.8 * np.cos(q[..., 1])
    assert run["energy.external"][-1] == pytest.approx(
        height(run.q[-1]) - height(run.q[0]), abs=1e-9
    )
    assert (np.diff(run["energy.dissipated"]) >= 0).all()
    kinetic, potential = CART.energy(run.q, run.v)
    np.testing.assert_allclose(run["energy.kinetic"], kinetic)
    np.testing.assert_allclose(run["energy.potential"], potential)
    np.testing.assert_allclose(run["energy.balance"], 0, atol=1e-8)


def test_results_are_named_columns(tmp_path):
    run = simulate(CART, [0.0, 1.0], duration=0.1, step=1e-2)
    assert list(run)[:5] == ["time", "q.x", "q.theta", "v.x", "v.theta"]
    assert (run["q.theta"] == run.q[:, 1]).all()
    assert len(run["time"]) == 11
    q, v = run.at(0.05)
    assert (q == run.q[5]).all() and (v == run.v[5]).all()
    table = np.genfromtxt(run.to_csv(tmp_path / "run.csv"), delimiter=",", names=True)
    np.testing.assert_array_equal(table["qtheta"], run["q.theta"])
    assert "0 to 0.1 s, 11 rows, rk4" in repr(run)
    assert "2 to 2.1 s" in repr(simulate(CART, [0.0, 1.0], duration=0.1, step=1e-2, start=2.0))
