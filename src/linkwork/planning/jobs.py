"""Jobs: problems laid out in memory for the machine code of rrt_connect.py,
one or many side by side on threads."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np

from linkwork import configurations
from linkwork.collision import CollisionModel, Obstacles, motions
from linkwork.engine.keys import key
from linkwork.engine.neighbours import FAR
from linkwork.engine.routines import compiled
from linkwork.engine.sharing import run_shared
from linkwork.engine.staged_values import TABLE_WORDS
from linkwork.planning.rrt_connect import (
    BUFFERS,
    FULL,
    GOAL_TOUCHES,
    JOB,
    RUNNING,
    SOLVED,
    START_TOUCHES,
    TREE,
    SearchWriter,
    table_of,
    write_search,
)

__all__ = ["FULL", "GOAL_TOUCHES", "RUNNING", "SOLVED", "START_TOUCHES", "Job", "Search"]

AT = {name: k for k, name in enumerate(JOB)}
ROWS = 1024  # of a tree at the beginning; twice as many each time it is full
PATH_ROWS = 512
FORMS = 64  # that are kept
OPERATIONS = 2_000_000  # of a search, about
# configurations that a padding is tried with; [m] below that none is taken
TRIED = 256
LEAST_PADDING = 1e-4
_memory = threading.local()


@dataclass(frozen=True)
class PlannerSettings:
    """Numbers of a search; distances in the weighted metric."""

    step: float = 1.0 / 32.0
    range: float = 1.0
    radius: float = 6.0
    shrink: float = 1e-4
    least_radius: float = 1.0
    bound: float = FAR  # paths must be shorter


@dataclass
class Job:
    """One problem: its words, and what they point at."""

    words: np.ndarray
    path: np.ndarray
    kept: list[Any] = field(default_factory=list)
    need: int = 0  # doubles of its arena

    def __getitem__(self, name: str) -> int:
        return int(self.words[AT[name]])

    def __setitem__(self, name: str, value: int) -> None:
        self.words[AT[name]] = value

    @property
    def waypoints(self) -> np.ndarray:
        return self.path[: self["path_count"]].copy()


@dataclass(frozen=True)
class Form:
    """The words that jobs of one kind have in common,
    and where the rest of their one piece of memory is, in words.

    words       addresses in them (at the places `addresses`) count from the beginning of the memory
    tables      the slice of words that the obstacles bring;  numbers, goals, rows: where these
                begin;  size: of all
    need        doubles of the arena
    """

    words: np.ndarray
    addresses: np.ndarray
    tables: slice
    numbers: int
    goals: int
    rows: int
    size: int
    need: int


class Search:
    """The search of one model: its code, and the checker that it asks."""

    writer: type[SearchWriter] = SearchWriter

    def __init__(
        self, model: CollisionModel, turns: Sequence[float], weights: Sequence[float]
    ) -> None:
        self.model, self.size = model, len(turns)
        self.nodes = table_of(turns, weights)
        writer = self.writer
        made = key(writer.__name__, tuple(turns), tuple(weights), *astuple(self.nodes))
        exports = ("run", "search", "shorten")
        code = compiled(
            made, lambda module: write_search(module, self.size, turns, weights, writer), exports
        )
        self.run = code["run"]
        self.kernel = motions.kernel_of(model.tables)
        self.checker, header = self.kernel.load()
        self.scratch = header["scratch"]
        self.table_words = TABLE_WORDS * len(self.kernel.signature.tables)
        self._turns, self._weights = turns, weights
        self._forms: dict[tuple[float, ...], Form] = {}
        self._padded: dict[float, Search] = {}

    def padded(self, by: float) -> Search:
        """The same for shapes grown by a padding [m]; the code is the same.

        Where parts of the robot are so near to each other that the padding alone makes most
        configurations touch, less of it is taken.
        """
        if by not in self._padded:
            self._padded[by] = self._grown(by)
        return self._padded[by]

    def _grown(self, by: float) -> Search:
        q = configurations.random(self.model.subject, TRIED, 0)
        free = ~self.model.collides(q)
        while by > LEAST_PADDING:
            model = self.model.padded(by)
            if (~model.collides(q[free])).mean() > 0.5:
                return Search(model, self._turns, self._weights)
            by *= 0.5
        return self

    def job(
        self,
        start: np.ndarray,
        goals: np.ndarray,
        obstacles: Obstacles | None,
        box: tuple[np.ndarray, np.ndarray],
        settings: PlannerSettings,
        shift: np.ndarray,
        path: np.ndarray | None = None,
    ) -> Job:
        """A problem that waits to be run; with a path only shortening is left to do."""
        size = self.size
        room = max(PATH_ROWS, 0 if path is None else 2 * len(path))
        form = self._form(settings, len(goals), room)
        block = np.empty(form.size)
        words, base = block[: len(form.words)].view(np.int64), block.ctypes.data
        words[:] = form.words
        words[form.addresses] += base
        packed = self.model.tables.pack(obstacles)
        words[form.tables] = packed.numbers
        at = form.numbers
        lower, span = box
        for k, part in enumerate((start, lower, span, shift)):
            block[at + k * size : at + (k + 1) * size] = part
        block[form.goals : form.goals + goals.size] = goals.ravel()
        real = words.view(np.float64)
        real[AT["bound"]] = settings.bound
        real[AT["per_length"]] = 0.0 if settings.bound >= FAR else 1.0
        job = Job(
            words, block[form.rows :].reshape(room, size), [block, packed, obstacles], form.need
        )
        if path is not None:
            job.path[: len(path)] = path
            job["path_count"], job["status"] = len(path), SOLVED
        return job

    def _form(self, settings: PlannerSettings, goals: int, room: int) -> Form:
        """The form of jobs with so many goals and rows of a path, made once."""
        asked = (
            settings.step,
            settings.range,
            settings.radius,
            settings.shrink,
            settings.least_radius,
            goals,
            room,
        )
        known = self._forms.get(asked)
        if known is None:
            if len(self._forms) > FORMS:
                self._forms.clear()
            known = self._forms[asked] = self._new_form(settings, goals, room)
        return known

    def _new_form(self, settings: PlannerSettings, goals: int, room: int) -> Form:
        size, inputs, tables = self.size, len(self.kernel.signature.inputs), self.table_words
        asked = len(JOB)
        strides = asked + inputs + tables
        outputs = strides + inputs
        numbers = outputs + 1  # start, lower, span, shift; then what one motion asks the checker
        from_, way, one = (numbers + k * size for k in (4, 5, 6))
        goals_at = one + 4
        rows_at = goals_at + goals * size
        words = np.zeros(numbers, dtype=np.int64)
        words[asked : asked + inputs] = np.array((from_, way, one)) * 8
        words[outputs] = 8 * (one + 1)
        places = {
            "words": asked,
            "strides": strides,
            "outputs": outputs,
            "from": from_,
            "way": way,
            "intervals": one,
            "hit": one + 1,
            "start": numbers,
            "lower": numbers + size,
            "span": numbers + 2 * size,
            "shift": numbers + 3 * size,
            "goals": goals_at,
            "path": rows_at,
        }
        for name, place in places.items():
            words[AT[name]] = 8 * place
        addresses = np.array(
            [*(AT[name] for name in places), *range(asked, asked + inputs), outputs]
        )
        whole = {
            "checker": self.checker.addresses["run"],
            "goal_count": goals,
            "turn": 1,
            "path_rows": room,
        }
        for name, value in whole.items():
            words[AT[name]] = value
        real = words.view(np.float64)
        real[AT["per_step"]] = 1.0 / settings.step
        for name in ("range", "radius", "shrink", "least_radius"):
            real[AT[name]] = getattr(settings, name)
        whole_form = Job(words, words)
        self.lay_out(whole_form, max(ROWS, 64 * (1 + goals // 32)))
        table_slice, end = slice(asked + inputs, strides), rows_at + room * size
        return Form(words, addresses, table_slice, numbers, goals_at, rows_at, end, whole_form.need)

    def lay_out(self, job: Job, capacity: int) -> None:
        """Where trees of so many nodes stand in an arena."""
        at, size = 0, self.size
        sizes = self._tree_sizes(capacity)
        for tree in ("first", "second"):
            for name in TREE[:-1]:
                job[f"{tree}_{name}"] = at
                at += sizes[name]
        job["buffers"], job["capacity"] = at, capacity
        job.need = at + BUFFERS * (size + 1) + 1

    def _tree_sizes(self, capacity: int) -> dict[str, int]:
        """Words of each part of a tree of so many nodes."""
        return (
            dict.fromkeys(TREE[:-1], capacity)
            | {"rows": capacity * self.size}
            | self.nodes.rooms(capacity)
        )

    def go_on(self, job: Job, most_iterations: int, arena: np.ndarray) -> int:
        """Search until this many iterations in all; gives the status."""
        job["most_iterations"], job["arena"] = most_iterations, arena.ctypes.data
        self._run([job], 0)
        return job["status"]

    def in_portions(self, job: Job, portion: int, room: int, until: float) -> int:
        """Search this many iterations at a time, until there is a path,
        no more time or no more room; the status."""
        arena = self.arena(job)
        most = portion
        while (status := self.go_on(job, most, arena)) != SOLVED:
            if (
                status in (START_TOUCHES, GOAL_TOUCHES)
                or time.perf_counter() > until
                or job["capacity"] >= room
            ):
                break
            if status == FULL:
                arena = self.grown(job, arena)
            most = job["iterations"] + portion
        return status

    def run_all(self, jobs: Sequence[Job], most_iterations: int) -> None:
        """Many jobs on threads, each in the memory of its thread:
        those that are not solved need a run of their own."""
        need = 0
        for job in jobs:
            job["most_iterations"], job["arena"] = most_iterations, 0
            need = max(need, job.need)
        self._run(jobs, need)

    def _run(self, jobs: Sequence[Job], own: int) -> None:
        listed = np.array([job.words.ctypes.data for job in jobs], dtype=np.int64)
        offset = ctypes.c_int64(self.scratch)
        inputs = (ctypes.c_int64 * 2)(listed.ctypes.data, ctypes.addressof(offset))
        place = ctypes.addressof(inputs)
        alive = (self, jobs, listed, offset, inputs)
        scratch = self.scratch + own
        run_shared(self.run, place, place, place, scratch, len(jobs), OPERATIONS, 1, alive)

    def arena(self, job: Job) -> np.ndarray:
        """Memory of this thread for the trees of a job, as large as the largest so far."""
        known = getattr(_memory, "arena", None)
        if known is None or len(known) < job.need:
            known = _memory.arena = np.empty(job.need)
        return known

    def grown(self, job: Job, arena: np.ndarray) -> np.ndarray:
        """Trees that are full in an arena of twice the size."""
        before = {
            name: job[name]
            for name in (f"{tree}_{part}" for tree in ("first", "second") for part in TREE[:-1])
        }
        sizes = self._tree_sizes(job["capacity"])
        self.lay_out(job, 2 * job["capacity"])
        larger = np.empty(job.need)
        for name, at in before.items():
            length = sizes[name.partition("_")[2]]
            larger[job[name] : job[name] + length] = arena[at : at + length]
        job["status"] = RUNNING
        return larger
