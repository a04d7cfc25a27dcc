"""Path descent: Levenberg and Marquardt in lanes, for linkages whose tracer nearly passes through many points.

A chain (chains.py) has its tracer at Q(p, theta), p its parameters, theta the crank's angle. Where theta is free it is
eliminated point by point: errors are taken across the path, so that the normal equations have the size of p whatever
the number of points; afterwards each angle moves along its path to the foot of its point. Where the timing is
prescribed, theta_j = theta_0 + timing_j: theta_0 is one more parameter, and both components of an error count.
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
from linkwork.synthesis.chains import CHAINS, FOUR, points_of
from linkwork.synthesis.descent import LEAST_PIVOT, LESS, MORE, padded

MOST_STEPS = 300
SOLVED = 1e-26
"""Sum of squares [task sizes] that nothing improves on."""
SLOW, PATIENCE = 1e-4, 6
"""So many accepted steps in a row that each take off less than this share end a start."""
APART = 1e9
"""What a posture costs that cannot be assembled."""


def path_point(p: SX, sides: SX, theta: SX, chain: str = FOUR) -> tuple[SX, SX, SX]:
    """(Qx, Qy, what must be positive): the tracer."""
    points, inside = points_of(chain, p, sides, theta)
    least = inside[0]
    for other in inside[1:]:
        least = fmin(least, other)
    return points["P"].re, points["P"].im, least


@functools.cache
def _parts(chain: str) -> casadi.Function:
    count = CHAINS[chain].parameters
    p, sides, theta = SX.sym("p", count), SX.sym("sides", CHAINS[chain].sides), SX.sym("theta")
    x, y, inside = path_point(p, sides, theta, chain)
    Q = casadi.vertcat(x, y)
    outputs = [Q, casadi.jacobian(Q, p), casadi.jacobian(Q, theta), inside]
    return casadi.Function("path", [p, sides, theta], outputs, {"cse": True})


def descend(
    start: np.ndarray,
    sides: np.ndarray,
    angles: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    chain: str = FOUR,
    timed: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(parameters (m, k), crank angles (m, n), sum of squares (m,)) from starts (m, k), sides (m,) or (m, s), angles
    (m, n); with `timed` angles keep their differences."""
    n = len(points)
    fill = padded(n) - n
    wide = np.concatenate([angles, np.zeros((len(angles), fill))], axis=-1)
    P = np.stack([points.real, points.imag], axis=-1)
    run = _scan(chain, n + fill, timed)(
        p=start,
        t=wide,
        trial=start,
        trial_t=wide,
        damping=1e-2,
        cost=1e300,
        slow=0.0,
        back=0.0,
        sides=sides[:, None] if sides.ndim == 1 else sides,
        points=np.concatenate([P, np.zeros((fill, 2))]),
        weights=np.concatenate([np.sqrt(weights), np.zeros(fill)]),
        steps=MOST_STEPS,
    )
    return run.state["p"], run.state["t"][:, :n], run.state["cost"]


@functools.cache
def _scan(chain: str, n: int, timed: bool) -> Scan:
    own = CHAINS[chain].parameters
    count = own + 1 if timed else own

    def step(k: SX, **s: SX) -> dict[str, Any]:
        p, t = s["trial"], s["trial_t"]
        H, g, cost = SX.zeros(count, count), SX.zeros(count), SX(0)
        kept = []
        for j in range(n):
            weight = s["weights"][j]
            Q, J, slope, inside = _parts(chain).call([p, s["sides"], t[j]])
            r = s["points"][j, :].T - Q
            length2 = casadi.sumsqr(slope) + 1e-20
            if timed:
                rows = [casadi.vertcat(J[i, :].T, slope[i]) * weight for i in range(2)]
                values = [r[i] * weight for i in range(2)]
            else:
                inverse = weight / casadi.sqrt(length2)
                rows = [(slope[0] * J[1, :] - slope[1] * J[0, :]).T * inverse]
                values = [(slope[0] * r[1] - slope[1] * r[0]) * inverse]
            for row, value in zip(rows, values):
                H, g = H + row @ row.T, g + row * value
            cost = cost + weight**2 * casadi.sumsqr(r) + if_else(logic_and(inside <= 0, weight > 0), APART, 0.0)
            kept.append((r, J, slope, length2))
        back = s["back"] > 0  # after a rejected step the last good place is evaluated again, with more damping
        better = logic_or(cost < s["cost"], back)
        decrease = (s["cost"] - cost) / fmax(s["cost"], 1e-300)
        damping = if_else(better, if_else(back, 1.0, LESS), MORE) * s["damping"]
        damping = fmin(fmax(damping, 1e-13), 1e10)
        scaled = SX(H)
        for i in range(count):
            scaled[i, i] = H[i, i] * (1.0 + damping) + 1e-13
        change = factored(scaled, LEAST_PIVOT).solve(g)
        dp = change[:own]
        moved = []
        for j, (r, J, slope, length2) in enumerate(kept):
            left = r - J @ dp
            dt = change[own] if timed else casadi.dot(slope, left) / length2
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

    state: dict[str, Any] = {"p": own, "t": n, "trial": own, "trial_t": n}
    state |= dict.fromkeys(("damping", "cost", "slow", "back"), ())
    parameters: dict[str, Any] = {"points": (n, 2), "weights": n, "sides": CHAINS[chain].sides}
    return keyed_scan(keys.key(__name__, chain, n, timed), [step], state, parameters, name="fit")
