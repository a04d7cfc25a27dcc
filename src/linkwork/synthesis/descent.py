"""Descent: Levenberg and Marquardt in lanes, for four-bars that nearly meet many positions.

Nine numbers make a four-bar: ground pivots A and D, the coupler's arms w to B and w + b to C
(in the coupler's own axes, b along them), crank a and rocker c. At position j, with the coupler
turned to exp(i t_j), both links have errors

    f1 = |P_j + w u_j - A| - a,      f2 = |P_j + (w + b) u_j - D| - c

A point leaves t_j free: it is eliminated by projecting both errors across its own direction, so
that the normal equations are 9 by 9 whatever the number of positions. What remains is divided by
how much of it a shift of the point
makes: the distance of the point from the curve, to first order. (Undivided, two equal dyads would
meet any point.) A pose has its t_j given up to one common angle, which is the tenth number.
Source: [Golub1973] for the projection, [Marquardt1963] for the damping.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX, fmax, fmin, if_else, logic_and, logic_not, logic_or

from linkwork.engine import keys
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.spatial.linear import factored

PARAMETERS = 10
"""Ax, Ay, Dx, Dy, wx, wy, b, a, c, and the common angle of the poses."""
SIZES = (8, 12, 16, 24, 32, 48, 64)
"""Numbers of positions that there is code for; a task is padded with positions of weight zero."""
MOST_STEPS = 400
SOLVED = 1e-24
"""Sum of squares [task sizes] that nothing improves on."""
LESS, MORE = 0.2, 5.0
"""Damping after a good and after a rejected step."""
LEAST_PIVOT = 1e-200
NEVER = 1e-6
"""Both links nearly parallel and alike: keeps the quotient finite."""
SLOW = 1e-6
"""Relative decrease of an accepted step below which it is counted as no progress."""


def padded(n: int) -> int:
    """The number of positions of the code that takes n."""
    return next((size for size in SIZES if size >= n), 0)


def judged(s: dict[str, SX], cost: SX) -> tuple[SX, SX, SX, SX]:
    """(back, better, decrease, damping) of a trial of Levenberg-Marquardt that costs this much.

    After a rejected step the last good place is evaluated again (back), with more damping.
    """
    back = s["back"] > 0
    better = logic_or(cost < s["cost"], back)
    decrease = (s["cost"] - cost) / fmax(s["cost"], 1e-300)
    damping = if_else(better, if_else(back, 1.0, LESS), MORE) * s["damping"]
    return back, better, decrease, fmin(fmax(damping, 1e-13), 1e10)


def descend(
    start: np.ndarray,
    angles: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    posed: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(parameters (m, 10), angles (m, n), sum of squares (m,)) from starts (m, 10) and (m, n),
    for points (n,) complex.

    weights (n,); posed (n,) True where the angle is given (then `angles` are relative to the common
    one).
    """
    n = len(points)
    size = padded(n)
    fill = size - n
    P = np.stack([points.real, points.imag], axis=-1)
    run = _scan(size, bool(posed.any()))(
        p=start,
        t=np.concatenate([angles, np.zeros((len(angles), fill))], axis=-1),
        trial=start,
        trial_t=np.concatenate([angles, np.zeros((len(angles), fill))], axis=-1),
        damping=1e-2,
        cost=1e300,
        slow=0.0,
        back=0.0,
        points=np.concatenate([P, np.zeros((fill, 2))]),
        weights=np.concatenate([np.sqrt(weights), np.zeros(fill)]),
        free=np.concatenate([1.0 - posed, np.zeros(fill)]),
        steps=MOST_STEPS,
    )
    return run.state["p"], run.state["t"][:, :n], run.state["cost"]


@dataclass
class _PointError:
    """What one point says: errors f of both arms' lengths, their rows over the parameters,
    slopes along its angle."""

    f: list[SX]
    rows: list[SX]
    slopes: list[SX]
    ends: tuple[SX, SX]
    lengths: list[SX]

    def __post_init__(self) -> None:
        self.length2 = self.slopes[0] ** 2 + self.slopes[1] ** 2 + 1e-30

    def without_angle(self) -> tuple[SX, SX, SX]:
        """(row, error, error along the angle) of the part that no turn of the point's angle
        changes."""
        f, rows, slopes, ends, lengths = self.f, self.rows, self.slopes, self.ends, self.lengths
        inverse = 1.0 / casadi.sqrt(self.length2)
        across = [-slopes[1] * inverse, slopes[0] * inverse]
        # how far the point itself is off: the error across,
        # over how much of it a shift of the point makes
        shift = across[0] * ends[0] / lengths[0] + across[1] * ends[1] / lengths[1]
        inverse_shift = 1.0 / casadi.sqrt(casadi.sumsqr(shift) + NEVER**2)
        across = [x * inverse_shift for x in across]
        projected = across[0] * rows[0] + across[1] * rows[1]
        value = across[0] * f[0] + across[1] * f[1]
        return projected, value, (slopes[0] * f[0] + slopes[1] * f[1]) * inverse

    def turn(self, dp: SX) -> SX:
        """The best change of the angle once the parameters change by dp."""
        change = [self.f[i] + casadi.dot(self.rows[i], dp) for i in range(2)]
        return -(self.slopes[0] * change[0] + self.slopes[1] * change[1]) / self.length2


