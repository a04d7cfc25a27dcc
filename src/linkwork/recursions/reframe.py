"""Reframe: turn and slide body frames on their joint axes, so that placements hold more zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.model.number import has_symbols
from linkwork.model.placement import Placement
from linkwork.model.tree import Node, Tree

_ROUNDING = 1e-14  # of a direction, or of the longest distance of a placement
# operations, roughly, of a constant turn, a distance, an offset of q
_TURN = 8.0
_SHIFT = 3.0
_OFFSET = 1.0


def reframed(tree: Tree) -> tuple[Tree, np.ndarray]:
    """(tree, q0): the same robot with other body frames; its coordinates are q + q0 (nq).

    The frame of a body behind a revolute joint may be turned about the joint's axis and slid along
    it. Here z lies on the axis, and x and the origin are chosen where the placements of the body
    and of the bodies that it carries need the fewest operations: among the given frame, the common
    normals with the carried axes (Denavit and Hartenberg's choice), and for a tip the direction of
    its centre of mass. A turn about the joint's own axis is an offset of q.

    Joint forces and accelerations do not depend on body frames. Frames and bodies of the tree keep
    their places in space. Ball, floating, sliding and screw joints, and robots with symbols in
    their geometry, keep their frames.
    Source: [Khalil1987], frames of minimal description; here on trees and from any given frames.
    """
    if any(has_symbols((n.placement.rotation, n.placement.position, n.axis)) for n in tree.nodes):
        return tree, np.zeros(tree.nq)
    carried: list[list[Node]] = [[] for _ in tree.nodes]
    for node in tree.nodes[1:]:
        carried[node.parent].append(node)
    q0 = np.zeros(tree.nq)
    nodes, T = [tree.nodes[0]], [np.eye(4)]  # T[i]: new frame of node i seen from its given one
    for node, tips in zip(tree.nodes[1:], carried[1:], strict=True):
        P = _inverse(T[node.parent]) @ _matrix(node.placement)
        if node.row.is_hinge:
            frame, placement, q0[node.q] = _best(node, P, tips)
            T.append(frame)
            node = replace(node, placement=_placement(placement), axis=(0.0, 0.0, 1.0))
        else:
            T.append(np.eye(4))
            node = replace(node, placement=_placement(P))
        nodes.append(
            replace(
                node, mass_properties=node.mass_properties.seen_from(_placement(_inverse(T[-1])))
            )
        )
    back = [_placement(_inverse(t)) for t in T]
    bodies = {name: (i, back[i] @ place) for name, (i, place) in tree.bodies.items()}
    frames = {name: (i, back[i] @ place) for name, (i, place) in tree.frames.items()}
    return replace(tree, nodes=tuple(nodes), bodies=bodies, frames=frames), q0


def _best(node: Node, P: np.ndarray, carried: list[Node]) -> tuple[np.ndarray, np.ndarray, float]:
    """(T, P', offset): the new frame seen from the given one,
    T_parent_joint and the offset of q that go with it."""
    n = np.array(node.axis)
    x, s = np.array(_directions(node, n, carried)), np.array(_slides(node, n, P, carried))
    R = np.stack([x, np.cross(n, x), np.broadcast_to(n, x.shape)], axis=-1)
    # costs (x, s): a direction x decides about the offset, a slide s about distances to the parent
    cost = _OFFSET * (_turn_about_z(P[:3, :3], R) != 0.0)[:, None] + np.zeros(len(s))
    if node.parent:
        cost += _SHIFT * np.count_nonzero(_clean(P[:3, 3] + s[:, None] * (P[:3, :3] @ n)), axis=-1)
    for c in carried:
        cost += _cost_of_carried(R, s[:, None] * n, c)
    if not carried:
        across = _clean(np.array(node.mass_properties.com) @ R)[:, :2]
        cost += _SHIFT * np.count_nonzero(across, axis=-1)[:, None]
    i, j = np.unravel_index(np.argmin(cost), cost.shape)
    T = _homogeneous(R[i], s[j] * n)
    placement, offset = _without_turn_about_z(P @ T)
    return T, placement, offset


def _directions(node: Node, n: np.ndarray, carried: list[Node]) -> list[np.ndarray]:
    """Candidates for x, across the axis n."""
    directions = [e for e in np.eye(3) if abs(e @ n) <= _ROUNDING]
    others = [np.cross(n, e) for e in np.eye(3)] if not directions else []
    for c in carried:
        others += [
            np.cross(n, np.array(c.placement.rotation) @ np.array(c.axis)),
            np.array(c.placement.position),
        ]
    if not carried:
        others.append(np.array(node.mass_properties.com))
    for x in others:
        across = x - (x @ n) * n
        length = np.linalg.norm(across)
        if length > 1e-9 * max(1.0, float(np.linalg.norm(x))):
            directions.append(_clean(across / length))
    return directions


def _slides(node: Node, n: np.ndarray, P: np.ndarray, carried: list[Node]) -> list[float]:
    """Candidates for the origin's place on the axis n: those that make a distance zero."""
    slides = [0.0] + [float(np.array(c.placement.position) @ n) for c in carried]
    if node.parent:
        p, d = P[:3, 3], P[:3, :3] @ n
        slides += [float(-p[k] / d[k]) for k in range(3) if abs(d[k]) > 1e-3]
    return slides


def _without_turn_about_z(P: np.ndarray) -> tuple[np.ndarray, float]:
    """(P', offset) with P = P' Rz(offset) and P' turned about as few coordinate axes as can be."""
    offset = float(_turn_about_z(np.eye(3), P[None, :3, :3])[0])
    R = tilt(_clean(P[:3, 2]))
    if offset == 0.0:
        turn = np.rint(R.T @ P[:3, :3])
        R = R @ np.array(
            [[turn[0, 0], -turn[1, 0], 0.0], [turn[1, 0], turn[0, 0], 0.0], [0.0, 0.0, 1.0]]
        )
    return _homogeneous(R, P[:3, 3]), offset


def _turn_about_z(R_parent: np.ndarray, R: np.ndarray) -> np.ndarray:
    """(N): angles about z that remain of rotations R_parent R (N, 3, 3) with a common z;
    0 for quarter turns."""
    turn = tilt(_clean(R_parent @ R[0, :, 2])).T @ R_parent @ R[..., 0].T
    offset = np.arctan2(turn[1], turn[0])
    quarter = np.pi / 2
    return np.where(np.abs(offset - np.rint(offset / quarter) * quarter) <= _ROUNDING, 0.0, offset)


def tilt(d: np.ndarray) -> np.ndarray:
    """A rotation that takes z to the direction d."""
    x, y, z = d
    if x == 0.0:
        return np.array([[1.0, 0.0, 0.0], [0.0, z, y], [0.0, -y, z]])
    if y == 0.0:
        return np.array([[z, 0.0, x], [0.0, 1.0, 0.0], [-x, 0.0, z]])
    r = np.hypot(x, y)
    c, s = x / r, y / r
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array(
        [[z, 0.0, r], [0.0, 1.0, 0.0], [-r, 0.0, z]]
    )


def _cost_of_carried(R: np.ndarray, p: np.ndarray, node: Node) -> np.ndarray:
    """Operations to carry a vector over to a carried node,
    from frames turned by R (x, 3, 3) and moved by p (s, 3)."""
    if node.row.is_hinge:  # its turn about its own axis is free
        axis = np.array(node.placement.rotation) @ np.array(node.axis) @ R
        turns = np.count_nonzero(_clean(axis), axis=-1) - 1
    else:
        entries = (np.array(node.placement.rotation).T @ R).reshape(-1, 9)
        filled = np.count_nonzero(_clean(entries), axis=-1).tolist()
        turns = np.array([{3: 0, 5: 1, 9: 3}.get(k, 2) for k in filled])
    distances = np.count_nonzero(_clean((np.array(node.placement.position) - p) @ R), axis=-1)
    return _TURN * turns[:, None] + _SHIFT * distances


def _clean(x: np.ndarray) -> np.ndarray:
    """Entries of rows that only rounding keeps from zero made zero."""
    size = np.abs(x)
    return np.where(size <= _ROUNDING * size.max(axis=-1, keepdims=True, initial=0.0), 0.0, x)


def _homogeneous(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def _inverse(T: np.ndarray) -> np.ndarray:
    return _homogeneous(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3])


def _matrix(placement: Placement) -> np.ndarray:
    return _homogeneous(
        np.array(placement.rotation, dtype=float), np.array(placement.position, dtype=float)
    )


def _placement(T: np.ndarray) -> Placement:
    R = _clean(T[:3, :3].ravel()).reshape(3, 3)
    R = np.where(np.abs(np.abs(R) - 1.0) <= _ROUNDING, np.sign(R), R)
    rows: Any = tuple(map(tuple, R.tolist()))
    return Placement(rows, tuple(_clean(T[:3, 3]).tolist()))
