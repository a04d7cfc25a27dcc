"""Edits of a model: the new robot does what the old one did under the stated condition."""

from __future__ import annotations

import math
from dataclasses import replace

import casadi
import numpy as np
import pytest

from linkwork.errors import InvalidInput, InvalidModel, NotPossible, UnknownName
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
from linkwork.model.edit import (
    attach,
    locked,
    renamed,
    subchain,
    with_base,
    with_frame,
    with_gravity,
)
from linkwork.model.joint import TYPES, resolved_mimic
from tests.numeric import matrix, total, world_poses
from tests.random_models import random_model, random_placement, random_q

SEEDS = range(8)
# Chains of a dozen random placements of up to a metre.
ROUNDING = 1e-13


def assert_poses(got: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert got.keys() == wanted.keys()
    assert max(np.abs(got[name] - wanted[name]).max() for name in wanted) < ROUNDING


def chain(*types: str) -> Model:
    names = ["base", *(f"b{i}" for i in range(len(types)))]
    joints = tuple(Joint(f"j{i}", type, names[i], names[i + 1]) for i, type in enumerate(types))
    return Model("chain", tuple(Body(name) for name in names), joints)


@pytest.mark.parametrize("seed", SEEDS)
def test_locking_is_standing_still(seed):
    """Half of the joints locked where they are: every body of every pose stays where it was."""
    model = random_model(seed, bodies=16)
    q = random_q(model, seed)
    leaders = [
        joint.name for joint in model.joints if joint.name not in resolved_mimic(model.joints)
    ]
    chosen = {name: q[name] if len(q[name]) != 1 else q[name][0] for name in leaders[::2]}
    rigid = locked(model, chosen)
    left = {joint.name: q[joint.name] if joint.nq else () for joint in rigid.joints}
    assert_poses(world_poses(rigid, left), world_poses(model, q))
    assert (
        np.abs(total(rigid, left) - total(model, q)).max()
        < 1e-12 * model.bodies[0].mass_properties.mass * 16
    )
    for joint in rigid.joints:
        follows = resolved_mimic(model.joints).get(joint.name, (joint.name,))[0]
        if follows in chosen:
            assert (joint.type, joint.limits, joint.mimic, joint.damping) == (
                "fixed",
                (),
                None,
                0.0,
            )
        else:
            assert joint == model.joint(joint.name)


@pytest.mark.parametrize("type", TYPES)
def test_every_type_can_be_locked(type):
    model = chain(type, "revolute")
    q = random_q(model, 5)
    rigid = locked(model, {"j0": q["j0"]})
    assert_poses(world_poses(rigid, {"j0": (), "j1": q["j1"]}), world_poses(model, q))
    assert build_tree(rigid).nv == 1


def test_followers_follow_a_locked_leader():
    model = chain("revolute", "prismatic", "revolute", "revolute")
    joints = list(model.joints)
    joints[1] = replace(joints[1], mimic=Mimic("j0", 2.0, 0.1))
    joints[3] = replace(joints[3], mimic=Mimic("j1", -1.0, 0.5))
    rigid = locked(replace(model, joints=tuple(joints)), {"j0": 0.3})
    assert [joint.type for joint in rigid.joints] == ["fixed", "fixed", "revolute", "fixed"]
    assert rigid.joint("j1").placement.position == (0.0, 0.0, 0.7)
    assert math.atan2(
        rigid.joint("j3").placement.rotation[1][0], rigid.joint("j3").placement.rotation[0][0]
    ) == pytest.approx(-0.2)
    with pytest.raises(NotPossible, match='joint "j3" follows joint "j0"; lock "j0" instead'):
        locked(replace(model, joints=tuple(joints)), {"j3": 0.0})


def test_locking_nothing_changes_nothing_and_nonsense_is_refused():
    model = chain("revolute", "ball")
    assert locked(model, {}) == model
    with pytest.raises(UnknownName, match='has no joint "j9"'):
        locked(model, {"j9": 0.0})
    with pytest.raises(InvalidInput, match=r'joint "j0".* expected 1 finite number'):
        locked(model, {"j0": (1.0, 2.0)})
    with pytest.raises(InvalidInput, match="'a lot', expected a number"):
        locked(model, {"j0": "a lot"})
    with pytest.raises(InvalidInput, match="None, expected 4 numbers"):
        locked(model, {"j1": None})
    with pytest.raises(InvalidInput, match="expected 1 finite number"):
        locked(model, {"j0": math.nan})
    with pytest.raises(InvalidInput, match="has length 2, expected 1"):
        locked(model, {"j1": np.array([0.0, 0.0, 0.0, 2.0])})


def test_named_configurations_lose_the_locked_joints():
    model = replace(
        chain("revolute", "revolute"), configurations=(("home", (("j0", (0.1,)), ("j1", (0.2,)))),)
    )
    assert locked(model, {"j0": 0.0}).configurations == (("home", (("j1", (0.2,)),)),)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_subchain_is_seen_from_its_base(seed):
    model = random_model(seed, mimic=False)
    parent = {joint.child: joint.parent for joint in model.joints}
    path = ["body_11"]
    while parent[path[-1]] is not None:
        path.append(parent[path[-1]])
    base = path[-2] if len(path) > 2 else path[-1]
    part = subchain(model, base, "body_11")
    assert {body.name for body in part.bodies} == set(path[: path.index(base) + 1])
    q = random_q(model, seed)
    poses = world_poses(model, q)
    wanted = {body.name: np.linalg.inv(poses[base]) @ poses[body.name] for body in part.bodies}
    assert_poses(world_poses(part, q), wanted)
    assert part.frames == model.frames
    assert all(part.body(body.name) == body for body in part.bodies)


def test_a_subchain_needs_a_way():
    model = replace(
        chain("revolute", "revolute"), bodies=(*chain("revolute", "revolute").bodies, Body("alone"))
    )
    assert [body.name for body in subchain(model, "b0", "b0").bodies] == ["b0"]
    for base, tip in (("b1", "b0"), ("alone", "b1")):
        with pytest.raises(
            NotPossible, match=f'body "{base}" is not on the way from the world to "{tip}"'
        ):
            subchain(model, base, tip)
    with pytest.raises(UnknownName, match='has no body "b9"'):
        subchain(model, "b0", "b9")
    with pytest.raises(UnknownName, match='has no body "b9"'):
        subchain(model, "b9", "b0")
    follower = replace(model, joints=(model.joints[0], replace(model.joints[1], mimic=Mimic("j0"))))
    assert subchain(follower, "base", "b1").joints == follower.joints
    with pytest.raises(
        NotPossible, match='joint "j1" follows joint "j0", which is not between "b0" and "b1"'
    ):
        subchain(follower, "b0", "b1")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_base_moves_the_whole_robot(seed):
    T = random_placement(np.random.default_rng(seed))
    model = random_model(seed)
    q = random_q(model, seed)
    wanted = {name: matrix(T) @ pose for name, pose in world_poses(model, q).items()}
    assert_poses(world_poses(with_base(model, T), q), wanted)


def test_a_fixed_root_can_float():
    model, T = chain("revolute"), Placement(position=(1.0, 2.0, 3.0))
    free = with_base(model, T, floating=True)
    root = free.joint("root_joint")
    assert (root.type, root.parent, root.child, root.placement) == ("floating", None, "base", T)
    assert with_base(free, T, floating=True).joint("root_joint").placement.position == (
        2.0,
        4.0,
        6.0,
    )
    assert with_base(model).joint("root_joint").type == "fixed"
    taken = replace(model, joints=(replace(model.joints[0], name="root_joint"),))
    assert with_base(taken, floating=True).joint("base_root_joint").type == "floating"


def test_only_one_fixed_root_can_float():
    model = chain("revolute")
    two = replace(model, bodies=(*model.bodies, Body("other")))
    assert len(with_base(two).joints) == 3
    with pytest.raises(
        NotPossible, match=r"stands on 2 bodies \(base, other\), a floating base needs one"
    ):
        with_base(two, floating=True)
    hinge = Model("r", (Body("a"),), (Joint("j", "revolute", None, "a"),))
    with pytest.raises(NotPossible, match=r'stands on joint "j" \(revolute\)'):
        with_base(hinge, floating=True)


def test_a_frame_sits_on_a_body_or_on_a_frame():
    rng = np.random.default_rng(0)
    model, T = random_model(0), random_placement(rng)
    once = with_frame(model, "tip", "body_3", T)
    assert once.frames[-1] == Frame("tip", "body_3", T)
    twice = with_frame(model, "far", "tool", T)
    assert (twice.frames[-1].body, twice.frames[-1].placement) == (
        "body_11",
        model.frames[0].placement @ T,
    )
    assert with_frame(model, "near", "body_0").frames[-1].placement == Placement()
    with pytest.raises(UnknownName, match='has no body or frame "tol"; did you mean "tool"'):
        with_frame(model, "tip", "tol")
    with pytest.raises(InvalidModel, match='frame name "tool" is used 2 times'):
        with_frame(model, "tool", "body_0")


def test_gravity():
    model = chain("revolute")
    assert with_gravity(model, (0.0, -1.62, 0.0)).gravity == (0.0, -1.62, 0.0)
    with pytest.raises(InvalidInput, match="expected 3 numbers"):
        with_gravity(model, (9.81,))
    with pytest.raises(InvalidModel, match="not finite"):
        with_gravity(model, (0.0, 0.0, math.nan))


@pytest.mark.parametrize("seed", SEEDS)
def test_attached_robots_move_as_one(seed):
    rng = np.random.default_rng(seed)
    arm, hand, T = random_model(seed), random_model(seed + 100, bodies=6), random_placement(rng)
    if seed % 2:  # a root without a joint
        hand = replace(
            hand, joints=hand.joints[1:] if not any(j.mimic for j in hand.joints) else hand.joints
        )
    both = attach(arm, hand, "tool", prefix="hand_", placement=T)
    q_arm, q_hand = random_q(arm, seed), random_q(hand, seed + 1)
    q = q_arm | {f"hand_{name}": own for name, own in q_hand.items()} | {"hand_body_0_attached": ()}
    poses = world_poses(arm, q_arm)
    mount = poses["body_11"] @ matrix(arm.frames[0].placement) @ matrix(T)
    wanted = poses | {
        f"hand_{name}": mount @ pose for name, pose in world_poses(hand, q_hand).items()
    }
    assert_poses(world_poses(both, q), wanted)
    assert [frame.name for frame in both.frames] == ["tool", "hand_tool"]
    assert (both.name, both.gravity) == (arm.name, arm.gravity)
    assert build_tree(both).nv == build_tree(arm).nv + build_tree(hand).nv


def test_names_of_attached_robots_must_differ():
    with pytest.raises(
        InvalidModel, match="both robots have a body named b0, base; give the other one a prefix"
    ):
        attach(chain("revolute"), chain("prismatic"), "b0")
    with pytest.raises(UnknownName, match='has no body or frame "b7"'):
        attach(chain("revolute"), chain("prismatic"), "b7")


def test_renaming_renames_everything_and_nothing_else():
    visuals = (Shape("sphere", (1.0,), name="ball"), Shape("sphere", (1.0,)))
    model = replace(
        random_model(2),
        configurations=(("home", (("joint_1", (0.1,)),)),),
    )
    model = replace(model, bodies=(replace(model.bodies[0], visuals=visuals), *model.bodies[1:]))
    new = renamed(model, "x_")
    assert [body.name for body in new.bodies] == [f"x_{body.name}" for body in model.bodies]
    assert [shape.name for shape in new.bodies[0].visuals] == ["x_ball", None]
    assert new.configurations == (("home", (("x_joint_1", (0.1,)),)),)
    assert (new.frames[0].name, new.frames[0].body) == ("x_tool", "x_body_11")
    assert build_tree(new).fingerprint == build_tree(model).fingerprint
    assert {j.name: j.mimic and j.mimic.joint for j in new.joints} == {
        f"x_{j.name}": j.mimic and f"x_{j.mimic.joint}" for j in model.joints
    }
    with pytest.raises(NotPossible, match="closed-loop elements or motions"):
        renamed(replace(model, elements=("strut",)), "x_")


def test_edits_leave_the_model_as_it_was():
    model = random_model(4)
    copy = replace(model)
    with_frame(model, "f", "body_0")
    with_base(model, Placement(position=(1.0, 0.0, 0.0)))
    locked(model, {"joint_0": random_q(model, 0)["joint_0"]})
    renamed(model, "x")
    assert model == copy


def test_edits_accept_live_numbers():
    length, mass = casadi.SX.sym("length"), casadi.SX.sym("mass")
    joint = Joint(
        "j",
        "revolute",
        "a",
        "b",
        Placement(position=(length, 0.0, 0.0)),
        limits=(Limits(-1.0, 1.0),),
    )
    model = Model("live", (Body("a"), Body("b", MassProperties(mass))), (joint,))
    rigid = locked(model, {"j": 0.5})
    assert rigid.joint("j").placement.position[0] is not None
    part = with_base(
        with_frame(model, "tip", "b"), Placement(position=(0.0, 0.0, 1.0)), floating=True
    )
    part = attach(part, model, "tip", prefix="second_")
    x = part.joint("second_j").placement.position[0]
    assert float(casadi.evalf(casadi.substitute(x, length, 0.25))) == 0.25
    assert len(part.bodies) == 4
