"""Moves: where one coordinate goes within its interval, and the sweep over all of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi
from casadi import SX

from linkwork.inverse.sweep import Walk, hinge, slide

STEPS = ("exact", "small_angle", "clipped")
PENALTIES = ("one_sided", "symmetric")
BEST_FIRST = "best_first"
_HALVINGS = 5


@dataclass(frozen=True)
class Rule:
    """How joints move.

    step      "exact": the minimiser itself. "small_angle": the paper's step, which may overshoot
              where the goal is more than twice as far from the axis as the tip. "clipped": the
              paper's step, but no longer than the exact one
    penalty   None, "symmetric" as printed (eq. 23), or "one_sided": only steps towards the nearer
              limit are weighted
    order     coordinates of a sweep, or "best_first": a sweep looks at all and moves the one that
              lowers the cost most
    """

    step: str
    penalty: str | None
    order: tuple[int, ...] | str


@dataclass(frozen=True)
class Interval:
    """lower, upper: where a coordinate may go now; floor, ceiling: its limits,
    by which the penalty is measured."""

    lower: SX
    upper: SX
    floor: SX
    ceiling: SX


@dataclass(frozen=True)
class Move:
    """The new value of a coordinate, and how much H falls by it (computed only if asked for)."""

    value: SX
    gain: Callable[[], SX]


def sweep(walk: Walk, rule: Rule, intervals: Sequence[Interval], reach: float) -> SX:
    """Move every joint of the order once, or the best one alone: O(n) either way.
    Gives the largest move."""
    if isinstance(rule.order, str):
        return _move_the_best(walk, rule, intervals, reach)
    largest = SX(0)
    for k in rule.order:
        move = moved(walk, k, rule, intervals[k], reach)
        largest = casadi.fmax(largest, casadi.fabs(move.value - walk.x[k]))
        walk.move(k, move.value)
    return largest


def _move_the_best(walk: Walk, rule: Rule, intervals: Sequence[Interval], reach: float) -> SX:
    moves = [moved(walk, k, rule, intervals[k], reach) for k in range(len(walk.x))]
    gains = [move.gain() for move in moves]
    best = functools.reduce(casadi.fmax, gains)
    open_, largest = SX(1), SX(0)
    for k, (move, gain) in enumerate(zip(moves, gains, strict=True)):
        chosen = casadi.logic_and(open_, gain >= best)
        open_ = casadi.logic_and(open_, casadi.logic_not(chosen))
        largest = casadi.fmax(
            largest, casadi.if_else(chosen, casadi.fabs(move.value - walk.x[k]), 0)
        )
        walk.move(k, casadi.if_else(chosen, move.value, walk.x[k]))
    return largest


def moved(walk: Walk, k: int, rule: Rule, interval: Interval, reach: float) -> Move:
    """One coordinate moved, all others at rest."""
    nodes = [
        i
        for i, drives in walk.drives.items()
        if any(at == k for at, _, _ in drives) and _matters(walk, i)
    ]
    if not nodes:
        return Move(walk.x[k], lambda: SX(0))
    whole = all(pair.metric is None for pair in walk.pairs)
    row = walk.tree.nodes[nodes[0]].row
    if len(nodes) > 1 or not whole or not (row.is_hinge or row.is_slide):
        return _searched(walk, k, interval)
    factor = next(f for at, f, _ in walk.drives[nodes[0]] if at == k)
    if row.is_slide:
        return _slid(walk, k, nodes[0], factor, rule, interval)
    return _turned(walk, k, nodes[0], factor, rule, interval, reach)


def _turned(
    walk: Walk, k: int, i: int, factor: float, rule: Rule, interval: Interval, reach: float
) -> Move:
    x = walk.x[k]
    wave, small = hinge(walk, i, reach)
    turn = casadi.if_else(wave.none, 0, casadi.atan2(wave.B, wave.A)) / factor
    if rule.step == "exact":
        value = _nearest(x, turn, 2 * math.pi / abs(factor), interval)
        value = (
            value
            if rule.penalty is None
            else x + _penalty(rule, x, value - x, interval) * (value - x)
        )
    else:
        d = small / factor
        if rule.step == "clipped":
            d = casadi.fmax(-casadi.fabs(turn), casadi.fmin(casadi.fabs(turn), d))
        value = x + _penalty(rule, x, d, interval) * d
    value = _clamped(value, interval)

    def gain() -> SX:
        d = factor * (value - x)
        return 2 * (wave.A * (casadi.cos(d) - 1) + wave.B * casadi.sin(d))

    return Move(value, gain)


def _slid(walk: Walk, k: int, i: int, factor: float, rule: Rule, interval: Interval) -> Move:
    x = walk.x[k]
    wanted = slide(walk, i) / factor
    value = _clamped(x + _penalty(rule, x, wanted, interval) * wanted, interval)
    weight = (
        sum(p.weight for p in walk.pairs if p.kind and i in walk.tree.paths[p.node]) * factor**2
    )
    return Move(value, lambda: weight * (value - x) * (2 * wanted - (value - x)))


def _nearest(x: SX, turn: SX, period: float, interval: Interval) -> SX:
    """The best value of the interval for a cost that is lowest at x + turn and every period from
    there.

    A plain clamp is not: in an interval of more than half a period the other end may be nearer.
    """
    if _endless(interval.lower) and _endless(interval.upper):
        return x + turn
    low, high = interval.lower - x, interval.upper - x
    other = turn - casadi.sign(turn) * period
    ends = [casadi.fabs(_wrapped(end - turn, period)) for end in (low, high)]
    end = casadi.if_else(ends[0] <= ends[1], interval.lower, interval.upper)
    value = casadi.if_else(_between(other, low, high), x + other, end)
    return casadi.if_else(_between(turn, low, high), x + turn, value)


def _wrapped(d: SX, period: float) -> SX:
    return d - period * casadi.floor(d * (1 / period) + 0.5)


def _between(d: SX, low: SX, high: SX) -> SX:
    return casadi.logic_and(low <= d, d <= high)


def _penalty(rule: Rule, x: SX, d: SX, interval: Interval) -> SX:
    """w = 4 (max - q)(q - min) / (max - min)^2 (eqs. 23-24); one-sided:
    1 for a step back to the middle.

    As printed w is also 0 for a joint that wants to leave its limit, which then sticks, and
    negative outside.
    """
    if rule.penalty is None:
        return SX(1)
    width = interval.ceiling - interval.floor
    w = 4 * (interval.ceiling - x) * (x - interval.floor) / (width * width)
    if rule.penalty == "symmetric":
        return w
    outward = (x - (interval.ceiling + interval.floor) / 2) * d > 0
    return casadi.if_else(outward, casadi.fmax(0, w), 1)


def _searched(walk: Walk, k: int, interval: Interval) -> Move:
    """Coordinates without a closed form (screws, joints that others follow, uneven weights):
    Gauss-Newton, halved until the cost does not rise."""
    s = SX.sym("s")
    probe = Walk(
        walk.mechanism,
        casadi.vertcat(*[s if j == k else walk.x[j] for j in range(len(walk.x))]),
        walk.pairs,
    )
    rows = []
    for pair in walk.pairs:
        gap = probe.world_gap(pair)
        rows.append(math.sqrt(pair.weight) * gap if pair.metric is None else pair.metric @ gap)
    e = casadi.vertcat(*rows)
    slope = casadi.jacobian(e, s)
    x = walk.x[k]
    here, column = casadi.substitute([e, slope], [s], [x])
    square = casadi.sumsqr(column)
    d = casadi.if_else(square > 0, -casadi.dot(column, here) / casadi.fmax(square, 1e-300), 0)
    H = casadi.sumsqr(here)
    value, best = x, H
    for n in range(_HALVINGS):
        tried = _clamped(x + d * 0.5**n, interval)
        (there,) = casadi.substitute([casadi.sumsqr(e)], [s], [tried])
        value, best = casadi.if_else(there < best, tried, value), casadi.fmin(there, best)
    return Move(value, lambda: H - best)


def _matters(walk: Walk, i: int) -> bool:
    return any(i in walk.tree.paths[pair.node] for pair in walk.pairs)


def _clamped(value: SX, interval: Interval) -> SX:
    if not _endless(interval.lower):
        value = casadi.fmax(value, interval.lower)
    return value if _endless(interval.upper) else casadi.fmin(value, interval.upper)


def _endless(limit: SX) -> bool:
    return limit.is_constant() and math.isinf(float(limit))
