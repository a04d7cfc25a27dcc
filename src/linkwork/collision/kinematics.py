"""Kinematics of a tile: poses of the nodes that carry shapes,
and how points on them move with each coordinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi
from casadi import DM, SX

from linkwork.model.tree import Tree, build_tree
from linkwork.recursions.configuration import integrate
from linkwork.recursions.joints import subspace
from linkwork.recursions.poses import poses
from linkwork.spatial import Transform, cross
from linkwork.subject import Subject

GUARD = "the quaternion of a floating or ball joint is off unit length by more than 1e-6"


def has_quaternions(subject: Subject) -> bool:
    """Whether coordinates must be guarded: a floating or ball joint."""
    return any(n.nq > n.nv for n in subject.tree.nodes)


class Kinematics:
    """The tree of a subject over live variables' symbols, independent coordinates outside."""

    def __init__(self, subject: Subject, live: Mapping[str, SX]) -> None:
        self.model = subject.traced_model(live)
        self.tree: Tree = build_tree(self.model, merge=True) if live else subject.tree
        Gq, b, G = self.tree.mimic_map
        self._Gq, self._b, self._G = casadi.sparsify(DM(Gq)), DM(b), casadi.sparsify(DM(G))

    def coordinates(self, q: SX) -> SX:
        """q of the tree, mimicking joints included."""
        return self._Gq @ q + self._b if self.tree.mimic else q

    def along(self, q: SX, v: SX) -> SX:
        """q of the tree after moving by v from q, both independent ones."""
        if not self.tree.mimic:
            return integrate(self.tree, q, v)
        return integrate(self.tree, self.coordinates(q), self._G @ v)

    def velocities(self, v: SX) -> SX:
        """v of the tree, mimicking joints included."""
        return self._G @ v if self.tree.mimic else v

    def guards(self, q_tree: SX) -> SX:
        """Not negative where every quaternion is of unit length."""
        starts = [n.q + n.nq - 4 for n in self.tree.nodes if n.nq > n.nv]
        return casadi.vertcat(
            *[2e-6 - casadi.fabs(casadi.sumsqr(q_tree[s : s + 4]) - 1) for s in starts]
        )

    def poses(self, q_tree: SX, nodes: Sequence[int]) -> list[Transform]:
        return poses(self.tree, q_tree, tuple(nodes))

    def columns(self, T: Sequence[Transform]) -> tuple[SX, list[tuple[int, int, int]]]:
        """(c, w) of every moving coordinate, as columns (6, m),
        and [(tree column, first node, last node)] it moves.

        A point p of a node between first and last moves by c + w x p for unit velocity of the
        coordinate.
        """
        last = self.last_of_subtree()
        listed, moved = [], []
        for i in self.tree.outward:
            if T[i] is None:
                continue
            for k, S in enumerate(subspace(self.tree.nodes[i])):
                w = T[i].R @ S.angular
                c = T[i].R @ S.linear - cross(w, T[i].p)
                listed.append(casadi.densify(casadi.vertcat(c, w)))
                moved.append((self.tree.nodes[i].v + k, i, last[i]))
        return (casadi.horzcat(*listed) if listed else SX(6, 0)), moved

    def last_of_subtree(self) -> list[int]:
        """For each node the last one that it carries: nodes are numbered depth first."""
        last = list(range(len(self.tree.nodes)))
        for i in self.tree.inward:
            parent = self.tree.parent(i)
            last[parent] = max(last[parent], last[i])
        return last

    def independent(self, gradient: SX) -> SX:
        """A gradient by tree coordinates in terms of the independent ones."""
        return self._G.T @ gradient if self.tree.mimic else gradient
