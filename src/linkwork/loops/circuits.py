"""Circuits: the whole closed curve of postures of a mechanism with one degree of freedom,
by arc length.

The curve c(x) = 0 of n unknowns and n - 1 equations is followed with its tangent t: a step is x + h
t, corrected by Newton with the border t'(x - x_old - h t) = 0, which is regular where the driver
turns back. One linear solve a step of the scan, in lanes over designs; it gives correction and next
tangent together. It also gives

    sin(mu) = |det J_dependent| / product of its columns' lengths

which is the sine of the transmission angle for a four-bar, and zero at dead points of the driver
for any mechanism.
Source: [Allgower2003] chapters 2-6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import casadi
import numpy as np
from casadi import SX, fabs, fmax, fmin, if_else, logic_and, logic_not, logic_or

from linkwork.configurations import places
from linkwork.engine import machine
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.loops.constraints import closure_rows
from linkwork.results import short_repr
from linkwork.subject import RobotLike, subject_of

FIRST, SHORTEST, LONGEST = 0.02, 1e-6, 0.12
"""Step lengths [rad, sizes]."""
BEND = 0.02
"""First correction [of the step] that the step length aims at."""
STRAIGHT = 0.97
"""Cosine between the tangents of neighbours; circuits that nearly touch turn sharply where they
do."""
NARROW = 0.02
"""Longest step at a dead point."""
SMALL = 1e-6
"""A correction below this is the last one: its square is left, 1e-13 or so of the sizes."""
NEAR = 4e-3
"""How near [sizes, rad] a cubic through two neighbours must come to a goal that is met."""
MOST, LONG, SHORT = 6000, 1200, 400
"""Postures of a circuit at most: of few circuits,
of many that are longer than the first look allowed, at that look."""
FEW = 64

Rows = Callable[[SX, SX], SX]


@short_repr
@dataclass(frozen=True)
class Circuits(Tabular, rows="way", aside=("met", "first", "last", "first_branch", "last_branch")):
    """Circuits of a batch.

    x        (..., rows, n) postures along the way; NaN after its end
    way      (..., rows) arc length; sine (..., rows) of the transmission angle
    closed   (...,): came back to the start; length (...,) of the whole way; dead (...,) dead points
             of the driver
    met, first, last, first_branch, last_branch   (..., goals): whether a goal was met, arc length at the first and
             last time, and how many dead points lay before
    """

    x: np.ndarray
    way: np.ndarray
    sine: np.ndarray
    closed: np.ndarray
    length: np.ndarray
    dead: np.ndarray
    met: np.ndarray
    first: np.ndarray
    last: np.ndarray
    first_branch: np.ndarray
    last_branch: np.ndarray


@dataclass(frozen=True)
class _Newton:
    """One bordered step: correction dx (n), its size, unit tangent there (n),
    sine of the transmission angle."""

    dx: SX
    size: SX
    unit: SX
    sine: SX


def _corrected(rows: Rows, n: int, m: int, driver: int, s: dict[str, SX]) -> _Newton:
    """Newton's correction of the guess e across the tangent t, a step h away from x."""
    symbols, parameters = SX.sym("x", n), SX.sym("p", m)
    value = rows(symbols, parameters)
    outputs = [value, casadi.jacobian(value, symbols)]
    c, J = casadi.Function("c", [symbols, parameters], outputs, {"cse": True})(s["e"], s["p"])
    border = casadi.vertcat(c, casadi.dot(s["t"], s["e"] - s["x"]) - s["h"])
    along = casadi.vertcat(SX.zeros(n - 1), 1)
    (dx, tangent), determinant = _solve(casadi.vertcat(J, s["t"].T), [-border, along])

    # one number of transmission from what is already there
    bottom = SX(1)
    for j in range(n):
        if j != driver:
            bottom = bottom * fmax(casadi.sqrt(casadi.sumsqr(J[:, j])), 1e-150)
    sine = fmin(fabs(tangent[driver] * determinant) / bottom, 1.0)
    unit = tangent / casadi.sqrt(casadi.sumsqr(tangent))
    return _Newton(dx, casadi.sqrt(casadi.sumsqr(dx)), unit, sine)


@dataclass(frozen=True)
class _Length:
    """What a correction says of its step: reached (done) or too long (bad), the next length h,
    the first correction."""

    done: SX
    bad: SX
    h: SX
    measured: SX


