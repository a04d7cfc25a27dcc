"""Tracking: solutions followed while the parameters of a polynomial system move, one path a lane.

The path is f(x, p0 + t (p1 - p0)) = 0, t from 0 to 1. A step of the scan is one linear solve; which
one it is depends on the lane's phase, so no lane waits for another:

    0 .. 3   the four tangents of Runge and Kutta's fourth-order step, dx/dt = -J^-1 df/dt
    4, 5     Newton's corrections at t + h; the size of the first one sets the next step length
    6        Newton's steps at t = 1, until nothing moves

Sizes are relative to each unknown, because the unknowns of one solution may differ by many orders
of magnitude.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi
from casadi import SX, if_else, logic_and, logic_not, logic_or

from linkwork.engine.scan import Scan, keyed_scan
from linkwork.polynomials.complex_pair import Complex, numbers, pairs
from linkwork.polynomials.linear import Row, largest, solve

Equations = Callable[[Sequence[Complex], Sequence[Complex]], Sequence[Complex]]

GOAL = 1e-3
"""Relative size of the first correction that the step length aims at."""
LARGEST_FIRST, LARGEST_SECOND = 1e-2, 3e-4
"""Corrections above these reject the step."""
ENOUGH = 1e-3
"""A first correction below this needs no second one: its square is left,
and the next step's corrections see to it."""
FLOOR = 1e-8
"""Unknowns below this [of the problem's own size] are measured against it."""
SETTLED, ARRIVED = 1e-14, 1e-5
"""Relative correction at t = 1 that ends the polish, and that counts as success after the last one:
solutions with unknowns of 1e3 to 1e6 problem sizes are known to no more digits."""
POLISH = 8
SHORTEST = 1e-11
RUNNING, ARRIVING, LOST = 0.0, 1.0, 2.0


def residual_and_jacobian(
    equations: Equations, n: int, m: int
) -> tuple[SX, SX, list[Complex], list[list[Complex | None]]]:
    """(x (n, 2), p (m, 2), f, J) as symbols; J by automatic differentiation,
    None where it is always zero."""
    re, im = SX.sym("re", n), SX.sym("im", n)
    p = SX.sym("p", m, 2)
    f = [Complex.of(e) for e in equations([Complex(re[i], im[i]) for i in range(n)], numbers(p))]
    # f is holomorphic: its derivative is the one along the real axis
    real = casadi.jacobian(casadi.vertcat(*[e.re for e in f]), re)
    imaginary = casadi.jacobian(casadi.vertcat(*[e.im for e in f]), re)
    J: list[list[Complex | None]] = [[None] * n for _ in f]
    for i in range(len(f)):
        for j in range(n):
            if real.sparsity().has_nz(i, j) or imaginary.sparsity().has_nz(i, j):
                J[i][j] = Complex(real[i, j], imaginary[i, j])
    return casadi.horzcat(re, im), p, f, J


