"""Motion calls: how routines ask the collision checker whether a straight motion is free."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from linkwork.engine.routines import Doubles, Record, Routine, Value

ASKING = (
    "checker",
    "words",
    "strides",
    "outputs",
    "from",
    "way",
    "intervals",
    "hit",
    "per_step",
    "checks",
)
"""Words of a job that `is_free` reads: the checker's code, its arguments,
and buffers of these for one motion."""


def write_is_free(module: ir.Module, size: int, names: Sequence[str]) -> ir.Function:
    """Define is_free(job, scratch, start, way) -> 1 if no sample of start + t way touches anything,
    t in 0 .. 1.

    The start itself is known to be free, so that samples 1 .. N are asked: a motion of N steps
    fills N lanes.
    """
    r = Routine(module, "is_free", 4)
    job_at, scratch, start_at, way_at = r.arguments
    job, start, way = Record(r, job_at, names), Doubles(r, start_at), Doubles(r, way_at)
    first, rest = Doubles(r, job["from"]), Doubles(r, job["way"])
    steps = r.ceiling(length_of(r, [way[c] for c in range(size)]) * job.number("per_step"))
    steps = r.choose(steps < 1.0, 1.0, steps)
    share = Value(r, ir.Constant(ir.DoubleType(), 1.0)) / steps
    for c in range(size):
        first[c] = r.multiply_add(way[c], share, start[c])
        rest[c] = way[c] - way[c] * share
    left = steps - 1.0
    Doubles(r, job["intervals"])[0] = r.choose(left < 1.0, 1.0, left)
    job["checks"] = job["checks"] + 1
    bad = r.call(job["checker"], job["words"], job["strides"], job["outputs"], scratch, 0, 1)
    free = Doubles(r, job["hit"])[0].equals(0.0) & (bad < 0)
    r.give(Value(r, r.b.zext(free.ir, ir.IntType(64))))
    return r.function


def length_of(r: Routine, parts: Sequence[Value]) -> Value:
    """The Euclidean length of a vector."""
    total = parts[0] * parts[0]
    for part in parts[1:]:
        total = r.multiply_add(part, part, total)
    return r.root(total)


def difference(r: Routine, target: Doubles, source: Doubles, turns: Sequence[float]) -> list[Value]:
    """The way from a source to a target; joints that turn without end take the shorter one."""
    ways = []
    for c, turn in enumerate(turns):
        way = target[c] - source[c]
        if turn:
            way = way - r.nearest_whole(way * (1.0 / turn)) * turn
        ways.append(way)
    return ways
