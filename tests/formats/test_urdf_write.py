"""Writing URDF: what is read back is the same robot, for us and for Pinocchio."""

from __future__ import annotations

import math
from dataclasses import replace

import casadi
import numpy as np
import pinocchio as pin
import pytest

from linkwork.errors import NotPossible
from linkwork.formats.urdf import read_urdf, read_urdf_text, urdf_text, write_urdf
from linkwork.model import (
    Body,
    Frame,
    Joint,
    Limits,
    MassProperties,
    Model,
    Placement,
    Shape,
    build_tree,
)
from linkwork.model.edit import with_gravity
from linkwork.model.elements import Gear
from linkwork.model.joint import TYPES
from linkwork.model.rotation import from_rpy
from tests.numeric import pseudo_inertia, world_poses
from tests.published import URDFS
from tests.random_models import random_model, random_q

SOME = [
    *(
        "a1/a1",
        "allegro_hand/allegro_right_hand",
        "baxter/baxter",
        "double_pendulum/double_pendulum_continuous",
    ),
    *(
        "g1/g1_29dof_rev_1_0",
        "human/human",
        "icub/icub",
        "iris/iris",
        "panda/panda",
        "pr2/pr2",
        "romeo/romeo",
    ),
    *("solo/solo12", "talos_data/talos_full_v2", "tiago/tiago_dual", "ur/ur5_robot", "xarm/xarm7"),
]

# Rotations pass through roll, pitch, yaw: three sines and cosines, an ulp each.
ROTATION = 1e-15


def assert_same_robot(got: Model, wanted: Model, tolerance: float = 1e-14) -> None:
    """Same bodies at the same poses with the same matter and points,
    same coordinates in the same order."""
    a, b = build_tree(got, merge=False), build_tree(wanted, merge=False)
    assert [n.kind for n in a.nodes if n.nv] == [n.kind for n in b.nodes if n.nv]
    assert (a.nq, a.nv, a.independent, a.mimic) == (b.nq, b.nv, b.independent, b.mimic)
    assert [n.armature for n in a.nodes if n.nv] == [n.armature for n in b.nodes if n.nv]
    q = random_q(wanted, seed=1)
    flat = [x for joint in b.coordinates for x in q[joint]]
    own, at = {joint.name: () for joint in got.joints}, 0
    for name, (_, nq, _, _) in a.coordinates.items():
        own[name], at = flat[at : at + nq], at + nq
    poses, expected = world_poses(got, own), world_poses(wanted, q)
    for body in wanted.bodies:
        twin = got.body(body.name)
        assert np.abs(poses[body.name] - expected[body.name]).max() <= tolerance * 10
        assert np.array_equal(
            pseudo_inertia(twin.mass_properties), pseudo_inertia(body.mass_properties)
        )
        assert (twin.points, twin.has_inertia) == (body.points, body.has_inertia)
        for mine, theirs in zip(
            (*twin.visuals, *twin.collisions), (*body.visuals, *body.collisions), strict=True
        ):
            assert replace(mine, placement=theirs.placement) == theirs
    assert [(f.name, f.body) for f in got.frames] == [(f.name, f.body) for f in wanted.frames]
    for mine, theirs in zip(got.frames, wanted.frames, strict=True):
        assert (
            np.abs(np.subtract(mine.placement.rotation, theirs.placement.rotation)).max()
            <= ROTATION
        )
        assert mine.placement.position == theirs.placement.position


@pytest.mark.parametrize("name", SOME)
def test_a_published_robot_survives_the_round_trip(name, tmp_path):
    model = read_urdf(URDFS[name])
    write_urdf(model, tmp_path / "robot.urdf")
    again = read_urdf(tmp_path / "robot.urdf")
    assert again.name == model.name
    assert_same_robot(again, model)
    for joint in model.joints:
        twin = again.joint(joint.name)
        kept = ("type", "parent", "child", "axis", "mimic", "damping", "friction")
        assert all(getattr(twin, each) == getattr(joint, each) for each in kept)
        assert (twin.limits or (Limits(),)) == (joint.limits or (Limits(),))


