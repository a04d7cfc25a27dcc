"""Writing MJCF: what is read back is the same robot, MuJoCo agrees with it,
and what cannot be held is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import casadi
import mujoco
import numpy as np
import pytest

import linkwork as lw
from linkwork import quantities
from linkwork.errors import NotPossible
from linkwork.formats.mjcf import mjcf_text, read_mjcf, read_mjcf_text, write_mjcf
from linkwork.formats.urdf import read_urdf
from linkwork.model import (
    Body,
    Frame,
    Joint,
    Limits,
    MassProperties,
    Mimic,
    Model,
    Placement,
    Shape,
    build_tree,
)
from linkwork.model.carried import Carried
from linkwork.model.elements import (
    Coupling,
    FourBar,
    FourBarLoop,
    LoopClosure,
    Point,
    TorsionSpring,
)
from linkwork.model.rotation import from_rpy
from linkwork.model.validation import validated
from linkwork.subject import Subject
from tests.formats.mjcf.truth import Sides
from tests.numeric import pseudo_inertia, world_poses
from tests.published import URDFS
from tests.random_models import random_matter, random_model, random_q

HERE = Path(__file__).parent / "mjcf"
MODELS = {path.stem: path for path in sorted(HERE.glob("*.xml"))}
TYPES = (
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "cylindrical",
    "universal",
    "planar",
    "ball",
)
SAME = 1e-12
"""Relative; quaternions and principal axes are rounded once, so the worst seen is 4e-15."""


def arrays(result) -> list[np.ndarray]:
    return [np.array(x) for x in (result if isinstance(result, (tuple, list)) else (result,))]


def values(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    """Poses by body, frames, points, torque and the mass matrix times a."""
    subject = Subject(model)
    rotations, positions = arrays(quantities.trace(subject, "forward_kinematics")(q))[:2]
    rotations = rotations.reshape(-1, 3, 3)
    found = {
        f"pose {b.name}": np.c_[rotations[i], positions[i]] for i, b in enumerate(model.bodies)
    }
    for frame in model.frames:
        found[f"frame {frame.name}"] = arrays(quantities.trace(subject, "pose", frame.name)(q))[0]
    for body in model.bodies:
        for label, at in body.points:
            found[f"point {body.name}.{label}"] = found[f"pose {body.name}"] @ [*at, 1.0]
    torque = quantities.trace(subject, "inverse_dynamics")
    zero = np.zeros_like(v)
    found["torque"] = arrays(torque(q, v, a))[0]
    found["inertia"] = arrays(torque(q, zero, a))[0] - arrays(torque(q, zero, zero))[0]
    return found


def assert_same(model: Model, other: Model, seed: int = 0) -> None:
    one, two = Subject(model), Subject(other)
    assert (one.nq, one.nv) == (two.nq, two.nv)
    coordinates = random_q(model, seed)
    tree, independent = one.tree, one.tree.independent[0]
    full = np.zeros(tree.nq)
    for name, (at, size, _, _) in tree.coordinates.items():
        full[at : at + size] = coordinates[name]
    v, a = np.random.default_rng(seed).normal(size=(2, one.nv))
    first, second = (values(m, full[list(independent)], v, a) for m in (model, other))
    assert set(first) <= set(second)
    for label, value in first.items():
        size = max(1.0, np.abs(value).max(initial=0.0))
        assert np.abs(value - second[label]).max(initial=0.0) < SAME * size, label
    np.testing.assert_allclose(other.gravity, model.gravity)


def assert_same_bodies(model: Model, other: Model) -> None:
    """Same bodies in the same order, at the same places for a random q, of the same matter:
    so the same dynamics."""
    assert [body.name for body in other.bodies] == [body.name for body in model.bodies]
    assert [j.name for j in other.joints if j.nv] == [n.joint for n in build_tree(model).nodes[1:]]
    q = random_q(model, 0)
    poses, others = (
        world_poses(model, q),
        world_poses(other, {**q, **{j.name: () for j in other.joints if not j.nq}}),
    )
    size = max(1.0, max(np.abs(T).max() for T in poses.values()))
    for one, two in zip(model.bodies, other.bodies):
        assert np.abs(poses[one.name] - others[one.name]).max() < SAME * size
        difference = pseudo_inertia(one.mass_properties) - pseudo_inertia(two.mass_properties)
        assert np.abs(difference).max() < SAME * max(1.0, one.mass_properties.mass)
        assert two.has_inertia == one.has_inertia
    for joint in model.joints:
        if joint.nv:
            twin = other.joint(joint.name)
            assert (joint.armature, joint.damping, joint.limits) == (
                twin.armature,
                twin.damping,
                twin.limits,
            )


@pytest.mark.parametrize("seed", range(8))
def test_random_robots_come_back(seed):
    model = validated(random_model(seed, types=TYPES), "any")
    text = mjcf_text(model)
    back = read_mjcf_text(text)
    assert_same(model, back)
    for joint in model.joints:
        if joint.nv == 1:
            other = back.joint(joint.name)
            assert other.limits == joint.limits
            assert (other.damping, other.friction, other.armature) == (
                joint.damping,
                joint.friction,
                joint.armature,
            )
            assert (other.mimic is None) == (joint.mimic is None)
    mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize("seed", range(4))
def test_mujoco_agrees_with_what_is_written(seed, tmp_path, monkeypatch):
    """Poses, mass matrix and torque of MuJoCo for the file are those of the model itself,
    not only of its reading."""
    monkeypatch.chdir(tmp_path)
    types = ("fixed", "revolute", "continuous", "prismatic", "ball")
    model = validated(random_model(seed, types=types, mimic=False), "any")
    write_mjcf(model, tmp_path / "robot.xml")
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    for flag in ("CONSTRAINT", "CONTACT", "SPRING", "DAMPER", "ACTUATION"):
        theirs.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    (each,) = Sides(theirs, model).at_random_states(1)
    assert max(each.worst().values()) < 1e-12, each.worst()


@pytest.mark.parametrize("name", MODELS)
def test_our_models_come_back(name, tmp_path):
    model = read_mjcf(MODELS[name])
    write_mjcf(model, tmp_path / "robot.xml")
    back = read_mjcf(tmp_path / "robot.xml", folders=[HERE])
    assert_same(model, back)
    assert [b.name for b in back.bodies] == [b.name for b in model.bodies]
    assert [j.name for j in back.joints if j.nv] == [j.name for j in model.joints if j.nv]
    assert back.carried == model.carried
    assert [each.name for each in back.elements] == [each.name for each in model.elements]
    assert [name for name, _ in back.configurations] == [name for name, _ in model.configurations]
    for (_, one), (_, two) in zip(model.configurations, back.configurations):
        for (joint, q), (other, p) in zip(one, two, strict=True):
            assert joint == other
            np.testing.assert_allclose(q, p, atol=1e-15)
    for one, two in zip(model.bodies, back.bodies):
        assert [shape.kind for shape in one.visuals] == [shape.kind for shape in two.visuals]
    mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))


# published robots that MuJoCo's rules do not allow, by a word of the reason
REFUSED = {
    "alex/alex_psyonic_hands": "asks for A",
    "allegro_hand/allegro_left_hand": "asks for A",
    "allegro_hand/allegro_right_hand": "asks for A",
    "anymal_b_simple/anymal": "asks for A",
    "anymal_b_simple/anymal-kinova": "asks for A",
    "anymal_c_simple/anymal": "asks for A",
    "b1/b1": "asks for A",
    "b1/b1-z1": "asks for A",
    "go1/go1": "asks for A",
    "hyq/hyq_no_sensors": "asks for A",
    "icub/icub": "moves without mass",
    "icub/icub_reduced": "moves without mass",
    "pr2/pr2": "asks for A",
    "romeo/romeo": "moves without mass",
    "romeo/romeo_laas_small": "none that is negative",
    "romeo/romeo_small": "asks for A",
    "tiago/tiago": "none that is negative",
    "tiago/tiago_dual": "none that is negative",
    "tiago/tiago_no_hand": "none that is negative",
}


@pytest.mark.parametrize("name", URDFS)
def test_published_robots_come_back_or_are_refused_by_name(name):
    model = read_urdf(URDFS[name])
    shapeless = replace(
        model, bodies=tuple(replace(body, visuals=(), collisions=()) for body in model.bodies)
    )
    if name in REFUSED:
        with pytest.raises(NotPossible, match=REFUSED[name]):
            mjcf_text(shapeless)
    else:
        assert_same_bodies(shapeless, read_mjcf_text(mjcf_text(shapeless)))


@pytest.mark.parametrize("name", ["ur/ur5_robot", "solo/solo12", "xarm/xarm7"])
def test_mujoco_compiles_robots_with_their_meshes(name):
    """STL in binary and OBJ are written, Collada is left out."""
    model = mujoco.MjModel.from_xml_string(mjcf_text(read_urdf(URDFS[name])))
    assert model.nv == Subject(read_urdf(URDFS[name])).nv


def matter() -> MassProperties:
    return random_matter(np.random.default_rng(0))


def two_bodies(*joints: Joint, **changes) -> Model:
    bodies = (Body("a", matter()), Body("b", matter()))
    return replace(
        Model(
            "two",
            bodies,
            joints or (Joint("j", "revolute", None, "a"), Joint("k", "revolute", "a", "b")),
        ),
        **changes,
    )


def test_a_massless_body_between_joints_comes_back():
    between = Body("cross", has_inertia=False)
    joints = (
        Joint(
            "x",
            "revolute",
            "a",
            "cross",
            Placement(from_rpy((0.1, 0.2, 0.3)), (1.0, 2.0, 3.0)),
            (1.0, 0.0, 0.0),
        ),
        Joint(
            "y",
            "revolute",
            "cross",
            "b",
            Placement(from_rpy((0.4, 0.5, 0.6)), (0.3, 0.2, 0.1)),
            (0.0, 1.0, 0.0),
        ),
    )
    model = Model("m", (Body("a", matter()), between, Body("b", matter())), joints)
    text = mjcf_text(model)
    back = read_mjcf_text(text)
    assert mujoco.MjModel.from_xml_string(text).nbody == 3
    assert [b.name for b in back.bodies] == ["a", "cross", "b"]
    assert_same(model, back)


def test_a_massless_body_with_something_on_it_is_refused():
    joints = (Joint("x", "revolute", None, "m"), Joint("y", "revolute", "m", "b"))
    bodies = (Body("m", has_inertia=False, visuals=(Shape("sphere", (1.0,)),)), Body("b", matter()))
    with pytest.raises(NotPossible, match='body "m" moves without mass'):
        mjcf_text(Model("m", bodies, joints))


def test_floating_robots_come_back_where_they_begin():
    model = two_bodies(
        Joint("float", "floating", None, "a", damping=0.1),
        Joint("k", "ball", "a", "b", Placement(position=(1.0, 2.0, 3.0))),
        configurations=(
            (
                "qpos0",
                (("float", (1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5)), ("k", (0.0, 0.0, 0.0, 1.0))),
            ),
            ("home", (("float", (0.0, 0.0, 1.0, 0.0, 0.0, 0.6, 0.8)), ("k", (0.6, 0.0, 0.0, 0.8)))),
        ),
    )
    text = mjcf_text(model)
    back = read_mjcf_text(text)
    assert_same(model, back)
    assert back.configurations == model.configurations
    theirs = mujoco.MjModel.from_xml_string(text)
    np.testing.assert_allclose(theirs.qpos0[:7], (1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5))
    np.testing.assert_allclose(
        theirs.key_qpos[0], (0.0, 0.0, 1.0, 0.8, 0.0, 0.0, 0.6, 0.8, 0.6, 0.0, 0.0)
    )


def test_frames_points_and_limits_come_back():
    limits = (
        Limits(-1.0, 2.0, 3.0, 4.0),
        Limits(0.0, 0.0),
        Limits(-math.inf, 1.0, effort=0.0),
        Limits(effort=5.0),
    )
    joints = [
        Joint(f"j{k}", "revolute", None if k == 0 else f"b{k - 1}", f"b{k}", limits=(x,))
        for k, x in enumerate(limits)
    ]
    bodies = [
        Body(f"b{k}", matter(), points=(("p", (1.0, 2.0, float(k))), ("q r", (0.0, 0.0, 0.0))))
        for k in range(4)
    ]
    frames = (Frame("tool", "b3", Placement(from_rpy((1.0, 2.0, 3.0)), (1.0, 2.0, 3.0))),)
    model = Model("m", tuple(bodies), tuple(joints), frames, gravity=(1.0, 2.0, 3.0))
    back = read_mjcf_text(mjcf_text(model))
    assert_same(model, back)
    assert [j.limits for j in back.joints if j.nv] == [(x,) for x in limits]
    assert [b.points for b in back.bodies] == [b.points for b in model.bodies]
    assert [f.name for f in back.frames] == ["tool"]


def test_elements_come_back():
    elements = (
        LoopClosure(
            "pin",
            "point",
            Point("a", (1.0, 0.0, 0.0)),
            Point(None, (0.0, 1.0, 0.0)),
            dependent=("j",),
        ),
        LoopClosure(
            "glue",
            "weld",
            Point("a", (1.0, 0.0, 0.0)),
            Point("b"),
            rotation=from_rpy((0.1, 0.2, 0.3)),
        ),
        LoopClosure("soft", "weld", Point("a"), Point("b"), directions=("x", "y", "z")),
        Coupling("pair", (("j", 2.0), ("k", 3.0)), 0.5),
        Coupling("three", (("j", 2.0), ("k", 3.0), ("l", -1.0)), 0.5),
        TorsionSpring("coil", "j", 3.0, 0.2, 0.6),
    )
    joints = (
        Joint("j", "revolute", None, "a"),
        Joint("k", "prismatic", "a", "b"),
        Joint("l", "prismatic", "b", "c"),
    )
    reference = (("qpos0", (("j", (0.3,)), ("k", (0.4,)), ("l", (0.5,)))),)
    bodies = tuple(Body(name, matter()) for name in "abc")
    model = validated(
        Model("m", bodies, joints, elements=elements, configurations=reference), "any"
    )
    back = read_mjcf_text(mjcf_text(model))
    assert_same(model, back)
    assert back.configurations == reference
    found = {each.name: each for each in back.elements}
    assert set(found) == {each.name for each in elements}
    assert found["pin"] == elements[0]
    np.testing.assert_allclose(found["glue"].rotation, elements[1].rotation, atol=1e-15)
    assert found["soft"].directions == ("x", "y", "z")
    assert found["pair"].terms == (("j", 1.0), ("k", 1.5))
    assert found["pair"].offset == pytest.approx(0.25, abs=1e-15)
    assert found["three"].terms == elements[4].terms
    assert found["three"].offset == pytest.approx(0.5, abs=1e-15)
    # -(0.6 + 3 (q - 0.2))
    assert (found["coil"].stiffness, found["coil"].free) == (
        3.0,
        pytest.approx(0.0, abs=1e-16),
    )


def test_mimic_comes_back():
    joints = (
        Joint("j", "revolute", None, "a"),
        Joint("k", "prismatic", "a", "b", mimic=Mimic("j", -2.0, 0.3)),
    )
    model = two_bodies(
        *joints, configurations=(("qpos0", (("j", (0.7,)),)), ("home", (("j", (0.1,)),)))
    )
    back = read_mjcf_text(mjcf_text(model))
    assert_same(model, back)
    assert back.joint("k").mimic.joint == "j"
    assert back.joint("k").mimic.multiplier == -2.0
    assert back.joint("k").mimic.offset == pytest.approx(0.3, abs=1e-15)
    assert back.configurations == model.configurations


def test_flat_bodies_survive_the_rounding_of_mujocos_rule():
    """A + B = C of a turned plate: rounding alone may put C above; MuJoCo would refuse the file."""
    for seed in range(20):
        R = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
        I = R @ np.diag((1.0, 1.3, 2.3)) @ R.T
        I = tuple(tuple(float(x) for x in row) for row in (I + I.T) / 2)
        model = Model(
            "plate",
            (Body("a", MassProperties(2.0, (0.1, 0.2, 0.3), I)),),
            (Joint("j", "revolute", None, "a"),),
        )
        text = mjcf_text(model)
        mujoco.MjModel.from_xml_string(text)
        np.testing.assert_allclose(
            read_mjcf_text(text).bodies[0].mass_properties.inertia, I, atol=1e-14
        )


def test_shapes_come_back():
    box = Shape(
        "box",
        (1.0, 2.0, 3.0),
        Placement(from_rpy((1.0, 0.0, 0.0)), (1.0, 0.0, 0.0)),
        (1.0, 0.0, 0.0, 1.0),
        name="box",
    )
    ball, rod = (
        Shape("sphere", (0.5,)),
        Shape("capsule", (0.1, 0.4), Placement(position=(0.0, 0.0, 1.0))),
    )
    mesh = Shape("mesh", (1.0, -1.0, 2.0), mesh=str(HERE / "assets" / "bracket.stl"))
    body = Body("a", matter(), visuals=(box, ball, mesh), collisions=(ball, rod))
    back = read_mjcf_text(
        mjcf_text(Model("m", (body,), (Joint("j", "revolute", None, "a"),))), folders=[HERE]
    ).bodies[0]
    assert {shape.kind for shape in back.visuals} == {"box", "sphere", "mesh"}
    assert {shape.kind for shape in back.collisions} == {"sphere", "capsule"}
    found = {shape.kind: shape for shape in (*back.visuals, *back.collisions)}
    assert (found["box"].size, found["box"].color, found["box"].name) == (
        box.size,
        box.color,
        "box",
    )
    assert (found["mesh"].size, found["mesh"].mesh) == (mesh.size, mesh.mesh)
    assert found["capsule"].placement == rod.placement
    assert back.mass_properties.mass == body.mass_properties.mass


def test_what_has_no_place_is_left_out_with_one_warning(caplog):
    body = Body(
        "a", matter(), points=(("p", (0.0, 0.0, 0.0)), ("q", (1.0, 0.0, 0.0))), lines=(("p", "q"),)
    )
    body = replace(body, visuals=(Shape("mesh", (1.0, 1.0, 1.0), mesh="package://x/y.dae"),))
    carried = (
        Carried("mjcf actuator motor", "gone", (("joint", "absent"),)),
        Carried("other thing"),
    )
    model = Model(
        "m",
        (body,),
        (Joint("j", "revolute", None, "a"),),
        motions=("wave",),
        notes=("n",),
        carried=carried,
    )
    mjcf_text(model)
    (record,) = caplog.records
    shapes = "1 shapes (y.dae is no file of a kind that MuJoCo loads)"
    assert record.getMessage().endswith(
        f"no place for drawing lines, motions, notes, {shapes}, 2 motors or tendons"
    )


HELICAL = two_bodies(Joint("j", "helical", None, "a", pitch=0.1), Joint("k", "revolute", "a", "b"))
IMPOSSIBLE = {
    "helical": (HELICAL, 'joint "j" is helical'),
    "kinematic": (replace(two_bodies(), kinematic_only=True), "kinematic only"),
    "floating elsewhere": (
        two_bodies(
            Joint("j", "floating", None, "a", Placement(position=(1.0, 0.0, 0.0))),
            Joint("k", "fixed", "a", "b"),
        ),
        'joint "j" floats',
    ),
    "floating on a body": (
        two_bodies(Joint("j", "revolute", None, "a"), Joint("k", "floating", "a", "b")),
        '"k" floats',
    ),
    "floating armature": (
        two_bodies(Joint("j", "floating", None, "a", armature=1.0), Joint("k", "fixed", "a", "b")),
        "floats with armature",
    ),
    "uneven damping": (
        two_bodies(
            Joint("j", "ball", None, "a", damping=(1.0, 2.0, 3.0)), Joint("k", "fixed", "a", "b")
        ),
        "different damping for each coordinate",
    ),
    "massless tip": (
        replace(two_bodies(), bodies=(Body("a", matter()), Body("b", has_inertia=False))),
        'body "b" moves without mass',
    ),
    "unphysical": (
        replace(
            two_bodies(),
            bodies=(
                Body(
                    "a",
                    MassProperties(
                        1.0, inertia=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 3.0))
                    ),
                ),
                Body("b", matter()),
            ),
        ),
        r"A \+ B >= C",
    ),
    "a body named world": (
        replace(
            two_bodies(Joint("j", "revolute", None, "world"), Joint("k", "revolute", "world", "b")),
            bodies=(Body("world", matter()), Body("b", matter())),
        ),
        "MuJoCo keeps that name",
    ),
    "a four-bar drive": (
        two_bodies(elements=(FourBar("s", "j", (FourBarLoop(1.0, 0.4, 1.0, 0.8),)),)),
        'no word for a FourBar: "s"',
    ),
    "part of a weld": (
        two_bodies(
            elements=(LoopClosure("w", "weld", Point("a"), Point("b"), directions=("x", "rx")),)
        ),
        'weld "w" holds x, rx',
    ),
    "two springs": (
        two_bodies(elements=(TorsionSpring("s", "j", 1.0), TorsionSpring("t", "j", 1.0))),
        'joint "j" has 2 springs',
    ),
    "a name": (two_bodies(name="a\x00b"), "characters that XML cannot hold"),
    "live numbers": (
        two_bodies(gravity=(0.0, 0.0, casadi.SX.sym("g"))),
        "depends on live variables",
    ),
}


@pytest.mark.parametrize(("model", "reason"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_mujoco_cannot_hold_is_refused_with_the_reason(model, reason, tmp_path):
    with pytest.raises(NotPossible, match=f"cannot be written as MJCF: .*{reason}"):
        write_mjcf(model, tmp_path / "robot.xml")
    assert not (tmp_path / "robot.xml").exists()


def test_every_reason_is_listed():
    model = replace(HELICAL, elements=(FourBar("s", "j", (FourBarLoop(1.0, 0.4, 1.0, 0.8),)),))
    with pytest.raises(NotPossible, match=r'"j" is helical.*; MJCF has no word for a FourBar: "s"'):
        mjcf_text(model)


def test_meshes_that_mujoco_does_not_load_are_converted(tmp_path, caplog):
    """A DAE becomes an STL beside the file, with the same triangles;
    without trimesh the reason is given."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    (tmp_path / "box.dae").write_bytes(trimesh.exchange.dae.export_collada(box))
    shape = Shape("mesh", (2.0, 1.0, 1.0), mesh=str(tmp_path / "box.dae"))
    lost = Shape("mesh", (1.0, 1.0, 1.0), mesh="package://nowhere/x.dae")
    bodies = (Body("a", matter(), visuals=(shape, lost)),)
    model = Model("m", bodies, (Joint("j", "revolute", None, "a"),))
    with caplog.at_level("WARNING", "linkwork"):
        write_mjcf(model, tmp_path / "m.xml")
    assert "1 shapes (x.dae is no file of a kind that MuJoCo loads)" in caplog.text
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    assert theirs.nmesh == 1
    assert (tmp_path / "m_meshes" / "box.stl").is_file()
    half = theirs.mesh_vert.max(axis=0)
    assert sorted(2 * half) == pytest.approx([0.2, 0.2, 0.3], abs=1e-6)


@pytest.mark.parametrize("suffix", ["xml", "urdf"])
def test_capsules_without_length_are_balls_for_mujoco(suffix, tmp_path):
    """The UR5e has one; MuJoCo refuses a capsule of length 0, and nothing may be left out."""
    robot = lw.load("ur5e")
    shapes = [shape for body in robot.model.bodies for shape in body.collisions]
    balls = sum(not shape.size[1] for shape in shapes)
    assert balls
    path = tmp_path / f"robot.{suffix}"
    lw.save(robot, path)
    again = lw.load(path)
    kinds = sorted(shape.kind for body in again.model.bodies for shape in body.collisions)
    assert kinds == ["capsule"] * (len(shapes) - balls) + ["sphere"] * balls
    assert mujoco.MjModel.from_xml_path(str(path)).ngeom >= len(shapes)
