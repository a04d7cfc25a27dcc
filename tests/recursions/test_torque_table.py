"""The torque table: rows sum to the inverse dynamics, a column is what one body alone asks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwork.model import MassProperties, build_tree
from linkwork.recursions.newton_euler import newton_euler
from linkwork.recursions.torque_table import torque_table
from tests.pinocchio_models import assert_close
from tests.random_models import random_model
from tests.robots_list import robot
from tests.traced import evaluated, states


@pytest.mark.parametrize("seed", range(2))
def test_rows_and_columns(seed):
    model = random_model(seed, 8, mimic=False)
    tree = build_tree(model, merge=False)
    rng = np.random.default_rng(0)
    q, v, a = (
        rng.normal(size=(2, tree.nq)),
        rng.normal(size=(2, tree.nv)),
        rng.normal(size=(2, tree.nv)),
    )
    table, tau = evaluated(
        lambda q, v, a: (torque_table(tree, q, v, a), newton_euler(tree, q, v, a)), q, v, a
    )
    assert_close(table.sum(axis=2), tau, 1e-12)
    for k, body in enumerate(model.bodies):
        alone = replace(
            model,
            bodies=tuple(
                b if b is body else replace(b, mass_properties=MassProperties())
                for b in model.bodies
            ),
            joints=tuple(
                j if j.child == body.name else replace(j, armature=0.0) for j in model.joints
            ),
        )
        (column,) = evaluated(
            lambda q, v, a, m=alone: newton_euler(build_tree(m, merge=False), q, v, a), q, v, a
        )
        assert np.abs(table[:, :, k] - column).max() < 1e-13 * np.abs(tau).max()


def test_a_hand_loads_the_arm_and_the_base_nothing():
    arm = robot("panda/panda")
    q, v, a = states(arm, 4)
    table = arm.torque_table(q, v, a)
    assert np.abs(table[:, :, arm.bodies.index("panda_hand")]).max() > 0.1
    assert not table[:, :, arm.bodies.index("panda_link0")].any()
    assert_close(table.sum(axis=2), arm.inverse_dynamics(q, v, a), 1e-12)
