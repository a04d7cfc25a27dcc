"""Bounds of Christoffel symbols from how far the matter of a robot can be from its axes."""

from __future__ import annotations

import numpy as np

from linkwork.errors import NotPossible
from linkwork.model.tree import Node, Tree
from linkwork.results import JointLimits


def symbols_by_reach(tree: Tree, limits: JointLimits) -> np.ndarray:
    """(nv, nv, nv): at least |c^k_ij| at every configuration within the limits of sliding joints.

    With d the deepest of the three, over the bodies b that it carries (m mass, P second moments
    about the centre):

        |c^k_id| <= sum_b ( m u_k u_d + |P| )        u_k: largest speed of the centre for unit velocity of k

    and the same number at every place where the symbol stands. Nothing turns behind a sliding i:
    zero. Two coordinates i, d of one ball or floating joint turn each other: m u_k u_id + |I|
    joins.
    """
    nv = tree.nv
    c = np.zeros((nv, nv, nv))
    carried = [[b for b in tree.outward if i in tree.paths[b]] for i in range(len(tree.nodes))]
    speed = {(a, b): _speeds(tree, limits, a, b) for b in tree.outward for a in tree.paths[b]}
    turning = {i: _turning(tree.nodes[i]) for i in tree.outward}
    for D in tree.outward:
        node = tree.nodes[D]
        for A in tree.paths[D]:
            for K in tree.paths[D]:
                rows, columns = slice(*_range(tree.nodes[K])), slice(*_range(tree.nodes[A]))
                block = np.zeros((tree.nodes[K].nv, tree.nodes[A].nv, node.nv))
                for b in carried[D]:
                    m, P, I = _matter(tree.nodes[b])
                    all_turn = np.einsum("k,i,d->kid", turning[K], turning[A], turning[D])
                    block += (
                        m * np.einsum("k,i,d->kid", speed[K, b], turning[A], speed[D, b])
                        + P * all_turn
                    )
                    if A == D and node.nv > 1:
                        most = speed[D, b].max()
                        both = np.maximum.outer(turning[D], turning[D])
                        block += m * most * np.einsum("k,id->kid", speed[K, b], both)
                        block += I * np.einsum(
                            "k,id->kid", turning[K], np.multiply.outer(turning[D], turning[D])
                        )
                for d in range(node.nv):
                    at = node.v + d
                    c[rows, columns, at] = np.maximum(c[rows, columns, at], block[:, :, d])
                    c[rows, at, columns] = np.maximum(c[rows, at, columns], block[:, :, d])
                    if K != D and A != D:
                        c[at, rows, columns] = np.maximum(c[at, rows, columns], block[:, :, d])
                        c[at, columns, rows] = np.maximum(c[at, columns, rows], block[:, :, d].T)
    return c


def _range(node: Node) -> tuple[int, int]:
    return node.v, node.v + node.nv


def _turning(node: Node) -> np.ndarray:
    """1 for each coordinate that turns what it carries, 0 for one that slides it."""
    return np.array([0.0 if k in node.row.slides else 1.0 for k in range(node.nv)])


def _speeds(tree: Tree, limits: JointLimits, a: int, b: int) -> np.ndarray:
    """Largest speed of the centre of mass of b for unit velocity of each coordinate of a."""
    node = tree.nodes[a]
    if node.nv == 0:
        return np.zeros(0)
    path = tree.paths[b][tree.paths[b].index(a) + 1 :]
    segments = [_ends(tree.nodes[i], limits) for i in path] + [
        np.array([tree.nodes[b].mass_properties.com])
    ]
    beyond = sum(float(np.linalg.norm(ends, axis=1).max()) for ends in segments[1:])
    if node.row.quaternion:
        reach = beyond + float(np.linalg.norm(segments[0], axis=1).max())
        return np.array([1.0 if k in node.row.slides else reach for k in range(node.nv)])
    if node.row.is_slide:
        return np.array([1.0])
    reach = beyond + float(np.linalg.norm(np.cross(node.axis, segments[0]), axis=1).max())
    return np.array([np.hypot(reach, float(node.pitch))])


def _ends(node: Node, limits: JointLimits) -> np.ndarray:
    """Positions of a joint's child in the parent's axes between which all others lie,
    (1, 3) or (2, 3)."""
    p = np.array(node.placement.position, dtype=float)
    R = np.array(node.placement.rotation, dtype=float)
    along = float(node.travel)
    if along:
        q = along * np.array([limits.lower[node.q], limits.upper[node.q]])
        if not np.isfinite(q).all():
            raise NotPossible(
                f'christoffel_bounds: joint "{node.joint}" slides without limits, so that its '
                "symbols have no bound"
            )
        return p + np.outer(q, R @ np.array(node.axis))
    if node.row.is_free:
        raise NotPossible(
            f'christoffel_bounds: joint "{node.joint}" floats on a moving body; no bound is known'
        )
    return p[None]


def _matter(node: Node) -> tuple[float, float, float]:
    """Mass, spectral norm of the second moments and of the inertia about the centre of mass."""
    matter = node.mass_properties
    I = np.array(matter.inertia, dtype=float)
    P = np.trace(I) / 2 * np.eye(3) - I
    return float(matter.mass), float(np.linalg.norm(P, 2)), float(np.linalg.norm(I, 2))
