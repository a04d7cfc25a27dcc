"""Nothing runs for ever: work is stated before it starts, time can be limited, and Ctrl-C is heard within a second."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

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
    "cartesian": lambda n: lw.planning.cartesian(balls(), raised(), "tool0", np.zeros(6), spacing=1.0 / n),
    "spin": lambda n: lw.control.spin(lw.control.PMSM(0.1, 4, 1.0, 1e-3, 1e-3, 1e-4), duration=float(n)),
    "figure_gradient": lambda n: gradient(float(n)),
    "fit_capsules": lambda n: lw.collision.fit_capsules(lw.collision.Box((1, 1, 1)), count=n),
    "function_generator": lambda n: lw.synthesis.function_generator([0, 0.2, 0.5], [0, 0.3, 0.4], starts=n),
}


@pytest.mark.parametrize("call", STATED)
def test_too_much_work_is_stated_before_it_starts(call):
    began = time.process_time()
    with pytest.raises(InvalidInput, match=r"\de\+1\d.*expected at most .*set \w+="):
        STATED[call](HUGE)
    assert time.process_time() - began < 5.0  # what a load costs on a busy machine; the work would take years


def test_a_tolerance_that_no_double_holds_is_refused():
    with pytest.raises(InvalidInput, match="tolerance is 1e-300, expected at least 1e-14"):
        lw.simulate(lw.load("ur5e"), duration=1.0, method="dop853", tolerance=1e-300)


@pytest.mark.parametrize("duration, start", [(1e-300, 0.0), (1e-320, 0.0), (1e-16, 1.0)])
def test_a_duration_whose_instants_are_one_is_refused(duration, start):
    with pytest.raises(InvalidInput, match="too short to tell its instants apart"):
        lw.simulate(lw.load("ur5e"), duration=duration, start=start)


def test_rows_that_no_memory_holds_are_refused():
    robot, law = lw.load("ur5e"), lambda t, q, v: [float(x) for x in v]
    for options in ({}, {"control": law, "record": False}, {"method": "dop853", "step": None, "sample": 1e-2}):
        with pytest.raises(InvalidInput, match=r"simulate: .* rows.* (need .* GB|at most 1e\+08).* set "):
            lw.simulate(robot, duration=1e7, **({"step": 1e-3} | options))


def test_a_limit_of_time_ends_loops_in_machine_code_and_in_python():
    robot = lw.load("ur5e")
    law = lambda t, q, v: [float(x) for x in -np.asarray(v, dtype=float)]  # step by step in Python
    calls = [
        lambda s: lw.simulate(robot, duration=1e6, step=1e-3, record=False, time_limit=s),
        lambda s: lw.simulate(robot, duration=1e3, control=law, step=1e-3, record=False, time_limit=s),
        lambda s: lw.simulate(robot, duration=1e5, friction=False, time_limit=s),
        lambda s: robot.christoffel_bounds("sampled", samples=10**9, time_limit=s),
        lambda s: robot.christoffel_bounds("certified", samples=10**9, time_limit=s),
        lambda s: lw.synthesis.search(task(tolerance=(0.1, 0.1, 0.1)), samples=10**9, time_limit=s),
        lambda s: robot.singularity(np.zeros((200_000, 6)), "tool0", time_limit=s),
        lambda s: gradient(1e7, time_limit=s),
        lambda s: lw.planning.Roadmap.build(balls(), nodes=20_000, time_limit=s),
    ]
    for call in calls:
        began = time.monotonic()
        with pytest.raises(NotPossible, match=r"not done within time_limit = 0\.3 s"):
            call(0.3)
        assert time.monotonic() - began < 60.0  # compiling comes before; the work would take hours


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
    with pytest.raises(NotPossible, match="waiting: not done"), deadlines.time_limit(0.01, "waiting"):
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


CHAIN = [-6 - 4j, -4 + 3j, 1 + 1j]
FIVE = (np.array([0j, 1 + 1j, 2 + 1j, 3 + 2j, 3 + 1j]), np.array([0.0, 0.3, 0.5, 0.9, 1.2]))
LIMITED = {
    "optimise": lambda s: lw.planning.optimise(balls(), np.stack([np.zeros(6), np.full(6, 0.3)]), time_limit=s),
    "fit_spheres": lambda s: lw.collision.fit_spheres(lw.collision.Box((1, 1, 1)), 0.2, time_limit=s),
    "fit_capsules": lambda s: lw.collision.fit_capsules(lw.collision.Box((1, 1, 1)), time_limit=s),
    "excitation": lambda s: lw.studies.excitation(
        lw.load("rehabilitation-arm"), 2.0, 2, 20.0, velocity=1.0, acceleration=5.0, time_limit=s
    ),
    "solution_map": lambda s: lw.synthesis.solution_map(task(), samples=8, time_limit=s),
    "six_bars": lambda s: lw.synthesis.six_bars(lw.synthesis.PlanarTask(*FIVE), CHAIN, time_limit=s),
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
    """The process says when it begins; a keyboard interrupt ends it (the time allowed is for a busy machine)."""
    # What is imported late is imported here: an interrupt that passes through exec() of a text, as when a dataclass is
    # made, makes CPython exit as if nobody had heard it, even where it was.
    warm = (
        "robot.christoffel(robot.neutral()); lw.simulate(robot, duration=0.1, step=1e-3); "
        "lw.simulate(robot, duration=0.1, friction=False); robot.christoffel_bounds('sampled', samples=1000)"
    )
    code = (
        "import linkwork as lw, time, sys\nrobot = lw.load('ur5e')\n"
        f"{warm}\nprint('begun', flush=True)\n"
        f"try:\n    {INTERRUPTED[call]}\nexcept KeyboardInterrupt:\n    print('heard', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "heard\n"
        assert child.wait(timeout=60) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
