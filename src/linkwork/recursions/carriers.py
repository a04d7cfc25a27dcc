"""Carriers: vectors and moments of mass brought over a joint with the fewest operations."""

from __future__ import annotations

import numpy as np
from casadi import SX

from linkwork.model.number import has_symbols
from linkwork.model.tree import Node, Tree
from linkwork.recursions.joints import joint_transform, placement
from linkwork.recursions.moments import Moments
from linkwork.spatial import ZERO3, Transform, matrix
from linkwork.spatial.operators import entries
from linkwork.spatial.turn import Dense, Planar, Turn, constant_turn


def carriers(tree: Tree, q: SX) -> list[Transform]:
    """X_i = T_parent_child of every node as in `joints.transforms`, rotations as turns."""
    X = [Transform(Turn(), ZERO3)]
    for i in tree.outward:
        before, joint_step = steps(tree.nodes[i], q)
        X.append(Transform(before.R.after(joint_step.R), before.p + before.R @ joint_step.p))
    return X


def steps(node: Node, q: SX) -> tuple[Transform, Transform]:
    """(T_parent_joint, T_joint_child): the constant part and the joint's own,
    q being that of the whole tree."""
    fixed, moving = placement(node), joint_transform(node, q[node.q : node.q + node.nq])
    rotation = node.placement.rotation
    before = (
        Turn((Dense(fixed.R),))
        if has_symbols(rotation)
        else constant_turn(np.array(rotation, dtype=float))
    )
    return Transform(before, fixed.p), Transform(_joint_turn(node, moving.R), moving.p)


def _joint_turn(node: Node, R: SX) -> Turn:
    if not node.row.turns:
        return Turn()
    k = axis_of(node)
    if k is None:
        return Turn((Dense(R),))
    i, j = (k + 1) % 3, (k + 2) % 3
    return Turn((Planar(i, j, R[i, i], R[j, i]),))


def axis_of(node: Node) -> int | None:
    """Which coordinate axis a revolute, helical or prismatic joint turns about or slides along,
    either way; or None."""
    if node.nv != 1 or has_symbols(node.axis):
        return None
    along = np.flatnonzero(np.array(node.axis, dtype=float))
    return int(along[0]) if len(along) == 1 else None


def carried(T: Transform, body: Moments) -> Moments:
    """The same matter in the parent's axes about the parent's origin.

    h_p = R h + m p,    P_p = R P R' + p h_p' + R h p'
    """
    h, P, p = T.R @ body.h, T.R.around(body.P), T.p
    if p.is_zero():
        return Moments(body.m, h, P)
    h_p = h + body.m * p
    out, by_place, by_h, by_h_p = entries(P), entries(p), entries(h), entries(h_p)
    for i in range(3):
        at, first = by_place[i], by_h[i]
        out[4 * i] = out[4 * i] + 2 * at * first + body.m * at * at
        for j in range(i):
            out[3 * j + i] = out[3 * i + j] = out[3 * j + i] + at * by_h_p[j] + first * by_place[j]
    return Moments(body.m, h_p, matrix((out[:3], out[3:6], out[6:])))
