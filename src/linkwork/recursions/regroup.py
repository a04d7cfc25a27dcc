"""Regroup: choose origins and move matter where no joint feels the difference,
so that recursions meet more zeros."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwork.model.number import has_symbols
from linkwork.model.placement import Placement
from linkwork.model.tree import Node, Tree


@dataclass(frozen=True)
class Matter:
    """m: mass; h: first moment; J: second moments, the integral of r r' (J = tr(I)/2 - I),
    about the node's origin."""

    m: float
    h: np.ndarray
    J: np.ndarray

    def __add__(self, other: Matter) -> Matter:
        return Matter(self.m + other.m, self.h + other.h, self.J + other.J)

    def __sub__(self, other: Matter) -> Matter:
        """The rest; what cancels to rounding becomes an exact zero, so that it folds away."""
        h, J = self.h - other.h, self.J - other.J
        h = np.where(np.abs(h) <= 8e-16 * np.abs(self.h).max(), 0.0, h)
        J = np.where(np.abs(J) <= 8e-16 * np.abs(self.J).max(), 0.0, J)
        return Matter(self.m - other.m, h, J)

    def moved(self, R: np.ndarray, p: np.ndarray) -> Matter:
        """Seen from a frame in which this one stands at p, turned by R."""
        h = R @ self.h
        J = R @ self.J @ R.T + np.outer(p, h) + np.outer(h, p) + self.m * np.outer(p, p)
        return Matter(self.m, h + self.m * p, J)


def regrouped(tree: Tree) -> Tree:
    """A tree with the same equations of motion in the same coordinates,
    and fewer numbers that are not zero.

    Origins: the origin of a node may lie anywhere on the axis of its revolute joint, anywhere at
    all if the joint is prismatic. It is put where the offset from the parent has most zeros.

    Matter: a thin rod along the axis n of a revolute joint (mass m, first moment h n, second
    moments A n n') is the same rod whether it belongs to the child or to the parent, and gives the
    joint no torque. So each body hands its parent the rod with m = its mass, h = n.h and A = n'Jn;
    it keeps a first moment across the axis and five second moments. A slider hands over all its
    second moments, a ball joint its mass. What reaches the world is dropped.

    Joint forces for any motion are unchanged, payloads and external forces included. Energies,
    momenta and reactions are not: only quantities of the joint space are traced on this tree.
    Source: [Khalil1987], base inertial parameters; here for any axis, with masses of zero kept
    legal.
    """
    if any(_is_live(node) for node in tree.nodes):
        return tree  # what is moved would have to be computed for every sample
    shifts = _shifts(tree)
    nodes = [_shifted(node, shifts[i], shifts[node.parent]) for i, node in enumerate(tree.nodes)]
    matter = [_matter(node, shift) for node, shift in zip(tree.nodes, shifts, strict=True)]
    for i in tree.inward:
        node = nodes[i]
        shifted = _movable(node, matter[i])
        if shifted is not None:
            matter[i] = matter[i] - shifted
            if node.parent:
                R, p = _numbers(node.placement)
                if node.row.is_slide:
                    p = np.zeros(3)  # moments of inertia without mass: the point does not matter
                matter[node.parent] = matter[node.parent] + shifted.moved(R, p)
        m = matter[i]
        numbers: Any = m.m, tuple(m.h.tolist()), tuple(map(tuple, m.J.tolist()))
        nodes[i] = replace(node, regrouped=numbers)
    bodies, frames = _kept_in_place(tree.bodies, shifts), _kept_in_place(tree.frames, shifts)
    return replace(tree, nodes=tuple(nodes), bodies=bodies, frames=frames)


def _is_live(node: Node) -> bool:
    p = node.mass_properties
    place = node.placement.rotation, node.placement.position, node.axis, node.pitch
    return bool(node.extra) or has_symbols((p.mass, p.com, p.inertia, *place))


def _numbers(placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    return np.array(placement.rotation, dtype=float), np.array(placement.position, dtype=float)


def _shifts(tree: Tree) -> list[np.ndarray]:
    """How far each origin moves, in the axes of its own node."""
    shifts = [np.zeros(3)]
    for i in tree.outward:
        node = tree.nodes[i]
        R, r = _numbers(node.placement)
        offset = r - shifts[node.parent]
        if node.row.is_slide:
            shifts.append(-R.T @ offset)
        elif node.row.is_hinge:
            axis = np.array(node.axis)
            shifts.append(_best_shift(offset, R @ axis) * axis)
        else:
            shifts.append(np.zeros(3))
    return shifts


def _best_shift(offset: np.ndarray, along: np.ndarray) -> float:
    """The s that leaves most zeros in offset + s along; none if that gains nothing."""
    candidates = [0.0] + [
        -offset[k] / along[k] for k in range(3) if abs(along[k]) > 0.25 and offset[k]
    ]
    rounding = 4e-16 * max(1e-300, float(np.abs(offset).max()))
    return max(candidates, key=lambda s: int((np.abs(offset + s * along) <= rounding).sum()))


def _shifted(node: Node, shift: np.ndarray, parents: np.ndarray) -> Node:
    R, r = _numbers(node.placement)
    moved = r + R @ shift - parents
    rounding = 4e-16 * max(np.abs(r).max(), np.abs(shift).max(), np.abs(parents).max())
    moved = np.where(np.abs(moved) <= rounding, 0.0, moved)
    return replace(node, placement=Placement(node.placement.rotation, tuple(moved.tolist())))


def _kept_in_place(
    places: dict[str, tuple[int, Placement]], shifts: list[np.ndarray]
) -> dict[str, tuple[int, Placement]]:
    """Bodies and frames seen from the moved origins; their own numbers may be symbols."""
    return {
        name: (i, Placement(position=tuple((-shifts[i]).tolist())) @ at)
        for name, (i, at) in places.items()
    }


def _matter(node: Node, shift: np.ndarray) -> Matter:
    p = node.mass_properties
    I, c = np.array(p.inertia, dtype=float), np.array(p.com, dtype=float)
    about_center = Matter(float(p.mass), np.zeros(3), np.trace(I) / 2 * np.eye(3) - I)
    return about_center.moved(np.eye(3), c - shift)


def _movable(node: Node, matter: Matter) -> Matter | None:
    """The part of a node's matter that may as well belong to its parent."""
    nothing = np.zeros(3)
    if node.row.is_hinge:
        n = np.array(node.axis)
        return Matter(matter.m, (matter.h @ n) * n, (n @ matter.J @ n) * np.outer(n, n))
    if node.row.is_slide:
        return Matter(0.0, nothing, matter.J)
    if node.row.is_ball:
        return Matter(matter.m, nothing, np.zeros((3, 3)))
    return None
