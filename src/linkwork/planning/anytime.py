"""Anytime search: shorter and shorter paths, by searches that only accept what is shorter than the
best so far.

Each search has a bound by the best length so far (see rrt_connect.py); what it finds is shortened,
and taken if it is shorter then, so that lengths fall monotonically. Shortcuts take a third to a
half of a first path, so that bounds of up to SLACK times the best length find the most. Searches
draw from shifted sequences, each its own. How long one may take nobody knows: they are given up
after ITERATIONS times 1, 1, 2, 1, 1, 2, 4, ..., which no other choice beats by much.
Source: [Wilson2025], [Gammell2014], [Luby1993] (when to begin again).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from linkwork.collision import Obstacles
from linkwork.planning.jobs import RUNNING, SOLVED, Job, PlannerSettings, Search
from linkwork.planning.questions import length_of

ITERATIONS = 2048
SLACK = (2.5, 1.6, 1.3)
MARGIN = 1e-4  # a path must be shorter by this share


def improved(
    search: Search,
    problem: tuple[np.ndarray, np.ndarray, Obstacles | None, tuple[np.ndarray, np.ndarray]],
    settings: PlannerSettings,
    shift: np.ndarray,
    path: np.ndarray,
    shorten: Callable[[np.ndarray], np.ndarray],
    until: float,
    good_enough: float,
) -> tuple[np.ndarray, list[tuple[float, float]], Job | None]:
    """The best path at the time `until`, [(time, length)] of each better one, and the last job.

    problem       (start, goals, obstacles, (lower, span))
    good_enough   a length that ends the search
    """
    best, length = path, length_of(path)
    history = [(time.perf_counter(), length)]
    job = None
    shortest = float(min(np.linalg.norm(goal - path[0]) for goal in problem[1]))
    generator = np.random.default_rng(int(1e6 * float(shift.sum())))
    turn = 0
    while time.perf_counter() < until and length > max(good_enough, shortest * (1.0 + MARGIN)):
        bound = length * (1.0 - MARGIN) * SLACK[turn % len(SLACK)]
        turn += 1
        job = search.job(*problem, replace(settings, bound=bound), generator.random(len(shift)))
        arena = search.arena(job)
        for portion in range(1, patience(turn) + 1):  # between portions the clock is looked at
            status = search.go_on(job, ITERATIONS * portion, arena)
            if status != RUNNING or time.perf_counter() >= until:
                break
        if status != SOLVED or job["path_count"] > job["path_rows"]:
            continue
        candidate = shorten(job.waypoints)
        if length_of(candidate) < length:
            best, length = candidate, length_of(candidate)
            history.append((time.perf_counter(), length))
    return best, history, job


def patience(turn: int) -> int:
    """How long the search of a turn may take: 1, 1, 2, 1, 1, 2, 4, 1, ... [Luby1993]."""
    length = 1  # of the smallest part 1 .. 2^k - 1 of the sequence that reaches this turn
    while length < turn:
        length = 2 * length + 1
    if turn == length:
        return (length + 1) // 2
    return patience(turn - length // 2)
