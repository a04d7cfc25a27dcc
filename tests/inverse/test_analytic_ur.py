"""UR/TM arms: the acceptance of [Villalobos2022] and what a complete solver must add."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.inverse import analytic
from linkwork.inverse.analytic import villalobos
from linkwork.inverse.analytic.villalobos import Arm, Thresholds
from tests.inverse.arms import apart, disguised, nearest

PI = np.pi
FRAME = "tool0"
PAPER = Arm(89.2, 425.0, 392.0, 109.3, 94.75, 82.5)  # Table 1 [mm]


@pytest.fixture(scope="module")
def robot():
    return lw.load("ur5-villalobos")


def sets(count, seed=0):
    return np.random.default_rng(seed).uniform(-PI, PI, (count, 6))


def solved(robot, q, q0=None):
    return robot.inverse_kinematics_all(robot.pose(q, FRAME), FRAME, q0=q0)


def test_forward_kinematics_and_jacobian_of_the_paper(robot):
    q = sets(50)
    for row in q:
        ours = robot.pose(row, FRAME)
        ours[:3, 3] *= 1e3
        # rounding of sums of 1 m in mm
        assert np.abs(villalobos.forward(PAPER, row) - ours).max() < 1e-12 * 1e3
        J = robot.jacobian(row, FRAME)
        J[:3] *= 1e3
        assert np.abs(villalobos.jacobian(PAPER, row) - J).max() < 1e-9


def test_closed_determinant(robot):
    q = sets(500)
    found = robot.singularity(q, FRAME)
    numeric = np.linalg.det(robot.jacobian(q, FRAME))
    size = 0.425 * 0.392 * (0.425 + 0.392 + 0.09475)
    assert np.abs(found.determinant - numeric).max() < 1e-14 * size * 100
    for row in q[:20]:
        assert villalobos.determinant(PAPER, row) == pytest.approx(
            1e9 * np.linalg.det(robot.jacobian(row, FRAME)), rel=1e-9
        )


def test_shoulder_factor_belongs_to_the_pose(robot):
    """|S| = sqrt(rad) is the same for all postures of one pose, and so is its flag."""
    found = solved(robot, sets(100))
    for k in range(100):
        shoulder = robot.singularity(found[k].q, FRAME).factors["shoulder"]
        assert np.ptp(np.abs(shoulder)) < 1e-12


def test_determinant_flips_with_the_elbow(robot):
    for k in range(20):
        one = solved(robot, sets(20))[k]
        det = robot.singularity(one.q, FRAME).determinant
        for branch, value in zip(one.branch, det):
            other = [
                d
                for b, d in zip(one.branch, det)
                if (b[:2] == branch[:2]).all() and b[2] == -branch[2]
            ]
            assert other == pytest.approx([-value], rel=1e-9)


def test_random_sets(robot):
    q = sets(3000)
    found = solved(robot, q)
    assert nearest(found, q).max() < 1e-8
    assert np.nanmax(found.residual) < 1e-13
    assert set(np.unique(found.count)) <= {2, 4, 6, 8}
    for i in range(8):
        for j in range(i):
            both = found.valid[:, i] & found.valid[:, j]
            assert apart(found.q[both, i], found.q[both, j]).min() > 1e-6


def test_a_wrist_square_to_the_arm(robot):
    """Item 4.1: eq. 23 of the paper loses the generating posture of each of these poses."""
    q = sets(500)
    q[:, 4] = np.random.default_rng(1).choice((-PI / 2, PI / 2), 500)
    q[:, 5] = np.random.default_rng(2).choice((0.0, PI), 500)
    found = solved(robot, q)
    assert nearest(found, q).max() < 1e-8
    one = solved(robot, np.array([0.3, 1.2, -1.5, 0.6, PI / 2, 0.0]))
    assert one.count == 8
    flipped = one.q[(one.q[:, 4] < 0) & (one.q[:, 2] > 0)]
    expected = (0.3, -0.553069, 1.519173, 2.475489, -1.570796, PI)
    assert min(apart(row, expected) for row in flipped) < 1e-6


@pytest.mark.parametrize("theta5", [0.0, PI, 1e-11])
def test_wrist_singular_poses_are_all_reached(robot, theta5):
    q = sets(1000, 3)
    q[:, 4] = theta5
    free = solved(robot, q)
    assert (free.count > 0).all()
    # an angle that means nothing is pinned, at the cost of sin theta5
    assert np.nanmax(free.residual) < 1e-10
    assert (free.kind == "continuum").any(axis=1).all()
    seeded = solved(robot, q, q0=q)
    assert nearest(seeded, q).max() < 1e-8


@pytest.mark.parametrize("theta3", [0.0, 1e-9, 1e-8])
def test_a_straight_elbow_is_one_double_root(robot, theta3):
    q = sets(500, 4)
    q[:, 2] = theta3
    found = solved(robot, q)
    assert nearest(found, q).max() < 1e-6
    row = np.where(found.valid, apart(np.nan_to_num(found.q), q[:, None]), np.inf).argmin(axis=1)
    at = (np.arange(500), row)
    assert (found.kind[at] == "tangent").all()
    assert (found.multiplicity[at] == 2).all()
    assert np.nanmax(found.residual) < 1e-12


def test_shoulder_singular_poses(robot):
    q = sets(2000, 5)
    arm = villalobos.Arm(0.0892, 0.425, 0.392, 0.1093, 0.09475, 0.0825)
    sine = -(arm.a2 * np.cos(q[:, 1]) + arm.a3 * np.cos(q[:, 1] + q[:, 2])) / arm.d5
    q = q[np.abs(sine) < 1]
    q[:, 3] = np.arcsin(sine[np.abs(sine) < 1]) - q[:, 1] - q[:, 2]
    found = solved(robot, q)
    assert nearest(found, q).max() < 1e-6
    assert (found.kind[found.valid] == "tangent").all()
    assert robot.singularity(q, FRAME).flags["shoulder"].all()


@pytest.mark.parametrize("size", [1e-4, 1e-6, 1e-7, 1e-9])
@pytest.mark.parametrize("joint", [2, 4])
def test_near_singular_rows_close(robot, joint, size):
    """A straight elbow is a double root below 3e-7 rad; a straight wrist costs two joints digits,
    the pose none."""
    q = sets(300, 6)
    q[:, joint] = size
    found = solved(robot, q)
    assert np.nanmax(found.residual) < 1e-12
    assert nearest(found, q).max() < max(4e-7, 3e-14 / size)
    assert (found.count > 0).all()


def test_base_and_tool_rotation_shift_one_joint(robot):
    q = sets(50, 7)
    T = robot.pose(q, FRAME)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]]
    plain = robot.inverse_kinematics_all(T, FRAME)
    for moved, joint in ((turn @ T, 0), (T @ turn, 5)):
        found = robot.inverse_kinematics_all(moved, FRAME)
        assert (found.valid == plain.valid).all()
        shift = np.zeros(6)
        shift[joint] = 0.7
        assert apart(found.q, plain.q + shift)[found.valid].max() < 1e-9


def test_reasons(robot):
    T = robot.pose(np.array([0.1, 0.5, 0.5, 0.5, 0.5, 0.5]), FRAME)
    far = T.copy()
    far[0, 3] += 3.0
    assert "elbow reach" in robot.inverse_kinematics_all(far, FRAME).reason
    near = T.copy()
    near[:2, 3] = 0.0825 * T[:2, 2] + [0.061, 0.0]
    assert (
        robot.inverse_kinematics_all(near, FRAME).reason
        == "wrist point 61 mm from axis 1, needs >= 109.3 mm"
    )
    both = robot.inverse_kinematics_all(np.stack([T, near]), FRAME)
    assert list(both.count > 0) == [True, False]
    assert both.reason[0] == ""
    assert both.reason[1] == "wrist point 61 mm from axis 1, needs >= 109.3 mm"
    assert np.isnan(both.q[1]).all()


TABLE_2 = np.array(
    [
        [PI, PI / 4, PI / 2, PI / 2, 0, PI / 5],
        [PI, -PI / 2, 0, PI, PI / 3, 0],
        [PI, 0, PI / 2, PI, PI, 0],
        [PI / 2, PI / 2, 0, -PI / 2, PI / 3, PI],
        [PI / 2, 0, PI / 4, PI, -PI, 0],
        [-PI / 3, 3 * PI / 4, 0, PI, -PI, 0],
        [PI / 3, PI / 3, PI / 2, PI / 4, PI / 3, 0],
        [PI / 5, PI / 2, PI / 2, PI / 2, PI, PI / 2],
        [-PI, PI / 3, -PI / 2, PI / 2, PI / 6, PI / 2],
        [-PI / 2, PI / 2, 0, PI, -PI, PI / 2],
    ]
)
REGULAR = [4, 2, 4, 0, 4, 2, 8, 4, 8, 2]
TRACES = {5: "1-5-6-3-24", 7: "1-5-6-3-6-3-24", 6: "1-5-5-6-3-24", 8: "1-5-5-6-3-6-3-24"}
TRACE_OF_TEST = [5, 5, 5, 7, 6, 8, 5, 6, 5, 8]


@pytest.mark.parametrize("test", range(10))
def test_the_library_knows_how_many_postures_are_regular(robot, test):
    """Corrected, item 10 and 2: test 4 has none, because its pose is shoulder-singular."""
    one = solved(robot, TABLE_2[test])
    singular = robot.singularity(one.q, FRAME).singular
    assert np.count_nonzero(~singular) == REGULAR[test]


@pytest.mark.parametrize("test", range(10))
def test_machine_visits_the_states_of_the_paper(test):
    T = villalobos.forward(PAPER, TABLE_2[test])
    found = villalobos.algorithm_2(PAPER, T, [0.0] * 6, Thresholds.paper())
    assert "-".join(map(str, found.trace)) == TRACES[TRACE_OF_TEST[test]]


@pytest.mark.parametrize("test", range(10))
def test_machine_on_the_robot(robot, test):
    """Scale-free thresholds, angles of the robot: the same posture as the paper's,
    and none in test 4."""
    T = robot.pose(TABLE_2[test], FRAME)
    found = analytic.finite_state_machine(robot, T, FRAME)
    if test == 3:
        assert found.q is None
        assert found.choice.status == "shoulder-singular for every posture"
        assert solved(robot, TABLE_2[test]).count >= 2
        return
    paper = villalobos.algorithm_2(
        PAPER, villalobos.forward(PAPER, TABLE_2[test]), [0.0] * 6, Thresholds.paper()
    )
    assert apart(found.q, np.array(paper.posture.theta)) < 1e-6
    assert np.abs(robot.pose(found.q, FRAME) - T).max() < 1e-12


def test_enumeration_is_never_farther_than_the_machine():
    for row in sets(200, 8):
        T = villalobos.forward(PAPER, row)
        limits = Thresholds.scale_free(PAPER)
        first = villalobos.algorithm_1(PAPER, T, [0.1] * 6, limits)
        second = villalobos.algorithm_2(PAPER, T, [0.1] * 6, limits)
        assert first.distance <= second.distance + 1e-12
        assert second.computed <= 8 + 8


def test_thresholds_are_scale_free():
    """The same arm in metres and in millimetres gives the same postures, flags included."""
    small = Arm(*(x * 1e-3 for x in vars(PAPER).values()))
    for row in TABLE_2:
        T = villalobos.forward(PAPER, row)
        S = T.copy()
        S[:3, 3] *= 1e-3
        one = villalobos.algorithm_2(PAPER, T, [0.0] * 6, Thresholds.scale_free(PAPER))
        two = villalobos.algorithm_2(small, S, [0.0] * 6, Thresholds.scale_free(small))
        assert (one.trace, one.status) == (two.trace, two.status)
        assert one.posture is None or one.posture.theta == pytest.approx(
            two.posture.theta, abs=1e-7
        )


def test_machine_refuses_other_arms():
    robot = lw.load("crx-10ial")
    with pytest.raises(lw.errors.NotPossible, match="expected exact UR/TM"):
        analytic.finite_state_machine(robot, np.eye(4), "flange")


@pytest.mark.parametrize("seed", [2, 3])
def test_a_calibrated_arm_keeps_both_postures_of_a_pair(seed):
    """Seven postures cannot be: the eighth lies beside a nearly singular one."""
    robot = disguised(lw.load("ur5e"), seed, tilt=1e-3 if seed == 2 else 3e-4)
    q = np.random.default_rng(1).uniform(-PI, PI, (600, 6))
    found = robot.inverse_kinematics_all(robot.pose(q, "reach"), "reach")
    assert (found.family, found.exact) == ("ur", False)
    assert set(np.unique(found.count)) == {2, 4, 6, 8}
    assert np.nanmax(found.residual) < 1e-12
    regular = robot.singularity(q, "reach").sigma_min > 1e-3
    assert nearest(found, q)[regular].max() < 1e-8
