"""The equations of an arm with spherical shoulder and wrist over symbols, and their kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import casadi
import numpy as np
from casadi import SX

from linkwork.avoidance.guard import SLOWEST
from linkwork.avoidance.segments import depth, segment_clearance
from linkwork.avoidance.volume import Swing, clearance, elbow_at, forbidden_arc
from linkwork.engine.compile import compile
from linkwork.engine.kernel import Context, Kernel
from linkwork.inverse.analytic import seven_axis
from linkwork.inverse.analytic.candidates import Proposal, orthonormal, pose_error, true_pose
from linkwork.inverse.analytic.spherical import about_x, about_z
from linkwork.spatial import Transform

SOLVED = 1e-9
"""Residual of forward kinematics [of the arm's length, rad] up to which a configuration counts."""
FAR = 1e6
"""What a configuration that does not exist counts as [rad]."""


class ArmEquations:
    """Traces of one arm and their kernels, each compiled when it is first asked for."""

    def __init__(self, family: Any, reference: np.ndarray) -> None:
        self.family, self.size = family, family.size
        self.base = np.array(family.canonical.placed.base, dtype=float)
        self.reference = casadi.DM(self.base[:3, :3].T @ reference)
        # The elbow: the foot of the shoulder on axis 4, in axes of frame 2 turned by theta3.
        axis4 = np.array(casadi.evalf(about_x(self.size.alpha[2])[:, 2])).ravel()
        corner = np.array([self.size.a3, 0.0, self.size.d3])
        self.to_elbow = corner - (corner @ axis4) * axis4
        to_wrist = np.array(
            casadi.evalf(seven_axis._from_shoulder(self.size, SX(0), SX(1)))
        ).ravel()
        self.upper = float(np.linalg.norm(self.to_elbow))
        self.fore = float(np.linalg.norm(to_wrist - self.to_elbow))
        self.reach = seven_axis.reach(self.size)
        self._kernels: dict[str, Kernel] = {}
        self._callers: dict[str, Callable[..., Any]] = {}

    def kernel(self, name: str) -> Kernel:
        if name not in self._kernels:
            trace, inputs = self._TRACES[name]
            self._kernels[name] = compile(lambda *x: trace(self, *x), inputs, name=name)
        return self._kernels[name]

    def caller(self, name: str) -> Callable[..., Any]:
        """The kernel as a function of arrays."""
        if name not in self._callers:
            context = Context(f'robot "{self.family.chain.robot}"')
            self._callers[name] = self.kernel(name).caller(context)
        return self._callers[name]

    def swing(self, goal: Transform) -> Swing:
        """The line shoulder-wrist and the directions across it, in canonical base axes."""
        P = goal.p
        D = casadi.sqrt(casadi.sumsqr(P))
        u = P / D
        across = SX(self.reference) - casadi.dot(SX(self.reference), u) * u
        v0 = across / casadi.sqrt(casadi.sumsqr(across))
        return Swing(SX.zeros(3), u, v0, casadi.cross(u, v0), D)

    def _swing(self, T: SX) -> tuple[SX, SX, SX]:
        """The swing in world axes, flat; the target's defect; and how far elbow and reference are
        from the line, of the arm and as a sine: 0 where the angle is undefined."""
        goal, defect = orthonormal(T)
        swing = self.swing(self.family.canonical.goal(goal))
        R, p = SX(self.base[:3, :3]), SX(self.base[:3, 3])
        cos_f = (self.upper**2 + swing.D**2 - self.fore**2) / (2 * self.upper * swing.D)
        room = casadi.fmin(casadi.sqrt(casadi.fmax(0, 1 - cos_f**2)), self._aside(swing))
        return casadi.vertcat(p, R @ swing.u, R @ swing.v0, R @ swing.w0, swing.D), defect, room

    def _arm_angle(self, q: SX) -> tuple[SX, SX]:
        """alpha = atan2(u . (v0 x v), v0 . v), v the elbow's part across the line. Second:
        0 where it is undefined."""
        theta = self.family.canonical.angles(q)
        R = SX.eye(3)
        for k in range(3):
            R = R @ about_z(casadi.sin(theta[k]), casadi.cos(theta[k]))
            R = R @ about_x(self.size.alpha[k]) if k < 2 else R
        wrist = R @ seven_axis._from_shoulder(self.size, casadi.sin(theta[3]), casadi.cos(theta[3]))
        swing = self.swing(Transform(SX.eye(3), wrist))
        elbow = R @ SX(self.to_elbow)
        across = elbow - casadi.dot(elbow, swing.u) * swing.u
        sine, cosine = casadi.dot(across, swing.w0), casadi.dot(across, swing.v0)
        room = casadi.fmin(casadi.sqrt(casadi.sumsqr(across)) / self.upper, self._aside(swing))
        return casadi.atan2(sine, cosine), room

    def _aside(self, swing: Swing) -> SX:
        """How far the reference is from the line's direction: 0 where it is parallel to it."""
        across = SX(self.reference) - casadi.dot(SX(self.reference), swing.u) * swing.u
        return casadi.sqrt(casadi.sumsqr(across))

    def _configurations(self, T: SX, angle: SX) -> tuple[SX, SX, SX]:
        """Eight rows of q, their residuals, and the target's defect.

        The solver's own swivel angle psi differs from the arm angle by a constant of the pose and
        of theta4's sign: psi = alpha + (direction of v0 in the target's basis) -
        (direction of the elbow in the arm's basis).
        """
        goal, defect = orthonormal(T)
        subject, chain, canonical = self.family.subject, self.family.chain, self.family.canonical
        place = subject.place_of(chain.frame)
        target = canonical.goal(goal)
        seed = canonical.angles(SX(casadi.DM(self.family.rest)))
        swing = self.swing(target)
        space = seven_axis._space_basis(target.p)
        of_reference = casadi.atan2(
            casadi.dot(swing.v0, space[:, 2]), casadi.dot(swing.v0, space[:, 1])
        )
        margin = self.family.margin
        elbows = seven_axis._elbow(self.size, target.p, seed[3], margin)
        rows = []
        for i in range(2):
            arm = seven_axis._arm_basis(self.size, elbows.sines[i], elbows.cosines[i])
            elbow = SX(self.to_elbow)
            of_elbow = casadi.atan2(casadi.dot(elbow, arm[:, 2]), casadi.dot(elbow, arm[:, 1]))
            postures = seven_axis.solve(
                self.size, target, seed, angle + of_reference - of_elbow, margin
            )
            rows += postures.rows[4 * i : 4 * i + 4]
        q, residuals = [], []
        for row in canonical.rows(Proposal(rows, ())).rows:
            joints = casadi.vertcat(*[SX(t) for t in row.theta])
            joints = joints - 2 * casadi.pi * casadi.floor(joints / (2 * casadi.pi) + 0.5)
            residual = pose_error(true_pose(subject.tree, place, chain, joints), goal, chain.length)
            q.append(joints.T)
            residuals.append(casadi.if_else(SX(row.exists) > 0, residual, 1.0))
        return casadi.vertcat(*q), casadi.vertcat(*residuals), defect

    def _nearest(self, T: SX, angle: SX, before: SX) -> tuple[SX, SX]:
        """Of the eight the row whose joint that moves the furthest from `before` moves the least,
        turned by whole turns to it; and how far that is [rad], FAR where no row exists."""
        rows, residuals, _ = self._configurations(T, angle)
        best, least = before, SX(FAR)
        for k in range(rows.shape[0]):
            way = rows[k, :].T - before
            way = way - 2 * casadi.pi * casadi.floor(way / (2 * casadi.pi) + 0.5)
            apart = casadi.if_else(residuals[k] <= SOLVED, casadi.mmax(casadi.fabs(way)), FAR)
            nearer = apart < least
            best = casadi.if_else(nearer, before + way, best)
            least = casadi.if_else(nearer, apart, least)
        return best, least

    def _points(self, flat: SX, angle: SX) -> tuple[SX, SX, SX]:
        swing = _of_flat(flat)
        wrist = swing.shoulder + swing.D * swing.u
        return swing.shoulder, elbow_at(swing, self.upper, self.fore, angle), wrist

    def _clearance(self, flat: SX, angle: SX, point: SX, minimum: SX, maximum: SX) -> SX:
        return clearance(*self._points(flat, angle), point, minimum, maximum)

    def _segment_clearance(self, flat: SX, angle: SX, ends: SX, minimum: SX, maximum: SX) -> SX:
        return segment_clearance(
            *self._points(flat, angle), ends[0, :].T, ends[1, :].T, minimum, maximum
        )

    def _depth(self, flat: SX, angle: SX, ends: SX, minimum: SX, maximum: SX) -> tuple[SX, SX, SX]:
        start, end = ends[0, :].T, ends[1, :].T
        return depth(_of_flat(flat), self.upper, self.fore, angle, start, end, minimum, maximum)

    def _arcs(self, flat: SX, point: SX, minimum: SX, maximum: SX) -> tuple[SX, SX]:
        return forbidden_arc(_of_flat(flat), self.upper, self.fore, point, minimum, maximum)

    def _guard(self, clearance: SX, threshold: SX) -> SX:
        """See `guard.speed_scale`."""
        return casadi.exp(-math.log(SLOWEST) * (clearance - threshold) / threshold)

    _TRACES: ClassVar[dict[str, tuple[Callable[..., Any], dict[str, Any]]]] = {
        "arm_angle": (_arm_angle, {"q": 7}),
        "configurations": (_configurations, {"pose": (4, 4), "arm_angle": ()}),
        "nearest": (_nearest, {"pose": (4, 4), "arm_angle": (), "before": 7}),
        "swing": (_swing, {"pose": (4, 4)}),
        "points": (_points, {"swing": 13, "arm_angle": ()}),
        "clearance": (
            _clearance,
            {"swing": 13, "arm_angle": (), "point": 3, "minimum": (), "maximum": ()},
        ),
        "segment_clearance": (
            _segment_clearance,
            {"swing": 13, "arm_angle": (), "ends": (2, 3), "minimum": (), "maximum": ()},
        ),
        "depth": (
            _depth,
            {"swing": 13, "arm_angle": (), "ends": (2, 3), "minimum": (), "maximum": ()},
        ),
        "guard": (_guard, {"clearance": (), "threshold": ()}),
        "arcs": (_arcs, {"swing": 13, "point": 3, "minimum": (), "maximum": ()}),
    }


def _of_flat(x: SX) -> Swing:
    return Swing(x[:3], x[3:6], x[6:9], x[9:12], x[12])
