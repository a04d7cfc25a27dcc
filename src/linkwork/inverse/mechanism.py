"""Mechanism: the part of a robot that moves the frames of a call, its coordinates,
ranges and loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi
import numpy as np
from casadi import DM, SX

from linkwork import configurations
from linkwork.actuation.layout import layout_of
from linkwork.actuation.transmissions import Drive
from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.inverse.targets import Goal
from linkwork.loops.constraints import Rows, closure_rows, strut_rows
from linkwork.model.elements import Coupling, LinearActuator, LoopClosure
from linkwork.model.kinds import KINDS
from linkwork.model.placement import Placement
from linkwork.model.tree import Tree
from linkwork.recursions.configuration import integrate
from linkwork.recursions.mimic import maps, tree_coordinates
from linkwork.subject import Subject


@dataclass(frozen=True)
class Mechanism:
    """The independent coordinates that move some frames.

    places     (node, T_node_frame) of every frame
    q, v       which independent coordinates matter, in q and in v
    single     (place in `q`, place in `v`) of those that have one coordinate
               (all but ball and floating joints)
    elements   closures and couplings that hold these coordinates together
    struts     those whose stroke is no range of one joint: legs of a platform
    """

    subject: Subject
    places: tuple[tuple[int, Placement], ...]
    q: tuple[int, ...]
    v: tuple[int, ...]
    single: tuple[tuple[int, int], ...]
    elements: tuple[Any, ...]
    struts: tuple[LinearActuator, ...] = ()

    @property
    def tree(self) -> Tree:
        return self.subject.tree

    @property
    def n(self) -> int:
        """Degrees of freedom."""
        return len(self.v)

    @cached_property
    def units(self) -> np.ndarray:
        """What one unit of each v moves, beside a radian: [m] for sliding coordinates,
        1 for turning ones."""
        sliding = _sliding(self.subject)
        return np.array([self.length if k in sliding else 1.0 for k in self.v])

    @cached_property
    def reach(self) -> float:
        """An upper bound on the distance from the first joint to any of the frames [m]."""
        return max(self.reach_of(node, placement) for node, placement in self.places) or 1.0

    @property
    def length(self) -> float:
        """The length by which a radian is compared with a metre."""
        return 0.4 * self.reach

    def reach_of(self, node: int, placement: Placement) -> float:
        """The sum of all lengths from the first joint of the path to a place on a node,
        slides at their longest [m]."""
        tree = self.tree
        total = math.hypot(*(float(x) for x in placement.position))
        for i in tree.paths[node][1:]:
            total += math.hypot(*(float(x) for x in tree.nodes[i].placement.position))
        return total + sum(x for x in self._slides(node) if math.isfinite(x))

    def bounded(self, node: int) -> bool:
        """Whether `reach_of` bounds the distance: nothing floats and no slide is endless."""
        fixed = all(not self.tree.nodes[i].row.is_free for i in self.tree.paths[node])
        return fixed and all(math.isfinite(x) for x in self._slides(node))

    def _slides(self, node: int) -> list[float]:
        """How far each slide and screw of a path can displace what it carries."""
        lower, upper = stroke(self.subject)
        Gq, b, _ = self.tree.mimic_map
        strokes = []
        for i in self.tree.paths[node]:
            joint = self.tree.nodes[i]
            if joint.row.is_slide or joint.row.has_pitch:
                leader = np.flatnonzero(Gq[joint.q])[0]
                ends = [
                    Gq[joint.q, leader] * x + b[joint.q] for x in (lower[leader], upper[leader])
                ]
                strokes.append(max(map(abs, ends)) * abs(float(joint.travel)))
        return strokes

    def in_tree(self, x: SX) -> SX:
        """Coordinates of the whole tree for values x of this mechanism's coordinates;
        others at neutral."""
        q = SX(DM(configurations.neutral(self.subject)))
        for k, at in enumerate(self.q):
            q[at] = x[k]
        if not self.tree.mimic:
            return q
        return tree_coordinates(self.tree, q)

    def columns(self, J: SX) -> SX:
        """The columns of this mechanism's v from a Jacobian of the tree."""
        if self.tree.mimic:
            J = J @ maps(self.tree)[2]
        return J[:, list(self.v)]

    def moved(self, x: SX, dx: SX) -> SX:
        """x (+) dx."""
        if len(self.single) == self.n:
            return x + dx
        dv = SX(self.subject.nv, 1)
        for k, at in enumerate(self.v):
            dv[at] = dx[k]
        if self.tree.mimic:
            dv = maps(self.tree)[2] @ dv
        q = integrate(self.tree, self.in_tree(x), dv)
        independent = self.tree.independent[0]
        return casadi.vertcat(*[q[independent[k]] for k in self.q])

    def loop_rows(self, q_tree: SX) -> tuple[SX, SX] | None:
        """(residuals, Jacobian) of the closed loops, in coordinates of the tree,
        and of struts beyond their strokes."""
        if not self.elements and not self.struts:
            return None
        q, rows = _closures(self.tree, self.elements)
        r, J = rows.r, rows.J
        for strut in self.struts:
            length = strut_rows(
                self.tree, q, SX.sym("v", self.tree.nv), (strut,), self.tree.elements
            )
            over = length.r - casadi.fmin(casadi.fmax(length.r, SX(strut.lower)), SX(strut.upper))
            r = casadi.vertcat(r, over)
            J = casadi.vertcat(J, casadi.if_else(over == 0, 0, length.J))
        r, J = casadi.substitute([r, J], [q], [q_tree])
        return r, J


