"""Elbow: the arm angle of a seven-axis arm with spherical shoulder and wrist,
as its seventh coordinate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import as_doubles, finite, finite_rows, number
from linkwork.avoidance import joint_limits
from linkwork.avoidance.arcs import TURN, WHOLE, joined, merged, without, wrapped
from linkwork.avoidance.arm_equations import FAR, SOLVED, ArmEquations
from linkwork.avoidance.around import Around, around
from linkwork.avoidance.correction import correction
from linkwork.avoidance.crossings import Depth, positive_arcs
from linkwork.avoidance.volume import SafetyVolume
from linkwork.errors import ComputationError, InvalidInput, NotPossible
from linkwork.inverse.analytic.classify import classified
from linkwork.inverse.analytic.solve import DEFECT, one_pose
from linkwork.subject import RobotLike, subject_of

STRAIGHT = 1e-9
"""An elbow nearer to the line shoulder-wrist than this part of the arm has no arm angle."""

SAME = 1e-6
"""Configurations nearer than this [rad] are one."""


class Elbow:
    """The elbow of an arm whose axes 1-3 meet in the shoulder and axes 5-7 in the wrist.

    frame       the tool's frame, whose pose the arm angle leaves as it is
    reference   direction in world axes; the arm angle is zero where the elbow points towards it,
                and grows with the turn about the line from shoulder to wrist

    Source: [Simas2022] sections 3.1-3.3, without its intermediate solution for six axes.
    """

    def __init__(
        self, robot: RobotLike, frame: str, reference: ArrayLike = (0.0, 0.0, 1.0)
    ) -> None:
        self.subject = subject_of(robot, "Elbow")
        kind = classified(self.subject, frame)
        if kind.family != "seven_axis" or kind.pose is None or not kind.exact:
            off = f"its axes are off by {kind.deviation:.3g}" if kind.family == "seven_axis" else ""
            why = off or kind.others.get("seven_axis", kind.title)
            raise NotPossible(
                f'Elbow: robot "{self.subject.model.name}", frame "{frame}" is no arm with '
                "spherical "
                f"shoulder and wrist: {why}"
            )
        self.frame, self.family = frame, kind.pose
        direction = finite(reference, (3,), "Elbow: reference")
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            raise InvalidInput("Elbow: reference is (0, 0, 0), expected a direction")
        self.reference = direction / length
        self.equations = ArmEquations(self.family, self.reference)
        self.columns = list(self.family.chain.columns)

    @property
    def upper_length(self) -> float:
        """Shoulder to elbow [m]."""
        return self.equations.upper

    @property
    def fore_length(self) -> float:
        """Elbow to wrist [m]."""
        return self.equations.fore

    def arm_angle(self, q: ArrayLike) -> np.ndarray:
        """The arm angle (...) [rad] of configurations (..., nq); undefined, so refused,
        for a straight arm."""
        rows = finite_rows(q, self.subject.nq, "arm_angle: q")
        angle, room = self._call("arm_angle", rows[..., self.columns])
        if np.any(room < STRAIGHT):
            raise ComputationError(
                "arm_angle: the arm is straight (or its line is parallel to `reference`): the "
                "elbow lies on the line "
                "from shoulder to wrist, and the arm angle is undefined"
            )
        return angle

    def configurations(self, pose: ArrayLike, arm_angle: ArrayLike) -> np.ndarray:
        """(..., 8, nq): the eight configurations with the tool at `pose` (..., 4, 4) and the elbow
        at `arm_angle` (...) [rad]; NaN in rows that do not exist, and one pose out of reach is
        refused. Joints off the arm are at neutral."""
        T = as_doubles(pose, "configurations: pose")
        if T.ndim < 2 or T.shape[-2:] != (4, 4) or not np.isfinite(T).all():
            raise InvalidInput(
                f"configurations: pose has shape {T.shape}, expected finite (..., 4, 4)"
            )
        angle = as_doubles(arm_angle, "configurations: arm_angle")
        q, residual, _ = self._call("configurations", T, angle)
        missing = ~(residual <= SOLVED)
        if T.ndim == 2 and missing.all():
            self.swing(T, "configurations")  # says how far the wrist would be
        q[missing] = np.nan
        return self._whole(q)

    def nearest(self, pose: ArrayLike, arm_angle: float, before: np.ndarray) -> np.ndarray | None:
        """Of `configurations` the one (nq,) whose joints go the least way from `before` (nq,), in
        whole turns beside it; None where there is none."""
        q, apart = self._call("nearest", pose, np.array(arm_angle), before[self.columns])
        return self._whole(q) if apart < FAR else None

    def points(
        self, pose: ArrayLike, arm_angle: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shoulder, elbow and wrist (3,) in world axes."""
        swing = self.swing(pose, "points")
        return self._call("points", swing, number(arm_angle, "points: arm_angle"))

    def clearance(
        self,
        pose: ArrayLike,
        arm_angle: float,
        points: Any,
        volume: SafetyVolume,
        radius: ArrayLike = 0.0,
    ) -> np.ndarray:
        """(n,): how far each obstacle stands outside the volume [m], negative inside.

        points      (n, 3), segments (n, 2, 3), or shapes (`lw.collision.Sphere`, `Capsule`, ...);
                    `radius` makes points spheres and segments capsules
        """
        swing, stands = self._obstacles("clearance", pose, points, volume, radius)
        return self.clearance_at(swing, number(arm_angle, "clearance: arm_angle"), stands, volume)

    def clearance_at(
        self, swing: np.ndarray, arm_angle: float, stands: Around, volume: SafetyVolume
    ) -> np.ndarray:
        """As `clearance`, from what `swing` gives, without further questions."""
        m, M, least = volume.minimum, volume.maximum, np.full(stands.count, np.inf)
        if n := len(stands.points):
            more, common = stands.point_radius, (_filled((n, 13), swing), _filled(n, arm_angle))
            rows = self._call("clearance", *common, stands.points, m + more, M + more)
            if n == stands.count:  # every obstacle is one point
                return rows
            np.minimum.at(least, stands.point_owner, rows)
        if n := len(stands.segments):
            more, common = stands.segment_radius, (_filled((n, 13), swing), _filled(n, arm_angle))
            rows = self._call("segment_clearance", *common, stands.segments, m + more, M + more)
            np.minimum.at(least, stands.segment_owner, rows)
        return least

    def arcs(
        self, pose: ArrayLike, points: ArrayLike, volume: SafetyVolume, radius: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """(center (n,), half width (n,)) [rad] of the arm angles that each point (n, 3) forbids,
        exactly."""
        swing, stands = self._obstacles("arcs", pose, points, volume, radius)
        if len(stands.points) != stands.count:
            raise InvalidInput(
                "arcs: expected points (n, 3), which forbid one arc each; shapes: see `forbidden`"
            )
        return self._point_arcs(swing, stands, volume)

    def forbidden(
        self, pose: ArrayLike, points: Any, volume: SafetyVolume, radius: ArrayLike = 0.0
    ) -> np.ndarray:
        """(k, 2): the arm angles at which some obstacle is inside the volume, as merged arcs
        (start, end), start in [-pi, pi); one arc of a whole turn where none is free.

        points      (n, 3), segments (n, 2, 3), or shapes (`lw.collision.Sphere`, `Capsule`, ...).
                    Points, spheres, segments and capsules are exact; other shapes are covered by
                    capsules (see `around.around`)
        """
        swing, stands = self._obstacles("forbidden", pose, points, volume, radius)
        return self.forbidden_at(swing, stands, volume)

    def forbidden_at(self, swing: np.ndarray, stands: Around, volume: SafetyVolume) -> np.ndarray:
        """As `forbidden`, from what `swing` gives, without further questions."""
        if not len(stands.segments):
            return (
                merged(*self._point_arcs(swing, stands, volume))
                if len(stands)
                else np.empty((0, 2))
            )
        start, width = positive_arcs(self._depth_of(swing, stands, volume), len(stands.segments))
        if len(stands.points):
            center, half = self._point_arcs(swing, stands, volume)
            wide = half > 0.0
            start = np.concatenate([start, wrapped(center[wide] - half[wide])])
            width = np.concatenate([width, 2.0 * half[wide]])
        return joined(start, width)

    def _point_arcs(
        self, swing: np.ndarray, stands: Around, volume: SafetyVolume
    ) -> tuple[np.ndarray, np.ndarray]:
        more = stands.point_radius
        rows = _filled((len(stands.points), 13), swing)
        return self._call("arcs", rows, stands.points, volume.minimum + more, volume.maximum + more)

    def _depth_of(self, swing: np.ndarray, stands: Around, volume: SafetyVolume) -> Depth:
        ends = stands.segments
        m = volume.minimum + stands.segment_radius
        M = volume.maximum + stands.segment_radius

        def depth(
            which: np.ndarray, angle: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return self._call(
                "depth", _filled((len(which), 13), swing), angle, ends[which], m[which], M[which]
            )

        return depth

    def single_point_correction(
        self, pose: ArrayLike, point: ArrayLike, volume: SafetyVolume
    ) -> float:
        """The paper's turn of the elbow away from one point, corrected;
        approximate (see `forbidden`).

        Source: [Simas2022] eqs. 18-19. Corrected: the turning radius of the link's foot point is
        its distance from its own projection on the line shoulder-wrist, the obstacle's direction is
        measured from its own projection, the elbow's allowed radius (not its distance) counts, and
        the solid with the least clearance decides.
        """
        p = finite(point, (3,), "single_point_correction: point")
        S, E, W = self.points(pose)
        return correction(S, E, W, p, volume)

    def limits_free(self, pose: ArrayLike) -> list[np.ndarray]:
        """Of each of the eight branches the arm angles (k, 2) that joint limits allow, as arcs
        (start, end), exactly: see joint_limits.py."""
        T = one_pose("limits_free", pose)
        swing, chain = self.swing(T, "limits_free"), self.family.chain
        lower, upper = self._joint_limits()
        angles = joint_limits.SAMPLES
        _, elbows, _ = self._call("points", _filled((len(angles), 13), swing), angles)
        # exist wherever the wrist is in reach
        bends = self._call("configurations", T, angles[0])[0][[0, 4], 3]
        breaks: list[float] = []
        for q4 in bends.tolist():
            both = joint_limits.turns_of(chain, T, swing, elbows, q4)
            for joints, turns in zip((slice(0, 3), slice(4, 7)), both, strict=True):
                limits = list(zip(lower[joints].tolist(), upper[joints].tolist(), strict=True))
                breaks += joint_limits.breaks_of(chain.directions[joints], turns, limits)
        arcs = joint_limits.pieces(breaks)
        inside = self._within(T, arcs.mean(axis=1), lower, upper)
        return [joint_limits.runs(arcs, inside[:, k]) for k in range(inside.shape[1])]

    def free(
        self, pose: ArrayLike, points: Any, volume: SafetyVolume, radius: ArrayLike = 0.0
    ) -> list[np.ndarray]:
        """Of each of the eight branches the arm angles (k, 2) at which no obstacle is inside the
        volume and every joint within its limits, as arcs (start, end); obstacles as in
        `forbidden`."""
        forbidden = self.forbidden(pose, points, volume, radius)
        return [without(allowed, forbidden) for allowed in self.limits_free(pose)]

    def beyond_limits(self, pose: ArrayLike, q: ArrayLike) -> np.ndarray:
        """(k, 2): the arm angles that joint limits forbid on the branch of a configuration q (nq,)
        at the pose."""
        return without(WHOLE, self.limits_free(pose)[self.branch_of(pose, q)])

    def branch_of(self, pose: ArrayLike, q: ArrayLike) -> int:
        """Which row of `configurations` a configuration q (nq,) at the pose is; NotPossible where
        it is none of them, and where shoulder or wrist is singular, so that it belongs to no
        branch."""
        at = finite(q, (self.subject.nq,), "branch_of: q")
        rows = self.configurations(pose, float(self.arm_angle(at)))
        off = np.abs(wrapped(rows - at)[:, self.columns]).max(axis=1)
        least = float(np.min(off, where=np.isfinite(off), initial=np.inf))
        if not least <= SAME:
            told = (
                "none of the eight exists"
                if np.isinf(least)
                else f"the nearest one is {least:.3g} rad off"
            )
            raise NotPossible(
                f"branch_of: q is on no branch at that pose, {told}: shoulder or wrist is "
                "singular, or q is elsewhere"
            )
        return int(np.nanargmin(off))

    def along_branch(self, pose: ArrayLike, q: ArrayLike, arm_angle: float) -> np.ndarray:
        """The configuration (nq,) at an arm angle on the branch of q (nq,) at the pose: each joint
        in the whole turn nearest to q that its limits allow. Joints off the arm stay; NotPossible
        where the branch does not exist."""
        at = finite(q, (self.subject.nq,), "along_branch: q")
        angle = number(arm_angle, "along_branch: arm_angle")
        row = self.configurations(pose, angle)[self.branch_of(pose, at)][self.columns]
        if not np.isfinite(row).all():
            raise NotPossible(
                f"along_branch: the branch of q does not exist at arm angle {angle:.6g} rad"
            )
        lower, upper = self._joint_limits()
        near = at[self.columns] + wrapped(row - at[self.columns])
        for sign, beyond in ((-1.0, near - upper), (1.0, lower - near)):
            out = beyond > SAME
            turned = near + sign * TURN * np.ceil(np.where(out, beyond, 0.0) / TURN - SAME)
            fits = (turned >= lower - SAME) & (turned <= upper + SAME)
            near = np.where(out & fits, turned, near)
        within = np.clip(near, lower, upper)
        moved = at.copy()
        # on an end of a free arc a joint is at its limit but for roundoff
        moved[self.columns] = np.where(np.abs(within - near) <= SAME, within, near)
        return moved

    # how it is computed

    def _within(
        self, T: np.ndarray, angles: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> np.ndarray:
        """(n, 8): whether each branch exists and lies inside the limits,
        turned by whole turns where that helps."""
        q, residual, _ = self._call("configurations", T, angles)
        turned = q + TURN * np.ceil((lower - q) / TURN - 1e-12)
        turned = np.where(np.isfinite(lower), turned, q)
        return (residual <= SOLVED) & (turned <= upper + 1e-12).all(axis=-1)

    def _joint_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """(7,), (7,) of the arm."""
        limits = configurations.limits(self.subject)
        return np.array(limits.lower)[self.columns], np.array(limits.upper)[self.columns]

    def _obstacles(
        self, who: str, pose: ArrayLike, points: Any, volume: SafetyVolume, radius: ArrayLike
    ) -> tuple[np.ndarray, Around]:
        swing = self.swing(pose, who)
        if not isinstance(volume, SafetyVolume):
            raise InvalidInput(f"{who}: volume is {type(volume).__name__}, expected a SafetyVolume")
        stands = around(points, radius, who)
        if stands.finite().stale:
            raise InvalidInput(f"{who}: points or radius contain a number that is not finite")
        return swing, stands

    def swing(self, pose: ArrayLike, who: str) -> np.ndarray:
        """What a pose (4, 4) fixes, flat (13,): shoulder, u, v0, w0, D;
        refused where there is no arm angle."""
        T = as_doubles(pose, f"{who}: pose")
        if T.shape != (4, 4):
            raise InvalidInput(f"{who}: pose has shape {T.shape}, expected (4, 4)")
        swing, defect, room = self._call("swing", T)
        if not defect <= DEFECT:
            one_pose(who, T)  # says how far it is from a rigid motion
        shortest, longest = self.equations.reach
        if not shortest <= swing[12] <= longest:
            raise InvalidInput(
                f"{who}: the wrist would be {swing[12]:.4g} m from the shoulder, reach is "
                f"{shortest:.4g} .. {longest:.4g} m"
            )
        if not room > STRAIGHT:
            raise InvalidInput(
                f"{who}: the arm angle is undefined: the arm is straight, or the line from "
                "shoulder to wrist is "
                "parallel to `reference`"
            )
        return swing

    def _whole(self, q: np.ndarray) -> np.ndarray:
        if self.columns == list(range(self.subject.nq)):
            return q
        neutral = configurations.neutral(self.subject)
        whole = np.broadcast_to(neutral, (*q.shape[:-1], self.subject.nq)).copy()
        whole[..., self.columns] = q
        return whole

    def _call(self, name: str, *arguments: Any) -> Any:
        return self.equations.caller(name)(*arguments)


def _filled(shape: int | tuple[int, ...], value: Any) -> np.ndarray:
    """A value in rows of its own memory: a plain batch,
    which the kernel takes without another look."""
    rows = np.empty(shape)
    rows[...] = value
    return rows
