"""Largest accelerations of joints: read and written by every format that can hold them,
and kept by motions."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import LinkworkError

YAML = """
linkwork: 1
name: arm
units: {angle: deg}
bodies:
  upper: {mass: 2, com: [0, 0, 0.2], inertia: [0.1, 0.1, 0.1]}
  lower: {mass: 1, com: [0, 0, 0.1], inertia: [0.1, 0.1, 0.1]}
joints:
  shoulder: {type: revolute, child: upper, axis: y,
    limits: {lower: -90, upper: 90, velocity: 180, effort: 300, acceleration: 360}}
  slide: {type: prismatic, parent: upper, child: lower, axis: z,
    limits: {lower: -1, upper: 1, velocity: 2, effort: 500, acceleration: 1.5}}
"""
URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0"
iyy="1" iyz="0" izz="1"/></inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
<limit effort="9" velocity="5" {}/></joint></robot>"""


@pytest.mark.parametrize("ending", [".robot.yaml", ".urdf", ".xml"])
def test_accelerations_survive_every_format(ending, tmp_path):
    robot = lw.load(text=YAML)
    np.testing.assert_allclose(robot.limits.acceleration, [2.0 * np.pi, 1.5], rtol=1e-15)
    lw.save(robot, tmp_path / f"arm{ending}")
    again = lw.load(tmp_path / f"arm{ending}")
    for label in ("lower", "upper", "velocity", "effort", "acceleration"):
        np.testing.assert_allclose(
            getattr(again.limits, label), getattr(robot.limits, label), rtol=1e-15
        )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('acceleration="3"', 3.0),
        ('acceleration="3" deceleration="2"', 2.0),  # within the smaller of both is within each
        ('acceleration="-1"', np.inf),
        ('acceleration="0"', np.inf),  # what exporters write for none: nothing could move
        ("", np.inf),
    ],
)
def test_urdf_has_accelerations_since_1_2(words, expected):
    assert lw.load(text=URDF.format(words)).limits.acceleration.tolist() == [expected]


def test_dh_rows_carry_accelerations():
    limits = {"lower": -1.0, "upper": 1.0, "acceleration": 4.0}
    robot = lw.Robot.from_dh([{"a": 0.3, "limits": limits}], check="any")
    assert robot.limits.acceleration.tolist() == [4.0]
    assert robot.to_dh()[0]["limits"]["acceleration"] == 4.0


def test_the_fastest_motion_keeps_the_accelerations_of_the_description():
    robot = lw.load(text=YAML)
    path = lw.trajectory.Path.line([-1.0, -0.5], [1.0, 0.5])
    law = lw.trajectory.minimum_time(robot, path)
    a = law.at(np.linspace(0.0, law.duration, 4001)[1:-1])[2]
    shares = np.abs(a).max(axis=0) / robot.limits.acceleration
    assert 0.999 < shares.max() < 1.0 + 1e-4  # the slide's is the limit that decides
    free = lw.trajectory.minimum_time(robot, path, acceleration_limits=np.inf)
    assert free.duration < 0.9 * law.duration


@pytest.mark.parametrize("number", ["0", "-3", ".nan"])
def test_an_acceleration_is_positive(number):
    with pytest.raises(LinkworkError, match=r"acceleration|finite|number"):
        lw.load(text=YAML.replace("acceleration: 1.5", f"acceleration: {number}"))