def _judged(s: dict[str, SX], newton: _Newton) -> _Length:
    """Steps end by small corrections, without sharp turns;
    the first correction sets the next length."""
    h, first = s["h"], s["tries"] <= 0
    bad = logic_or(logic_and(first, newton.size > 0.3 * h), s["tries"] >= 5)
    done = logic_and(newton.size < SMALL, logic_not(bad))
    # too sharp a turn between two postures: again with half the step
    bent = casadi.dot(newton.unit, s["t"]) < STRAIGHT
    turned = logic_and(done, bent)
    bad = logic_or(bad, logic_and(turned, h > 4 * SHORTEST))
    done = logic_and(done, logic_not(bad))

    measured = if_else(first, newton.size, s["measured"])
    change = casadi.sqrt(BEND * h / fmax(measured, 1e-12))
    longer = if_else(done, fmin(fmax(change, 0.5), 1.6), 1.0)
    most = fmin(LONGEST, NARROW + 0.3 * newton.sine)
    return _Length(done, bad, fmin(if_else(bad, 0.5 * h, h * longer), most), measured)


def _is_back(s: dict[str, SX], here: SX, way: SX, angles: tuple[bool, ...]) -> SX:
    """Whether the way from x to here passes the normal plane of the start,
    near it up to whole turns."""
    gap = _wrapped(here - s["start"], angles)
    before = casadi.dot(_wrapped(s["x"] - s["start"], angles), s["way_in"])
    after = casadi.dot(gap, s["way_in"])
    crossing = logic_and(before < 0, after >= 0)
    near = casadi.sumsqr(gap) < (2.0 * s["h"]) ** 2
    return logic_and(logic_and(crossing, near), way > 3 * LONGEST * 0.5)


def circuit_scan(
    rows: Rows,
    tool: Rows,
    n: int,
    m: int,
    driver: int,
    angles: tuple[bool, ...],
    goals: int,
    name: str,
    key: str | None = None,
) -> Scan:
    """The scan of a family: rows(x (n), p (m)) -> (n - 1), tool(x, p) -> (3): x,
    y and an angle that meets goals (3).

    driver   which unknown is driven; angles: which unknowns are angles (a turn is the same posture)
    key      names all of these (engine/keys.py), so that kept code needs no tracing; None: the
             traced program does
    Parameters of a run: p, goals (g, 3), with_angle (g) 1 where the third number counts.
    """

    def step(k: SX, **s: SX) -> dict[str, Any]:
        newton = _corrected(rows, n, m, driver, s)
        length = _judged(s, newton)
        done, bad, h = length.done, length.bad, length.h

        # a posture that is reached becomes the last one; one that is not is tried again from there
        x, t, here = s["x"], s["t"], s["e"] + newton.dx
        new_x, new_t = if_else(done, here, x), if_else(done, newton.unit, t)
        again = if_else(bad, x + h * t, here)
        guess = if_else(done, here + h * newton.unit, again)
        way = s["way"] + if_else(done, casadi.sqrt(casadi.sumsqr(here - x)), 0.0)
        reverses = logic_and(done, newton.unit[driver] * t[driver] < 0)
        dead = s["dead"] + reverses

        back = logic_and(done, _is_back(s, here, way, angles))
        seen = {}
        if goals:
            seen = _goals(s, tool, n, m, x, t, here, newton.unit, done, way, dead)
        lost = h < SHORTEST
        return {
            "x": new_x,
            "e": guess,
            "t": new_t,
            "h": h,
            "tries": if_else(logic_or(done, bad), 0.0, s["tries"] + 1),
            "measured": length.measured,
            "way": way,
            "dead": dead,
            "closed": fmax(s["closed"], back),
            "start": s["start"],
            "way_in": s["way_in"],
            **seen,
            "posture": new_x,
            "at": way,
            "sine": newton.sine,
            "advance": done,
            "stop": logic_or(back, lost),
        }

    state: dict[str, Any] = {"x": n, "e": n, "t": n, "start": n, "way_in": n}
    state |= dict.fromkeys(("h", "tries", "measured", "way", "dead", "closed"), ())
    parameters: dict[str, Any] = {"p": m}
    if goals:
        state |= dict.fromkeys(("met", "first", "last", "first_branch", "last_branch"), goals)
        parameters |= {"goals": (goals, 3), "with_angle": goals}
    return keyed_scan(key, [step], state, parameters, record=("posture", "at", "sine"), name=name)


