"""Reading URDF: what every element becomes, and the sentence for everything that is wrong."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from linkwork.errors import InvalidFile, InvalidInput
from linkwork.formats.urdf import read_urdf, read_urdf_text
from linkwork.formats.urdf.vocabulary import FOREIGN_TAGS, JOINT_TYPES, READ
from linkwork.model import Limits, Mimic, build_tree
from linkwork.model.rotation import from_rpy

ARM = """<?xml version="1.0"?>
<!-- an arm with one of everything -->
<robot name="arm" xmlns:xacro="http://wiki.ros.org/xacro">
  <material name="steel"><color rgba="0.5 0.5 0.6 1"/></material>
  <link name="base">
    <visual name="plate"><geometry><box size="1 2 3"/></geometry><material name="steel"/></visual>
  </link>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.9"/>
      <mass value="2.5"/>
      <inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.2" iyz="0.03" izz="0.25"/>
    </inertial>
    <visual>
      <origin xyz="0 0 1" rpy="0 0 1"/>
      <geometry><cylinder radius="0.1" length="0.7"/></geometry>
      <material name="glow"><color rgba="2 0.5 -1 1"/></material>
    </visual>
    <collision><geometry><capsule radius="0.1" length="0.7"/></geometry></collision>
    <collision><geometry><sphere radius="0.2"/></geometry></collision>
  </link>
  <link name="lower">
    <visual><geometry><mesh filename="package://no/a.stl" scale="1 -1 1"/></geometry><material name="glow"/></visual>
    <visual><geometry><mesh filename="b.stl"/></geometry><material name="unheard_of"/></visual>
  </link>
  <link name="slide"/>
  <link name="wheel"/>
  <link name="plane"/>
  <link name="kite"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
    <parent link="base"/> <child link="upper"/>
    <axis xyz="0 3 4"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/>
    <dynamics damping="0.5" friction="0.25"/>
    <safety_controller k_velocity="1"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/> <child link="lower"/>
    <limit effort="4" velocity="3"/>
    <mimic joint="shoulder" multiplier="-2" offset="0.5"/>
  </joint>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="slide"/><axis xyz="0 0 1"/></joint>
  <joint name="hub" type="continuous">
    <parent link="base"/><child link="wheel"/><limit effort="7" velocity="8"/>
  </joint>
  <joint name="table" type="planar"><parent link="base"/><child link="plane"/><axis xyz="0 0 1"/></joint>
  <joint name="air" type="floating"><parent link="base"/><child link="kite"/></joint>
  <gazebo reference="upper"><anything goes="here"/></gazebo>
  <transmission name="t"><type>x</type></transmission>
