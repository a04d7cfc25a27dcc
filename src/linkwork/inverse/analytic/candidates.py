"""Candidates: what a closed form proposes, and the kernel that lets true forward kinematics decide
about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX, fmax, sqrt

from linkwork.inverse.analytic.angles import either, wrapped
from linkwork.inverse.analytic.denavit import Frames
from linkwork.inverse.analytic.screws import Chain, inverted
from linkwork.model import Placement, Tree
from linkwork.quantities import Inputs
from linkwork.recursions.poses import frame_pose
from linkwork.spatial import Transform

KINDS = np.array(["none", "isolated", "tangent", "continuum"])
ISOLATED, TANGENT, CONTINUUM = 1, 2, 3
TOLERANCE = 1e-10
"""Residual of true forward kinematics [of the arm's length, rad] up to which a row is a
solution."""


@dataclass
class Candidate:
    """One proposed row: angles, whether it exists at all (0 or 1), its kind and its
    multiplicity."""

    theta: Sequence[SX]
    exists: Any
    kind: Any = ISOLATED
    multiplicity: Any = 1


@dataclass
class Proposal:
    """All proposed rows, in slots that are the same for every target,
    and distances that explain an empty answer."""

    rows: list[Candidate]
    distances: Sequence[SX] = ()


def judged(stage: str) -> Callable[[Tree, Inputs], list[SX]]:
    """The trace target, q0 (n,), ... -> q (M, n), state (M,), residual (M,), distances (k,),
    defect () of a family.

    stage is the family's method that proposes: (goal of the frame in the world, q0 of the chain,
    further inputs) -> rows whose theta are the chain's own q. state = kind + 4 multiplicity for a
    row whose true FK meets the target within `TOLERANCE`, 0 for no row; of a family that is not
    exact every row that exists is kept, to be polished.
    defect: how far the target is from a rigid motion.
    """

    def rows(tree: Tree, x: Inputs) -> list[SX]:
        family, (target, *others) = x.about, x.own.values()
        position = target.shape == (3, 1)
        goal, defect = (Transform(SX.eye(3), target), SX(0)) if position else orthonormal(target)
        proposal: Proposal = getattr(family, stage)(goal, *others)
        rows, states, residuals = [], [], []
        for row in proposal.rows:
            q = wrapped(casadi.vertcat(*[SX(t) for t in row.theta]))
            T = true_pose(tree, x.frame, family.chain, q)
            residual = pose_error(T, goal, family.chain.length, position)
            exists = SX(row.exists) * (residual <= TOLERANCE) if family.exact else SX(row.exists)
            rows.append(q.T)
            states.append(either(exists, SX(row.kind) + 4 * SX(row.multiplicity), 0.0))
            residuals.append(residual)
        distances = casadi.vertcat(SX(0, 1), *[SX(d) for d in proposal.distances])
        return [
            casadi.vertcat(*rows),
            casadi.vertcat(*states),
            casadi.vertcat(*residuals),
            distances,
            defect,
        ]

    return rows


@dataclass(frozen=True)
class Canonical:
    """Between the robot and its canonical frames;
    `backward` where these run from the frame to the base."""

    placed: Frames
    backward: bool = False

    def goal(self, T: Transform) -> Transform:
        """The pose of the last canonical frame in the first that brings the robot's frame to T."""
        before, after = (constant(inverted(M)) for M in (self.placed.base, self.placed.tool))
        return before @ (_inverse(T) if self.backward else T) @ after

    def point(self, p: SX) -> SX:
        """A point of the world in the first canonical frame."""
        return (constant(inverted(self.placed.base)) @ Transform(SX.eye(3), p)).p

    def angles(self, q: SX) -> SX:
        """Canonical angles of the chain's coordinates."""
        return self.placed.sign * (q[::-1] if self.backward else q) + self.placed.offset

    def joints(self, theta: Sequence[SX]) -> list[SX]:
        """The chain's coordinates for canonical angles."""
        q = [
            s * (t - o) for s, t, o in zip(self.placed.sign, theta, self.placed.offset, strict=True)
        ]
        return q[::-1] if self.backward else q

    def rows(self, proposal: Proposal) -> Proposal:
        """Rows in canonical angles as rows in the chain's coordinates."""
        rows = [
            Candidate(self.joints(r.theta), r.exists, r.kind, r.multiplicity) for r in proposal.rows
        ]
        return Proposal(rows, proposal.distances)


def true_pose(tree: Tree, frame: tuple[int, Placement], chain: Chain, q: SX) -> Transform:
    """T_world_frame of the robot itself for the chain's coordinates;
    joints off the chain do not matter."""
    q_tree = SX(tree.nq, 1)
    for k, column in enumerate(chain.columns):
        q_tree[tree.independent[0][column]] = q[k]
    return frame_pose(tree, q_tree, frame)


def pose_error(T: Transform, goal: Transform, length: float, position: bool = False) -> SX:
    """The larger of distance / length and the angle between two poses (for small angles)."""
    far = sqrt(casadi.sumsqr(T.p - goal.p)) / length
    return far if position else fmax(far, sqrt(casadi.sumsqr(casadi.densify(T.R - goal.R)) / 2))


def constant(T: np.ndarray) -> Transform:
    """Numbers as a transform whose exact zeros and ones fold away."""
    snapped = np.where(np.abs(T - np.round(T)) < 4e-16, np.round(T), T)
    R, p = (SX(casadi.sparsify(casadi.DM(part))) for part in (snapped[:3, :3], snapped[:3, 3]))
    return Transform(R, p)


def _inverse(T: Transform) -> Transform:
    return Transform(T.R.T, -(T.R.T @ T.p))


def orthonormal(T: SX) -> tuple[Transform, SX]:
    """The target with the rotation nearest to its own (one step of Newton's iteration),
    and how far it was from one."""
    R, p = T[:3, :3], T[:3, 3]
    G = R.T @ R - SX.eye(3)
    off = [G[i, j] for i in range(3) for j in range(i, 3)]
    # R'R = 1 holds for mirrors too
    mirror = 1 - casadi.dot(casadi.cross(R[:, 0], R[:, 1]), R[:, 2])
    last = [T[3, 0], T[3, 1], T[3, 2], T[3, 3] - 1]
    defect = casadi.mmax(casadi.fabs(casadi.vertcat(*off, mirror, *last)))
    return Transform(R - R @ G / 2, p), defect