def mechanism(who: str, subject: Subject, goals: tuple[Goal, ...]) -> Mechanism:
    """What moves the frames of the goals; refuses frames that nothing moves."""
    places = tuple(subject.place_of(goal.frame) for goal in goals)
    tree = subject.tree
    G = tree.mimic_map[2]
    moving: set[int] = set()
    for goal, (node, _) in zip(goals, places, strict=True):
        rows = [
            k
            for i in tree.paths[node]
            for k in range(tree.nodes[i].v, tree.nodes[i].v + tree.nodes[i].nv)
        ]
        columns = set(np.flatnonzero(np.abs(G[rows]).sum(axis=0)).tolist()) if rows else set()
        if not columns:
            raise NotPossible(
                f'{who}: no joint of robot "{subject.model.name}" moves frame "{goal.frame}"; it '
                "is fixed in the world"
            )
        moving |= columns
    elements = _loops_among(subject, moving)
    v = tuple(sorted(moving))
    q: list[int] = []
    single: list[tuple[int, int]] = []
    for _, at_q, at_v in configurations.places(subject):
        if set(range(at_v.start, at_v.stop)) & moving:
            if at_q.stop - at_q.start == at_v.stop - at_v.start:
                chosen = [k for k in range(at_v.stop - at_v.start) if at_v.start + k in moving]
                single += [(len(q) + j, v.index(at_v.start + k)) for j, k in enumerate(chosen)]
                q += [at_q.start + k for k in chosen]
            else:
                q += range(at_q.start, at_q.stop)
    return Mechanism(
        subject, places, tuple(q), v, tuple(single), elements, _strokes(subject, moving)
    )


def _strokes(subject: Subject, moving: set[int]) -> tuple[LinearActuator, ...]:
    """Struts with an end to their stroke that closed forms do not turn into a range of a joint."""
    legs = []
    tree = subject.tree
    for strut in layout_of(subject).struts:
        actuator = next(
            e for e in tree.elements if isinstance(e, LinearActuator) and e.name == strut.name
        )
        rows = strut_rows(
            tree, SX.sym("q", tree.nq), SX.sym("v", tree.nv), (actuator,), tree.elements
        )
        limited = float(actuator.lower) > 0.0 or math.isfinite(float(actuator.upper))
        if limited and _columns(tree, rows) <= moving:
            legs.append(actuator)
    return tuple(legs)


