"""Every published URDF that Pinocchio loads: same tree, same poses, same matter, same limits."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

from linkwork.errors import InvalidFile
from linkwork.formats.urdf import read_urdf
from linkwork.model import build_tree
from tests.numeric import pseudo_inertia, world_poses
from tests.published import URDFS, WITHOUT_LINKS
from tests.random_models import random_q

# Pinocchio and we round differently along chains of up to 20 bodies some metres long.
POSE = 1e-13


@cache
def theirs(name: str) -> pin.Model:
    return pin.buildModelFromUrdf(str(URDFS[name]), pin.JointModelFreeFlyer(), False)


@cache
def ours(name: str):
    return read_urdf(URDFS[name], mimic="independent", root="floating")


def their_q(model: pin.Model, q: dict[str, tuple[float, ...]]) -> np.ndarray:
    """Our coordinates in Pinocchio's order; it keeps a continuous joint as (cos, sin)."""
    out = np.zeros(model.nq)
    for i in range(1, model.njoints):
        joint, own = model.joints[i], q[model.names[i]]
        if joint.nq == 0:  # a mimicking joint
            continue
        if joint.nq == 2 and joint.nv == 1:
            own = (math.cos(own[0]), math.sin(own[0]))
        out[joint.idx_q : joint.idx_q + joint.nq] = own
    return out


def test_the_collection_is_complete():
    assert len(URDFS) == 68


@pytest.mark.parametrize("name", URDFS)
def test_poses_of_all_bodies_agree_with_pinocchio(name):
    model, reference = ours(name), theirs(name)
    data = reference.createData()
    assert {j.name for j in model.joints if j.nq} == set(reference.names) - {"universe"}
    for seed in range(3):
        q = random_q(model, seed)
        pin.framesForwardKinematics(reference, data, their_q(reference, q))
        poses = world_poses(model, q)
        bodies = {
            f.name: data.oMf[i].homogeneous
            for i, f in enumerate(reference.frames)
            if f.type == pin.BODY
        }
        assert poses.keys() == bodies.keys()
        size = max(1.0, max(np.abs(T).max() for T in bodies.values()))
        error = max(np.abs(poses[body] - T).max() for body, T in bodies.items())
        assert error < POSE * size


@pytest.mark.parametrize("name", URDFS)
def test_matter_of_merged_bodies_agrees_with_pinocchio(name):
    """Mass, centre and inertia of everything rigidly carried by a joint,
    rotated inertial frames included."""
    tree, reference = build_tree(ours(name)), theirs(name)
    index = {joint: i for i, joint in enumerate(reference.names)}
    assert len(tree.nodes) == reference.njoints
    for node in tree.nodes[1:]:
        inertia = reference.inertias[index[node.joint]]
        expected = inertia.toPseudoInertia().toMatrix()
        got = pseudo_inertia(node.mass_properties)
        # Second moments of a body of that mass within a metre: rounding of a few sums.
        assert np.abs(got - expected).max() <= 1e-14 * max(1.0, inertia.mass)


@pytest.mark.parametrize("name", URDFS)
def test_limits_and_damping_agree_with_pinocchio(name):
    model, reference = ours(name), theirs(name)
    for joint in model.joints:
        if joint.nv != 1:
            continue
        theirs_joint = reference.joints[reference.getJointId(joint.name)]
        v = theirs_joint.idx_v
        assert joint.damping == reference.damping[v]
        (limit,) = joint.limits or (None,)
        if limit is None:
            assert joint.type == "continuous"
            continue
        assert limit.velocity == reference.velocityLimit[v]
        assert limit.effort == reference.upperEffortLimit[v]
        if joint.type != "continuous":
            assert limit.lower == reference.lowerPositionLimit[theirs_joint.idx_q]
            assert limit.upper == reference.upperPositionLimit[theirs_joint.idx_q]


# Talos and Romeo have mimicking joints too, but Pinocchio refuses followers that come before their
# leader.
@pytest.mark.parametrize("name", ["baxter/baxter", "panda/panda", "pr2/pr2", "tiago_pro/tiago_pro"])
def test_poses_with_mimicking_joints_agree_with_pinocchio(name):
    model, reference = read_urdf(URDFS[name]), pin.buildModelFromUrdf(str(URDFS[name]), True)
    tree = build_tree(model)
    assert len(tree.mimic) == len(reference.mimicking_joints) > 0
    assert len(tree.independent[1]) == reference.nv
    q, data = random_q(model, seed=0), reference.createData()
    pin.framesForwardKinematics(reference, data, their_q(reference, q))
    poses = world_poses(model, q)
    for i, frame in enumerate(reference.frames):
        if frame.type == pin.BODY:
            assert np.abs(poses[frame.name] - data.oMf[i].homogeneous).max() < 10 * POSE


@pytest.mark.parametrize("name", ["talos_data/talos_full_v2", "romeo/romeo"])
def test_mimic_tags_before_their_leader_are_kept(name):
    model, text = (
        read_urdf(URDFS[name]),
        re.sub("<!--.*?-->", "", URDFS[name].read_text(), flags=re.DOTALL),
    )
    tags = re.findall(r'<mimic joint="(\w+)" multiplier="(\S+)" offset="(\S+)"', text)
    rules = [joint.mimic for joint in model.joints if joint.mimic is not None]
    assert [(rule.joint, rule.multiplier, rule.offset) for rule in rules] == [
        (j, float(m), float(b)) for j, m, b in tags
    ]
    assert len(rules) >= 12


def test_mimic_of_a_missing_leader_and_of_a_fixed_joint_is_dropped_with_a_warning(caplog):
    hands = read_urdf(URDFS["alex/alex_psyonic_hands"])
    assert hands.joint("Left_index_q2").mimic is None
    assert (
        'joint "Left_index_q2" moves on its own: its leader "index_q1" does not exist'
        in caplog.text
    )
    arm = read_urdf(URDFS["talos_data/talos_left_arm"])
    assert arm.joint("gripper_left_inner_double_joint").mimic is None
    assert (
        'joint "gripper_left_inner_double_joint" is fixed and does not follow "gripper_left_joint"'
        in caplog.text
    )


def test_an_empty_robot_is_refused():
    with pytest.raises(InvalidFile, match=r"ur3\.urdf:6: <robot> has no <link>"):
        read_urdf(WITHOUT_LINKS)


def test_published_meshes_are_found():
    """All of them but those of romeo_laas_small, whose package is not part of the collection."""
    for name in URDFS:
        shapes = [
            s for b in ours(name).bodies for s in (*b.visuals, *b.collisions) if s.kind == "mesh"
        ]
        missing = [s.mesh for s in shapes if not s.mesh.startswith("/")]
        assert bool(missing) == (name == "romeo/romeo_laas_small"), missing[:3]
