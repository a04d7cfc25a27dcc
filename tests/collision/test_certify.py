"""Certificates: what is proved free stays free however densely it is sampled,
what touches has a sample that does."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.collision import Box, CollisionModel, Obstacles, Sphere
from linkwork.errors import InvalidInput
from tests.collision.scenes import SCENES, capsule_gantry, shapes_on, tapered_gantry, turned
from tests.collision.test_checker import some_pairs
from tests.collision.test_motions import ends


def made(name: str, kinds: str = "sphere") -> CollisionModel:
    robot = lw.load(name)
    shapes = shapes_on(robot, 2, kinds)
    return CollisionModel(robot, shapes, pairs=some_pairs(robot, shapes))


MODELS = {"ur5e": lambda: made("ur5e"), "capsules": capsule_gantry, "tapers": tapered_gantry}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> CollisionModel:
    return MODELS[request.param]()


@pytest.mark.parametrize("scene", SCENES)
def test_proofs_hold_and_touches_touch(model: CollisionModel, scene: str) -> None:
    q0, q1 = ends(model, 150)
    obstacles = SCENES[scene]
    proof = model.certify_motion(q0, q1, obstacles)
    dense = model.motion_is_free(q0, q1, obstacles, step=0.9 / 1000)
    assert not (proof.free & ~dense).any()
    assert (proof.free.astype(int) + proof.collides + proof.undecided == 1).all()
    assert proof.undecided.mean() <= 0.01  # one of 150
    at = proof.at[proof.collides][:, None]
    v = model.robot.difference(q0, q1)[proof.collides]
    touching = model.robot.integrate(q0[proof.collides], at * v)
    assert model.collides(touching, obstacles).all()
    assert np.isnan(proof.at[~proof.collides]).all()
    assert proof.collides.any() and (proof.samples >= 1).all()


def test_the_first_touch_is_the_first(model: CollisionModel) -> None:
    q0, q1 = ends(model, 120)
    obstacles = SCENES["shelves"]
    proof = model.certify_motion(q0, q1, obstacles)
    v = model.robot.difference(q0, q1)
    for k in np.flatnonzero(proof.collides)[:20]:
        t = np.arange(2001)[:, None] / 2000
        way = model.robot.integrate(np.repeat(q0[k][None], 2001, axis=0), t * v[k])
        first = np.flatnonzero(model.collides(way, obstacles))
        assert not len(first) or proof.at[k] <= t[first[0], 0] + 1.5e-3


def test_the_clearance_is_a_lower_bound_that_says_something(model: CollisionModel) -> None:
    q0, q1 = ends(model, 60, length=0.4)
    obstacles = SCENES["table"]
    proof = model.certify_motion(q0, q1, obstacles, cap=0.2)
    free = np.flatnonzero(proof.free)
    v = model.robot.difference(q0, q1)[free]
    t = np.linspace(0, 1, 400)
    way = model.robot.integrate(
        np.repeat(q0[free], 400, axis=0), np.tile(t, len(free))[:, None] * np.repeat(v, 400, 0)
    )
    least = model.clearance(way, obstacles).distance.reshape(len(free), 400).min(axis=1)
    assert (proof.clearance[free] <= least + 1e-12).all()
    assert (proof.clearance[free] > 0).all()
    assert np.median(proof.clearance[free] / np.minimum(least, 0.2)) > 0.2


@pytest.mark.parametrize("thin", [capsule_gantry, tapered_gantry])
def test_a_thin_wall_between_samples_is_found(thin: Callable[[float], CollisionModel]) -> None:
    """Sampling at 1/32 rad steps over a plate of half a millimetre; the proof does not."""
    model = thin(0.001)
    q0, q1 = np.array([0.0, 0.0, 0.3]), np.array([0.0, 0.5, 0.3])
    angle = 0.25 * (1 + 1 / 17)  # between two samples
    plate = turned(angle, (0.7 * np.cos(angle), 0.7 * np.sin(angle), 0.2))
    wall = [Box((0.24, 0.0005, 0.2), plate)]  # beyond the bar of the cart
    assert model.motion_is_free(q0, q1, wall)
    proof = model.certify_motion(q0, q1, wall)
    assert proof.collides and not proof.free and 0.4 < proof.at < 0.6
    assert np.shape(proof.at) == ()


def test_no_motion_at_all(model: CollisionModel) -> None:
    q = model.robot.random(40, seed=20)
    proof = model.certify_motion(q, q, SCENES["cage"])
    hits = model.collides(q, SCENES["cage"])
    np.testing.assert_array_equal(proof.collides, hits)
    np.testing.assert_array_equal(proof.free, ~hits)


def test_what_is_wrong_is_said_in_words(model: CollisionModel) -> None:
    q = model.robot.random(2, seed=1)
    with pytest.raises(InvalidInput, match="q1 has shape"):
        model.certify_motion(q[0], q[1][:-1])
    with pytest.raises(InvalidInput, match="cap is -1 m, expected a positive length"):
        model.certify_motion(q[0], q[1], cap=-1.0)


def test_a_slow_pair_beside_a_fast_one_keeps_the_bound() -> None:
    """While a fast pair has its interval halved, a slow one may be the nearest:
    it counts although it proves more."""
    link = '<link name="{}"/>'
    joint = (
        '<joint name="{0}" type="prismatic"><parent link="base"/><child link="{0}"/><axis '
        'xyz="1 0 0"/>{1}</joint>'
    )
    limit = '<limit lower="-2" upper="2" effort="1" velocity="1"/>'
    parts = [link.format(name) for name in ("base", "fast", "slow")]
    parts += [joint.format(name, limit) for name in ("fast", "slow")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slides.urdf"
        path.write_text(f'<robot name="slides">{"".join(parts)}</robot>')
        robot = lw.load(path)
    model = CollisionModel(
        robot, {"fast": [Sphere((0, 1, 0), 0.0)], "slow": [Sphere((0, 0, 0), 0.0)]}, pairs=[]
    )
    # eight first intervals; in the middle of the fourth the fast one passes its obstacle,
    # and the slow one its own
    middle = 7 / 16
    random = np.random.default_rng(5)
    for _ in range(100):
        low, high = random.uniform(2e-3, 4e-3), random.uniform(0.04, 0.05)
        way = np.array([0.99, random.uniform(12.0, 16.0) * low])
        at = middle + random.uniform(-0.01, 0.01)
        here = Sphere((at * way[1], 0, -low), 0.0, name="below the slow one")
        there = Sphere((middle * way[0], 1, high), 0.0, name="above the fast one")
        proof = model.certify_motion(np.zeros(2), way, Obstacles([here, there]))
        assert proof.free and proof.clearance <= low * (1 + 1e-9)
