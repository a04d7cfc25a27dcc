"""The native format: what each section means, and how its errors read."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import re
from dataclasses import replace
from pathlib import Path

import casadi
import jsonschema
import numpy as np
import pytest
import yaml
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import InvalidFile, InvalidInput, NotPossible, UnknownName
from linkwork.formats.robot_yaml import Description, json_schema, read_robot_yaml, robot_yaml_text
from linkwork.formats.robot_yaml.variables import REMARKS
from linkwork.formats.robot_yaml.vocabulary import ELEMENTS as ELEMENT_KINDS
from linkwork.library import FOLDER
from linkwork.model import Model, Placement, elements, rotation
from linkwork.model.element_fields import fields_of, type_name
from linkwork.model.joint_motion import joint_motion
from tests.numeric import matrix, world_poses
from tests.random_models import random_model, random_q

ARM = """
linkwork: 1
name: arm
units: {length: mm, angle: deg}
variables:
  upper_arm: 145
  forearm: "${0.8*upper_arm}"
  head_mass: 0.8 kg
  lean: {value: 30, unit: deg, source: a table}
bodies:
  base: {}
  upper:
    mass: "${head_mass}"
    com: [0, 0, "${upper_arm/2}"]
    inertia: [700, 700, 26]
    points: {tip: [0, 0, "${upper_arm}"]}
  lower: {mass: 400 g, com: [0, 0, 50], inertia: {xx: 700, yy: 700, zz: 26, xy: 1}}
joints:
  shoulder: {type: revolute, parent: base, child: upper, axis: -x, placement: {rpy: ["${lean}", 0, 0]}}
  elbow: {type: revolute, parent: upper, child: lower, axis: "y", placement: {point: tip}, limits: [-90, 90]}
frames:
  hand: {body: lower, placement: [0, 0, "${forearm}"]}
"""


def read(text: str, **options) -> Model:
    return Description(text, "arm.robot.yaml", **options).build({})


def refused(text: str, **options) -> str:
    with pytest.raises(InvalidFile) as caught:
        read(text, **options)
    return str(caught.value)


def test_units_and_expressions_become_si():
    model = read(ARM)
    upper, lower = model.body("upper"), model.body("lower")
    assert upper.mass_properties.mass == 0.8
    assert upper.mass_properties.com == (0.0, 0.0, 0.0725)
    assert upper.mass_properties.inertia[0][0] == 700 / 1e6
    assert upper.points == (("tip", (0.0, 0.0, 0.145)),)
    assert lower.mass_properties.mass == 0.4
    assert lower.mass_properties.inertia[0][1] == 1e-6
    assert model.joint("elbow").limits[0].upper == math.radians(90)
    assert model.joint("elbow").placement.position == (0.0, 0.0, 0.145)
    assert model.joint("shoulder").axis == (-1.0, 0.0, 0.0)
    assert model.frames[0].placement.position == pytest.approx((0.0, 0.0, 0.116), rel=1e-15)
    assert dict(model.variables) == pytest.approx(
        {"upper_arm": 0.145, "head_mass": 0.8, "lean": math.radians(30)}
    )


def test_a_changed_variable_moves_what_depends_on_it_and_nothing_else():
    model = Description(ARM).build({"upper_arm": 0.2})
    assert model.joint("elbow").placement.position == (0.0, 0.0, 0.2)
    assert model.frames[0].placement.position == pytest.approx((0.0, 0.0, 0.16), rel=1e-15)
    assert model.body("lower") == read(ARM).body("lower")


def test_an_expression_is_not_a_variable_one_can_set():
    with pytest.raises(UnknownName, match="is an expression of other variables"):
        Description(ARM).build({"forearm": 0.1})
    with pytest.raises(UnknownName, match='did you mean "upper_arm"'):
        Description(ARM).build({"uper_arm": 0.1})


def test_a_description_survives_pickling():
    description = Description(ARM, "arm.robot.yaml", check="any")
    again = pickle.loads(pickle.dumps(description))
    assert again.build({}) == description.build({})
    assert again.fingerprint == description.fingerprint
    assert Description(ARM, mimic="independent").fingerprint != description.fingerprint


def test_symbols_pass_through_to_the_model():
    x = casadi.SX.sym("x")
    model = Description(ARM).build({"upper_arm": x})
    tip = casadi.Function(
        "f", [x], [model.body("upper").points[0][1][2], model.frames[0].placement.position[2]]
    )
    assert [float(y) for y in tip(0.2)] == pytest.approx([0.2, 0.16], rel=1e-15)
    assert dict(model.variables)["upper_arm"] == 0.145


TURN = Rotation.from_euler("ZYX", [0.5, -0.4, 0.3])
NOTATIONS = {
    "rpy": "rpy: [0.3, -0.4, 0.5]",
    "matrix": f"matrix: {TURN.as_matrix().tolist()}",
    "euler": "euler: {sequence: zyx, angles: [0.5, -0.4, 0.3]}",
    "quaternion": f"quaternion: {TURN.as_quat().tolist()}",
}


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_notation_gives_the_same_rotation(notation):
    text = (
        "linkwork: 1\nname: r\nbodies: {a: {}}\njoints:\n  j: {type: fixed, child: a, "
        "placement: {xyz: [1, 2, 3], %s}}"
    )
    T = read(text % NOTATIONS[notation]).joint("j").placement
    assert T.position == (1.0, 2.0, 3.0)
    np.testing.assert_allclose(T.rotation, TURN.as_matrix(), atol=1e-15)


def test_zxz_axis_angle_and_dh_rows():
    text = """
linkwork: 1
name: r
units: {angle: deg}
bodies: {a: {}, b: {}, c: {}, d: {}}
joints:
  j1: {type: fixed, child: a, placement: {zxz: [90, -90, 180]}}
  j2: {type: fixed, child: b, placement: {axis_angle: {axis: -y, angle: 40}}}
  j3: {type: fixed, child: c, placement: {xyz: [0, 0, 1], dh: {a: 2, alpha: 90, d: 3, theta: 90}}}
  j4: {type: fixed, child: d, placement: {dh: {a: 2, alpha: 90, d: 3, theta: 90, convention: modified}}}
