"""Segments, capsules and other shapes around an elbow: brute force, coal at the ends of arcs,
closed forms."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.avoidance import (
    CriticallyDampedFilter,
    Elbow,
    ElbowAvoidance,
    SafetyVolume,
    Solid,
    SolidVolume,
    nearest_free,
    robot_obstacles,
)
from linkwork.collision import (
    Box,
    Capsule,
    Cloud,
    CollisionModel,
    Cylinder,
    HalfSpace,
    Obstacles,
    Sphere,
    TaperedCapsule,
)
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.reproduce.human_arms import circle, human_points, tool_pose
from tests.avoidance.test_elbow import arm, brute_clearance, elbow, iiwa

TURN = 2 * math.pi


def within(arcs: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Whether angles lie inside arcs (k, 2)."""
    return (((angle[:, None] - arcs[:, 0]) % TURN) < arcs[:, 1] - arcs[:, 0]).any(axis=1)


def test_arcs_of_capsules_are_those_of_brute_force():
    """40 capsules x 200 arm angles, each asked at 300 points of its axis; links and radii
    differ."""
    rng = np.random.default_rng(3)
    share, angles, several = (
        np.linspace(0.0, 1.0, 300)[:, None],
        rng.uniform(-math.pi, math.pi, 200),
        0,
    )
    for trial in range(10):
        robot, frame = (arm(), "tool") if trial % 2 else (iiwa(), iiwa().bodies[-1])
        bent = elbow() if trial % 2 else iiwa_elbow()
        pose = robot.pose(rng.uniform(-1.5, 1.5, 7), frame)
        minimum = rng.uniform(0.0, 0.1) if trial % 3 else 0.0
        volume = SafetyVolume(minimum, minimum + rng.uniform(0.0, 0.15))
        S, _, W = bent.points(pose)
        elbows = np.array([bent.points(pose, float(angle))[1] for angle in angles])
        starts = (S + W) / 2 + rng.normal(size=(4, 3)) * 0.3
        for start, end, radius in zip(
            starts, starts + rng.normal(size=(4, 3)) * 0.4, rng.uniform(0, 0.05, 4)
        ):
            capsule = [Capsule(start, end, radius)]
            arcs = bent.forbidden(pose, capsule, volume)
            several += len(arcs) > 1
            along = start + share * (end - start)
            grown = (volume.minimum + radius, volume.maximum + radius)
            room = brute_clearance(S, elbows[:, None], W, along, *grown).min(axis=1)
            inside = within(arcs, angles)
            assert inside[room < -1e-9].all()
            assert not inside[room > 3e-3].any()  # what 300 points of an axis miss
            ours = np.array(
                [bent.clearance(pose, float(angle), capsule, volume)[0] for angle in angles[:20]]
            )
            assert (ours <= room[:20] + 1e-12).all() and (room[:20] - ours).max() < 3e-3
            for angle in arcs[:, 0] if len(arcs) and arcs[0, 1] - arcs[0, 0] < TURN else ():
                assert bent.clearance(pose, float(angle), capsule, volume)[0] == pytest.approx(
                    0.0, abs=1e-9
                )
    assert several > 0


@cache
def iiwa_elbow() -> Elbow:
    return Elbow(iiwa(), iiwa().bodies[-1], (0.0, 1.0, 0.0))


def test_coal_finds_a_touch_at_the_ends_of_arcs():
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(8)
    request, volume, ends = coal.DistanceRequest(), SafetyVolume(0.0, 0.12), 0
    request.gjk_tolerance = 1e-12

    def apart(shape, T, obstacle, T_obstacle) -> float:
        place = [
            coal.Transform3s(np.ascontiguousarray(X[:3, :3]), X[:3, 3]) for X in (T, T_obstacle)
        ]
        return coal.distance(shape, place[0], obstacle, place[1], request, coal.DistanceResult())

    for k in range(30):
        pose = circle(k / 60)
        start = rng.uniform((0.0, 0.3, -0.2), (0.5, 0.8, 0.4))
        end = start + rng.normal(size=3) * 0.2
        arcs = elbow().forbidden(pose, [Capsule(start, end, 0.0)], volume)
        segment = coal.Capsule(0.0, float(np.linalg.norm(end - start)))
        for angle in arcs.ravel() if len(arcs) and arcs[0, 1] - arcs[0, 0] < TURN else ():
            S, E, W = elbow().points(pose, float(angle))
            distances = [apart(coal.Sphere(volume.maximum), _at(E), segment, _along(start, end))]
            for P in (S, W):  # the tip of coal's cone is at +z
                cone = coal.Cone(volume.maximum, float(np.linalg.norm(E - P)))
                distances.append(apart(cone, _along(E, P), segment, _along(start, end)))
            assert min(distances) == pytest.approx(0.0, abs=1e-9)
            ends += 1
    assert ends > 20


