"""Open loops get no answer, by name and gap; random configurations of machines with loops close."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput
from linkwork.loops.assembly import has_closures

CLOSED = (
    "delta",
    "five-bar",
    "four-bar",
    "scotch-yoke",
    "slider-crank",
    "stephenson-iii",
    "watt-drone",
)
"""Built-in machines with closures or couplings; the first test looks whether one is missing."""
ANSWERS: dict[str, Callable[[lw.Robot, Any], Any]] = {
    "loads": lambda r, q: r.loads(q, np.zeros(r.nv), np.zeros(r.nv)),
    "to_actuators": lambda r, q: r.to_actuators(q),
    "analyse": lambda r, q: r.analyse({"time": [0.0], "q": np.atleast_2d(q)[:1]}),
    "loop_dynamics": lambda r, q: r.loop_dynamics(q, np.zeros(r.nv), np.zeros(len(r.actuators))),
}


def test_no_closed_machine_is_forgotten() -> None:
    closed = [name for name in lw.robots() if has_closures(lw.load(name).subject)]
    assert sorted(CLOSED) == sorted(closed)


@pytest.mark.parametrize("name", ["delta", "five-bar", "four-bar"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_an_open_loop_is_named_with_its_gap(name: str, answer: str) -> None:
    robot = lw.load(name)
    torn = robot.random(seed=3, assembled=False)
    with pytest.raises(
        InvalidInput,
        match=rf'closure ".+" of robot "{name}" is open by [\d.e-]+ (m|rad) in .+consistent',
    ):
        ANSWERS[answer](robot, torn)


@pytest.mark.parametrize("answer", ["loads", "to_actuators", "loop_dynamics"])
def test_the_open_sample_of_a_batch_is_named(answer: str) -> None:
    robot = lw.load("five-bar")
    q = robot.random(4, seed=1)
    ANSWERS[answer](robot, q)
    q[2, 0] += 0.01
    with pytest.raises(InvalidInput, match=r"is open by .*\(sample \(2,\)\)"):
        ANSWERS[answer](robot, q)


def test_what_is_closed_to_five_digits_is_answered() -> None:
    robot = lw.load("delta")
    q = robot.random(seed=0)
    for answer in ANSWERS.values():
        answer(robot, np.round(q, 5))


@pytest.mark.parametrize("name", CLOSED)
def test_random_configurations_close_within_the_limits(name: str) -> None:
    robot = lw.load(name)
    one, some = robot.random(seed=2), robot.random(5, seed=2)
    assert one.shape == (robot.nq,)
    assert some.shape == (5, robot.nq)
    assert (robot.random(5, seed=2) == some).all()
    assert np.abs(robot.assemble(some).q - some).max() < 1e-9, "they are assembled already"
    assert (some >= robot.limits.lower - 1e-8).all()
    assert (some <= robot.limits.upper + 1e-8).all()
    assert robot.random(0).shape == (0, robot.nq)


def test_machines_without_loops_are_drawn_as_before() -> None:
    robot = lw.load("ur5e")
    assert (robot.random(7, seed=1) == robot.random(7, seed=1, assembled=False)).all()
    with pytest.raises(InvalidInput, match="assembled is 'yes', expected True or False"):
        robot.random(assembled="yes")
