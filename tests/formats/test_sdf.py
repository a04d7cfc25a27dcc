"""SDF: the same robot in URDF and SDF is the same robot; poses,
axes and loops where the file has them elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.errors import InvalidFile, InvalidInput
from linkwork.model.rotation import from_rpy
from tests.published import URDFS


def pose(T: np.ndarray) -> str:
    """x y z roll pitch yaw of a 4x4 matrix."""
    R = T[:3, :3]
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    return " ".join(repr(float(x)) for x in (*T[:3, 3], roll, pitch, yaw))


def as_sdf(robot: lw.Robot) -> str:
    """A robot of hinges and slides as SDF, with every link's pose in the model at zero."""
    q = np.zeros(robot.nq)
    rows = []
    for body in robot.model.bodies:
        m = body.mass_properties
        tensor = {
            f"i{a}{b}": m.inertia[i][j]
            for i, a in enumerate("xyz")
            for j, b in enumerate("xyz")
            if i <= j
        }
        inside = "".join(f"<{tag}>{value!r}</{tag}>" for tag, value in tensor.items())
        com = " ".join(repr(float(x)) for x in m.com)
        matter = f"<pose>{com} 0 0 0</pose><mass>{m.mass!r}</mass><inertia>{inside}</inertia>"
        inertial = f"<inertial>{matter}</inertial>" if body.has_inertia else ""
        rows.append(
            f'<link name="{body.name}"><pose>{pose(robot.pose(q, body.name))}</pose>{inertial}</link>'
        )
    for joint in robot.model.joints:
        axis = " ".join(repr(float(x)) for x in joint.axis)
        moves = "" if joint.type == "fixed" else f"<axis><xyz>{axis}</xyz></axis>"
        ends = f"<parent>{joint.parent or 'world'}</parent><child>{joint.child}</child>"
        rows.append(f'<joint name="{joint.name}" type="{joint.type}">{ends}{moves}</joint>')
    return (
        '<?xml version="1.0"?><sdf version="1.9"><model '
        f'name="{robot.name}">{"".join(rows)}</model></sdf>'
    )


@pytest.mark.parametrize("name", ["ur/ur5_robot", "kinova/kinova", "panda/panda"])
def test_the_same_robot_in_two_formats(name):
    ours = lw.load(URDFS[name], mimic="independent", check="any")
    theirs = lw.load(text=as_sdf(ours))
    assert theirs.joints == ours.joints
    q = ours.random(5, seed=1)
    np.testing.assert_allclose(theirs.mass_matrix(q), ours.mass_matrix(q), atol=1e-12)
    for body in ours.bodies[-3:]:
        np.testing.assert_allclose(theirs.pose(q, body), ours.pose(q, body), atol=1e-13)


def model(inside: str, version: str = "1.9", around: str = "") -> str:
    return f'<sdf version="{version}">{around}<model name="m">{inside}</model></sdf>'


LINKS = """<link name="base"/><link name="arm"><pose>1 0 0 0 0 0</pose>
<inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass>
<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.3</izz></inertia></inertial></link>"""


def hinge(inside: str, axis: str = "<xyz>0 1 0</xyz>") -> str:
    ends = "<parent>base</parent><child>arm</child>"
    return f'<joint name="turn" type="revolute">{ends}{inside}<axis>{axis}</axis></joint>'


def turned(about: np.ndarray, axis: np.ndarray, angle: float, start: np.ndarray) -> np.ndarray:
    """A frame turned about a line through `about`, by Rodrigues' formula."""
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, about - R @ about
    return T @ start


@settings(max_examples=6, deadline=None)
@given(*[st.floats(-1.5, 1.5) for _ in range(7)])
def test_a_joint_beside_its_link_turns_about_its_own_axis(x, y, z, roll, pitch, yaw, angle):
    """The joint's pose is relative to the child; its axis passes through that point."""
    text = model(LINKS + hinge(f"<pose>{x!r} {y!r} {z!r} {roll!r} {pitch!r} {yaw!r}</pose>"))
    robot = lw.load(text=text)
    axis = np.array(from_rpy((roll, pitch, yaw)), dtype=float) @ [0.0, 1.0, 0.0]
    start = np.eye(4)
    start[:3, 3] = [1.0, 0.0, 0.0]
    expected = turned(np.array([1.0 + x, y, z]), axis, angle, start)
    np.testing.assert_allclose(robot.pose([angle], "arm"), expected, atol=1e-12)


