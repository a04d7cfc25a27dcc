"""Nothing runs for ever: work is stated before it starts, time can be limited,
and Ctrl-C is heard within a second."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import linkwork as lw
from linkwork import deadlines
from linkwork.errors import InvalidInput, LinkworkError, NotPossible

HUGE = 10**15
POSES = {"positions": [0j, 1 + 1j, 2 + 1j, 3 + 2j], "angles": [0.0, 0.3, 0.5, 0.9]}


def task(**more):
    return lw.synthesis.PlanarTask(np.array(POSES["positions"]), np.array(POSES["angles"]), **more)


def balls():
    robot = lw.load("ur5e")
    return lw.collision.CollisionModel(
        robot, {body: [lw.collision.Sphere((0, 0, 0), 0.1)] for body in robot.bodies[:3]}
    )


def raised():
    """A pose of the tool, half a metre above where it is at rest."""
    pose = lw.load("ur5e").pose(np.zeros(6), "tool0")
    pose[2, 3] += 0.5
    return pose


def square_root():
    return lw.polynomials.System(lambda x, p: [x[0] * x[0] - p[0]], 1, 1, "square root")


def gradient(duration, **more):
    """Of a spring and a damper on a planar arm that rests."""
    robot = lw.load("rehabilitation-arm")
    rest = np.zeros(robot.nq)
    return lw.control.figure_gradient(
        robot,
        lambda kp: lw.simulation.PD(kp, 1.0, rest),
        {"kp": 1.0},
        rest,
        lw.simulation.Metrics(rest),
        duration=duration,
        friction=False,
        **more,
    )


STATED = {
    "christoffel_bounds": lambda n: lw.load("ur5e").christoffel_bounds("sampled", samples=n),
    "simulate, steps": lambda n: lw.simulate(lw.load("ur5e"), duration=float(n), step=1e-3),
    "simulate, rows": lambda n: lw.simulate(lw.load("ur5e"), duration=1.0, sample=1.0 / n),
    "pairs": lambda n: lw.collision.pairs(balls(), samples=n),
    "search": lambda n: lw.synthesis.search(task(tolerance=(0.1, 0.1, 0.1)), samples=n),
    "four_bars": lambda n: lw.synthesis.four_bars(task(), samples=n),
    "burmester": lambda n: lw.synthesis.burmester(task(), samples=n),
    "roadmap": lambda n: lw.planning.Roadmap.build(balls(), nodes=n),
    "neighbours": lambda n: lw.planning.Roadmap.build(balls(), nodes=20, neighbours=n),
    "cartesian": lambda n: lw.planning.cartesian(
        balls(), raised(), "tool0", np.zeros(6), spacing=1.0 / n
    ),
    "spin": lambda n: lw.control.spin(
        lw.control.PMSM(0.1, 4, 1.0, 1e-3, 1e-3, 1e-4), duration=float(n)
    ),
    "figure_gradient": lambda n: gradient(float(n)),
    "fit_capsules": lambda n: lw.collision.fit_capsules(lw.collision.Box((1, 1, 1)), count=n),
    "line": lambda n: lw.trajectory.line(lw.load("ur5e"), "tool0", raised(), 1.0 / n),
    "restarts": lambda n: lw.load("ur5e").inverse_kinematics(raised(), "tool0", restarts=n),
    "sweeps": lambda n: lw.load("ur5e").inverse_kinematics(
        raised(), "tool0", method="recursive", sweeps=n
    ),
    "free_share": lambda n: lw.studies.free_share(balls(), samples=n),
    "shorten": lambda n: lw.planning.shorten(
        balls(), np.stack([np.zeros(6), np.full(6, 0.3)]), tries=n
    ),
    "monodromy": lambda n: square_root().monodromy([1.0], [1.0], 0, idle=n),
    "function_generator": lambda n: lw.synthesis.function_generator(
        [0, 0.2, 0.5], [0, 0.3, 0.4], starts=n
    ),
}


@pytest.mark.parametrize("call", STATED)
def test_too_much_work_is_stated_before_it_starts(call):
    began = time.process_time()
    with pytest.raises(InvalidInput, match=r"\de\+1\d.*expected at most .*set \w+="):
        STATED[call](HUGE)
    # what a load costs on a busy machine; the work would take years
    assert time.process_time() - began < 5.0


def test_a_tolerance_that_no_double_holds_is_refused():
    with pytest.raises(InvalidInput, match="tolerance is 1e-300, expected at least 1e-14"):
        lw.simulate(lw.load("ur5e"), duration=1.0, method="dop853", tolerance=1e-300)


@pytest.mark.parametrize("duration, start", [(1e-300, 0.0), (1e-320, 0.0), (1e-16, 1.0)])
def test_a_duration_whose_instants_are_one_is_refused(duration, start):
    with pytest.raises(InvalidInput, match="too short to tell its instants apart"):
        lw.simulate(lw.load("ur5e"), duration=duration, start=start)


def test_rows_that_no_memory_holds_are_refused():
    robot, law = lw.load("ur5e"), lambda t, q, v: [float(x) for x in v]
    for options in (
        {},
        {"control": law, "duration": 9e5},
        {"method": "dop853", "step": None, "sample": 1e-2},
    ):
        with pytest.raises(
            InvalidInput, match=r"simulate: .* rows.* (need .* GB|at most 1e\+08).* set "
        ):
            lw.simulate(robot, **({"duration": 1e7, "step": 1e-3} | options))
    with pytest.raises(
        InvalidInput,
        match=r"1e\+10 steps, expected at most 1e\+09; a law .* runs in Python; set step=",
    ):
        lw.simulate(robot, duration=1e7, step=1e-3, control=law, record=False)


def test_a_law_in_python_keeps_the_rows_that_are_wanted():
    """It kept every step: a run of 1e7 steps filled 3 GB before its first one, deaf for Ctrl-C."""
    robot, rest = lw.load("rehabilitation-arm"), np.zeros(2)
    python = lambda t, q, v: [float(x) for x in -5.0 * np.asarray(v, dtype=float)]
    options = {"q": rest, "v": [0.5, -0.5], "duration": 0.5, "step": 1e-3, "control": python}
    whole = lw.simulate(robot, **options)
    for less in ({"sample": 0.1}, {"record": False}):
        few = lw.simulate(robot, **options, **less)
        every = 500 if "record" in less else 100
        np.testing.assert_array_equal(few.q, whole.q[::every])
        np.testing.assert_array_equal(few.tau, whole.tau[::every])
        np.testing.assert_array_equal(few.time, whole.time[::every])

    class Enough(Exception):
        pass

    def ends(t, q, v):
        if float(t) > 0.01:
            raise Enough
        return [0.0, 0.0]

    tracemalloc.start()
    try:
        with pytest.raises(Enough):
            lw.simulate(robot, duration=1e4, step=1e-3, control=ends, record=False)
        assert tracemalloc.get_traced_memory()[1] < 50e6  # bytes; 1e7 steps of 22 numbers are 1.8e9
    finally:
        tracemalloc.stop()


def test_a_limit_of_time_ends_loops_in_machine_code_and_in_python():
    robot = lw.load("ur5e")
    # step by step in Python
    law = lambda t, q, v: [float(x) for x in -1e-3 * np.asarray(v, dtype=float)]
    calls = [
        lambda s: lw.simulate(robot, duration=1e6, step=1e-3, record=False, time_limit=s),
        lambda s: lw.simulate(
            robot, duration=1e3, control=law, step=1e-3, record=False, time_limit=s
        ),
        lambda s: lw.simulate(robot, duration=1e5, friction=False, time_limit=s),
        lambda s: robot.christoffel_bounds("sampled", samples=10**9, time_limit=s),
        lambda s: robot.christoffel_bounds("certified", samples=10**9, time_limit=s),
        lambda s: lw.synthesis.search(task(tolerance=(0.1, 0.1, 0.1)), samples=10**9, time_limit=s),
        lambda s: robot.singularity(np.zeros((200_000, 6)), "tool0", time_limit=s),
        lambda s: gradient(1e7, time_limit=s),
        lambda s: lw.planning.Roadmap.build(balls(), nodes=20_000, time_limit=s),
    ]
    for call in calls:
        began = time.process_time()
        with pytest.raises(NotPossible, match=r"not done within time_limit = 0\.3 s"):
            call(0.3)
        # compiling comes before; the work would take hours
        assert time.process_time() - began < 60.0


def test_the_nearest_of_two_limits_holds_and_a_limit_ends_with_its_call():
    with deadlines.time_limit(100.0, "outer"), pytest.raises(NotPossible, match="inner: not done"):
        with deadlines.time_limit(1e-9, "inner"):
            deadlines.check()
    deadlines.check()
    with pytest.raises(NotPossible, match="outer: not done"), deadlines.time_limit(1e-9, "outer"):
        with deadlines.time_limit(100.0, "inner"):
            deadlines.check()
    lock = threading.Lock()
    lock.acquire()
    with (
        pytest.raises(NotPossible, match="waiting: not done"),
        deadlines.time_limit(0.01, "waiting"),
    ):
        deadlines.wait(lock)


def test_rounds_cover_all_rows_and_look_at_the_clock_before_each(monkeypatch):
    looks = []
    monkeypatch.setattr(deadlines, "check", lambda: looks.append(1))
    for count in (0, 1, 6, 7):
        looks.clear()
        slices = list(deadlines.rounds(count, 3))
        assert [k for some in slices for k in range(count)[some]] == list(range(count))
        assert len(looks) == len(slices) == max(1, -(-count // 3))


def test_large_batches_of_machines_with_loops_look_at_the_clock(monkeypatch):
    """random(3_000_000) of a four-bar heard Ctrl-C after 17 s."""
    from linkwork.loops import assembly

    robot = lw.load("four-bar")
    whole = robot.assemble(robot.random(50, seed=1, assembled=False))
    looks = []
    monkeypatch.setattr(assembly, "_ROUND", 8)
    monkeypatch.setattr(deadlines, "check", lambda: looks.append(1))
    parts = robot.assemble(robot.random(50, seed=1, assembled=False))
    assert len(looks) >= 7
    np.testing.assert_array_equal(parts.q, whole.q)
    np.testing.assert_array_equal(parts.reason, whole.reason)


def looks_of(monkeypatch, module, name, size):
    """A list that grows with every look at the clock, while rounds of a module are that small."""
    looks = []
    monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(deadlines, "check", lambda: looks.append(1))
    return looks


def test_maps_of_many_gains_look_at_the_clock(monkeypatch):
    """stability_map of 2e6 gain sets heard Ctrl-C after 2.7 s."""
    from linkwork.control import linear

    robot, rest = lw.load("rehabilitation-arm"), np.zeros(2)
    kp = np.linspace(1.0, 50.0, 20)[:, None]
    laws = [
        lw.simulation.PD(kp, 1.0, rest),
        lw.simulation.Sampled(lw.simulation.PD(kp, 1.0, rest), 1e-2),
    ]
    whole = [lw.control.stability_map(robot, law, rest) for law in laws]
    looks = looks_of(monkeypatch, linear, "ROUND", 3)
    for law, expected in zip(laws, whole, strict=True):
        looks.clear()
        np.testing.assert_allclose(lw.control.stability_map(robot, law, rest), expected, rtol=1e-12)
        assert len(looks) >= 7


def test_long_lines_look_at_the_clock(monkeypatch):
    """A line at 1e-7 m/s heard Ctrl-C after 6.6 s: all its Jacobians were inverted at once."""
    from linkwork.trajectory import line_rates

    robot = lw.load("ur5e")
    start = np.array([0.0, -1.2, 1.5, -1.0, -1.4, 0.2])
    poses = robot.pose(np.stack([start, start + 0.1]), "tool0")
    whole = lw.trajectory.line(robot, "tool0", poses, 0.2, q0=start)
    assert len(whole.time) > 400
    looks = looks_of(monkeypatch, line_rates, "ROUND", 100)
    parts = lw.trajectory.line(robot, "tool0", poses, 0.2, q0=start)
    assert len(looks) >= 2 * len(whole.time) // 100
    np.testing.assert_array_equal(parts.q, whole.q)
    np.testing.assert_allclose(parts.v, whole.v, atol=1e-9)
    np.testing.assert_allclose(parts.a, whole.a, atol=1e-5)
    np.testing.assert_array_equal(parts.singular, whole.singular)


def test_maps_of_linkages_look_at_the_clock(monkeypatch):
    """solution_map heard its limit of time at its end."""
    from linkwork.synthesis import solution_maps

    whole = lw.synthesis.solution_map(task(), samples=24)
    looks = looks_of(monkeypatch, solution_maps, "_ROUND", 50)
    parts = lw.synthesis.solution_map(task(), samples=24)
    assert len(looks) >= whole.valid.sum() // 50
    for name in ("valid", "kind", "circuit", "branch", "order", "transmission_min"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_postures_of_many_targets_look_at_the_clock(monkeypatch):
    """The closed form over all that a search had failed at looked at no clock."""
    from linkwork.inverse import closed_form

    robot = lw.load("ur5e")
    poses = robot.pose(robot.random(30, seed=5), "tool0")
    poses[::3, :3, 3] *= 1.5
    whole = robot.inverse_kinematics(poses, "tool0", method="analytic")
    looks = looks_of(monkeypatch, closed_form, "ROUND", 4)
    for start in (None, np.zeros((30, 6))):
        looks.clear()
        parts = robot.inverse_kinematics(poses, "tool0", start, method="analytic")
        assert len(looks) >= 8
        np.testing.assert_array_equal(parts.q, whole.q)
        np.testing.assert_array_equal(parts.reason, whole.reason)


def test_the_last_word_of_a_search_is_within_its_limit_of_time(monkeypatch):
    from linkwork.inverse import closed_form

    robot, now = lw.load("ur5e"), [0.0]
    far = lw.pose((9.0, 0.0, 0.0))
    settled = closed_form.settled

    def slowly(*args):
        now[0] += 100.0
        return settled(*args)

    monkeypatch.setattr(closed_form, "settled", slowly)
    monkeypatch.setattr(deadlines, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert not robot.inverse_kinematics(far, "tool0", restarts=0, time_limit=1e3).success
    with pytest.raises(NotPossible, match="inverse_kinematics: not done within time_limit = 50 s"):
        robot.inverse_kinematics(far, "tool0", restarts=0, time_limit=50.0)


CHAIN = [-6 - 4j, -4 + 3j, 1 + 1j]
FIVE = (np.array([0j, 1 + 1j, 2 + 1j, 3 + 2j, 3 + 1j]), np.array([0.0, 0.3, 0.5, 0.9, 1.2]))
LIMITED = {
    "inverse_kinematics": lambda s: lw.load("ur5e").inverse_kinematics(
        raised(), "tool0", time_limit=s
    ),
    "cartesian": lambda s: lw.planning.cartesian(
        balls(), raised(), "tool0", np.zeros(6), time_limit=s
    ),
    "free_share": lambda s: lw.studies.free_share(balls(), samples=20, time_limit=s),
    "square root: monodromy": lambda s: square_root().monodromy([1.0], [1.0], 0, time_limit=s),
    "optimise": lambda s: lw.planning.optimise(
        balls(), np.stack([np.zeros(6), np.full(6, 0.3)]), time_limit=s
    ),
    "fit_spheres": lambda s: lw.collision.fit_spheres(
        lw.collision.Box((1, 1, 1)), 0.2, time_limit=s
    ),
    "fit_capsules": lambda s: lw.collision.fit_capsules(lw.collision.Box((1, 1, 1)), time_limit=s),
    "excitation": lambda s: lw.studies.excitation(
        lw.load("rehabilitation-arm"), 2.0, 2, 20.0, velocity=1.0, acceleration=5.0, time_limit=s
    ),
    "solution_map": lambda s: lw.synthesis.solution_map(task(), samples=8, time_limit=s),
    "six_bars": lambda s: lw.synthesis.six_bars(
        lw.synthesis.PlanarTask(*FIVE), CHAIN, time_limit=s
    ),
    "balance": lambda s: lw.studies.balance(
        lw.load("charmie", live=["torso_spring"]),
        lw.load("charmie").motions["validation"].commands([0.0])[0],
        time_limit=s,
    ),
    "cell_layouts": lambda s: lw.studies.cell_layouts(
        balls(), raised()[None], "tool0", np.zeros(6), np.zeros((1, 3)), time_limit=s
    ),
}


@pytest.mark.parametrize("call", LIMITED)
def test_searches_take_a_limit_of_time(call):
    with pytest.raises(NotPossible, match=rf"{call}: not done within time_limit = 1e-06 s"):
        LIMITED[call](1e-6)


@pytest.mark.parametrize("seconds", [0.0, -1.0, np.nan, "soon", True])
def test_a_limit_is_a_number_of_seconds(seconds):
    if seconds is True:
        seconds = np.inf
    with pytest.raises(LinkworkError, match="time_limit"):
        lw.load("four-bar").christoffel_bounds(samples=10, time_limit=seconds)


INTERRUPTED = {
    "machine code": "lw.simulate(robot, duration=1e7, step=1e-3, record=False)",
    "adaptive": "lw.simulate(robot, duration=1e5, friction=False)",
    "bounds": "robot.christoffel_bounds('sampled', samples=10**9)",
}


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("call", INTERRUPTED)
def test_ctrl_c_is_heard(call):
    """The process says when it begins; a keyboard interrupt ends it (the time allowed is for a busy
    machine)."""
    # What is imported late is imported here: an interrupt that passes through exec() of a text, as
    # when a dataclass is made, makes CPython exit as if nobody had heard it, even where it was.
    warm = (
        "robot.christoffel(robot.neutral()); lw.simulate(robot, duration=0.1, step=1e-3); "
        "lw.simulate(robot, duration=0.1, friction=False); robot.christoffel_bounds('sampled', "
        "samples=1000)"
    )
    code = (
        "import linkwork as lw, time, sys\nrobot = lw.load('ur5e')\n"
        f"{warm}\nprint('begun', flush=True)\n"
        f"try:\n    {INTERRUPTED[call]}\nexcept KeyboardInterrupt:\n    "
        "print('heard', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "heard\n"
        assert child.wait(timeout=600) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
