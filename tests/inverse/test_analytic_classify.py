"""A family is told from the axes: other names, bases, tools,
zeros and senses of joints change nothing."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import UnknownName
from linkwork.inverse.analytic.classify import families
from tests.inverse.arms import TABLES, arm, disguised, nearest, tip
from tests.robots_list import robot as published

FAMILIES = {
    "kuka": "spherical_wrist",
    "puma": "spherical_wrist",
    "first two parallel": "spherical_wrist",
    "first two meet": "spherical_wrist",
    "last two meet": "spherical_wrist",
    "no relation": "spherical_wrist",
    "iiwa": "seven_axis",
    "bent elbow": "seven_axis",
    "jaco": "general_6r",
    "skew wrist": "offset_wrist",
    "planar 3R": "planar_3r",
    "planar 2R": "planar_2r",
    "leg": "positioning_3r",
    "skew leg": "positioning_3r",
}
BUILT_IN = {
    "ur5e": "ur",
    "ur10e": "ur",
    "ur5-villalobos": "ur",
    "tm5-700": "ur",
    "crx-10ial": "offset_wrist",
    "crx-3ia": "offset_wrist",
    "crx-30ia": "offset_wrist",
    "kuka-kr500": "spherical_wrist",
    "tx2-90": "spherical_wrist",
    "redundant-7": "seven_axis",
    "planar-4r": "none",
}
PUBLISHED = {
    ("ur/ur5_robot", "tool0"): "ur",
    ("panda/panda", "panda_link8"): "seven_axis_locked",
    ("xarm/xarm7", "link7"): "seven_axis_locked",
    ("talos_data/talos_full_v2", "leg_left_6_link"): "spherical_shoulder",
    ("kinova/kinova", "j2s6s200_link_6"): "spherical_wrist",
    ("g1/g1_29dof_rev_1_0", "left_ankle_roll_link"): "general_6r",
    ("solo/solo12", "FL_FOOT"): "positioning_3r",
    ("double_pendulum/double_pendulum_simple", "link2"): "planar_2r",
}


@pytest.mark.parametrize("name", FAMILIES)
def test_family_of_a_table(name):
    assert set(FAMILIES) == set(TABLES)
    found = lw.classify(arm(name), tip(arm(name)))
    assert (found.family, found.exact) == (FAMILIES[name], True)
    assert found.family not in found.others
    assert all(found.others.values())


@pytest.mark.parametrize("name", BUILT_IN)
def test_family_of_a_built_in_robot(name):
    robot = lw.load(name)
    found = lw.classify(robot, robot.frames[-1])
    assert (found.family, found.exact) == (BUILT_IN[name], True)


@pytest.mark.parametrize(("name", "frame"), PUBLISHED)
def test_family_of_a_published_robot(name, frame):
    assert lw.classify(published(name), frame).family == PUBLISHED[name, frame]


@pytest.mark.parametrize("name", [*FAMILIES, "ur5e", "crx-10ial"])
def test_disguises_do_not_matter(name):
    robot = arm(name) if name in FAMILIES else lw.load(name)
    plain = lw.classify(robot, tip(robot))
    for seed in range(3):
        other = disguised(robot, seed)
        found = lw.classify(other, "reach")
        assert (found.family, found.exact) == (plain.family, True), str(found)
        for key, value in plain.parameters.items():
            if key in ("a2", "a3", "d4", "d5") and plain.family in ("ur", "offset_wrist"):
                assert abs(found.parameters[key]) == pytest.approx(abs(value), abs=1e-12)


@pytest.mark.parametrize("name", ["kuka", "iiwa", "skew wrist", "planar 3R", "ur5e"])
def test_a_disguised_robot_is_solved(name):
    robot = disguised(arm(name) if name in FAMILIES else lw.load(name), 7)
    q = robot.random(200, seed=1)
    found = robot.inverse_kinematics_all(robot.pose(q, "reach"), "reach", q0=q)
    assert nearest(found, q).max() < 1e-8
    assert np.nanmax(found.residual) < 1e-10


def test_parameters_are_those_of_the_table():
    parameters = lw.classify(lw.load("crx-10ial"), "flange").parameters
    expected = dict(a2=0.710, d4=0.540, d5=0.150, alpha4=-np.pi / 2, alpha5=np.pi / 2)
    assert parameters == pytest.approx(expected, abs=1e-12)


def test_reasons_name_axes_and_numbers():
    others = lw.classify(arm("puma"), tip(arm("puma"))).others
    assert others["offset_wrist"] == "shoulder offset 150 mm, expected 0"
    assert others["ur"] == "axes 2 and 4 differ by 90 deg, expected parallel"
    assert (
        others["spherical_shoulder"] == "axes 2 and 3 are parallel, expected to meet in one point"
    )
    assert others["seven_axis"] == "6 axes, expected 7"
    text = str(lw.classify(arm("puma"), tip(arm("puma"))))
    assert "spherical_wrist; exact" in text
    assert "not offset_wrist: shoulder offset 150 mm, expected 0" in text


def test_a_slightly_tilted_robot_is_nominal():
    found = lw.classify(disguised(lw.load("ur5e"), 1, tilt=1e-3), "reach")
    assert (found.family, found.exact) == ("ur", False)
    assert 1e-4 < found.deviation < 5e-3
    assert "solutions polished" in str(found)


def test_no_family_is_an_answer_too():
    found = lw.classify(published("tiago/tiago"), "arm_7_link")
    assert found.family == "none"
    assert "prismatic" in found.title
    assert lw.classify(lw.load("ur5e"), lw.load("ur5e").bodies[0]).family == "none"


def test_unknown_frame():
    with pytest.raises(UnknownName, match="tool0"):
        lw.classify(lw.load("ur5e"), "tool_0")


def test_families_are_found_by_class_simpler_ones_first():
    order = (
        "planar_2r planar_3r ur offset_wrist spherical_wrist spherical_shoulder seven_axis "
        "seven_axis_locked"
    )
    assert [family.name for family in families()] == [*order.split(), "general_6r"]
    assert [family.name for family in families(position=True)] == [
        "planar_2r",
        "planar_3r",
        "positioning_3r",
    ]
    home = "linkwork.inverse.analytic."
    assert all(
        family.__module__.startswith(home) for family in (*families(), *families(position=True))
    )
    assert lw.classify(lw.load("ur5e"), "tool0").others.keys() == {
        family.name for family in families()
    } - {"ur"}
