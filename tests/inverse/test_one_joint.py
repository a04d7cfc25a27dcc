"""Frames that one joint alone moves: every method answers one target, a batch and a path of
them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw

FRAME = "link1"
ANGLES = np.array([0.4, 0.5, 0.6, 0.7])
Q0 = np.zeros(2)


@cache
def two_joints() -> lw.Robot:
    return lw.Robot.from_dh([{"a": 0.3}, {"a": 0.2}], check="any")


def targets() -> np.ndarray:
    return np.array([two_joints().pose([angle, 0.0], FRAME) for angle in ANGLES])


@pytest.mark.parametrize("method", ["recursive", "numeric"])
def test_one_target(method):
    found = two_joints().inverse_kinematics(targets()[0], FRAME, q0=Q0, method=method)
    assert (
        found.success and found.q.shape == (2,) and found.q[0] == pytest.approx(ANGLES[0], abs=1e-8)
    )


@pytest.mark.parametrize("method", ["recursive", "numeric"])
@pytest.mark.parametrize("track", [False, True])
def test_several_targets(method, track):
    found = two_joints().inverse_kinematics(targets(), FRAME, q0=Q0, method=method, track=track)
    assert found.q.shape == (4, 2) and found.success.tolist() == [True] * 4
    assert found.q[:, 0] == pytest.approx(ANGLES, abs=1e-8) and np.all(found.q[:, 1] == 0.0)
    assert found.iterations.shape == (4,)
