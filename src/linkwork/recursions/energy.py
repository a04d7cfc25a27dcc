"""Energy: kinetic and potential."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.carriers import carriers
from linkwork.recursions.center_of_mass import first_moments
from linkwork.recursions.joints import inertia, velocities
from linkwork.spatial import vector


def energy(tree: Tree, q: SX, v: SX) -> tuple[SX, SX]:
    """(kinetic, potential) [J]: the sum of V'I V / 2 and of the rotors' armature v^2 / 2,
    and - m g.c of the whole.

    The potential energy is zero at the world's origin; every described body counts, those fixed in
    the world too.
    """
    X = carriers(tree, q)
    V, kinetic = velocities(tree, X, v), SX(0)
    for i in tree.outward:
        node = tree.nodes[i]
        kinetic = kinetic + V[i].dot(inertia(node) @ V[i]) / 2
        for k in range(node.nv):
            kinetic = kinetic + SX(node.armature[k]) * v[node.v + k] ** 2 / 2
    _, h = first_moments(tree, X)
    return kinetic, -casadi.dot(vector(tree.gravity), h[0])
