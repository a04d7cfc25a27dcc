"""Gradients of reduced quantities: exact, in one kernel with the value."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.engine.kernel import counts
from linkwork.errors import InvalidInput, NotPossible, UnknownName

REDUCTIONS = {
    "sum": lambda x: x.sum(-1),
    "sum_squares": lambda x: (x**2).sum(-1),
    "norm": lambda x: np.linalg.norm(x, axis=-1),
    "max": lambda x: x.max(-1),
    "max_abs": lambda x: np.abs(x).max(-1),
}


@pytest.fixture(scope="module")
def arm() -> lw.Robot:
    return lw.load("rehabilitation-arm")


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_value_and_gradient_of_each_reduction(arm, reduce):
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, 6, 2))
    value, gradient = arm.gradient("inverse_dynamics", ["l1", "l2"], reduce)(q, v, a)
    assert value.shape == (6,)
    assert gradient.shape == (6, 2)
    live = lw.load("rehabilitation-arm", live=["l1", "l2"])

    def reduced(**lengths):
        return REDUCTIONS[reduce](live.inverse_dynamics(q, v, a, variables=lengths))

    np.testing.assert_allclose(value, reduced(), rtol=1e-13)
    h = 1e-5
    for k, (name, x) in enumerate((("l1", 0.325), ("l2", 0.225))):
        difference = (reduced(**{name: x + h}) - reduced(**{name: x - h})) / (2 * h)
        # the difference's own error
        np.testing.assert_allclose(gradient[:, k], difference, rtol=1e-7, atol=1e-7)


def test_a_derivative_known_in_closed_form(arm):
    """d/dl1 of the hand's height l1 cos t1 - l2 cos(t1 + t2) is cos t1."""
    q = np.array([[0.3, 0.5], [-1.0, 2.0]])
    height = arm.gradient("pose", "l1", lambda T: T[1, 3], frame="hand")
    value, gradient = height(q)
    np.testing.assert_allclose(gradient[:, 0], np.cos(q[:, 0]), atol=1e-15)
    np.testing.assert_allclose(value, arm.pose(q, "hand")[:, 1, 3], atol=1e-15)


def test_gradients_by_the_inputs_themselves():
    robot = lw.load("ur5e")
    q = robot.random(seed=3)
    _, gradient = robot.gradient("pose", "q", lambda T: T[2, 3], frame="tool0")(q)
    np.testing.assert_allclose(gradient, robot.jacobian(q, "tool0")[2], atol=1e-14)


def test_live_values_flow_through_and_compile_nothing(arm):
    steep = arm.gradient("gravity_torque", "l1", "sum_squares")
    q = np.array([0.4, 0.2])
    first = steep(q, variables={"l1": 0.3})
    before = dict(counts)
    second = steep(q, variables={"l1": np.array([0.3, 0.4])})
    np.testing.assert_array_equal(second[0][0], first[0])
    assert second[1].shape == (2, 1)
    steep(q, variables={"l1": 0.35})
    assert counts["traced"] == before["traced"]
    # the batch is another width of the same kernel
    assert counts["compiled"] - before["compiled"] <= 1


def test_refusals_say_what_is_wrong(arm):
    with pytest.raises(UnknownName, match='has no variable "l3"; did you mean'):
        arm.gradient("gravity_torque", "l3", "sum")
    with pytest.raises(UnknownName, match='there is no quantity "gravity_torqe"'):
        arm.gradient("gravity_torqe", "l1", "sum")
    with pytest.raises(UnknownName, match="reduce is 'mean', expected one of sum"):
        arm.gradient("gravity_torque", "l1", "mean")
    with pytest.raises(InvalidInput, match=r"reduce gives shape \(2, 1\), expected one number"):
        arm.gradient("gravity_torque", "l1", lambda tau: 2 * tau)
    with pytest.raises(InvalidInput, match="1 arguments came, expected q, v, a"):
        arm.gradient("inverse_dynamics", "l1", "sum")([0.0, 0.0])
    with pytest.raises(InvalidInput, match="no variable is given"):
        arm.gradient("gravity_torque", [], "sum")
    with pytest.raises(InvalidInput, match="frame is missing"):
        arm.gradient("pose", "l1", "sum")
    with pytest.raises(NotPossible, match="kinematic only"):
        lw.load("planar-4r").gradient("gravity_torque", "q", "sum")


def test_a_quaternion_off_unit_length_is_still_refused():
    robot = lw.load("arm-2", root="floating")
    gradient = robot.gradient("gravity_torque", "q", casadi.sumsqr)
    with pytest.raises(InvalidInput, match="unit length"):
        gradient(np.ones(robot.nq))
