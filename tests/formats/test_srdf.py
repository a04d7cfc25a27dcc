"""SRDF: groups, named poses and disabled pairs as plain data;
contradictions refused with file and line."""

from __future__ import annotations

import logging

import pytest

from linkwork.errors import InvalidFile, InvalidInput
from linkwork.formats import read_srdf, read_srdf_text
from linkwork.formats.srdf import DisabledPair, EndEffector, Group, NamedPose, Sphere, VirtualJoint
from tests.published import FOLDER

PANDA = """<?xml version="1.0"?>
<robot name="panda">
  <group name="arm"><chain base_link="link0" tip_link="link8"/></group>
  <group name="hand"><link name="hand"/><joint name="finger1"/><joint name="finger2"/></group>
  <group name="both"><group name="arm"/><group name="hand"/></group>
  <group_state name="ready" group="arm">
    <joint name="joint1" value="0"/><joint name="joint2" value="-0.785"/>
  </group_state>
  <end_effector name="gripper" parent_link="link8" group="hand" parent_group="arm"/>
  <virtual_joint name="stand" type="fixed" parent_frame="world" child_link="link0"/>
  <passive_joint name="finger2"/>
  <disable_default_collisions link="link8"/>
  <disable_collisions link1="link0" link2="link1" reason="Adjacent"/>
  <enable_collisions link1="link8" link2="link0"/>
  <link_sphere_approximation link="link1"><sphere center="0 0 -0.1" radius="0.2"/></link_sphere_approximation>
</robot>
"""


def test_every_part_of_the_file_is_read(tmp_path):
    file = tmp_path / "panda.srdf"
    file.write_text(PANDA)
    semantics = read_srdf(file)
    assert semantics == read_srdf_text(PANDA)
    assert semantics.robot == "panda"
    assert semantics.groups == (
        Group("arm", chains=(("link0", "link8"),)),
        Group("hand", links=("hand",), joints=("finger1", "finger2")),
        Group("both", groups=("arm", "hand")),
    )
    assert semantics.poses == (
        NamedPose("ready", "arm", (("joint1", (0.0,)), ("joint2", (-0.785,)))),
    )
    assert semantics.end_effectors == (EndEffector("gripper", "hand", "link8", "arm"),)
    assert semantics.virtual_joints == (VirtualJoint("stand", "fixed", "world", "link0"),)
    assert semantics.passive_joints == ("finger2",)
    assert semantics.disabled == (DisabledPair("link0", "link1", "Adjacent"),)
    assert semantics.enabled == (DisabledPair("link8", "link0"),)
    assert semantics.default_disabled == ("link8",)
    assert semantics.spheres == (Sphere("link1", (0.0, 0.0, -0.1), 0.2),)


@pytest.mark.parametrize(
    ("inside", "sentence"),
    [
        (
            '<group name="a"><group name="b"/></group><group name="b"><group name="a"/></group>',
            "hold themselves",
        ),
        ('<group name="a"/><group name="a"/>', 'two groups "a"'),
        (
            '<disable_collisions link1="x"/>',
            'x.srdf:1: <disable_collisions> .*has no attribute "link2"',
        ),
        (
            '<virtual_joint name="v" type="ball" parent_frame="w" child_link="b"/>',
            "expected one of fixed, planar",
        ),
        ('<link name="a"/>', "this is URDF"),
    ],
)
def test_contradictions_are_refused(inside, sentence):
    with pytest.raises(InvalidFile, match=sentence):
        read_srdf_text(f'<robot name="r">{inside}</robot>', "x.srdf")


def test_groups_that_do_not_exist_are_remarked(caplog):
    inside = '<group name="a"><group name="b"/></group><group_state name="p" group="c">'
    inside += '<joint name="j" value="1"/></group_state>'
    with caplog.at_level(logging.WARNING, "linkwork"):
        semantics = read_srdf_text(f'<robot name="r">{inside}</robot>', "x.srdf")
    assert semantics.poses[0].joints == (("j", (1.0,)),)
    assert [record.message for record in caplog.records] == [
        'x.srdf: group "a" names the group "b", which does not exist; there are a, '
        'pose "p" names the group "c", which does not exist; there are a'
    ]


def test_published_files_are_read():
    files = sorted(FOLDER.rglob("*.srdf"))
    assert len(files) >= 30
    for file in files:
        assert read_srdf(file).poses or read_srdf(file).disabled or read_srdf(file).groups, file


def test_unknown_parts_are_named_once_and_refused_by_strict(caplog):
    text = '<robot name="r"><gripper/><gripper/></robot>'
    with caplog.at_level(logging.WARNING, "linkwork"):
        read_srdf_text(text)
    assert [record.message for record in caplog.records] == [
        "srdf text: left out <gripper> on line 1"
    ]
    with pytest.raises(InvalidFile, match=r"left out <gripper> on line 1 \(strict=True\)"):
        read_srdf_text(text, strict=True)


def test_strict_and_text_are_checked():
    with pytest.raises(InvalidInput, match="strict is 'yes', expected None"):
        read_srdf_text("<robot/>", strict="yes")
    with pytest.raises(InvalidInput, match="text is a int"):
        read_srdf_text(3)
