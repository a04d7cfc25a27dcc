"""Projected RRT-Connect in machine code: the two trees of rrt_connect.py on the configurations that
keep constraints.

Samples are projected, POINTS at a time. A tree slides towards one in chunks: POINTS evenly spaced
points of the straight way are projected side by side in the lanes of one kernel, and the chunk is
taken if all of them keep the constraints, no two neighbours are further apart than twice their
share (no jump to another sheet), the target came nearer, and none touches anything. Source:
[Kuffner2000], [Berenson2009] (projected extensions).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from linkwork.engine.neighbours import FAR
from linkwork.engine.routines import Cell, Doubles, Record, Routine, Value, copy
from linkwork.planning.constraints import EXACT
from linkwork.planning.motion_calls import difference, length_of
from linkwork.planning.rrt_connect import JOB, SOLVED, SearchWriter, Tree

POINTS = 8  # of a chunk, `step` apart
TILE = ("rows", "next", "samples", "off", "hits", "kept")
"""Memory of a job for POINTS configurations: where it stands, in this order;
the first three have nq columns."""
SLIDING, SAMPLING = 10, 25  # iterations of Newton's method, at most
LEAST_PROGRESS = 0.3  # of a chunk's length, by which the target comes nearer
STUCK, ADVANCED, ARRIVED = 0, 1, 2


def places(size: int) -> dict[str, int]:
    """Where each part of the tile begins, in doubles; "end": its length."""
    widths = {name: POINTS * (size if name in TILE[:3] else 1) for name in TILE}
    places, at = {}, 0
    for name in TILE:
        places[name] = at
        at += widths[name]
    return {**places, "end": at}


def write_project(module: ir.Module, size: int) -> ir.Function:
    """Define project(job, scratch, most): the rows of the tile moved onto the manifold;
    1 if all are there."""
    r = Routine(module, "project", 3)
    job_at, scratch, most = r.arguments
    job, at = Record(r, job_at, JOB), places(size)
    tile = Doubles(r, job["tile"])
    rows, following, off = (tile.at(at[name]) for name in ("rows", "next", "off"))
    count = r.whole(0)
    with r.loop():
        words, strides, outputs = (
            job[f"projector_{name}"] for name in ("words", "strides", "outputs")
        )
        bad = r.call(job["projector"], words, strides, outputs, scratch, 0, POINTS)
        with r.when(bad >= 0):
            r.give(0)
        worst = r.number(0.0)
        for k in range(POINTS):
            worst.set(r.choose(off[k] > worst, off[k], worst))
        with r.when(worst <= EXACT):
            r.give(1)
        with r.when(count >= most):
            r.give(0)
        count.set(count + 1)
        copy(rows, following, POINTS * size)
    r.give(0)  # never reached
    return r.function


def write_slide(
    module: ir.Module, size: int, turns: Sequence[float], project: ir.Function
) -> ir.Function:
    """Define slide(job, scratch, from, target, out) -> STUCK, ADVANCED or ARRIVED;
    `out` is where the chunk ends."""
    r = Routine(module, "slide", 5)
    job_at, scratch, from_at, target_at, out_at = r.arguments
    job, at = Record(r, job_at, JOB), places(size)
    source, target, out = (Doubles(r, x) for x in (from_at, target_at, out_at))
    tile = Doubles(r, job["tile"])
    rows, hits = tile.at(at["rows"]), tile.at(at["hits"])
    way = difference(r, target, source, turns)
    distance = r.number(length_of(r, way))
    longest = r.number(r.number(float(POINTS)) / job.number("per_step"))
    arrives = distance <= longest
    share = r.number(r.choose(arrives, 1.0, longest / distance))
    for k in range(POINTS):
        for c in range(size):
            rows[k * size + c] = r.multiply_add(way[c], share * ((k + 1) / POINTS), source[c])
    kept = r.call(project, job_at, scratch, SLIDING)
    with r.when(kept.equals(0)):
        r.give(STUCK)
    last = rows.at((POINTS - 1) * size)
    with r.when(arrives):
        for c in range(size):
            last[c] = source[c] + way[c]
    # no jumps, and nearer than before
    apart = r.number(distance * share * (2.0 / POINTS) + 1e-9)
    for k in range(POINTS):
        here, before = rows.at(k * size), source if k == 0 else rows.at((k - 1) * size)
        with r.when(length_of(r, [here[c] - before[c] for c in range(size)]) > apart):
            r.give(STUCK)
    left = r.number(length_of(r, difference(r, target, last, turns)))
    with r.when((left > distance * (1.0 - LEAST_PROGRESS * share)) & ~arrives):
        r.give(STUCK)
    words, strides, outputs = (job[f"points_{name}"] for name in ("words", "strides", "outputs"))
    job["checks"] = job["checks"] + 1
    bad = r.call(job["points"], words, strides, outputs, scratch, 0, POINTS)
    touches = r.number(0.0)
    for k in range(POINTS):
        touches.set(touches + hits[k])
    with r.when((bad >= 0) | (touches > 0.0)):
        r.give(STUCK)
    copy(out, last, size)
    r.give(r.choose(arrives, ARRIVED, r.whole(ADVANCED)))
    return r.function


class ProjectedWriter(SearchWriter):
    """Writes `search` on a manifold."""

    def prepare(self, module: ir.Module) -> None:
        project = write_project(module, self.size)
        self.slide = write_slide(module, self.size, self.turns, project)
        self.project = project

    def _begin(self) -> None:
        r, job, size = self.r, self.job, self.size
        first, second = (
            Tree(r, job, Value(r, ir.Constant(ir.IntType(1), is_first))) for is_first in (1, 0)
        )
        start, goals = Doubles(r, job["start"]), Doubles(r, job["goals"])
        none = Value(r, ir.Constant(ir.IntType(64), -1))
        row = r.whole(self._append(first, start, none, r.number(0.0)))
        with r.times(job["goal_count"]) as k:
            self._append(second, goals.at(k * size), none, r.number(0.0))
        copy(self.onward, start, size)
        self._joined(first, second, row)

    def _round(self) -> None:
        r, job, size = self.r, self.job, self.size
        self._swap()
        own = Tree(r, job, job["turn"].equals(0))
        other = Tree(r, job, ~own.first)
        r.skip(self._next_sample().equals(0.0))
        near, distance = self._nearest(own, self.sample, r.number(0.0))
        radii = own.memory("radii")
        radius = r.number(radii[near])
        r.skip(radius < distance)
        copy(self.onward, own.memory("rows").at(near * size), size)
        row, chunks = r.whole(near), r.whole(0)
        with r.loop():
            r.leave((chunks >= job["chunks"]) | (own.word("count") >= job["capacity"] - 1))
            verdict = r.whole(self._slid(self.sample))
            r.leave(verdict.equals(STUCK))
            row.set(self._advanced(own, row))
            chunks.set(chunks + 1)
            r.leave(verdict.equals(ARRIVED))
        smaller = radius * (1.0 - job.number("shrink"))
        smaller = r.choose(
            smaller < job.number("least_radius"), job.number("least_radius"), smaller
        )
        failed = r.choose(radius > 0.5 * FAR, job.number("radius"), smaller)
        grown = r.choose(radius > 0.5 * FAR, radius, radius * (1.0 + job.number("shrink")))
        radii[near] = r.choose(chunks.equals(0), failed, grown)
        r.skip(chunks.equals(0))
        self._joined(own, other, row)

    def _joined(self, own: Tree, other: Tree, row: Cell) -> None:
        """From the newest node on to the nearest of the other tree, as far as it goes."""
        r, job = self.r, self.job
        target, _ = self._nearest(other, self.onward, r.number(0.0))
        goal = other.memory("rows").at(target * self.size)
        with r.loop():
            r.leave(own.word("count") >= job["capacity"] - 1)
            verdict = r.whole(self._slid(goal))
            r.leave(verdict.equals(STUCK))
            with r.when(verdict.equals(ARRIVED)):
                start_row = r.choose(own.first, row, target)
                goal_row = r.choose(own.first, target, row)
                self._trace(start_row, goal_row)
                job["status"] = SOLVED
                r.give(SOLVED)
            row.set(self._advanced(own, row))

    def _slid(self, target: Doubles) -> Value:
        addresses = (self.onward.address, target.address, self.new.address)
        return self.r.call(self.slide, self.job_at, self.scratch, *addresses)

    def _advanced(self, own: Tree, row: Value) -> Value:
        """The end of the last chunk as a node."""
        added = self._append(own, self.new, row, self.r.number(0.0))
        copy(self.onward, self.new, self.size)
        return added

    def _next_sample(self) -> Value:
        """The next of POINTS samples that were projected together;
        gives 1 if it keeps the constraints."""
        r, job, size, at = self.r, self.job, self.size, places(self.size)
        tile = Doubles(r, job["tile"])
        rows, samples, off, kept = (
            tile.at(at[name]) for name in ("rows", "samples", "off", "kept")
        )
        turn = r.whole(job["samples"] % POINTS)
        with r.when(turn.equals(0)):
            for k in range(POINTS):
                words = (job["shift"], job["lower"], job["span"], rows.at(k * size).address)
                r.call(self.spread, job["samples"] + (k + 1), *words)
            r.call(self.project, self.job_at, self.scratch, SAMPLING)
            copy(samples, rows, POINTS * size)
            for k in range(POINTS):
                kept[k] = r.choose(off[k] <= EXACT, 1.0, r.number(0.0))
        job["samples"] = job["samples"] + 1
        copy(self.sample, samples.at(turn * size), size)
        return kept[turn]
