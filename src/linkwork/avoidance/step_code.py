"""Elbow step in machine code: from the tool's pose and the obstacles to joint angles, one call, one step after another.

The arm's own equations are kernels (arm_equations.py), which this routine calls; what lies between them has loops: the
union of forbidden arcs, the crossings of segments (crossings.py says why they are all found), the free angle nearest to
zero, the filter. It is the same code for every arm.
"""

from __future__ import annotations

import math

from llvmlite import ir

from linkwork.avoidance.arcs import ROUNDING, TURN
from linkwork.avoidance.arm_equations import FAR
from linkwork.avoidance.crossings import FINEST, FIRST, ROUNDS
from linkwork.avoidance.elbow import STRAIGHT
from linkwork.avoidance.guard import STILL
from linkwork.engine.growing import copy
from linkwork.engine.routines import Cell, Doubles, Operand, Record, Routine, Value, Words
from linkwork.inverse.analytic.solve import DEFECT

SINGLES = ("swing", "nearest", "guard")  # kernels that are asked about one sample
BATCHES = ("arcs", "clearance", "depth", "segment_clearance")  # about all obstacles at once
POINT_KERNELS = ("arcs", "clearance")
ROWS = ("point", "segment")
KEPT = ("h1", "h2", "b1", "b2", "x1", "x2", "y1", "y2", "wanted", "last_clearance", "threshold")
LEVELS = ("active", "hard")
RADII = tuple(f"{level}_{side}" for level in LEVELS for side in ("minimum", "maximum"))
FROM = ("first", "first_radii", "counts")  # obstacles of all steps one after the other, how many each step has
STATE = (
    *(f"{name}_{part}" for name in SINGLES for part in ("code", "in", "out")),
    *(f"{name}_{part}" for name in BATCHES for part in ("code", "in", "strides", "out")),
    *(f"{row}_{part}" for row in ROWS for part in FROM),
    *(f"{row}_{part}" for row in ROWS for part in ("source", "radii", "count", "room", "minimum", "maximum", *RADII)),
    *RADII,
    "scratch",
    "arcs",  # (start, end) of the union of forbidden arcs, and where one more would not fit
    "arcs_room",
    "cells",
    *KEPT,
    "shortest",
    "longest",
    "poses",
    "steps",
    "results",
)
"""What one step reads and keeps: codes and addresses, then numbers."""
RESULTS = ("wanted", "arm_angle", "clearance", "speed_scale", "status")
CLEAR, AVOIDING, LAGGING, BLOCKED, STALE = range(5)
NO_POSE, NO_CONFIGURATION, NO_ROOM = 5, 6, 7
"""What `step` gives where there is nothing to decide: it has changed nothing then."""
ARM = 7
CELL = 6  # numbers of a cell: angle, width, value and slope at either end
CELLS = FIRST + 40  # a cell is halved some 30 times at most
ON_TARGET = 1e-3
"""An arm angle this near to the wanted one [rad] has arrived."""
ENDS = {"point": 3, "segment": 6}


def write_steps(module: ir.Module) -> None:
    """Define run(state): `steps` steps, each with its pose and obstacles, until one gives no result; how many did."""
    add = _write_add(module)
    segment = _write_segment_arcs(module, add)
    forbidden = _write_forbidden(module, add, segment)
    step = _StepWriter(module, forbidden, _write_free(module), _write_room(module)).function
    r = Routine(module, "run", 1)
    state = Record(r, r.arguments[0], STATE)
    results, poses = Doubles(r, state["results"]), Doubles(r, state["poses"])
    counts = {row: Words(r, state[f"{row}_counts"]) for row in ROWS}
    for row in ROWS:
        state[f"{row}_source"], state[f"{row}_radii"] = state[f"{row}_first"], state[f"{row}_first_radii"]
    with r.times(state["steps"]) as k:
        copy(Doubles(r, Words(r, state["swing_in"])[0]), poses.at(k * 16), 16)
        for row in ROWS:
            state[f"{row}_count"] = counts[row][k]
        own = results.at(k * (len(RESULTS) + ARM))
        status = r.whole(r.call(step, r.arguments[0], own.address))
        with r.when(status > STALE):
            own[4] = status.as_number()
            r.give(k)
        for row in ROWS:
            state[f"{row}_source"] = state[f"{row}_source"] + counts[row][k] * (8 * ENDS[row])
            state[f"{row}_radii"] = state[f"{row}_radii"] + counts[row][k] * 8
    r.give(state["steps"])


