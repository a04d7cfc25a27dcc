"""Rates of Jacobians of random trees with every joint type against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.recursions.jacobian_derivative import jacobian_derivative, seen_from_frame
from linkwork.recursions.jacobians import jacobian
from tests.pinocchio_models import assert_close, random_twin
from tests.traced import evaluated, states


@pytest.mark.parametrize("seed", range(4))
def test_rates_in_world_and_frame_axes(seed):
    pair = random_twin(seed)
    model, data, tree = pair.model, pair.model.createData(), pair.robot.subject.tree
    q, v, _ = states(pair.robot)
    at = model.getFrameId("tool")

    def ours(q, v):
        rate = jacobian_derivative(tree, q, v, tree.frames["tool"])
        return rate[0], seen_from_frame(*rate), rate[1] - jacobian(tree, q, tree.frames["tool"])[0]

    *found, nothing = evaluated(ours, q, v)
    for Jd, reference in zip(found, (pin.LOCAL_WORLD_ALIGNED, pin.LOCAL), strict=True):
        theirs = []
        for x, y in zip(q, v):
            pin.computeJointJacobiansTimeVariation(model, data, pair.q(x), pair.v(y))
            pin.updateFramePlacements(model, data)
            theirs.append(
                pin.getFrameJacobianTimeVariation(model, data, at, reference)[:, pair.index]
            )
        assert_close(Jd, np.array(theirs), 1e-11)  # 1e-15 of the largest entry
    assert not nothing.any()