"""
    model = read(text)
    at = {j.name: j.placement for j in model.joints}
    np.testing.assert_allclose(
        at["j1"].rotation,
        rotation.from_euler("zxz", (math.pi / 2, -math.pi / 2, math.pi)),
        atol=1e-16,
    )
    np.testing.assert_allclose(
        at["j2"].rotation, rotation.about("y", math.radians(-40)), atol=1e-15
    )
    assert at["j3"] == Placement(
        ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), (0.0, 2.0, 4.0)
    )
    assert at["j4"] == Placement(
        ((0.0, -1.0, 0.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)), (2.0, -3.0, 0.0)
    )


def test_inertia_about_the_joint_is_moved_to_the_centre_of_mass():
    body = "  b: {mass: 2, com: [0, 0, 3], inertia: {xx: 20, yy: 21, zz: 4, about: joint}}"
    inertia = read(f"linkwork: 1\nname: r\nbodies:\n{body}").body("b").mass_properties.inertia
    assert [inertia[i][i] for i in range(3)] == [20 - 18, 21 - 18, 4.0]


EVERY_JOINT = """
linkwork: 1
name: joints
units: {length: mm, angle: deg}
bodies: {a: {}, b: {}, c: {}, d: {}, e: {}, f: {}, g: {}}
joints:
  screw: {type: helical, child: a, axis: z, pitch: 4, limits: [0, 720], damping: 0.1, friction: 0.2, armature: 5000}
  rod: {type: cylindrical, parent: a, child: b, axis: x, limits: [{lower: -90, upper: 90}, {lower: 0, upper: 10}]}
  cross: {type: universal, parent: b, child: c, axis: x, second_axis: "y", damping: [0.1, 0.2]}
  floor: {type: planar, parent: c, child: d, axis: z}
  socket: {type: ball, parent: d, child: e}
  free: {type: floating, parent: e, child: f}
  wheel: {type: continuous, parent: f, child: g, axis: [0, 0, 2], limits: {velocity: 60 rpm, effort: 3 N*m}}
configurations:
  up: {screw: 90, rod: [30, 5], socket: [0, 0, 0, 1], free: [1, 2, 3, 0, 0, 0, 1]}
"""


def test_every_joint_type_and_its_coordinates():
    model = read(EVERY_JOINT)
    screw = model.joint("screw")
    assert screw.pitch == pytest.approx(0.004 / (2 * math.pi), rel=1e-15)
    assert screw.limits[0].upper == pytest.approx(4 * math.pi)
    assert (screw.damping, screw.friction, screw.armature) == (0.1, 0.2, 5e-3)
    assert [limit.upper for limit in model.joint("rod").limits] == pytest.approx(
        [math.pi / 2, 0.01]
    )
    assert model.joint("cross").damping == (0.1, 0.2)
    assert model.joint("wheel").axis == (0.0, 0.0, 1.0)
    assert model.joint("wheel").limits[0].velocity == pytest.approx(2 * math.pi)
    (_, values) = model.configurations[0]
    assert dict(values)["rod"] == pytest.approx((math.pi / 6, 0.005))
    assert dict(values)["free"][:3] == (0.001, 0.002, 0.003)
    assert dict(values)["socket"] == (0.0, 0.0, 0.0, 1.0)


LEGS = """
linkwork: 1
name: legs
units: {length: mm, angle: deg}
bodies: {body: {points: {hip: [100, 50, 0]}}}
chains:
  leg:
    variables: {shin: 200}
    bodies:
      thigh:
        mass: 1
        com: [1, 20, -30]
        inertia: {xx: 3, yy: 4, zz: 5, xy: 1, xz: 0.5, yz: 0.2}
        points: {knee: [10, 20, -150]}
      shin: {points: {foot: [1, 2, "${-shin}"]}}
      "toe*x": {}
    joints:
      hip: {type: revolute, child: thigh, axis: [1, 2, 3], placement: {xyz: [0, 10, 0], rpy: [20, 30, 40]}}
      knee: {type: prismatic, parent: thigh, child: shin, axis: [0, 1, 1], placement: {point: knee, rpy: [5, 6, 7]}}
      ankle: {type: helical, pitch: 10, parent: shin, child: "toe*x", axis: "y", mimic: {joint: knee, multiplier: 2}}
    frames: {sole: {body: shin, placement: {point: foot, rpy: [1, 2, 3]}}}
placed:
  left: {chain: leg, parent: body, placement: {point: hip}, suffix: _l}
  right: {chain: leg, parent: body, placement: [100, -50, 0], suffix: _r, mirror: "y", with: {shin: 200}}
"""


def test_a_mirrored_chain_takes_the_mirrored_posture_at_equal_coordinates():
    model = read(LEGS)
    assert [body.name for body in model.bodies[1:4]] == ["thigh_l", "shin_l", "toe_lx"]
    assert model.joint("ankle_r").mimic.joint == "knee_r"
    q = {}
    for side in "lr":
        q |= {f"hip_{side}": (0.7,), f"knee_{side}": (0.05,), f"ankle_{side}": (0.1,)}
    poses = world_poses(model, q)
    S = np.diag([1.0, -1.0, 1.0, 1.0])
    for name in ("thigh", "shin"):
        np.testing.assert_allclose(poses[f"{name}_r"], S @ poses[f"{name}_l"] @ S, atol=1e-15)
    np.testing.assert_allclose(poses["toe_rx"], S @ poses["toe_lx"] @ S, atol=1e-15)
    left, right = model.body("shin_l").points[0][1], model.body("shin_r").points[0][1]
    np.testing.assert_allclose(
        poses["shin_r"] @ (*right, 1), S @ poses["shin_l"] @ (*left, 1), atol=1e-15
    )
    Il, Ir = (np.array(model.body(f"thigh_{side}").mass_properties.inertia) for side in "lr")
    np.testing.assert_allclose(Ir, S[:3, :3] @ Il @ S[:3, :3], atol=1e-20)
    soles = [poses[f"shin_{s}"] @ matrix(f.placement) for s, f in zip("lr", model.frames)]
    np.testing.assert_allclose(soles[1], S @ soles[0] @ S, atol=1e-15)


def test_a_chain_repeats_with_an_index():
    text = (
        LEGS[: LEGS.index("placed:")]
        + """
