"""Velocity and acceleration of a frame on random trees against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.recursions.frame_motion import frame_motion
from tests.pinocchio_models import assert_close, random_twin
from tests.traced import evaluated, states


@pytest.mark.parametrize("seed", range(4))
def test_velocity_and_acceleration(seed):
    pair = random_twin(seed)
    model, data, tree = pair.model, pair.model.createData(), pair.robot.subject.tree
    q, v, a = states(pair.robot)
    velocity, acceleration, R = evaluated(
        lambda q, v, a: frame_motion(tree, q, v, a, tree.frames["tool"]), q, v, a
    )
    found: list[list[np.ndarray]] = [[], [], []]
    at = model.getFrameId("tool")
    for x, y, z in zip(q, v, a):
        pin.forwardKinematics(model, data, pair.q(x), pair.v(y), pair.v(z))
        pin.updateFramePlacements(model, data)
        found[0].append(pin.getFrameVelocity(model, data, at, pin.LOCAL_WORLD_ALIGNED).vector)
        found[1].append(
            pin.getFrameClassicalAcceleration(model, data, at, pin.LOCAL_WORLD_ALIGNED).vector
        )
        found[2].append(data.oMf[at].rotation.copy())
    for ours, theirs in zip((velocity, acceleration, R), found, strict=True):
        assert_close(ours, np.array(theirs), 1e-12)