def run(
    circuits: Scan, J: np.ndarray, x: np.ndarray, p: np.ndarray, driver: int, **goals: np.ndarray
) -> Circuits:
    """Follow circuits from x (..., n), where the rows have the Jacobian J (..., n-1, n),
    for parameters p (..., m).

    goals    `goals` (..., g, 3) and `with_angle` (..., g) of a scan that has any
    """
    x = np.broadcast_to(x, (*J.shape[:-2], J.shape[-1]))
    if x.ndim != 2 or len(x) < FEW:
        return _followed(circuits, J, x, p, driver, MOST, goals)
    # most circuits are short, and records that are never written cost as much as those that are
    short = _followed(circuits, J, x, p, driver, SHORT, goals)
    rows = np.flatnonzero(
        ~short.closed & np.isfinite(short.way[:, -1]) & (short.way.shape[1] >= SHORT)
    )
    if not len(rows):
        return short
    some = {name: value[rows] for name, value in goals.items()}
    again = p[rows] if p.ndim == 2 else p
    limit = MOST if len(rows) < FEW else LONG
    return _replaced(short, rows, _followed(circuits, J[rows], x[rows], again, driver, limit, some))


def _replaced(circuits: Circuits, rows: np.ndarray, others: Circuits) -> Circuits:
    """The same with other circuits in some rows; shorter records end with NaN."""
    parts = []
    count = max(circuits.way.shape[1], others.way.shape[1])
    for field in fields(Circuits):
        old, new = getattr(circuits, field.name), getattr(others, field.name)
        if field.name in ("x", "way", "sine"):
            whole = np.full((len(old), count, *old.shape[2:]), np.nan)
            whole[:, : old.shape[1]] = old
            whole[rows] = np.nan
            whole[rows, : new.shape[1]] = new
        else:
            whole = old.copy()
            whole[rows] = new
        parts.append(whole)
    return Circuits(*parts)


def _followed(
    circuits: Scan,
    J: np.ndarray,
    x: np.ndarray,
    p: np.ndarray,
    driver: int,
    most: int,
    goals: dict[str, np.ndarray],
) -> Circuits:
    """Circuits with at most so many postures."""
    tangent = np.linalg.svd(J)[2][..., -1, :]
    side = np.sign(tangent[..., driver : driver + 1])
    tangent = tangent * np.where(side == 0, 1.0, side)
    count = circuits.names["state"].get("met", (0,))[0]
    values: dict[str, Any] = {
        "x": x,
        "e": x + FIRST * tangent,
        "t": tangent,
        "start": x,
        "way_in": tangent,
        "h": FIRST,
    }
    values |= dict.fromkeys(("tries", "measured", "way", "dead", "closed"), 0.0)
    if count:
        values |= {
            k: np.zeros(count) for k in ("met", "first", "last", "first_branch", "last_branch")
        } | goals
    # a batch of one runs in the code of batches: nobody waits for another compilation
    width = machine.widths()[0] if x.ndim > 1 else None
    done = circuits(p=p, steps=most, width=width, **values)
    state = done.state
    kept = int(done.steps.max(initial=1))
    trim = lambda a: a[..., :kept, :] if a.ndim > x.ndim else a[..., :kept]
    empty = np.zeros((*x.shape[:-1], 0))
    seen = [
        state[k] if count else empty
        for k in ("met", "first", "last", "first_branch", "last_branch")
    ]
    return Circuits(
        trim(done.record["posture"]),
        done.record["at"][..., :kept],
        done.record["sine"][..., :kept],
        state["closed"] > 0,
        state["way"],
        state["dead"].astype(int),
        seen[0] > 0,
        *seen[1:],
    )


def circuit(robot: RobotLike, q0: Any, driver: str) -> Circuits:
    """The circuit of a robot with one degree of freedom through the assembled configuration q0
    (nq,).

    driver   the joint whose turning points are dead points. Unknowns are the robot's coordinates,
             one a joint.
    """
    subject = subject_of(robot, "circuit")
    tree = subject.tree
    n = tree.nv
    if tree.nq != n:
        raise NotPossible(
            f'circuit: robot "{subject.model.name}" has joints of several coordinates '
            "(ball or floating)"
        )
    names = list(subject.joints)
    if driver not in names:
        raise NotPossible(f'circuit: robot "{subject.model.name}" has no joint "{driver}"')
    q = SX.sym("q", n)
    residual = closure_rows(tree, q, SX.sym("v", n), tree.elements).r
    closures = casadi.Function("closures", [q], [residual])
    rows = lambda x, p: SX(closures.call([x])[0])
    if residual.numel() != n - 1:
        raise NotPossible(
            f'circuit: robot "{subject.model.name}" has {n} coordinates and {residual.numel()} '
            "equations of its loops; "
            "expected one equation less than coordinates"
        )
    angles = tuple(joint.kind.is_hinge for joint, _, _ in places(subject))
    nothing = lambda q, p: SX.zeros(3)
    J = np.array(casadi.Function("J", [q], [casadi.jacobian(residual, q)])(q0))
    scan_ = circuit_scan(rows, nothing, n, 0, names.index(driver), angles, 0, "circuit")
    return run(scan_, J, np.asarray(q0, dtype=float), np.zeros(0), names.index(driver))