placed:
  legs:
    {chain: leg, parent: body, count: 3, index: i, suffix: "_${i + 1}", placement: {rpy: [0, 0, "${120*i}"]}}
"""
    )
    model = read(text)
    names = [joint.name for joint in model.joints if joint.name.startswith("hip")]
    assert names == ["hip_1", "hip_2", "hip_3"]
    q = {joint.name: (0.0,) * joint.nq for joint in model.joints}
    poses = world_poses(model, q)
    turn = np.eye(4)
    turn[:3, :3] = rotation.about("z", math.radians(120))
    np.testing.assert_allclose(poses["shin_2"], turn @ poses["shin_1"], atol=1e-15)


def test_variables_of_a_chain_hide_the_robot_s_own():
    text = LEGS.replace("with: {shin: 200}", "with: {shin: 300}")
    model = read(text)
    assert model.body("shin_l").points[0][1][2] == -0.2
    assert model.body("shin_r").points[0][1][2] == -0.3


def test_shapes_of_every_kind():
    text = """
linkwork: 1
name: s
units: {length: mm}
bodies:
  b:
    shapes: [{kind: box, size: [1, 2, 3], color: [1, 0, 0], name: brick}]
    visuals: [{kind: sphere, size: 5}, {kind: mesh, mesh: part.stl, scale: 0.001}]
    collisions:
      - {kind: capsule, size: [5, 20], placement: {xyz: [0, 0, 10], rpy: [0, 0, 1]}}
      - {kind: cylinder, size: [1, 2]}
"""
    body = read(text).body("b")
    assert [shape.kind for shape in body.visuals] == ["box", "sphere", "mesh"]
    assert [shape.kind for shape in body.collisions] == ["box", "capsule", "cylinder"]
    assert body.visuals[0].size == (0.001, 0.002, 0.003)
    assert body.visuals[0].color == (1.0, 0.0, 0.0, 1.0)
    assert body.visuals[2].mesh == "part.stl"
    assert body.visuals[2].size == (0.001, 0.001, 0.001)
    assert body.collisions[1].placement.position == (0.0, 0.0, 0.01)


def test_a_mesh_beside_the_file_is_found(tmp_path):
    (tmp_path / "part.stl").write_bytes(b"solid")
    file = tmp_path / "x.robot.yaml"
    file.write_text("linkwork: 1\nname: s\nbodies: {b: {visuals: [{kind: mesh, mesh: part.stl}]}}")
    assert read_robot_yaml(file).build({}).body("b").visuals[0].mesh == str(tmp_path / "part.stl")


ELEMENTS = """
linkwork: 1
name: machine
units: {length: mm, angle: deg}
bodies:
  a: {points: {A: [0, 0, 100], F: [50, 0, 0]}}
  b: {mass: 1, inertia: [1, 1, 1], points: {B: [0, 0, 80]}}
  c.d: {mass: 1, inertia: [1, 1, 1], points: {C: [0, 0, 60]}}
joints:
  j1: {type: revolute, parent: a, child: b, axis: "y", placement: {point: A}}
  j2: {type: revolute, parent: b, child: c.d, axis: "y", placement: {point: B}}
  j3: {type: prismatic, parent: c.d, child: e, axis: z}
elements:
  strut:
    {type: linear_actuator, foot: a.F, head: b.B, joint: j1, branch: -1, lower: 50, upper: 300, force: 500, speed: 20}
  gear: {type: gear, joint: j2, ratio: 50, offset: 10}
  spring:
    {type: spring, first: {body: world, at: [0, 0, 1]}, second: c.d.C, stiffness: 1.2 N/mm, free_length: 30, kind: both}
  coil: {type: torsion_spring, joint: j2, stiffness: 3, free: -15, pretension: 1, assumption: a guess}
  wire: {type: torsion_spring, joint: j3, stiffness: 3 N/mm, free: 5}
  damper: {type: damper, first: {body: a, point: A}, second: {body: c.d, at: [1, 2, 3]}, damping: 12}
  bar: {type: bar, pivot: a.A, length: 90, axis: "y", branch: -1}
  slider: {type: slider, bar: bar, guide: b.B, direction: x}
  on_bar: {type: spring, first: a.A, second: {body: bar, at: [10, 0, 0]}, stiffness: 0}
  loop: {type: loop_closure, kind: hinge, first: a.A, second: c.d.C, axis: "y", dependent: [j2]}
  rigid: {type: loop_closure, kind: weld, first: a.A, second: c.d.C, rotation: {rpy: [0, 0, 90]}, directions: [x, rz]}
sharing:
  - {body: b, direction: fx, parts: {j1: 0.25, strut: 0.75}}
  - {support: strut, weights: [1, 2, 3, 4, 5, 6]}
bodies2: {}
""".replace("bodies2: {}\n", "").replace(
    "bodies:\n", "bodies:\n  e: {mass: 1, inertia: [1, 1, 1]}\n"
)


def test_closed_loop_elements_are_the_model_s_dataclasses():
    found = {getattr(e, "name", type(e).__name__): e for e in read(ELEMENTS).elements}
    strut = found["strut"]
    assert isinstance(strut, elements.LinearActuator)
    assert (strut.foot.body, strut.foot.name, strut.foot.position) == ("a", "F", (0.05, 0.0, 0.0))
    assert (strut.joint, strut.branch, strut.lower, strut.upper) == ("j1", -1, 0.05, 0.3)
    assert (strut.force, strut.speed) == (500.0, 0.02)
    assert found["gear"].offset == math.radians(10)
    assert found["spring"].first == elements.Point(None, (0.0, 0.0, 0.001))
    assert found["spring"].second.body == "c.d"
    assert found["spring"].stiffness == 1200.0
    assert found["coil"].free == math.radians(-15)
    assert found["coil"].assumed
    assert not found["gear"].assumed
    assert (found["wire"].stiffness, found["wire"].free) == (3000.0, 0.005)
    assert found["on_bar"].second == elements.Point("bar", (0.01, 0.0, 0.0))
    assert found["loop"].dependent == ("j2",)
    assert found["rigid"].directions == ("x", "rz")
    assert found["Share"].parts == (("j1", 0.25), ("strut", 0.75))
    assert found["Stiffness"].weights == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)


MOTIONS = """
linkwork: 1
name: m
units: {length: mm, angle: deg}
bodies: {a: {}, b: {}}
joints:
  turn: {type: revolute, child: a, axis: z}
  slide: {type: prismatic, parent: a, child: b, axis: x}
