"""Forbidden arcs in machine code: their union, the crossings of segments,
the free angle nearest to a goal.

arcs.py and crossings.py have the same in Python, and say why every crossing is found.
"""

from __future__ import annotations

import math

from llvmlite import ir

from linkwork.avoidance.arcs import ROUNDING, TURN
from linkwork.avoidance.crossings import FINEST, FIRST, ROUNDS
from linkwork.avoidance.step_record import STATE
from linkwork.engine.routines import Cell, Doubles, Operand, Record, Routine, Value, Words, copy

CELL = 6  # numbers of a cell: angle, width, value and slope at either end
CELLS = FIRST + 40  # a cell is halved some 30 times at most


def wrapped(r: Routine, angle: Value) -> Value:
    """In [-pi, pi)."""
    return turned(r, angle + math.pi) - math.pi


def turned(r: Routine, angle: Value) -> Value:
    """In [0, 2 pi)."""
    return angle - r.floor(angle * (1.0 / TURN)) * TURN


def size(r: Routine, x: Value) -> Value:
    return r.choose(x < 0.0, 0.0 - x, x)


def write_add(module: ir.Module) -> ir.Function:
    """Define add(state, count, ends): the union of (start, width), start in [-pi, pi),
    and of the arcs; their number.

    Arcs lie in order in [-pi, pi] and do not touch; one that runs over pi is cut there.
    """
    r = Routine(module, "add", 3)
    state_at, count, ends_at = r.arguments
    state, ends = Record(r, state_at, STATE), Doubles(r, ends_at)
    arcs = Doubles(r, state["arcs"])
    start, end, n = r.number(ends[0]), r.number(ends[0] + ends[1]), r.whole(count)
    with r.when(end > math.pi):
        over = r.number(r.choose(ends[1] >= TURN, math.pi, end - TURN))
        _insert(r, arcs, n, r.number(-math.pi), over)
        end.set(math.pi)
    _insert(r, arcs, n, start, end)
    r.give(n)
    return r.function


def _insert(r: Routine, arcs: Doubles, n: Cell, start: Cell, end: Cell) -> None:
    first = r.whole(0)
    with r.loop():
        r.leave(first >= n)
        r.leave(arcs[first * 2 + 1] >= start)
        first.set(first + 1)
    behind = r.whole(first)
    with r.loop():
        r.leave(behind >= n)
        r.leave(arcs[behind * 2] > end)
        start.set(r.choose(arcs[behind * 2] < start, arcs[behind * 2], start))
        end.set(r.choose(arcs[behind * 2 + 1] > end, arcs[behind * 2 + 1], end))
        behind.set(behind + 1)
    # what lies behind moves up or down to the place after `first`
    with r.when(behind.equals(first)):
        left = r.whole(n)
        with r.loop():
            r.leave(left <= first)
            copy(arcs.at(left * 2), arcs.at(left * 2 - 2), 2)
            left.set(left - 1)
    with r.when(behind > first + 1):
        with r.times(n - behind) as k:
            copy(arcs.at((first + 1 + k) * 2), arcs.at((behind + k) * 2), 2)
    n.set(n + 1 - (behind - first))
    arcs[first * 2], arcs[first * 2 + 1] = start, end


def write_forbidden(module: ir.Module, add: ir.Function, segment: ir.Function) -> ir.Function:
    """Define forbidden(state, points, segments) -> how many arcs are forbidden at the radii that
    are set; -1: too many.

    At the end an arc that begins at -pi continues one that ends at pi: there is one less, from the
    second on.
    """
    r = Routine(module, "forbidden", 3)
    state_at, points, segments = r.arguments
    state = Record(r, state_at, STATE)
    count, pair = r.whole(0), Doubles(r, state["arcs"]).at(state["arcs_room"] * 2)
    inputs, outputs = Words(r, state["arcs_in"]), Words(r, state["arcs_out"])
    inputs[2], inputs[3] = state["point_minimum"], state["point_maximum"]
    batch(r, state, "arcs", points)
    center, half = Doubles(r, outputs[0]), Doubles(r, outputs[1])
    with r.times(points) as k:
        r.skip(half[k] <= 0.0)
        pair[0], pair[1] = wrapped(r, center[k] - half[k]), half[k] * 2.0
        count.set(r.call(add, state_at, count, pair.address))
    with r.times(segments) as k:
        count.set(r.call(segment, state_at, count, k))
        with r.when(count < 0):
            r.give(-1)
    arcs = Doubles(r, state["arcs"])
    with r.when(count > 1):
        last = count * 2 - 1
        with r.when((arcs[0] <= -math.pi) & (arcs[last] >= math.pi)):
            arcs[last] = arcs[1] + TURN
            with r.times(count - 1) as k:
                copy(arcs.at(k * 2), arcs.at(k * 2 + 2), 2)
            count.set(count - 1)
    r.give(count)
    return r.function


