"""Random trees of 1 to 12 bodies and one of 40, with joints of every type, against Pinocchio;
some as machine code."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linkwork.recursions.articulated_body import articulated_body
from linkwork.recursions.composite_body import mass_matrix
from linkwork.recursions.coriolis import coriolis_matrix
from linkwork.recursions.factorisation import factorised
from linkwork.recursions.newton_euler import newton_euler
from tests.pinocchio_models import Twin, assert_close, random_twin, twin_of
from tests.random_models import random_model
from tests.traced import evaluated, minimal, states


def reference(pair: Twin, q, v, a) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """tau, M, C."""
    model, data, at = pair.model, pair.model.createData(), np.ix_(pair.index, pair.index)
    rows = [(pair.q(x), pair.v(y), pair.v(z)) for x, y, z in zip(q, v, a)]
    tau = [pin.rnea(model, data, *row)[pair.index] for row in rows]
    M = [pin.crba(model, data, row[0])[at] for row in rows]
    C = [pin.computeCoriolisMatrix(model, data, *row[:2])[at] for row in rows]
    return np.array(tau), np.array(M), np.array(C)


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 12))
@example(seed=1, bodies=40)
def test_traced(seed, bodies):
    """Entries of C are differences of inertias times velocities;
    accelerations lose the condition of M on top."""
    pair = twin_of(random_model(seed, bodies, mimic=False))
    if pair.robot.nv == 0:
        return  # nothing but fixed joints
    q, v, a = states(pair.robot, 2, seed)
    tau, M, C = reference(pair, q, v, a)
    tree, offset = minimal(pair.robot)

    def ours(q, v, a, tau):
        M = mass_matrix(tree, q + offset)
        bias = newton_euler(tree, q + offset, v, 0 * v)
        return (
            newton_euler(tree, q + offset, v, a),
            M,
            coriolis_matrix(tree, q + offset, v),
            factorised(M).solve(tau - bias),
            articulated_body(tree, q + offset, v, tau),
        )

    found = evaluated(ours, q, v, a, tau)
    for value, wanted, label in zip(found, (tau, M), ("tau", "M")):
        assert_close(value.reshape(wanted.shape), wanted, 1e-10, label)
    assert np.abs(found[2].reshape(C.shape) - C).max() < 1e-13 * np.abs(M).max() * max(
        1.0, np.abs(v).max()
    )
    condition = np.linalg.cond(M).max()
    for value in found[3:]:
        assert np.abs(value - a).max() < 1e-14 * condition * max(1.0, np.abs(tau).max())


@pytest.mark.parametrize(("seed", "bodies"), [(11, 3), (12, 6)])
def test_machine_code(seed, bodies):
    pair = random_twin(seed, bodies)
    robot = pair.robot
    q, v, a = states(robot, 9)
    tau, M, C = reference(pair, q, v, a)
    assert_close(robot.inverse_dynamics(q, v, a, out=np.empty_like(a)), tau, what="tau")
    assert_close(robot.mass_matrix(q, out=np.empty_like(M)), M, what="M")
    assert_close(robot.coriolis_matrix(q, v, out=np.empty_like(C)), C, what="C")
    assert_close(robot.forward_dynamics(q, v, tau, out=np.empty_like(a)), a, 1e-9, "a")