@pytest.mark.parametrize("name", SOME)
def test_pinocchio_reads_what_we_write(name, tmp_path):
    path = tmp_path / "robot.urdf"
    write_urdf(read_urdf(URDFS[name], mimic="independent"), path)
    wanted, got = (
        pin.buildModelFromUrdf(str(p), pin.JointModelFreeFlyer(), False)
        for p in (URDFS[name], path)
    )
    assert list(got.names) == list(wanted.names)
    assert got.nq == wanted.nq
    q = pin.randomConfiguration(wanted, -np.ones(wanted.nq), np.ones(wanted.nq))
    v = np.linspace(-1, 1, wanted.nv)
    expected = pin.rnea(wanted, wanted.createData(), q, v, v)
    tau = pin.rnea(got, got.createData(), q, v, v)
    assert np.abs(tau - expected).max() <= 1e-12 * np.abs(expected).max()
    assert np.array_equal(got.upperPositionLimit[7:], wanted.upperPositionLimit[7:])


def resistance(model: Model) -> list[tuple[float, float]]:
    """Damping and friction of every moving joint; twice for those that are written as two."""
    twice = {"fixed": 0, "cylindrical": 2, "universal": 2}
    return [(j.damping, j.friction) for j in model.joints for _ in range(twice.get(j.type, 1))]


WRITABLE = tuple(t for t in TYPES if t not in ("helical", "ball"))


@pytest.mark.parametrize("seed", range(20))
def test_random_models_survive_the_round_trip(seed):
    """Cylindrical and universal joints as pairs, frames, points, mimic, rotor inertia,
    roots that stand on joints."""
    model = random_model(seed, types=WRITABLE)
    keep = lambda joint: () if joint.type in ("planar", "floating") else joint.limits
    model = replace(
        model, joints=tuple(replace(joint, limits=keep(joint)) for joint in model.joints)
    )
    again = read_urdf_text(urdf_text(model))
    assert_same_robot(again, model)
    assert resistance(again) == resistance(model)


def test_several_bodies_may_stand_in_the_world():
    model = Model("two", (Body("world"), Body("b"), Body("c")), (Joint("j", "revolute", "b", "c"),))
    again = read_urdf_text(urdf_text(model))
    assert [body.name for body in again.bodies] == ["world", "b", "c"]
    assert_same_robot(again, model)


@pytest.mark.parametrize(
    "pitch", [math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-9, 1.5707963267948961, 0.3]
)
def test_rotations_survive_gimbal_lock(pitch):
    T = Placement(from_rpy((0.7, pitch, -2.0)), (1 / 3, 2e-300, -1e100))
    model = Model("r", (Body("a"), Body("b")), (Joint("j", "fixed", "a", "b", T),))
    again = read_urdf_text(urdf_text(model)).joint("j").placement
    assert np.abs(np.subtract(again.rotation, T.rotation)).max() <= ROTATION
    assert again.position == T.position


