"""Three axes that bring a point somewhere: the positioning half of Pieper's solution,
every geometry of the arm.

    P = Rz(t1) L1 Rz(t2) L2 Rz(t3) w,        L_i = Tz(d_i) Tx(a_i) Rx(alpha_i),  d_1 = 0
    x = L2 Rz(t3) w,    u = L1 Rz(t2) x:     |P|^2 = a1^2 + |x|^2 + 2 a1 (c2 x - s2 y)
                                             P_z   = s_alpha (s2 x + c2 y) + c_alpha z

Where two neighbouring axes are parallel or meet, quadratics suffice (two times two solutions);
otherwise the two equations eliminate t2 and leave a trigonometric polynomial of degree 2 in t3
(four solutions).
Source: [Pieper1968].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi
import numpy as np
from casadi import SX, atan2, cos, fabs, sin, sqrt

from linkwork.inverse.analytic.angles import FREE, Margin, any_of, both, either, root
from linkwork.inverse.analytic.candidates import CONTINUUM, ISOLATED, TANGENT, Candidate, Proposal
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.family import Family, Geometry, Rows
from linkwork.inverse.analytic.ideal import EXACT, Lines
from linkwork.inverse.analytic.roots import trigonometric_roots
from linkwork.inverse.analytic.screws import angle, distance
from linkwork.inverse.analytic.spherical import about_x, exact_cos, exact_sin
from linkwork.inverse.analytic.trigonometric import Trig
from linkwork.spatial import Transform

ALMOST = 1e-3
"""Deviation [rad, of the arm's length] below which axes count as parallel or meeting, nominally."""
DOUBLE = 3e-7
"""Two roots this near [rad] are one double root: rounding has taken the rest."""
SAME = 1e-6
"""The same for roots of a polynomial."""
NEAR_CIRCLE = 1e-2
"""How far from the unit circle a root may lie to be tried:
double roots are known to half the digits."""


@dataclass(frozen=True)
class Arm:
    """Lengths [m] and angles of the three axes; w: the point in the frame after the third angle."""

    a1: float
    alpha1: float
    a2: float
    alpha2: float
    d2: float
    w: tuple[float, float, float]
    scale: float

    @staticmethod
    def of(placed: Frames, w: tuple[float, float, float], scale: float) -> Arm:
        """The arm of the first three rows; w in axes of frame 2 turned by t3."""
        a, alpha, d = placed.a, placed.alpha, placed.d
        return Arm(
            float(a[0]), float(alpha[0]), float(a[1]), float(alpha[1]), float(d[1]), w, scale
        )

    @property
    def case(self) -> str:
        """Which geometry: the simplest that holds."""
        if exact_sin(self.alpha2) == 0.0:
            return "axes 2 and 3 parallel"
        if self.a1 == 0.0:
            return "axes 1 and 2 meet"
        if exact_sin(self.alpha1) == 0.0:
            return "axes 1 and 2 parallel"
        if self.a2 == 0.0:
            return "axes 2 and 3 meet"
        return "general"


def recognise(lines: Lines) -> Lines:
    """Three axes that place the frame's origin: not all parallel, the third not through it."""
    chain = lines.result
    tip = chain.home[:3, 3]
    if (
        float(np.linalg.norm(np.cross(tip - chain.points[2], chain.directions[2])))
        < EXACT * lines.length
    ):
        lines.deviations.append(
            (1.0, "the frame's origin lies on axis 3, which then does not place it")
        )
    if max(angle(chain, 0, 1), angle(chain, 1, 2)) < ALMOST:
        lines.deviations.append(
            (1.0, "axes 1, 2, 3 are parallel and do not place a point in space")
        )
    return idealised(lines)


def idealised(lines: Lines) -> Lines:
    """Axes 1, 2, 3 moved into a relation that they nearly have,
    where elimination would divide by almost nothing."""
    chain, L = lines.result, lines.length
    relations = {
        ("parallel", 1, 2): angle(chain, 1, 2),
        ("parallel", 0, 1): angle(chain, 0, 1),
        ("meeting", 1, 0): distance(chain, 0, 1) / L,
        ("meeting", 2, 1): distance(chain, 1, 2) / L,
    }
    (name, i, j), least = min(relations.items(), key=lambda relation: relation[1])
    return getattr(lines, name)(i, j) if least < ALMOST else lines


def canonical(lines: Lines) -> tuple[Frames, Arm]:
    """The DH frames of the ideal lines and the arm's numbers."""
    chain = lines.result
    placed = frames(chain, (1,) * 3, (1,) * 2)
    x, y, z = (float(e) for e in placed.tool[:3, 3])
    return placed, Arm.of(placed, (x, y, z + float(placed.d[2])), chain.length)


@dataclass
class Circle:
    """Solutions of A cos t + B sin t = C: both angles as (sin, cos),
    and what is to be said about them."""

    sines: tuple[SX, SX]
    cosines: tuple[SX, SX]
    exists: tuple[SX, SX]
    double: SX
    free: SX


def circle(A: SX | float, B: SX | float, C: SX, seed: SX, scale: float, margin: Margin) -> Circle:
    """A cos t + B sin t = C. `scale`: of A and B; below FREE of it every t is as good,
    and t = seed."""
    A, B, C = SX(A), SX(B), SX(C)
    r2 = A * A + B * B
    free = r2 <= (FREE * scale) ** 2
    r = sqrt(either(free, 1.0, r2))
    rest = (r - C) * (r + C)
    double = rest <= (DOUBLE * r) ** 2
    h = either(double, margin.spread * r, root(rest))
    along = either(double, either(C < 0, -r, r), C)
    inverse = 1.0 / (r * sqrt(along * along + h * h))
    s, c = [], []
    for sign in (1, -1):
        s.append(either(free, sin(seed), (B * along + sign * A * h) * inverse))
        c.append(either(free, cos(seed), (A * along - sign * B * h) * inverse))
    exists = either(free, fabs(C) <= FREE * scale, fabs(C) <= r * (1.0 + margin.slack))
    double = both(double, 1 - free)
    second = exists if margin.spread else both(exists, 1 - any_of(double, free))
    return Circle((s[0], s[1]), (c[0], c[1]), (exists, second), double, free)


def solve(arm: Arm, P: SX, seed: SX, margin: Margin, roots: SX | None = None) -> Proposal:
    """Four slots of (t1, t2, t3). `roots` (4, 2) are those of `polynomial`,
    for the general case alone.

    Distances for an empty answer: those of P from the origin of frame 0 and from axis 1.
    """
    case = arm.case
    rows = _CASES[case](arm, P, seed, margin) if roots is None else _general(arm, P, seed, roots)
    return Proposal(rows, (sqrt(casadi.sumsqr(P)), sqrt(P[0] ** 2 + P[1] ** 2)))


def _after_third(arm: Arm, s3: SX, c3: SX) -> SX:
    """x = L2 Rz(t3) w."""
    wx, wy, wz = arm.w
    turned = casadi.vertcat(c3 * wx - s3 * wy, s3 * wx + c3 * wy, wz)
    return about_x(arm.alpha2) @ turned + casadi.vertcat(arm.a2, 0, arm.d2)


def reach(arm: Arm) -> tuple[float, float, float]:
    """|x|^2 = A cos t3 + B sin t3 + C: |Rx w' + (a2, 0, d2)|^2 with w' = Rz(t3) w."""
    wx, wy, wz = arm.w
    s, c = exact_sin(arm.alpha2), exact_cos(arm.alpha2)
    # 2 (a2 w'_x + d2 (s w'_y + c w'_z))
    A, B = 2 * (arm.a2 * wx + arm.d2 * s * wy), 2 * (-arm.a2 * wy + arm.d2 * s * wx)
    return A, B, wx * wx + wy * wy + wz * wz + arm.a2**2 + arm.d2**2 + 2 * arm.d2 * c * wz


def _height(arm: Arm) -> tuple[float, float, float]:
    """z of x as A cos t3 + B sin t3 + C."""
    wx, wy, wz = arm.w
    s, c = exact_sin(arm.alpha2), exact_cos(arm.alpha2)
    return s * wy, s * wx, c * wz + arm.d2


def _first_angle(P: SX, ux: SX, uy: SX, seed: SX, scale: float) -> tuple[SX, SX]:
    """t1 that turns (ux, uy) onto (Px, Py), and whether P lies on axis 1, where every t1 does."""
    x, y = P[0] * ux + P[1] * uy, P[1] * ux - P[0] * uy
    free = P[0] ** 2 + P[1] ** 2 <= (FREE * scale) ** 2
    return either(free, seed, atan2(y, x)), free


def _row(theta: tuple[SX, SX, SX], exists: SX, circles: list[Circle], *free: SX) -> Candidate:
    double = any_of(*(c.double for c in circles))
    loose = any_of(*(c.free for c in circles), *free)
    multiplicity = SX(1)
    for c in circles:
        multiplicity = multiplicity * either(c.double, 2, 1)
    return Candidate(
        theta, exists, either(loose, CONTINUUM, either(double, TANGENT, ISOLATED)), multiplicity
    )


def _two_three_parallel(arm: Arm, P: SX, seed: SX, margin: Margin) -> list[Candidate]:
    """z is constant, which fixes t1; then a planar triangle: |V|^2 = x^2 + y^2 fixes t3."""
    s, c = exact_sin(arm.alpha1), exact_cos(arm.alpha1)
    _, _, z = _height(arm)
    A3, B3, C3 = reach(arm)
    shoulder = circle(-s * P[1], s * P[0], z - c * P[2], seed[0], arm.scale, margin)
    rows = []
    for i in range(2):
        s1, c1 = shoulder.sines[i], shoulder.cosines[i]
        ux, uy = c1 * P[0] + s1 * P[1], c1 * P[1] - s1 * P[0]
        vx, vy = ux - arm.a1, c * uy + s * P[2]
        v2 = vx * vx + vy * vy
        elbow = circle(A3, B3, v2 - (C3 - z * z), seed[2], arm.scale**2, margin)
        for k in range(2):
            s3, c3 = elbow.sines[k], elbow.cosines[k]
            x = _after_third(arm, s3, c3)
            centred = v2 <= (FREE * arm.scale) ** 2
            t2 = either(centred, seed[1], atan2(vy * x[0] - vx * x[1], vx * x[0] + vy * x[1]))
            exists = both(shoulder.exists[i], elbow.exists[k])
            rows.append(
                _row((atan2(s1, c1), t2, atan2(s3, c3)), exists, [shoulder, elbow], centred)
            )
    return rows


def _one_two_meet(arm: Arm, P: SX, seed: SX, margin: Margin) -> list[Candidate]:
    """|P| = |x| fixes t3, the height above axis 1 fixes t2."""
    s, c = exact_sin(arm.alpha1), exact_cos(arm.alpha1)
    A, B, C = reach(arm)
    elbow = circle(A, B, casadi.sumsqr(P) - C, seed[2], arm.scale**2, margin)
    rows = []
    for k in range(2):
        s3, c3 = elbow.sines[k], elbow.cosines[k]
        x = _after_third(arm, s3, c3)
        tilt = circle(x[1] * s, x[0] * s, P[2] - c * x[2], seed[1], arm.scale, margin)
        rows += _with_tilt(arm, P, seed, elbow, k, x, tilt)
    return rows


def _one_two_parallel(arm: Arm, P: SX, seed: SX, margin: Margin) -> list[Candidate]:
    """The height along axes 1 and 2 fixes t3, the distance from axis 1 fixes t2."""
    c = exact_cos(arm.alpha1)
    A, B, C = _height(arm)
    elbow = circle(A, B, c * P[2] - C, seed[2], arm.scale, margin)
    rows = []
    for k in range(2):
        s3, c3 = elbow.sines[k], elbow.cosines[k]
        x = _after_third(arm, s3, c3)
        far = (casadi.sumsqr(P) - arm.a1**2 - casadi.sumsqr(x)) / (2 * arm.a1)
        tilt = circle(x[0], -x[1], far, seed[1], arm.scale, margin)
        rows += _with_tilt(arm, P, seed, elbow, k, x, tilt)
    return rows


def _with_tilt(
    arm: Arm, P: SX, seed: SX, elbow: Circle, k: int, x: SX, tilt: Circle
) -> list[Candidate]:
    """Rows of both t2 of a circle, with the t1 that follows."""
    rows = []
    for i in range(2):
        s2, c2 = tilt.sines[i], tilt.cosines[i]
        ux, uy = _plan(arm, x, s2, c2)
        t1, on_axis = _first_angle(P, ux, uy, seed[0], arm.scale)
        exists = both(elbow.exists[k], tilt.exists[i])
        angles = (t1, atan2(s2, c2), atan2(elbow.sines[k], elbow.cosines[k]))
        rows.append(_row(angles, exists, [elbow, tilt], on_axis))
    return rows


def _plan(arm: Arm, x: SX, s2: SX, c2: SX) -> tuple[SX, SX]:
    """x and y of u = L1 Rz(t2) x."""
    s, c = exact_sin(arm.alpha1), exact_cos(arm.alpha1)
    return arm.a1 + c2 * x[0] - s2 * x[1], c * (s2 * x[0] + c2 * x[1]) - s * x[2]


def _two_three_meet(arm: Arm, P: SX, seed: SX, margin: Margin) -> list[Candidate]:
    """The distance of P from the meeting point of axes 2 and 3 fixes t1,
    the height along axis 2 then t3."""
    s, c = exact_sin(arm.alpha1), exact_cos(arm.alpha1)
    wx, wy, wz = arm.w
    gx, gy, gz = arm.a1, -s * arm.d2, c * arm.d2
    wrist = wx * wx + wy * wy + wz * wz
    C = casadi.sumsqr(P) + gx * gx + gy * gy + gz * gz - 2 * gz * P[2] - wrist
    first = circle(
        2 * (gx * P[0] + gy * P[1]), 2 * (gx * P[1] - gy * P[0]), C, seed[0], arm.scale**2, margin
    )
    A, B, C3 = _height(arm)
    rows = []
    for i in range(2):
        s1, c1 = first.sines[i], first.cosines[i]
        ux, uy = c1 * P[0] + s1 * P[1], c1 * P[1] - s1 * P[0]
        vx, vy, z = ux - arm.a1, c * uy + s * P[2], c * P[2] - s * uy
        last = circle(A, B, z - C3, seed[2], arm.scale, margin)
        for k in range(2):
            s3, c3 = last.sines[k], last.cosines[k]
            x = _after_third(arm, s3, c3)
            centred = vx * vx + vy * vy <= (FREE * arm.scale) ** 2
            t2 = either(centred, seed[1], atan2(vy * x[0] - vx * x[1], vx * x[0] + vy * x[1]))
            exists = both(first.exists[i], last.exists[k])
            rows.append(_row((atan2(s1, c1), t2, atan2(s3, c3)), exists, [first, last], centred))
    return rows


def polynomial(arm: Arm, P: SX) -> Trig:
    """The general case: f(t3) = sum_k a_k cos(k t3) + b_k sin(k t3), k = 0 .. 2, scaled.

    (|P|^2 - a1^2 - |x|^2)^2 / (4 a1^2) + (P_z - c_alpha z)^2 / s_alpha^2 - (|x|^2 - z^2) = 0
    """
    s, c, L = exact_sin(arm.alpha1), exact_cos(arm.alpha1), arm.scale
    A, B, C = reach(arm)
    Az, Bz, Cz = _height(arm)
    first = tuple(e / (2 * arm.a1 * L) for e in (-A, -B, casadi.sumsqr(P) - arm.a1**2 - C))
    second = tuple(e / (s * L) for e in (-c * Az, -c * Bz, P[2] - c * Cz))
    z = tuple(e / L for e in (Az, Bz, Cz))
    square = [sum(parts) for parts in zip(_squared(first), _squared(second), _squared(z))]
    square[0] -= C / L**2
    square[1] -= A / L**2
    square[2] -= B / L**2
    return Trig((square[0], square[1], square[3]), (SX(0), square[2], square[4]))


def _squared(e: tuple) -> list:
    """(A cos t + B sin t + C)^2 as [1, cos t, sin t, cos 2t, sin 2t]."""
    A, B, C = e
    return [(A * A + B * B) / 2 + C * C, 2 * A * C, 2 * B * C, (A * A - B * B) / 2, A * B]


def _general(arm: Arm, P: SX, seed: SX, roots: SX) -> list[Candidate]:
    """Rows of the four roots: t2 from both equations at once, then t1."""
    s, c = exact_sin(arm.alpha1), exact_cos(arm.alpha1)
    size = [sqrt(roots[k, 0] ** 2 + roots[k, 1] ** 2) for k in range(4)]
    near = [fabs(r - 1.0) < NEAR_CIRCLE for r in size]
    same = [
        [
            both(near[i], near[k], casadi.sumsqr(roots[i, :] - roots[k, :]) < SAME**2)
            for i in range(4)
        ]
        for k in range(4)
    ]
    rows = []
    for k in range(4):
        inverse = 1.0 / either(size[k] > 0, size[k], 1.0)
        c3, s3 = roots[k, 0] * inverse, roots[k, 1] * inverse
        x = _after_third(arm, s3, c3)
        m1 = (casadi.sumsqr(P) - arm.a1**2 - casadi.sumsqr(x)) / (2 * arm.a1)
        m2 = (P[2] - c * x[2]) / s
        centred = m1 * m1 + m2 * m2 <= (FREE * arm.scale) ** 2
        t2 = either(centred, seed[1], atan2(m2 * x[0] - m1 * x[1], m1 * x[0] + m2 * x[1]))
        ux, uy = _plan(arm, x, sin(t2), cos(t2))
        t1, on_axis = _first_angle(P, ux, uy, seed[0], arm.scale)
        double = any_of(SX(0), *(same[k][i] for i in range(4) if i != k))
        kind = either(any_of(centred, on_axis), CONTINUUM, either(double, TANGENT, ISOLATED))
        exists = both(near[k], *(1 - same[k][i] for i in range(k)))
        rows.append(Candidate((t1, t2, atan2(s3, c3)), exists, kind, either(double, 2, 1)))
    return rows


def reason(arm: Arm, what: str, distances: np.ndarray, axis: str = "axis 1") -> str:
    """Why a point cannot be reached, from the distances that `solve` gives: from the origin,
    from axis 1."""
    far, beside = (float(x) for x in distances)
    A, B, C = reach(arm)
    swing = float(np.hypot(A, B))
    inner, outer = max(0.0, C - swing) ** 0.5, (C + swing) ** 0.5
    a1 = abs(arm.a1)
    if far > outer + a1:
        return f"{what} {far:.4g} m from the foot of {axis}, reach is {outer + a1:.4g} m"
    if far < inner - a1:
        return f"{what} {far:.4g} m from the foot of {axis}, needs >= {inner - a1:.4g} m"
    offset = abs(_height(arm)[2])
    if arm.case == "axes 2 and 3 parallel" and exact_cos(arm.alpha1) == 0.0 and beside < offset:
        return f"{what} {1e3 * beside:.4g} mm from {axis}, needs >= {1e3 * offset:.4g} mm"
    return f"{what} {far:.4g} m from the foot of {axis} lies in a hole of the workspace"


def determinant(arm: Arm, theta: SX) -> SX:
    """det of the Jacobian (3, 3) of the point, canonical axes [m^3]:
    the triple product of its three velocities.

    z_i x (P - O_i), i = 1, 2, 3, seen in frame 1 before its twist, where z_1 = (0, s, c) and O_2 =
    0
    """
    s2, c2, s3, c3 = casadi.sin(theta[1]), cos(theta[1]), sin(theta[2]), cos(theta[2])
    x = _after_third(arm, s3, c3)
    about2 = casadi.vertcat(c2 * x[0] - s2 * x[1], s2 * x[0] + c2 * x[1], x[2])
    s1, c1 = exact_sin(arm.alpha1), exact_cos(arm.alpha1)
    first = casadi.cross(casadi.vertcat(0, s1, c1), about2 + casadi.vertcat(arm.a1, 0, 0))
    second = casadi.cross(casadi.vertcat(0, 0, 1), about2)
    axis3 = about_x(arm.alpha2) @ casadi.vertcat(0, 0, 1)
    third = casadi.cross(axis3, x - casadi.vertcat(arm.a2, 0, arm.d2))
    third = casadi.vertcat(c2 * third[0] - s2 * third[1], s2 * third[0] + c2 * third[1], third[2])
    return casadi.dot(first, casadi.cross(second, third))


_CASES: dict[str, Callable[[Arm, SX, SX, Margin], list[Candidate]]] = {
    "axes 2 and 3 parallel": _two_three_parallel,
    "axes 1 and 2 meet": _one_two_meet,
    "axes 1 and 2 parallel": _one_two_parallel,
    "axes 2 and 3 meet": _two_three_meet,
}


class ThreeAxes(Family):
    name, title = "positioning_3r", "three axes that place a point"
    axes, rank, geometry = 3, 12, Geometry(recognise, canonical)
    slots, explained, position = 4, 2, True
    size: Arm

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        if self.size.case != "general":
            return Rows(*self.kernel_of("closed_form_points")(target, q0))
        roots = trigonometric_roots(self.kernel_of("quartic_of_points")(target))
        return Rows(*self.kernel_of("closed_form_points_of_roots")(target, q0, roots))

    def quartic(self, p: SX) -> SX:
        return polynomial(self.size, self.canonical.point(p)).pairs()

    def traced(self, goal: Transform, q0: SX, roots: SX | None = None) -> Proposal:
        P, seed = self.canonical.point(goal.p), self.canonical.angles(q0)
        return self.canonical.rows(solve(self.size, P, seed, self.margin, roots))

    def reason(self, distances: np.ndarray) -> str:
        return reason(self.size, "target", distances)

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]]:
        return determinant(self.size, theta), {}