def _point_error(
    p: SX, angle: SX, point: SX, weight: SX, free: SX, with_poses: bool
) -> _PointError:
    A, D, w = p[0:2], p[2:4], p[4:6]
    b, a, c = p[6], p[7], p[8]
    u = casadi.vertcat(casadi.cos(angle), casadi.sin(angle))
    z = casadi.vertcat(w[0] + b, w[1])
    turned = lambda v: casadi.vertcat(v[0] * u[0] - v[1] * u[1], v[0] * u[1] + v[1] * u[0])
    arms = turned(w), turned(z)
    ends = point + arms[0] - A, point + arms[1] - D
    lengths = [casadi.sqrt(casadi.sumsqr(v) + 1e-30) for v in ends]
    f = [weight * (lengths[0] - a), weight * (lengths[1] - c)]
    rows, slopes = [], []
    for i in range(2):
        m = ends[i] * (weight / lengths[i])
        on_w = casadi.vertcat(m[0] * u[0] + m[1] * u[1], m[1] * u[0] - m[0] * u[1])
        row = SX.zeros(PARAMETERS if with_poses else PARAMETERS - 1)
        row[2 * i : 2 * i + 2] = -m
        row[4:6] = on_w
        if i == 1:
            row[6] = on_w[0]
        row[7 + i] = -weight
        slope = m[1] * arms[i][0] - m[0] * arms[i][1]  # along the turn
        if with_poses:
            row[9] = if_else(free > 0, 0.0, slope)
        rows.append(row)
        slopes.append(slope)
    return _PointError(f, rows, slopes, ends, lengths)


@functools.cache
def _scan(n: int, with_poses: bool) -> Scan:
    count = PARAMETERS if with_poses else PARAMETERS - 1

    def step(k: SX, **s: SX) -> dict[str, Any]:
        p, t = s["trial"], s["trial_t"]
        # the normal equations, every angle that is free eliminated from its point's two
        H, g, cost = SX.zeros(count, count), SX.zeros(count), SX(0)
        errors = []
        for j in range(n):
            free = s["free"][j]
            angle = t[j] + (if_else(free > 0, 0.0, p[9]) if with_poses else 0.0)
            error = _point_error(p, angle, s["points"][j, :].T, s["weights"][j], free, with_poses)
            projected, value, along = error.without_angle()
            rows, f = error.rows, error.f
            if with_poses:
                first = if_else(free > 0, projected, rows[0])
                second = if_else(free > 0, 0.0, 1.0) * rows[1]
                value_first = if_else(free > 0, value, f[0])
                value_second = if_else(free > 0, 0.0, f[1])
                H = H + first @ first.T + second @ second.T
                g = g + first * value_first + second * value_second
            else:
                H, g = H + projected @ projected.T, g + projected * value
            of_point = value**2 + along**2
            cost = cost + (
                if_else(free > 0, of_point, f[0] ** 2 + f[1] ** 2) if with_poses else of_point
            )
            errors.append(error)

        # a step of Levenberg and Marquardt, and the free angles after it
        back, better, decrease, damping = judged(s, cost)
        scaled = SX(H)
        for i in range(count):
            scaled[i, i] = H[i, i] * (1.0 + damping) + 1e-14
        dp = factored(scaled, LEAST_PIVOT).solve(-g)
        moved_t = []
        for j, error in enumerate(errors):
            dt = fmin(fmax(error.turn(dp), -0.6), 0.6)
            moved_t.append(t[j] + if_else(s["free"][j] > 0, dt, 0.0))
        dp = casadi.vertcat(dp, SX.zeros(PARAMETERS - count))
        # what is kept, and when it ends
        new_p, new_t = p + dp, casadi.vertcat(*moved_t)
        kept_p, kept_t = if_else(better, p, s["p"]), if_else(better, t, s["t"])
        counted = logic_and(better, logic_not(back))
        slow = if_else(counted, if_else(decrease < SLOW, s["slow"] + 1, 0.0), s["slow"])
        solved = fmin(cost, s["cost"]) < SOLVED
        hopeless = logic_or(damping >= 1e10, slow >= 3)
        return {
            "p": kept_p,
            "t": kept_t,
            "trial": if_else(better, new_p, s["p"]),
            "trial_t": if_else(better, new_t, s["t"]),
            "damping": damping,
            "cost": if_else(better, cost, s["cost"]),
            "back": logic_not(better),
            "slow": slow,
            "stop": logic_or(solved, hopeless),
        }

    state: dict[str, Any] = {
        "p": PARAMETERS,
        "t": n,
        "trial": PARAMETERS,
        "trial_t": n,
        "damping": (),
        "cost": (),
        "slow": (),
        "back": (),
    }
    parameters: dict[str, Any] = {"points": (n, 2), "weights": n, "free": n}
    return keyed_scan(keys.key(__name__, n, with_poses), [step], state, parameters, name="fit")
