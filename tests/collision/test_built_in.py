"""Shapes of the built-in arms: free at home, and about where the makers' meshes are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import exact
from linkwork.collision.model import described_shapes
from linkwork.subject import subject_of
from tests.published import URDFS

ARMS = [
    *(
        "cobra600",
        "crx-10ia",
        "crx-10ial",
        "crx-20ial",
        "crx-30ia",
        "crx-3ia",
        "crx-5ia",
        "gen3",
        "iiwa14",
    ),
    *(
        "kuka-kr500",
        "panda",
        "planar-4r",
        "puma560",
        "redundant-7",
        "rehabilitation-arm",
        "scara-arm",
        "tm5-700",
    ),
    *("tx2-90", "ur10", "ur10e", "ur16e", "ur20", "ur3", "ur3e", "ur5", "ur5e", "ur5-villalobos"),
]


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_has_shapes_that_machine_code_knows_and_is_free_at_home(name):
    robot = lw.load(name)
    shapes = described_shapes(subject_of(robot, "test"))
    assert {shape.kind for own in shapes.values() for shape in own} == {"capsule"}
    poses = robot.forward_kinematics(robot.home)
    at = {body: (poses.rotation[k], poses.position[k]) for k, body in enumerate(poses.bodies)}
    bodies = list(shapes)
    for k, body in enumerate(bodies):
        for other in bodies[k + 2 :]:  # what follows next is joined to it
            for mine in shapes[body]:
                for theirs in shapes[other]:
                    assert exact.nearest(mine, at[body], theirs, at[other])[0] > 0.0, (body, other)


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_is_drawn_without_gaps(name):
    """At home and bent, every body with shapes goes into the next one by two millimetres or
    more."""
    robot = lw.load(name)
    shapes = described_shapes(subject_of(robot, "test"))
    for q in (robot.home, *robot.random(5, seed=1)):
        poses = robot.forward_kinematics(q)
        at = {body: (poses.rotation[k], poses.position[k]) for k, body in enumerate(poses.bodies)}
        for body, following in itertools.pairwise(shapes):
            pairs = itertools.product(shapes[body], shapes[following])
            least = min(
                exact.nearest(mine, at[body], theirs, at[following])[0] for mine, theirs in pairs
            )
            assert least < -0.002, (body, following, least)


def distances(points: np.ndarray, capsules) -> np.ndarray:
    """Of points (n, 3) from the nearest of some capsules:
    |p - nearest point of the segment| - radius."""
    found = []
    for capsule in capsules:
        start, way = np.array(capsule.start), np.subtract(capsule.end, capsule.start)
        along = np.clip((points - start) @ way / max(way @ way, 1e-300), 0.0, 1.0)
        found.append(np.linalg.norm(points - start - along[:, None] * way, axis=1) - capsule.radius)
    return np.min(found, axis=0)


@pytest.mark.parametrize(
    ("name", "file", "turned", "allowed"),
    [
        ("ur5", "ur/ur5_robot", np.diag([-1.0, -1.0, 1.0, 1.0]), 0.03),
        ("ur10", "ur/ur10_robot", np.diag([-1.0, -1.0, 1.0, 1.0]), 0.04),
        ("panda", "panda/panda", np.eye(4), 0.035),
    ],
)
def test_meshes_of_the_maker_lie_about_inside(name, file, turned, allowed):
    """The links that move: no vertex of a mesh is further outside than `allowed` [m],
    and the mean is near."""
    ours, theirs = lw.load(name), lw.load(URDFS[file])
    q = np.linspace(0.2, 1.0, ours.nq)
    padded = np.concatenate([q, np.zeros(theirs.nq - ours.nq)])
    mine, meshes = (
        described_shapes(subject_of(ours, "test")),
        described_shapes(subject_of(theirs, "test")),
    )
    links = [body for body in list(mine)[1:] if body in theirs.bodies]
    assert len(links) >= 6
    for link in links:
        T = np.linalg.inv(ours.pose(q, link)) @ turned @ theirs.pose(padded, link)
        placed = np.concatenate([mesh.world() for mesh in meshes[link]])
        outside = distances(placed @ T[:3, :3].T + T[:3, 3], mine[link])
        assert outside.max() < allowed, link
        assert abs(outside.mean()) < 0.025, link
