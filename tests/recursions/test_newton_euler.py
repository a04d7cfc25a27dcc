"""Inverse dynamics of random trees with every joint type against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwork.recursions.newton_euler import joint_wrenches, newton_euler
from linkwork.spatial import Force
from tests.pinocchio_models import assert_close, random_twin
from tests.traced import evaluated, minimal, states

TOLERANCE = 1e-12  # of each joint's largest force: a hundred roundings on paths of eight bodies


@pytest.mark.parametrize("seed", range(4))
def test_joint_forces(seed):
    pair = random_twin(seed)
    data = pair.model.createData()
    q, v, a = states(pair.robot)
    theirs = [
        pin.rnea(pair.model, data, pair.q(x), pair.v(y), pair.v(z))[pair.index]
        for x, y, z in zip(q, v, a)
    ]
    for tree, offset in ((pair.robot.subject.tree, 0 * q[0]), minimal(pair.robot)):
        (ours,) = evaluated(
            lambda q, v, a, tree=tree, offset=offset: newton_euler(tree, q + offset, v, a), q, v, a
        )
        assert_close(ours, theirs, TOLERANCE)


@pytest.mark.parametrize("seed", range(2))
def test_wrenches_at_the_joints_and_external_forces(seed):
    """Every joint's wrench, with a force on every body; on the world the sum of all."""
    pair = random_twin(seed)
    model, data, tree = pair.model.copy(), pair.model.createData(), pair.robot.subject.tree
    q, v, a = states(pair.robot)
    f = np.random.default_rng(5).normal(size=(len(q), 6 * len(tree.nodes)))
    model.armature[:] = 0.0  # transmits nothing to the body
    at = [0] + [model.getJointId(_name(model, node)) for node in tree.nodes[1:]]

    def wrenches(q, v, a, f):
        forces = {i: Force(f[6 * i : 6 * i + 3], f[6 * i + 3 : 6 * i + 6]) for i in tree.outward}
        F, _ = joint_wrenches(tree, q, v, a, forces)
        return [x for i in range(len(F)) for x in (F[i].linear, F[i].angular)]

    ours = np.concatenate(evaluated(wrenches, q, v, a, f), axis=1)
    for k in range(len(q)):
        forces = [pin.Force(np.zeros(6))] * model.njoints
        for i in tree.outward:
            forces[at[i]] = pin.Force(f[k, 6 * i : 6 * i + 6])
        pin.rnea(model, data, pair.q(q[k]), pair.v(v[k]), pair.v(a[k]), forces)
        theirs = np.concatenate([data.f[i].vector for i in at])
        assert np.abs(ours[k] - theirs)[6:].max() < TOLERANCE * np.abs(theirs).max()
        base = sum(
            (data.liMi[i].act(data.f[i]) for i in range(1, model.njoints) if model.parents[i] == 0),
            pin.Force.Zero(),
        )
        assert np.abs(ours[k][:6] - base.vector).max() < TOLERANCE * np.abs(theirs).max()


def _name(model: pin.Model, node) -> str:
    """Pinocchio's joint of a node: chains of joints are named joint/0, joint/1, ..."""
    if model.existJointName(node.joint):
        return node.joint
    chain = [n for n in model.names if n.startswith(f"{node.joint}/")]
    return (
        chain[int(node.name.rsplit("/", 1)[1]) - 1]
        if node.name.startswith(f"{node.joint}/")
        else chain[-1]
    )
