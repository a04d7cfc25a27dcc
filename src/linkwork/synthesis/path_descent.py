"""Path descent: Levenberg and Marquardt in lanes,
for linkages whose tracer nearly passes through many positions.

A chain (chains.py) has its tracer at Q(p, theta), p its parameters, theta the crank's angle. Where
theta is free it is eliminated point by point: errors are taken across the path, so that the normal
equations have the size of p whatever the number of points; afterwards each angle moves along its
path to the foot of its point. Where the timing is prescribed, theta_j = theta_0 + timing_j: theta_0
is one more parameter, and both components of an error count.

A pose has a third component: the chord between the direction d of the tracer's body, turned by the
angle phi at which the body is fixed to it (one more parameter), and the wanted one. Its slope is
that of the angle, so that the path is a curve in (x, y, angle), and two directions are across it.
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
from linkwork.polynomials.complex_pair import Complex
from linkwork.spatial.linear import factored
from linkwork.synthesis.chains import CHAINS, FOUR, points_of
from linkwork.synthesis.descent import LEAST_PIVOT, judged, padded

MOST_STEPS = 300
SOLVED = 1e-26
"""Sum of squares [task sizes] that nothing improves on."""
SLOW, PATIENCE = 1e-4, 6
"""So many accepted steps in a row that each take off less than this share end a start."""
APART = 1e9
"""What a posture costs that cannot be assembled."""


def path_point(p: SX, sides: SX, theta: SX, chain: str = FOUR) -> tuple[SX, SX, SX]:
    """(Qx, Qy, what must be positive): the tracer."""
    points, _, inside = points_of(chain, p, sides, Complex.direction(theta))
    return points["P"].re, points["P"].im, _least(inside)


def _least(values: list[SX]) -> SX:
    least = values[0]
    for other in values[1:]:
        least = fmin(least, other)
    return least


@functools.cache
def _parts(chain: str) -> casadi.Function:
    """(p, sides, theta) -> Q, dQ/dp, dQ/dtheta, direction d, slopes of its angle by p and theta,
    inside."""
    count = CHAINS[chain].parameters
    p, sides, theta = SX.sym("p", count), SX.sym("sides", CHAINS[chain].sides), SX.sym("theta")
    points, turn, inside = points_of(chain, p, sides, Complex.direction(theta))
    Q, d = (casadi.vertcat(z.re, z.im) for z in (points["P"], turn))
    angle = lambda x: d[0] * casadi.jacobian(d[1], x) - d[1] * casadi.jacobian(d[0], x)
    outputs = [
        Q,
        casadi.jacobian(Q, p),
        casadi.jacobian(Q, theta),
        d,
        angle(p),
        angle(theta),
        _least(inside),
    ]
    return casadi.Function("path", [p, sides, theta], outputs, {"cse": True})


def descend(
    start: np.ndarray,
    sides: np.ndarray,
    angles: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    chain: str = FOUR,
    timed: bool = False,
    turns: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(parameters (m, k), crank angles (m, n), sum of squares (m,)) from starts (m, k), sides (m,)
    or (m, s), angles (m, n); with `timed` angles keep their differences.

    turns (n,) complex are the wanted directions of the body, 0 for a point; parameters then end
    with phi.
    """
    n = len(points)
    fill = padded(n) - n
    wide = np.concatenate([angles, np.zeros((len(angles), fill))], axis=-1)
    pairs = lambda z: np.concatenate([np.stack([z.real, z.imag], axis=-1), np.zeros((fill, 2))])
    goals: dict[str, Any] = {"points": pairs(points)} | (
        {} if turns is None else {"turns": pairs(turns)}
    )
    run = _scan(chain, n + fill, timed, turns is not None)(
        p=start,
        t=wide,
        trial=start,
        trial_t=wide,
        damping=1e-2,
        cost=1e300,
        slow=0.0,
        back=0.0,
        sides=sides[:, None] if sides.ndim == 1 else sides,
        weights=np.concatenate([np.sqrt(weights), np.zeros(fill)]),
        steps=MOST_STEPS,
        **goals,
    )
    return run.state["p"], run.state["t"][:, :n], run.state["cost"]


