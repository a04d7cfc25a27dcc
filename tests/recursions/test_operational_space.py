"""Operational-space inertia, mobility and manipulability against numpy's linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import ComputationError, NotPossible
from linkwork.model import Body, Joint, MassProperties, Model
from linkwork.robot import Robot
from tests.pinocchio_models import random_twin
from tests.robots_list import robot
from tests.traced import states, traced

TIPS = {
    "ur/ur5_robot": "ee_link",
    "panda/panda": "panda_hand",
    "finger_edu/finger_edu": "finger_tip_link",
}


@pytest.mark.parametrize("name", ["ur/ur5_robot", "panda/panda"])
def test_inertia_and_mobility(name):
    """Panda's fingers mimic each other: M and J go through G."""
    arm, tip = robot(name), TIPS[name]
    q, _, _ = states(arm, 4)
    (J,), (M,) = traced(arm, "jacobian", q, frame=tip), traced(arm, "mass_matrix", q)
    (mobility,) = traced(arm, "operational_space_mobility", q, frame=tip)
    (inertia,) = traced(arm, "operational_space_inertia", q, frame=tip)
    expected = J @ np.linalg.solve(M, np.swapaxes(J, 1, 2))
    assert np.abs(mobility - expected).max() < 1e-13 * np.abs(expected).max()
    assert np.array_equal(inertia, np.swapaxes(inertia, 1, 2))
    product = inertia @ expected - np.eye(6)
    assert np.abs(product).max() < 1e-14 * np.linalg.cond(expected).max()


def test_mobility_of_any_tree_exists_where_its_inverse_may_not():
    tree = random_twin(2, 6, ("revolute", "prismatic", "ball")).robot
    q, _, _ = states(tree, 2)
    (J,), (M,) = traced(tree, "jacobian", q, frame="tool"), traced(tree, "mass_matrix", q)
    (mobility,) = traced(tree, "operational_space_mobility", q, frame="tool")
    expected = J @ np.linalg.solve(M, np.swapaxes(J, 1, 2))
    assert np.abs(mobility - expected).max() < 1e-12 * np.abs(expected).max()


def test_a_frame_with_few_joints_has_no_inertia_of_six_directions():
    finger = robot("finger_edu/finger_edu")
    with pytest.raises(NotPossible, match="only 3 coordinates move the frame"):
        finger.operational_space_inertia(finger.neutral(), TIPS["finger_edu/finger_edu"])


@pytest.mark.parametrize("name", TIPS)
def test_manipulability(name):
    """sqrt(det(J J')), or of J'J for the finger's three joints."""
    arm, tip = robot(name), TIPS[name]
    q, _, _ = states(arm, 5)
    (J,), (w,) = traced(arm, "jacobian", q, frame=tip), traced(arm, "manipulability", q, frame=tip)
    J = J[:, :, np.abs(J).max(axis=(0, 1)) > 0]
    singular = np.linalg.svd(J, compute_uv=False)
    assert np.abs(w - singular.prod(axis=1)).max() < 1e-13 * singular.prod(axis=1).max()


def test_manipulability_is_zero_at_a_singular_configuration():
    arm = robot("ur/ur5_robot")
    q = np.array([0.3, -1.0, 0.0, 0.4, 0.0, 0.2])  # straight elbow, aligned wrist
    assert arm.manipulability(q, "ee_link") < 1e-9


def test_where_directions_are_lost_there_is_no_inertia_and_the_error_says_so():
    """Three slides and a wrist that turns about z, y and z: at rest nothing turns about x."""
    kinds = [("prismatic", axis) for axis in np.eye(3)] + [
        ("revolute", np.eye(3)[k]) for k in (2, 1, 2)
    ]
    names = [f"link{k}" for k in range(6)]
    cube = MassProperties(1.0, (0.0, 0.0, 0.0), tuple(map(tuple, np.eye(3).tolist())))
    joints = tuple(
        Joint(f"joint{k}", kind, names[k - 1] if k else None, names[k], axis=tuple(axis.tolist()))
        for k, (kind, axis) in enumerate(kinds)
    )
    arm = Robot(Model("gantry", tuple(Body(name, cube) for name in names), joints))
    q = np.zeros((2, 6))
    q[0, 4] = 0.5
    words = 'frame "link5" has rank 5 at q = \\[0, 0, 0, 0, 0, 0\\], expected 6'
    with pytest.raises(ComputationError, match=words):
        arm.operational_space_inertia(q, "link5")
    assert np.isfinite(arm.operational_space_inertia(q[0], "link5")).all()