def _wrapped(r: Routine, angle: Value) -> Value:
    """In [-pi, pi)."""
    return _turned(r, angle + math.pi) - math.pi


def _turned(r: Routine, angle: Value) -> Value:
    """In [0, 2 pi)."""
    return angle - r.floor(angle * (1.0 / TURN)) * TURN


def _size(r: Routine, x: Value) -> Value:
    return r.choose(x < 0.0, 0.0 - x, x)


def _is_finite(r: Routine, x: Value) -> Value:
    return (x - x).equals(0.0)


def _write_add(module: ir.Module) -> ir.Function:
    """Define add(state, count, ends): the union of (start, width), start in [-pi, pi), and of the arcs; their number.

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


def _write_forbidden(module: ir.Module, add: ir.Function, segment: ir.Function) -> ir.Function:
    """Define forbidden(state, points, segments) -> how many arcs are forbidden at the radii that are set; -1: too many.

    At the end an arc that begins at -pi continues one that ends at pi: there is one less, from the second on.
    """
    r = Routine(module, "forbidden", 3)
    state_at, points, segments = r.arguments
    state = Record(r, state_at, STATE)
    count, pair = r.whole(0), Doubles(r, state["arcs"]).at(state["arcs_room"] * 2)
    inputs, outputs = Words(r, state["arcs_in"]), Words(r, state["arcs_out"])
    inputs[2], inputs[3] = state["point_minimum"], state["point_maximum"]
    _batch(r, state, "arcs", points)
    center, half = Doubles(r, outputs[0]), Doubles(r, outputs[1])
    with r.times(points) as k:
        r.skip(half[k] <= 0.0)
        pair[0], pair[1] = _wrapped(r, center[k] - half[k]), half[k] * 2.0
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


def _batch(r: Routine, state: Record, name: str, count: Operand) -> Value:
    words = (state[f"{name}_in"], state[f"{name}_strides"], state[f"{name}_out"], state["scratch"])
    return r.call(state[f"{name}_code"], *words, 0, count)


def _write_segment_arcs(module: ir.Module, add: ir.Function) -> ir.Function:
    """Define segment(state, count, k): the union of the arcs that segment k forbids and of those before; -1: too many.

    Cells of a turn from left to right, halved until bounds decide them; see crossings.py.
    """
    r = Routine(module, "segment", 3)
    state_at, count, k = r.arguments
    state = Record(r, state_at, STATE)
    inputs, outputs = Words(r, state["depth_in"]), Words(r, state["depth_out"])
    angles, values, slopes, bounds = (Doubles(r, x) for x in (inputs[1], outputs[0], outputs[1], outputs[2]))
    inputs[2] = Words(r, state["segment_clearance_in"])[2] + k * 48
    inputs[3], inputs[4] = state["segment_minimum"] + k * 8, state["segment_maximum"] + k * 8
    for cell in range(FIRST):
        angles[cell] = -math.pi + cell * (TURN / FIRST)
    _batch(r, state, "depth", FIRST)
    R, n = r.number(bounds[0]), r.whole(count)
    inside = r.number(values[0])
    pair = Doubles(r, state["arcs"]).at(state["arcs_room"] * 2)
    cells, waiting = Doubles(r, state["cells"]), r.whole(FIRST)
    for cell in range(FIRST):  # the first one on top
        own, after = cells.at(CELL * (FIRST - 1 - cell)), (cell + 1) % FIRST
        parts = (angles[cell], TURN / FIRST, values[cell], slopes[cell], values[after], slopes[after])
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
        down, up = r.choose(da < 0.0, 0.0 - da, r.number(0.0)), r.choose(db > 0.0, db, r.number(0.0))
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
        _batch(r, state, "depth", 1)
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
    r: Routine, state: Record, angles: Doubles, values: Doubles, slopes: Doubles, a: Cell, w: Cell, rises: Value
) -> Value:
    """The crossing of a cell by Newton's method within a bracket that only shrinks."""
    low, high, x = r.number(a), r.number(a + w), r.number(a + w * 0.5)
    with r.times(ROUNDS):
        angles[0] = x
        _batch(r, state, "depth", 1)
        g, slope = r.number(values[0]), r.number(slopes[0])
        beyond = ~Value(r, r.b.xor((g > 0.0).ir, rises.ir))
        low.set(Value(r, r.b.select(beyond.ir, low.ir, x.ir)))
        high.set(Value(r, r.b.select(beyond.ir, x.ir, high.ir)))
        stepped = x - g / slope
        moved = r.number(r.choose((stepped > low) & (stepped < high), stepped, (low + high) * 0.5))
        way = r.number(moved - x)
        x.set(moved)
        r.leave(_size(r, way) <= 4e-16 * TURN)
    return x


