"""The regressor of random trees against Pinocchio, and times the parameters."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.recursions.newton_euler import newton_euler
from linkwork.recursions.regressor import regressor
from tests.pinocchio_models import assert_close, random_twin
from tests.traced import evaluated, states

ONE_NODE = ("revolute", "prismatic", "helical", "ball", "floating")


@pytest.mark.parametrize("seed", range(3))
def test_columns(seed):
    """Pinocchio's columns go by joint; here every body has its own joint."""
    pair = random_twin(seed, 5, ONE_NODE)
    model, data, tree = pair.model, pair.model.createData(), pair.robot.subject.full_tree
    q, v, a = states(pair.robot)
    (Y,) = evaluated(lambda q, v, a: regressor(tree, q, v, a), q, v, a)
    at = [model.frames[model.getFrameId(body)].parentJoint - 1 for body in pair.robot.bodies]
    columns = np.concatenate([np.arange(10 * j, 10 * j + 10) for j in at])
    theirs = [
        pin.computeJointTorqueRegressor(model, data, pair.q(x), pair.v(y), pair.v(z))[
            np.ix_(pair.index, columns)
        ]
        for x, y, z in zip(q, v, a)
    ]
    assert_close(Y, np.array(theirs), 1e-11)


@pytest.mark.parametrize("seed", range(2))
def test_regressor_times_parameters_is_the_inverse_dynamics(seed):
    """With every joint type, fixed ones too; rotor inertia is no parameter of a body."""
    pair = random_twin(seed)
    tree, robot = pair.robot.subject.full_tree, pair.robot
    q, v, a = states(robot)
    Y, tau = evaluated(
        lambda q, v, a: (regressor(tree, q, v, a), newton_euler(tree, q, v, a)), q, v, a
    )
    assert_close(Y @ robot.parameters() + a * pair.model.armature[pair.index], tau, 1e-12)


def test_parameters_are_pinocchios():
    pair = random_twin(0, 5, ONE_NODE)
    model = pair.model
    at = [model.frames[model.getFrameId(body)].parentJoint for body in pair.robot.bodies]
    theirs = np.concatenate([model.inertias[j].toDynamicParameters() for j in at])
    assert np.abs(pair.robot.parameters() - theirs).max() < 1e-14