motions:
  go:
    duration: 4
    joints:
      turn: {start: 90, rate: 10, acceleration: [[1, 20], [3, -20]]}
      slide: {waypoints: [[0, 0], [1, 100], [4, 50]], interpolation: quintic}
  pass: {duration: 4, joints: {slide: {waypoints: [[0, 0], [1, 100], [4, 50]]}, turn: {polynomial: [1, 2, 3]}}}
  line:
    duration: 4
    joints: {slide: {waypoints: [[0, 0], [4, 100]], interpolation: linear}, turn: {rate: 5, acceleration: 2}}
"""


def test_motions_are_sampled_with_their_derivatives():
    robot = lw.Robot(read(MOTIONS))
    go = robot.motions["go"]
    assert go.duration == 4.0
    q, v, a = go.sample(np.array([0.0, 1.0, 2.0, 4.0]))
    np.testing.assert_allclose(np.degrees(q[:, 0]), [90, 100, 120, 200], rtol=1e-14)
    np.testing.assert_allclose(np.degrees(v[:, 0]), [10, 10, 30, 30], rtol=1e-14)
    np.testing.assert_allclose(np.degrees(a[:, 0]), [0, 20, 20, -20], atol=1e-14)
    np.testing.assert_allclose(q[[0, 1, 3], 1], [0, 0.1, 0.05], atol=1e-15)
    np.testing.assert_allclose(v[[0, 1, 3], 1], 0.0, atol=1e-15)
    assert np.degrees(go.sample(1.0, side="before")[2][0]) == pytest.approx(0.0)
    with pytest.raises(InvalidInput, match=r"outside 0 \.\. 4 s"):
        go.sample(4.1)
    with pytest.raises(UnknownName, match='did you mean "go"'):
        robot.motions["goo"]


@pytest.mark.parametrize("name", ["go", "pass", "line"])
def test_the_rates_of_a_motion_are_its_derivatives(name):
    motion = lw.Robot(read(MOTIONS)).motions[name]
    t, h = np.array([0.3, 0.7, 1.6, 2.4, 3.3]), 1e-5
    (q0, v0, _), (q1, v1, _), (_, v, a) = (
        motion.sample(t - h),
        motion.sample(t + h),
        motion.sample(t),
    )
    # rounding of the difference
    np.testing.assert_allclose((q1 - q0) / (2 * h), v, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose((v1 - v0) / (2 * h), a, rtol=1e-7, atol=1e-8)


def test_a_cubic_through_waypoints_is_the_clamped_spline():
    model = read(
        MOTIONS.replace("[[0, 0], [1, 100], [4, 50]]}", "[[0, 0], [1, 100], [2.5, -20], [4, 50]]}")
    )
    t = np.linspace(0, 4, 41)
    q, v, a = lw.Robot(model).motions["pass"].sample(t)
    spline = CubicSpline([0, 1, 2.5, 4], [0, 0.1, -0.02, 0.05], bc_type="clamped")
    for found, order in ((q, 0), (v, 1), (a, 2)):
        np.testing.assert_allclose(found[:, 1], spline(t, order), atol=1e-14)


def test_gravity_sources_and_kinematic_only():
    model = read(
        ARM.replace(
            "units:", "gravity: [0, -1.62, 0]\nsource: [one, two]\nassumption: a guess\nunits:"
        )
    )
    assert model.gravity == (0.0, -1.62, 0.0)
    assert model.notes[:3] == ("source: one", "source: two", "assumption: a guess")
    assert "variables.lean: source: a table" in model.notes
    assert not model.kinematic_only
    assert read("linkwork: 1\nname: r\nbodies: {a: {}}").kinematic_only


def test_root_and_mimic_options():
    model = read(ARM, root="floating")
    assert model.joints[-1].type == "floating"
    assert read(LEGS, mimic="independent").joint("ankle_l").mimic is None
    with pytest.raises(
        InvalidInput,
        match="root is 'float', expected one of 'fixed', 'floating'; did you mean \"floating\"",
    ):
        read(ARM, root="float")


def test_the_file_s_own_check_level_holds_until_another_is_asked():
    text = "linkwork: 1\nname: r\ncheck: positive\nbodies: {a: {mass: 1, inertia: [1, 1, 3]}}"
    assert read(text).bodies[0].mass_properties.inertia[2][2] == 3.0
    assert "violate A + B >= C" in refused(text, check="physical")
    assert "violate A + B >= C" in refused(text.replace("check: positive\n", ""))


# what was changed, where it then stands, and the sentence: what came, the path of the key,
# the nearest valid name
ERRORS = {
    "a misspelt joint type": (
        ARM.replace("type: revolute, parent: upper", "type: revolut, parent: upper"),
        "revolut, parent",
        'unknown joint type "revolut" at joints.elbow.type; did you mean "revolute"?',
    ),
    "an unknown key": (
        ARM.replace("axis: -x", "axes: -x"),
        "axes",
        'unknown key "axes" at joints.shoulder.axes; did you mean "axis"?',
    ),
    "an unknown section": (
        ARM + "bodys: {}\n",
        "bodys",
        'unknown key "bodys" at bodys; did you mean "bodies"?',
    ),
    "a missing key": (
        ARM.replace("child: upper, ", ""),
        "{type: revolute, parent: base",
        'joint has no "child" at joints.shoulder',
    ),
    "an unknown parent": (
        ARM.replace("parent: base", "parent: bass"),
        "bass",
        'unknown body "bass" at joints.shoulder.parent; did you mean "base"?',
    ),
    "an unknown child": (
        ARM.replace("child: lower", "child: slower"),
        "slower",
        'unknown body "slower" at joints.elbow.child; did you mean "lower"?',
    ),
    "an unknown point": (
        ARM.replace("{point: tip}", "{point: tips}"),
        "tips",
        'unknown point "tips" at joints.elbow.placement.point; did you mean "tip"?',
    ),
    "an unknown variable": (
        ARM.replace("${upper_arm/2}", "${uper_arm/2}"),
        '"${uper_arm',
        'unknown variable "uper_arm" at bodies.upper.com[2]; did you mean "upper_arm"?',
    ),
    "an unknown unit": (
        ARM.replace("400 g", "400 gg"),
        "400 gg",
        'unknown unit "gg" at bodies.lower.mass; did you mean "g"?',
    ),
    "a wrong unit": (
        ARM.replace("400 g", "400 mm"),
        "400 mm",
        "the unit does not fit, expected a unit of mass at bodies.lower.mass",
    ),
    "a length as a mass": (
        ARM.replace('"${head_mass}"', '"${upper_arm }"'),
        '"${upper_arm }',
        '"upper_arm" is a length, expected a mass',
    ),
    "a word as a number": (
        ARM.replace("[0, 0, 50]", "[0, none, 50]"),
        "none",
        'a number with its unit such as "5 mm", or "${expression}", came "none" at '
        "bodies.lower.com[1]",
    ),
    "an attack": (
        ARM.replace("${upper_arm/2}", "${__import__(1)}"),
        '"${__',
        'unknown function "__import__" at bodies.upper.com[2]',
    ),
    "half an expression": (
        ARM.replace("${upper_arm/2}", "${upper_arm}/2"),
        '"${upper_arm}/2',
        'is not "${expression}" as a whole at bodies.upper.com[2]',
    ),
    "a division by zero": (
        ARM.replace("${upper_arm/2}", "${upper_arm/0}"),
        '"${upper_arm/0',
        '"upper_arm/0" cannot be computed: float division by zero',
    ),
    "two numbers": (
        ARM.replace("[0, 0, 50]", "[0, 50]"),
        "[0, 50]",
        "expected a list of 3 numbers, came 2 at bodies.lower.com",
    ),
    "two rotations": (
        ARM.replace("{point: tip}", "{rpy: [0,0,0], zxz: [0,0,1]}"),
        "[0,0,1]",
        '"rpy" and "zxz" are both given, expected one of them at joints.elbow.placement.zxz',
    ),
    "a mirror as a rotation": (
        ARM.replace("{point: tip}", "{matrix: [[-1,0,0],[0,1,0],[0,0,1]]}"),
        "[[-1",
        "rotation matrix has determinant -1 (a mirror), expected +1 at "
        "joints.elbow.placement.matrix",
    ),
    "a body twice": (
        ARM.replace("  lower: {", "  upper : {}\n  lower: {"),
        "upper :",
        'key "upper" is given twice, first in line 12',
    ),
    "a joint to itself": (
        ARM.replace("child: lower", "child: upper"),
        "{type: revolute, parent: upper",
        'body "upper" is the child of two joints',
    ),
    "an impossible inertia": (
        ARM.replace("[700, 700, 26]", "[700, 10, 26]"),
        'mass: "${head_mass}"',
        "1e-05, 2.6e-05, 0.0007 kg m^2 violate A + B >= C by 0.000664 kg m^2 at bodies.upper",
    ),
    "a range upside down": (
        ARM.replace("[-90, 90]", "[90, -90]"),
        "[90, -90]",
        "lower limit 1.5708 is above upper limit -1.5708 at joints.elbow.limits",
    ),
    "variables in a circle": (
        ARM.replace("upper_arm: 145", 'upper_arm: "${forearm }"'),
        '"${forearm }',
        "variables depend on each other in a circle: upper_arm -> forearm -> upper_arm at "
        "variables.upper_arm",
    ),
    "a variable with a bad name": (
        ARM.replace("upper_arm: 145", "upper_arm: 145\n  sin: 1"),
        "1\n  forearm",
        'variable "sin" is a function or constant',
    ),
    "no version": (ARM.replace("linkwork: 1\n", ""), "name: arm", 'robot has no "linkwork"'),
    "another version": (
        ARM.replace("linkwork: 1", "linkwork: 2"),
        "2\n",
        'expected a whole number from 1 to 1, came "2" at linkwork',
    ),
    "an unknown element": (
        ELEMENTS.replace("type: gear", "type: gera"),
        "gera",
        'unknown element type "gera" at elements.gear.type; did you mean "gear"?',
    ),
    "a spring to nowhere": (
        ELEMENTS.replace("second: c.d.C, stiff", "second: c.d.D, stiff"),
        "c.d.D",
        'unknown point "D" at elements.spring.second',
    ),
    "a strut on an unknown joint": (
        ELEMENTS.replace("joint: j1", "joint: j11"),
        "j11",
        'unknown joint "j11" at elements.strut.joint; did you mean "j1"?',
    ),
    "parts that do not sum to one": (
        ELEMENTS.replace("j1: 0.25", "j1: 0.5"),
        "{j1: 0.5",
        "the parts do not sum to 1 at sharing[0].parts",
    ),
    "an unknown chain": (
        LEGS.replace("left: {chain: leg", "left: {chain: lag"),
        "lag",
        'unknown chain "lag" at placed.left.chain; did you mean "leg"?',
    ),
    "an unknown variable of a chain": (
        LEGS.replace("with: {shin: 200", "with: {skin: 201"),
        "201",
        'chain "leg" has no variable "skin" at placed.right.with.skin; did you mean "shin"?',
    ),
    "names that clash": (
        LEGS.replace("suffix: _r", "suffix: _l"),
        "{chain: leg, parent: body, placement: [",
        'body name "thigh_l" is used twice at placed.right',
    ),
    "a motion of an unknown joint": (
        MOTIONS.replace("      turn: {start", "      tern: {start"),
        "{start",
        'unknown joint "tern" at motions.go.joints.tern; did you mean "turn"?',
    ),
    "times that run backwards": (
        MOTIONS.replace("[[1, 20], [3, -20]]", "[[3, 20], [1, -20]]"),
        "{start",
        "must start at 0 or later and increase at motions.go.joints.turn",
    ),
    "a tag": (
        ARM.replace("name: arm", "name: !!python/object/apply:os.system [x]"),
        "!!python",
        "has the tag",
    ),
    "an open alias": (ARM + "note: *nothing", "*nothing", "alias *nothing has no anchor before it"),
    "an alias in itself": (ARM + "note: &a [*a]", "*a]", "alias *a contains itself"),
    "two documents": (ARM + "---\nname: b", "---", "a second document begins, expected one a file"),
    "a list": ("- a", "- a", "expected a mapping with the keys of a robot, came a list"),
    "a mapping as a key": ("{a: 1}: b", "{a", "a key is a list or mapping, expected a name"),
}


@pytest.mark.parametrize(("text", "culprit", "sentence"), ERRORS.values(), ids=ERRORS)
def test_an_error_says_where_what_and_the_nearest_name(text, culprit, sentence):
    before = text[: text.index(culprit)]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    found = refused(text)
    assert found.startswith(f"arm.robot.yaml:{line}:{column}: ")
    assert sentence in found


def test_what_is_no_document_is_refused():
    assert "is not YAML" in refused(ARM + "  : {[")
    assert "is empty, expected a robot description" in refused("")
    assert "is empty, expected a robot description" in refused("# nothing but a comment")


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(InvalidFile, match="x:2: byte 3 is not UTF-8 text"):
        Description(b"a:\n\xff", "x")


def test_an_alias_bomb_is_refused_at_once():
    lines = ["linkwork: 1", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 15)]
    assert "aliases counted for what they stand for" in refused("\n".join(lines))


def test_depth_and_size_are_bounded():
    assert "is nested more than" in refused("[" * 5000)
    assert "is nested more than" in refused("- " * 5000 + "x")
    assert "MB" in refused("#" * (5 * 2**20))
    deep = "a: &a " + "[" * 20 + "x" + "]" * 20 + "\nb: " + "[" * 10 + "*a" + "]" * 10
    assert "nested more than 24 deep through alias *a" in refused(deep)


def test_ten_million_bodies_are_refused():
    text = LEGS.replace("suffix: _l", "count: 1000").replace("suffix: _r", "count: 1000")
    many = text + "".join(f"  p{k}: {{chain: leg, count: 1000, suffix: _{k}}}\n" for k in range(10))
    assert "placed chains make more than 20000 bodies" in refused(many)


def test_a_live_variable_cannot_change_a_mimic_rule():
    text = LEGS.replace("multiplier: 2", 'multiplier: "${ratio}"').replace(
        "chains:", "variables: {ratio: 2 1}\nchains:"
    )
    assert read(text).joint("ankle_l").mimic.multiplier == 2.0
    with pytest.raises(
        InvalidFile, match="a live variable cannot change the multiplier of a mimic joint"
    ):
        Description(text).build({"ratio": casadi.SX.sym("r")})


@pytest.mark.parametrize(
    "text",
    [ARM, EVERY_JOINT, LEGS, ELEMENTS, MOTIONS],
    ids="arm joints legs elements motions".split(),
)
def test_writing_and_reading_again_gives_the_same_model(text):
    model = read(text)
    again = Description(robot_yaml_text(model)).build({})
    assert replace(again, variables=model.variables) == model


@pytest.mark.parametrize("seed", range(12))
def test_random_models_survive_the_round_trip(seed):
    model = random_model(seed)
    again = Description(robot_yaml_text(model)).build({})
    assert [j.name for j in again.joints] == [j.name for j in model.joints]
    q = random_q(model, seed)
    before, after = world_poses(model, q), world_poses(again, q)
    for name, T in before.items():
        np.testing.assert_allclose(after[name], T, atol=1e-13)
    for a, b in zip(model.bodies, again.bodies):
        np.testing.assert_allclose(b.mass_properties.inertia, a.mass_properties.inertia, rtol=1e-12)
        assert b.points == a.points
    for a, b in zip(model.joints, again.joints):
        assert (b.limits, b.mimic, b.damping, b.friction, b.armature) == (
            a.limits,
            a.mimic,
            a.damping,
            a.friction,
            a.armature,
        )


def test_awkward_names_and_notes_survive_the_round_trip():
    model = read(ARM)
    bodies = tuple(
        replace(b, name=f'{b.name}: "#{{}}', note="line one\nsource: é\\\t.") for b in model.bodies
    )
    joints = tuple(
        replace(j, name=f"- {j.name}", child=f'{j.child}: "#{{}}', parent=f'{j.parent}: "#{{}}')
        for j in model.joints
    )
    odd = replace(
        model, name="no", bodies=bodies, joints=joints, frames=(), notes=("source: x: y", "plain")
    )
    again = Description(robot_yaml_text(odd)).build({})
    assert replace(again, variables=odd.variables) == odd
    assert again.bodies[0].note == "source: é\\\t.\nnote: line one"


def test_a_model_with_symbols_is_not_written():
    model = Description(ARM).build({"upper_arm": casadi.SX.sym("x")})
    with pytest.raises(NotPossible, match="live variables"):
        robot_yaml_text(model)


def test_saving_an_unchanged_robot_keeps_its_variables(tmp_path):
    file = tmp_path / "arm.robot.yaml"
    file.write_text(ARM)
    robot = lw.load(file)
    lw.save(robot, tmp_path / "copy.robot.yaml")
    assert (tmp_path / "copy.robot.yaml").read_text() == ARM


def test_saving_with_other_values_keeps_variables_expressions_and_comments(tmp_path):
    """Only the words of the changed numbers change, each in the unit it was written in."""
    text = (
        "linkwork: 1\nname: arm\nunits: {length: mm, angle: deg}  # as drawn\n"
        "variables:\n  upper: 145  # from hinge to hinge\n  turn: 30 deg\n  load: {value: 2, "
        "unit: kg}\n"
        '  spare: "12"\n  far: "${2*upper}"\n'
        'bodies:\n  a: {mass: "${load}", com: [0, 0, "${far}"], inertia: [1, 1, 1],'
        ' points: {tip: ["${spare}", 0, "${far}"]}}\n'
        'joints:\n  j: {type: revolute, child: a, axis: z, placement: {rpy: ["${turn}", 0, 0]}}\n'
    )
    file = tmp_path / "arm.robot.yaml"
    file.write_text(text)
    robot = lw.load(file)
    changed = robot.with_variables(upper=0.2, turn=0.3, load=math.pi, spare=0.0125)
    saved = lw.save(changed, tmp_path / "other.robot.yaml")
    again = lw.load(saved)
    assert dict(again.model.variables) == pytest.approx(dict(changed.model.variables), rel=3e-16)
    assert again.model == replace(changed.model, variables=again.model.variables)
    assert again.with_variables(upper=0.1).model.body("a") == changed.with_variables(
        upper=0.1
    ).model.body("a")
    turned = repr(0.3 / (math.pi / 180))
    expected = (
        text.replace("145", "200.0")
        .replace("30 deg", f"{turned} deg")
        .replace("value: 2,", f"value: {math.pi!r},")
    )
    kept = [line for line in saved.read_text().split("\n") if "turn:" not in line]
    assert kept == [
        line for line in expected.replace('"12"', '"12.5"').split("\n") if "turn:" not in line
    ]


@pytest.mark.parametrize("value", [0.1, 1 / 3, math.e, 1e-7, 123456.789])
def test_a_saved_value_reads_back_to_the_last_bit_or_its_neighbour(value, tmp_path):
    robot = lw.load("charmie").with_variables(upper_arm=value, balance_spring=value)
    again = lw.load(lw.save(robot, tmp_path / "x.robot.yaml"))
    for name, kept in robot.model.variables:
        assert dict(again.model.variables)[name] == pytest.approx(kept, rel=3e-16, abs=0)


def test_a_value_that_is_no_word_of_its_own_is_saved_as_numbers(tmp_path):
    """Two variables that share one word through an alias: one cannot change alone."""
    text = (
        "linkwork: 1\nname: arm\nvariables: {a: &same 0.5, b: *same}\n"
        'bodies: {x: {mass: 1, com: ["${a}", "${b}", 0], inertia: [1, 1, 1]}}\n'
        "joints: {j: {type: revolute, child: x, axis: z}}\n"
    )
    file = tmp_path / "arm.robot.yaml"
    file.write_text(text)
    changed = lw.load(file).with_variables(b=0.75)
    again = lw.load(lw.save(changed, tmp_path / "other.robot.yaml"))
    assert again.model.body("x").mass_properties == changed.model.body("x").mass_properties
    assert not again.model.variables


def test_the_json_schema_accepts_every_built_in_robot():
    schema = json.loads(json.dumps(json_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    files = sorted(FOLDER.glob("*.robot.yaml"))
    assert len(files) > 30
    for file in files:
        assert not list(validator.iter_errors(yaml.safe_load(file.read_text()))), file.name


@pytest.mark.parametrize(
    "change",
    [
        ("type: revolute, parent: upper", "type: revolut, parent: upper"),
        ("axis: -x", "axes: -x"),
        ("child: upper, ", ""),
    ],
    ids=["a wrong word", "an unknown key", "a missing key"],
)
def test_the_json_schema_refuses_what_the_reader_refuses(change):
    validator = jsonschema.Draft202012Validator(json_schema())
    assert not list(validator.iter_errors(yaml.safe_load(ARM)))
    assert list(validator.iter_errors(yaml.safe_load(ARM.replace(*change))))


def test_a_thousand_bodies_are_read(tmp_path):
    body = (
        "{mass: 1, com: [0, 0, 0.1], inertia: [0.1, 0.1, 0.1], points: {tip: [0, 0, 1], side: "
        "[0.1, 0, 1]}}"
    )
    lines = [
        "linkwork: 1",
        "name: long",
        "bodies:",
        *(f"  b{k}: {body}" for k in range(1000)),
        "joints:",
    ]
    joint = "axis: z, placement: {xyz: [0, 0, 1], rpy: [0.1, 0.2, 0.3]}, limits: [-1, 1]}"
    lines += [
        f"  j{k}: {{type: revolute, parent: b{k}, child: b{k + 1}, {joint}" for k in range(999)
    ]
    model = read("\n".join(lines))
    assert len(model.joints) == 999


def test_joint_motion_of_a_mirrored_screw():
    model = read(LEGS)
    S = np.diag([1.0, -1.0, 1.0, 1.0])
    left, right = (matrix(joint_motion(model.joint(f"ankle_{s}"), (0.8,))) for s in "lr")
    np.testing.assert_allclose(right, S @ left @ S, atol=1e-16)


def test_no_error_shows_a_python_name():
    for text, _, _ in ERRORS.values():
        assert not re.search(r"Traceback|<class|object at 0x", refused(text))


def test_the_path_of_a_missing_file_is_said(tmp_path):
    (tmp_path / "arm.robot.yaml").write_text(ARM)
    with pytest.raises(InvalidFile, match=r'no such file; did you mean "arm\.robot\.yaml"'):
        lw.load(Path(tmp_path, "amr.robot.yaml"))


def test_the_example_of_the_page_can_be_read():
    page = (FOLDER.parents[2] / "docs" / "robot-yaml.md").read_text()
    example = page[page.index("```yaml") :].split("\n", 1)[1].split("```")[0]
    model = read(example)
    assert model.name == "two-links"
    assert dict(model.variables).keys() == {"upper_arm", "lean", "head"}


def test_every_field_of_every_element_has_a_key():
    kinds = [
        cls for cls in vars(elements).values() if isinstance(cls, type) and "note" in _fields(cls)
    ]
    named = {type_name(cls): cls for cls in kinds if "name" in _fields(cls)}
    assert named == elements.KINDS and named.keys() == ELEMENT_KINDS.keys()
    for word, cls in named.items():
        assert _fields(cls) - {"name", "assumed", "note"} == fields_of(cls).keys(), word
        assert fields_of(cls).keys() <= ELEMENT_KINDS[word].fields.keys(), word


def _fields(cls: type) -> set[str]:
    return (
        {each.name for each in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    )


def test_every_key_of_an_element_is_described_in_the_schema():
    described = json_schema()["properties"]["elements"]["additionalProperties"]["oneOf"]
    assert len(described) == len(elements.KINDS)
    for schema in described:
        assert len(schema["description"]) > 20
        for key, value in schema["properties"].items():
            assert key in {"type", *REMARKS} or value["description"], (schema["title"], key)


def test_elements_of_a_mirrored_chain_are_mirrored():
    text = """
