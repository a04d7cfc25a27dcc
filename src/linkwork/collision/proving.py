"""Proving in machine code: intervals of motions asked of the certificate's kernel until all are
proved or left open.

A thread takes a run of motions. Pieces that a sample left open lie on a stack, the leftmost on top;
a batch is filled from the stack first and then with fresh intervals, so that lanes are full and
memory stays small however many pieces a motion needs. What is proved about a motion does not depend
on its neighbours.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from linkwork.engine.keys import key
from linkwork.engine.routines import Cell, Doubles, Record, Routine, Value, Words, compiled
from linkwork.engine.sharing import run_shared
from linkwork.engine.staged import Packed, StagedKernel

BATCH = 32  # intervals that are asked together
# pieces that wait: each halves what it is cut from, and the newest are taken first
STACK = 64 * BATCH
GRAIN = 16  # motions that a thread takes at once
# of an interval that a sample proves, the part that is taken: the rest would have no clearance left
SHARE = 0.75
SHORTEST = 1e-7  # of a motion: below, an interval stays undecided
FIRST_TOUCH = 1e-3  # of a motion: how exactly the first touching parameter is looked for
RESULTS = ("bound", "near", "radius")
TASK = (
    *("wide", "sample", "tables", "table_words", "own", "count", "bad"),
    *("parts", "clearance", "at", "undecided", "samples"),
)
"""Words of a task: the kernel's code for batches and for one sample, its tables, where a thread's
own memory begins, how many motions there are, one without a result, into how many intervals each is
cut, and its four results. Behind them stand the inputs."""


class _Prove:
    """Writes `prove(task, scratch, begin, end)`: motions begin .. end - 1;
    gives one that has no result, or -1."""

    def __init__(self, module: ir.Module, sizes: Sequence[int], interval: int) -> None:
        self.sizes, self.interval = sizes, interval
        self.r = r = Routine(module, "prove", 4)
        task, scratch, self.begin, self.end = r.arguments
        self.function = r.function
        self.task = Record(r, task, TASK)
        self.sources = Words(r, task + 8 * len(TASK))
        self.scratch = scratch
        self._lay_out(scratch + self.task["own"] * 8)
        results = ("clearance", "at", "undecided", "samples")
        self.clearance, self.at, self.undecided, self.samples = (
            Doubles(r, self.task[name]) for name in results
        )
        self._write()

    def _lay_out(self, place: Value) -> None:
        """The thread's own memory: arguments of the kernel, a batch, the stack."""
        r, count = self.r, len(self.sizes)
        at = r.whole(place)

        def memory(words: int | Value, kind: type[Doubles] = Doubles) -> Any:
            made = kind(r, Value(r, at.ir))
            at.set(at + words * 8)
            return made

        self.one, self.strides = memory(count + 1, Words), memory(count, Words)
        self.outputs, self.one_outputs = memory(3, Words), memory(3, Words)
        self.rows = [memory(BATCH * size) for size in self.sizes]
        self.bound, self.near, self.radius = (memory(BATCH) for _ in RESULTS)
        self.motions, self.lefts, self.rights = memory(BATCH, Words), memory(BATCH), memory(BATCH)
        self.stack = (memory(STACK, Words), memory(STACK), memory(STACK))
        self.words = memory(0, Words)  # the inputs, and then words of the tables
        for j, size in enumerate(self.sizes):
            self.words[j], self.strides[j] = self.rows[j].address, size
        for j, result in enumerate((self.bound, self.near, self.radius)):
            self.outputs[j] = result.address
        tables = Words(r, self.task["tables"])
        with r.times(self.task["table_words"]) as k:
            self.words[k + count] = tables[k]
        self.one[count] = self.words.at(count).address

    def _write(self) -> None:
        r = self.r
        self.top, self.count = r.whole(0), r.whole(0)
        motion, part = r.whole(self.begin), r.whole(0)
        with r.loop():
            self.count.set(0)
            self._take_waiting()
            self._take_fresh(motion, part)
            r.leave(self.count < 1)
            self._gather()
            bad = r.call(self.task["wide"], *self._places(), self.scratch, 0, self.count)
            with r.when(bad >= 0):
                r.give(self.motions[bad])
            with r.times(self.count) as k:
                # the leftmost last: it is on top of the stack then
                self._judge(r.whole(self.count - 1 - k))
        r.give(-1)

    def _places(self) -> tuple[Value, Value, Value]:
        return self.words.address, self.strides.address, self.outputs.address

    def _take_waiting(self) -> None:
        r, (motions, lefts, rights) = self.r, self.stack
        with r.loop():
            r.leave((self.count >= BATCH) | (self.top < 1))
            self.top.set(self.top - 1)
            self._add(motions[self.top], lefts[self.top], r.number(rights[self.top]))

    def _take_fresh(self, motion: Cell, part: Cell) -> None:
        r = self.r
        parts = Words(r, self.task["parts"])
        with r.loop():
            r.leave((self.count >= BATCH) | (motion >= self.end))
            here, whole = Value(r, motion.ir), r.number(parts[motion].as_number())
            left = r.number(part.as_number() / whole)
            right = r.number((part + 1).as_number() / whole)
            part.set(part + 1)
            last = part >= parts[here]
            motion.set(r.choose(last, here + 1, here))
            part.set(r.choose(last, 0, part))
            self._add(here, left, right)

    def _add(self, motion: Value, left: Value, right: Cell) -> None:
        """An interval into the batch, unless nothing is to be known about it any more."""
        r, k = self.r, self.count
        touch = r.number(self.at[motion])
        touched = touch.equals(touch)  # no number where no touch is known
        right.set(r.choose(touched & (touch < right), touch, right))
        length = r.number(right - left)
        r.skip(length <= 0.0)
        r.skip(touched & (length < FIRST_TOUCH))
        r.skip(self.undecided[motion] > 0.0)
        self.motions[k], self.lefts[k], self.rights[k] = motion, left, right
        k.set(k + 1)

    def _gather(self) -> None:
        """Rows of the batch, as the kernel reads them."""
        r = self.r
        with r.times(self.count) as k:
            motion = r.whole(self.motions[k])
            for j, size in enumerate(self.sizes):
                if j == self.interval:
                    self.rows[j][k * 2] = (self.lefts[k] + self.rights[k]) * 0.5
                    self.rows[j][k * 2 + 1] = (self.rights[k] - self.lefts[k]) * 0.5
                    continue
                source = Doubles(r, self.sources[j]).at(motion * size)
                for c in range(size):
                    self.rows[j][k * size + c] = source[c]

    def _judge(self, k: Cell) -> None:
        """What a sample says about its interval; what it leaves open waits."""
        r = self.r
        motion = r.whole(self.motions[k])
        with r.when(self.near[k] <= 0.0):
            self._ask_in_doubles(k, motion)
        middle = r.number(self.rows[self.interval][k * 2])
        half = r.number(self.rows[self.interval][k * 2 + 1])
        bound = r.number(self.bound[k])
        near = r.number(self.near[k])
        radius = r.number(self.radius[k])
        self.samples[motion] = self.samples[motion] + 1.0
        with r.when(near < 0.0):
            known = self.at[motion]
            self.at[motion] = r.choose(known <= middle, known, middle)
        with r.either(bound > 0.0) as (proved, open_):
            with proved:
                self._least(motion, bound)
            with open_:
                taken = r.number(r.choose(radius > 0.0, radius * SHARE, r.number(0.0)))
                taken.set(r.choose(taken > half, half, taken))
                with r.when(taken > 0.0):
                    self._least(motion, near * (1.0 - SHARE))
                self._wait(motion, r.number(middle + taken), r.number(self.rights[k]))
                self._wait(motion, r.number(self.lefts[k]), r.number(middle - taken))

    def _ask_in_doubles(self, k: Value, motion: Value) -> None:
        """Floats cannot tell."""
        r = self.r
        for j, size in enumerate(self.sizes):
            self.one[j] = self.rows[j].at(k * size).address
        for j, result in enumerate((self.bound, self.near, self.radius)):
            self.one_outputs[j] = result.at(k).address
        bad = r.call(self.task["sample"], self.one.address, self.one_outputs.address)
        with r.when(bad > 0):
            r.give(motion)

    def _least(self, motion: Value, clearance: Value) -> None:
        known = self.clearance[motion]
        self.clearance[motion] = self.r.choose(known < clearance, known, clearance)

    def _wait(self, motion: Value, left: Cell, right: Cell) -> None:
        """A piece onto the stack; one that is too short leaves its motion undecided."""
        r, (motions, lefts, rights) = self.r, self.stack
        length = r.number(right - left)
        with r.when(length > 0.0):
            touch = self.at[motion]
            useless = touch.equals(touch) & ((length < FIRST_TOUCH) | (touch <= left))
            with r.when(~useless):
                with r.either((length < SHORTEST) | (self.top >= STACK)) as (give_up, keep):
                    with give_up:
                        self.undecided[motion] = 1.0
                    with keep:
                        motions[self.top], lefts[self.top], rights[self.top] = motion, left, right
                        self.top.set(self.top + 1)


