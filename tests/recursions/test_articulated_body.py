"""Forward dynamics by articulated bodies on random trees with every joint type against
Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from linkwork.recursions.articulated_body import articulated_body
from linkwork.spatial import Force
from tests.pinocchio_models import assert_close, random_twin
from tests.traced import evaluated, minimal, states

TOLERANCE = 1e-10  # condition of these mass matrices up to 1e4


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("armature", [True, False])
def test_accelerations(seed, armature):
    """With rotor inertia, and without, where whole rows of articulated inertias vanish."""
    pair = random_twin(seed)
    model, data = pair.model.copy(), pair.model.createData()
    q, v, tau = states(pair.robot)
    tree, offset = minimal(pair.robot)
    if not armature:
        model.armature[:] = 0.0
        tree = _without_armature(tree)
    theirs = [
        pin.aba(model, data, pair.q(x), pair.v(y), pair.v(z))[pair.index]
        for x, y, z in zip(q, v, tau)
    ]
    (ours,) = evaluated(lambda q, v, tau: articulated_body(tree, q + offset, v, tau), q, v, tau)
    assert_close(ours, theirs, TOLERANCE)


def test_external_forces_on_every_body():
    pair = random_twin(0)
    model, data, tree = pair.model, pair.model.createData(), pair.robot.subject.tree
    q, v, tau = states(pair.robot)
    f = np.random.default_rng(3).normal(size=(len(q), 6))
    node = len(tree.nodes) - 1
    at = model.getFrameId(tree.nodes[node].name)

    def ours(q, v, tau, f):
        return articulated_body(tree, q, v, tau, {node: Force(f[:3], f[3:])})

    (found,) = evaluated(ours, q, v, tau, f)
    theirs = []
    for k in range(len(q)):
        forces = [pin.Force(np.zeros(6))] * model.njoints
        forces[model.frames[at].parentJoint] = model.frames[at].placement.act(pin.Force(f[k]))
        theirs.append(
            pin.aba(model, data, pair.q(q[k]), pair.v(v[k]), pair.v(tau[k]), forces)[pair.index]
        )
    assert_close(found, np.array(theirs), TOLERANCE)


def _without_armature(tree):
    return replace(
        tree, nodes=tuple(replace(node, armature=(0.0,) * node.nv) for node in tree.nodes)
    )
