"""inverse_kinematics_all at its doors: shapes, refusals, limits, turns, selection and paths."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, NotPossible, UnknownName
from linkwork.inverse import analytic
from linkwork.inverse.analytic.villalobos import Thresholds
from tests.inverse.arms import apart
from tests.robots_list import robot as published

PI = np.pi
FRAME = "tool0"


@pytest.fixture(scope="module")
def robot():
    return lw.load("ur5e")


@pytest.fixture(scope="module")
def q():
    return np.random.default_rng(0).uniform(-PI, PI, (12, 6))


def test_shapes(robot, q):
    T = robot.pose(q, FRAME)
    one = robot.inverse_kinematics_all(T[0], FRAME)
    assert one.q.shape == (one.count, 6)
    assert one.residual.shape == one.kind.shape == one.multiplicity.shape == (one.count,)
    assert one.branch.shape == (one.count, 3)
    assert one.valid.all()
    assert one.reason == ""
    single = robot.inverse_kinematics_all(T[:1], FRAME)
    assert single.q.shape == (1, 8, 6)
    many = robot.inverse_kinematics_all(T.reshape(3, 4, 4, 4), FRAME)
    assert many.q.shape == (3, 4, 8, 6)
    assert many.count.shape == (3, 4)
    assert many.kind.shape == many.multiplicity.shape == many.valid.shape == (3, 4, 8)
    assert (many[1, 2].q == robot.inverse_kinematics_all(T[6], FRAME).q).all()
    assert robot.inverse_kinematics_all(T[:0], FRAME).q.shape == (0, 8, 6)


def test_a_row_does_not_depend_on_its_place_or_on_threads(robot, q):
    T = np.tile(robot.pose(q, FRAME), (400, 1, 1))
    before = lw.threads()
    try:
        lw.threads(1)
        alone = robot.inverse_kinematics_all(T, FRAME).q
        lw.threads(2)
        shared = robot.inverse_kinematics_all(T, FRAME).q
    finally:
        lw.threads(before)
    assert np.array_equal(alone, shared, equal_nan=True)
    assert np.array_equal(alone[:12], alone[-12:], equal_nan=True)
    assert np.array_equal(alone[:1], robot.inverse_kinematics_all(T[:1], FRAME).q, equal_nan=True)


def test_targets_that_are_no_poses(robot, q):
    T = robot.pose(q[0], FRAME)
    with pytest.raises(InvalidInput, match=r"target has shape \(3, 4\), expected"):
        robot.inverse_kinematics_all(T[:3], FRAME)
    for bad in (np.nan, np.inf):
        broken = T.copy()
        broken[1, 3] = bad
        with pytest.raises(
            InvalidInput, match=r"target\[1, 3\] is (nan|inf), expected finite numbers"
        ):
            robot.inverse_kinematics_all(broken, FRAME)
    stretched = T.copy()
    stretched[:3, 0] *= 1.01
    with pytest.raises(InvalidInput, match=r"target\[1\] is no rigid motion: .* off by 0.02"):
        robot.inverse_kinematics_all(np.stack([T, stretched]), FRAME)
    mirror = T.copy()
    mirror[:3, 0] *= -1
    with pytest.raises(InvalidInput, match="off by 2"):
        robot.inverse_kinematics_all(mirror, FRAME)
    last = T.copy()
    last[3, 3] = 2.0
    with pytest.raises(InvalidInput, match="off by 1"):
        robot.inverse_kinematics_all(last, FRAME)


def test_rotations_with_few_digits_are_taken_as_the_nearest(robot, q):
    T = robot.pose(q[0], FRAME)
    found = robot.inverse_kinematics_all(np.round(T, 7), FRAME)
    assert found.count == robot.inverse_kinematics_all(T, FRAME).count
    assert apart(found.q, q[0]).min() < 1e-5


def test_names_and_seeds(robot, q):
    T = robot.pose(q[0], FRAME)
    with pytest.raises(UnknownName, match='did you mean "tool0"'):
        robot.inverse_kinematics_all(T, "tool_0")
    with pytest.raises(
        InvalidInput, match=r"q0 has shape \(5,\), expected \(6,\): robot \"ur5e\" has nq = 6"
    ):
        robot.inverse_kinematics_all(T, FRAME, q0=np.zeros(5))
    with pytest.raises(InvalidInput, match="q0 has numbers that are not finite"):
        robot.inverse_kinematics_all(T, FRAME, q0=np.full(6, np.nan))
    with pytest.raises(InvalidInput, match="no free parameter"):
        robot.inverse_kinematics_all(T, FRAME, free=[0.1])


def test_frames_without_closed_form(robot):
    with pytest.raises(NotPossible, match="no joint moves this frame"):
        robot.inverse_kinematics_all(np.eye(4), robot.bodies[0])
    with pytest.raises(
        NotPossible, match="prismatic; closed forms are for revolute joints; use inverse_kinematics"
    ):
        published("tiago/tiago").inverse_kinematics_all(np.eye(4), "arm_7_link")
    with pytest.raises(NotPossible, match="9 revolute axes of no family"):
        published("talos_data/talos_full_v2").inverse_kinematics_all(np.eye(4), "arm_left_7_link")


def test_limits_and_turns(robot, q):
    found = robot.inverse_kinematics_all(robot.pose(q, FRAME), FRAME)
    narrow = found.within(-1.0, 2.0)
    assert (narrow.count <= found.count).all()
    inside = narrow.q[narrow.valid]
    assert ((inside >= -1.0 - 1e-9) & (inside <= 2.0 + 1e-9)).all()
    assert (
        np.abs(
            robot.pose(inside, FRAME) - np.repeat(robot.pose(q, FRAME), narrow.count, axis=0)
        ).max()
        < 1e-9
    )
    shifted = found.within(PI, 3 * PI)
    assert (shifted.count == found.count).all()
    assert np.nanmin(shifted.q) >= PI - 1e-9
    one = found[0]
    wide = one.turns(-2 * PI, 2 * PI)
    assert len(wide.q) == one.count * 2**6
    assert np.abs(robot.pose(wide.q, FRAME) - robot.pose(q[0], FRAME)).max() < 1e-9
    assert len(wide.kind) == len(wide.q)
    with pytest.raises(InvalidInput, match="must be finite"):
        one.turns(-np.inf, np.inf)
    with pytest.raises(InvalidInput, match="one target"):
        found.turns(-PI, PI)
    with pytest.raises(InvalidInput, match=r"lower limits have shape \(3,\), expected \(6,\)"):
        found.within(np.zeros(3), 1.0)
    with pytest.raises(InvalidInput, match="expected 1 whole numbers"):
        found[0, 1]


def test_policies(robot, q):
    found = robot.inverse_kinematics_all(robot.pose(q, FRAME), FRAME)
    nearest, row = analytic.select(found, q)
    assert apart(nearest, q).max() < 1e-8
    assert (row >= 0).all()
    assert apart(analytic.select(found[0], q[0])[0], q[0]) < 1e-8
    best, _ = analytic.select(found, q, analytic.largest_manipulability(robot, FRAME))
    measure = robot.singularity(np.nan_to_num(found.q), FRAME).manipulability
    chosen = robot.singularity(best, FRAME).manipulability
    assert (chosen >= np.where(found.valid, measure, 0).max(axis=1) * (1 - 1e-9)).all()
    _, none = analytic.select(found, q, analytic.within_limits(np.full(6, 5.0), np.full(6, 6.0)))
    assert (none == -1).all()
    previous = np.full(6, 3.1)
    rows = np.full((1, 6), -3.1)
    close = analytic.minimal_displacement()
    far = analytic.minimal_displacement(circular=False)
    one = found[0].kept(np.arange(found.count[0]) < 1)
    one.q[:] = rows
    assert close(one, previous)[0] < 0.3
    assert far(one, previous)[0] > 15.0
    with pytest.raises(InvalidInput, match="previous has shape"):
        analytic.select(found, np.zeros(5))


def test_a_path_is_followed_in_one_posture(robot):
    t = np.linspace(0, 1, 60)[:, None]
    path = np.array([0.2, -1.0, 1.4, 0.3, 0.9, -0.2]) + t * np.array(
        [1.5, 0.4, -0.6, 0.5, 0.6, 5.0]
    )
    found = analytic.track(robot, robot.pose(path, FRAME), FRAME, path[0])
    assert apart(found.q, path).max() < 1e-8
    assert np.abs(found.q - path).max() < 1e-7  # angles run on past a turn
    assert (found.changes, found.missing, found.reason) == ((), (), "")


def test_a_path_through_a_straight_wrist_keeps_its_joints(robot):
    """On the singularity theta6 stays where it was; without that it would jump to the neutral
    one."""
    t = np.linspace(0, 1, 41)[:, None]
    path = np.array([0.2, -1.0, 1.4, 0.3, -0.5, 0.7]) + t * np.array([0.5, 0.1, 0.1, 0.2, 1.0, 0.0])
    path[20, 4] = 0.0
    found = analytic.track(robot, robot.pose(path, FRAME), FRAME, path[0])
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.2
    assert np.abs(robot.pose(found.q, FRAME) - robot.pose(path, FRAME)).max() < 1e-9


def test_a_path_that_leaves_the_workspace_says_where(robot):
    T = np.stack([robot.pose(np.array([0.2, -1.0, 1.4, 0.3, 0.9, -0.2]), FRAME)] * 5)
    T[3:, 0, 3] += 5.0
    found = analytic.track(robot, T, FRAME, np.array([0.2, -1.0, 1.4, 0.3, 0.9, -0.2]))
    assert found.missing == (3, 4)
    assert "elbow reach" in found.reason
    assert np.isnan(found.q[3:]).all()


def test_two_rotations_of_one_joint_are_told_apart_by_changes(robot):
    """A jump of the target forces another place: it is reported."""
    first, second = (
        np.array([0.2, -1.0, 1.4, 0.3, 0.9, -0.2]),
        np.array([2.2, -1.0, 1.4, 0.3, 0.9, -0.2]),
    )
    found = analytic.track(robot, robot.pose(np.stack([first, second]), FRAME), FRAME, first)
    assert found.changes == (1,)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda r, T, q, s: analytic.finite_state_machine(r, T * np.nan, FRAME),
            "target is .*expected finite numbers",
        ),
        (lambda r, T, q, s: analytic.finite_state_machine(r, T * 1.01, FRAME), "no rigid motion"),
        (
            lambda r, T, q, s: analytic.finite_state_machine(r, T, FRAME, q * np.nan),
            "previous is .*expected finite",
        ),
        (
            lambda r, T, q, s: analytic.finite_state_machine(r, T, FRAME, q, tie=5),
            "tie is 5, expected 1 or -1",
        ),
        (
            lambda r, T, q, s: analytic.finite_state_machine(r, T, FRAME, q, "tight"),
            "expected Thresholds",
        ),
        (
            lambda r, T, q, s: Thresholds(-1.0, 1.0, 1.0),
            "elbow is -1.0, expected a number not below 0",
        ),
        (
            lambda r, T, q, s: analytic.select(s, q, analytic.minimal_displacement([1, 2])),
            r"weights has shape \(2,\)",
        ),
        (
            lambda r, T, q, s: analytic.select(s, q, analytic.minimal_displacement([-1] * 6)),
            "not negative",
        ),
        (lambda r, T, q, s: analytic.select(s, q, "nearest"), "policy is 'nearest'"),
        (
            lambda r, T, q, s: analytic.select(s, q, analytic.within_limits([0, 1], [2, 3])),
            r"lower limits have shape",
        ),
        (lambda r, T, q, s: s.within("low", "high"), "lower limits has dtype"),
        (lambda r, T, q, s: analytic.track(r, T[None], FRAME, q, jump="far"), "jump has dtype"),
    ],
)
def test_selection_refuses_what_is_no_number_or_no_pose(robot, q, call, says):
    T = robot.pose(q[0], FRAME)
    with pytest.raises(InvalidInput, match=says):
        call(robot, T, q[0], robot.inverse_kinematics_all(T, FRAME))


def test_polynomials_take_poses_only():
    arm = lw.load("crx-10ial")
    for polynomial in (analytic.offset_wrist_polynomial, analytic.carbonari_polynomial):
        with pytest.raises(InvalidInput, match="is no rigid motion"):
            polynomial(arm, np.ones((4, 4)), "flange")