def test_axes_are_read_in_the_frame_the_version_means():
    tilted = "<pose>0 0 0 1.5707963267948966 0 0</pose>"  # joint's y is the model's z
    cases = {
        model(LINKS + hinge(tilted)): [0, 0, 1],
        model(LINKS + hinge(tilted, '<xyz expressed_in="__model__">0 1 0</xyz>')): [0, 1, 0],
        model(LINKS + hinge(tilted, '<xyz expressed_in="base">0 1 0</xyz>')): [0, 1, 0],
        model(LINKS + hinge(tilted), "1.6"): [0, 0, 1],
        model(
            LINKS
            + hinge(
                tilted, "<xyz>0 1 0</xyz><use_parent_model_frame>true</use_parent_model_frame>"
            ),
            "1.6",
        ): [*(0, 1, 0)],
        model(LINKS + hinge(tilted), "1.4"): [0, 1, 0],
    }
    for text, axis in cases.items():
        np.testing.assert_allclose(lw.load(text=text).model.joint("turn").axis, axis, atol=1e-15)


def test_poses_are_relative_to_what_they_name():
    frames = '<frame name="mark" attached_to="arm"><pose degrees="true">0 0 0 90 0 0</pose></frame>'
    tip = '<link name="tip"><pose relative_to="mark">0 0 1 0 0 0</pose></link>'
    weld = '<joint name="hold" type="fixed"><parent>arm</parent><child>tip</child></joint>'
    robot = lw.load(text=model(LINKS + tip + frames + hinge("") + weld))
    np.testing.assert_allclose(robot.pose([0.0], "tip")[:3, 3], [1, -1, 0], atol=1e-15)
    np.testing.assert_allclose(robot.pose([0.0], "mark")[:3, 2], [0, -1, 0], atol=1e-15)
    quaternion = '<pose rotation_format="quat_xyzw">0 0 0 0 0 0 1</pose>'
    assert lw.load(text=model(LINKS + hinge(quaternion))).nv == 1


def test_a_model_stands_where_its_pose_puts_it():
    inside = "<pose>0 0 3 0 0 0</pose>" + LINKS + hinge("")
    robot = lw.load(text=model(inside))
    np.testing.assert_allclose(robot.pose([0.0], "arm")[:3, 3], [1, 0, 3])
    held = '<joint name="stand" type="fixed"><parent>world</parent><child>base</child></joint>'
    np.testing.assert_allclose(
        lw.load(text=model(inside + held)).pose([0.0], "arm")[:3, 3], [1, 0, 3]
    )
    assert lw.load(text=model(LINKS + hinge("")), root="floating").nv == 7


def test_limits_resistance_springs_and_rules():
    axis = """<xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>5</effort><velocity>-1</velocity></limit>
    <dynamics><damping>0.5</damping><friction>0.1</friction><spring_stiffness>7</spring_stiffness>
    <spring_reference>0.2</spring_reference></dynamics>"""
    joint = lw.load(text=model(LINKS + hinge("", axis))).model.joint("turn")
    assert (joint.type, joint.damping, joint.friction) == ("revolute", 0.5, 0.1)
    assert (joint.limits[0].lower, joint.limits[0].upper, joint.limits[0].effort) == (
        -1.0,
        2.0,
        5.0,
    )
    assert joint.limits[0].velocity == np.inf
    (spring,) = lw.load(text=model(LINKS + hinge("", axis))).model.elements
    assert (spring.joint, spring.stiffness, spring.free) == ("turn", 7.0, 0.2)
    second = (
        '<link name="b"/><joint name="follow" '
        'type="revolute"><parent>base</parent><child>b</child><axis>'
    )
    rule = '<mimic joint="turn"><multiplier>2</multiplier><offset>1</offset><reference>0.5</reference></mimic>'
    follower = lw.load(
        text=model(LINKS + hinge("") + second + rule + "</axis></joint>")
    ).model.joint("follow")
    assert (follower.mimic.joint, follower.mimic.multiplier, follower.mimic.offset) == (
        "turn",
        2.0,
        0.0,
    )


