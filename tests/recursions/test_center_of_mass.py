"""Centre of mass of random trees, and its Jacobian, against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.errors import NotPossible
from linkwork.model import Body, Joint, Model, build_tree
from linkwork.recursions.center_of_mass import center_of_mass, center_of_mass_jacobian
from tests.pinocchio_models import assert_close, random_twin
from tests.recursions.test_energy import MOVING
from tests.traced import evaluated, states


@pytest.mark.parametrize("seed", range(3))
def test_center_and_its_jacobian(seed):
    pair = random_twin(seed, 6, MOVING)
    model, data, tree = pair.model, pair.model.createData(), pair.robot.subject.full_tree
    q, _, _ = states(pair.robot)
    center, J = evaluated(lambda q: (center_of_mass(tree, q), center_of_mass_jacobian(tree, q)), q)
    assert_close(center, [pin.centerOfMass(model, data, pair.q(x)).copy() for x in q], 1e-12)
    theirs = [pin.jacobianCenterOfMass(model, data, pair.q(x))[:, pair.index] for x in q]
    assert_close(J, np.array(theirs), 1e-11)


def test_a_robot_without_mass_has_no_center():
    tree = build_tree(
        Model("ghost", (Body("arm"),), (Joint("pivot", "revolute", None, "arm"),)), merge=False
    )
    with pytest.raises(NotPossible, match="no mass"):
        evaluated(lambda q: center_of_mass(tree, q), np.zeros((1, 1)))
