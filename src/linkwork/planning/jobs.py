"""Jobs: problems laid out in memory for the machine code of rrt_connect.py, one or many side by side on threads."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork import configurations
from linkwork.collision import CollisionModel, Obstacles, motions
from linkwork.engine import machine
from linkwork.engine.growing import FAR
from linkwork.engine.keys import key
from linkwork.engine.routines import compiled
from linkwork.engine.sharing import run_shared
from linkwork.planning.rrt_connect import BUFFERS, FULL, JOB, RUNNING, SOLVED, TREE, SearchWriter, write_search

__all__ = ["FULL", "RUNNING", "SOLVED", "Job", "Search"]

AT = {name: k for k, name in enumerate(JOB)}
ROWS = 1024  # of a tree at the beginning; twice as many each time it is full
PATH_ROWS = 512
OPERATIONS = 2_000_000  # of a search, about
TRIED, LEAST_PADDING = 256, 1e-4  # configurations that a padding is tried with; [m] below that none is taken
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

    def __getitem__(self, name: str) -> int:
        return int(self.words[AT[name]])

    def __setitem__(self, name: str, value: int) -> None:
        self.words[AT[name]] = value

    @property
    def waypoints(self) -> np.ndarray:
        return self.path[: self["path_count"]].copy()


class Search:
    """The search of one model: its code, and the checker that it asks."""

    writer: type[SearchWriter] = SearchWriter

    def __init__(self, model: CollisionModel, turns: Sequence[float], weights: Sequence[float]) -> None:
        self.model, self.size = model, len(turns)
        self.width = machine.widths()[0]
        writer = self.writer
        made = key(writer.__name__, self.size, tuple(turns), tuple(weights), self.width)
        exports = ("run", "search", "shorten")
        code = compiled(made, lambda module: write_search(module, self.size, turns, weights, writer), exports)
        self.run = code["run"]
        self.kernel = motions.kernel_of(model.tables)
        self.checker, header = self.kernel.load()
        self.scratch = header["scratch"]
        self._turns, self._weights = turns, weights
        self._padded: dict[float, Search] = {}

    def padded(self, by: float) -> Search:
        """The same for shapes grown by a padding [m]; the code is the same.

        Where parts of the robot are so near to each other that the padding alone makes most configurations touch, less
        of it is taken.
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
        size, inputs = self.size, len(self.kernel.signature.inputs)
        lower, span = box
        packed = self.model.tables.pack(obstacles)
        rows = np.empty((max(PATH_ROWS, 0 if path is None else 2 * len(path)), size))
        numbers = np.concatenate([start, goals.ravel(), lower, span, shift, np.zeros(2 * size + 4)])
        at = numbers.ctypes.data
        starts, goals_at = at, at + 8 * size
        lower_at = goals_at + 8 * goals.size
        span_at, shift_at, from_at, way_at = (lower_at + 8 * k * size for k in range(1, 5))
        one = lower_at + 8 * 5 * size
        words = np.zeros(len(JOB) + inputs + len(packed.words) + inputs + 1, dtype=np.int64)
        place = words.ctypes.data
        asked, strides, outputs = len(JOB), len(JOB) + inputs + len(packed.words), len(words) - 1
        words[asked : asked + inputs] = (from_at, way_at, one)
        words[asked + inputs : strides] = packed.words
        words[outputs] = one + 8
        job = Job(words, rows, [packed, numbers, obstacles])
        whole = {
            "checker": self.checker.addresses["run"],
            "words": place + 8 * asked,
            "strides": place + 8 * strides,
            "outputs": place + 8 * outputs,
            "from": from_at,
            "way": way_at,
            "intervals": one,
            "hit": one + 8,
            "start": starts,
            "goals": goals_at,
            "goal_count": len(goals),
            "lower": lower_at,
            "span": span_at,
            "shift": shift_at,
            "turn": 1,
            "path": rows.ctypes.data,
            "path_rows": len(rows),
        }
        for name, value in whole.items():
            words[AT[name]] = value
        real = words.view(np.float64)
        real[AT["per_step"]] = 1.0 / settings.step
        real[AT["bound"]], real[AT["per_length"]] = settings.bound, 0.0 if settings.bound >= FAR else 1.0
        for name in ("range", "radius", "shrink", "least_radius"):
            real[AT[name]] = getattr(settings, name)
        if path is not None:
            rows[: len(path)] = path
            job["path_count"], job["status"] = len(path), SOLVED
        self.lay_out(job, max(ROWS, 64 * (1 + len(goals) // 32)))
        return job

    def lay_out(self, job: Job, capacity: int) -> int:
        """Where the trees stand in an arena; gives how many words that needs."""
        at, size = 0, self.size
        sizes = dict.fromkeys(TREE[:-1], capacity) | {"rows": capacity * size, "blocks": capacity * (size + 1)}
        for tree in ("first", "second"):
            for name in TREE[:-1]:
                job[f"{tree}_{name}"] = at
                at += sizes[name]
        job["buffers"], job["capacity"] = at, capacity
        return at + BUFFERS * (size + 1) + 1

    def go_on(self, job: Job, most_iterations: int, arena: np.ndarray) -> int:
        """Search until this many iterations in all; gives the status."""
        job["most_iterations"], job["arena"] = most_iterations, arena.ctypes.data
        self._run([job], 0)
        return job["status"]

    def run_all(self, jobs: Sequence[Job], most_iterations: int) -> None:
        """Many jobs on threads, each in the memory of its thread: those that are not solved need a run of their own."""
        need = 0
        for job in jobs:
            job["most_iterations"], job["arena"] = most_iterations, 0
            need = max(need, self.lay_out(job, job["capacity"]))
        self._run(jobs, need)

    def _run(self, jobs: Sequence[Job], own: int) -> None:
        listed = np.array([job.words.ctypes.data for job in jobs], dtype=np.int64)
        offset = ctypes.c_int64(self.scratch)
        inputs = (ctypes.c_int64 * 2)(listed.ctypes.data, ctypes.addressof(offset))
        place = ctypes.addressof(inputs)
        alive = (jobs, listed, offset, inputs)
        scratch = self.scratch + own
        run_shared(self.run, place, place, place, scratch, len(jobs), OPERATIONS, 1, alive)

    def arena(self, words: int) -> np.ndarray:
        """Memory of this thread, as large as the largest job so far."""
        known = getattr(_memory, "arena", None)
        if known is None or len(known) < words:
            known = _memory.arena = np.empty(words)
        return known

    def grown(self, job: Job, arena: np.ndarray) -> np.ndarray:
        """Trees that are full in an arena of twice the size."""
        before = {name: job[name] for name in (f"{tree}_{part}" for tree in ("first", "second") for part in TREE[:-1])}
        capacity, size = job["capacity"], self.size
        larger = np.empty(self.lay_out(job, 2 * capacity))
        for name, at in before.items():
            columns = size if name.endswith("rows") else size + 1 if name.endswith("blocks") else 1
            length = capacity * columns
            larger[job[name] : job[name] + length] = arena[at : at + length]
        job["status"] = RUNNING
        return larger
