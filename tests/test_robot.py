"""The facade: attributes, configurations, robots made from robots, and what they share."""

from __future__ import annotations

import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.doors import MARK
from linkwork.engine import kernel
from linkwork.errors import InvalidInput, InvalidModel, UnknownName
from linkwork.model import Body, Joint, Limits, MassProperties, Model, Placement, edit, validated

BOX = MassProperties(
    2.0, (0.1, 0.0, 0.02), ((0.02, 0.0, 0.001), (0.0, 0.03, 0.0), (0.001, 0.0, 0.04))
)


def arm(name="arm", mass=2.0) -> lw.Robot:
    """Two revolute joints, a slider and a tool behind a fixed joint."""
    matter = MassProperties(mass, BOX.com, BOX.inertia)
    bodies = (
        Body("base"),
        Body("upper", matter, points=(("elbow", (0.3, 0.0, 0.0)),)),
        Body("lower", BOX),
        Body("slide", BOX),
        Body("tool", BOX),
    )
    above, along = Placement(position=(0.0, 0.0, 0.2)), Placement(position=(0.2, 0.0, 0.0))
    joints = (
        Joint(
            "shoulder",
            "revolute",
            "base",
            "upper",
            above,
            (0.0, 1.0, 0.0),
            limits=(Limits(-1.0, 2.0, 3.0, 50.0),),
        ),
        Joint(
            "elbow",
            "revolute",
            "upper",
            "lower",
            Placement(position=(0.3, 0.0, 0.0)),
            (0.0, 0.0, 1.0),
        ),
        Joint(
            "reach",
            "prismatic",
            "lower",
            "slide",
            along,
            (1.0, 0.0, 0.0),
            limits=(Limits(0.0, 0.1),),
        ),
        Joint("flange", "fixed", "slide", "tool", Placement(position=(0.05, 0.0, 0.0))),
    )
    return lw.Robot(validated(Model(name, bodies, joints)))


def walker() -> lw.Robot:
    """A free body with a ball joint and a revolute joint."""
    bodies = (Body("trunk", BOX), Body("thigh", BOX), Body("shank", BOX))
    joints = (
        Joint("root", "floating", None, "trunk"),
        Joint("hip", "ball", "trunk", "thigh", Placement(position=(0.0, 0.1, -0.1))),
        Joint(
            "knee",
            "revolute",
            "thigh",
            "shank",
            Placement(position=(0.0, 0.0, -0.4)),
            (0.0, 1.0, 0.0),
        ),
    )
    return lw.Robot(validated(Model("walker", bodies, joints)))


def test_attributes_name_everything():
    robot = arm()
    assert (robot.name, robot.nq, robot.nv) == ("arm", 3, 3)
    assert robot.bodies == ("base", "upper", "lower", "slide", "tool")
    assert robot.joints == ("shoulder", "elbow", "reach")
    assert set(robot.frames) >= {"base", "tool", "upper.elbow"}
    assert robot.limits.lower.tolist() == [-1.0, -np.inf, 0.0] and robot.limits.velocity[0] == 3.0
    assert robot.index("reach") == slice(2, 3)
    text = str(robot)
    assert "shoulder" in text and "prismatic" in text and "nq = 3" in text


def test_configurations_by_name_random_and_neutral():
    robot = arm()
    assert robot.q(elbow=0.3).tolist() == [0.0, 0.3, 0.0]
    with pytest.raises(UnknownName, match='no moving joint "elbov"; did you mean "elbow"'):
        robot.q(elbov=0.3)
    with pytest.raises(InvalidInput, match='joint "elbow" got'):
        robot.q(elbow=[1, 2])
    q = robot.random(500, seed=4)
    assert (
        q.shape == (500, 3)
        and np.array_equal(q, robot.random(500, seed=4))
        and robot.random().shape == (3,)
    )
    assert (
        (q >= robot.limits.lower).all()
        and (q <= robot.limits.upper).all()
        and np.abs(q[:, 1]).max() <= np.pi
    )
    free = walker()
    assert free.neutral().tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0]
    np.testing.assert_allclose(
        np.linalg.norm(free.random(50, seed=0)[:, 3:7], axis=1), 1.0, rtol=1e-14
    )


