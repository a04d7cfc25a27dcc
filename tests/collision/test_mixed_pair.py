"""A capsule on one body of a robot beside a tapered capsule on another:
verdicts, distances, gradients and proofs, against balls inside the tapered one.

Machine code of both kinds is asked nowhere else; here it is made of that pair alone, which takes a
fraction of what it takes with every kind of obstacle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from linkwork.collision import Capsule, CollisionModel, TaperedCapsule, certify, checker, clearance
from linkwork.collision.tile import TileLayout
from linkwork.engine.stages import Stages
from linkwork.subject import Subject
from tests.collision.scenes import gantry
from tests.collision.test_motions import ends

# Either kind on either body, so that it is first and second of its pair; the same kinds have no code.
CART = [
    Capsule((0.45, -0.4, 0.1), (0.55, 0.4, 0.35), 0.04),
    TaperedCapsule((-0.5, -0.1, 0.1), (-0.4, 0.1, 0.4), 0.08, 0.02),
]
TIP = [
    TaperedCapsule((0.0, 0.0, 0.0), (0.2, 0.0, 0.08), 0.03, 0.06),
    Capsule((0.0, 0.05, -0.03), (0.2, 0.0, -0.06), 0.02),
]
Place = Callable[[np.ndarray, tuple[float, float, float]], np.ndarray]
Recipe = Callable[[Subject, TileLayout, Stages], None]


def of_this_file(whole: Recipe) -> Recipe:
    """The same recipe under a key of its own: what is kept under it is met nowhere else."""

    def recipe(subject: Subject, layout: TileLayout, k: Stages) -> None:
        whole(subject, layout, k)

    return recipe


@pytest.fixture(scope="module")
def model() -> Iterator[CollisionModel]:
    robot = CollisionModel(gantry(), {"cart": CART, "tip": TIP}, pairs=[("cart", "tip")])
    with pytest.MonkeyPatch.context() as patch:
        for room, stage, has_code in (
            (checker, checker.Touching, "in_kernel"),
            (clearance, clearance.Least, "in_pairs"),
            (certify, certify.Grown, "in_pairs"),
        ):
            patch.setattr(room, has_code, lambda kind, other: kind != other)
            patch.setattr(room, "OBSTACLE_KINDS", ())
            patch.setattr(stage, "obstacles", lambda self: None)
            patch.setattr(room, "recipe", of_this_file(room.recipe))
        yield robot


def on_cart(q: np.ndarray, point: tuple[float, float, float]) -> np.ndarray:
    """Where the cart, at x along its rail, has a point."""
    return np.array(point) + q[..., :1] * [1.0, 0.0, 0.0]


def on_tip(q: np.ndarray, point: tuple[float, float, float]) -> np.ndarray:
    """Where the tip has it: out along the arm, which turns on the cart."""
    c, s, out = np.cos(q[..., 1]), np.sin(q[..., 1]), 0.3 + q[..., 2] + point[0]
    away = [c * out - s * point[1], s * out + c * point[1], np.full_like(c, 0.2 + point[2])]
    return np.stack(away, -1) + on_cart(q, (0.0, 0.0, 0.0))


def apart(q: np.ndarray) -> np.ndarray:
    """Distances (...) of the nearer pair."""
    first = pair_apart(q, CART[0], on_cart, TIP[0], on_tip)
    return np.minimum(first, pair_apart(q, TIP[1], on_tip, CART[1], on_cart))


def pair_apart(
    q: np.ndarray, bar: Capsule, of_bar: Place, taper: TaperedCapsule, of_taper: Place
) -> np.ndarray:
    """A hull of two balls is the union of the balls between them, and how far such a ball is from a
    capsule is convex in where it lies: a third of its interval at a time is left out."""
    start, end = (of_taper(q, point) for point in (taper.start, taper.end))
    foot, head = (of_bar(q, point) for point in (bar.start, bar.end))
    way = head - foot

    def of_ball(s: np.ndarray) -> np.ndarray:
        center = start + s[..., None] * (end - start)
        along = np.clip(((center - foot) * way).sum(-1) / (way * way).sum(-1), 0.0, 1.0)
        gap = np.linalg.norm(center - foot - along[..., None] * way, axis=-1)
        return gap - bar.radius - (1.0 - s) * taper.start_radius - s * taper.end_radius

    low, high = np.zeros(q.shape[:-1]), np.ones(q.shape[:-1])
    for _ in range(70):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        lower = of_ball(first) < of_ball(second)
        low, high = np.where(lower, low, first), np.where(lower, second, high)
    return of_ball(0.5 * (low + high))


def test_verdicts_distances_and_gradients(model: CollisionModel) -> None:
    q = model.robot.random(200, seed=2)
    expected, nearest = apart(q), model.clearance(q)
    assert 10 < (expected < 0.0).sum() < 190
    np.testing.assert_allclose(nearest.distance, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.collides(q), expected < 0.0)
    steps = 1e-6 * np.eye(3)
    slopes = (apart(q[:, None] + steps) - apart(q[:, None] - steps)) / 2e-6
    np.testing.assert_allclose(nearest.gradient, slopes, rtol=0, atol=1e-7)


def test_proofs_hold_and_touches_touch(model: CollisionModel) -> None:
    q0, q1 = ends(model, 40)
    proof = model.certify_motion(q0, q1)
    way = q0[:, None] + np.linspace(0.0, 1.0, 101)[:, None] * (q1 - q0)[:, None]
    least = apart(way).min(axis=1)
    assert proof.free.sum() > 5 and proof.collides.sum() > 5 and not proof.undecided.any()
    assert (least[proof.free] > 0.0).all()
    assert (proof.clearance[proof.free] <= least[proof.free] + 1e-12).all()
    hit = proof.collides
    touch = q0[hit] + proof.at[hit][:, None] * (q1 - q0)[hit]
    assert (apart(touch) < 0.0).all()