class Proofs:
    """What is proved about motions (n,) among one scene, once it has run.

    clearance, at, undecided, samples   (n,) as in Certificate;  bad: a motion that has no result,
                                        or -1
    """

    def __init__(
        self,
        kernel: StagedKernel,
        packed: Packed,
        rows: Sequence[np.ndarray],
        cap: float,
        first: float,
    ):
        """`rows`: the kernel's inputs but for its "interval";
        starts (n, nq) and ways (n, nv) are the first two."""
        inputs = kernel.signature.inputs
        interval = [name for name, _ in inputs].index("interval")
        sizes = tuple(size for _, size in inputs)
        made = key("prove", sizes, interval)
        self._code = compiled(
            made, lambda module: _write(module, sizes, interval), ("run", "run_tasks")
        )
        wide, header = kernel.load()
        self.starts, self.ways = rows[0], rows[1]
        ways, n = rows[1], len(rows[0])
        parts = np.maximum(np.ceil(np.sqrt(np.einsum("ij,ij->i", ways, ways)) / first), 1.0).astype(
            np.int64
        )
        self.clearance, self.at = np.full(n, float(cap)), np.full(n, np.nan)
        self._counts = np.zeros((2, n))
        kept = [np.ascontiguousarray(part) for part in rows]
        sources = [part.ctypes.data for part in kept]
        sources.insert(interval, 0)
        places = [x.ctypes.data for x in (parts, self.clearance, self.at, *self._counts)]
        tables = (packed.numbers.ctypes.data, len(packed.numbers))
        kernel_words = header["scratch"]
        words = (
            wide.addresses["run"],
            wide.addresses["sample"],
            *tables,
            kernel_words,
            n,
            -1,
            *places,
            *sources,
        )
        self.task = np.array(words, dtype=np.int64)
        self.operations = kernel.signature.operations * GRAIN
        batch = (sum(sizes) + 6) * BATCH + 3 * STACK
        self.scratch = kernel_words + batch + 3 * len(sizes) + 7 + len(packed.numbers)
        self._kept = (kept, parts, packed)

    def run(self) -> Proofs:
        """These motions, on threads if they are many."""
        listed = (ctypes.c_int64 * 1)(self.task.ctypes.data)
        place, n = ctypes.addressof(listed), len(self.at)
        run_shared(
            self._code["run"],
            place,
            place,
            place,
            self.scratch,
            n,
            self.operations,
            GRAIN,
            (listed, self),
        )
        return self

    def note(self, k: int, clearance: float, at: float, undecided: bool, samples: int) -> None:
        """Something more that is proved about the k-th motion:
        the earlier touch and the smaller clearance count."""
        self.clearance[k] = min(self.clearance[k], clearance)
        self.at[k] = np.fmin(self.at[k], at)
        self._counts[:, k] += (undecided, samples)

    @property
    def bad(self) -> int:
        return int(self.task[TASK.index("bad")])

    @property
    def undecided(self) -> np.ndarray:
        return self._counts[0] > 0.0

    @property
    def samples(self) -> np.ndarray:
        return self._counts[1].astype(np.int64)


