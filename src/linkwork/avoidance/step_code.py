"""Elbow step in machine code: from the tool's pose and the obstacles to joint angles, one call,
one step after another.

The arm's own equations are kernels (arm_equations.py), which this routine calls; what lies between
them has loops: the forbidden arcs and the free angle among them (arc_code.py), the filter. It is
the same code for every arm.
"""

from __future__ import annotations

import math

from llvmlite import ir

from linkwork.avoidance.arc_code import (
    batch,
    size,
    wrapped,
    write_add,
    write_forbidden,
    write_free,
    write_segment_arcs,
)
from linkwork.avoidance.arm_equations import FAR
from linkwork.avoidance.elbow import STRAIGHT
from linkwork.avoidance.guard import STILL
from linkwork.avoidance.step_record import ENDS, RADII, ROWS, STATE
from linkwork.engine.routines import Cell, Doubles, Record, Routine, Value, Words, copy
from linkwork.inverse.analytic.solve import DEFECT

RESULTS = ("wanted", "arm_angle", "clearance", "speed_scale", "status")
CLEAR, AVOIDING, LAGGING, BLOCKED, STALE = range(5)
NO_POSE, NO_CONFIGURATION, NO_ROOM = 5, 6, 7
"""What `step` gives where there is nothing to decide: it has changed nothing then."""
ARM = 7
ON_TARGET = 1e-3
"""An arm angle this near to the wanted one [rad] has arrived."""


def write_steps(module: ir.Module) -> None:
    """Define run(state): `steps` steps, each with its pose and obstacles,
    until one gives no result; how many did."""
    add = write_add(module)
    segment = write_segment_arcs(module, add)
    forbidden = write_forbidden(module, add, segment)
    step = _StepWriter(module, forbidden, write_free(module), _write_room(module)).function
    r = Routine(module, "run", 1)
    state = Record(r, r.arguments[0], STATE)
    results, poses = Doubles(r, state["results"]), Doubles(r, state["poses"])
    counts = {row: Words(r, state[f"{row}_counts"]) for row in ROWS}
    for row in ROWS:
        state[f"{row}_source"], state[f"{row}_radii"] = (
            state[f"{row}_first"],
            state[f"{row}_first_radii"],
        )
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


def _is_finite(r: Routine, x: Value) -> Value:
    return (x - x).equals(0.0)


def _write_room(module: ir.Module) -> ir.Function:
    """Define room(state, points, segments, place): the least clearance to the hard volume,
    inf without obstacles."""
    r = Routine(module, "room", 4)
    state_at, points, segments, place = r.arguments
    state, least = Record(r, state_at, STATE), r.number(math.inf)
    for name, row, count in (
        ("clearance", "point", points),
        ("segment_clearance", "segment", segments),
    ):
        inputs = Words(r, state[f"{name}_in"])
        inputs[3], inputs[4] = state[f"{row}_hard_minimum"], state[f"{row}_hard_maximum"]
        with r.when(count > 0):
            batch(r, state, name, count)
            rows = Doubles(r, Words(r, state[f"{name}_out"])[0])
            with r.times(count) as k:
                least.set(r.choose(rows[k] < least, rows[k], least))
    Doubles(r, place)[0] = least
    r.give(0)
    return r.function


class _StepWriter:
    """Writes step(state, results) -> status, or why there is none."""

    def __init__(
        self, module: ir.Module, forbidden: ir.Function, free: ir.Function, room: ir.Function
    ) -> None:
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
        newest = r.number(number("x1") + wrapped(r, wanted - number("x1")))
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
        D = Doubles(r, outputs[0])[12]
        defect = Doubles(r, outputs[1])[0]
        room = Doubles(r, outputs[2])[0]
        good = (
            (defect <= DEFECT)
            & (D >= state.number("shortest"))
            & (D <= state.number("longest"))
            & (room > STRAIGHT)
        )
        with r.when(~(good & bad.equals(0))):
            r.give(NO_POSE)

    def _taken(self, row: str) -> tuple[Cell, Value]:
        """The obstacles that are numbers, with the radii of the volume beside each;
        (how many, whether one was not)."""
        r, state, size = self.r, self.state, ENDS[row]
        name = "clearance" if row == "point" else "segment_clearance"
        source, radii = Doubles(r, state[f"{row}_source"]), Doubles(r, state[f"{row}_radii"])
        rows, n = Doubles(r, Words(r, state[f"{name}_in"])[2]), r.whole(0)
        allowed = {
            radius: (state.number(radius), Doubles(r, state[f"{row}_{radius}"])) for radius in RADII
        }
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

    def _nearest_free(
        self, level: str, points: Cell, segments: Cell, goal: Cell, keep: Cell
    ) -> Value:
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
        """The branch that goes on from the last configuration,
        into the results and for the next step."""
        r, state = self.r, self.state
        inputs, outputs = Words(r, state["nearest_in"]), Words(r, state["nearest_out"])
        before, q, apart = Doubles(r, inputs[2]), Doubles(r, outputs[0]), Doubles(r, outputs[1])
        bad = r.call(state["nearest_code"], state["nearest_in"], state["nearest_out"])
        with r.when(~(bad.equals(0) & (apart[0] < FAR))):
            r.give(NO_CONFIGURATION)
        copy(before, q, ARM)
        copy(self.results.at(len(RESULTS)), q, ARM)

    def _guard(self, clearance: Cell) -> None:
        """The scale of the tool's speed: one where nothing is near, or where the clearance
        grows."""
        r, state = self.r, self.state
        last = state.names["last_clearance"]
        near = (clearance <= state.doubles[last] + STILL) & (clearance < state.number("threshold"))
        state.doubles[last] = clearance
        self.results[3] = 1.0
        with r.when(near):
            inputs, outputs = Words(r, state["guard_in"]), Words(r, state["guard_out"])
            threshold = state.number("threshold")
            Doubles(r, inputs[0])[0] = clearance
            Doubles(r, inputs[1])[0] = threshold
            r.call(state["guard_code"], state["guard_in"], state["guard_out"])
            self.results[3] = r.choose(clearance <= 0.0, 0.0, Doubles(r, outputs[0])[0])

    def _status(
        self, stale: Value, blocked: Cell, lagging: Cell, wanted: Cell, angle: Cell
    ) -> Value:
        r = self.r
        off = size(r, wrapped(r, wanted - angle))
        away = size(r, wrapped(r, wanted))
        moving = (off > ON_TARGET) | (away > ON_TARGET)
        status = r.whole(r.choose(moving, AVOIDING, r.whole(CLEAR)))
        status.set(r.choose(lagging.equals(1), LAGGING, status))
        status.set(r.choose(blocked.equals(1), BLOCKED, status))
        return r.choose(stale, STALE, status)
