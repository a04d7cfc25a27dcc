"""Elbow: the arm angle of a seven-axis arm with spherical shoulder and wrist, as its seventh coordinate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import as_doubles, finite, finite_rows, number
from linkwork.avoidance.arcs import TURN, merged, wrapped
from linkwork.avoidance.volume import SafetyVolume, Swing, clearance, elbow_at, forbidden_arc
from linkwork.engine.compile import compile
from linkwork.engine.kernel import Context
from linkwork.errors import ComputationError, InvalidInput, NotPossible
from linkwork.inverse.analytic import seven_axis
from linkwork.inverse.analytic.candidates import Found, orthonormal, pose_error, true_pose
from linkwork.inverse.analytic.classify import classified
from linkwork.inverse.analytic.solve import DEFECT, one_pose
from linkwork.inverse.analytic.spherical import about_x, about_z
from linkwork.spatial import Transform
from linkwork.subject import RobotLike, subject_of

STRAIGHT = 1e-9
"""An elbow nearer to the line shoulder-wrist than this part of the arm has no arm angle."""
SOLVED = 1e-9
"""Residual of forward kinematics [of the arm's length, rad] up to which a configuration counts."""
LIMIT_SAMPLES = 720
"""Arm angles between which joint limits are looked for; a free arc shorter than half a degree can be missed."""


class Elbow:
    """The elbow of an arm whose axes 1-3 meet in the shoulder and axes 5-7 in the wrist.

    frame       the tool's frame, whose pose the arm angle leaves as it is
    reference   direction in world axes; the arm angle is zero where the elbow points towards it, and grows with the
                turn about the line from shoulder to wrist

    Source: [Simas2022] sections 3.1-3.3, without its intermediate solution for six axes.
    """

    def __init__(self, robot: RobotLike, frame: str, reference: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self.subject = subject_of(robot, "Elbow")
        found = classified(self.subject, frame)
        if found.family != "seven_axis" or found.pose is None or not found.exact:
            off = f"its axes are off by {found.deviation:.3g}" if found.family == "seven_axis" else ""
            why = off or found.others.get("seven_axis", found.title)
            raise NotPossible(
                f'Elbow: robot "{self.subject.model.name}", frame "{frame}" is no arm with spherical '
                f"shoulder and wrist: {why}"
            )
        self.frame, self.family = frame, found.pose
        direction = finite(reference, (3,), "Elbow: reference")
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            raise InvalidInput("Elbow: reference is (0, 0, 0), expected a direction")
        self.reference = direction / length
        self._arm = _Arm(self.family, self.reference)
        self._columns = list(self.family.chain.columns)

    @property
    def upper_length(self) -> float:
        """Shoulder to elbow [m]."""
        return self._arm.upper

    @property
    def fore_length(self) -> float:
        """Elbow to wrist [m]."""
        return self._arm.fore

    def arm_angle(self, q: ArrayLike) -> np.ndarray:
        """The arm angle (...) [rad] of configurations (..., nq); undefined, so refused, for a straight arm."""
        rows = finite_rows(q, self.subject.nq, "arm_angle: q")
        angle, room = self._call("arm_angle", rows[..., self._columns])
        if np.any(room < STRAIGHT):
            raise ComputationError(
                "arm_angle: the arm is straight (or its line is parallel to `reference`): the elbow lies on the line "
                "from shoulder to wrist, and the arm angle is undefined"
            )
        return angle

    def configurations(self, pose: ArrayLike, arm_angle: ArrayLike) -> np.ndarray:
        """(..., 8, nq): the eight configurations with the tool at `pose` (..., 4, 4) and the elbow at `arm_angle`
        (...) [rad]; NaN in rows that do not exist. Joints off the arm are at neutral."""
        T = as_doubles(pose, "configurations: pose")
        if T.ndim < 2 or T.shape[-2:] != (4, 4) or not np.isfinite(T).all():
            raise InvalidInput(f"configurations: pose has shape {T.shape}, expected finite (..., 4, 4)")
        angle = as_doubles(arm_angle, "configurations: arm_angle")
        q, residual, _ = self._call("configurations", T, angle)
        q[~(residual <= SOLVED)] = np.nan
        return self._whole(q)

    def points(self, pose: ArrayLike, arm_angle: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shoulder, elbow and wrist (3,) in world axes."""
        swing = self.swing(pose, "points")
        return self._call("points", swing, number(arm_angle, "points: arm_angle"))

    def nearest_clearance(
        self, swing: np.ndarray, arm_angle: float, points: np.ndarray, volume: SafetyVolume, radius: Any
    ) -> float:
        """The least clearance of all points, from what `swing` gives, without further questions [m]."""
        n = len(points)
        grown = (_filled(n, volume.minimum + radius), _filled(n, volume.maximum + radius))
        common = (_filled((n, 13), swing), _filled(n, arm_angle))
        return float(self._call("clearance", *common, points, *grown).min())

    def clearance(
        self, pose: ArrayLike, arm_angle: float, points: ArrayLike, volume: SafetyVolume, radius: ArrayLike = 0.0
    ) -> np.ndarray:
        """(n,): how far points (n, 3) stand outside the volume [m], negative inside; `radius` makes them spheres."""
        swing, at, grown = self._obstacles("clearance", pose, points, volume, radius)
        return self._call("clearance", swing, number(arm_angle, "clearance: arm_angle"), at, *grown)

    def arcs(
        self, pose: ArrayLike, points: ArrayLike, volume: SafetyVolume, radius: ArrayLike = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """(center (n,), half width (n,)) [rad] of the arm angles that each point (n, 3) forbids, exactly."""
        swing, at, grown = self._obstacles("forbidden", pose, points, volume, radius)
        return self._call("arcs", swing, at, *grown)

    def arcs_at(
        self, swing: np.ndarray, points: np.ndarray, volume: SafetyVolume, radius: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `arcs`, from what `swing` gives, without further questions."""
        n = len(points)
        grown = (_filled(n, volume.minimum + radius), _filled(n, volume.maximum + radius))
        return self._call("arcs", _filled((n, 13), swing), points, *grown)

    def forbidden(
        self, pose: ArrayLike, points: ArrayLike, volume: SafetyVolume, radius: ArrayLike = 0.0
    ) -> np.ndarray:
        """(k, 2): the arm angles at which some point (n, 3) lies inside the volume, as merged arcs (start, end), start
        in [-pi, pi); one arc of a whole turn where none is free."""
        return merged(*self.arcs(pose, points, volume, radius))

    def single_point_correction(self, pose: ArrayLike, point: ArrayLike, volume: SafetyVolume) -> float:
        """The paper's turn of the elbow away from one point, corrected; approximate (see `forbidden`).

        Source: [Simas2022] eqs. 18-19. Corrected: the turning radius of the link's foot point is its distance from its
        own projection on the line shoulder-wrist, the obstacle's direction is measured from its own projection, the
        elbow's allowed radius (not its distance) counts, and the solid with the least clearance decides.
        """
        p = finite(point, (3,), "single_point_correction: point")
        S, E, W = self.points(pose)
        return _correction(S, E, W, p, volume)

    def limits_free(self, pose: ArrayLike, samples: int = LIMIT_SAMPLES) -> list[np.ndarray]:
        """Of each of the eight branches the arm angles (k, 2) that joint limits allow, as arcs (start, end).

        Limits are crossed where a joint meets one of them; crossings are found by bisection to rounding.
        """
        T = one_pose("limits_free", pose)
        self.swing(T, "limits_free")
        lower, upper = (x[self._columns] for x in self._joint_limits())
        grid = np.linspace(-np.pi, np.pi, samples, endpoint=False)
        inside = self._within(T, grid, lower, upper)
        return [self._free_arcs(T, grid, inside[:, k], k, lower, upper) for k in range(inside.shape[1])]

    # how it is computed

    def _free_arcs(self, T, grid, inside, branch: int, lower, upper) -> np.ndarray:
        if inside.all():
            return np.array([[-np.pi, np.pi]])
        if not inside.any():
            return np.empty((0, 2))
        step = TURN / len(grid)
        changes = np.flatnonzero(inside != np.roll(inside, 1))  # between sample k - 1 and k
        low, high = grid[changes] - step, grid[changes].copy()
        enters = inside[changes]
        for _ in range(50):
            middle = (low + high) / 2
            there = self._within(T, middle, lower, upper)[:, branch] == enters
            high, low = np.where(there, middle, high), np.where(there, low, middle)
        crossing = np.where(enters, high, low)
        first = int(np.argmax(enters))
        order = np.roll(np.arange(len(changes)), -first)
        starts, ends = crossing[order][0::2], crossing[order][1::2]
        ends = starts + (ends - starts) % TURN
        arcs = np.stack([wrapped(starts), wrapped(starts) + (ends - starts)], axis=1)
        return arcs[np.argsort(arcs[:, 0])]

    def _within(self, T: np.ndarray, angles: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """(n, 8): whether each branch exists and lies inside the limits, turned by whole turns where that helps."""
        q, residual, _ = self._call("configurations", T, angles)
        turned = q + TURN * np.ceil((lower - q) / TURN - 1e-12)
        turned = np.where(np.isfinite(lower), turned, q)
        return (residual <= SOLVED) & (turned <= upper + 1e-12).all(axis=-1)

    def _joint_limits(self) -> tuple[np.ndarray, np.ndarray]:
        limits = configurations.limits(self.subject)
        return np.asarray(limits.lower, dtype=float), np.asarray(limits.upper, dtype=float)

    def _obstacles(self, who, pose, points, volume, radius):
        swing = self.swing(pose, who)
        at = finite_rows(points, 3, f"{who}: points")
        if not isinstance(volume, SafetyVolume):
            raise InvalidInput(f"{who}: volume is {type(volume).__name__}, expected a SafetyVolume")
        more = as_doubles(radius, f"{who}: radius")
        if not (np.isfinite(more).all() and (more >= 0.0).all()):
            raise InvalidInput(f"{who}: radius is {more.tolist()}, expected radii >= 0 m")
        return swing, at, (volume.minimum + more, volume.maximum + more)

    def swing(self, pose: ArrayLike, who: str) -> np.ndarray:
        """What a pose (4, 4) fixes, flat (13,): shoulder, u, v0, w0, D; refused where there is no arm angle."""
        T = as_doubles(pose, f"{who}: pose")
        if T.shape != (4, 4):
            raise InvalidInput(f"{who}: pose has shape {T.shape}, expected (4, 4)")
        swing, defect, room = self._call("swing", T)
        if not defect <= DEFECT:
            one_pose(who, T)  # says how far it is from a rigid motion
        shortest, longest = self._arm.reach
        if not shortest <= swing[12] <= longest:
            raise InvalidInput(
                f"{who}: the wrist would be {swing[12]:.4g} m from the shoulder, reach is "
                f"{shortest:.4g} .. {longest:.4g} m"
            )
        if not room > STRAIGHT:
            raise InvalidInput(
                f"{who}: the arm angle is undefined: the arm is straight, or the line from shoulder to wrist is "
                "parallel to `reference`"
            )
        return swing

    def _whole(self, q: np.ndarray) -> np.ndarray:
        if self._columns == list(range(self.subject.nq)):
            return q
        neutral = configurations.neutral(self.subject)
        whole = np.broadcast_to(neutral, (*q.shape[:-1], self.subject.nq)).copy()
        whole[..., self._columns] = q
        return whole

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._arm.kernel(name)(*arguments)


class _Arm:
    """The equations of the arm over symbols, and their kernels, each compiled when it is first asked for."""

    def __init__(self, family: Any, reference: np.ndarray) -> None:
        self.family, self.size = family, family.size
        self.base = np.array(family.canonical.placed.base, dtype=float)
        self.reference = casadi.DM(self.base[:3, :3].T @ reference)
        # The elbow: the foot of the shoulder on axis 4, in axes of frame 2 turned by theta3.
        axis4 = np.array(casadi.evalf(about_x(self.size.alpha[2])[:, 2])).ravel()
        corner = np.array([self.size.a3, 0.0, self.size.d3])
        self.to_elbow = corner - (corner @ axis4) * axis4
        to_wrist = np.array(casadi.evalf(seven_axis._from_shoulder(self.size, SX(0), SX(1)))).ravel()
        self.upper = float(np.linalg.norm(self.to_elbow))
        self.fore = float(np.linalg.norm(to_wrist - self.to_elbow))
        self.reach = seven_axis.reach(self.size)
        self._kernels: dict[str, Callable[..., Any]] = {}

    def kernel(self, name: str) -> Callable[..., Any]:
        if name not in self._kernels:
            trace, inputs = self._TRACES[name]
            kernel = compile(lambda *x: trace(self, *x), inputs, name=name)
            self._kernels[name] = kernel.caller(Context(f'robot "{self.family.chain.robot}"'))
        return self._kernels[name]

    def swing(self, goal: Transform) -> Swing:
        """The line shoulder-wrist and the directions across it, in canonical base axes."""
        P = goal.p
        D = casadi.sqrt(casadi.sumsqr(P))
        u = P / D
        across = SX(self.reference) - casadi.dot(SX(self.reference), u) * u
        v0 = across / casadi.sqrt(casadi.sumsqr(across))
        return Swing(SX.zeros(3), u, v0, casadi.cross(u, v0), D)

    def _swing(self, T: SX) -> tuple[SX, SX, SX]:
        """The swing in world axes, flat; the target's defect; and how far elbow and reference are from the line, of the
        arm and as a sine: 0 where the angle is undefined."""
        goal, defect = orthonormal(T)
        swing = self.swing(self.family.canonical.goal(goal))
        R, p = SX(self.base[:3, :3]), SX(self.base[:3, 3])
        cos_f = (self.upper**2 + swing.D**2 - self.fore**2) / (2 * self.upper * swing.D)
        room = casadi.fmin(casadi.sqrt(casadi.fmax(0, 1 - cos_f**2)), self._aside(swing))
        return casadi.vertcat(p, R @ swing.u, R @ swing.v0, R @ swing.w0, swing.D), defect, room

    def _arm_angle(self, q: SX) -> tuple[SX, SX]:
        """alpha = atan2(u . (v0 x v), v0 . v), v the elbow's part across the line. Second: 0 where it is undefined."""
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

        The solver's own swivel angle psi differs from the arm angle by a constant of the pose and of theta4's sign:
        psi = alpha + (direction of v0 in the target's basis) - (direction of the elbow in the arm's basis).
        """
        goal, defect = orthonormal(T)
        canonical = self.family.canonical
        target = canonical.goal(goal)
        seed = canonical.angles(SX(casadi.DM(self.family.rest)))
        swing = self.swing(target)
        space = seven_axis._space_basis(target.p)
        of_reference = casadi.atan2(casadi.dot(swing.v0, space[:, 2]), casadi.dot(swing.v0, space[:, 1]))
        margin = self.family.margin
        elbows = seven_axis._elbow(self.size, target.p, seed[3], margin)
        rows = []
        for i in range(2):
            arm = seven_axis._arm_basis(self.size, elbows.sines[i], elbows.cosines[i])
            elbow = SX(self.to_elbow)
            of_elbow = casadi.atan2(casadi.dot(elbow, arm[:, 2]), casadi.dot(elbow, arm[:, 1]))
            found = seven_axis.solve(self.size, target, seed, angle + of_reference - of_elbow, margin)
            rows += found.rows[4 * i : 4 * i + 4]
        q, residuals = [], []
        for row in canonical.rows(Found(rows, ())).rows:
            joints = casadi.vertcat(*[SX(t) for t in row.theta])
            joints = joints - 2 * casadi.pi * casadi.floor(joints / (2 * casadi.pi) + 0.5)
            residual = pose_error(
                true_pose(self.family.subject, self.family.chain, joints), goal, self.family.chain.length
            )
            q.append(joints.T)
            residuals.append(casadi.if_else(SX(row.exists) > 0, residual, 1.0))
        return casadi.vertcat(*q), casadi.vertcat(*residuals), defect

    def _points(self, flat: SX, angle: SX) -> tuple[SX, SX, SX]:
        swing = _of_flat(flat)
        wrist = swing.shoulder + swing.D * swing.u
        return swing.shoulder, elbow_at(swing, self.upper, self.fore, angle), wrist

    def _clearance(self, flat: SX, angle: SX, point: SX, minimum: SX, maximum: SX) -> SX:
        return clearance(*self._points(flat, angle), point, minimum, maximum)

    def _arcs(self, flat: SX, point: SX, minimum: SX, maximum: SX) -> tuple[SX, SX]:
        return forbidden_arc(_of_flat(flat), self.upper, self.fore, point, minimum, maximum)

    _TRACES: ClassVar[dict[str, tuple[Callable[..., Any], dict[str, Any]]]] = {
        "arm_angle": (_arm_angle, {"q": 7}),
        "configurations": (_configurations, {"pose": (4, 4), "arm_angle": ()}),
        "swing": (_swing, {"pose": (4, 4)}),
        "points": (_points, {"swing": 13, "arm_angle": ()}),
        "clearance": (
            _clearance,
            {"swing": 13, "arm_angle": (), "point": 3, "minimum": (), "maximum": ()},
        ),
        "arcs": (_arcs, {"swing": 13, "point": 3, "minimum": (), "maximum": ()}),
    }


def _of_flat(x: SX) -> Swing:
    return Swing(x[:3], x[3:6], x[6:9], x[9:12], x[12])


def _filled(shape: int | tuple[int, ...], value: Any) -> np.ndarray:
    """A value in rows of its own memory: a plain batch, which the kernel takes without another look."""
    rows = np.empty(shape)
    rows[...] = value
    return rows


def _correction(S: np.ndarray, E: np.ndarray, W: np.ndarray, point: np.ndarray, volume: SafetyVolume) -> float:
    """alpha = sign (gamma - beta) about the line S-W, by the law of cosines at the foot point of the worst solid."""
    solids = [(np.linalg.norm(point - E) - volume.maximum, E, volume.maximum)]
    for end in (S, W):
        along = E - end
        share = float((point - end) @ along / (along @ along))
        if 0.0 <= share <= 1.0:
            foot = end + share * along
            allowed = (1 - share) * volume.minimum + share * volume.maximum
            solids.append((np.linalg.norm(point - foot) - allowed, foot, allowed))
    worst, foot, allowed = min(solids, key=lambda solid: solid[0])
    if worst >= 0.0:
        return 0.0
    u = (W - S) / np.linalg.norm(W - S)
    across = lambda x: (x - S) - ((x - S) @ u) * u
    of_point, of_foot, of_elbow = across(point), across(foot), across(E)
    rho_c, rho_k = np.linalg.norm(of_point), np.linalg.norm(of_foot)
    apart = (foot - point) @ u
    cos_gamma = (rho_k**2 + rho_c**2 + apart**2 - allowed**2) / (2 * rho_k * rho_c)
    gamma = float(np.arccos(np.clip(cos_gamma, -1.0, 1.0)))
    cos_beta = of_elbow @ of_point / (np.linalg.norm(of_elbow) * rho_c)
    beta = float(np.arccos(np.clip(cos_beta, -1.0, 1.0)))
    side = float(np.cross(of_point, of_elbow) @ u)
    return (gamma - beta) * (1.0 if side >= 0.0 else -1.0)