def batch(r: Routine, state: Record, name: str, count: Operand) -> Value:
    words = (state[f"{name}_in"], state[f"{name}_strides"], state[f"{name}_out"], state["scratch"])
    return r.call(state[f"{name}_code"], *words, 0, count)


def write_segment_arcs(module: ir.Module, add: ir.Function) -> ir.Function:
    """Define segment(state, count, k): the union of the arcs that segment k forbids and of those
    before; -1: too many.

    Cells of a turn from left to right, halved until bounds decide them; see crossings.py.
    """
    r = Routine(module, "segment", 3)
    state_at, count, k = r.arguments
    state = Record(r, state_at, STATE)
    inputs, outputs = Words(r, state["depth_in"]), Words(r, state["depth_out"])
    angles, values, slopes, bounds = (
        Doubles(r, x) for x in (inputs[1], outputs[0], outputs[1], outputs[2])
    )
    inputs[2] = Words(r, state["segment_clearance_in"])[2] + k * 48
    inputs[3], inputs[4] = state["segment_minimum"] + k * 8, state["segment_maximum"] + k * 8
    for cell in range(FIRST):
        angles[cell] = -math.pi + cell * (TURN / FIRST)
    batch(r, state, "depth", FIRST)
    R, n = r.number(bounds[0]), r.whole(count)
    inside = r.number(values[0])
    pair = Doubles(r, state["arcs"]).at(state["arcs_room"] * 2)
    cells, waiting = Doubles(r, state["cells"]), r.whole(FIRST)
    for cell in range(FIRST):  # the first one on top
        own, after = cells.at(CELL * (FIRST - 1 - cell)), (cell + 1) % FIRST
        parts = (
            angles[cell],
            TURN / FIRST,
            values[cell],
            slopes[cell],
            values[after],
            slopes[after],
        )
        for c, part in enumerate(parts):
            own[c] = part
    since, first_fall = r.number(math.inf), r.number(math.inf)  # inf: no rise, no fall yet
    with r.loop():
        r.leave(waiting.equals(0))
        waiting.set(waiting - 1)
        cell_at = cells.at(waiting * CELL)
        a, w, ga, da, gb, db = (r.number(cell_at[c]) for c in range(CELL))
        curved = r.number(R * w)
        r.skip(r.choose(ga > gb, ga, gb) + curved * w * 0.125 <= 0.0)
        down = r.choose(da < 0.0, 0.0 - da, r.number(0.0))
        up = r.choose(db > 0.0, db, r.number(0.0))
        one, other = ga - w * down, gb - w * up
        r.skip(r.choose(one > other, one, other) - curved * w * 0.5 > 0.0)
        rises = gb > 0.0
        crosses = Value(r, r.b.xor((ga > 0.0).ir, rises.ir))
        steep = Value(r, r.b.select(rises.ir, (da - curved > 0.0).ir, (db + curved < 0.0).ir))
        narrow = w < FINEST
        once = r.whole(Value(r, r.b.zext((crosses & (steep | narrow)).ir, ir.IntType(64))))
        with r.when(once.equals(1)):
            root = _root(r, state, angles, values, slopes, a, w, rises)
            with r.either(rises) as (yes, no):
                with yes:
                    since.set(root)
                with no:
                    with r.either(since < math.inf) as (open_, closed):
                        with open_:
                            pair[0], pair[1] = since, root - since
                            n.set(r.call(add, state_at, n, pair.address))
                            since.set(math.inf)
                        with closed:
                            first_fall.set(root)
                    with r.when(n >= state["arcs_room"] - 2):
                        r.give(-1)
        r.skip(once.equals(1) | narrow)
        half = r.number(w * 0.5)
        angles[0] = a + half
        batch(r, state, "depth", 1)
        middle, right = cells.at(waiting * CELL), cells.at(waiting * CELL + CELL)
        for c, part in enumerate((a + half, half, values[0], slopes[0], gb, db)):
            middle[c] = part
        for c, part in enumerate((a, half, ga, da, values[0], slopes[0])):
            right[c] = part
        waiting.set(waiting + 2)
    never = ~(since < math.inf) & ~(first_fall < math.inf)
    with r.when(never & (inside > 0.0)):
        pair[0], pair[1] = -math.pi, TURN
        n.set(r.call(add, state_at, n, pair.address))
    with r.when(since < math.inf):  # inside at pi, so from -pi on
        pair[0], pair[1] = since, first_fall + TURN - since
        n.set(r.call(add, state_at, n, pair.address))
    r.give(n)
    return r.function