def _write_free(module: ir.Module) -> ir.Function:
    """Define free(state, count, places): places = (goal, keep) become (the free angle, 1), or 0 where none is free.

    It lies in the free arc that contains `keep`, or the one nearest to it; see `arcs.nearest_of`.
    """
    r = Routine(module, "free", 3)
    state_at, count, places_at = r.arguments
    state, places = Record(r, state_at, STATE), Doubles(r, places_at)
    arcs, goal, keep = Doubles(r, state["arcs"]), r.number(places[0]), r.number(places[1])
    places[1] = 1.0
    with r.when(count.equals(0)):
        places[0] = keep + _wrapped(r, goal - keep)
        r.give(0)
    inside = r.number(keep)
    with r.times(count) as k:
        start, end = r.number(arcs[k * 2]), r.number(arcs[k * 2 + 1])
        with r.when(end - start >= TURN):
            places[1] = 0.0
            r.give(0)
        back = r.number(_turned(r, keep - start))
        forth = r.number((end - start) - back)
        pushed = r.choose(back <= forth, keep - back, keep + forth)
        inside.set(r.choose((back > 0.0) & (forth > 0.0), pushed, inside))
    below, above = r.number(TURN), r.number(TURN)
    with r.times(count) as k:
        start, end = r.number(arcs[k * 2]), r.number(arcs[k * 2 + 1])
        for least, way in ((below, inside - end), (above, start - inside)):
            ahead = r.number(_turned(r, way))
            ahead.set(r.choose(ahead > TURN - ROUNDING, 0.0, ahead))
            least.set(r.choose(ahead < least, ahead, least))
    to_goal = r.number(_wrapped(r, goal - inside))
    low, high = r.number(inside - below), r.number(inside + above)
    nearer = _size(r, _wrapped(r, goal - low)) <= _size(r, _wrapped(r, goal - high))
    end = r.number(r.choose(nearer, low, high))
    reached = (to_goal <= above) & (to_goal >= 0.0 - below)
    places[0] = r.choose(reached, inside + to_goal, end)
    r.give(0)
    return r.function


def _write_room(module: ir.Module) -> ir.Function:
    """Define room(state, points, segments, place): the least clearance to the hard volume, inf without obstacles."""
    r = Routine(module, "room", 4)
    state_at, points, segments, place = r.arguments
    state, least = Record(r, state_at, STATE), r.number(math.inf)
    for name, row, count in (("clearance", "point", points), ("segment_clearance", "segment", segments)):
        inputs = Words(r, state[f"{name}_in"])
        inputs[3], inputs[4] = state[f"{row}_hard_minimum"], state[f"{row}_hard_maximum"]
        with r.when(count > 0):
            _batch(r, state, name, count)
            rows = Doubles(r, Words(r, state[f"{name}_out"])[0])
            with r.times(count) as k:
                least.set(r.choose(rows[k] < least, rows[k], least))
    Doubles(r, place)[0] = least
    r.give(0)
    return r.function


