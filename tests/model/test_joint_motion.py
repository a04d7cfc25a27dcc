"""Motion of every joint type in numbers, against closed forms and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.errors import InvalidInput
from linkwork.model import Joint
from linkwork.model.joint import TYPES
from linkwork.model.joint_motion import joint_motion
from tests.numeric import matrix

N, M = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([0.6, 0.0, 0.8])


def turn(axis, angle):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(angle * np.asarray(axis)).as_matrix()
    return T


def shift(p):
    T = np.eye(4)
    T[:3, 3] = p
    return T


def quaternion(xyzw):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(xyzw).as_matrix()
    return T


Q = (0.5, -0.5, 0.1, math.sqrt(0.49))
EXPECTED = {
    "fixed": ((), np.eye(4)),
    "revolute": ((0.7,), turn(N, 0.7)),
    "continuous": ((7.0,), turn(N, 7.0)),
    "prismatic": ((0.7,), shift(0.7 * N)),
    "helical": ((0.7,), turn(N, 0.7) @ shift(0.2 * 0.7 * N)),
    "cylindrical": ((0.7, -0.3), turn(N, 0.7) @ shift(-0.3 * N)),
    "universal": ((0.7, -0.3), turn(N, 0.7) @ turn(M, -0.3)),
    "ball": (Q, quaternion(Q)),
    "floating": ((1.0, 2.0, 3.0, *Q), shift([1.0, 2.0, 3.0]) @ quaternion(Q)),
}


def test_every_type_is_here():
    assert {*EXPECTED, "planar"} == set(TYPES)


def joint(type: str, axis=(2 / 3, -1 / 3, 2 / 3)) -> Joint:
    return Joint("j", type, None, "b", axis=axis, second_axis=tuple(M.tolist()), pitch=0.2)


@pytest.mark.parametrize("type", EXPECTED)
def test_motion_is_the_closed_form(type):
    q, T = EXPECTED[type]
    assert np.abs(matrix(joint_motion(joint(type), q)) - T).max() < 2e-15


def test_planar_moves_in_the_plane_across_its_axis():
    T = matrix(joint_motion(joint("planar", (0.0, 0.0, 1.0)), (1.0, 2.0, 0.7)))
    assert np.abs(T - shift([1.0, 2.0, 0.0]) @ turn([0, 0, 1], 0.7)).max() < 2e-15
    T = matrix(joint_motion(joint("planar"), (1.0, 2.0, 0.7)))
    assert abs(T[:3, 3] @ N) < 1e-15
    assert np.linalg.norm(T[:3, 3]) == pytest.approx(math.sqrt(5.0), abs=1e-15)
    assert np.abs(T[:3, :3] - turn(N, 0.7)[:3, :3]).max() < 2e-15


@pytest.mark.parametrize("type", TYPES)
def test_wrong_coordinates_are_refused(type):
    right = EXPECTED[type][0] if type in EXPECTED else (1.0, 2.0, 3.0)
    with pytest.raises(
        InvalidInput, match=rf'joint "j" \({type}\): q is .*, expected {len(right)} finite number'
    ):
        joint_motion(joint(type), (*right, 1.0))
    if right:
        with pytest.raises(InvalidInput, match="finite"):
            joint_motion(joint(type), (math.nan, *right[1:]))


@pytest.mark.parametrize("type", ["ball", "floating"])
def test_a_quaternion_must_have_unit_length(type):
    q = EXPECTED[type][0]
    with pytest.raises(InvalidInput, match=r"has length 1\.0\d+, expected 1"):
        joint_motion(joint(type), (*q[:-1], q[-1] + 1e-5))
    near = joint_motion(joint(type), (*q[:-1], q[-1] + 1e-7))
    R = np.array(near.rotation)
    assert np.abs(R.T @ R - np.eye(3)).max() < 1e-15