def test_infinite_bounds_survive_and_other_readers_accept_them(tmp_path):
    limits = (
        Limits(-math.inf, 2.0),
        Limits(-1.0, 1.0, math.inf, 3.0),
        Limits(),
        Limits(velocity=4.0),
    )
    names = ["base", "a", "b", "c", "d"]
    types = ("prismatic", "revolute", "prismatic", "continuous")
    joints = tuple(
        Joint(f"j{i}", types[i], names[i], names[i + 1], limits=(limits[i],)) for i in range(4)
    )
    matter = MassProperties(1.0, inertia=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    write_urdf(Model("r", tuple(Body(name, matter) for name in names), joints), tmp_path / "r.urdf")
    again = read_urdf(tmp_path / "r.urdf")
    assert [joint.limits for joint in again.joints] == [(limit,) for limit in limits]
    assert pin.buildModelFromUrdf(str(tmp_path / "r.urdf")).nv == 4


def test_shapes_and_strange_names_survive(tmp_path):
    (tmp_path / "mesh es").mkdir()
    for name in ("in.stl", "out & about.stl"):
        (tmp_path / "mesh es" / name).touch()
    inside, outside = tmp_path / "mesh es" / "in.stl", tmp_path / "mesh es" / "out & about.stl"
    shapes = (
        Shape("box", (1.0, 2.0, 3.0), color=(0.1, 0.2, 0.3, 1.0), name='a "box" & <more>\'s'),
        Shape("sphere", (0.1,)),
        Shape("cylinder", (0.1, 0.2)),
        Shape("capsule", (0.1, 0.2), Placement(position=(0.0, 0.0, 1.0))),
        Shape("mesh", (1.0, 1.0, -1.0), mesh=str(inside)),
        Shape("mesh", (1.0, 1.0, 1.0), mesh=str(outside)),
        Shape("mesh", (1.0, 1.0, 1.0), mesh="package://gone/x.stl"),
    )
    model = Model(
        '<ro"bot> & Söhne',
        (Body("tab\tand\nline", visuals=shapes, collisions=shapes[1:3], has_inertia=False),),
        (),
    )
    write_urdf(model, tmp_path / "mesh es" / "r.urdf")
    assert 'filename="in.stl"' in (tmp_path / "mesh es" / "r.urdf").read_text()
    write_urdf(model, tmp_path / "r.urdf")
    for path in (tmp_path / "mesh es" / "r.urdf", tmp_path / "r.urdf"):
        again = read_urdf(path)
        assert again.name == model.name
        assert again.bodies == model.bodies


def test_names_that_only_the_file_has_give_way():
    bodies = (Body("world", points=(("x", (1.0, 2.0, 3.0)),)), Body("world_x"), Body("tool"))
    joints = (
        Joint("u_1", "floating", None, "world"),
        Joint("u", "universal", "world", "world_x"),
        Joint("tool_frame", "fixed", "world_x", "tool"),
    )
    model = Model("r", bodies, joints, (Frame("tool_frame", "tool"),))
    assert_same_robot(read_urdf_text(urdf_text(model)), model)


def test_what_urdf_cannot_hold_is_refused_with_every_reason():
    bodies = tuple(Body(f"b{i}") for i in range(5))
    joints = (
        Joint("screw", "helical", "b0", "b1", pitch=0.1),
        Joint("hip", "ball", "b0", "b2"),
        Joint(
            "table", "planar", "b0", "b3", limits=(Limits(0.0, 1.0),) * 3, damping=(1.0, 2.0, 3.0)
        ),
        Joint("line", "revolute", "b0", "b4", damping=casadi.SX.sym("d")),
    )
    model = with_gravity(
        Model("r", bodies, joints, elements=(Gear("gear", "line"),)), (0.0, 0.0, -1.62)
    )
    with pytest.raises(NotPossible) as caught:
        urdf_text(replace(model, name="bell \x07"))
    for reason in (
        "it has 1 closed-loop elements",
        "its gravity is (0.0, 0.0, -1.62)",
        'joint "screw" is helical',
        'joint "hip" is ball',
        'joint "table" is planar and has limits',
        'joint "table" is planar and has a different damping for each coordinate',
        r"the name 'bell \x07' has characters that XML cannot hold",
        '"line" depends on live variables',
    ):
        assert reason in str(caught.value)


def test_what_is_only_drawing_is_left_out_with_a_warning(caplog):
    points = (("p", (0.0, 0.0, 0.0)), ("q", (1.0, 0.0, 0.0)))
    body = Body(
        "b", points=points, lines=(("p", "q"),), visuals=(Shape("ellipsoid", (1.0, 1.0, 2.0)),)
    )
    again = read_urdf_text(urdf_text(Model("r", (body,), (), notes=("measured",))))
    assert again.body("b").points == points
    assert 'robot "r": URDF has no place for drawing lines, some shapes, notes' in caplog.text


def test_a_robot_that_stands_in_the_world_cannot_float_again():
    text = urdf_text(Model("r", (Body("b"),), (Joint("root_joint", "floating", None, "b"),)))
    assert read_urdf_text(text).joints[0].parent is None
    with pytest.raises(ValueError, match="already says how the robot stands in the world"):
        read_urdf_text(text, root="floating")


@pytest.mark.parametrize("mark", ['is="wrold"', 'is="frame"', 'is="world"'])
def test_a_mark_in_the_wrong_place_is_refused(mark):
    middle = f'<link name="m" linkwork:{mark}/>'
    joints = "".join(
        f'<joint name="{a}{b}" type="fixed"><parent link="{a}"/><child link="{b}"/></joint>'
        for a, b in ("am", "mb")
    )
    text = (
        f'<robot name="r" xmlns:linkwork="x"><link name="a"/>{middle}<link '
        f'name="b"/>{joints}</robot>'
    )
    with pytest.raises(ValueError, match=rf'link "m" is marked linkwork:{mark}, expected world'):
        read_urdf_text(text)