linkwork: 1
name: wings
bodies: {body: {}}
chains:
  wing:
    bodies: {root: {points: {A: [1, 2, 3]}}, tip: {mass: 1, inertia: [1, 1, 1], points: {B: [4, 5, 6]}}}
    joints:
      fix: {type: fixed, child: root}
      flap: {type: revolute, parent: root, child: tip, axis: x}
    elements:
      strut: {type: linear_actuator, foot: root.A, head: tip.B, joint: flap, axis: [1, 2, 2]}
      bar: {type: bar, pivot: root.A, length: 2, axis: z}
      slider: {type: slider, bar: bar, guide: tip.B, direction: [1, 1, 0]}
      spring: {type: spring, first: {body: bar, at: [1, 2, 3]}, second: {body: body, at: [7, 8, 9]}, stiffness: 1}
placed:
  left: {chain: wing, parent: body, suffix: _l}
  right: {chain: wing, parent: body, suffix: _r, mirror: "y"}
"""
    found = {e.name: e for e in read(text).elements}
    strut = found["strut_r"]
    assert (strut.foot.body, strut.foot.position) == ("root_r", (1.0, -2.0, 3.0))
    assert (strut.head.position, strut.joint) == ((4.0, -5.0, 6.0), "flap_r")
    # a hinge turns: minus the mirrored direction
    assert strut.axis == pytest.approx((-1 / 3, 2 / 3, -2 / 3))
    assert found["slider_r"].bar == "bar_r"
    np.testing.assert_allclose(
        np.cross(found["slider_r"].direction, (1.0, -1.0, 0.0)), 0.0, atol=1e-15
    )
    # outside the chain: as written
    assert found["spring_r"].second == elements.Point("body", (7.0, 8.0, 9.0))
    # axes of a bar: z is its hinge
    assert found["spring_r"].first == elements.Point("bar_r", (1.0, 2.0, -3.0))
    assert found["spring_l"].first == elements.Point("bar_l", (1.0, 2.0, 3.0))


ROUND = """
linkwork: 1
name: round
variables: {reach: {value: 0.5}}
bodies:
  arm:
    points: {A: [0, 0, 0], B: [0.3, 0.4, 0], C: ["${reach}", 0, 0]}
    shapes: [%s]
