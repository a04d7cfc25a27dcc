"""Poses as people say them, against scipy and Pinocchio."""

from __future__ import annotations

import mujoco
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
    np.testing.assert_allclose(
        lw.pose(quaternion=turn.as_quat())[:3, :3], turn.as_matrix(), atol=1e-14
    )
    wxyz = np.roll(turn.as_quat(), 1)
    np.testing.assert_allclose(lw.pose(quaternion_wxyz=wxyz)[:3, :3], turn.as_matrix(), atol=1e-14)
    vector = Rotation.from_rotvec(angles).as_matrix()
    np.testing.assert_allclose(lw.pose(rotation_vector=angles)[:3, :3], vector, atol=1e-13)
    np.testing.assert_allclose(lw.pose(matrix=turn)[:3, :3], turn.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(
        lw.pose(rpy=np.degrees(angles), degrees=True)[:3, :3], turn.as_matrix(), atol=1e-13
    )


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
    turn = robot.inverse_kinematics(
        Rotation.from_matrix(T[:3, :3]), lw.Goal("tool0", "orientation"), q0=q + 0.05
    )
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


def test_views_of_mujoco_are_poses():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody>
        <body name="arm" pos=".1 0 0" euler="0 0 30"><body name="hand" pos=".3 .2 .4" quat="1 2 3 4">
          <geom name="ball" size=".1"/><site name="tip" pos="0 0 .1" quat="0 1 1 0"/><camera name="eye"/>
        </body></body>
        <body name="marker" mocap="true" pos=".4 .1 .2" quat="0 1 0 0"/></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for view in (
        data.body("hand"),
        data.geom("ball"),
        data.site("tip"),
        data.cam("eye"),
        data.body("marker"),
    ):
        T = lw.pose(view)
        np.testing.assert_allclose(T[:3, 3], view.xpos, atol=1e-15)
        np.testing.assert_allclose(T[:3, :3].ravel(), view.xmat, atol=1e-14)
    # axes of the parent, quaternions w first
    here = lw.pose(model.body("arm")) @ lw.pose(model.body("hand"))
    np.testing.assert_allclose(here, lw.pose(data.body("hand")), atol=1e-14)
    robot = lw.load("ur5e")
    together = robot.inverse_kinematics_all([data.body("hand"), data.site("tip")], "tool0")
    assert together.count.shape == (2,)
    placed = robot.with_base(data.body("hand")).pose(robot.home, "tool0")
    np.testing.assert_allclose(
        placed, lw.pose(data.body("hand")) @ robot.pose(robot.home, "tool0"), atol=1e-12
    )
    box = lw.collision.Box((0.1, 0.1, 0.1), pose=data.body("hand"))
    np.testing.assert_allclose(box.pose.position, data.body("hand").xpos)


def test_a_rotation_of_another_library_has_no_position():
    robot = lw.load("ur5e")
    turn = Rotation.from_euler("xyz", [0.3, -0.2, 1.0])
    np.testing.assert_allclose(lw.pose(turn), lw.pose(matrix=turn), atol=1e-15)
    reached = robot.inverse_kinematics(turn, "tool0", q0=robot.home)
    assert reached.success and reached.q.shape == (6,)
    np.testing.assert_allclose(robot.pose(reached.q, "tool0")[:3, :3], turn.as_matrix(), atol=1e-8)
    several = robot.inverse_kinematics([turn, turn], "tool0", q0=robot.home)
    assert several.success.all() and several.q.shape == (2, 6)
    np.testing.assert_allclose(
        robot.pose(several.q, "tool0")[1, :3, :3], turn.as_matrix(), atol=1e-8
    )
    with pytest.raises(InvalidInput, match="xyz is a rotation and matrix is given"):
        lw.pose(turn, matrix=np.eye(3))
    turned = robot.with_base(turn).pose(robot.home, "tool0")
    np.testing.assert_allclose(
        turned, lw.pose(matrix=turn) @ robot.pose(robot.home, "tool0"), atol=1e-12
    )
    for refused in (
        lambda: robot.inverse_kinematics_all(turn, "tool0"),
        lambda: lw.planning.PoseGoal("tool0", turn),
    ):
        with pytest.raises(InvalidInput, match="a rotation without a position, expected a pose"):
            refused()


class Tensor:
    """Numbers of another library that say nothing of being a rotation."""

    def __init__(self, values):
        self.values = np.asarray(values, dtype=float)
        self.shape = self.values.shape

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


def test_three_positions_of_another_library_are_no_rotation():
    places = [[0.3, 0.1, 0.2], [0.4, 0.1, 0.2], [0.3, 0.2, 0.2]]
    np.testing.assert_array_equal(lw.pose(Tensor(places)), lw.pose(places))


def test_pairs_and_lists_of_poses():
    robot = lw.load("ur5e")
    place, turn = np.array([0.3, 0.2, 0.4]), Rotation.from_euler("x", 180, degrees=True)
    T = lw.pose(place, matrix=turn)
    for pair in ((place, turn), (turn, place), (list(place), turn.as_matrix())):
        np.testing.assert_allclose(lw.pose(pair), T, atol=1e-15)
    M = pin.SE3(T[:3, :3], T[:3, 3])
    found = robot.inverse_kinematics([M, M, M], "tool0", q0=robot.home)
    assert found.q.shape == (3, 6) and found.success.all()
    with pytest.raises(InvalidInput, match="does not say where the quaternion's w stands"):
        robot.inverse_kinematics((place, turn.as_quat()), "tool0")
    with pytest.raises(InvalidInput, match="quaternion_wxyz="):
        lw.pose([*place, 0, 0, 0, 1])
    with pytest.raises(InvalidInput, match=r"rotation has shape \(3,\)"):
        robot.with_base(place, rotation=[0, 0, 1.57])
