"""Statics: joint wrenches of the open tree, corrected by what loop elements do,
linear in their unknown reactions."""

from __future__ import annotations

from functools import cached_property

import casadi
from casadi import SX

from linkwork.loads.supports import (
    Pull,
    Support,
    damper_pulls,
    loop_elements,
    spring_pulls,
    support_of,
)
from linkwork.loops.geometry import Geometry
from linkwork.model import Tree
from linkwork.model.elements import Coupling, TorsionSpring
from linkwork.recursions.joints import subspace
from linkwork.recursions.mimic import maps
from linkwork.recursions.newton_euler import joint_wrenches
from linkwork.spatial import Force, cross


class Statics:
    """One robot in one state over symbols.

    The wrench F_i that the predecessor applies on body i is that of the open tree minus what
    elements with one end beyond joint i already hold: an element changes only the joints between
    its two ends, and the base never feels it.

        F_i = F_i(tree) - sum over elements ending beyond i of their wrench,     all in axes of i at its joint

    `amounts` are the unknown reactions of all supports, one after the other, then those of the
    couplings.
    Source: [Goncalves2023] eqs. 33-43 (steps 6 and 7), for any set of loops.
    """

    def __init__(
        self, tree: Tree, q: SX, v: SX, a: SX, forces: dict[int, Force] | None = None
    ) -> None:
        self.tree, self.a = tree, a
        self.open, X = joint_wrenches(tree, q, v, a, forces)
        self.geometry = Geometry(tree, X, tree.elements)
        holding, springs, dampers = loop_elements(tree)
        self.supports: list[Support] = [support_of(self.geometry, e) for e in holding]
        self.couplings = [e for e in tree.elements if isinstance(e, Coupling)]
        self.pulls: list[Pull] = []
        self.tension: dict[str, SX] = {}
        self.length: dict[str, SX] = {}
        for spring in springs:
            self.tension[spring.name], self.length[spring.name], pulls = spring_pulls(
                self.geometry, spring
            )
            self.pulls += pulls
        for damper in dampers:
            self.tension[damper.name], pulls = damper_pulls(self.geometry, damper, q, v)
            self.length[damper.name] = self.geometry.pair(damper.first, damper.second).length
            self.pulls += pulls
        self.torsion = [e for e in tree.elements if isinstance(e, TorsionSpring)]
        self.q = q

    @cached_property
    def count(self) -> int:
        """Number of unknown reactions."""
        return sum(len(s.basis) for s in self.supports) + len(self.couplings)

    def offset(self, k: int) -> int:
        """Where the amounts of support k start."""
        return sum(len(s.basis) for s in self.supports[:k])

    def labels(self) -> list[tuple[str, str]]:
        """(element, what) of every amount."""
        names = [(s.name, label) for s in self.supports for label in s.labels]
        return names + [(c.name, "coupling") for c in self.couplings]

    @cached_property
    def _pulled(self) -> list[Force]:
        """Joint wrenches with the known pulls of springs and dampers taken off."""
        F = list(self.open)
        for pull in self.pulls:
            self._take_off(F, pull.base, pull.first, pull.second, pull.at, pull.force)
        return F

    def wrenches(self, amounts: SX) -> list[Force]:
        """F_i of every node for these reactions; node 0: what the robot does to the world,
        elements included."""
        F = list(self._pulled)
        for k, support in enumerate(self.supports):
            amounts_here = amounts[self.offset(k) : self.offset(k) + len(support.basis)]
            force = support.force(amounts_here)
            self._take_off(F, support.base, support.first, support.second, support.p_second, force)
        return F

    def support_wrench(self, k: int, amounts: SX, on_second: bool = True) -> Force:
        """What support k does to its second (or first) body,
        in that body's node axes at its own point there.

        A slider's part of what springs do to its bar is in it.
        """
        support = self.supports[k]
        force = support.force(amounts[self.offset(k) : self.offset(k) + len(support.basis)])
        for pull in self.pulls:
            if pull.name == support.name:
                force = force + pull.force
        node = support.second
        if not on_second:
            node = support.first
            arm = support.p_second - support.p_first
            force = -Force(force.linear, force.angular + cross(arm, force.linear))
        R = self.geometry.pose(support.base, node).R.T
        return Force(R @ force.linear, R @ force.angular)

    def joint_forces(self, F: list[Force], amounts: SX) -> SX:
        """What motors must give on the tree's coordinates (nv): S'F + armature,
        less springs and couplings."""
        tree = self.tree
        tau = SX(tree.nv, 1)
        for i in tree.outward:
            node = tree.nodes[i]
            for k, S in enumerate(subspace(node)):
                tau[node.v + k] = S.dot(F[i]) + SX(node.armature[k]) * self.a[node.v + k]
        for spring in self.torsion:
            at_q, _, at_v, _ = tree.coordinates[spring.joint]
            tau[at_v] += SX(spring.pretension) + SX(spring.stiffness) * (
                self.q[at_q] - SX(spring.free)
            )
        first = sum(len(s.basis) for s in self.supports)
        for row, coupling in enumerate(self.couplings):
            for joint, coefficient in coupling.terms:
                tau[tree.coordinates[joint][2]] -= SX(coefficient) * amounts[first + row]
        return casadi.densify(tau)

    def independent(self, tau: SX) -> SX:
        """Forces on the independent coordinates: G' tau."""
        return maps(self.tree)[2].T @ tau if self.tree.mimic else tau

    def _take_off(
        self, F: list[Force], base: int, first: int, second: int, at: SX, force: Force
    ) -> None:
        whole = Force(force.linear, force.angular + cross(at, force.linear))
        for node, sign in ((second, -1), (first, 1)):
            carried = whole if sign > 0 else -whole
            for i in self.geometry.chain(base, node):
                carried = self.geometry.X[i].inv @ carried
                F[i] = F[i] + carried