@pytest.mark.parametrize("size", [1e-9, 1e-4, 1e-2, 0.5, 2.0])
def test_difference_undoes_integrate(size):
    robot = walker()
    rng = np.random.default_rng(1)
    q, dv = robot.random(200, seed=2), size * rng.normal(size=(200, robot.nv))
    turns = (
        np.linalg.norm(dv.reshape(200, -1)[:, [3, 4, 5]], axis=1),
        np.linalg.norm(dv[:, 6:9], axis=1),
    )
    keep = (turns[0] < 3.0) & (turns[1] < 3.0)  # beyond pi the shortest turn is another one
    back = robot.difference(q, robot.integrate(q, dv))
    np.testing.assert_allclose(back[keep], dv[keep], rtol=1e-9, atol=3e-15)
    np.testing.assert_allclose(
        np.linalg.norm(robot.integrate(q, dv)[:, 3:7], axis=1), 1.0, rtol=1e-15
    )


def test_integrate_and_difference_agree_with_pinocchio():
    import pinocchio as pin

    robot = walker()
    model = pin.Model()
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    hip = model.addJoint(root, pin.JointModelSpherical(), pin.SE3.Identity(), "hip")
    model.addJoint(hip, pin.JointModelRY(), pin.SE3.Identity(), "knee")
    rng = np.random.default_rng(0)
    q0, q1 = robot.random(50, seed=0), robot.random(50, seed=1)
    dv = rng.normal(size=(50, 10))
    for k in range(50):
        ours, theirs = (
            robot.integrate(q0[k], dv[k]),
            pin.integrate(model, q0[k].copy(), dv[k].copy()),
        )
        for quaternion in (slice(3, 7), slice(7, 11)):  # both signs are the same rotation
            theirs[quaternion] *= np.sign(theirs[quaternion] @ ours[quaternion])
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)
        expected = pin.difference(model, q0[k].copy(), q1[k].copy())
        # turns near pi
        np.testing.assert_allclose(robot.difference(q0[k], q1[k]), expected, rtol=0, atol=1e-11)


def test_a_quaternion_off_unit_length_is_refused():
    robot = walker()
    q = robot.random(5, seed=0)
    zero = np.zeros((5, robot.nv))
    robot.inverse_dynamics(q, zero, zero)
    q[3, 3:7] *= 1 + 1e-5
    with pytest.raises(InvalidInput, match=r"of sample .*3.*quaternion .* off unit length"):
        robot.inverse_dynamics(q, zero, zero)
    with pytest.raises(InvalidInput, match="quaternion"):
        robot.inverse_dynamics(q[3], zero[3], zero[3])


def test_messages_name_the_robot_and_its_sizes():
    robot = arm()
    with pytest.raises(
        InvalidInput,
        match=r'inverse_dynamics: v has shape \(1000, 2\), expected \(\.\.\., 3\): robot "arm" '
        r"has nv = 3",
    ):
        robot.inverse_dynamics(np.zeros((1000, 3)), np.zeros((1000, 2)), np.zeros((1000, 3)))
    with pytest.raises(UnknownName, match='robot "arm" has no frame "tol"; did you mean "tool"'):
        robot.pose(np.zeros(3), "tol")
    with pytest.raises(InvalidInput, match="reference is 'local'"):
        robot.jacobian(np.zeros(3), "tool", reference="local")


def test_equal_robots_share_kernels_and_others_do_not():
    first, second, heavier = arm("one"), arm("two"), arm("three", mass=3.0)
    zero = np.zeros(3)
    first.gravity_torque(zero)
    before = dict(kernel.counts)
    assert np.array_equal(second.gravity_torque(zero), first.gravity_torque(zero))
    assert kernel.counts == before
    assert not np.array_equal(heavier.gravity_torque(zero), first.gravity_torque(zero))
    (mine,) = first.kernels.values()
    (yours,) = second.kernels.values()
    assert mine is yours and mine.operations > 0


def test_a_pickled_robot_gives_the_same_bits():
    robot = arm()
    q = robot.random(20, seed=0)
    again = pickle.loads(pickle.dumps(robot))
    assert again.model == robot.model and np.array_equal(
        again.gravity_torque(q), robot.gravity_torque(q)
    )


