"""The tree the recursions see: order, chains for compound joints, merged bodies, mimic,
fingerprint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwork.model import Body, Frame, Joint, MassProperties, Mimic, Model, Placement, build_tree
from linkwork.model.joint import SIZES, TYPES, resolved_mimic
from linkwork.model.joint_motion import joint_motion
from linkwork.model.kinds import KINDS
from linkwork.model.tree import Tree
from tests.numeric import matrix, pseudo_inertia, world_poses
from tests.random_models import random_model, random_q

SEEDS = range(12)


def node_poses(tree: Tree, model: Model, q: dict[str, tuple[float, ...]]) -> list[np.ndarray]:
    """T_world_node (4, 4), by the nodes' own kinds:
    independent of how a compound joint was described."""
    flat = (
        np.concatenate([q[joint] for joint in tree.coordinates])
        if tree.coordinates
        else np.zeros(0)
    )
    poses = [np.eye(4)]
    for node in tree.nodes[1:]:
        own = Joint(node.joint, node.kind, None, node.name, axis=node.axis, pitch=node.pitch)
        T = matrix(node.placement) @ matrix(joint_motion(own, flat[node.q : node.q + node.nq]))
        poses.append(poses[node.parent] @ T)
    return poses


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_bodies_and_frames_sit_where_the_description_puts_them(seed, merge):
    model = random_model(seed)
    tree, q = build_tree(model, merge), random_q(model, seed)
    nodes, bodies = node_poses(tree, model, q), world_poses(model, q)
    assert list(tree.bodies) == [body.name for body in model.bodies]
    for name, (node, T) in tree.bodies.items():
        assert np.abs(nodes[node] @ matrix(T) - bodies[name]).max() < 1e-13
    (frame,) = model.frames
    node, T = tree.frames["tool"]
    assert (
        np.abs(nodes[node] @ matrix(T) - bodies[frame.body] @ matrix(frame.placement)).max() < 1e-13
    )
    assert set(tree.frames) == {*tree.bodies, "tool"}


@pytest.mark.parametrize("seed", SEEDS)
def test_merging_fixed_joints_conserves_matter(seed):
    """Mass, centre and inertia of the whole robot in any pose, but for what is fixed to the
    world."""
    model = random_model(seed, types=("fixed", "fixed", "revolute", "floating"))
    model = replace(
        model,
        joints=(
            replace(model.joints[0], type="revolute", limits=(), mimic=None),
            *model.joints[1:],
        ),
    )
    q = random_q(model, seed)
    sums = []
    for merge in (True, False):
        tree = build_tree(model, merge)
        T = node_poses(tree, model, q)
        sums.append(
            sum(T[i] @ pseudo_inertia(tree.nodes[i].mass_properties) @ T[i].T for i in tree.outward)
        )
    assert np.abs(sums[0] - sums[1]).max() < 1e-13 * np.abs(sums[1]).max()
    assert len(build_tree(model).nodes) == 1 + sum(joint.nv > 0 for joint in model.joints)
    assert len(build_tree(model, merge=False).nodes) == 1 + len(model.bodies)


def test_what_is_fixed_to_the_world_merges_into_it():
    model = Model(
        "r", (Body("a", MassProperties(1.0)), Body("b")), (Joint("j", "revolute", "a", "b"),)
    )
    tree = build_tree(model)
    assert [node.name for node in tree.nodes] == ["world", "b"]
    assert tree.nodes[0].mass_properties == MassProperties()
    assert tree.bodies["a"] == (0, Placement())


@pytest.mark.parametrize("seed", SEEDS)
def test_parents_come_first_and_coordinates_are_dense(seed):
    model = random_model(seed, bodies=30)
    for merge in (True, False):
        tree = build_tree(model, merge)
        assert all(node.parent < i for i, node in enumerate(tree.nodes))
        assert all(KINDS[node.kind].is_simple for node in tree.nodes)
        assert [node.q for node in tree.nodes[1:]] == np.cumsum([node.nq for node in tree.nodes])[
            :-1
        ].tolist()
        assert [node.v for node in tree.nodes[1:]] == np.cumsum([node.nv for node in tree.nodes])[
            :-1
        ].tolist()
        assert tree.nq == sum(joint.nq for joint in model.joints)
        assert tree.nv == sum(joint.nv for joint in model.joints)
        assert set(tree.coordinates) == {joint.name for joint in model.joints if joint.nv}
        for joint in model.joints:
            if joint.nv:
                assert tree.coordinates[joint.name][1::2] == (joint.nq, joint.nv)
        for i in tree.outward:
            assert tree.paths[i][-1] == i
            assert tree.paths[i][:-1] == tree.paths[tree.parent(i)]


def test_joints_are_depth_first_in_the_order_of_the_description():
    names = ["base", "left", "right", "left_hand", "right_hand"]
    joints = tuple(
        Joint(child, "revolute", parent, child)
        for child, parent in (
            ("right", "base"),
            ("left", "base"),
            ("left_hand", "left"),
            ("right_hand", "right"),
        )
    )
    tree = build_tree(Model("r", tuple(map(Body, names)), joints))
    assert list(tree.coordinates) == ["right", "right_hand", "left", "left_hand"]
    assert list(tree.inward) == [4, 3, 2, 1]


@pytest.mark.parametrize("type", TYPES)
def test_each_type_has_its_kinds_and_armature(type):
    kinds = {
        "continuous": ["revolute"],
        "cylindrical": ["revolute", "prismatic"],
        "universal": ["revolute", "revolute"],
        "planar": ["prismatic", "prismatic", "revolute"],
    }.get(type, [type])
    nv = SIZES[type][1]
    matter, armature = MassProperties(3.0), tuple(float(i) for i in range(nv))
    joint = Joint("j", type, None, "b", axis=(0.0, 0.0, 1.0), pitch=0.3, armature=armature)
    tree = build_tree(Model("r", (Body("b", matter),), (joint,)), merge=False)
    assert [node.kind for node in tree.nodes[1:]] == kinds
    assert [node.mass_properties.mass for node in tree.nodes[1:]] == [0.0] * (len(kinds) - 1) + [
        3.0
    ]
    assert sum((node.armature for node in tree.nodes[1:]), ()) == armature
    assert [node.pitch for node in tree.nodes[1:]] == [
        0.3 if kind == "helical" else 0.0 for kind in kinds
    ]


@pytest.mark.parametrize(
    "normal", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.36, 0.48, 0.8), (0.6, 0, -0.8), (1e-9, 0, -1)]
)
def test_the_axes_of_a_plane_are_a_right_hand(normal):
    n = np.array(normal) / np.linalg.norm(normal)
    joint = Joint("j", "planar", None, "b", axis=tuple(n.tolist()))
    x, y, z = (
        np.array(node.axis) for node in build_tree(Model("r", (Body("b"),), (joint,))).nodes[1:]
    )
    # nearly upside down, the turn is known to 1e-9 only
    assert np.abs(np.cross(x, y) - z).max() < 1e-8
    assert abs(x @ z) + abs(y @ z) < 1e-8
    assert np.array_equal(z, n)


def test_a_follower_of_a_follower_follows_the_first():
    names = ["base", "a", "b", "c", "d"]
    joints = (
        Joint("c", "revolute", "b", "c", mimic=Mimic("b", 2.0, 0.5)),
        Joint("a", "revolute", "base", "a"),
        Joint("b", "prismatic", "a", "b", mimic=Mimic("a", -3.0, 0.25)),
        Joint("d", "continuous", "c", "d", mimic=Mimic("c", 1.5, -1.0)),
    )
    assert resolved_mimic(joints) == {
        "c": ("a", -6.0, 1.0),
        "b": ("a", -3.0, 0.25),
        "d": ("a", -9.0, 0.5),
    }
    tree = build_tree(Model("r", tuple(map(Body, names)), joints))
    assert list(tree.coordinates) == ["a", "b", "c", "d"]
    assert tree.independent == ((0,), (0,))
    Gq, b, G = tree.mimic_map
    assert Gq.tolist() == G.tolist() == [[1.0], [-3.0], [-6.0], [-9.0]]
    assert b.tolist() == [0.0, 0.25, 1.0, 0.5]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mimic_map_gives_all_coordinates_from_the_independent_ones(seed):
    model = random_model(seed)
    tree, q = build_tree(model), random_q(model, seed)
    flat = np.concatenate([q[joint] for joint in tree.coordinates])
    Gq, b, G = tree.mimic_map
    own_q, own_v = tree.independent
    assert np.abs(Gq @ flat[list(own_q)] + b - flat).max() < 1e-15
    assert G.shape == (tree.nv, len(own_v))
    assert len(own_v) == tree.nv - len(tree.mimic)


def test_equal_numbers_have_equal_fingerprints():
    model = random_model(3)
    tree = build_tree(model)
    names = replace(
        model,
        name="other",
        bodies=tuple(replace(body, name=f"x{body.name}") for body in model.bodies),
        joints=tuple(
            replace(j, parent=j.parent and f"x{j.parent}", child=f"x{j.child}", limits=())
            for j in model.joints
        ),
        frames=(Frame("elsewhere", "xbody_0"),),
    )
    assert build_tree(names).fingerprint == tree.fingerprint
    changes = [
        replace(model, gravity=(0.0, 0.0, -9.8)),
        replace(
            model,
            bodies=(
                *model.bodies[:-1],
                replace(model.bodies[-1], mass_properties=MassProperties(1.0)),
            ),
        ),
        *(
            replace(model, joints=(*model.joints[:-1], replace(model.joints[-1], **change)))
            for change in (
                {"type": "ball", "limits": ()},
                {"placement": Placement()},
                {"parent": "body_0"},
                {"damping": 9.0},
            )
        ),
    ]
    assert len({tree.fingerprint, *(build_tree(each).fingerprint for each in changes)}) == 1 + len(
        changes
    )
