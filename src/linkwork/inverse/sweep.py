"""Sweep: joints moved one after the other, each by the closed-form minimiser of the cost along its
own coordinate.

In the frame of joint i (axis n, angle q_i), with r_k the tip's vectors in the child's axes and t_k
the goal's vectors, both projected on the plane across the axis (b_1, b_2):

    A = sum w (r_1 t_1 + r_2 t_2),  B = sum w (r_1 t_2 - r_2 t_1)        at angle 0
    A_q = A cos q + B sin q,        B_q = B cos q - A sin q              at the present angle
    H(d) = const - 2 (A_q cos d + B_q sin d)

    exact          d = atan2(B_q, A_q), or on an interval the end nearer to it
    small angle    d = B_q / sum w rho^2,    rho^2 = r_1^2 + r_2^2                                    (eq. 21)
    sliding        d = sum w n.(t - c) / sum w

Neither r_k nor t_k changes while other joints outside their part of the chain move, so nothing is
computed twice: a sweep from base to tip, or back, or of the best joint alone, costs O(n); a list of
joints what its order must.

Source: [Nicolato2005] eqs. 13-24. Corrected: eq. 19 lost c'c at the end of k_2; eq. 22 prints the
upper speed limit for the lower one. The exact step, orientations, pointing and several tips are not
in the paper. rho^2 is a sum of squares: as |c|^2 - (n.c)^2 it would be noise where the tip lies on
the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork.inverse.mechanism import Mechanism
from linkwork.inverse.pairs import POINT, Pair
from linkwork.model.tree import Node
from linkwork.recursions.joints import joint_transform, placement
from linkwork.spatial import Transform, vector

_NO_EFFECT = 1e-9
"""Of the reach: a joint whose axis the tip (or the goal) lies on does not move."""


class Walk:
    """The chain at its present coordinates. `version[k]` counts the moves of coordinate k;
    what they leave is kept."""

    def __init__(self, mechanism: Mechanism, x: SX, pairs: Sequence[Pair]) -> None:
        self.mechanism, self.tree, self.pairs = mechanism, mechanism.tree, list(pairs)
        self.x = [x[k] for k in range(len(mechanism.q))]
        self.version = [0] * len(self.x)
        self.drives = _drives(mechanism)
        self._kept: dict[tuple, Any] = {}

    def move(self, k: int, value: SX) -> None:
        self.x[k] = value
        self.version[k] += 1

    def _version(self, nodes: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.version[k] for i in nodes for k, _, _ in self.drives.get(i, ()))

    def angle(self, i: int) -> SX:
        """The node's own coordinate."""
        return sum(
            (factor * self.x[k] + offset for k, factor, offset in self.drives.get(i, ())), SX(0)
        )

    def joint(self, i: int) -> Transform:
        """T_joint_child of a node."""
        return self._keep(("joint", i, self._version([i])), lambda: self._joint(i))

    def _joint(self, i: int) -> Transform:
        node = self.tree.nodes[i]
        angle = self.angle(i) if i in self.drives else SX(0)
        return joint_transform(node, casadi.vertcat(angle, SX.zeros(max(0, node.nq - 1))))

    def tip(self, pair: Pair, i: int) -> SX:
        """r: the pair's tip vector in axes of node i."""
        path = self.tree.paths[pair.node]
        after = path[path.index(i) + 1 :]
        if not after:
            return pair.tip
        return self._keep(
            ("tip", id(pair), i, self._version(after)), lambda: self._tip(pair, after[0])
        )

    def _tip(self, pair: Pair, child: int) -> SX:
        c = _applied(self.joint(child), self.tip(pair, child), pair.kind)
        return _applied(placement(self.tree.nodes[child]), c, pair.kind)

    def goal(self, pair: Pair, i: int) -> SX:
        """t: the pair's goal vector in the frame of joint i, before it moves."""
        before = self.tree.paths[i][:-1]
        return self._keep(
            ("goal", id(pair), i, self._version(before)), lambda: self._goal(pair, i, before)
        )

    def _goal(self, pair: Pair, i: int, before: Sequence[int]) -> SX:
        t = self.inside(pair, before[-1]) if before else pair.goal
        return _undone(placement(self.tree.nodes[i]), t, pair.kind)

    def inside(self, pair: Pair, i: int) -> SX:
        """The goal vector in axes of node i, after its joint."""
        return _undone(self.joint(i), self.goal(pair, i), pair.kind)

    def gap(self, pair: Pair) -> SX:
        """t - c at the tip, in axes of its node."""
        return self.inside(pair, pair.node) - pair.tip

    def world_gap(self, pair: Pair) -> SX:
        """t - c in world axes."""
        first = self.tree.paths[pair.node][0]
        c = _applied(self.joint(first), self.tip(pair, first), pair.kind)
        return pair.goal - _applied(placement(self.tree.nodes[first]), c, pair.kind)

    def cost(self) -> SX:
        """H."""
        total = SX(0)
        for pair in self.pairs:
            if pair.metric is None:
                total = total + pair.weight * casadi.sumsqr(self.gap(pair))
            else:
                total = total + casadi.sumsqr(pair.metric @ self.world_gap(pair))
        return total

    def _keep(self, key: tuple, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


@dataclass(frozen=True)
class Wave:
    """H along one coordinate: const - 2 (A cos d + B sin d) for a hinge; `none`:
    where the joint has no effect."""

    A: SX
    B: SX
    none: SX


def hinge(walk: Walk, i: int, reach: float) -> tuple[Wave, SX]:
    """(the wave, the small-angle step) of a turning joint at its present angle."""
    node = walk.tree.nodes[i]
    b1, b2 = _across(node)
    A = B = turning = arm = goal = SX(0)
    for pair in _carried(walk, i):
        r, t = walk.tip(pair, i), walk.goal(pair, i)
        r1, r2, t1, t2 = (casadi.dot(b, v) for v in (r, t) for b in (b1, b2))
        A = A + pair.weight * (r1 * t1 + r2 * t2)
        B = B + pair.weight * (r1 * t2 - r2 * t1)
        arm = arm + pair.weight * (r1 * r1 + r2 * r2)
        goal = goal + pair.weight * (t1 * t1 + t2 * t2)
    T = walk.joint(i)
    c, s = casadi.dot(b1, T.R @ b1), casadi.dot(b2, T.R @ b1)
    now = Wave(
        A * c + B * s,
        B * c - A * s,
        casadi.logic_or(arm < _least(walk, reach), goal < _least(walk, reach)),
    )
    turning = now.B
    for group in {pair.group for pair in _carried(walk, i) if pair.trio}:
        turning = turning + _rotation_vector_share(walk, i, group, node)
    small = turning / casadi.fmax(arm, _least(walk, reach))
    return now, casadi.if_else(arm < _least(walk, reach), 0, small)


def _least(walk: Walk, reach: float) -> float:
    return max(pair.weight for pair in walk.pairs) * (_NO_EFFECT * reach) ** 2


def _rotation_vector_share(walk: Walk, i: int, group: int, node: Node) -> SX:
    """What the small-angle step of an orientation has beyond n.m_e:
    the rotation vector in the place of its sine."""
    trio = [pair for pair in _carried(walk, i) if pair.trio and pair.group == group]
    R = walk.joint(i).R
    axes = [(R @ walk.tip(pair, i), walk.goal(pair, i)) for pair in trio]
    m = sum((casadi.cross(c, t) for c, t in axes), SX.zeros(3)) / 2
    cosine = (sum(casadi.dot(c, t) for c, t in axes) - 1) / 2
    ss = casadi.sumsqr(m)
    s = casadi.sqrt(casadi.fmax(ss, 1e-30))
    ratio = casadi.if_else(ss < 1e-10, 1 + ss / 6, casadi.atan2(s, cosine) / s)
    return 2 * trio[0].weight * casadi.dot(vector(node.axis), m) * (ratio - 1)


def slide(walk: Walk, i: int) -> SX:
    """The exact step of a sliding joint: the weighted mean of what is missing along it."""
    n = vector(walk.tree.nodes[i].axis)
    points = [pair for pair in _carried(walk, i) if pair.kind == POINT]
    if not points:
        return SX(0)
    missing = sum(
        pair.weight * casadi.dot(n, walk.goal(pair, i) - walk.tip(pair, i)) for pair in points
    )
    return missing / sum(pair.weight for pair in points) - walk.angle(i)


def _carried(walk: Walk, i: int) -> list[Pair]:
    return [pair for pair in walk.pairs if i in walk.tree.paths[pair.node]]


def _across(node: Node) -> tuple[SX, SX]:
    """b1, b2 with b1 x b2 = axis; coordinate axes where the joint's axis is one,
    so that zeros fold away."""
    n = np.array([float(x) for x in node.axis])
    k = int(np.argmin(np.abs(n)))
    b1 = np.eye(3)[k] - n[k] * n
    b1 /= np.linalg.norm(b1)
    b2 = np.cross(n, b1)
    return tuple(vector((np.where(np.abs(b) < 1e-15, 0.0, b)).tolist()) for b in (b1, b2))  # type: ignore[return-value]


def _applied(T: Transform, v: SX, kind: float) -> SX:
    return T.R @ v + T.p if kind == POINT else T.R @ v


def _undone(T: Transform, v: SX, kind: float) -> SX:
    return T.R.T @ (v - T.p if kind == POINT else v)


def _drives(mechanism: Mechanism) -> dict[int, list[tuple[int, float, float]]]:
    """node -> [(coordinate of the mechanism, factor, offset)] for nodes that it moves."""
    Gq, b, _ = mechanism.tree.mimic_map
    drives: dict[int, list[tuple[int, float, float]]] = {}
    for i, node in enumerate(mechanism.tree.nodes):
        if node.nq == 1:
            for k, at in enumerate(mechanism.q):
                if Gq[node.q, at]:
                    drives.setdefault(i, []).append((k, float(Gq[node.q, at]), float(b[node.q])))
    return drives
