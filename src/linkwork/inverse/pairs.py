"""Pairs: goals as vectors of the tip that shall coincide with vectors of the world.

A position is one pair of points; an orientation is three pairs of directions, the axes of the frame
and those of the target; a pointing frame is one pair of directions. The cost of all is the same
sum,

    H = sum_k w_k |t_k - c_k|^2,       c_k carried by the tip, t_k fixed in the world

so one closed form moves a joint for any of them, and costs of several tips add up. An orientation
with weight w_R on each radian squared has w_k = w_R / 2, because sum_k |t_k - c_k|^2 = 2
(3 - tr R_d' R) = 2 theta^2 near the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from casadi import SX

from linkwork.errors import NotPossible
from linkwork.inverse.residual import Place, unpacked
from linkwork.inverse.targets import Goal
from linkwork.spatial import vector

POINT, DIRECTION = 1.0, 0.0


@dataclass(frozen=True, eq=False)
class Pair:
    """tip: a vector in axes of the node; goal: in world axes; kind 1.0 for points,
    0.0 for directions (never shifted).

    group    the goal it belongs to; trio: one of the three axes of an orientation
    metric   None: |t - c|^2; else rows (in world axes) that alone count, with their weights in them
    """

    node: int
    tip: SX
    goal: SX
    weight: float
    kind: float
    group: int
    trio: bool = False
    metric: SX | None = None


def pairs_of(
    who: str, goals: Sequence[Goal], places: Sequence[Place], target: SX, length: float
) -> list[Pair]:
    """The pairs of all goals. length [m]: one radian weighs as much,
    where a goal brings no weights."""
    pairs: list[Pair] = []
    at = 0
    for group, (goal, (node, placement)) in enumerate(zip(goals, places, strict=True)):
        R_d, p_d = unpacked(goal, target[at : at + goal.size])
        at += goal.size
        w = np.array(goal.weights or (1.0,) * 3 + (length,) * 3)
        R = np.array(placement.rotation, dtype=float)
        if goal.positions:
            even = len(goal.positions) == 3 and len(set(w[:3])) == 1
            metric = None
            if not even:
                rows = (R_d.T if goal.turned else SX.eye(3))[list(goal.positions), :]
                metric = SX(np.diag(w[list(goal.positions)])) @ rows
            weight = float(w[0] ** 2) if even else 1.0
            pairs.append(
                Pair(node, vector(placement.position), p_d, weight, POINT, group, metric=metric)
            )
        w_R = float(max(w[3:]) ** 2)
        if goal.task == "pointing":
            tip = vector((R @ np.array(goal.direction)).tolist())
            pairs.append(Pair(node, tip, p_d, w_R, DIRECTION, group))
        elif len(goal.rotations) == 3:
            for k in range(3):
                tip = vector(R[:, k].tolist())
                pairs.append(Pair(node, tip, R_d[:, k], w_R / 2, DIRECTION, group, trio=True))
        elif len(goal.rotations) == 2:
            free = ({0, 1, 2} - set(goal.rotations)).pop()
            pairs.append(
                Pair(node, vector(R[:, free].tolist()), R_d[:, free], w_R, DIRECTION, group)
            )
        elif goal.rotations:
            raise NotPossible(
                f"{who}: the recursive method turns a frame wholly, about two axes or not at all; "
                f'frame "{goal.frame}" '
                f'asks for one rotation alone, which method="numeric" can do'
            )
    return pairs