</robot>
"""


@pytest.fixture(scope="module")
def arm():
    return read_urdf_text(ARM)


def changed(old: str, new: str) -> str:
    assert ARM.count(old) == 1
    return ARM.replace(old, new)


def test_joints_of_every_type_are_read(arm):
    assert {joint.type for joint in arm.joints} | {"fixed"} == set(JOINT_TYPES)
    shoulder = arm.joint("shoulder")
    assert (shoulder.parent, shoulder.child) == ("base", "upper")
    assert shoulder.axis == (0.0, 0.6, 0.8)
    assert shoulder.placement.position == (1.0, 2.0, 3.0)
    assert shoulder.placement.rotation == from_rpy((0.1, 0.2, 0.3))
    assert shoulder.limits == (Limits(-1.0, 2.0, 3.0, 4.0),)
    assert (shoulder.damping, shoulder.friction) == (0.5, 0.25)
    assert arm.joint("hub").limits == (Limits(velocity=8.0, effort=7.0),)
    tree = build_tree(arm)
    assert (tree.nq, tree.nv) == (4 + 3 + 7, 4 + 3 + 6)


def test_what_the_format_leaves_out_has_its_defaults(arm):
    elbow = arm.joint("elbow")
    assert elbow.axis == (1.0, 0.0, 0.0)
    assert elbow.placement.position == (0.0, 0.0, 0.0)
    assert elbow.limits == (Limits(0.0, 0.0, 3.0, 4.0),)
    assert arm.joint("rail").limits == ()
    assert not arm.body("slide").has_inertia
    assert arm.name == "arm"
    assert not arm.kinematic_only


def test_mimic_follows_or_is_ignored_by_choice(arm):
    assert arm.joint("elbow").mimic == Mimic("shoulder", -2.0, 0.5)
    assert read_urdf_text(ARM, mimic="independent").joint("elbow").mimic is None


def test_inertia_is_turned_to_body_axes(arm):
    matter = arm.body("upper").mass_properties
    R = np.array(from_rpy((0.3, -0.2, 0.9)))
    given = np.array([[0.3, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]])
    np.testing.assert_allclose(matter.inertia, R @ given @ R.T, rtol=0, atol=1e-16)
    assert np.array_equal(matter.inertia, np.transpose(matter.inertia))
    assert (matter.mass, matter.com) == (2.5, (0.1, 0.2, 0.3))


def test_shapes_have_kind_size_place_and_colour(arm):
    (plate,) = arm.body("base").visuals
    assert (plate.kind, plate.size, plate.name, plate.color) == (
        "box",
        (1.0, 2.0, 3.0),
        "plate",
        (0.5, 0.5, 0.6, 1.0),
    )
    (tube,) = arm.body("upper").visuals
    assert (tube.kind, tube.size, tube.placement.position) == (
        "cylinder",
        (0.1, 0.7),
        (0.0, 0.0, 1.0),
    )
    assert tube.color == (1.0, 0.5, 0.0, 1.0), "colours are cut to 0..1"
    assert [(s.kind, s.size) for s in arm.body("upper").collisions] == [
        ("capsule", (0.1, 0.7)),
        ("sphere", (0.2,)),
    ]
    first, second = arm.body("lower").visuals
    assert (first.mesh, first.size) == ("package://no/a.stl", (1.0, -1.0, 1.0))
    assert first.color == tube.color, "a material is known by its name wherever it was given"
    assert (second.mesh, second.size, second.color) == ("b.stl", (1.0, 1.0, 1.0), None)


def test_quaternion_origin_of_urdf_1_2():
    turned = changed('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 0.7071067811865476 0.7071067811865476"')
    R = np.array(read_urdf_text(turned).joint("shoulder").placement.rotation)
    np.testing.assert_allclose(R, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_root_can_float(arm):
    model = read_urdf_text(ARM, root="floating")
    root = model.joints[0]
    assert (root.name, root.type, root.parent, root.child) == (
        "root_joint",
        "floating",
        None,
        "base",
    )
    assert build_tree(model).nv == build_tree(arm).nv + 6
    taken = read_urdf_text(changed('name="rail"', 'name="root_joint"'), root="floating")
    assert taken.joints[0].name == "base_root_joint"


def test_robot_without_any_inertia_is_kinematic_only():
    assert read_urdf_text('<robot name="r"><link name="a"/></robot>').kinematic_only


def test_robot_without_a_name_is_called_after_its_file(tmp_path):
    path = tmp_path / "crane.urdf"
    path.write_text('<robot><link name="a"/></robot>')
    assert read_urdf(path).name == "crane"


def test_largest_double_means_unlimited():
    text = changed(
        'lower="-1" upper="2" velocity="3"',
        f'lower="-1" upper="{1.7976931348623157e308!r}" velocity="inf"',
    )
    assert read_urdf_text(text).joint("shoulder").limits == (Limits(-1.0, math.inf, math.inf, 4.0),)


def test_unphysical_inertia_warns_once_or_is_refused(caplog):
    heavy = changed('izz="0.25"', 'izz="5"')
    assert read_urdf_text(heavy).body("upper").mass_properties.mass == 2.5
    (record,) = caplog.records
    assert 'robot "arm": 1 body is not physical: "upper": principal moments' in record.message
    with pytest.raises(
        InvalidFile,
        match=r'urdf text:8: robot "arm", body "upper": principal moments .* violate A \+ B',
    ):
        read_urdf_text(heavy, check="physical")


def test_foreign_words_are_passed_over_quietly(caplog):
    for tag, foreign in FOREIGN_TAGS.items():
        for word in foreign:
            assert word not in READ[tag][0]
    text = changed(
        '<link name="slide"/>',
        '<link name="slide" type="x"><contact/><drake:thing/><origin xyz="0 0 0"/></link>',
    )
    read_urdf_text(text.replace("<robot ", '<robot xmlns:drake="d" '))
    assert not caplog.records


def test_unknown_words_are_left_out_with_one_warning(caplog):
    text = changed(
        '<link name="slide"/>',
        '<link name="slide" '
        'shade="7"><cushion/><visual><geometry><egg/></geometry></visual></link>',
    )
    assert read_urdf_text(text).body("slide").visuals == ()
    (record,) = caplog.records
    assert record.message.endswith(
        'left out attribute "shade" on line 26, left out <cushion> on line 26, left out <egg> '
        "on line 26"
    )


# what is changed in ARM, into what, and the sentence it must give (after the name of the text)
WRONG = {
    "joint type": (
        'type="continuous"',
        'type="screw"',
        r':44: joint "hub" has type "screw"; linkwork reads revolute, cont',
    ),
    "joint type, nearly": ('type="continuous"', 'type="continuos"', 'did you mean "continuous"'),
    "joint without type": (
        'name="hub" type="continuous"',
        'name="hub"',
        'joint "hub" has no attribute "type"',
    ),
    "joint without name": (
        'name="hub" type="continuous"',
        'type="continuous"',
        '<joint> has no attribute "name"',
    ),
    "link without name": ('<link name="slide"/>', "<link/>", ':26: <link> has no attribute "name"'),
    "empty name": (
        '<link name="slide"/>',
        '<link name=""/>',
        ':26: <link> has an empty attribute "name"',
    ),
    "joint without parent": (
        '<parent link="upper"/>',
        "",
        'joint "elbow" has no <parent>, expected one',
    ),
    "two parents": (
        '<parent link="upper"/>',
        '<parent link="upper"/><parent link="base"/>',
        "is the second <parent>",
    ),
    "unknown parent": (
        '<parent link="upper"/>',
        '<parent link="uper"/>',
        r':38: joint "elbow": parent body "uper" is unknown; did you mean "upper"\?',
    ),
    "unknown child": (
        '<child link="wheel"/>',
        '<child link="whee"/>',
        'joint "hub": child body "whee" is unknown',
    ),
    "child of two joints": (
        '<child link="slide"/>',
        '<child link="lower"/>',
        'body "lower" is the child of two joints, "elbow" and "rail"',
    ),
    "cycle": (
        '<parent link="base"/> <child link="upper"/>',
        '<parent link="lower"/> <child link="upper"/>',
        "own ancestor",
    ),
    "self": (
        '<parent link="base"/> <child link="upper"/>',
        '<parent link="upper"/> <child link="upper"/>',
        "own ancestor",
    ),
    "two roots": (
        '<link name="slide"/>',
        '<link name="slide"/><link name="lost"/>',
        r':3: robot "arm" has 2 root links \("base", "lost"\)',
    ),
    "duplicate link": (
        '<link name="slide"/>',
        '<link name="slide"/>\n<link name="slide"/>',
        r':27: .*body name "slide" is used 2 times',
    ),
    "duplicate joint": ('name="rail"', 'name="hub"', 'joint name "hub" is used 2 times'),
    "zero axis": (
        '<axis xyz="0 3 4"/>',
        '<axis xyz="0 0 0"/>',
        r'joint "shoulder": axis \(0.0, 0.0, 0.0\) has length zero',
    ),
    "axis of two numbers": (
        '<axis xyz="0 3 4"/>',
        '<axis xyz="3 4"/>',
        r':33: <axis> of joint "shoulder" has xyz="3 4", expected 3 finite',
    ),
    "axis without numbers": ('<axis xyz="0 3 4"/>', "<axis/>", 'has no attribute "xyz"'),
    "four numbers": ('xyz="1 2 3"', 'xyz="1 2 3 4"', "expected 3 finite numbers"),
    "word for number": (
        'xyz="1 2 3"',
        'xyz="1 2 three"',
        '<origin> of joint "shoulder" has xyz="1 2 three"',
    ),
    "comma": ('xyz="1 2 3"', 'xyz="1,2,3"', "expected 3 finite numbers"),
    "nan": ('xyz="1 2 3"', 'xyz="1 2 nan"', "expected 3 finite numbers"),
    "inf": ('xyz="1 2 3"', 'xyz="1 2 inf"', "expected 3 finite numbers"),
    "overflow": ('xyz="1 2 3"', 'xyz="1 2 1e999"', "expected 3 finite numbers"),
    "underscore": ('xyz="1 2 3"', 'xyz="1 2 3_0"', "expected 3 finite numbers"),
    "empty numbers": ('xyz="1 2 3"', 'xyz=" "', "expected 3 finite numbers"),
    "negative mass": (
        '<mass value="2.5"/>',
        '<mass value="-2.5"/>',
        r':8: robot "arm", body "upper": mass -2.5 kg is negative',
    ),
    "no mass": ('<mass value="2.5"/>', "", '<inertial> of link "upper" has no <mass>'),
    "no inertia": ('<inertia ixx="0.3"', '<gone ixx="0.3"', "has no <inertia>"),
    "no ixx": ('ixx="0.3"', "", '<inertia> of <inertial> of link "upper" has no attribute "ixx"'),
    "limits reversed": (
        'lower="-1" upper="2"',
        'lower="2" upper="-1"',
        '<limit> of joint "shoulder" has lower 2 above upper -1',
    ),
    "nan limit": ('lower="-1"', 'lower="nan"', 'has lower="nan", expected a finite number'),
    "negative damping": (
        'damping="0.5"',
        'damping="-0.5"',
        "damping -0.5 must be finite and not negative",
    ),
    "mimic of itself": (
        '<mimic joint="shoulder"',
        '<mimic joint="elbow"',
        "circle: elbow -> elbow",
    ),
    "mimic of two coordinates": (
        '<mimic joint="shoulder"',
        '<mimic joint="air"',
        "both must have one coordinate",
    ),
    "mimic of nobody": ('<mimic joint="shoulder" ', "<mimic ", 'has no attribute "joint"'),
    "negative radius": (
        '<sphere radius="0.2"/>',
        '<sphere radius="-0.2"/>',
        "<sphere> of <geometry> of <collision> .* negative size",
    ),
    "no radius": ('<sphere radius="0.2"/>', "<sphere/>", 'has no attribute "radius"'),
    "two shapes": (
        '<sphere radius="0.2"/>',
        '<sphere radius="1"/><sphere radius="1"/>',
        "holds <sphere> and <sphere>",
    ),
    "no geometry": ('<geometry><sphere radius="0.2"/></geometry>', "", "has no <geometry>"),
    "misspelt tag": (
        '<origin xyz="1 2 3"',
        '<orgin xyz="1 2 3"',
        r'<orgin> of joint "shoulder" is not a tag of URDF in this place, expected <origin>',
    ),
    "misplaced tag": (
        '<link name="slide"/>',
        '<link name="slide"><inertia/></link>',
        "expected <inertial>",
    ),
    "misspelt attribute": (
        'velocity="3" effort="4"/>\n    <dyn',
        'velocty="3" effort="4"/>\n    <dyn',
        'attribute "velocty", expected "velocity"',
    ),
    "loop": (
        '<gazebo reference="upper">',
        '<loop_joint name="l"/><gazebo>',
        'loop_joint "l" closes a loop',
    ),
    "rpy and quaternion": (
        'rpy="0.1 0.2 0.3"',
        'rpy="0 0 0" quat_xyzw="0 0 0 1"',
        "both rpy and quat_xyzw",
    ),
    "long quaternion": ('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 0 2"', "expected a unit quaternion"),
    "zero quaternion": ('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 0 0"', "expected a unit quaternion"),
    "xacro tag": (
        '<link name="slide"/>',
        '<xacro:include filename="x"/>',
        ":26: <xacro:include> is xacro, not URDF; expand it",
    ),
    "xacro macro": ('<link name="slide"/>', '<xacro:arm name="x"/>', ':26: xacro:arm "x" is xacro'),
    "xacro number": ('xyz="1 2 3"', 'xyz="1 2 ${height}"', '<origin> of joint "shoulder" is xacro'),
}


@pytest.mark.parametrize(("old", "new", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_line_and_element(old, new, sentence):
    with pytest.raises(InvalidFile, match=r"^arm\.urdf:\d+: .*") as caught:
        read_urdf_text(changed(old, new), name="arm.urdf")
    assert caught.match(sentence)


BROKEN = {
    "empty": ("", "is empty, expected XML"),
    "spaces": (" \n ", "is empty, expected XML"),
    "truncated": (ARM[:1500], "is not well-formed XML: unclosed token|no element found"),
    "half a tag": ("<robot", "unclosed token"),
    "no xml": ("hello", "not well-formed XML: syntax error"),
    "garbage": (bytes(range(256)) * 20, "not well-formed"),
    "zip": (b"PK\x03\x04" + bytes(200), "not well-formed"),
    "two roots": ("<robot/><robot/>", "junk after document element"),
    "mjcf": ("<mujoco/>", r"root element is <mujoco> \(this is MJCF\), expected <robot>"),
    "sdf": ("<sdf/>", r"\(this is SDF\)"),
    "capital": ("<Robot/>", "root element is <Robot>, expected <robot>"),
    "xacro root": ("<xacro:robot xmlns:xacro='x'/>", "is xacro"),
    "no links": ('<robot name="r"/>', 'robot "r" has no <link>'),
    "wrong encoding": (
        b'<?xml version="1.0" encoding="klingon"?><robot/>',
        "encoding that cannot be read",
    ),
    "broken utf-8": (b'<robot name="\xff\xfe"/>', "not well-formed"),
}


@pytest.mark.parametrize(("content", "sentence"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_urdf_is_refused(tmp_path, content, sentence):
    path = tmp_path / "arm.urdf"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InvalidFile, match=sentence) as caught:
        read_urdf(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    with pytest.raises(InvalidFile, match=r"arm\.urdf: no such file"):
        read_urdf(tmp_path / "arm.urdf")
    with pytest.raises(InvalidFile, match="is a folder"):
        read_urdf(tmp_path)
    (tmp_path / "arms.urdf").write_text(ARM)
    with pytest.raises(InvalidFile, match=r'did you mean "arms\.urdf"'):
        read_urdf(tmp_path / "arm.urdf")

    def forbidden(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(InvalidFile, match=r"cannot be read: Permission denied"):
        read_urdf(tmp_path / "arms.urdf")


@pytest.mark.parametrize(
    "option", [{"check": "strict"}, {"mimic": "folow"}, {"root": "free"}, {"root": None}]
)
def test_an_unknown_option_is_an_error(option):
    ((label, value),) = option.items()
    with pytest.raises(InvalidInput, match=f"read_urdf: {label} is {value!r}, expected one of"):
        read_urdf_text(ARM, **option)


def test_text_must_be_text():
    with pytest.raises(InvalidInput, match="text is a NoneType, expected str or bytes"):
        read_urdf_text(None)
