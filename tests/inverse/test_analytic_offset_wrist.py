"""Offset-wrist arms: the acceptance of [Carbonari2023], degenerate poses,
and properties that hold for every arm."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import linkwork as lw
from linkwork.inverse import analytic
from tests.inverse.arms import apart, arm, from_table, nearest, searched, tip

PI = np.pi
FRAME = "flange"
EXAMPLE = np.radians([78, 131, 24, 42, -60, -10])
EIGHT = np.array(
    [
        [78.000000, 131.000000, 24.000000, 42.000000, -60.000000, -10.000000],
        [-102.000000, 49.000000, 156.000000, -138.000000, -60.000000, -10.000000],
        [39.902079, 28.217821, 161.195105, -75.169101, 116.228778, -90.343649],
        [-140.097921, 151.782179, 18.804895, 104.830899, 116.228778, -90.343649],
        [86.018035, 132.379261, 25.436341, 35.882233, -55.128997, -2.976468],
        [-93.981965, 47.620739, 154.563659, -144.117767, -55.128997, -2.976468],
        [114.690312, 42.071683, 151.462677, -23.884429, 170.538691, 10.811998],
        [-65.309688, 137.928317, 28.537323, 156.115571, 170.538691, 10.811998],
    ]
)
FRAMES_4 = np.array([[-9.673185, 1.672039, -4.490127], [-7.729376, -19.020119, 8.442621]])
TABLE_2 = [-13.105, -9.673, -7.729, -7.603, -6.135, -3.738, -3.230, -0.4796]
TABLE_2 += [-0.667 + 0.494j, -0.2329 + 0.0123j, -0.088 + 0.043j, -0.041 + 0.015j]


@pytest.fixture(scope="module")
def robot():
    return lw.load("crx-10ial")


def sets(count, seed=0):
    return np.random.default_rng(seed).uniform(-PI, PI, (count, 6))


def test_the_example_has_exactly_eight_solutions(robot):
    found = robot.inverse_kinematics_all(robot.pose(EXAMPLE, FRAME), FRAME)
    assert found.count == 8
    for row in np.radians(EIGHT):
        assert apart(found.q, row).min() < np.radians(1e-6)
    assert set(found.kind) == {"isolated"}
    assert found.residual.max() < 1e-13


@pytest.mark.parametrize(
    ("degrees", "count"),
    [
        ([-40, -50, 60, -90, -90, -100], 16),
        ([110, -40, 30, -70, 50, 50], 12),
        ([-70, -40, -30, 160, -60, 160], 4),
        ([0, 0, 0, 0, 0, 0], 8),
        ([0, 90, 0, 0, -90, 0], 12),
    ],
)
def test_published_counts(robot, degrees, count):
    found = robot.inverse_kinematics_all(robot.pose(np.radians(degrees), FRAME), FRAME)
    assert found.count == count
    if not any(degrees):
        assert np.count_nonzero(found.kind != "isolated") == 4


def test_out_of_reach(robot):
    T = robot.pose(EXAMPLE, FRAME)
    T[0, 3] += 2.0
    found = robot.inverse_kinematics_all(T, FRAME)
    assert found.q.shape == (0, 6)
    assert found.reason.startswith("out of reach: wrist 2.")


def test_random_poses(robot):
    q = sets(2000)
    found = robot.inverse_kinematics_all(robot.pose(q, FRAME), FRAME)
    assert nearest(found, q).max() < 1e-8
    assert np.nanmax(found.residual) < 1e-12
    counts, numbers = np.unique(found.count, return_counts=True)
    assert set(counts) == {4, 8, 12, 16}
    assert numbers[1] > 1500  # most poses have eight


@pytest.mark.parametrize(
    ("joint", "values"),
    [
        (3, (0.0, PI)),
        (3, (1e-3, 1e-6)),
        (3, (1e-9,)),
        (0, (0.0,)),
        (4, (0.0, PI)),
        (4, (PI / 2, -PI / 2)),
        (1, (PI / 2,)),
        (2, (-PI / 2,)),
        (2, (-PI / 2 + 1e-6, -PI / 2 - 1e-6)),
    ],
)
def test_degenerate_families(robot, joint, values):
    q = sets(400, joint)
    q[:, joint] = np.random.default_rng(1).choice(values, 400)
    found = robot.inverse_kinematics_all(robot.pose(q, FRAME), FRAME)
    assert nearest(found, q).max() < 1e-8
    assert np.nanmax(found.residual) < 1e-10
    assert (found.count % 2 == 0).all()


def test_no_posture_is_lost_among_double_roots(robot):
    """Of 20 000 poses some are so near to a tangent that four roots lie within 1e-4 of each
    other."""
    q = sets(20_000, seed=7)
    q[:, 3] = np.random.default_rng(7).choice((0.0, PI), len(q))
    found = robot.inverse_kinematics_all(robot.pose(q, FRAME), FRAME)
    assert nearest(found, q).max() < 1e-5
    assert (found.count > 0).all()


@pytest.mark.parametrize("name", ["crx", "skew wrist"])
def test_no_posture_is_lost_between_two_bins(name, robot):
    """Where theta6 is the end of a bin, two bins must agree on which of them has the root."""
    own = robot if name == "crx" else arm(name)
    frame = FRAME if name == "crx" else tip(own)
    q = sets(12_000, seed=3)
    q[:, 5] = np.random.default_rng(3).choice(np.arange(-32, 32) * PI / 32, len(q))
    q = q[own.singularity(q, frame).sigma_min > 1e-4]
    found = own.inverse_kinematics_all(own.pose(q, frame), frame)
    assert nearest(found, q).max() < 1e-8


def test_poses_of_right_angles_are_reached(robot):
    """Several degeneracies at once: continua and roots of multiplicity six;
    whatever is returned closes."""
    q = np.round(sets(300, 9) / (PI / 2)) * (PI / 2)
    found = robot.inverse_kinematics_all(robot.pose(q, FRAME), FRAME, q0=q)
    assert (found.count > 0).all()
    assert np.nanmax(found.residual) <= 1e-10
    assert {"tangent", "continuum"} <= set(np.unique(found.kind))


def test_mirror_pairs(robot):
    found = robot.inverse_kinematics_all(robot.pose(sets(100), FRAME), FRAME)
    for k in range(100):
        q = found[k].q
        mirror = np.stack(
            [q[:, 0] + PI, PI - q[:, 1], PI - q[:, 2], q[:, 3] + PI, q[:, 4], q[:, 5]], axis=1
        )
        assert max(apart(q, row).min() for row in mirror) < 1e-9


def test_turning_base_and_tool_shifts_one_joint(robot):
    T = robot.pose(sets(50), FRAME)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(1.1), -np.sin(1.1)], [np.sin(1.1), np.cos(1.1)]]
    for moved, joint in ((turn @ T, 0), (T @ turn, 5)):
        plain, found = (
            robot.inverse_kinematics_all(T, FRAME),
            robot.inverse_kinematics_all(moved, FRAME),
        )
        assert (found.count == plain.count).all()
        for k in range(50):
            back = found[k].q.copy()
            back[:, joint] -= 1.1
            assert max(apart(plain[k].q, row).min() for row in back) < 1e-9


def test_height_and_scale_do_not_matter(robot):
    q = sets(50)
    rows = lambda s, d1: from_table(
        [0, s * 0.71, 0, 0, 0, 0],
        [PI / 2, -PI, -PI / 2, -PI / 2, PI / 2, 0],
        [d1, s * 0.26, s * 0.26, s * 0.54, s * 0.15, s * 0.16],
    )
    plain = robot.inverse_kinematics_all(robot.pose(q, FRAME), FRAME)
    other = rows(1000.0, 250.3)
    found = other.inverse_kinematics_all(other.pose(q, tip(other)), tip(other))
    assert (found.count == plain.count).all()
    for k in range(50):
        assert max(apart(plain[k].q, row).min() for row in found[k].q) < 1e-8


def test_sets_are_complete(robot):
    """Against 300 damped Newton runs on the plain forward kinematics, also for skew wrist axes."""
    for other, frame in ((robot, FRAME), (arm("skew wrist"), tip(arm("skew wrist")))):
        for q in sets(4, 11):
            T = other.pose(q, frame)
            found, truth = other.inverse_kinematics_all(T, frame).q, searched(other, frame, T)
            assert len(truth) <= len(found)
            assert all(apart(found, row).min() < 1e-6 for row in truth)


def test_a_vanishing_offset_leads_to_the_spherical_wrist():
    table = lambda d5: from_table(
        [0, 0.71, 0, 0, 0, 0],
        [PI / 2, -PI, -PI / 2, -PI / 2, PI / 2, 0],
        [0.2, 0, 0, 0.54, d5, 0.16],
    )
    straight, nearly = table(0.0), table(1e-6)
    assert lw.classify(straight, tip(straight)).family == "spherical_wrist"
    assert lw.classify(nearly, tip(nearly)).family == "offset_wrist"
    many = sets(40, 12)
    for q in many[straight.singularity(many, tip(straight)).sigma_min > 0.05]:
        T = straight.pose(q, tip(straight))
        first, second = (r.inverse_kinematics_all(T, tip(r)).q for r in (straight, nearly))
        assert len(first) == len(second) == 8
        # of 1e-6 m: postures of 0.05 rad m/m move by 2e-5
        assert all(apart(second, row).min() < 1e-3 for row in first)


def test_degree_eight(robot):
    T = robot.pose(EXAMPLE, FRAME)
    p = analytic.offset_wrist_polynomial(robot, T, FRAME)
    assert p.shape == (9,)
    # angles printed to 1e-6 deg
    assert (
        np.abs(np.polyval(p, np.exp(1j * np.radians(EIGHT[:, 5])))).max() < 1e-7 * np.abs(p).max()
    )
    assert np.abs(p - p[::-1].conj()).max() < 1e-15 * np.abs(p).sum()  # self-inversive: f is real


def test_degree_sixteen_is_half_false(robot):
    """Corrected: the paper counts sixteen roots; eight of them fulfil the constraints."""
    found = analytic.carbonari_polynomial(robot, robot.pose(EXAMPLE, FRAME), FRAME)
    c1 = found.c[:, 0]
    for value in [*TABLE_2, *np.conj(TABLE_2[8:])]:
        assert np.abs(c1 - value).min() < 2e-3
    assert np.count_nonzero(found.genuine) == 8
    genuine = found.c[found.genuine & found.real].real
    assert len(genuine) == 4
    for row in FRAMES_4:
        assert np.abs(genuine - row).max(axis=1).min() < 1e-5
    assert sorted(np.round(genuine[:, 0], 3)) == [-9.673, -7.729, -7.603, -0.48]


def test_closed_determinant(robot):
    q = sets(500, 13)
    numeric = np.linalg.det(robot.jacobian(q, FRAME))
    assert np.abs(robot.singularity(q, FRAME).determinant - numeric).max() < 1e-13


def test_a_straight_wrist_alone_is_not_singular(robot):
    q = sets(50, 14)
    q[:, 4] = 0.0
    assert (robot.singularity(q, FRAME).sigma_min > 1e-4).any()


@pytest.mark.parametrize("name", ["crx-10ial", "crx-10ia"])
def test_arms_on_the_first_axis_leave_its_angle_to_the_seed(name):
    """Upper arm and forearm upright, folded or stretched: theta1 is free,
    and theta4 turns back what it turns."""
    robot = lw.load(name)
    q = np.random.default_rng(3).uniform(-3.0, 3.0, (4, 60, 6))
    q[..., 1:3] = np.radians([(90, 90), (90, -90), (-90, 90), (-90, -90)])[:, None]
    q = q.reshape(-1, 6)
    T = robot.pose(q, "flange")
    for turned in (0.0, 0.7):
        seed = q.copy()
        seed[:, 0] += turned
        found = robot.inverse_kinematics_all(T, "flange", seed)
        off = np.abs((found.q - seed[:, None] + np.pi) % (2 * np.pi) - np.pi)
        own = (found.kind == "continuum") & (off[..., [1, 2, 4, 5]] < 1e-7).all(axis=-1)
        assert (np.where(own, off[..., 0], 9.0).min(axis=1) < 1e-12).all()
        assert np.nanmax(found.residual) < 1e-10
        if not turned:
            assert (np.where(own, off.max(axis=-1), 9.0).min(axis=1) < 1e-9).all()


def test_an_arm_upright_with_its_wrist_in_line_is_solved():
    """Joints at right angles, where most degeneracies meet: the generating posture is there,
    nothing is NaN."""
    robot = lw.load("crx-10ial")
    q = (
        np.array(list(itertools.product((-90, 90), (-90, 90), (0, 90, 180), (0, 90, 180), (0,))))
        * np.pi
        / 180
    )
    q = np.concatenate([np.zeros((len(q), 1)), q], axis=1)
    found = robot.inverse_kinematics_all(robot.pose(q, "flange"), "flange", q)
    apart = np.abs((found.q - q[:, None] + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)
    assert (np.nanmin(apart, axis=1) < 1e-6).all()
    assert np.nanmax(found.residual) < 1e-10