class _StepWriter:
    """Writes step(state, results) -> status, or why there is none."""

    def __init__(self, module: ir.Module, forbidden: ir.Function, free: ir.Function, room: ir.Function) -> None:
        self.forbidden, self.free, self.room = forbidden, free, room
        self.r = r = Routine(module, "step", 2)
        self.state_at, self.results = r.arguments[0], Doubles(r, r.arguments[1])
        self.state = Record(r, self.state_at, STATE)
        self.places = self.results  # two numbers that go in and come out
        self.function = r.function
        self._write()

    def _write(self) -> None:
        r, state, out = self.r, self.state, self.results
        self._swing()
        points, stale_points = self._taken("point")
        segments, stale_segments = self._taken("segment")
        stale = stale_points | stale_segments
        number = state.number
        here, before = r.number(number("y1")), r.number(number("wanted"))
        wanted, blocked = r.number(before), r.whole(0)
        with r.when(~stale):
            blocked.set(self._nearest_free("active", points, segments, r.number(0.0), here))
            wanted.set(r.choose(blocked.equals(0), self.places[0], before))
        # the filter: what comes in now shows from the next step on
        newest = r.number(number("x1") + _wrapped(r, wanted - number("x1")))
        angle = r.number(number("h1") * number("x1") + number("h2") * number("x2"))
        angle.set(angle + number("b1") * number("y1") + number("b2") * number("y2"))
        clearance, lagging = r.number(self._room_at(points, segments, angle)), r.whole(0)
        with r.when(clearance < 0.0):
            enclosed = r.whole(self._nearest_free("hard", points, segments, angle, angle))
            with r.either(enclosed.equals(0)) as (out_of_it, nowhere):
                with out_of_it:
                    lagging.set(1)
                    angle.set(self.places[0])
                    clearance.set(self._room_at(points, segments, angle))
                with nowhere:
                    blocked.set(1)
        self._configuration(angle)
        # from here on everything is decided: what is kept
        past = {"x2": number("x1"), "x1": newest, "y2": number("y1"), "y1": angle}
        held = {name: r.number(value) for name, value in past.items()}
        doubles, at = state.doubles, state.names
        for name, value in held.items():
            doubles[at[name]] = r.choose(lagging.equals(1), angle, value)
        doubles[at["wanted"]] = wanted
        out[0] = r.choose(blocked.equals(1) & ~stale, math.nan, wanted)
        out[1], out[2] = angle, clearance
        self._guard(clearance)
        status = self._status(stale, blocked, lagging, wanted, angle)
        out[4] = status.as_number()
        r.give(status)

    def _swing(self) -> None:
        """What the pose fixes; ends where it is none or the arm angle is undefined."""
        r, state = self.r, self.state
        outputs = Words(r, state["swing_out"])
        bad = r.call(state["swing_code"], state["swing_in"], state["swing_out"])
        D, defect, room = Doubles(r, outputs[0])[12], Doubles(r, outputs[1])[0], Doubles(r, outputs[2])[0]
        good = (defect <= DEFECT) & (D >= state.number("shortest")) & (D <= state.number("longest")) & (room > STRAIGHT)
        with r.when(~(good & bad.equals(0))):
            r.give(NO_POSE)

    def _taken(self, row: str) -> tuple[Cell, Value]:
        """The obstacles that are numbers, with the radii of the volume beside each; (how many, whether one was not)."""
        r, state, size = self.r, self.state, ENDS[row]
        name = "clearance" if row == "point" else "segment_clearance"
        source, radii = Doubles(r, state[f"{row}_source"]), Doubles(r, state[f"{row}_radii"])
        rows, n = Doubles(r, Words(r, state[f"{name}_in"])[2]), r.whole(0)
        allowed = {radius: (state.number(radius), Doubles(r, state[f"{row}_{radius}"])) for radius in RADII}
        with r.when(state[f"{row}_count"] > state[f"{row}_room"]):
            r.give(NO_ROOM)
        with r.times(state[f"{row}_count"]) as k:
            total = r.number(radii[k])
            for c in range(size):
                x = source[k * size + c]
                rows[n * size + c] = x
                total.set(total + x)
            r.skip(~_is_finite(r, total))
            for own, beside in allowed.values():
                beside[n] = own + radii[k]
            n.set(n + 1)
        return n, ~n.equals(state[f"{row}_count"])

    def _nearest_free(self, level: str, points: Cell, segments: Cell, goal: Cell, keep: Cell) -> Value:
        """1 where no angle is free; otherwise places[0] is the one that is wanted."""
        r, state = self.r, self.state
        for row in ROWS:
            for side in ("minimum", "maximum"):
                state[f"{row}_{side}"] = state[f"{row}_{level}_{side}"]
        count = r.whole(r.call(self.forbidden, self.state_at, points, segments))
        with r.when(count < 0):
            r.give(NO_ROOM)
        self.places[0], self.places[1] = goal, keep
        r.call(self.free, self.state_at, count, self.places.address)
        return r.choose(self.places[1] > 0.5, 0, r.whole(1))

    def _room_at(self, points: Cell, segments: Cell, angle: Cell) -> Value:
        r, state = self.r, self.state
        Doubles(r, Words(r, state["clearance_in"])[1])[0] = angle
        r.call(self.room, self.state_at, points, segments, self.places.address)
        return self.places[0]

    def _configuration(self, angle: Cell) -> None:
        """The branch that goes on from the last configuration, into the results and for the next step."""
        r, state = self.r, self.state
        inputs, outputs = Words(r, state["nearest_in"]), Words(r, state["nearest_out"])
        before, q, apart = Doubles(r, inputs[2]), Doubles(r, outputs[0]), Doubles(r, outputs[1])
        bad = r.call(state["nearest_code"], state["nearest_in"], state["nearest_out"])
        with r.when(~(bad.equals(0) & (apart[0] < FAR))):
            r.give(NO_CONFIGURATION)
        copy(before, q, ARM)
        copy(self.results.at(len(RESULTS)), q, ARM)

    def _guard(self, clearance: Cell) -> None:
        """The scale of the tool's speed: one where nothing is near, or where the clearance grows."""
        r, state = self.r, self.state
        last = state.names["last_clearance"]
        near = (clearance <= state.doubles[last] + STILL) & (clearance < state.number("threshold"))
        state.doubles[last] = clearance
        self.results[3] = 1.0
        with r.when(near):
            inputs, outputs = Words(r, state["guard_in"]), Words(r, state["guard_out"])
            Doubles(r, inputs[0])[0], Doubles(r, inputs[1])[0] = clearance, state.number("threshold")
            r.call(state["guard_code"], state["guard_in"], state["guard_out"])
            self.results[3] = r.choose(clearance <= 0.0, 0.0, Doubles(r, outputs[0])[0])

    def _status(self, stale: Value, blocked: Cell, lagging: Cell, wanted: Cell, angle: Cell) -> Value:
        r = self.r
        off = _size(r, _wrapped(r, wanted - angle))
        away = _size(r, _wrapped(r, wanted))
        moving = (off > ON_TARGET) | (away > ON_TARGET)
        status = r.whole(r.choose(moving, AVOIDING, r.whole(CLEAR)))
        status.set(r.choose(lagging.equals(1), LAGGING, status))
        status.set(r.choose(blocked.equals(1), BLOCKED, status))
        return r.choose(stale, STALE, status)
