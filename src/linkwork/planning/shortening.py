"""Shortening in machine code: shortcuts between points of a path,
taken where the straight motion is free.

First every waypoint is joined to the furthest later one that it sees. Then pairs of places along
the path, spread evenly by a sequence that a seed shifts, are joined where that is free; waypoints
between them go. A shortcut never makes the path longer, and every motion that it brings has been
asked of the checker.
Source: [Geraerts2007] (shortcuts).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from linkwork.engine.routines import Cell, Doubles, Record, Routine, Value, copy
from linkwork.engine.spread import PRIMES, mirrored
from linkwork.planning.motion_calls import difference, length_of

PATIENCE = 40  # shortcuts in a row that gain less than GAIN of the length
GAIN = 1e-3


def write_shorten(
    module: ir.Module, size: int, turns: Sequence[float], is_free: ir.Function, names: Sequence[str]
) -> ir.Function:
    """Define shorten(job, scratch): the path of the job, in its place; gives its rows."""
    return _Shorten(module, size, turns, is_free, names).function


class _Shorten:
    """Writes `shorten`."""

    def __init__(
        self,
        module: ir.Module,
        size: int,
        turns: Sequence[float],
        is_free: ir.Function,
        names: Sequence[str],
    ) -> None:
        self.size, self.turns, self.is_free = size, turns, is_free
        self.r = r = Routine(module, "shorten", 2)
        self.job_at, self.scratch = r.arguments
        self.job = Record(r, self.job_at, names)
        buffers = Doubles(r, self.job["arena"] + self.job["buffers"] * 8)
        self.way, self.left, self.right = (buffers.at(k * (size + 1)) for k in range(3))
        self.path = Doubles(r, self.job["path"])
        self.count = r.whole(self.job["path_count"])
        self.function = r.function
        self._skip_waypoints()
        self._shortcuts()
        self._skip_waypoints()
        self.job["path_count"] = self.count
        r.give(self.count)

    def _row(self, k: Value) -> Doubles:
        return self.path.at(k * self.size)

    def _way(self, target: Doubles, source: Doubles) -> None:
        for c, part in enumerate(difference(self.r, target, source, self.turns)):
            self.way[c] = part

    def _sees(self, source: Doubles, target: Doubles) -> Value:
        """Whether the straight motion between two points is free."""
        self._way(target, source)
        return self.r.call(
            self.is_free, self.job_at, self.scratch, source.address, self.way.address
        ).equals(1)

    def _moved(self, first: Value, to: Value) -> None:
        """Rows from `first` on stand at `to` then, which may be before or behind."""
        r = self.r
        tail = r.whole(self.count - first)
        with r.either(to <= first) as (back, forth):
            with back, r.times(tail) as k:
                copy(self._row(to + k), self._row(first + k), self.size)
            with forth, r.times(tail) as k:
                copy(self._row(to + tail - 1 - k), self._row(first + tail - 1 - k), self.size)
        self.count.set(to + tail)

    def _skip_waypoints(self) -> None:
        """Each waypoint joined to the furthest that it sees."""
        r = self.r
        at = r.whole(0)
        with r.loop():
            r.leave(at + 2 >= self.count)
            other = r.whole(self.count - 1)
            with r.loop():
                r.leave(other <= at + 1)
                r.leave(self._sees(self._row(at), self._row(other)))
                other.set(other - 1)
            with r.when(other > at + 1):
                self._moved(other, r.whole(at + 1))
            at.set(at + 1)

    def _shortcuts(self) -> None:
        r, job = self.r, self.job
        tired, tries = r.whole(0), r.whole(0)
        total = self._length()
        with r.loop():
            full = self.count + 1 >= job["path_rows"]
            r.leave((self.count <= 2) | (tries >= job["wishes"]) | (tired >= PATIENCE) | full)
            tries.set(tries + 1)
            tired.set(tired + 1)
            a, b = (self._share(tries, k) * total for k in range(2))
            early, late = r.choose(a < b, a, r.number(b)), r.choose(a < b, b, r.number(a))
            first, second = self._place(early, self.left), self._place(late, self.right)
            with r.when(first < second):
                before = self._between(first, second)
                straight = r.number(self._distance(self.right, self.left))
                gain = r.number(before - straight)
                with r.when(gain > total * 1e-6):
                    with r.when(self._sees(self.left, self.right)):
                        # rows first + 1 .. second become the two ends of the shortcut
                        self._moved(second + 1, r.whole(first + 3))
                        copy(self._row(first + 1), self.left, self.size)
                        copy(self._row(first + 2), self.right, self.size)
                        tired.set(r.choose(gain > total * GAIN, 0, r.whole(tired)))
                        total.set(total - gain)

    def _share(self, tries: Value, k: int) -> Value:
        """The next of numbers 0 .. 1 that are spread evenly, shifted by the seed."""
        shift = Doubles(self.r, self.job["shift"])
        moved = mirrored(self.r, tries, PRIMES[k]) + shift[k % self.size]
        return moved - self.r.floor(moved)

    def _place(self, length: Value, target: Doubles) -> Cell:
        """The point at some length along the path; gives the number of its segment."""
        r = self.r
        left, segment = r.number(length), r.whole(0)
        with r.loop():
            here = r.number(self._distance(self._row(segment + 1), self._row(segment)))
            r.leave((left <= here) | (segment + 2 >= self.count))
            left.set(left - here)
            segment.set(segment + 1)
        row, following = self._row(segment), self._row(segment + 1)
        own = r.number(self._distance(following, row))
        share = r.choose(own > 0.0, left / own, r.number(0.0))
        share = r.choose(share > 1.0, 1.0, share)
        for c, part in enumerate(difference(r, following, row, self.turns)):
            target[c] = r.multiply_add(part, share, row[c])
        return segment

    def _between(self, first: Value, second: Value) -> Cell:
        """The length along the path from the left to the right point."""
        r = self.r
        total = r.number(self._distance(self._row(first + 1), self.left))
        with r.times(second - first - 1) as k:
            total.set(total + self._distance(self._row(first + k + 2), self._row(first + k + 1)))
        total.set(total + self._distance(self.right, self._row(second)))
        return total

    def _distance(self, target: Doubles, source: Doubles) -> Value:
        return length_of(self.r, difference(self.r, target, source, self.turns))

    def _length(self) -> Cell:
        r = self.r
        total = r.number(0.0)
        with r.times(self.count - 1) as k:
            total.set(total + self._distance(self._row(k + 1), self._row(k)))
        return total
