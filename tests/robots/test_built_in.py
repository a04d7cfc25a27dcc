"""Every built-in robot: it loads, names its sources, goes through each format,
and moves as Pinocchio says."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.errors import InvalidFile, InvalidInput, NotPossible, UnknownName
from linkwork.formats.christoffel import christoffel_rows
from linkwork.formats.mjcf import mjcf_text, read_mjcf_text
from linkwork.formats.robot_yaml import Description, read_robot_yaml, robot_yaml_text
from linkwork.formats.urdf import read_urdf_text, urdf_text
from linkwork.library import FOLDER
from linkwork.model import Model
from linkwork.model.joint import resolved_mimic
from tests.numeric import pseudo_inertia, world_poses
from tests.random_models import random_q

NAMES = sorted(path.name.removesuffix(".robot.yaml") for path in FOLDER.glob("*.robot.yaml"))
OF_THE_PAPERS = (
    *(
        "charmie-2022",
        "charmie",
        "kuka-kr500",
        "quadruped",
        "hexapod",
        "planar-4r",
        "christoffel-5",
        "arm-2",
        "arm-4",
        "arm-6",
    ),
    *(
        "crx-10ial",
        "crx-3ia",
        "crx-5ia",
        "crx-10ia",
        "crx-20ial",
        "crx-30ia",
        "ur5-villalobos",
        "ur3",
        "ur5",
        "ur10",
        "ur3e",
    ),
    *(
        "ur5e",
        "ur10e",
        "ur16e",
        "ur20",
        "tm5-700",
        "rehabilitation-arm",
        "scara-arm",
        "tx2-90",
        "redundant-7",
        "forrest",
    ),
    "quadruped-12dof",
)
LINKAGES = (
    *("four-bar", "slider-crank", "scotch-yoke", "stephenson-iii"),
    *("watt-drone", "five-bar", "delta", "stewart-gough"),
)
# what URDF cannot hold of each robot, in the words of the refusal; all others it holds
NOT_AS_URDF = {
    "charmie-2022": "closed-loop elements",
    "charmie": "closed-loop elements",
    "forrest": "closed-loop elements",
    "scara-arm": "closed-loop elements",
    "redundant-7": "gravity",
    "rehabilitation-arm": "gravity",
    "rotary-gripper": "closed-loop",
    **dict.fromkeys(LINKAGES, "closed-loop elements"),
}


NOT_AS_MJCF = {
    "forrest": 'body "11" moves without mass or without inertia',
    "christoffel-5": r"MuJoCo asks for A \+ B >= C",
    "puma560": r"MuJoCo asks for A \+ B >= C",
    "rehabilitation-arm": "moves without mass or without inertia",
    "scara-arm": "moves without mass or without inertia",
    "scotch-yoke": "MJCF has no word for a pin_in_slot closure",
}
"""The same for MJCF, which holds no kinematic-only robot at all."""


@cache
def built(name: str) -> Model:
    return lw.load(name).model


def test_every_robot_of_the_papers_is_there():
    assert set(OF_THE_PAPERS) <= set(lw.robots())
    assert list(lw.robots()) == sorted(lw.robots())  # "charmie" before "charmie-2022"


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_has_its_name_a_line_and_a_source(name):
    description = read_robot_yaml(FOLDER / f"{name}.robot.yaml")
    assert description.name == name
    assert lw.robots()[name] == description.summary
    assert 20 < len(description.summary) < 120
    assert "source" in description.robot
    assert any(note.startswith("source") for note in built(name).notes)


@pytest.mark.parametrize("name", NAMES)
def test_a_paper_named_as_source_stands_in_the_references(name):
    keys = re.findall(r"\[([A-Z][a-z]+\d{4})\]", (FOLDER / f"{name}.robot.yaml").read_text())
    references = (FOLDER.parents[2] / "docs" / "references.bib").read_text()
    assert all(f"{{{key}," in references for key in keys)


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_survives_its_own_format(name):
    again = Description(robot_yaml_text(built(name))).build({})
    assert replace(again, variables=built(name).variables) == built(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_survives_urdf_or_says_why_not(name):
    model = built(name)
    if name in NOT_AS_URDF:
        with pytest.raises(NotPossible, match=NOT_AS_URDF[name]):
            urdf_text(model)
        return
    equal(model, read_urdf_text(urdf_text(model)))


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_survives_mjcf_or_says_why_not(name):
    model = built(name)
    reason = "it is kinematic only" if model.kinematic_only else NOT_AS_MJCF.get(name)
    if reason:
        with pytest.raises(NotPossible, match=reason):
            mjcf_text(model)
        return
    equal(model, read_mjcf_text(mjcf_text(model)))


def equal(model: Model, again: Model) -> None:
    """The same poses, matter and points, body by body."""
    q = random_q(model, 7)
    same = {joint.name: q.get(joint.name, (0.0,) * joint.nq) for joint in again.joints}
    before, after = world_poses(model, q), world_poses(again, same)
    for body in model.bodies:
        np.testing.assert_allclose(after[body.name], before[body.name], atol=1e-12)
        kept = again.body(body.name)
        P, P_again = pseudo_inertia(body.mass_properties), pseudo_inertia(kept.mass_properties)
        np.testing.assert_allclose(P_again, P, atol=1e-12)
        for (label, p), (other, p_again) in zip(body.points, kept.points, strict=True):
            assert label == other
            np.testing.assert_allclose(p_again, p, atol=1e-12)


def pinocchio_of(model: Model) -> pin.Model:
    """Joints and bodies of the description itself, added depth first;
    mimicking joints as joints of their own."""
    made = pin.Model()
    made.gravity.linear = np.array(model.gravity)
    carried: dict = {}
    for joint in model.joints:
        carried.setdefault(joint.parent, []).append(joint)
    children = {joint.child for joint in model.joints}
    matter = {body.name: body for body in model.bodies}

    def add(body: str, parent: int, T: pin.SE3) -> None:
        m = matter[body].mass_properties
        if m.mass:
            made.appendBodyToJoint(
                parent, pin.Inertia(m.mass, np.array(m.com), np.array(m.inertia)), T
            )
        made.addFrame(pin.Frame(body, parent, T, pin.FrameType.BODY))
        for joint in carried.get(body, []):
            move(joint, parent, T)

    def move(joint, parent: int, T: pin.SE3) -> None:
        M = T * pin.SE3(np.array(joint.placement.rotation), np.array(joint.placement.position))
        axis = np.array(joint.axis)
        if joint.type == "fixed":
            add(joint.child, parent, M)
            return
        kind = (
            pin.JointModelPrismaticUnaligned
            if joint.type == "prismatic"
            else pin.JointModelRevoluteUnaligned
        )
        add(joint.child, made.addJoint(parent, kind(axis), M, joint.name), pin.SE3.Identity())

    for body in model.bodies:
        if body.name not in children:
            add(body.name, 0, pin.SE3.Identity())
    for joint in carried.get(None, []):
        move(joint, 0, pin.SE3.Identity())
    return made


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_moves_and_pulls_as_pinocchio_says(name):
    robot, reference = lw.load(name), pinocchio_of(built(name))
    data = reference.createData()
    G, offset = np.zeros((reference.nv, robot.nv)), np.zeros(reference.nv)
    follows = resolved_mimic(robot.model.joints)
    for joint in robot.model.joints:
        if joint.nv:
            leader, ratio, shift = follows.get(joint.name, (joint.name, 1.0, 0.0))
            row = reference.joints[reference.getJointId(joint.name)].idx_v
            G[row, robot.joints.index(leader)], offset[row] = ratio, shift
            reference.armature[row] = joint.armature
    rng = np.random.default_rng(4)
    q, v, a = rng.uniform(-1, 1, (3, robot.nv))
    pin.forwardKinematics(reference, data, G @ q + offset)
    pin.updateFramePlacements(reference, data)
    position = np.array(robot.function("forward_kinematics")(q)[1])
    for k, body in enumerate(robot.bodies):
        np.testing.assert_allclose(
            position[k], data.oMf[reference.getFrameId(body)].translation, atol=1e-12
        )
    if robot.model.kinematic_only:
        with pytest.raises(
            NotPossible, match=f'inverse_dynamics: robot "{name}" is kinematic only'
        ):
            robot.inverse_dynamics(q, v, a)
        return
    expected = G.T @ pin.rnea(reference, data, G @ q + offset, G @ v, G @ a)
    tau = np.array(robot.function("inverse_dynamics")(q, v, a)).ravel()
    np.testing.assert_allclose(tau, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_can_be_drawn(name):
    """Something to see: points joined by lines, shapes, or at least joints apart from each
    other."""
    model = built(name)
    joined = any(body.lines for body in model.bodies)
    apart = any(np.any(joint.placement.position) for joint in model.joints)
    assert joined or apart
    for body in model.bodies:
        labels = {label for label, _ in body.points}
        assert all({first, second} <= labels for first, second in body.lines)


def test_a_thousand_bodies_load(tmp_path):
    lines = ["linkwork: 1", "name: long", "bodies:"]
    lines += [
        f"  b{k}: {{mass: 1, com: [0, 0, 1], inertia: [1, 1, 1], points: {{tip: [0, 0, 1]}}}}"
        for k in range(1000)
    ]
    lines.append("joints:")
    at = "placement: {xyz: [0, 0, 1], rpy: [0.1, 0.2, 0.3]}, limits: [-1, 1]"
    lines += [
        f"  j{k}: {{type: revolute, parent: b{k}, child: b{k + 1}, axis: x, {at}}}"
        for k in range(999)
    ]
    file = tmp_path / "long.robot.yaml"
    file.write_text("\n".join(lines))
    assert lw.load(file).nv == 999  # make bench times it


def test_the_nearest_name_is_suggested():
    with pytest.raises(UnknownName, match='there is no robot "charmi"; did you mean "charmie"'):
        lw.load("charmi")
    with pytest.raises(UnknownName, match="built in: arm-2, "):
        lw.load("zzzzzzzz")
    with pytest.raises(InvalidFile, match="has an unknown ending"):
        lw.load("robot.stl")
    with pytest.raises(InvalidInput, match="expected the name of a robot or a path"):
        lw.load(3)
    with pytest.raises(
        InvalidInput, match=r'no option "speed" for charmie.robot.yaml; options are root, '
    ):
        lw.load("charmie", speed=3)
    with pytest.raises(
        InvalidInput,
        match=r'no option "package_dirs" for .*; options are root, mimic, check, strict, '
        r"visuals, live$",
    ):
        lw.load("charmie", package_dirs=["."])  # that is for URDF
    with pytest.raises(NotPossible, match=r"has an unknown ending, expected one of \.urdf"):
        lw.save(lw.load("arm-2"), "arm.stl")


def test_a_built_in_name_wins_over_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm-2").write_text("nothing")
    assert lw.load("arm-2").nv == 2


@pytest.mark.parametrize("n", [1, 12])
def test_the_random_arm_has_as_many_joints_as_asked(n):
    assert lw.load(f"christoffel-{n}").nv == n


def test_the_recipe_makes_the_published_arm():
    table = lw.load("christoffel-5").to_dh("modified")
    for row, made in zip(table, christoffel_rows(5), strict=True):
        for key in ("a", "alpha", "d", "mass", "com", "inertia"):
            np.testing.assert_allclose(row[key], made[key], atol=4e-16)


WITH_VARIABLES = [
    name for name in NAMES if "\nvariables:" in (FOLDER / f"{name}.robot.yaml").read_text()
]


@pytest.mark.parametrize("name", WITH_VARIABLES)
def test_every_variable_can_be_live(name):
    robot = lw.load(name)
    names, values = zip(*robot.model.variables)
    live = lw.load(name, live=names)
    q = robot.random(seed=3)
    other = [1.1 * value + (0.01 if value == 0.0 else 0.0) for value in values]
    for numbers in (values, other):
        expected = robot.with_variables(**dict(zip(names, numbers))).function("forward_kinematics")(
            q
        )
        found = live.function("forward_kinematics")(q, *numbers)
        for a, b in zip(found, expected):
            np.testing.assert_allclose(np.array(a), np.array(b), atol=1e-14)


@pytest.mark.parametrize(
    "name", ["loop_dynamics", "forward_dynamics", "inverse_dynamics", "loads", "torque_table"]
)
def test_dynamics_of_a_robot_without_masses_refuse_by_name(name):
    """Not by a number that is not finite, or by a joint that moves nothing."""
    with pytest.raises(NotPossible, match='robot "crx-10ia" is kinematic only'):
        getattr(lw.load("crx-10ia"), name)(*np.zeros((3, 6)))
