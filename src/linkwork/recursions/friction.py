"""Friction: the joint forces that damping and dry friction take."""

from __future__ import annotations

import casadi
from casadi import SX

from linkwork.model.tree import Tree


def friction(tree: Tree, v: SX) -> SX:
    """Joint forces (nv) that overcome friction at the velocities v:
    damping v + dry friction sign(v), zero at rest.

    They come on top of the inverse dynamics; no other quantity contains them.
    """
    tau = SX(tree.nv, 1)
    for node in tree.nodes:
        for k in range(node.nv):
            speed = v[node.v + k]
            tau[node.v + k] = SX(node.damping[k]) * speed + SX(node.friction[k]) * casadi.sign(
                speed
            )
    return casadi.densify(tau)