def _errors(s: dict[str, SX], chain: str, posed: bool, j: int) -> tuple[SX, SX, SX, SX, SX]:
    """(error, by parameters, by the crank's angle, cost, inside) of position j: two components,
    of poses three."""
    p, weight = s["trial"], s["weights"][j]
    count = CHAINS[chain].parameters
    Q, J, slope, d, J_turn, slope_turn, inside = _parts(chain).call(
        [p[:count], s["sides"], s["trial_t"][j]]
    )
    r = s["points"][j, :].T - Q
    cost = casadi.sumsqr(r)
    if posed:
        wanted = s["turns"][j, :].T
        there = casadi.sumsqr(wanted)  # 1, or 0 for a point
        c, sn = casadi.cos(p[count]), casadi.sin(p[count])
        d = casadi.vertcat(d[0] * c - d[1] * sn, d[0] * sn + d[1] * c) * there
        cost = cost + casadi.sumsqr(wanted - d)
        J = casadi.vertcat(casadi.horzcat(J, SX.zeros(2, 1)), there * casadi.horzcat(J_turn, 1.0))
        slope = casadi.vertcat(slope, there * slope_turn)
        r = casadi.vertcat(r, d[0] * wanted[1] - d[1] * wanted[0])
    return (
        r,
        J,
        slope,
        weight**2 * cost + if_else(logic_and(inside <= 0, weight > 0), APART, 0.0),
        weight,
    )


def _across(slope: SX) -> list[SX]:
    """Unit vectors across a slope of two or three components."""
    flat = 1.0 / casadi.sqrt(casadi.sumsqr(slope[:2]) + 1e-20)
    first = casadi.vertcat(-slope[1] * flat, slope[0] * flat)
    if slope.numel() == 2:
        return [first]
    first = casadi.vertcat(first, 0.0)
    second = casadi.cross(slope, first) / casadi.sqrt(casadi.sumsqr(slope) + 1e-20)
    return [first, second]


@functools.cache
def _scan(chain: str, n: int, timed: bool, posed: bool = False) -> Scan:
    parameters_count = CHAINS[chain].parameters + posed
    count = parameters_count + timed

    def step(k: SX, **s: SX) -> dict[str, Any]:
        p, t = s["trial"], s["trial_t"]
        H, g, cost = SX.zeros(count, count), SX.zeros(count), SX(0)
        kept = []
        for j in range(n):
            r, J, slope, of_position, weight = _errors(s, chain, posed, j)
            if timed:
                rows = [casadi.vertcat(J[i, :].T, slope[i]) * weight for i in range(r.numel())]
                values = [r[i] * weight for i in range(r.numel())]
            else:
                across = [weight * u for u in _across(slope)]
                rows = [J.T @ u for u in across]
                values = [casadi.dot(u, r) for u in across]
            for row, value in zip(rows, values):
                H, g = H + row @ row.T, g + row * value
            cost = cost + of_position
            kept.append((r, J, slope))
        back, better, decrease, damping = judged(s, cost)
        scaled = SX(H)
        for i in range(count):
            scaled[i, i] = H[i, i] * (1.0 + damping) + 1e-13
        change = factored(scaled, LEAST_PIVOT).solve(g)
        dp = change[:parameters_count]
        moved = []
        for j, (r, J, slope) in enumerate(kept):
            left = r - J @ dp
            dt = (
                change[parameters_count]
                if timed
                else casadi.dot(slope, left) / (casadi.sumsqr(slope) + 1e-20)
            )
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

    state: dict[str, Any] = {"p": parameters_count, "t": n, "trial": parameters_count, "trial_t": n}
    state |= dict.fromkeys(("damping", "cost", "slow", "back"), ())
    parameters: dict[str, Any] = {"points": (n, 2), "weights": n, "sides": CHAINS[chain].sides}
    parameters |= {"turns": (n, 2)} if posed else {}
    return keyed_scan(
        keys.key(__name__, chain, n, timed, posed), [step], state, parameters, name="fit"
    )
