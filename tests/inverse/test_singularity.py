"""Singularity analysis: measures, lost directions, closed determinants, crossings along a path."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InvalidInput, UnknownName
from linkwork.inverse.singularity import along_path
from tests.inverse.arms import arm, tip
from tests.robots_list import robot as published

PI = np.pi


@pytest.fixture(scope="module")
def ur5e():
    return lw.load("ur5e")


def test_measures_are_those_of_the_scaled_jacobian(ur5e):
    q = np.random.default_rng(0).uniform(-PI, PI, (4, 5, 6))
    found = ur5e.singularity(q, "tool0", length=0.5)
    J = ur5e.jacobian(q, "tool0") / np.array([0.5] * 3 + [1.0] * 3)[:, None]
    sigma = np.linalg.svd(J, compute_uv=False)
    assert found.sigma == pytest.approx(sigma, abs=1e-12)
    assert found.sigma_min.shape == found.condition.shape == found.manipulability.shape == (4, 5)
    assert found.manipulability == pytest.approx(np.abs(np.linalg.det(J)), rel=1e-9)
    assert np.linalg.norm(np.einsum("...ij,...i->...j", J, found.lost), axis=-1) == pytest.approx(
        found.sigma_min, abs=1e-12
    )
    assert np.linalg.norm(np.einsum("...ij,...j->...i", J, found.idle), axis=-1) == pytest.approx(
        found.sigma_min, abs=1e-12
    )


@pytest.mark.parametrize(
    ("q", "name"),
    [
        ([0.3, -1.0, 0.0, 0.4, 0.9, 0.1], "elbow"),
        ([0.3, -1.0, 1.2, 0.4, 0.0, 0.1], "wrist"),
        ([0.3, -1.0, 1.2, 0.4, PI, 0.1], "wrist"),
    ],
)
def test_flags_of_a_ur(ur5e, q, name):
    found = ur5e.singularity(q, "tool0")
    assert found.singular
    assert [k for k, flag in found.flags.items() if flag and k != "sigma"] == [name]
    assert abs(found.determinant) < 1e-15


def test_a_straight_elbow_cannot_move_along_the_arm(ur5e):
    q = np.array([0.0, 0.0, 0.0, 0.3, 0.9, 0.1])
    lost = ur5e.singularity(q, "tool0").lost
    J = ur5e.jacobian(q, "tool0")
    assert (
        np.abs(
            lost @ (J / np.array([ur5e.singularity(q, "tool0").length] * 3 + [1.0] * 3)[:, None])
        ).max()
        < 1e-12
    )


def test_thresholds_can_be_set(ur5e):
    q = [0.3, -1.0, 1e-4, 0.4, 0.9, 0.1]
    assert not ur5e.singularity(q, "tool0").singular
    assert ur5e.singularity(q, "tool0", thresholds={"elbow": 1e-3}).flags["elbow"]
    with pytest.raises(UnknownName, match='no threshold "elbo"; did you mean "elbow"'):
        ur5e.singularity(q, "tool0", thresholds={"elbo": 1.0})
    with pytest.raises(InvalidInput, match="expected a number >= 0"):
        ur5e.singularity(q, "tool0", thresholds={"elbow": -1.0})
    with pytest.raises(InvalidInput, match="length is 0"):
        ur5e.singularity(q, "tool0", length=0)


def test_any_robot_has_measures():
    for robot, frame, columns in (
        (published("panda/panda"), "panda_link8", 6),
        (published("talos_data/talos_full_v2"), "arm_left_7_link", 6),
        (arm("leg"), tip(arm("leg")), 3),
        (published("tiago/tiago"), "arm_7_link", 6),
    ):
        found = robot.singularity(robot.random(5, seed=0), frame)
        assert found.sigma.shape == (5, columns)
        assert found.lost.shape == (5, 6)
        assert found.idle.shape == (5, robot.nv)
        assert found.determinant is None
        assert np.isfinite(found.sigma).all()


def test_a_frame_that_nothing_moves(ur5e):
    with pytest.raises(InvalidInput, match="no joint of robot"):
        ur5e.singularity(np.zeros(6), ur5e.bodies[0])


def test_crossings_along_a_path(ur5e):
    """The elbow passes 0 at a quarter of the way, the wrist at three quarters."""
    t = np.linspace(0, 1, 41)[:, None]
    path = np.array([0.3, -1.0, -0.5, 0.4, -1.5, 0.1]) + t * np.array(
        [0.0, 0.0, 2.0, 0.0, 2.0, 0.0]
    )
    path[:, 4] = np.interp(t[:, 0], [0, 0.75, 1], [-1.5, 0.0, 0.5])
    path = path + 1e-5  # no row of the path is singular itself
    found = along_path(ur5e.subject, path, "tool0")
    assert len(found.crossings) == 2
    q = np.array(
        [[np.interp(c, np.arange(41), path[:, k]) for k in range(6)] for c in found.crossings]
    )
    assert np.abs([q[0, 2], q[1, 4]]).max() < 1e-9
    assert found.distance.min() < 0.1
    assert found.distance[0] == pytest.approx(found.arcs[0])
    assert found.arc[-1] == pytest.approx(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def test_a_path_without_singularity(ur5e):
    path = np.array([0.3, -1.0, 0.5, 0.4, 1.0, 0.1]) + np.linspace(0, 0.3, 9)[:, None]
    found = along_path(ur5e.subject, path, "tool0")
    assert len(found.crossings) == 0
    assert np.isinf(found.distance).all()
    with pytest.raises(InvalidInput, match=r"expected \(N, 6\) with N >= 2"):
        along_path(ur5e.subject, path[0], "tool0")
