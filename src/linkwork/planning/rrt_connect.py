"""RRT-Connect in machine code: two trees of free configurations that grow towards samples and each
other.

One round takes the next sample of an evenly spread sequence, extends one tree from its nearest node
by at most `range` towards it, and on success runs from the new node straight to the nearest node of
the other tree until it arrives or something is in the way. The trees take turns while they are
about equally large (balanced), and a node whose extension failed draws no samples from further than
its radius (dynamic domain).

With a bound on the length, only samples count through which a shorter path could go, each with a
length at which it is to be reached, and nodes are near that agree in both: the length from the root
is one more coordinate. Paths are then shorter than the bound, and with bounds that fall they tend
to the shortest.
Source: [Kuffner2000] (algorithm), [Yershova2005] (dynamic domain), [Thomason2024]
(settings, vectorised motions), [Wilson2025] (the length as a coordinate), [Gammell2014]
(samples that can help).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from linkwork.engine import machine
from linkwork.engine.neighbours import (
    FAR,
    Functions,
    Memory,
    Table,
    nearest_row,
    put_row,
    write_neighbours,
)
from linkwork.engine.routines import Cell, Doubles, Record, Routine, Value, Words, copy
from linkwork.engine.spread import hashed, write_spread
from linkwork.planning.motion_calls import ASKING, difference, length_of, write_is_free
from linkwork.planning.shortening import write_shorten

TREE = ("rows", "blocks", "names", "boxes", "parents", "radii", "costs", "count")
"""A tree: where its rows, the table of what distances are measured by (neighbours.py), parents,
radii and lengths from the root are, in words from the job's arena; how many rows it has."""
JOB = (
    *ASKING,
    *(f"first_{name}" for name in TREE),
    *(f"second_{name}" for name in TREE),
    "start",
    "goals",
    "goal_count",
    "unchecked",  # 1: nobody has asked yet whether start and goal are free
    "arena",
    "lower",
    "span",
    "shift",
    "turn",  # which tree is extended: 0 the first
    "bound",  # paths must be shorter
    "per_length",  # how much a length counts beside coordinates: 0 without a bound
    "range",
    "radius",
    "shrink",
    "least_radius",
    "iterations",
    "most_iterations",
    "samples",
    "capacity",
    "buffers",
    "status",
    "path",
    "path_rows",
    "path_count",
    "wishes",  # shortcuts to try; 0: none
    *(
        f"projector{part}" for part in ("", "_words", "_strides", "_outputs")
    ),  # of constraints; see projected_search.py
    *(f"points{part}" for part in ("", "_words", "_strides", "_outputs")),
    "tile",
    "chunks",
)
RUNNING, SOLVED, FULL, START_TOUCHES, GOAL_TOUCHES = range(5)
BUFFERS = 8  # points that a round needs


class Tree:
    """One of the two trees, chosen when it runs: fields of the first or of the second."""

    def __init__(self, r: Routine, job: Record, first: Value) -> None:
        self.r, self.job, self.first = r, job, first

    def word(self, name: str) -> Value:
        job = self.job
        return self.r.choose(self.first, job[f"first_{name}"], job[f"second_{name}"])

    def memory(self, name: str) -> Doubles:
        return Doubles(self.r, self.job["arena"] + self.word(name) * 8)

    def words(self, name: str) -> Words:
        return Words(self.r, self.memory(name).address)

    def parents(self) -> Words:
        return self.words("parents")

    def table(self) -> Memory:
        return Memory(self.memory("blocks"), self.words("names"), self.memory("boxes"))

    def count(self, now: Value) -> None:
        place = self.r.choose(
            self.first, self.job.names["first_count"], self.r.whole(self.job.names["second_count"])
        )
        self.job.words[place] = now


def table_of(turns: Sequence[float], weights: Sequence[float]) -> Table:
    """Tables that distances are measured by: weighted coordinates, lengths from the root."""
    weighted = [turn * weight for turn, weight in zip(turns, weights, strict=True)]
    return Table(len(turns) + 1, machine.widths()[0], (*weighted, 0.0))