def _root(
    r: Routine,
    state: Record,
    angles: Doubles,
    values: Doubles,
    slopes: Doubles,
    a: Cell,
    w: Cell,
    rises: Value,
) -> Value:
    """The crossing of a cell by Newton's method within a bracket that only shrinks."""
    low, high, x = r.number(a), r.number(a + w), r.number(a + w * 0.5)
    with r.times(ROUNDS):
        angles[0] = x
        batch(r, state, "depth", 1)
        g, slope = r.number(values[0]), r.number(slopes[0])
        beyond = ~Value(r, r.b.xor((g > 0.0).ir, rises.ir))
        low.set(Value(r, r.b.select(beyond.ir, low.ir, x.ir)))
        high.set(Value(r, r.b.select(beyond.ir, x.ir, high.ir)))
        stepped = x - g / slope
        moved = r.number(r.choose((stepped > low) & (stepped < high), stepped, (low + high) * 0.5))
        way = r.number(moved - x)
        x.set(moved)
        r.leave(size(r, way) <= 4e-16 * TURN)
    return x


def write_free(module: ir.Module) -> ir.Function:
    """Define free(state, count, places): places = (goal, keep) become (the free angle, 1),
    or 0 where none is free.

    It lies in the free arc that contains `keep`, or the one nearest to it; see `arcs.nearest_of`.
    """
    r = Routine(module, "free", 3)
    state_at, count, places_at = r.arguments
    state, places = Record(r, state_at, STATE), Doubles(r, places_at)
    arcs, goal, keep = Doubles(r, state["arcs"]), r.number(places[0]), r.number(places[1])
    places[1] = 1.0
    with r.when(count.equals(0)):
        places[0] = keep + wrapped(r, goal - keep)
        r.give(0)
    inside = r.number(keep)
    with r.times(count) as k:
        start, end = r.number(arcs[k * 2]), r.number(arcs[k * 2 + 1])
        with r.when(end - start >= TURN):
            places[1] = 0.0
            r.give(0)
        back = r.number(turned(r, keep - start))
        forth = r.number((end - start) - back)
        pushed = r.choose(back <= forth, keep - back, keep + forth)
        inside.set(r.choose((back > 0.0) & (forth > 0.0), pushed, inside))
    below, above = r.number(TURN), r.number(TURN)
    with r.times(count) as k:
        start, end = r.number(arcs[k * 2]), r.number(arcs[k * 2 + 1])
        for least, way in ((below, inside - end), (above, start - inside)):
            ahead = r.number(turned(r, way))
            ahead.set(r.choose(ahead > TURN - ROUNDING, 0.0, ahead))
            least.set(r.choose(ahead < least, ahead, least))
    to_goal = r.number(wrapped(r, goal - inside))
    low, high = r.number(inside - below), r.number(inside + above)
    nearer = size(r, wrapped(r, goal - low)) <= size(r, wrapped(r, goal - high))
    end = r.number(r.choose(nearer, low, high))
    reached = (to_goal <= above) & (to_goal >= 0.0 - below)
    places[0] = r.choose(reached, inside + to_goal, end)
    r.give(0)
    return r.function
