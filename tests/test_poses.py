"""Poses as people say them, against scipy and Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import InvalidInput

ANGLES = st.lists(st.floats(-7.0, 7.0), min_size=3, max_size=3)


@given(ANGLES)
@settings(max_examples=100, deadline=None)
def test_rotations_are_scipy_s(angles):
    turn = Rotation.from_euler("xyz", angles)  # fixed axes
    np.testing.assert_allclose(lw.pose(rpy=angles)[:3, :3], turn.as_matrix(), atol=1e-14)
    np.testing.assert_allclose(lw.pose(quaternion=turn.as_quat())[:3, :3], turn.as_matrix(), atol=1e-14)
    wxyz = np.roll(turn.as_quat(), 1)
    np.testing.assert_allclose(lw.pose(quaternion_wxyz=wxyz)[:3, :3], turn.as_matrix(), atol=1e-14)
    vector = Rotation.from_rotvec(angles).as_matrix()
    np.testing.assert_allclose(lw.pose(rotation_vector=angles)[:3, :3], vector, atol=1e-13)
    np.testing.assert_allclose(lw.pose(matrix=turn)[:3, :3], turn.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(lw.pose(rpy=np.degrees(angles), degrees=True)[:3, :3], turn.as_matrix(), atol=1e-13)


def test_a_tiny_turn_keeps_its_digits():
    R = lw.pose(rotation_vector=(1e-9, 0.0, 0.0))[:3, :3]
    assert R[2, 1] == pytest.approx(1e-9, rel=1e-14)
    np.testing.assert_array_equal(lw.pose(), np.eye(4))


def test_batches_broadcast():
    T = lw.pose(np.zeros((5, 3)) + [1.0, 2.0, 3.0], rpy=(0.1, 0.2, 0.3))
    assert T.shape == (5, 4, 4)
    assert lw.pose((1.0, 2.0, 3.0), rpy=np.zeros((4, 2, 3))).shape == (4, 2, 4, 4)
    assert lw.pose(np.zeros((1, 3))).shape == (1, 4, 4)


def test_poses_of_other_libraries_are_targets():
    robot = lw.load("ur5e")
    q = robot.random(seed=3)
    T = robot.pose(q, "tool0")
    M = pin.SE3(T[:3, :3], T[:3, 3])
    np.testing.assert_allclose(lw.pose(M), T, atol=1e-15)
    ours, theirs = (robot.inverse_kinematics_all(target, "tool0").q for target in (T, M))
    np.testing.assert_allclose(theirs, ours, atol=1e-12)
    found = robot.inverse_kinematics(M, "tool0", q0=q + 0.05)
    assert found.success
    turn = robot.inverse_kinematics(Rotation.from_matrix(T[:3, :3]), lw.Goal("tool0", "orientation"), q0=q + 0.05)
    assert turn.success


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rpy": (0, 0, 0), "quaternion": (0, 0, 0, 1)}, "rpy and quaternion are given"),
        ({"quaternion": (0, 0, 0, 2)}, "has length 2, expected unit quaternions"),
        ({"matrix": np.diag([1, 1, -1])}, "is no rotation"),
        ({"matrix": np.eye(4)}, r"matrix has shape \(4, 4\)"),
        ({"xyz": (1, 2)}, r"xyz has shape \(2,\)"),
        ({"xyz": (1, 2, np.nan)}, "finite"),
        ({"xyz": 2 * np.eye(4)}, "rigid motion|rotation"),
        ({"rpy": "up"}, "rpy"),
        ({"xyz": np.zeros((2, 3)), "rpy": np.zeros((3, 3))}, "do not broadcast"),
    ],
)
def test_what_is_refused_in_words(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        lw.pose(**arguments)
