"""Clearances of every pair, contacts, free samples, and distances as a CasADi function."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import (
    Box,
    Capsule,
    CollisionModel,
    Convex,
    Obstacles,
    Sphere,
    part_distances,
)
from linkwork.collision.part_distances import Poses
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from tests.collision.scenes import SCENES, capsule_gantry

STEPS = 1e-6 * np.eye(3)


@pytest.fixture(scope="module")
def arm() -> CollisionModel:
    return capsule_gantry()


def alone(
    model: CollisionModel, q: np.ndarray, body: str, other: str, obstacles: Obstacles
) -> np.ndarray:
    """Distances (n,) of a pair, from the shapes of both sides at their poses."""
    poses = Poses(model.subject, q)
    if other in model.shapes:
        return part_distances.distances(
            model.shapes[body], poses.of(body), model.shapes[other], poses.of(other)
        )
    still = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    return part_distances.distances(model.shapes[body], poses.of(body), [obstacles[other]], still)


@pytest.mark.parametrize("scene", SCENES)
def test_each_pair_has_the_clearance_it_has_alone(arm: CollisionModel, scene: str) -> None:
    q, obstacles = arm.robot.random(20, seed=3), SCENES[scene]
    found = arm.clearances(q, obstacles)
    moving = [b for b in arm.shapes if arm.subject.tree.bodies[b][0] != 0]
    assert found.distance.shape == (20, len(moving) * len(obstacles) + 1)
    least, nearest = arm.clearance(q, obstacles), (np.arange(20), found.distance.argmin(axis=-1))
    np.testing.assert_array_equal(found.distance[nearest], least.distance)
    np.testing.assert_allclose(found.gradient[nearest], least.gradient, rtol=0, atol=1e-12)
    gap = found.other_point - found.point - found.distance[..., None] * found.normal
    np.testing.assert_allclose(gap, 0.0, rtol=0, atol=1e-9)
    rng = np.random.default_rng(0)
    for m in rng.integers(0, found.distance.shape[1], 12):
        expected = alone(arm, q, found.body[m], found.other[m], obstacles)
        np.testing.assert_allclose(found.distance[:, m], expected, rtol=0, atol=1e-14)
        # how the pair's distance changes, by differences of its own distance
        ahead, behind = (
            alone(arm, q + s * STEPS[m % 3], found.body[m], found.other[m], obstacles)
            for s in (1, -1)
        )
        right = np.abs(found.gradient[:, m, m % 3] - (ahead - behind) / 2e-6) < 1e-6
        assert right.mean() >= 0.9  # the others have two nearest shapes


def test_the_nearest_pairs_in_order(arm: CollisionModel) -> None:
    q, obstacles = arm.robot.random(7, seed=4), SCENES["shelves"]
    every, near = arm.clearances(q, obstacles), arm.clearances(q, obstacles, nearest=3)
    np.testing.assert_array_equal(near.distance, np.sort(every.distance, axis=-1)[:, :3])
    assert near.gradient.shape == (7, 3, 3) and near.body.shape == (7, 3)
    one = arm.clearances(q[2], obstacles, nearest=3)
    np.testing.assert_array_equal(one.distance, near.distance[2])
    assert one.other.tolist() == near.other[2].tolist()
    with pytest.raises(InvalidInput, match="nearest is 0"):
        arm.clearances(q, obstacles, nearest=0)


def test_a_probe_gives_the_same_again_and_again(arm: CollisionModel) -> None:
    for obstacles in (SCENES["shelves"], None):
        probe = arm.probe(obstacles)
        # kept until the last one is asked for
        first = [probe(q) for q in arm.robot.random(5, seed=6)]
        for q, (distance, gradient) in zip(arm.robot.random(5, seed=6), first, strict=True):
            every = arm.clearances(q, obstacles)
            np.testing.assert_array_equal(distance, every.distance)
            np.testing.assert_array_equal(gradient, every.gradient)


def test_contacts_are_what_touches_deepest_first(arm: CollisionModel) -> None:
    q, obstacles = arm.robot.random(30, seed=5), SCENES["table"]
    hits = arm.collides(q, obstacles)
    every = arm.contacts(q, obstacles)
    assert [bool(own) for own in every] == hits.tolist() and 0 < hits.sum() < 30
    k = int(np.flatnonzero(hits)[0])
    own = arm.contacts(q[k], obstacles)
    assert [c.body for c in own] == [c.body for c in every[k]]
    assert own[0].depth == -arm.clearance(q[k], obstacles).distance
    assert [c.depth for c in own] == sorted((c.depth for c in own), reverse=True)
    assert f"{own[0].body} is " in str(own[0]) and " mm inside " in str(own[0])


def test_pairs_that_coal_compares_are_listed_beside_the_others(arm: CollisionModel) -> None:
    """A hull among capsules: the pairs of a call are those of both, each as it is alone."""
    pytest.importorskip("coal")
    body, tool = arm.shapes
    hull = Convex(0.06 * np.random.default_rng(1).normal(size=(12, 3)))
    shapes = {**arm.shapes, tool: [*arm.shapes[tool], hull]}
    mixed = CollisionModel(arm.robot, shapes, pairs=[(body, tool)])
    around = Obstacles(
        {
            "post": Capsule((0.4, 0, 0), (0.4, 0, 0.8), 0.05),
            "wall": Box((0.1, 1, 1), (-0.6, 0, 0.4)),
        }
    )
    q = arm.robot.random(12, seed=3)
    found = mixed.clearances(q, around)
    names = list(zip(found.body.tolist(), found.other.tolist(), strict=True))
    moving = mixed.tables.moving
    assert names == [
        *((part, "post") for part in moving),
        *((part, "wall") for part in moving),
        (body, tool),
    ]
    np.testing.assert_array_equal(found.distance.min(axis=1), mixed.clearance(q, around).distance)
    for m, (first, other) in enumerate(names):
        np.testing.assert_allclose(
            found.distance[:, m], alone(mixed, q, first, other, around), rtol=0, atol=1e-9
        )
    np.testing.assert_allclose(
        found.other_point - found.point, found.distance[..., None] * found.normal, rtol=0, atol=1e-7
    )
    ahead, behind = (mixed.clearances(q + s * STEPS[1], around).distance for s in (1, -1))
    right = np.abs(found.gradient[..., 1] - (ahead - behind) / 2e-6) < 1e-4  # coal iterates
    assert right.mean() > 0.9
    near = mixed.clearances(q[0], around, nearest=2)
    np.testing.assert_array_equal(near.distance, np.sort(found.distance[0])[:2])
    assert [bool(own) for own in mixed.contacts(q, around)] == mixed.collides(q, around).tolist()


def test_free_samples_are_free_and_reproducible(arm: CollisionModel) -> None:
    q = arm.free_samples(500, SCENES["shelves"], seed=6)
    assert q.shape == (500, 3) and not arm.collides(q, SCENES["shelves"]).any()
    np.testing.assert_array_equal(q, arm.free_samples(500, SCENES["shelves"], seed=6))
    assert (q != arm.free_samples(500, SCENES["shelves"], seed=7)).any()
    limits = arm.robot.limits
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert arm.free_samples(0, seed=1).shape == (0, 3)
    with pytest.raises(NotPossible, match="nearly everything within the limits touches"):
        arm.free_samples(3, [Box((9, 9, 9))], seed=1)
    with pytest.raises(InvalidInput, match=r"n is 1\.5"):
        arm.free_samples(1.5)


def test_distances_as_a_casadi_function(arm: CollisionModel) -> None:
    obstacles = SCENES["table"]
    q = arm.robot.random(25, seed=8)
    every = arm.clearances(q, obstacles)
    chosen = [3, 11, len(every.body) - 1]
    pairs = [(every.body[m], every.other[m]) for m in chosen]
    f = arm.function(pairs, obstacles)
    kernel = lw.compile(f, {"q": 3})
    np.testing.assert_allclose(kernel(q), every.distance[:, chosen], rtol=0, atol=1e-12)
    slopes = kernel.jacobian()(q)
    np.testing.assert_allclose(slopes, every.gradient[:, chosen], rtol=0, atol=1e-9)


def test_smoothing_stays_below_the_least(arm: CollisionModel) -> None:
    q, pair = arm.robot.random(25, seed=9), arm.pairs.checked[0]
    exact = lw.compile(arm.function([pair]), {"q": 3})(q)
    smooth = lw.compile(arm.function([pair], smoothing=0.01), {"q": 3})(q)
    count = len(arm.shapes[pair[0]]) * len(arm.shapes[pair[1]])
    assert (smooth <= exact + 1e-12).all() and (
        smooth >= exact - 0.01 * np.log(count) - 1e-12
    ).all()
    assert (smooth < exact).all()


def test_what_is_wrong_is_said_in_words(arm: CollisionModel) -> None:
    corners = np.random.default_rng(0).normal(size=(8, 3))
    with pytest.raises(UnknownName, match='no body with shapes and no obstacle is named "tabel"'):
        arm.function(
            [(arm.pairs.checked[0][0], "tabel")], Obstacles({"table": Sphere((0, 0, 0), 1)})
        )
    with pytest.raises(InvalidInput, match="pairs is empty"):
        arm.function([])
    body = next(name for name, own in arm.shapes.items() if isinstance(own[-1], Capsule))
    model = CollisionModel(arm.robot, {body: arm.shapes[body][-1:]}, pairs=[])
    with pytest.raises(NotPossible, match="a capsule and a convex"):
        model.function([(body, "hull")], [Convex(corners, name="hull")])
