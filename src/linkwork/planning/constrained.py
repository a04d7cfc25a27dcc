"""Constrained plans: searched on the manifold of the constraints, shortened, proved free."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.collision import CollisionModel, checker
from linkwork.planning.constraints import Manifold
from linkwork.planning.jobs import SOLVED, Job, PlannerSettings, Search
from linkwork.planning.on_manifold import OnManifold, shortened_on
from linkwork.planning.plan_result import Plan
from linkwork.planning.projected_search import POINTS, ProjectedWriter, places
from linkwork.planning.questions import PADDING, Question, failure, nodes_of, solved

ATTEMPTS = 4
COARSE = 4.0  # steps between the points of a shortcut; it is made fine afterwards
PORTION = 256  # iterations between two looks at the clock
ROOM = 1 << 20  # nodes of a tree, at most
FINER = 2.0  # by which the step shrinks when a path is not proved


class ProjectedSearch(Search):
    """The search of one model on one manifold."""

    writer = ProjectedWriter

    def __init__(self, model: CollisionModel, manifold: Manifold) -> None:
        space = manifold.space
        self.manifold = manifold
        super().__init__(model, space.turns, space.weights)
        self.projector, first = manifold.kernel.load()
        self.points, second = checker.kernel_of(model.tables).load()
        self.scratch = max(self.scratch, first["scratch"], second["scratch"])

    def job(
        self,
        start: np.ndarray,
        goals: Any,
        obstacles: Any,
        box: Any,
        settings: PlannerSettings,
        *others: Any,
    ) -> Job:
        """A problem that waits to be run, with the memory of its chunks."""
        job = super().job(start, goals, obstacles, box, settings, *others)
        at, numbers = places(self.size), self.manifold.numbers(start)
        packed = self.model.tables.pack(obstacles)
        memory = np.zeros(at["end"] + len(numbers))
        memory[at["end"] :] = numbers
        place = {name: memory.ctypes.data + 8 * k for name, k in at.items()}
        calls = {
            "projector": (
                (place["rows"], place["end"]),
                (self.size, 0),
                (place["next"], place["off"]),
            ),
            "points": ((place["rows"], *packed.words), (self.size,), (place["hits"],)),
        }
        codes = {"projector": self.projector, "points": self.points}
        for name, lists in calls.items():
            job[name] = codes[name].addresses["run"]
            for part, words in zip(("words", "strides", "outputs"), lists, strict=True):
                listed = np.array(words, dtype=np.int64)
                job[f"{name}_{part}"] = listed.ctypes.data
                job.kept.append(listed)
        job["tile"] = place["rows"]
        job["chunks"] = max(1, math.ceil(settings.range / (POINTS * settings.step)))
        job.kept += [memory, packed]
        return job


def constrained(
    asked: Question,
    manifold: Manifold,
    seconds: dict[str, float],
    limit: float,
    shorten: bool,
    certify: bool,
) -> Plan:
    """Search, shorten, refine, certify; what cannot be proved is asked for again with finer steps
    and other samples."""
    model, until = asked.search.model, time.perf_counter() + limit
    on = OnManifold(manifold, asked.start)
    generator = np.random.default_rng(int(1e6 * float(asked.shift.sum())))
    why = "leaves its constraints between waypoints"
    for attempt in range(ATTEMPTS):
        settings = replace(asked.settings, step=asked.settings.step / FINER**attempt)
        shift = (asked.shift + 0.5 * attempt) % 1.0
        job = searched(ProjectedSearch(model, manifold), asked, settings, shift, seconds, until)
        if job["status"] != SOLVED:
            what = (
                f"no path: {job['iterations']} iterations, {nodes_of(job)} nodes, none within "
                f"{limit:g} s"
            )
            return failure(model, asked.obstacles, what, asked.goals, seconds, job)
        clock = time.perf_counter()
        path = asked.space.unwrapped(job.waypoints)
        if shorten:
            path = _shortened(asked, on, path, settings.step, generator)
        fine = on.fine(path)
        seconds["shorten"] += time.perf_counter() - clock
        if fine is None:
            continue
        if not certify:
            return solved(model, asked.obstacles, fine, False, np.nan, job, seconds)
        clock = time.perf_counter()
        certificate = model.certify_motion(fine[:-1], fine[1:], asked.obstacles)
        seconds["certify"] += time.perf_counter() - clock
        if np.all(certificate.free):
            return solved(
                model,
                asked.obstacles,
                fine,
                True,
                float(np.min(certificate.clearance)),
                job,
                seconds,
            )
        why = "touches something between samples"
        # it grazes something: free, but not proved
        if attempt == ATTEMPTS - 1 and not np.any(certificate.collides):
            return solved(model, asked.obstacles, fine, False, np.nan, job, seconds)
    what = f"no path: each of {ATTEMPTS} paths {why}, the last with samples at {settings.step:.2g}"
    return failure(model, asked.obstacles, what, asked.goals, seconds, job)


def searched(
    search: ProjectedSearch,
    asked: Question,
    settings: PlannerSettings,
    shift: np.ndarray,
    seconds: dict[str, float],
    until: float,
) -> Job:
    """Iterations in portions, until there is a path or no time."""
    clock = time.perf_counter()
    box = asked.space.box(asked.start)
    job = search.job(asked.start, asked.goals, asked.obstacles, box, settings, shift)
    if (
        search.in_portions(job, PORTION, ROOM, until) == SOLVED
        and job["path_count"] > job["path_rows"]
    ):
        job["status"] = 0
    seconds["search"] += time.perf_counter() - clock
    return job


def _shortened(
    asked: Question, on: OnManifold, path: np.ndarray, step: float, generator: np.random.Generator
) -> np.ndarray:
    """Shortcuts that keep a little away from what is around, where start and goal do."""
    padded: Any = asked.search.padded(PADDING).model

    def free(first: np.ndarray, last: np.ndarray) -> np.ndarray:
        return padded.motion_is_free(first, last, asked.obstacles, step)

    return shortened_on(on, path, free, COARSE * step, generator)