def run_all(proofs: Sequence[Proofs]) -> None:
    """Many scenes side by side on threads, each with its motions; all of one kernel."""
    if not proofs:
        return
    listed = np.array([several.task.ctypes.data for several in proofs], dtype=np.int64)
    place, scratch = listed.ctypes.data, max(several.scratch for several in proofs)
    operations = sum(several.operations * len(several.at) for several in proofs) // len(proofs)
    alive = (listed, proofs)
    run_shared(
        proofs[0]._code["run_tasks"],
        place,
        place,
        place,
        scratch,
        len(proofs),
        operations,
        1,
        alive,
    )


def _write(module: ir.Module, sizes: Sequence[int], interval: int) -> None:
    """Define run(inputs, ., ., scratch, begin, end), motions of one task, and run_tasks,
    tasks of a list."""
    prove = _Prove(module, sizes, interval).function
    r = Routine(module, "run", 6)
    inputs, _, _, scratch, begin, end = r.arguments
    task = Words(r, inputs)[0]
    _noted(r, task, r.call(prove, task, scratch, begin, end))
    r.give(-1)
    r = Routine(module, "run_tasks", 6)
    inputs, _, _, scratch, begin, end = r.arguments
    with r.times(end - begin) as k:
        task = Words(r, inputs)[begin + k]
        _noted(r, task, r.call(prove, task, scratch, 0, Record(r, task, TASK)["count"]))
    r.give(-1)


def _noted(r: Routine, task: Value, bad: Value) -> None:
    """Remember a motion without result."""
    with r.when(bad >= 0):
        Record(r, task, TASK)["bad"] = bad