def _goals(
    s: dict[str, SX],
    tool: Rows,
    n: int,
    m: int,
    x: SX,
    t: SX,
    here: SX,
    unit: SX,
    done: SX,
    way: SX,
    dead: SX,
) -> dict[str, SX]:
    """Which goals the tool passed between two postures, by a cubic through both."""
    symbols, parameters, direction = SX.sym("x", n), SX.sym("p", m), SX.sym("t", n)
    y = tool(symbols, parameters)
    slope = casadi.jtimes(y, symbols, direction)
    function = casadi.Function("y", [symbols, parameters, direction], [y, slope], {"cse": True})
    y0, d0 = function(x, s["p"], t)
    y1, d1 = function(here, s["p"], unit)
    h = casadi.sqrt(casadi.sumsqr(here - x))
    out: dict[str, list[SX]] = {
        label: [] for label in ("met", "first", "last", "first_branch", "last_branch")
    }
    for j in range(s["with_angle"].numel()):
        weight = casadi.vertcat(1.0, 1.0, s["with_angle"][j])
        to = lambda y, j=j, weight=weight: (
            weight * _wrapped(s["goals"][j, :].T - y, (False, False, True))
        )
        a, b = to(y0), to(y1)
        before, after = casadi.dot(a, d0 * weight), casadi.dot(b, d1 * weight)
        passed = logic_and(logic_and(before >= 0, after < 0), done)
        u = before / fmax(before - after, 1e-150)
        # the way from y0 to the cubic's point at u, beside the way to the goal
        b10, b01, b11 = u * (1 - u) ** 2, u * u * (3 - 2 * u), u * u * (u - 1)
        point = b01 * (a - b) + b10 * h * d0 * weight + b11 * h * d1 * weight
        near = casadi.sumsqr(point - a) < NEAR**2
        met = logic_and(passed, near)
        at = s["way"] + u * h
        new = logic_and(met, s["met"][j] <= 0)
        out["met"].append(fmax(s["met"][j], met))
        out["first"].append(if_else(new, at, s["first"][j]))
        out["last"].append(if_else(met, at, s["last"][j]))
        out["first_branch"].append(if_else(new, dead, s["first_branch"][j]))
        out["last_branch"].append(if_else(met, dead, s["last_branch"][j]))
    return {label: casadi.vertcat(*values) for label, values in out.items()}


def _wrapped(x: SX, angles: tuple[bool, ...]) -> SX:
    """Differences with whole turns taken off the angles."""
    turn = 2.0 * np.pi
    parts = [
        x[k] - turn * casadi.floor(x[k] / turn + 0.5) if angles[k] else x[k]
        for k in range(len(angles))
    ]
    return casadi.vertcat(*parts)


def _solve(A: SX, right: list[SX]) -> tuple[list[SX], SX]:
    """(solutions, determinant) by Gaussian elimination with partial pivoting by conditional
    swaps."""
    n = A.shape[0]
    M = [[A[i, j] for j in range(n)] + [b[i] for b in right] for i in range(n)]
    determinant = SX(1)
    for k in range(n):
        for i in range(k + 1, n):
            swap = fabs(M[i][k]) > fabs(M[k][k])
            determinant = if_else(swap, -determinant, determinant)
            for j in range(k, len(M[0])):
                up, down = M[i][j], M[k][j]
                M[k][j], M[i][j] = if_else(swap, up, down), if_else(swap, down, up)
        determinant = determinant * M[k][k]
        inverse = 1.0 / if_else(fabs(M[k][k]) < 1e-150, 1e-150, M[k][k])
        for i in range(k + 1, n):
            factor = M[i][k] * inverse
            for j in range(k + 1, len(M[0])):
                M[i][j] = M[i][j] - factor * M[k][j]
        M[k][k] = inverse
    solutions = []
    for r in range(len(right)):
        x: list[SX] = [SX(0)] * n
        for k in reversed(range(n)):
            rest = M[k][n + r]
            for j in range(k + 1, n):
                rest = rest - M[k][j] * x[j]
            x[k] = rest * M[k][k]
        solutions.append(casadi.vertcat(*x))
    return solutions, determinant
