"""Laws of poses of any tree, and the acceptance of the 2022 paper that stands on them
([Goncalves2022])."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.model import Joint, Model, Placement, build_tree, validated
from linkwork.model.number import product, transpose
from linkwork.model.rotation import from_euler
from tests.numeric import world_poses
from tests.random_models import random_model, random_q

TREES = [(seed, random_model(seed, 15)) for seed in range(6)]


def placed(model: Model, q: dict, body: str, point) -> np.ndarray:
    T = np.asarray(world_poses(model, q)[body])
    return T[:3, :3] @ np.asarray(point) + T[:3, 3]


@pytest.fixture(scope="module")
def charmie() -> lw.Robot:
    return lw.load("charmie-2022")


@pytest.fixture(scope="module")
def motion(charmie) -> np.ndarray:
    return charmie.motions["validation"].sample(np.linspace(0.0, 20.0, 41))[0]


def test_every_rotation_is_orthogonal_and_turns_no_mirror(charmie, motion):
    R = charmie.forward_kinematics(motion).rotation
    assert np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max() < 1e-14
    assert np.abs(np.linalg.det(R) - 1.0).max() < 1e-14


def test_points_of_one_link_keep_their_distances(charmie, motion):
    points = charmie.points(motion)
    for body in charmie.model.bodies:
        names = [name for name, _ in body.points]
        own = np.array([p for _, p in body.points]).reshape(-1, 3)
        here = (
            np.stack([points[body.name][name] for name in names], axis=1)
            if names
            else np.zeros((41, 0, 3))
        )
        for k in range(len(names)):
            apart = np.linalg.norm(here - here[:, k : k + 1], axis=-1)
            assert apart == pytest.approx(
                np.tile(np.linalg.norm(own - own[k], axis=-1), (41, 1)), abs=1e-15 * 10
            )


def test_a_link_begins_where_its_parent_s_joint_is(charmie, motion):
    """Every joint that turns sits in a named point of its parent: the child's origin is that
    point."""
    poses, points, seen = charmie.forward_kinematics(motion), charmie.points(motion), 0
    for joint in charmie.model.joints:
        if joint.type not in ("revolute", "fixed") or joint.parent is None:
            continue
        for name, at in charmie.model.body(joint.parent).points:
            if at == joint.placement.position:
                assert (
                    np.abs(poses[joint.child][:, :3, 3] - points[joint.parent][name]).max()
                    < 1e-15 * 10
                )
                seen += 1
    assert seen > 15


@pytest.mark.parametrize(
    ("seed", "model"), TREES, ids=lambda x: str(x) if isinstance(x, int) else ""
)
def test_a_slide_moves_its_branch_along_its_axis_and_turns_nothing(seed, model):
    slides = [joint for joint in model.joints if joint.type == "prismatic" and joint.mimic is None]
    leaders = {joint.mimic.joint for joint in model.joints if joint.mimic}
    q = random_q(model, seed)
    before = world_poses(model, q)
    for joint in (s for s in slides if s.name not in leaders):
        after = world_poses(model, q | {joint.name: (q[joint.name][0] + 0.3,)})
        moved = np.asarray(after[joint.child])[:3, 3] - np.asarray(before[joint.child])[:3, 3]
        axis = np.asarray(before[joint.child])[:3, :3] @ np.asarray(joint.axis)
        assert moved == pytest.approx(0.3 * axis, abs=1e-14)
        for body in model.bodies:
            change = np.asarray(after[body.name]) - np.asarray(before[body.name])
            assert np.abs(change[:3, :3]).max() < 1e-15
            assert np.abs(change[:3, 3]).max() < 1e-15 or change[:3, 3] == pytest.approx(
                moved, abs=1e-14
            )


@pytest.mark.parametrize(
    ("seed", "model"), TREES[:3], ids=lambda x: str(x) if isinstance(x, int) else ""
)
def test_a_tree_is_every_chain_from_its_root(seed, model):
    """The bodies and joints on the way to a tip alone put it where the whole tree does."""
    joints = tuple(replace(joint, mimic=None) for joint in model.joints)
    model = replace(model, joints=joints, frames=())
    q = random_q(model, seed)
    whole = world_poses(model, q)
    above = {joint.child: joint for joint in joints}
    for tip in {joint.child for joint in joints} - {joint.parent for joint in joints}:
        chain: list[Joint] = []
        body: str | None = tip
        while body is not None:
            chain.append(above[body])
            body = above[body].parent
        bodies = tuple(
            each for each in model.bodies if each.name in {joint.child for joint in chain}
        )
        alone = validated(replace(model, bodies=bodies, joints=tuple(reversed(chain))), "any")
        assert build_tree(alone).nv == sum(joint.nv for joint in chain)
        assert np.abs(np.asarray(world_poses(alone, q)[tip]) - np.asarray(whole[tip])).max() < 1e-14


@pytest.mark.parametrize(
    ("seed", "model"), TREES, ids=lambda x: str(x) if isinstance(x, int) else ""
)
def test_a_fixed_turn_before_a_link_and_its_inverse_in_the_link_change_no_point(seed, model):
    """Joint placements get R0 behind them, the link's own data R0': axis, children and points."""
    R0 = from_euler("ZXZ", (0.4, -1.1, 2.3))
    back = Placement(transpose(R0))
    joint = next(j for j in model.joints[1:] if j.type in ("revolute", "prismatic"))
    turned = tuple(
        replace(j, placement=j.placement @ Placement(R0), axis=back.at(j.axis))
        if j.name == joint.name
        else replace(j, placement=back @ j.placement)
        if j.parent == joint.child
        else j
        for j in model.joints
    )
    body = model.body(joint.child)
    points = tuple((name, back.at(p)) for name, p in body.points)
    bodies = tuple(replace(b, points=points) if b.name == body.name else b for b in model.bodies)
    q = random_q(model, seed)
    other = replace(model, bodies=bodies, joints=turned)
    for (name, p), (_, p_turned) in zip(body.points, points, strict=True):
        assert placed(other, q, body.name, p_turned) == pytest.approx(
            placed(model, q, body.name, p), abs=1e-14
        ), name
    for each in model.bodies:
        if each.name != body.name:
            for name, p in each.points:
                assert placed(other, q, each.name, p) == pytest.approx(
                    placed(model, q, each.name, p), abs=1e-13
                ), name
    assert np.abs(np.array(product(R0, transpose(R0))) - np.eye(3)).max() < 1e-15


def test_the_torso_strut_closes_its_triangle(charmie, motion):
    """|G4 - H| is the stroke and |B4 - H| = r = 399.2571 mm all along; H at a stroke of 350 mm as published."""
    points = charmie.points(motion)
    strut = next(e for e in charmie.model.elements if getattr(e, "joint", "") == "th5")
    foot, head, pivot = (
        points[strut.foot.body][strut.foot.name],
        points[strut.head.body][strut.head.name],
        charmie.forward_kinematics(motion)["5"][:, :3, 3],
    )
    stroke = charmie.motions["validation"].commands(np.linspace(0.0, 20.0, 41))[0]
    stroke = stroke[:, charmie.actuators.index(strut.name)]
    assert np.linalg.norm(head - foot, axis=1) == pytest.approx(stroke, abs=1e-14)
    assert np.linalg.norm(head - pivot, axis=1) == pytest.approx(np.full(41, 0.39925712), abs=1e-8)
    c = charmie.motions["validation"].commands(0.0)[0]
    c[charmie.actuators.index(strut.name)] = 0.35
    q = charmie.from_actuators(c)[0]
    T = charmie.forward_kinematics(q)["4"]
    H = T[:3, :3].T @ (charmie.points(q)[strut.head.body][strut.head.name] - T[:3, 3])
    assert H[1:] * 1e3 == pytest.approx((364.487107, 596.958272), abs=1e-6)


def test_equal_angles_do_not_mirror_the_arms(charmie, motion):
    """The frames of the two arms are no mirror images: they agree at the start alone."""
    points = charmie.points(motion)
    left, right = points["12a"]["tip"] * [-1.0, 1.0, 1.0], points["12b"]["tip"]
    assert np.abs(left[0] - right[0]).max() < 1e-12
    assert np.abs(left[10:] - right[10:]).max(axis=1).min() > 0.05
