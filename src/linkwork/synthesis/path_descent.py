"""Path descent: Levenberg and Marquardt in lanes, for four-bars whose tracer nearly passes through many points.

Nine numbers make a four-bar and its path: A, the ground vector G = D - A, crank a, coupler b, rocker c, and the tracer
p in the coupler's axes. With the crank at theta

    B = A + a exp(i theta),   R = D - B,   k = (|R|^2 + b^2 - c^2) / (2 b)
    e = R (k + i side sqrt(|R|^2 - k^2)) / |R|^2,     Q = B + p e

The crank's angle at each point is eliminated: errors are taken across the path, so that the normal equations are 9 by 9
whatever the number of points; afterwards each angle moves along its path to the foot of its point.
Source: [Golub1973] for the projection, [Marquardt1963] for the damping.
"""

from __future__ import annotations

import functools
from typing import Any

import casadi
import numpy as np
from casadi import SX, fmax, fmin, if_else, logic_and, logic_not, logic_or

from linkwork.engine import keys
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.spatial.linear import factored
from linkwork.synthesis.descent import LEAST_PIVOT, LESS, MORE, padded

PARAMETERS = 9
"""Ax, Ay, Gx, Gy, a, b, c, px, py."""
MOST_STEPS = 300
SOLVED = 1e-26
"""Sum of squares [task sizes] that nothing improves on."""
SLOW, PATIENCE = 1e-4, 6
"""So many accepted steps in a row that each take off less than this share end a start."""
APART = 1e9
"""What a posture costs that cannot be assembled."""


def path_point(p: SX, side: SX, theta: SX) -> tuple[SX, SX, SX]:
    """(Qx, Qy, |R|^2 - k^2): the tracer, and what must be positive."""
    Bx, By = p[0] + p[4] * casadi.cos(theta), p[1] + p[4] * casadi.sin(theta)
    Rx, Ry = p[0] + p[2] - Bx, p[1] + p[3] - By
    r2 = Rx * Rx + Ry * Ry
    k = (r2 + p[5] * p[5] - p[6] * p[6]) / (2 * p[5])
    inside = r2 - k * k
    h = side * casadi.sqrt(fmax(inside, 1e-12))
    inverse = 1.0 / fmax(r2, 1e-12)
    ex, ey = (Rx * k - Ry * h) * inverse, (Ry * k + Rx * h) * inverse
    return Bx + p[7] * ex - p[8] * ey, By + p[7] * ey + p[8] * ex, inside


@functools.cache
def _parts() -> casadi.Function:
    p, side, theta = SX.sym("p", PARAMETERS), SX.sym("side"), SX.sym("theta")
    x, y, inside = path_point(p, side, theta)
    Q = casadi.vertcat(x, y)
    outputs = [Q, casadi.jacobian(Q, p), casadi.jacobian(Q, theta), inside]
    return casadi.Function("path", [p, side, theta], outputs, {"cse": True})


def descend(
    start: np.ndarray, side: np.ndarray, angles: np.ndarray, points: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(parameters (m, 9), crank angles (m, n), sum of squares (m,)) from starts (m, 9), sides (m,), angles (m, n)."""
    n = len(points)
    fill = padded(n) - n
    wide = np.concatenate([angles, np.zeros((len(angles), fill))], axis=-1)
    P = np.stack([points.real, points.imag], axis=-1)
    run = _scan(n + fill)(
        p=start,
        t=wide,
        trial=start,
        trial_t=wide,
        damping=1e-2,
        cost=1e300,
        slow=0.0,
        back=0.0,
        side=side,
        points=np.concatenate([P, np.zeros((fill, 2))]),
        weights=np.concatenate([np.sqrt(weights), np.zeros(fill)]),
        steps=MOST_STEPS,
    )
    return run.state["p"], run.state["t"][:, :n], run.state["cost"]


@functools.cache
def _scan(n: int) -> Scan:
    def step(k: SX, **s: SX) -> dict[str, Any]:
        p, t = s["trial"], s["trial_t"]
        H, g, cost = SX.zeros(PARAMETERS, PARAMETERS), SX.zeros(PARAMETERS), SX(0)
        kept = []
        for j in range(n):
            weight = s["weights"][j]
            Q, J, slope, inside = _parts().call([p, s["side"], t[j]])
            r = s["points"][j, :].T - Q
            length2 = casadi.sumsqr(slope) + 1e-20
            inverse = weight / casadi.sqrt(length2)
            row = (slope[0] * J[1, :] - slope[1] * J[0, :]).T * inverse
            value = (slope[0] * r[1] - slope[1] * r[0]) * inverse
            H, g = H + row @ row.T, g + row * value
            cost = cost + weight**2 * casadi.sumsqr(r) + if_else(logic_and(inside <= 0, weight > 0), APART, 0.0)
            kept.append((r, J, slope, length2))
        back = s["back"] > 0  # after a rejected step the last good place is evaluated again, with more damping
        better = logic_or(cost < s["cost"], back)
        decrease = (s["cost"] - cost) / fmax(s["cost"], 1e-300)
        damping = if_else(better, if_else(back, 1.0, LESS), MORE) * s["damping"]
        damping = fmin(fmax(damping, 1e-13), 1e10)
        scaled = SX(H)
        for i in range(PARAMETERS):
            scaled[i, i] = H[i, i] * (1.0 + damping) + 1e-13
        dp = factored(scaled, LEAST_PIVOT).solve(g)
        moved = []
        for j, (r, J, slope, length2) in enumerate(kept):
            left = r - J @ dp
            dt = casadi.dot(slope, left) / length2
            moved.append(t[j] + fmin(fmax(dt, -0.5), 0.5))
        counted = logic_and(better, logic_not(back))
        slow = if_else(counted, if_else(decrease < SLOW, s["slow"] + 1, 0.0), s["slow"])
        solved = fmin(cost, s["cost"]) < SOLVED
        hopeless = logic_or(damping >= 1e8, slow >= PATIENCE)
        return {
            "p": if_else(better, p, s["p"]),
            "t": if_else(better, t, s["t"]),
            "trial": if_else(better, p + dp, s["p"]),
            "trial_t": if_else(better, casadi.vertcat(*moved), s["t"]),
            "damping": damping,
            "cost": if_else(better, cost, s["cost"]),
            "slow": slow,
            "back": logic_not(better),
            "stop": logic_or(solved, hopeless),
        }

    state: dict[str, Any] = {"p": PARAMETERS, "t": n, "trial": PARAMETERS, "trial_t": n}
    state |= dict.fromkeys(("damping", "cost", "slow", "back"), ())
    parameters: dict[str, Any] = {"points": (n, 2), "weights": n, "side": ()}
    return keyed_scan(keys.key(__name__, n), [step], state, parameters, name="fit")
