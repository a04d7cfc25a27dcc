"""A pin in a slot: the Scotch yoke and the slotted lever against their closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidModel
from linkwork.loops.mobility import mobility
from linkwork.model import validated
from linkwork.model.elements import LoopClosure, Point

LEVER = """
linkwork: 1
name: slotted-lever
units: {length: mm}
bodies:
  crank: {mass: 0.3, com: [20, 0, 0], inertia: [10, 60, 60], points: {pin: [40, 0, 5]}}
  lever: {mass: 0.8, com: [90, 0, 0], inertia: [40, 900, 900], points: {pivot: [0, 0, 0]}}
joints:
  crank: {type: revolute, child: crank, axis: z, placement: [100, 0, 0]}
  lever: {type: revolute, child: lever, axis: z}
elements:
  slot: {type: loop_closure, kind: pin_in_slot, first: lever.pivot, second: crank.pin, axis: z, direction: x}
"""


def test_a_scotch_yoke_is_a_sine_and_its_crank_torque_the_power_of_its_mass():
    robot = lw.load("scotch-yoke")
    assert (mobility(robot.subject).degrees, robot.actuators) == (1, ("crank",))
    r, m, w = 0.06, 1.5, 9.0
    angle = np.linspace(0.0, 6.2, 40)
    q, v, a = robot.from_actuators(angle[:, None], np.full((40, 1), w), np.full((40, 1), 3.0))
    acceleration = -r * (np.cos(angle) * w**2 + np.sin(angle) * 3.0)
    assert q[:, 1] == pytest.approx(r * np.cos(angle), abs=1e-14)
    assert v[:, 1] == pytest.approx(-r * np.sin(angle) * w, abs=1e-13)
    assert a[:, 1] == pytest.approx(acceleration, abs=1e-12)
    loads = robot.loads(q, v, a)
    own = (150e-6 + 0.4 * 0.03**2) * 3.0 + 0.4 * 9.81 * 0.03 * np.cos(angle)
    assert loads.actuator("crank") == pytest.approx(
        own - m * acceleration * r * np.sin(angle), abs=1e-12
    )
    assert np.abs(loads.residual).max() < 1e-12
    again = robot.loop_dynamics(q, v, loads.efforts)
    assert np.abs(again - a).max() < 1e-9


def test_the_wall_pushes_across_the_slot_alone():
    """The slot's whole reaction is the yoke's inertia along x;
    along the slot the pin slides freely."""
    robot = lw.load("scotch-yoke")
    q, v, a = robot.from_actuators([0.7], [9.0], [0.0])
    wrench = np.asarray(robot.loads(q, v, a).support("slot", axes="world"))
    assert wrench == pytest.approx([-1.5 * a[1], 0, 0, 0, 0, 0], abs=1e-13)


def test_a_slotted_lever_points_at_the_pin_though_planes_differ(tmp_path):
    """Quick return: the lever's angle is atan2 of the pin, which lies 5 mm above the lever's
    plane."""
    path = tmp_path / "lever.robot.yaml"
    path.write_text(LEVER)
    robot = lw.load(path)
    angle = np.linspace(0.0, 6.0, 30)
    q, v, _ = robot.from_actuators(angle[:, None], np.ones((30, 1)), np.zeros((30, 1)))
    x, y = 0.1 + 0.04 * np.cos(angle), 0.04 * np.sin(angle)
    at = list(robot.joints).index("lever")
    assert q[:, at] == pytest.approx(np.arctan2(y, x), abs=1e-12)
    assert v[:, at] == pytest.approx(0.04 * (0.04 + 0.1 * np.cos(angle)) / (x**2 + y**2), abs=1e-12)
    ends = robot.members(q)["slot"]
    assert ends.second[:, :2] == pytest.approx(np.stack([x, y], 1), abs=1e-12)
    assert ends.length == pytest.approx(np.full(30, 0.005), abs=1e-12)
    lw.save(robot, tmp_path / "again.robot.yaml")
    assert lw.load(tmp_path / "again.robot.yaml").model.elements == robot.model.elements


def test_a_slot_along_its_pin_is_refused(tmp_path):
    path = tmp_path / "lever.robot.yaml"
    path.write_text(LEVER.replace("direction: x", "direction: -z"))
    with pytest.raises(lw.errors.InvalidFile, match="are parallel, expected a slot across its pin"):
        lw.load(path)
    model = lw.load("scotch-yoke").model
    wrong = LoopClosure("c", "pin_in_slot", Point("yoke"), Point("crank"), axis=(1.0, 0.0, 0.0))
    with pytest.raises(InvalidModel, match=r'closure "c": axis .* and direction .* are parallel'):
        validated(replace(model, elements=(wrong,)))