def _loops_among(subject: Subject, moving: set[int]) -> tuple[Any, ...]:
    """Closures and couplings that touch the moving coordinates; theirs join the moving ones."""
    waiting = [e for e in subject.model.elements if isinstance(e, (LoopClosure, Coupling))]
    closures: list[Any] = []
    while True:
        touching = [(e, touched) for e in waiting if (touched := _touched(subject, e)) & moving]
        if not touching:
            return tuple(e for e in subject.tree.elements if e in closures)
        for element, touched in touching:
            moving |= touched
            closures.append(element)
            waiting.remove(element)


def _touched(subject: Subject, element: Any) -> set[int]:
    """Independent velocity coordinates that a closure or coupling depends on."""
    return _columns(subject.tree, _closures(subject.tree, (element,))[1])


def _columns(tree: Tree, rows: Rows) -> set[int]:
    """Independent velocity coordinates that some rows depend on."""
    J = casadi.sparsify(rows.J @ maps(tree)[2])
    return set(J.sparsity().get_col())


def _closures(tree: Tree, elements: tuple[Any, ...]) -> tuple[SX, Rows]:
    """(coordinates of the tree, rows over them)."""
    q, v = SX.sym("q", tree.nq), SX.sym("v", tree.nv)
    return q, closure_rows(tree, q, v, elements)


def stroke(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) of q: joint limits, and what the strokes of struts leave of them."""
    limits = configurations.limits(subject)
    lower, upper = limits.lower.copy(), limits.upper.copy()
    if not subject.model.elements:
        return lower, upper
    for driven in layout_of(subject).driven:
        span = driven.drive.span()
        if span is None or len(driven.q) != 1:
            continue
        at = driven.q[0]
        for end, inwards in zip(span, (1e-6, -1e-6), strict=True):
            if math.isfinite(end):
                value, beside = (_joint_value(driven.drive, c) for c in (end, end + inwards))
                if beside > value:
                    lower[at] = max(lower[at], value)
                else:
                    upper[at] = min(upper[at], value)
    return lower, upper


def _joint_value(drive: Drive, c: float) -> float:
    return float(DM(drive.forward([SX(c)], [SX(0)], [SX(0)])[0][0]))


def limits_of(who: str, subject: Subject, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) of q for a `limits` option: True the robot's own, False none,
    or a pair of arrays."""
    if given is True:
        return stroke(subject)
    if given is False or given is None:
        return np.full(subject.nq, -np.inf), np.full(subject.nq, np.inf)
    try:
        lower, upper = given
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{who}: limits is {given!r}, expected True, False or a pair (lower, upper)"
        ) from None
    pair = [as_doubles(x, f"{who}: limits") for x in (lower, upper)]
    for array in pair:
        if array.shape not in ((), (subject.nq,)) or np.isnan(array).any():
            raise InvalidInput(
                f"{who}: limits have shape {array.shape}, expected ({subject.nq},) without NaN"
            )
    lower, upper = (np.broadcast_to(x, (subject.nq,)).astype(float) for x in pair)
    for joint, q, _ in configurations.places(subject):
        for k in range(q.start, q.stop):
            if lower[k] > upper[k]:
                raise InvalidInput(
                    f'{who}: joint "{joint.name}": lower limit {lower[k]:g} exceeds upper limit '
                    f"{upper[k]:g}"
                )
    return lower, upper


def _sliding(subject: Subject) -> set[int]:
    """Independent velocity coordinates along which something slides."""
    tree = subject.tree
    column_of = {k: i for i, k in enumerate(tree.independent[1])}
    sliding = {node.v + k for node in tree.nodes for k in KINDS[node.kind].slides}
    return {column_of[k] for k in sliding if k in column_of}