def test_two_python_threads_on_a_new_robot():
    robot, found = arm(mass=2.7182), []
    q, v, a = (np.random.default_rng(k).normal(size=(300, 3)) for k in range(3))

    def work():
        found.append(np.array([robot.inverse_dynamics(*row) for row in zip(q, v, a, strict=True)]))

    workers = [threading.Thread(target=work) for _ in range(4)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    assert len(found) == 4 and all(
        np.array_equal(f, robot.inverse_dynamics(q, v, a)) for f in found
    )


def test_frames_points_and_bodies_are_placed_alike():
    robot = arm().with_frame("tcp", "tool", xyz=(0.1, 0.0, 0.0))
    q = np.array([0.3, -0.5, 0.05])
    poses, points = robot.forward_kinematics(q), robot.points(q)
    np.testing.assert_allclose(robot.pose(q, "tool"), poses["tool"], atol=1e-15)
    np.testing.assert_allclose(
        robot.pose(q, "upper.elbow")[:3, 3], points["upper"]["elbow"], atol=1e-15
    )
    np.testing.assert_allclose(poses["lower"][:3, 3], points["upper"]["elbow"], atol=1e-15)
    np.testing.assert_allclose(
        robot.pose(q, "tcp"),
        poses["tool"] @ [[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        atol=1e-15,
    )
    assert poses.matrix().shape == (5, 4, 4) and points["upper"]["elbow"].shape == (3,)
    batch = robot.forward_kinematics(np.tile(q, (4, 2, 1)))
    assert batch.rotation.shape == (4, 2, 5, 3, 3) and batch["tool"].shape == (4, 2, 4, 4)


def test_locking_a_joint_is_holding_it():
    robot = arm()
    q, v, a = (np.random.default_rng(k).normal(size=(10, 3)) for k in range(3))
    q[:, 1], v[:, 1], a[:, 1] = 0.4, 0.0, 0.0
    locked = robot.locked(elbow=0.4)
    assert locked.joints == ("shoulder", "reach")
    keep = [0, 2]
    np.testing.assert_allclose(
        locked.inverse_dynamics(q[:, keep], v[:, keep], a[:, keep]),
        robot.inverse_dynamics(q, v, a)[:, keep],
        rtol=1e-12,
        atol=1e-13,
    )


def test_attached_and_moved_robots():
    robot = arm()
    double = robot.attach(arm("hand"), "tool", prefix="hand_")
    assert double.nv == 6 and "hand_shoulder" in double.joints
    q = double.random(seed=0)
    chain = robot.pose(q[:3], "tool") @ robot.pose(q[3:], "tool")
    np.testing.assert_allclose(double.pose(q, "hand_tool"), chain, atol=1e-14)
    moved = robot.with_base(xyz=(1.0, 2.0, 3.0))
    np.testing.assert_allclose(
        moved.pose(q[:3], "tool")[:3, 3] - robot.pose(q[:3], "tool")[:3, 3], [1, 2, 3], atol=1e-15
    )
    floating = robot.with_base(floating=True)
    assert floating.nv == 9 and floating.nq == 10
    part = robot.subchain("upper", "slide")
    assert part.joints == ("elbow", "reach")


def test_payload_is_matter_of_the_link():
    light, heavy = arm(), arm()
    q, v, a = (np.random.default_rng(k).normal(size=(10, 3)) for k in range(3))
    payload = lw.Payload("tool", 1.5, (0.02, 0.01, -0.03), np.diag([0.004, 0.005, 0.006]))
    bodies = tuple(
        b
        if b.name != "tool"
        else Body(
            "tool",
            BOX
            + MassProperties(
                1.5, (0.02, 0.01, -0.03), tuple(map(tuple, np.diag([0.004, 0.005, 0.006]).tolist()))
            ),
        )
        for b in heavy.model.bodies
    )
    built = lw.Robot(Model("loaded", bodies, heavy.model.joints))
    expected = built.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(
        light.inverse_dynamics(q, v, a, payload=payload), expected, rtol=1e-12
    )
    before = dict(kernel.counts)
    masses = np.linspace(0, 3, 10)
    many = light.inverse_dynamics(
        q, v, a, payload=lw.Payload("tool", masses, payload.com, payload.inertia)
    )
    assert kernel.counts == before, "another mass must not compile"
    one = light.inverse_dynamics(
        q[4], v[4], a[4], payload=lw.Payload("tool", masses[4], payload.com, payload.inertia)
    )
    assert np.array_equal(many[4], one)
    halves = [lw.Payload("tool", 0.75, (0.02, 0.01, -0.03), payload.inertia / 2)] * 2
    np.testing.assert_allclose(
        light.inverse_dynamics(q, v, a, payload=halves), expected, rtol=1e-11
    )
    with pytest.raises(UnknownName, match='payload on unknown body "tol"'):
        light.inverse_dynamics(q, v, a, payload=lw.Payload("tol", 1.0))


def test_external_forces_are_the_jacobian_transposed():
    robot = arm().with_frame("tcp", "tool", xyz=(0.1, 0.0, 0.05))
    q, v, a = (np.random.default_rng(k).normal(size=(10, 3)) for k in range(3))
    F, G = np.random.default_rng(5).normal(size=(2, 10, 6))
    tau = robot.inverse_dynamics(q, v, a, forces={"tcp": F, "lower": G})
    expected = robot.inverse_dynamics(q, v, a)
    for frame, wrench in (("tcp", F), ("lower", G)):
        expected -= np.einsum("nij,ni->nj", robot.jacobian(q, frame), wrench)
    np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, v, a, forces={"base": F}),
        robot.inverse_dynamics(q, v, a),
        rtol=1e-12,
    )


def test_function_and_c_code(tmp_path):
    robot = arm()
    q, v, a = (np.random.default_rng(k).normal(size=3) for k in range(3))
    np.testing.assert_allclose(
        np.array(robot.function("inverse_dynamics")(q, v, a)).ravel(),
        robot.inverse_dynamics(q, v, a),
        rtol=1e-12,
    )
    path = robot.export_c("pose", tmp_path / "pose.c", frame="tool")
    assert "casadi" in path.read_text() and robot.prepare("inverse_dynamics").kernels


def test_loading_what_does_not_exist_suggests():
    with pytest.raises(lw.LinkworkError, match="ur5e"):
        lw.load("ur5ee")


def test_an_option_that_is_no_option_is_refused_with_the_nearest():
    robot = lw.load("ur5e")
    with pytest.raises(
        TypeError,
        match=r"gravity_torque\(\) got an unexpected option 'paylod'; did you mean \"payload\"",
    ):
        robot.gravity_torque(robot.neutral(), paylod=None, variables=None)
    with pytest.raises(TypeError, match="unexpected option 'speed'"):
        robot.pose(robot.neutral(), "tool0", speed=3)


def test_quantity_methods_reach_machine_code_without_a_door():
    """A door costs more than gravity of a small arm; compiled calls refuse arguments themselves."""
    assert not hasattr(lw.Robot.gravity_torque, MARK) and not hasattr(
        lw.Robot.inverse_dynamics, MARK
    )
    assert hasattr(lw.Robot.random, MARK)
    with pytest.raises(lw.LinkworkError, match="gravity_torque: q"):
        lw.load("ur5e").gravity_torque("nonsense")


@pytest.mark.parametrize(
    ("joint", "mass", "words"),
    [
        (Joint("j", "revolute", None, "a"), float("nan"), "is not finite"),
        (Joint("j", "revolute", "zz", "a"), 1.0, 'parent body "zz" is unknown'),
        (Joint("j", "revolute", "a", "a"), 1.0, "its own ancestor"),
        (Joint("j", "revolu", None, "a"), 1.0, 'did you mean "revolute"'),
        (Joint("j", "revolute", None, "a", axis=(0.0, 0.0, 0.0)), 1.0, "has length zero"),
    ],
    ids=["nan", "unknown parent", "own ancestor", "unknown kind", "no axis"],
)
def test_a_model_made_by_hand_is_checked_when_it_becomes_a_robot(joint, mass, words):
    with pytest.raises(InvalidModel, match=words):
        lw.Robot(Model("x", (Body("a", MassProperties(mass)),), (joint,)))


def test_a_model_made_by_hand_gets_unit_axes():
    long_axis = Joint("j", "revolute", None, "a", axis=(0.0, 0.0, 3.0))
    robot = lw.Robot(Model("x", (Body("a", MassProperties(1.0)),), (long_axis,)))
    assert robot.model.joints[0].axis == (0.0, 0.0, 1.0)
    assert lw.Robot(robot.model).model is robot.model  # checked once


def test_an_edit_that_leaves_the_bodies_is_checked_once(caplog):
    """What is not physical is told when a robot is made, and not again for each one made of it."""
    heavy = MassProperties(
        1.0, (0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 9.0))
    )
    robot = lw.Robot(Model("x", (Body("a", heavy),), (Joint("j", "revolute", None, "a"),)))
    assert len(caplog.records) == 1
    fallen = robot.with_gravity((0.0, 0.0, -1.62)).with_frame("tip", "a")
    assert fallen.model.is_checked and len(caplog.records) == 1
    assert not edit.with_gravity(replace(robot.model), (0.0, 0.0, 0.0)).is_checked


def test_a_function_knows_payloads_on_frames():
    robot = lw.load("ur5e")
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    held = lw.Payload("tool0", 2.0, (0.01, 0.02, 0.06), np.diag([0.1, 0.2, 0.25]))
    function = robot.function("inverse_dynamics", payload="tool0")
    assert function.name_in() == ["q", "v", "a", "mass_tool0", "com_tool0", "inertia_tool0"]
    tau = function(q, v, a, held.mass, held.com, held.inertia)
    np.testing.assert_allclose(
        np.ravel(tau), robot.inverse_dynamics(q, v, a, payload=held), rtol=1e-12
    )
    with pytest.raises(InvalidInput, match="expected each body once"):
        robot.function("inverse_dynamics", payload=["tool0", "wrist_3_link"])
