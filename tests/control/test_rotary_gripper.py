"""The rotary gripper: virtual work, ripple properties, sequence, lookup tables."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork import errors
from linkwork.control import GripForce, GripSequence, RotaryGripper, gripper_table, safe_force
from linkwork.reproduce.paper_09 import ANGLE


@functools.cache
def robot() -> lw.Robot:
    return lw.load("rotary-gripper")


@functools.cache
def gripper() -> RotaryGripper:
    return RotaryGripper.from_robot(robot())


def test_train_robot_and_formulas_are_one_mechanism() -> None:
    assert RotaryGripper.from_robot("rotary-gripper") == gripper()
    for w1, w2 in np.random.default_rng(0).normal(size=(5, 2)):
        body, finger = gripper().rates(w1, w2)
        speeds = gripper().train.speeds({"motor1": w1, "motor2": w2})
        assert speeds["body"] == pytest.approx(float(body))
        assert speeds["finger"] == pytest.approx(float(finger))
        q = robot().from_actuators([w1, w2])[0]
        np.testing.assert_allclose(q, [body, finger], rtol=1e-12)


def test_virtual_work_of_force_and_holding_torque() -> None:
    K_t, force = gripper().torque_constant, 8.2
    for w1, w2 in np.random.default_rng(1).normal(size=(5, 2)):
        power = K_t * gripper().current(force) * w1 + K_t * gripper().holding_current(force) * w2
        assert power == pytest.approx(float(force * gripper().tip_speed(w1, w2)), abs=1e-12)


def test_without_friction_the_deviation_is_linear_and_mirrored() -> None:
    """Independent of the force, proportional to the acceleration, mirrored with the turn (digest 09, section 5)."""
    runs = gripper().simulate([3.0, 4.0, 5.7], ANGLE, velocity=5.6, feed_forward=False)
    deviation = runs["force"] - runs.force[:, None]
    np.testing.assert_allclose(deviation[1:], deviation[:1] + 0 * deviation[1:], atol=2e-10)
    back = gripper().simulate(4.0, -ANGLE, velocity=5.6, feed_forward=False)
    np.testing.assert_allclose(back["force"] - 4.0, -deviation[1], atol=2e-10)
    assert runs.sag[1] / 73.3 == pytest.approx(0.0034959, rel=1e-3)
    slow = gripper().simulate(4.0, ANGLE, velocity=5.6, acceleration=73.3 / 2, feed_forward=False)
    assert slow.sag == pytest.approx(runs.sag[1] / 2, rel=0.02)


def test_the_best_feed_forward_and_the_best_differentiator() -> None:
    sags = gripper().simulate(4.0, ANGLE, velocity=5.6, feed_forward=np.array([0.6, 0.9, 1.0, 1.4])).sag
    np.testing.assert_allclose(sags, [0.105, 0.0503, 0.0577, 0.152], rtol=0.01)
    times = (0.3e-3, 3.3e-3, 7e-3, 10e-3)
    ripple = [float(gripper().simulate(4.0, ANGLE, velocity=5.6, differentiator=T).sag) for T in times]
    np.testing.assert_allclose(ripple, [0.119, 0.058, 0.0128, 0.040], rtol=0.03)
    assert gripper().best_differentiator == pytest.approx(7.0e-3, abs=0.1e-3)


def test_sampled_and_continuous_loops_agree() -> None:
    runs = [gripper().simulate(4.0, ANGLE, velocity=5.6, sampled=s).sag / 4.0 * 100 for s in (True, False)]
    assert abs(runs[0] - runs[1]) < 0.1  # percentage points


def test_turns_by_whole_rounds_change_nothing_but_the_angle() -> None:
    twice = gripper().simulate(4.0, [2 * np.pi, 4 * np.pi], velocity=5.6)
    np.testing.assert_allclose(twice.sag[0], twice.sag[1], rtol=1e-4)  # rows fall elsewhere on the ripple
    np.testing.assert_allclose(twice.end, gripper().twist(4.0), atol=1e-6)


def test_power_from_nowhere_is_told() -> None:
    assert gripper().drives.creates_power
    assert not gripper().drives.consistent().creates_power
    honest = replace(gripper(), drives=gripper().drives.consistent())
    ours, theirs = (g.simulate(4.0, ANGLE, velocity=5.6).sag for g in (honest, gripper()))
    assert abs(ours - theirs) < 0.02  # the current loop rejects the back-EMF


def test_lookup_tables_are_monotone_and_inverted() -> None:
    table = GripForce([0.0, 0.2, 0.5, 1.0], [0.0, 2.0, 7.5, 13.0])
    forces = np.linspace(0.1, 12.9, 30)
    np.testing.assert_allclose(table.force(table.current(forces)), forces, atol=1e-9)
    assert GripForce([0.0, 1.0], [0.0, 10.0], friction=0.05).current(5.0) == pytest.approx(0.55)
    longer = replace(gripper(), finger_length=2 * gripper().finger_length)
    assert longer.force(1.0) == pytest.approx(float(gripper().force(1.0)) / 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gripper().current(48.1), "48.1 N needs 3.507 A, limit 3.5 A"),
        (lambda: gripper().simulate(60.0, 0.5), "needs"),
        (lambda: gripper().simulate(4.0, 0.5, start=0.0), "no turn while closing"),
        (lambda: gripper().simulate(4.0, 0.5, sample=1.5e-5), "no whole number"),
        (lambda: gripper().simulate(-4.0, 0.5), "force is -4"),
        (lambda: replace(gripper(), cone=0.0), "cone is 0"),
        (lambda: GripForce([0.0, 1.0, 2.0], [0.0, 3.0, 2.5]), "not monotone"),
        (lambda: GripForce([0.0, 1.0], [0.0, 3.0]).current(9.0), "outside the table"),
        (lambda: safe_force(1.0, 1.27), "no safe force"),
        (lambda: RotaryGripper.from_robot("charmee"), "expected a Robot"),
        (lambda: RotaryGripper.from_robot(lw.load("arm-2")), "has no variables"),
    ],
)
def test_refusals_name_the_number(call, words: str) -> None:
    with pytest.raises(errors.InvalidInput, match=words):
        call()


def test_a_cycle_has_its_time_and_an_order_that_holds_the_object() -> None:
    """92 ms to close and to open, 130 ms to lift and turn: 314 ms (section 4 of the paper)."""
    told = GripSequence(gripper(), stroke=0.092).grip(8.2)
    assert told.turn(np.deg2rad(45.0), lasting=0.13).open().end == pytest.approx(0.314, abs=1e-15)
    turning = told.turn(np.deg2rad(40.0))
    assert turning.end - told.end == pytest.approx(0.198819, abs=1e-6)
    for wrong, words in (
        (lambda: told.turn(0.5, at=0.05), r"turn by 28.65 deg at 0.05 s: grip at 8.2 N from 0 s lasts until 0.092 s"),
        (lambda: turning.grip(5.0, at=0.2), r"grip at 5 N at 0.2 s: turn by 40 deg from 0.092 s lasts until 0.2908"),
        (lambda: turning.open(at=0.2), r"open at 0.2 s: turn by 40 deg"),
        (lambda: told.grip(60.0), "60 N"),
    ):
        with pytest.raises(errors.LinkworkError, match=words):
            wrong()
    assert turning.grip(5.0).end == turning.end  # holding already: a new force takes no stroke


def test_the_compared_grippers_are_data() -> None:
    rows = gripper_table()
    speeds = {row["name"]: row["finger_speed_mm_s"] for row in rows}
    assert len(rows) == 10 and speeds["Romanov v2"] is None
    assert speeds["Romanov v1"] / speeds["Schunk EGS 25"] == pytest.approx(11.67, abs=0.01)  # 56 as printed
