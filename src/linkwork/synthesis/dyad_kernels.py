"""Dyad kernels: conditions of poses, and what their answers are as dyads, in machine code.

Both have room for five positions; a task of fewer repeats its last one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import combinations
from typing import Any

import casadi
from casadi import SX, fmax, if_else, logic_and, logic_or

from linkwork.engine import keys
from linkwork.engine.kernel import Context, Signature
from linkwork.engine.traced import traced
from linkwork.polynomials.complex_pair import Complex, numbers, pairs
from linkwork.synthesis.task import SAME

NEAR_TRIVIAL = 10.0
"""Rotations within this [deg] of a trivial answer (none, or the body's own) at every position:
an awkward dyad."""
INEXACT = 1e-9
SHORTEST = 1e-12
"""Links below this [task sizes] are none."""
NETWORK = ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2))
"""Comparisons that sort four."""


@functools.cache
def poses() -> Callable[..., Any]:
    """(positions (5, 2), angles (5,)) -> rows (4, 7), displacements (4, 2) and size, alpha (4,),
    distinct, turning.

    rows            conditions.py, of the displacements in task sizes
    displacements   in task sizes; size [m] is the longest one
    distinct        whether no two poses are equal; turning: whether the body turns at all
    """

    def expressions(positions: SX, angles: SX) -> tuple[SX, ...]:
        P = numbers(positions)
        turns = [Complex.direction(angles[j]) for j in range(5)]
        moved = [p - P[0] for p in P[1:]]
        largest = moved[0].abs2()
        for d in moved[1:]:
            largest = fmax(largest, d.abs2())
        size = fmax(casadi.sqrt(largest), 1e-300)
        unit = [d * Complex(1.0 / size) for d in moved]
        u = [turn * turns[0].conjugate() for turn in turns[1:]]

        alike = SX(0)
        for j, k in combinations(range(5), 2):
            near = (P[k] - P[j]).abs2() <= SAME**2 * fmax(largest, 1e-300)
            alike = logic_or(alike, logic_and(near, (turns[k] - turns[j]).abs2() <= SAME**2))
        turning = SX(0)
        for turn in turns[1:]:
            turning = logic_or(turning, (turn - turns[0]).abs2() > SAME**2)
        rows = casadi.vertcat(*[_condition(d, v) for d, v in zip(unit, u)])
        alpha = casadi.vertcat(*[angles[j] - angles[0] for j in range(1, 5)])
        return rows, pairs(unit), size, alpha, 1.0 - alike, turning

    inputs = (("positions", (5, 2)), ("angles", (5,)))
    outputs = (("rows", (4, 7)), ("displacements", (4, 2)), ("size", ()), ("alpha", (4,)))
    flags: tuple[tuple[str, tuple[int, ...]], ...] = (("distinct", ()), ("turning", ()))
    kernel = traced(
        Signature("poses", inputs, (*outputs, *flags)), expressions, keys.key(__name__, "poses")
    )
    return kernel.caller(Context())


def _condition(d: Complex, u: Complex) -> SX:
    """|d + z u - a| = |z - a| as a row of length one (1, 7), conditions.py."""
    q = d.conjugate() * u
    row = casadi.horzcat(1.0 - u.re, -u.im, -d.re, -d.im, q.re, -q.im, 0.5 * d.abs2())
    square = casadi.sumsqr(row)
    return row / casadi.sqrt(if_else(square > 0, square, 1.0))


@functools.cache
def answers() -> Callable[..., Any]:
    """Pivots w (4, 4) in task sizes as dyads, the valid ones first, by beta2.

    Inputs   w, valid (4,), condition (4,); displacements (4, 2) in task sizes, alpha (4,); size and
             origin (2,) of the task; chosen (4, 2) rotations as unit vectors, and (4,) whether each
             of them is
    Outputs  W, Z (4, 2) [m], beta (4, 4), ground, moving (4, 2) [m], residual, condition, near
             trivial, valid (4,)
    """

    def expressions(*symbols: SX) -> tuple[SX, ...]:
        w, valid, condition, displacements, alpha, size, origin, chosen, asked = symbols
        d = numbers(displacements)
        u = [Complex.direction(alpha[j]) for j in range(4)]
        wanted = [(z, asked[j]) for j, z in enumerate(numbers(chosen))]
        start = Complex(origin[0], origin[1])
        slots = []
        for k in range(4):
            slots.append([*_dyad(w[k, :], valid[k], d, u, wanted, start, size), condition[k]])
        # by beta2; where that was chosen, by the first rotation that was not
        first = [if_else(asked[0], if_else(asked[1], slot[6], slot[5]), slot[4]) for slot in slots]
        order = [if_else(slot[VALID], angle, 10.0) for slot, angle in zip(slots, first)]
        for i, j in NETWORK:
            swap = order[j] < order[i]
            order[i], order[j] = (
                if_else(swap, order[j], order[i]),
                if_else(swap, order[i], order[j]),
            )
            both = list(zip(slots[i], slots[j]))
            slots[i] = [if_else(swap, b, a) for a, b in both]
            slots[j] = [if_else(swap, a, b) for a, b in both]
        rows = casadi.vertcat(*[casadi.horzcat(*slot) for slot in slots])
        parts = (slice(0, 2), slice(2, 4), slice(4, 8), slice(8, 10), slice(10, 12), 12, 15, 13, 14)
        return tuple(rows[:, part] for part in parts)

    inputs = (
        ("w", (4, 4)),
        ("valid", (4,)),
        ("condition", (4,)),
        ("displacements", (4, 2)),
        ("alpha", (4,)),
    )
    task = (("size", ()), ("origin", (2,)), ("chosen", (4, 2)), ("asked", (4,)))
    outputs = (
        ("W", (4, 2)),
        ("Z", (4, 2)),
        ("beta", (4, 4)),
        ("ground", (4, 2)),
        ("moving", (4, 2)),
    )
    verdicts = (("residual", (4,)), ("condition", (4,)), ("near_trivial", (4,)), ("valid", (4,)))
    signature = Signature("dyads", (*inputs, *task), (*outputs, *verdicts))
    return traced(signature, expressions, keys.key(__name__, "answers")).caller(Context())


VALID = 14
"""Column of a slot: whether it is an answer."""


def _dyad(
    w: SX, valid: SX, d: list[Complex], u: list[Complex], wanted: list, origin: Complex, size: SX
) -> list[SX]:
    """W, Z, beta (4), ground, moving, residual, near trivial, valid: numbers of one slot."""
    a, z = Complex(w[0], w[1]), Complex(w[2], w[3])
    W = z - a
    square = W.abs2()
    valid = logic_and(valid, square > SHORTEST**2)
    back = W.conjugate() * Complex(1.0 / if_else(square > SHORTEST**2, square, 1.0))

    # rotations of the grounded link, and how well they meet the standard form
    beta: list[SX] = []
    error = SX(0)
    still, with_body = SX(1), SX(1)
    cosine = float(casadi.cos(NEAR_TRIVIAL * casadi.pi / 180.0))
    for dj, uj, (angle, asked) in zip(d, u, wanted, strict=True):
        turned = (dj + z * uj - a) * back
        length = casadi.sqrt(turned.abs2())
        turn = turned * Complex(1.0 / if_else(length > 0, length, 1.0))
        beta.append(casadi.atan2(turned.im, turned.re))
        error = fmax(error, (W * (turn - 1.0) - z * (uj - 1.0) - dj).abs2())
        still = logic_and(still, turn.re > cosine)
        with_body = logic_and(with_body, (turn * uj.conjugate()).re > cosine)
        # a product of conditions may be met with another rotation than the given one
        valid = logic_and(valid, logic_or(asked <= 0, (turn - angle).abs2() < 1e-12))
    residual = casadi.sqrt(error)
    scale = 1.0 + casadi.sqrt(square) + casadi.sqrt(z.abs2())
    valid = logic_and(valid, residual <= INEXACT * scale)

    L = Complex(size)
    ground, moving = origin + a * L, origin + z * L
    vectors = [x for v in (W * L, -z * L) for x in (v.re, v.im)]
    pivots = [x for v in (ground, moving) for x in (v.re, v.im)]
    return [*vectors, *beta, *pivots, residual, logic_or(still, with_body), valid]