def test_a_second_joint_closes_a_loop():
    """A parallelogram: the fourth hinge is a closure, and the loop closes at zero."""
    links = "".join(
        f'<link name="{name}"><pose>{x} 0 {z} 0 0 '
        "0</pose><inertial><mass>1</mass></inertial></link>"
        for name, x, z in (("left", 0, 0), ("top", 0, 1), ("right", 2, 0))
    )
    joints = "".join(
        f'<joint name="{n}" type="revolute"><parent>{p}</parent><child>{c}</child>{w}'
        "<axis><xyz>0 1 0</xyz></axis></joint>"
        for n, p, c, w in (
            ("a", "world", "left", ""),
            ("b", "left", "top", ""),
            ("c", "world", "right", ""),
            ("d", "right", "top", "<pose>2 0 0 0 0 0</pose>"),
        )
    )
    robot = lw.load(text=model(links + joints))
    (closure,) = robot.model.elements
    assert (closure.name, closure.kind, closure.first.body, closure.second.body) == (
        "d",
        "hinge",
        "right",
        "top",
    )
    assert len(robot.actuators) == 1
    np.testing.assert_allclose(closure.first.position, [0, 0, 1])
    np.testing.assert_allclose(closure.second.position, [2, 0, 0])


def test_shapes_and_gravity_of_a_world():
    visual = """<visual name="v"><geometry><box><size>1 2 3</size></box></geometry>
    <material><diffuse>1 0 0 1</diffuse></material></visual><collision name="c"><pose>0 0 1 0 0 0</pose><geometry>
    <cylinder><radius>0.1</radius><length>2</length></cylinder></geometry></collision>"""
    links = LINKS.replace("</link>", visual + "</link>")
    text = (
        '<sdf version="1.7"><world name="w"><gravity>0 0 -1.6</gravity><model '
        f'name="m">{links}{hinge("")}</model>'
    )
    text += '<model name="ground"><link name="l"/></model></world></sdf>'
    robot = lw.load(text=text, model="m")
    assert robot.model.gravity == (0.0, 0.0, -1.6)
    (box,), (cylinder,) = robot.model.body("arm").visuals, robot.model.body("arm").collisions
    assert (box.kind, box.size, box.color) == ("box", (1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 1.0))
    assert (cylinder.size, cylinder.placement.position) == ((0.1, 2.0), (0.0, 0.0, 1.0))
    assert lw.load(text=text, model="m", visuals=False).model.body("arm").visuals == ()
    with pytest.raises(
        InvalidFile, match=r'has 2 models \("m", "ground"\), expected one; choose one with model='
    ):
        lw.load(text=text)
    with pytest.raises(InvalidFile, match='has no model "n"'):
        lw.load(text=text, model="n")


WRONG = {
    "no link": (model(""), "has no <link>"),
    "type": (
        model(LINKS + hinge("").replace('"revolute"', '"screw"')),
        'has type "screw"; linkwork reads revolute',
    ),
    "unknown parent": (
        model(LINKS + hinge("").replace("base<", "bse<")),
        'parent "bse", which does not exist; did you',
    ),
    "circle": (
        model(
            '<link name="a"><pose relative_to="b"/></link><link name="b"><pose '
            'relative_to="a"/></link>'
        ),
        "depends on itself: a -> b -> a",
    ),
    "pose": (
        model('<link name="a"><pose>1 2 3</pose></link>'),
        r'x.sdf:1: <pose> of link "a" holds "1 2 3"',
    ),
    "not finite": (
        model('<link name="a"><pose>1 2 3 0 0 nan</pose></link>'),
        "expected 6 finite numbers",
    ),
    "nowhere": (model(LINKS + hinge("", "<xyz>0 0 0</xyz>")), "points nowhere"),
    "no such frame": (
        model('<link name="a"><pose relative_to="z"/></link>'),
        'relative to "z", which does not exist',
    ),
    "include": (model("<include/>" + LINKS), "takes parts from another model"),
    "twice": (model('<link name="a"/><link name="a"/>'), "has a name that line 1 has already"),
    "reversed": (
        model(
            LINKS + hinge("", "<xyz>0 1 0</xyz><limit><lower>1</lower><upper>-1</upper></limit>")
        ),
        "has lower 1 above upper -1 .strict=False: the joint has no limit",
    ),
    "version": ('<sdf version="new"><model name="m"/></sdf>', 'has version="new"'),
}


@pytest.mark.parametrize(("text", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_line_and_element(text, sentence):
    with pytest.raises(InvalidFile, match=sentence):
        lw.load("x.sdf", text=text)


def test_files_and_options(tmp_path):
    file = tmp_path / "m.sdf"
    file.write_text(model(LINKS + hinge("")))
    assert lw.load(file).nv == 1
    assert lw.load(file, strict=True, visuals=False, check="physical").nv == 1
    with pytest.raises(InvalidInput, match="check"):
        lw.load(file, check="some")
    with pytest.raises(InvalidInput, match=r'no option "folders" for m\.sdf'):
        lw.load(file, folders=[])
