"""Singular states: loops that lose rank, members without length, springs that hang loose:
each has its answer."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, SimulationStopped
from linkwork.model import Joint, Model, validated
from linkwork.model.elements import Damper, Point, Spring
from tests.loops.machines import four_bar, hinge_with_strut, link

FLAT = np.zeros(3)
STILL = np.zeros(1)
UPRIGHT = (
    ("reference", (("crank_joint", (0.9,)), ("coupler_joint", (-0.9,)), ("rocker_joint", (0.9,)))),
)


@pytest.fixture(scope="module")
def parallelogram() -> lw.Robot:
    """Flat, it may go on as a parallelogram or as a contra-parallelogram."""
    return lw.Robot(replace(four_bar(1.0, 0.5, 1.0, 0.5), configurations=UPRIGHT))


def pendulum(*elements) -> lw.Robot:
    joints = (Joint("root", "fixed", None, "base"), Joint("joint", "revolute", "base", "arm"))
    bodies = (link("base", 0.5), link("arm", 0.5))
    return lw.Robot(
        validated(Model("m", bodies, joints, elements=elements, gravity=(0.0, -9.81, 0.0)))
    )


def between(make, *numbers, **more):
    """An element whose ends meet at q = 0."""
    return make(
        "s", Point("base", (0.5, 0.0, 0.0)), Point("arm", (0.5, 0.0, 0.0)), *numbers, **more
    )


# loops


def test_a_singular_assembly_has_positions_but_neither_rates_nor_loads_nor_accelerations(
    parallelogram,
):
    q = parallelogram.from_actuators([0.0])[0]
    assert np.abs(q).max() < 1e-8  # a double root: Newton keeps half of the digits
    sentence = (
        r'the loops of robot "four_bar" are singular in q = \[0, .*\], where rates do not exist'
    )
    with pytest.raises(InvalidInput, match=sentence):
        parallelogram.from_actuators([0.0], [1.0])
    with pytest.raises(InvalidInput, match=r"where rates do not exist \(sample \(1,\)\)"):
        parallelogram.from_actuators([[0.4], [0.0]], [1.0])
    rank = (
        r'the loops "pin" are singular in q = \[0, 0, 0\]: 2 motions keep them closed there, 1 '
        r"elsewhere"
    )
    with pytest.raises(InvalidInput, match="loads: " + rank):
        parallelogram.loads(FLAT, FLAT, FLAT)
    with pytest.raises(InvalidInput, match=rank + r" \(sample \(2,\)\)"):
        parallelogram.loads([[0.9, -0.9, 0.9], [0.5, -0.5, 0.5], FLAT], FLAT, FLAT)
    with pytest.raises(InvalidInput, match="loop_dynamics: " + rank):
        parallelogram.loop_dynamics(FLAT, FLAT, [0.0])
    with pytest.raises(SimulationStopped, match=r"stopped at t = 0 s .* are singular"):
        lw.simulate(parallelogram, FLAT, FLAT, duration=0.1)


def test_near_a_singular_assembly_loads_are_those_of_the_limit(parallelogram):
    """All three bars lie across the weight: g (l/2 + l + l/2) cos(angle) about the crank."""
    for angle in (1e-3, 1e-5):
        torque = parallelogram.loads([angle, -angle, angle], FLAT, FLAT).actuator("crank_joint")
        # shared reactions: squared condition
        assert torque == pytest.approx(9.81 * np.cos(angle), rel=1e-14 / angle**2)


# members without length


def test_a_strut_of_no_length_has_a_position_and_nothing_else():
    robot = lw.Robot(hinge_with_strut((0.2, 0.0, 0.0), (0.2, 0.0, 0.0)))
    assert robot.from_actuators([0.0])[0] == 0.0
    for call in (
        robot.to_actuators,
        robot.members,
        lambda q: robot.loads(q, STILL, STILL),
        lambda q: robot.loop_dynamics(q, STILL, STILL),
    ):
        with pytest.raises(
            InvalidInput, match=r'actuator "strut" has no length and so no direction in q = \[0\]'
        ):
            call(STILL)
    with pytest.raises(
        InvalidInput,
        match=r'actuator "strut": length 0 m is a dead point, where rates do not exist',
    ):
        robot.from_actuators([0.0], [1.0])


@pytest.mark.parametrize(
    "element",
    [
        between(Spring, 50.0, 0.0, 3.0),
        between(Spring, 50.0, 0.3, kind="both"),
        between(Damper, 2.0),
    ],
    ids=["pretension", "both ways", "damper"],
)
def test_a_spring_of_no_length_that_needs_a_direction_is_refused(element):
    robot = pendulum(element)
    for call in (
        lambda q: robot.loads(q, STILL, STILL),
        lambda q: robot.loop_dynamics(q, STILL, STILL),
    ):
        with pytest.raises(
            InvalidInput, match=r'"s" has no length and so no direction in q = \[0\]'
        ):
            call(STILL)


@pytest.mark.parametrize(
    "spring",
    [between(Spring, 50.0), between(Spring, 50.0, 0.3, 15.0, kind="both")],
    ids=["free length zero", "pretension k L0"],
)
def test_a_zero_free_length_spring_passes_through_no_length(spring):
    """Its force is k times the vector between its ends: nothing happens where they meet."""
    robot = pendulum(spring)
    loads = robot.loads(STILL, STILL, STILL)
    assert loads.actuator("joint") == pytest.approx(9.81 * 0.25, abs=1e-14)
    assert loads.spring_length("s") == 0.0
    inertia = 1.0 * 0.5**2 / 12 + 1e-4 + 0.25**2
    assert robot.loop_dynamics(STILL, STILL, STILL) == pytest.approx(
        -9.81 * 0.25 / inertia, rel=1e-14
    )
    run = lw.simulate(robot, [0.0], [0.0], duration=2.0, tolerance=1e-10)
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert np.ptp(energy) < 1e-8 and np.ptp(run.q) > 0.1


# springs shorter than their free length


def test_a_loose_spring_does_nothing_and_the_analysis_says_so(caplog):
    robot = pendulum(between(Spring, 50.0, 0.3))
    assert robot.loads([0.1], STILL, STILL).spring("s") == 0.0
    expected = 9.81 * 0.25 * np.cos(0.1)
    assert robot.loads([0.1], STILL, STILL).actuator("joint") == pytest.approx(expected, rel=1e-14)
    motion = {"time": [0.0, 1.0], "q": [[0.1], [2.0]], "v": [STILL] * 2, "a": [STILL] * 2}
    with caplog.at_level(logging.WARNING):
        analysis = robot.analyse(motion)
    assert analysis["spring.s"][0] == 0.0 and analysis["spring.s"][1] > 0.0
    assert (
        'spring "s" is shorter than its free length 0.3 m in 1 of 2 instants and hangs loose'
        in caplog.text
    )
