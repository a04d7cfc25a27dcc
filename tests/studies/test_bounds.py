"""Bounds of Christoffel symbols: what is certified survives a million poses and a climb to the
top."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwork.errors import InvalidInput, NotPossible
from linkwork.model import Body, Joint, Limits, MassProperties, Model, Placement
from linkwork.robot import Robot
from linkwork.studies.bounds import _climbed, _gain, _grid
from tests.christoffel5 import drawn_model
from tests.pinocchio_models import twin
from tests.random_models import random_model


def survives(robot: Robot, bounds, poses: int) -> None:
    """Random poses over the whole circle, and climbs from the best of them for the norm and a dozen
    symbols."""
    rng, step = np.random.default_rng(7), 20_000
    low, high = (
        np.where(np.isfinite(x), x, s * math.pi)
        for x, s in ((robot.limits.lower, -1), (robot.limits.upper, 1))
    )
    best, best_gain = None, 0.0
    for _ in range(poses // step):
        q = rng.uniform(low, high, size=(step, robot.nq))
        c = np.abs(robot.christoffel(q))
        assert (c.max(axis=0) <= bounds.symbols).all()
        gains = _gain(c[:500])
        if gains.max() > best_gain:
            best, best_gain = q[int(gains.argmax())], gains.max()
    tops = [_climbed(robot.subject, best, _gain)]
    for place in rng.integers(0, robot.nv, size=(12, 3)):
        tops.append(
            _climbed(robot.subject, best, lambda c, at=tuple(place): np.abs(c[(slice(None), *at)]))
        )
    top = robot.christoffel(np.concatenate(tops))
    assert (np.abs(top).max(axis=0) <= bounds.symbols).all()
    assert _gain(top).max() <= bounds.coriolis


def test_certified_bounds_survive_a_million_poses_and_are_tight():
    robot = Robot(drawn_model())
    bounds = robot.christoffel_bounds()
    assert bounds.kind == "certified"
    survives(robot, bounds, 1_000_000)
    assert bounds.symbols.max() < 1.25 * bounds.largest
    np.testing.assert_allclose(
        np.abs(robot.christoffel(bounds.q)).max(), bounds.largest, rtol=1e-12
    )


def test_an_industrial_arm():
    robot = twin("ur/ur5_robot").robot
    survives(robot, robot.christoffel_bounds(samples=300_000), 100_000)


@pytest.mark.parametrize("seed", range(4))
def test_trees_with_sliding_joints(seed):
    robot = Robot(
        random_model(seed, bodies=6, types=("revolute", "prismatic", "fixed"), mimic=seed % 2 == 1)
    )
    survives(robot, robot.christoffel_bounds(samples=20_000), 40_000)


@pytest.mark.parametrize("samples", [1, 20_000])
def test_where_joints_mimic_the_largest_is_that_of_the_robot_itself(samples):
    robot = Robot(random_model(1, bodies=6, types=("revolute", "prismatic", "fixed")))
    assert robot.subject.tree.mimic
    bounds = robot.christoffel_bounds(samples=samples)
    assert bounds.q.shape == (robot.nq,)
    np.testing.assert_allclose(
        np.abs(robot.christoffel(bounds.q)).max(), bounds.largest, rtol=1e-12
    )
    assert bounds.largest <= bounds.symbols.max()


@pytest.mark.parametrize("kind", ["certified", "sampled"])
def test_bounds_are_shown_in_a_line(kind):
    shown = repr(Robot(drawn_model(3)).christoffel_bounds(kind, samples=100))
    assert shown.startswith(f"<ChristoffelBounds {kind}: |c| <= ")
    assert len(shown) < 100


@pytest.mark.parametrize("seed", range(4))
def test_every_joint_by_reach_alone(seed):
    model = random_model(
        seed, bodies=5, types=("revolute", "prismatic", "helical", "ball"), mimic=False
    )
    robot = Robot(model)
    bounds = robot.christoffel_bounds(samples=1)
    c = robot.christoffel(robot.random(20_000, seed=seed))
    assert (np.abs(c).max(axis=0) <= bounds.symbols).all()
    assert _gain(c).max() <= bounds.coriolis


def test_a_floating_base_and_many_joints_are_bounded_by_reach():
    robot = twin("solo/solo12", "floating").robot
    bounds = robot.christoffel_bounds()
    c = robot.christoffel(robot.random(500, seed=0))
    assert (np.abs(c).max(axis=0) <= bounds.symbols).all()


def test_the_bound_of_a_double_pendulum_is_its_maximum():
    """c = m l r sin q2: the grid meets the maximum, so that only the factor of the grid remains."""
    model = Model(
        name="2R",
        bodies=(
            Body("upper", MassProperties(2.0, (0.3, 0, 0))),
            Body("fore", MassProperties(1.5, (0.25, 0, 0))),
        ),
        joints=(
            Joint("shoulder", "revolute", None, "upper"),
            Joint("elbow", "revolute", "upper", "fore", Placement(position=(0.7, 0.0, 0.0))),
        ),
    )
    bounds = Robot(model).christoffel_bounds(samples=1000)
    exact = 1.5 * 0.7 * 0.25
    assert exact <= bounds.symbols[0, 0, 1] < exact * (1 + 1e-4)
    sampled = Robot(model).christoffel_bounds("sampled", samples=50)
    assert sampled.kind == "sampled"
    assert sampled.largest == pytest.approx(exact, rel=1e-8)  # the climb ends at the top
    expected = math.sqrt(2) * exact  # C(v) = -x (v2, v1 + v2; -v1, 0)
    assert sampled.coriolis <= bounds.coriolis < 1.7 * expected


def test_symbols_are_trigonometric_polynomials_of_degree_two():
    """What the certificate rests on, from the transform of the symbols along each joint:
    turns and slides."""
    model = random_model(11, bodies=6, types=("revolute", "prismatic"), mimic=False)
    robot = Robot(model)
    q0 = robot.random(seed=0)
    for k, node in enumerate(robot.subject.tree.nodes[1:]):
        q = np.tile(q0, (16, 1))
        q[:, k] = (
            2 * math.pi * np.arange(16) / 16 if node.kind == "revolute" else np.linspace(-1, 1, 16)
        )
        c = robot.christoffel(q)
        if node.kind == "revolute":
            beyond = np.abs(np.fft.fft(c, axis=0)[3:-2]).max()
        else:
            beyond = np.abs(np.diff(c, n=3, axis=0)).max()
        assert beyond < 1e-12 * np.abs(c).max()


@pytest.mark.parametrize("seed", range(20))
def test_the_factor_of_the_grid_holds_for_random_polynomials(seed):
    rng, M = np.random.default_rng(seed), 7
    a = rng.normal(size=(5, 5))

    def p(x, y):
        basis = lambda t: np.stack(
            [np.ones_like(t), np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)]
        )
        return basis(x).T @ a @ basis(y)

    grid, fine = 2 * math.pi * np.arange(M) / M, np.linspace(0, 2 * math.pi, 300)
    assert (
        np.abs(p(fine, fine)).max() <= np.abs(p(grid, grid)).max() / math.cos(2 * math.pi / M) ** 2
    )


def test_more_samples_make_it_tighter():
    robot = Robot(drawn_model())
    assert _grid(robot.subject, 4**4) is None  # four steps a turn cannot see degree two
    coarse, fine = (robot.christoffel_bounds(samples=n).coriolis for n in (6**4, 20**4))
    assert fine < coarse


def test_what_cannot_be_bounded_is_refused():
    slide = Joint("slide", "prismatic", "arm", "mass", axis=(1.0, 0.0, 0.0))
    bodies = (Body("arm"), Body("mass", MassProperties(1.0)))
    model = Model(name="RP", bodies=bodies, joints=(Joint("turn", "revolute", None, "arm"), slide))
    with pytest.raises(NotPossible, match='joint "slide" slides without limits'):
        Robot(model).christoffel_bounds()
    with pytest.raises(InvalidInput, match="kind"):
        Robot(drawn_model()).christoffel_bounds("guessed")
    with pytest.raises(InvalidInput, match="samples"):
        Robot(drawn_model()).christoffel_bounds(samples=0)
    limited = Model(
        name="RP",
        bodies=bodies,
        joints=(
            model.joints[0],
            Joint(
                "slide",
                "prismatic",
                "arm",
                "mass",
                axis=(1.0, 0.0, 0.0),
                limits=(Limits(-0.2, 0.5),),
            ),
        ),
    )
    assert Robot(limited).christoffel_bounds().symbols[0, 0, 1] == pytest.approx(0.5, rel=1e-3)
