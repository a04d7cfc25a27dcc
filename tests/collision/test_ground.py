"""Height fields: distances of coal from the same triangles, solid all the way down,
nothing beside the grid."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import (
    Box,
    Capsule,
    CollisionModel,
    Convex,
    HeightField,
    Obstacles,
    Sphere,
    exact,
)
from linkwork.collision.ground import ground_rows
from linkwork.collision.part_distances import Poses
from tests.collision.scenes import gantry, shapes_on, tip_of_gantry
from tests.collision.test_exact_tapers import CORNERS
from tests.collision.test_motions import ends


def hills(nx: int = 21, ny: int = 18, cell: tuple[float, float] = (0.09, 0.11)) -> HeightField:
    rng = np.random.default_rng(7)
    x, y = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
    heights = 0.15 * np.sin(0.7 * x) * np.cos(0.5 * y) + rng.uniform(-0.03, 0.03, (nx, ny))
    return HeightField(heights, cell, (-0.8, -0.9, -0.1), "hills")


@functools.cache
def arm() -> CollisionModel:
    robot = lw.load("ur5e")
    return CollisionModel(robot, shapes_on(robot, 2, "sphere"), pairs=[])


def by_coal(
    model: CollisionModel, q: np.ndarray, ground: HeightField
) -> tuple[np.ndarray, np.ndarray]:
    """(distance, centre is below) of each sphere that moves (n, spheres),
    from the ground as a closed mesh."""
    poses = Poses(model.subject, q)
    moves = [b for b in model.shapes if model.subject.tree.bodies[b][0] != 0]
    spheres = [(b, s) for b in moves for s in model.shapes[b]]
    still = (np.eye(3), np.zeros(3))
    rows = range(len(q))
    distance = [
        [exact.nearest(s, poses.of(b, k), ground, still)[0] for b, s in spheres] for k in rows
    ]
    centers = [[poses.of(b, k)[0] @ s.center + poses.of(b, k)[1] for b, s in spheres] for k in rows]
    return np.array(distance), np.array([[ground.is_below(p) for p in row] for row in centers])


def test_ground_is_as_far_as_its_triangles_are_for_coal() -> None:
    model, ground = arm(), hills()
    q = model.robot.random(60, seed=1)
    distance, below = by_coal(model, q, ground)
    expected, outside = distance.min(axis=1), ~below.any(axis=1)
    found = model.clearance(q, [ground])
    apart = outside & (expected > 0)
    np.testing.assert_allclose(found.distance[apart], expected[apart], rtol=0, atol=1e-9)
    assert apart.sum() > 20 and (~outside).sum() > 5
    # of a mesh that it overlaps coal gives the depth of some triangle that it found
    overlapping = outside & ~apart
    assert (found.distance[overlapping] < expected[overlapping] + 1e-9).all() and (
        found.distance[~outside] < 0
    ).all()
    np.testing.assert_array_equal(model.collides(q, [ground]), (expected < 0) | ~outside)
    assert 0.2 < (expected < 0).mean() < 0.9
    gap = (found.other_point - found.point) - found.distance[:, None] * found.normal
    np.testing.assert_allclose(gap, 0.0, atol=1e-9)


def test_gradients_are_those_of_differences() -> None:
    model, ground = arm(), [hills()]
    q = model.robot.random(400, seed=2)
    found = model.clearance(q, ground)
    step = 1e-6
    differences = np.empty_like(found.gradient)
    for j in range(model.robot.nv):
        shift = step * np.eye(model.robot.nv)[j]
        ahead, behind = (model.clearance(q + s * shift, ground).distance for s in (1, -1))
        differences[:, j] = (ahead - behind) / (2 * step)
    right = np.abs(found.gradient - differences).max(axis=1) < 1e-5
    assert right.mean() > 0.95  # the others have two nearest triangles or spheres


def test_solid_all_the_way_down_and_nothing_beside_the_grid() -> None:
    model = tip_of_gantry(Sphere((0, 0, 0), 0.02))
    q = model.robot.neutral()
    x, y, z = model.robot.pose(q, "tip")[:3, 3]
    flat = np.zeros((5, 6))

    def over(dx: float, dy: float, dz: float) -> float:
        """Distance with the tool over the middle, shifted."""
        ground = HeightField(flat, (0.1, 0.1), (x - dx - 0.2, y - dy - 0.25, z - dz))
        assert model.collides(q, [ground]) == (model.clearance(q, [ground]).distance < 0)
        return float(model.clearance(q, [ground]).distance)

    assert over(0, 0, 0.3) == pytest.approx(0.28, abs=1e-12)
    assert over(0, 0, -0.3) == pytest.approx(-0.32, abs=1e-12)
    assert over(0, 0, -50.0) == pytest.approx(-50.02, abs=1e-9)
    # beside it, below its edge: the wall
    assert over(0.5, 0, -0.3) == pytest.approx(0.28, abs=1e-12)
    assert over(0.5, 0.65, -10.0) == pytest.approx(0.5 - 0.02, abs=1e-12)
    assert over(0.5, 0, 0.4) == pytest.approx(0.5 - 0.02, abs=1e-12)  # beside and above: the edge


def test_proofs_and_motions_know_the_ground() -> None:
    model, ground = arm(), Obstacles([hills(), Sphere((0.3, 0.3, 0.5), 0.1)])
    q0, q1 = ends(model, 80)
    found = model.certify_motion(q0, q1, ground)
    dense = model.motion_is_free(q0, q1, ground, step=0.9 / 500)
    assert not (found.free & ~dense).any() and found.free.any() and found.collides.any()
    assert found.undecided.sum() <= 1
    at = model.robot.integrate(
        q0, np.nan_to_num(found.at)[:, None] * model.robot.difference(q0, q1)
    )
    assert model.collides(at[found.collides], ground).all()


def test_other_shapes_ask_coal_and_agree_with_spheres() -> None:
    ground = Obstacles([replace(hills(), origin=(-0.8, -0.9, 0.15))])  # about as high as the tip
    ball = tip_of_gantry(Sphere((0, 0, 0), 0.05))
    # with a ball far above the cart, the stick shares its machine code with `capsule_gantry`
    on_gantry = {"cart": [Sphere((0, 0, 3), 0.0)], "tip": [Capsule((0, 0, 0), (0, 0, 0), 0.05)]}
    stick = CollisionModel(gantry(), on_gantry, pairs=[])
    hull = tip_of_gantry(Convex(0.001 * CORNERS))
    q = ball.robot.random(60, seed=4)
    np.testing.assert_array_equal(stick.collides(q, ground), ball.collides(q, ground))
    near = ball.clearance(q, ground).distance
    apart = near > 0.0
    by_coal_alone = stick.clearance(q, ground)
    np.testing.assert_allclose(by_coal_alone.distance[apart], near[apart], rtol=0, atol=1e-6)
    listed = stick.clearances(q, ground)
    for name in ("distance", "gradient", "point", "normal"):
        of_tip = getattr(listed, name)[:, listed.body.tolist().index("tip")]
        np.testing.assert_array_equal(of_tip, getattr(by_coal_alone, name))
    sure = np.abs(near + 0.05) > 0.002
    np.testing.assert_array_equal(hull.collides(q, ground)[sure], (near + 0.05 < 0)[sure])
    poses, still = Poses(ball.subject, q), (np.eye(3), np.zeros(3))
    box = Box((0.001, 0.001, 0.001))
    of_box = np.array(
        [exact.nearest(box, poses.of("tip", k), ground["hills"], still)[0] for k in range(len(q))]
    )
    np.testing.assert_array_equal((of_box < 0)[sure], (near + 0.05 < 0)[sure])
    proof = stick.certify_motion(q[:6], q[6:12], ground)
    ways = q[:6] + np.linspace(0.0, 1.0, 4000)[:, None, None] * (q[6:12] - q[:6])
    assert not (proof.free & ball.collides(ways, ground).any(axis=0)).any()
    assert stick.collides(q[:6] + np.nan_to_num(proof.at)[:, None] * (q[6:12] - q[:6]), ground)[
        proof.collides
    ].all()
    assert proof.collides.any() and not proof.undecided.any()


def test_ground_is_one_obstacle_of_every_pair() -> None:
    """Each body has the distance that coal gives for it alone,
    and the nearest one is that of the whole robot."""
    model, ball, far = (
        arm(),
        Sphere((0.3, 0.3, 0.5), 0.1, "ball"),
        replace(hills(4, 5), name="mound"),
    )
    ground = hills()
    q = model.robot.random(12, seed=5)
    found = model.clearances(q, [ground, ball, far])
    bodies = [b for b in model.shapes if model.subject.tree.bodies[b][0] != 0]
    assert found.other.tolist() == [name for name in ("hills", "ball", "mound") for _ in bodies]
    for first, field in ((0, ground), (2 * len(bodies), far)):
        distance, below = (x.reshape(12, len(bodies), 3) for x in by_coal(model, q, field))
        own = slice(first, first + len(bodies))
        apart = ~below.any(axis=2) & (distance.min(axis=2) > 0)
        np.testing.assert_allclose(
            found.distance[:, own][apart], distance.min(axis=2)[apart], rtol=0, atol=1e-9
        )
        assert (found.distance[:, own][~apart] < 0).all() and 0.2 < apart.mean()
        least, nearest = model.clearance(q, [field]), found.distance[:, own].argmin(axis=1)
        np.testing.assert_array_equal(found.distance[:, own].min(axis=1), least.distance)
        for name in ("gradient", "point", "other_point", "normal"):
            np.testing.assert_array_equal(
                getattr(found, name)[np.arange(12), first + nearest], getattr(least, name)
            )
    deepest = [own[0].depth if own else -np.inf for own in model.contacts(q, [ground])]
    touching = model.collides(q, [ground])
    np.testing.assert_array_equal(
        np.array(deepest)[touching], -model.clearance(q, [ground]).distance[touching]
    )


def test_patches_and_groups_hold_their_prisms() -> None:
    rows, ranges = ground_rows([(0, hills()), (3, hills(3, 2))])
    assert ranges == {0: (0, 4), 3: (4, 1)}
    prisms, patches, groups = (rows[f"ground_{name}"] for name in ("prisms", "patches", "groups"))
    assert len(prisms[0]) == 2 * (20 * 17 + 2 * 1) and set(prisms[0][:, 9]) == {0.0, 3.0}
    for boxes, inside in ((patches, prisms[0][:, :9].reshape(-1, 3, 3)), (groups, None)):
        assert boxes[1][0, 0] == 0 and (boxes[1][1:, 0] == np.cumsum(boxes[1][:, 1])[:-1]).all()
        for box, (first, count) in zip(*boxes, strict=True):
            if inside is not None:
                points = inside[first : first + count].reshape(-1, 3)
                assert (points[:, :2] >= box[:2]).all() and (points <= box[2:]).all()
            else:
                own = patches[0][first : first + count]
                assert (own[:, :2] >= box[:2]).all() and (own[:, 2:] <= box[2:]).all()
