"""Reachability: the largest speeds along a path,
by one sweep back from its end and one forward from its start.

On an interval of length h the state x = (ds/dt)^2 goes from x to y = x + 2 h u with constant u =
d2s/dt2. Every limit is a row A <= m u + c z <= B, m >= 0, at a part p of the interval
(0: its beginning, 1: its end), where the state is z = (1 - p) x + p y, with A <= 0 <= B since the
robot can stand anywhere; times 2 h:

    2 h A <= P y - Q x <= 2 h B,      P = m + 2 h p c,      Q = m - 2 h (1 - p) c

While both factors are positive the upper limit bounds y by a rising function of x, the lower limit
x by a rising function of y. Such limits have one largest solution, which the two sweeps find,
provided that x stays below the crossings where a lower limit asks for more y than an upper one
grants. Where a factor is not positive, near a point without inertia, the row limits the speed
itself: both x and y stay below B / c (c > 0) or A / c (c < 0).
Source: [Pham2018], with x as state as in [Verscheure2009] and programs in closed form.
"""

from __future__ import annotations

from functools import cache

import casadi
import numpy as np
from casadi import SX

from linkwork.engine import keys
from linkwork.engine.compile import CompiledFunction
from linkwork.engine.compile import compile as compiled
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.errors import NotPossible

UNLIMITED = 1e30
PAIRS = 256
"""Of rows that one piece of code compares: all pairs of a humanoid at once would take seconds to
compile."""
NEVER = 1e200
"""A limit that no other crosses below UNLIMITED."""


def fastest(
    h: np.ndarray,
    m: np.ndarray,
    c: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    part: np.ndarray,
    largest: np.ndarray,
    start: float,
    end: float,
) -> np.ndarray:
    """x = (ds/dt)^2 (..., N + 1) at the grid points of a path of N intervals of lengths h (N,).

    lower <= m u + c z <= upper, each (..., N, rows), at the parts (rows,) of the interval; x <=
    largest (..., N + 1), x = start and end at the ends
    """
    rows, N = m.shape[-1], m.shape[-2]
    level, *lines = _lines(rows)(m, c, lower, upper, part, h)
    to_x, to_x0, to_y, to_y0, P, Q, A, B = (line.reshape(m.shape) for line in lines)
    crossing = np.full(m.shape[:-1], UNLIMITED)
    at_once = max(1, min(rows, PAIRS // rows))
    for j in range(0, rows, at_once):
        # the last may look at some again
        some = slice(min(j, rows - at_once), min(j, rows - at_once) + at_once)
        one = _crossing(rows, at_once)(P[..., some], Q[..., some], A[..., some], P, Q, B, h)
        crossing = np.minimum(crossing, one)
    cap = np.broadcast_to(largest, (*m.shape[:-2], N + 1)).copy()
    cap[..., :-1] = np.minimum(cap[..., :-1], np.minimum(crossing, level))
    cap[..., 1:] = np.minimum(cap[..., 1:], level)
    last = np.minimum(end, cap[..., -1])
    back = {"factor": to_x[..., ::-1, :], "offset": to_x0[..., ::-1, :], "cap": cap[..., -2::-1]}
    K = np.concatenate(
        [_sweep(rows)(x=last, steps=N, **back).record["y"][..., ::-1], last[..., None]], axis=-1
    )
    if (K[..., 0] < start).any():
        most = float(K[..., 0].min()) ** 0.5
        raise NotPossible(
            f"minimum_time: start_speed is {start**0.5:.4g}, but from more than {most:.4g} the "
            "limits cannot be kept"
        )
    first = np.full(m.shape[:-2], start)
    y = _sweep(rows)(x=first, factor=to_y, offset=to_y0, cap=K[..., 1:], steps=N).record["y"]
    if (y[..., -1] < end * (1 - 1e-9)).any():
        most = float(y[..., -1].min()) ** 0.5
        raise NotPossible(
            f"minimum_time: end_speed is {end**0.5:.4g}, but no more than {most:.4g} can be reached"
        )
    return np.concatenate([first[..., None], y], axis=-1)


@cache
def _lines(rows: int) -> CompiledFunction:
    """(level, to_x, to_x0, to_y, to_y0, P, Q, A, B) of an interval.

    x, y <= level;  x <= to_x y + to_x0 and y <= to_y x + to_y0 for every row;  A: minus the lower
    limit. A row that limits the speed itself has limits A, B without end beside its level.
    """

    def lines(m: SX, c: SX, lower: SX, upper: SX, part: SX, h: SX) -> tuple[SX, ...]:
        turned = m < 0
        m, c = casadi.fabs(m), casadi.if_else(turned, -c, c)
        A, B = casadi.if_else(turned, upper, -lower), casadi.if_else(turned, -lower, upper)
        P, Q = m + 2 * h * part * c, m - 2 * h * (1 - part) * c
        sloped = casadi.logic_and(P > 0, Q > 0)
        P, Q = casadi.if_else(sloped, P, 1.0), casadi.if_else(sloped, Q, 1.0)
        stiff = casadi.logic_and(casadi.logic_not(sloped), c != 0)
        level = casadi.if_else(
            stiff, casadi.if_else(c > 0, B, A) / casadi.if_else(stiff, casadi.fabs(c), 1), UNLIMITED
        )
        to_x0 = casadi.if_else(sloped, 2 * h * A / Q, UNLIMITED)
        to_y0 = casadi.if_else(sloped, 2 * h * B / P, UNLIMITED)
        A, B = casadi.if_else(sloped, A, NEVER), casadi.if_else(sloped, B, NEVER)
        return casadi.mmin(level), P / Q, to_x0, Q / P, to_y0, P, Q, A, B

    sizes = dict.fromkeys(("m", "c", "lower", "upper", "part"), rows)
    return compiled(lines, {**sizes, "h": ()}, "minimum_time")


@cache
def _crossing(rows: int, at_once: int) -> CompiledFunction:
    """The x above which the lower limit of one of some rows asks for more y than the upper limit of
    any row grants.

    x (Q_j P_k - Q_k P_j) <= 2 h (B_k P_j + A_j P_k)
    """

    def crossing(P_j: SX, Q_j: SX, A_j: SX, P: SX, Q: SX, B: SX, h: SX) -> SX:
        least = []
        for j in range(at_once):
            factor, right = Q_j[j] * P - Q * P_j[j], 2 * h * (B * P_j[j] + A_j[j] * P)
            binds = factor * UNLIMITED > right
            least.append(
                casadi.if_else(binds, right / casadi.if_else(binds, factor, 1.0), UNLIMITED)
            )
        return casadi.mmin(casadi.vertcat(*least))

    some: dict[str, int | tuple[int, ...]] = dict.fromkeys(("P_j", "Q_j", "A_j"), at_once)
    return compiled(crossing, {**some, "P": rows, "Q": rows, "B": rows, "h": ()}, "minimum_time")


@cache
def _sweep(rows: int) -> Scan:
    """From x on: y = the largest number below cap and every line factor x + offset,
    again and again."""

    def step(x: SX, factor: SX, offset: SX, cap: SX, k: SX) -> dict[str, SX]:
        y = cap
        for j in range(rows):
            y = casadi.fmin(y, factor[j] * x + offset[j])
        return {"x": y, "y": y}

    sequences: dict[str, int | tuple[int, ...]] = {"factor": rows, "offset": rows, "cap": ()}
    key = keys.key(__name__, "sweep", rows)
    return keyed_scan(
        key, [step], {"x": ()}, sequences=sequences, record={"y": ()}, name="minimum_time"
    )