def _at(p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = p
    return T


def _along(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Axes with z from a to b, in the middle."""
    T = _at((a + b) / 2)
    z = (b - a) / np.linalg.norm(b - a)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    T[:3, 0] = x / np.linalg.norm(x)
    T[:3, 1], T[:3, 2] = np.cross(z, T[:3, 0]), z
    return T


def test_spheres_clouds_and_arrays_say_the_same():
    pose, volume, points = tool_pose((0.6, 0.2, 0.2)), SafetyVolume(0.0, 0.1), human_points(0.3)
    expected = elbow().forbidden(pose, points, volume, radius=0.03)
    np.testing.assert_array_equal(
        elbow().forbidden(pose, [Sphere(p, 0.03) for p in points], volume), expected
    )
    np.testing.assert_array_equal(
        elbow().forbidden(pose, Obstacles([Cloud(points, 0.03)]), volume), expected
    )
    ends = np.stack([points, points], axis=1)  # segments without length
    np.testing.assert_allclose(
        elbow().forbidden(pose, ends, volume, radius=0.03), expected, atol=1e-9
    )
    np.testing.assert_allclose(
        elbow().clearance(pose, 0.2, ends, volume, radius=0.03),
        elbow().clearance(pose, 0.2, points, volume, radius=0.03),
        atol=1e-12,
    )
    # a skeleton of segments forbids what its sampled points do, and a little between them
    skeleton = [Capsule(a, b, 0.03) for a, b in human_points(0.3, 2).reshape(-1, 2, 3)]
    whole = elbow().forbidden(pose, skeleton, volume)
    assert within(whole, expected.ravel() + np.tile([1e-9, -1e-9], len(expected))).all()
    assert np.ptp(whole, axis=1).sum() == pytest.approx(np.ptp(expected, axis=1).sum(), rel=0.02)


def test_shapes_that_are_covered_are_never_larger_than_their_cover():
    """Random points of the shapes: a point inside one is never free where its cover is."""
    rng = np.random.default_rng(11)
    pose, volume = tool_pose((0.6, 0.2, 0.2)), SafetyVolume(0.0, 0.1)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = lw.pose((0, 0, 0), rpy=(0.3, -0.5, 0.8))[:3, :3], (0.35, 0.6, 0.15)
    tapered = TaperedCapsule((0.2, 0.6, 0.0), (0.45, 0.55, 0.2), 0.06, 0.02)
    share = rng.uniform(0, 1, (200, 1))
    direction = rng.normal(size=(200, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    on_tapered = np.array(tapered.start) + share * np.subtract(tapered.end, tapered.start)
    on_tapered = on_tapered + direction * (0.06 + share * (0.02 - 0.06))
    corner = rng.uniform(-0.5, 0.5, (200, 3)) * (0.3, 0.1, 0.02)
    turn = rng.uniform(0, TURN, 200)
    rim = np.stack([0.04 * np.cos(turn), 0.04 * np.sin(turn), rng.uniform(-0.1, 0.1, 200)], axis=1)
    for shape, points in (
        (tapered, on_tapered),
        (Box((0.3, 0.1, 0.02), T), corner @ T[:3, :3].T + T[:3, 3]),
        (Cylinder(0.04, 0.2, T), rim @ T[:3, :3].T + T[:3, 3]),
    ):
        arcs = elbow().forbidden(pose, points, volume)
        assert len(arcs)
        covered = elbow().forbidden(pose, [shape], volume)
        assert within(covered, arcs.ravel() + np.tile([1e-9, -1e-9], len(arcs))).all()


def test_another_robot_is_an_obstacle():
    other = arm().with_base((0.7, 0.1, 0.2))
    body = other.model.joint(other.joints[3]).child
    model = CollisionModel(other, {body: [Capsule((0, 0, 0), (0.4, 0, 0), 0.05)]}, pairs=[])
    q = np.array([0.2, 0.7, 0.1, -1.3, 0.3, 0.9, 0.4])
    shape = next(iter(robot_obstacles(model, q)))
    T = other.pose(q, body)
    np.testing.assert_allclose(shape.start, T[:3, 3], atol=1e-12)
    np.testing.assert_allclose(shape.end, T[:3, :3] @ (0.4, 0, 0) + T[:3, 3], atol=1e-12)
    volume, pose = SafetyVolume(0.05, 0.15), tool_pose((0.5, 0.3, 0.1))
    avoidance = ElbowAvoidance(elbow(), volume, CriticallyDampedFilter(10.0, 0.01))
    step = avoidance.step(pose, robot_obstacles(model, q))
    assert step.clearance == pytest.approx(
        elbow().clearance(pose, step.arm_angle, [shape], volume).min(), abs=1e-12
    )
    with pytest.raises(InvalidInput, match="robot_obstacles"):
        elbow().forbidden(pose, model, volume)


def test_solids_on_named_points_forbid_what_their_distances_say():
    """A ball about the elbow has arcs in closed form;
    balls and tapered capsules agree with the collision room."""
    pose = tool_pose((0.6, 0.2, 0.2))
    ball = SolidVolume(arm(), [Solid("Pe", 0.1)])
    swing = elbow().swing(pose, "test")
    center = np.array([0.3, 0.7, 0.15])
    arcs = ball.forbidden(elbow(), pose, [Sphere(center, 0.04)], margin=0.01)
    u, v0, w0 = swing[3:6], swing[6:9], swing[9:12]
    E0 = elbow().points(pose, 0.0)[1] - swing[:3]
    r = center - swing[:3]
    along, height = (r @ u) - (E0 @ u), E0 @ v0
    across = math.hypot(r @ v0, r @ w0)
    cosine = (height**2 + across**2 + along**2 - 0.15**2) / (2 * height * across)
    middle, half = math.atan2(r @ w0, r @ v0), math.acos(cosine)
    np.testing.assert_allclose(arcs, [[middle - half, middle + half]], atol=1e-9)
    rounded = SolidVolume(
        arm(), [Solid(("Ps", "Pe"), (0.02, 0.12)), Solid(("4.Pw", "3.Pe"), (0.02, 0.12))]
    )
    person = [Capsule(a, b, 0.03) for a, b in human_points(0.3, 2).reshape(-1, 2, 3)]
    arcs = rounded.forbidden(elbow(), pose, person)
    angles = np.linspace(-3.0, 3.0, 60)
    q = elbow().configurations(pose, angles)[:, 0]
    distance = rounded.clearance(q, person).distance
    np.testing.assert_array_equal(within(arcs, angles), distance < 0.0)
    assert 0 < (distance < 0.0).sum() < 60
    # the volume of the paper lies inside round-ended solids of the same radii, so it forbids less
    inner = elbow().forbidden(pose, person, SafetyVolume(0.02, 0.12))
    assert within(arcs, inner.ravel() + np.tile([1e-9, -1e-9], len(inner))).all()


def test_cones_are_the_volume_of_the_paper():
    pytest.importorskip("coal")
    pose, person = tool_pose((0.6, 0.2, 0.2)), [Sphere(p, 0.0) for p in human_points(0.3, 5)]
    solids = [
        Solid(("Ps", "Pe"), (0.0, 0.12), "cone"),
        Solid(("Pw", "Pe"), (0.0, 0.12), "cone"),
        Solid("Pe", 0.12),
    ]
    arcs = SolidVolume(arm(), solids).forbidden(elbow(), pose, person)
    exact = elbow().forbidden(pose, person, SafetyVolume(0.0, 0.12))
    # a prism of 32 sides stands 0.5 % off its cone
    np.testing.assert_allclose(arcs, exact, atol=0.02)
    assert (arcs[:, 0] <= exact[:, 0] + 1e-9).all() and (arcs[:, 1] >= exact[:, 1] - 1e-9).all()


def test_an_arm_keeps_its_solids_off_a_person():
    solids = SolidVolume(
        arm(), [Solid(("Ps", "Pe"), (0.02, 0.1)), Solid(("Pw", "Pe"), (0.02, 0.1))]
    )
    avoidance = ElbowAvoidance(
        elbow(), solids, CriticallyDampedFilter(10.0, 0.06), activation=0.04, hard=0.01
    )
    poses = np.array([circle(k / 400) for k in range(8)])
    people = [
        [Capsule(a, b, 0.03) for a, b in human_points(k / 400, 2).reshape(-1, 2, 3)]
        for k in range(8)
    ]
    steps = avoidance.run(poses, people)
    assert len(steps) == 8 and steps.q.shape == (8, 7)
    for pose, q, person, clearance in zip(poses, steps.q, people, steps.clearance, strict=True):
        np.testing.assert_allclose(arm().pose(q, "tool"), pose, atol=1e-10)
        distance = float(solids.clearance(q, person).distance)
        assert distance == pytest.approx(clearance + 0.01, abs=1e-9)
        assert distance >= 0.01 - 1e-9


def test_a_hard_radius_is_kept_and_the_volume_is_left_earlier():
    volume, pose = SafetyVolume(0.02, 0.15), tool_pose((0.6, 0.2, 0.2))
    avoidance = ElbowAvoidance(elbow(), volume, CriticallyDampedFilter(0.01, 0.01), hard=0.1)
    step = avoidance.step(pose, [Sphere((0.30, 0.70, 0.15), 0.0)])
    assert step.status == "avoiding" and step.clearance > 0.0  # in the volume, not in the hard one
    assert step.wanted == pytest.approx(
        nearest_free(elbow().forbidden(pose, [[0.30, 0.70, 0.15]], volume)), abs=1e-12
    )


def test_retreating_tools_keep_their_speed():
    """A person comes and goes: while the clearance grows the scale is 1,
    while it falls it is below."""
    volume, pose = SafetyVolume(0.0, 0.1), tool_pose((0.6, 0.2, 0.2))
    avoidance = ElbowAvoidance(elbow(), volume, CriticallyDampedFilter(1e-3, 0.01), threshold=0.1)
    E = elbow().points(pose)[1]
    scales = [
        avoidance.step(pose, [E + [0.0, 0.1 + d, 0.0]]).speed_scale
        for d in (0.08, 0.05, 0.02, 0.04, 0.07)
    ]
    assert scales[0] > scales[1] > scales[2] and scales[3] == scales[4] == 1.0


def test_shapes_that_are_none_are_refused_in_words():
    pose, volume = tool_pose((0.6, 0.2, 0.2)), SafetyVolume(0.0, 0.1)
    with pytest.raises(InvalidInput, match="half_space"):
        elbow().forbidden(pose, [HalfSpace((0, 0, 1), 0.0)], volume)
    with pytest.raises(InvalidInput, match=r"segments \(k, 2, 3\)"):
        elbow().forbidden(pose, np.zeros((2, 4, 3)), volume)
    with pytest.raises(InvalidInput, match="one arc each"):
        elbow().arcs(pose, np.zeros((2, 2, 3)), volume)
    with pytest.raises(InvalidInput, match="not finite"):
        elbow().forbidden(pose, np.full((1, 2, 3), np.nan), volume)
    with pytest.raises(InvalidInput, match=r"expected one number or \(1,\)"):
        elbow().forbidden(pose, np.zeros((1, 3)), volume, radius=[0.1, 0.2])
    with pytest.raises(UnknownName, match="Pq"):
        SolidVolume(arm(), [Solid("Pq", 0.1)])
    with pytest.raises(InvalidInput, match="move against each other"):
        SolidVolume(arm(), [Solid(("Ps", "Pw"), (0.1, 0.1))])
    with pytest.raises(InvalidInput, match="expected one or two of each"):
        Solid(("Ps", "Pe"), (0.1,))
    with pytest.raises(NotPossible, match="does not turn with the arm angle"):
        SolidVolume(arm(), [Solid("7.Oe", 0.1)]).forbidden(elbow(), pose, [Sphere((0, 0, 0), 0.1)])