def tracker(equations: Equations, n: int, m: int, name: str, key: str | None = None) -> Scan:
    """The scan that follows paths: parameters `start` and `goal` (m, 2),
    state x (n, 2) and the lane's bookkeeping.

    key   that names the equations, so that kept code needs no tracing; None: the traced program is
          the key
    """

    def step(k: SX, **s: SX) -> dict[str, Any]:
        t, h, phase = s["t"], s["h"], s["phase"]
        is_ = [phase == i for i in range(7)]
        part = if_else(logic_or(is_[0], is_[6]), 0.0, if_else(logic_or(is_[1], is_[2]), 0.5, 1.0))
        now = t + part * h
        tangent = phase < 4

        x, e, total = numbers(s["x"]), numbers(s["e"]), numbers(s["total"])
        solution, scale = _solution(equations, e, s["start"], s["goal"], now, tangent)
        dx = [z * Complex(r) for z, r in zip(solution, scale)]
        size = casadi.sqrt(largest(solution))

        # where Runge and Kutta evaluate next
        weight = if_else(logic_or(is_[1], is_[2]), 2.0, 1.0)
        sums = [z.where(is_[0], z * Complex(weight) + w) for z, w in zip(dx, total)]
        ahead = h * if_else(phase < 2, 0.5, 1.0)
        stage = [a + z * Complex(ahead) for a, z in zip(x, dx)]
        predicted = [a + z * Complex(h / 6.0) for a, z in zip(x, sums)]
        predicted = [a.where(is_[3], b) for a, b in zip(predicted, stage)]

        # what Newton's correction decides
        corrected = [a + z for a, z in zip(e, dx)]
        first, second, polish = is_[4], is_[5], is_[6]
        too_large = logic_or(
            logic_and(first, size > LARGEST_FIRST), logic_and(second, size > LARGEST_SECOND)
        )
        wrong = logic_or(too_large, logic_and(phase < 6, logic_not(size < 1e12)))
        good = logic_and(logic_not(wrong), logic_or(second, logic_and(first, size < ENOUGH)))
        measured = if_else(first, size, s["size"])
        change = (s["goal_size"] / casadi.fmax(measured, 1e-15)) ** 0.2
        longer = if_else(good, casadi.fmin(casadi.fmax(change, 0.5), 2.5), 1.0)
        longer = if_else(wrong, casadi.fmin(casadi.fmax(0.8 * change, 0.1), 0.5), longer)

        reached = if_else(good, now, t)
        here = reached >= 1.0
        length = casadi.fmin(h * longer, if_else(here, h, 1.0 - reached))
        following = if_else(wrong, 0.0, if_else(good, if_else(here, 6.0, 0.0), phase + 1.0))
        # a rejected step may not round t + h above or below 1
        reached = if_else(logic_and(good, now > 1.0 - 1e-14), 1.0, reached)
        polished = if_else(polish, s["polished"] + 1, 0.0)
        over = logic_and(polish, logic_or(size < SETTLED, polished >= POLISH))
        stuck = logic_and(logic_or(wrong, good), h * longer < SHORTEST)
        lost = logic_or(logic_and(stuck, logic_not(here)), logic_not(largest(e) < 1e40))

        keeps = logic_or(good, polish)
        new_x = [a.where(keeps, b) for a, b in zip(corrected, x)]
        new_e = [a.where(tangent, b) for a, b in zip(predicted, corrected)]
        new_e = [a.where(wrong, b) for a, b in zip(x, new_e)]
        arrived = logic_and(over, size < ARRIVED)
        return {
            "x": pairs(new_x),
            "e": pairs(new_e),
            "total": pairs(sums),
            "t": reached,
            "h": length,
            "phase": if_else(polish, 6.0, following),
            "size": measured,
            "goal_size": s["goal_size"],
            "polished": polished,
            "end": if_else(arrived, ARRIVING, if_else(logic_or(lost, over), LOST, RUNNING)),
            "stop": logic_or(over, lost),
        }

    state: dict[str, int | tuple[int, ...]] = {"x": (n, 2), "e": (n, 2), "total": (n, 2)}
    state |= dict.fromkeys(("t", "h", "phase", "size", "goal_size", "polished", "end"), ())
    return keyed_scan(key, [step], state, {"start": (m, 2), "goal": (m, 2)}, name=name)


def _solution(
    equations: Equations, e: list[Complex], start: SX, goal: SX, now: SX, tangent: SX
) -> tuple[list[Complex], list[SX]]:
    """(y, scale): the tangent or Newton's correction at e is scale * y, relative to each
    unknown."""
    n, m = len(e), start.shape[0]
    x, p, f, J = residual_and_jacobian(equations, n, m)
    slope = casadi.vertcat(*[z.re for z in f], *[z.im for z in f])
    drift = casadi.jtimes(slope, p, goal - start)
    at = [pairs(e), start + now * (goal - start)]
    entries = [(i, j) for i in range(n) for j in range(n) if J[i][j] is not None]
    values = [z for i, j in entries for z in (J[i][j].re, J[i][j].im)]  # type: ignore[union-attr]
    here = casadi.Function(
        "f", [x, p, goal, start], [slope, drift, casadi.vertcat(*values)], {"cse": True}
    )
    slope, drift, entry = here.call([*at, goal, start])
    scale = [casadi.sqrt(z.abs2() + FLOOR**2) for z in e]
    rows: list[Row] = [{} for _ in range(n)]
    for q, (i, j) in enumerate(entries):
        rows[i][j] = Complex(entry[2 * q] * scale[j], entry[2 * q + 1] * scale[j])
    both = casadi.if_else(tangent, drift, slope)
    return solve(rows, [Complex(-both[i], -both[n + i]) for i in range(n)]), scale
