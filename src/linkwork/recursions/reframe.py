"""Reframe: turn and slide body frames on their joint axes, so that placements hold more zeros."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork.model.number import has_symbols
from linkwork.model.placement import Placement
from linkwork.model.tree import Node, Tree

_ROUNDING = 1e-14  # of a direction, or of the longest distance of a placement
_TURN, _SHIFT, _OFFSET = 8.0, 3.0, 1.0  # operations, roughly, of a constant turn, a distance, an offset of q


def reframed(tree: Tree) -> tuple[Tree, np.ndarray]:
    """(tree, q0): the same robot with other body frames; its coordinates are q + q0 (nq).

    The frame of a body behind a revolute joint may be turned about the joint's axis and slid along it. Here z lies on
    the axis, and x and the origin are chosen where the placements of the body and of the bodies that it carries need
    the fewest operations: among the given frame, the common normals with the carried axes (Denavit and Hartenberg's
    choice), and for a tip the direction of its centre of mass. A turn about the joint's own axis is an offset of q.

    Joint forces and accelerations do not depend on body frames. Frames and bodies of the tree keep their places in
    space. Ball, floating, sliding and screw joints, and robots with symbols in their geometry, keep their frames.
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
        if node.kind == "revolute":
            best = min(_choices(node, P, tips), key=lambda choice: choice.cost)
            T.append(best.T)
            q0[node.q] = best.offset
            node = replace(node, placement=_placement(best.P), axis=(0.0, 0.0, 1.0))
        else:
            T.append(np.eye(4))
            node = replace(node, placement=_placement(P))
        nodes.append(replace(node, mass_properties=node.mass_properties.seen_from(_placement(_inverse(T[-1])))))
    back = [_placement(_inverse(t)) for t in T]
    bodies = {name: (i, back[i] @ place) for name, (i, place) in tree.bodies.items()}
    frames = {name: (i, back[i] @ place) for name, (i, place) in tree.frames.items()}
    return replace(tree, nodes=tuple(nodes), bodies=bodies, frames=frames), q0


@dataclass(frozen=True)
class _Choice:
    """T: the new frame seen from the given one; P, offset: T_parent_joint and offset of q that go with it."""

    T: np.ndarray
    P: np.ndarray
    offset: float
    cost: float


def _choices(node: Node, P: np.ndarray, carried: list[Node]) -> list[_Choice]:
    n = np.array(node.axis)
    found = []
    for x in _directions(node, n, carried):
        for s in _slides(node, n, P, carried):
            T = _homogeneous(np.column_stack([x, np.cross(n, x), n]), s * n)
            own, offset = _without_turn_about_z(P @ T)
            cost = _OFFSET * (offset != 0.0) + (_cost(own) if node.parent else 0.0)
            cost += sum(_cost_of_carried(_inverse(T), c) for c in carried)
            if not carried:
                across = _clean(T[:3, :3].T @ np.array(node.mass_properties.com))[:2]
                cost += _SHIFT * np.count_nonzero(across)
            found.append(_Choice(T, own, offset, cost))
    return found


def _directions(node: Node, n: np.ndarray, carried: list[Node]) -> list[np.ndarray]:
    """Candidates for x, across the axis n."""
    found = [e for e in np.eye(3) if abs(e @ n) <= _ROUNDING]
    others = [np.cross(n, e) for e in np.eye(3)] if not found else []
    for c in carried:
        others += [np.cross(n, np.array(c.placement.rotation) @ np.array(c.axis)), np.array(c.placement.position)]
    if not carried:
        others.append(np.array(node.mass_properties.com))
    for x in others:
        across = x - (x @ n) * n
        length = np.linalg.norm(across)
        if length > 1e-9 * max(1.0, float(np.linalg.norm(x))):
            found.append(_clean(across / length))
    return found


def _slides(node: Node, n: np.ndarray, P: np.ndarray, carried: list[Node]) -> list[float]:
    """Candidates for the origin's place on the axis n: those that make a distance zero."""
    found = [0.0] + [float(np.array(c.placement.position) @ n) for c in carried]
    if node.parent:
        p, d = P[:3, 3], P[:3, :3] @ n
        found += [float(-p[k] / d[k]) for k in range(3) if abs(d[k]) > 1e-3]
    return found


def _without_turn_about_z(P: np.ndarray) -> tuple[np.ndarray, float]:
    """(P', offset) with P = P' Rz(offset) and P' turned about as few coordinate axes as can be."""
    R = tilt(_clean(P[:3, 2]))
    turn = R.T @ P[:3, :3]
    offset = float(np.arctan2(turn[1, 0], turn[0, 0]))
    quarters = round(offset / (np.pi / 2))
    if abs(offset - quarters * np.pi / 2) <= _ROUNDING:
        c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
        R, offset = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), 0.0
    return _homogeneous(R, P[:3, 3]), offset


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


def _cost(P: np.ndarray) -> float:
    """Operations to carry a vector over a placement whose turn about its own z is free."""
    turns = np.count_nonzero(_clean(P[:3, 2])) - 1
    return _TURN * turns + _SHIFT * np.count_nonzero(_clean(P[:3, 3]))


def _cost_of_carried(T: np.ndarray, node: Node) -> float:
    P = T @ _matrix(node.placement)
    if node.kind == "revolute":
        return _cost(_homogeneous(np.column_stack([P[:3, :2], P[:3, :3] @ np.array(node.axis)]), P[:3, 3]))
    turns = {3: 0, 5: 1, 9: 3}.get(int(np.count_nonzero(_clean(P[:3, :3]))), 2)
    return _TURN * turns + _SHIFT * np.count_nonzero(_clean(P[:3, 3]))


def _clean(x: np.ndarray) -> np.ndarray:
    """Entries that only rounding keeps from zero made zero."""
    return np.where(np.abs(x) <= _ROUNDING * np.abs(x).max(initial=0.0), 0.0, x)


def _homogeneous(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def _inverse(T: np.ndarray) -> np.ndarray:
    return _homogeneous(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3])


def _matrix(placement: Placement) -> np.ndarray:
    return _homogeneous(np.array(placement.rotation, dtype=float), np.array(placement.position, dtype=float))


def _placement(T: np.ndarray) -> Placement:
    R = _clean(T[:3, :3])
    R = np.where(np.abs(np.abs(R) - 1.0) <= _ROUNDING, np.sign(R), R)
    rows: Any = tuple(map(tuple, R.tolist()))
    return Placement(rows, tuple(_clean(T[:3, 3]).tolist()))