def write_search(
    module: ir.Module,
    size: int,
    turns: Sequence[float],
    weights: Sequence[float],
    writer: type[SearchWriter],
) -> None:
    """Define search(job, scratch) and run(inputs, strides, outputs, scratch, begin, end),
    which runs many jobs."""
    neighbours = write_neighbours(module, table_of(turns, weights))
    spread = write_spread(module, size)
    is_free = write_is_free(module, size, JOB)
    shorten = write_shorten(module, size, turns, is_free, JOB)
    search = writer(module, size, turns, weights, neighbours, spread, is_free).function
    _write_run(module, search, shorten)


class SearchWriter:
    """Writes `search`."""

    def __init__(
        self,
        module: ir.Module,
        size: int,
        turns: Sequence[float],
        weights: Sequence[float],
        neighbours: Functions,
        spread: ir.Function,
        is_free: ir.Function,
    ) -> None:
        self.size, self.turns, self.weights = size, turns, weights
        self.nodes, self.neighbours = table_of(turns, weights), neighbours
        self.spread, self.is_free = spread, is_free
        self.prepare(module)
        self.r = r = Routine(module, "search", 2)
        job_at, self.scratch = r.arguments
        self.job = Record(r, job_at, JOB)
        self.job_at = job_at
        buffers = Doubles(r, self.job["arena"] + self.job["buffers"] * 8)
        points = [buffers.at(k * (size + 1)) for k in range(BUFFERS)]
        self.sample, self.way, self.new, self.scaled, self.onward = points[:5]
        self.squared = buffers.at(BUFFERS * (size + 1))
        self.function = r.function
        self._write()

    def prepare(self, module: ir.Module) -> None:
        """Functions that rounds call."""

    def _write(self) -> None:
        r, job = self.r, self.job
        with r.when(job["first_count"].equals(0)):
            self._begin()
        with r.loop():
            with r.when(job["iterations"] >= job["most_iterations"]):
                r.give(RUNNING)
            full = job["capacity"] - 1
            with r.when((job["first_count"] >= full) | (job["second_count"] >= full)):
                job["status"] = FULL
                r.give(FULL)
            job["iterations"] = job["iterations"] + 1
            self._round()
        r.give(RUNNING)  # never reached: the loop ends by what it gives

    def _begin(self) -> None:
        """The roots, and the straight way to each goal."""
        r, job, size = self.r, self.job, self.size
        first, second = (
            Tree(r, job, Value(r, ir.Constant(ir.IntType(1), is_first))) for is_first in (1, 0)
        )
        start, goals = Doubles(r, job["start"]), Doubles(r, job["goals"])
        none = Value(r, ir.Constant(ir.IntType(64), -1))
        with r.when(job["unchecked"].equals(1)):
            self._end_if_touching(start, START_TOUCHES)
            self._end_if_touching(goals, GOAL_TOUCHES)
        self._append(first, start, none, r.number(0.0))
        with r.times(job["goal_count"]) as k:
            goal = goals.at(k * size)
            row = r.whole(self._append(second, goal, none, r.number(0.0)))
            for c, part in enumerate(difference(r, goal, start, self.turns)):
                self.way[c] = part
            free = r.call(self.is_free, self.job_at, self.scratch, start.address, self.way.address)
            with r.when(free.equals(1) & (self._distance(goal, start) < job.number("bound"))):
                self._trace(r.whole(0), row)
                job["status"] = SOLVED
                r.give(SOLVED)

    def _end_if_touching(self, point: Doubles, status: int) -> None:
        """A motion without length tells whether a point is free."""
        r = self.r
        for c in range(self.size):
            self.way[c] = 0.0
        free = r.call(self.is_free, self.job_at, self.scratch, point.address, self.way.address)
        with r.when(free.equals(0)):
            self.job["status"] = status
            r.give(status)

    def _round(self) -> None:
        r, job = self.r, self.job
        self._swap()
        own = Tree(r, job, job["turn"].equals(0))
        other = Tree(r, job, ~own.first)
        job["samples"] = job["samples"] + 1
        shift, lower, span = job["shift"], job["lower"], job["span"]
        r.call(self.spread, job["samples"], shift, lower, span, self.sample.address)
        least = self._to_root(own, self.sample)
        most = job.number("bound") - self._to_root(other, self.sample)
        r.skip(least >= most)
        wanted = r.number(least + (most - least) * hashed(r, job["samples"], 63))
        near, distance = self._nearest(own, self.sample, wanted)
        radii = own.memory("radii")
        radius = r.number(radii[near])
        r.skip(radius < distance)
        from_ = own.memory("rows").at(near * self.size)
        parts = difference(r, self.sample, from_, self.turns)
        distance.set(self._weighted(parts))
        reach = job.number("range")
        share = r.choose(distance > reach, reach / distance, r.number(1.0))
        for c, part in enumerate(parts):
            self.way[c] = part * share
            self.new[c] = from_[c] + part * share
        cost = r.number(own.memory("costs")[near] + length_of(r, parts) * share)
        r.skip(cost + self._to_root(other, self.new) >= job.number("bound"))
        free = r.call(self.is_free, self.job_at, self.scratch, from_.address, self.way.address)
        with r.when(free.equals(0)):
            smaller = radius * (1.0 - job.number("shrink"))
            smaller = r.choose(
                smaller < job.number("least_radius"), job.number("least_radius"), smaller
            )
            radii[near] = r.choose(radius > 0.5 * FAR, job.number("radius"), smaller)
        r.skip(free.equals(0))
        grown = radius * (1.0 + job.number("shrink"))
        radii[near] = r.choose(radius > 0.5 * FAR, radius, grown)
        row = r.whole(self._append(own, self.new, near, cost))
        self._connect(own, other, row, cost)

    def _connect(self, own: Tree, other: Tree, row: Cell, cost: Cell) -> None:
        """From the new node straight to the nearest of the other tree."""
        r, job = self.r, self.job
        left = r.number(job.number("bound") - cost)
        target, distance = self._nearest(other, self.new, left)
        rows = other.memory("rows").at(target * self.size)
        r.skip(other.memory("costs")[target] + self._distance(rows, self.new) >= left)
        distance.set(self._weighted(difference(r, rows, self.new, self.turns)))
        count = r.ceiling(distance / job.number("range"))
        count = r.choose(count < 1.0, 1.0, count)
        parts = difference(r, rows, self.new, self.turns)
        for c, part in enumerate(parts):
            self.way[c] = part / count
        copy(self.onward, self.new, self.size)
        steps = r.whole(count.as_word())
        with r.loop():
            free = r.call(
                self.is_free, self.job_at, self.scratch, self.onward.address, self.way.address
            )
            r.leave(free.equals(0))
            with r.when(steps <= 1):
                start_row = r.choose(own.first, row, target)
                goal_row = r.choose(own.first, target, row)
                self._trace(start_row, goal_row)
                job["status"] = SOLVED
                r.give(SOLVED)
            r.leave(own.word("count") >= job["capacity"] - 1)
            for c in range(self.size):
                self.onward[c] = self.onward[c] + self.way[c]
            cost.set(cost + length_of(r, [self.way[c] for c in range(self.size)]))
            row.set(self._append(own, self.onward, row, cost))
            steps.set(steps - 1)

    def _swap(self) -> None:
        """The other tree's turn, unless this one is much the smaller."""
        r, job = self.r, self.job
        own = r.choose(job["turn"].equals(0), job["first_count"], job["second_count"])
        other = r.choose(job["turn"].equals(0), job["second_count"], job["first_count"])
        job["turn"] = r.choose(other >= own * 2, job["turn"], 1 - job["turn"])

    def _nearest(self, tree: Tree, point: Doubles, cost: Value) -> tuple[Cell, Cell]:
        """The row of a tree nearest to a point that is to be reached at some length,
        and its distance."""
        r = self.r
        self._scale(point, cost)
        count = tree.word("count")
        near = r.whole(nearest_row(self.neighbours, tree.table(), count, self.scaled, self.squared))
        return near, r.number(r.root(self.squared[0]))

    def _append(self, tree: Tree, point: Doubles, parent: Value, cost: Value) -> Value:
        r = self.r
        at = r.whole(tree.word("count"))
        self._scale(point, cost)
        copy(tree.memory("rows").at(at * self.size), point, self.size)
        put_row(self.neighbours, self.nodes, tree.table(), at, self.scaled)
        tree.parents()[at] = parent
        tree.memory("radii")[at] = FAR
        tree.memory("costs")[at] = cost
        tree.count(at + 1)
        return at

    def _scale(self, point: Doubles, cost: Value) -> None:
        """What distances are measured by: weighted coordinates, and the length."""
        for c in range(self.size):
            self.scaled[c] = point[c] * self.weights[c]
        self.scaled[self.size] = cost * self.job.number("per_length")

    def _to_root(self, tree: Tree, point: Doubles) -> Value:
        """No path to the root of a tree is shorter; 0 for the tree of several goals."""
        r, job = self.r, self.job
        from_start = self._distance(point, Doubles(r, job["start"]))
        from_goal = self._distance(point, Doubles(r, job["goals"]))
        several = r.choose(job["goal_count"].equals(1), from_goal, r.number(0.0))
        return r.choose(tree.first, from_start, several)

    def _distance(self, target: Doubles, source: Doubles) -> Value:
        return length_of(self.r, difference(self.r, target, source, self.turns))

    def _weighted(self, parts: Sequence[Value]) -> Value:
        return length_of(
            self.r, [part * weight for part, weight in zip(parts, self.weights, strict=True)]
        )

    def _trace(self, start_row: Value, goal_row: Value) -> None:
        """The path from the root of the first tree to the one of the second;
        status stays if there is no room."""
        r, job, size = self.r, self.job, self.size
        first, second = (
            Tree(r, job, Value(r, ir.Constant(ir.IntType(1), is_first))) for is_first in (1, 0)
        )
        path = Doubles(r, job["path"])
        depth = r.whole(0)
        at = r.whole(start_row)
        with r.loop():
            r.leave(at < 0)
            depth.set(depth + 1)
            at.set(first.parents()[at])
        place = r.whole(depth)
        at.set(start_row)
        with r.loop():
            r.leave(at < 0)
            place.set(place - 1)
            with r.when(place < job["path_rows"]):
                copy(path.at(place * size), first.memory("rows").at(at * size), size)
            at.set(first.parents()[at])
        place.set(depth)
        at.set(goal_row)
        with r.loop():
            r.leave(at < 0)
            with r.when(place < job["path_rows"]):
                copy(path.at(place * size), second.memory("rows").at(at * size), size)
            place.set(place + 1)
            at.set(second.parents()[at])
        job["path_count"] = place


def _write_run(module: ir.Module, search: ir.Function, shorten: ir.Function) -> None:
    """Jobs begin .. end - 1 of a list of their addresses,
    each within the scratch memory of its thread.

    What the checker needs lies at the beginning of that memory, the arena of a job that has none
    behind it.
    """
    r = Routine(module, "run", 6)
    inputs, _, _, scratch, begin, end = r.arguments
    listed = Words(r, Words(r, inputs)[0])
    own_size = Words(r, Words(r, inputs)[1])[0]
    with r.times(end - begin) as k:
        address = listed[begin + k]
        job = Record(r, address, JOB)
        with r.when(job["arena"].equals(0)):
            job["arena"] = scratch + own_size * 8
        status = r.whole(job["status"])
        with r.when(status.equals(RUNNING)):
            status.set(r.call(search, address, scratch))
        with r.when(
            status.equals(SOLVED) & (job["wishes"] > 0) & (job["path_count"] <= job["path_rows"])
        ):
            r.call(shorten, address, scratch)
    r.give(-1)