joints:
  turn: {type: revolute, child: arm, axis: z}
"""


def test_a_round_shape_goes_from_one_point_to_another():
    body = read(ROUND % "{kind: capsule, start: A, end: B, radius: 0.05}").body("arm")
    (shape,) = body.collisions
    assert body.visuals == body.collisions
    assert shape.kind == "capsule"
    np.testing.assert_allclose(shape.size, (0.05, 0.5), rtol=1e-15)
    ends = [shape.placement.at((0.0, 0.0, sign * 0.25)) for sign in (-1.0, 1.0)]
    np.testing.assert_allclose(ends, [[0, 0, 0], [0.3, 0.4, 0]], atol=1e-15)


def test_a_round_shape_follows_a_live_length():
    described = Description(
        ROUND % "{kind: capsule, start: [0.1, 0, 0], end: C, radius: 0.05}", "arm.robot.yaml"
    )
    reach = casadi.SX.sym("reach")
    (shape,) = described.build({"reach": reach}).body("arm").collisions
    numbers = casadi.Function(
        "f", [reach], [casadi.vertcat(*shape.size, *shape.placement.position)]
    )
    np.testing.assert_allclose(numbers(0.7).full().ravel(), [0.05, 0.6, 0.4, 0, 0], atol=1e-15)
    np.testing.assert_allclose(
        np.array(shape.placement.rotation, dtype=float)[:, 2], [1, 0, 0], atol=1e-15
    )
    aside = Description(ROUND % "{kind: capsule, start: B, end: C, radius: 0.05}", "arm.robot.yaml")
    with pytest.raises(InvalidFile, match="goes along x, y or z of its body"):
        aside.build({"reach": reach})


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ("{kind: box, start: A, end: B, radius: 0.1}", "belong to a cylinder or capsule"),
        (
            "{kind: capsule, start: A, end: B, radius: 0.1, size: [1, 1]}",
            "neither size nor placement",
        ),
        ("{kind: capsule, start: A, radius: 0.1}", "without end"),
        ("{kind: capsule, start: A, end: D, radius: 0.1}", 'unknown point "D"'),
        ("{kind: capsule, start: A, end: B, radius: -0.1}", "radius of the capsule is negative"),
        ("{kind: capsule}", 'or "start", "end" and "radius"'),
    ],
)
def test_a_round_shape_that_contradicts_itself_is_refused(shape, sentence):
    with pytest.raises(InvalidFile, match=sentence):
        read(ROUND % shape, strict=True)


def test_rows_and_base_of_a_dh_table_have_shapes():
    robot = lw.load("ur5e")
    shapes = {body.name: body.collisions for body in robot.model.bodies}
    assert [name for name, own in shapes.items() if not own] == [
        "upper_arm_link_axis",
        "forearm_link_axis",
    ]
    assert all(body.visuals == body.collisions for body in robot.model.bodies)
    row = "dh: {convention: standard, parent: arm, base_shapes: [], rows: [{a: 1}]}\n"
    with pytest.raises(InvalidFile, match='stands on body "arm"'):
        read(ROUND % "" + row)


def test_every_key_of_the_schema_says_what_it_means_and_says_it_once():
    """Words stand beside the fields of elements, in the vocabulary, or in words.py, never twice."""
    from linkwork.formats.robot_yaml.schema import Record
    from linkwork.formats.robot_yaml.vocabulary import ROBOT
    from linkwork.formats.robot_yaml.words import WORDS

    silent, records = [], []

    def walk(schema: dict) -> None:
        for key, part in schema.get("properties", {}).items():
            if not part.get("description") and key != "type":
                silent.append((schema["title"], key))
            walk(part)
        for word in ("anyOf", "oneOf"):
            for part in schema.get(word, ()):
                walk(part)
        for word in ("items", "additionalProperties"):
            if isinstance(schema.get(word), dict):
                walk(schema[word])

    def gather(kind) -> None:
        if isinstance(kind, Record):
            records.append(kind)
        inner = (
            getattr(kind, "fields", None)
            or getattr(kind, "choices", None)
            or getattr(kind, "kinds", None)
            or {}
        )
        for each in inner.values():
            gather(each)
        if hasattr(kind, "kind"):
            gather(kind.kind)

    walk(json_schema())
    gather(ROBOT)
    assert not silent
    assert not [
        (r.what, key) for r in records for key in r.keys if key in WORDS.get(r.what, ("", {}))[1]
    ]
    assert all(r.about or r.what in WORDS for r in records)
