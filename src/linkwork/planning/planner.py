"""The planner: from a question to a path that is proved free."""

from __future__ import annotations

import builtins
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import choice, number
from linkwork.collision import CollisionModel, Obstacles
from linkwork.collision.certify import many_certificates
from linkwork.errors import InvalidInput, NotPossible
from linkwork.planning.anytime import improved
from linkwork.planning.constrained import constrained
from linkwork.planning.constraints import manifold_of, refuse_off
from linkwork.planning.goals import PoseGoal
from linkwork.planning.jobs import GOAL_TOUCHES, SOLVED, START_TOUCHES, Job, PlannerSettings, Search
from linkwork.planning.options import PlanOptions, completed
from linkwork.planning.plan_result import Plan, Plans
from linkwork.planning.questions import (
    PADDING,
    Question,
    failure,
    goal_touches,
    goals_of,
    nodes_of,
    one_configuration,
    search_of,
    settings_of,
    shift_of,
    shortened,
    shortened_by,
    shortening_job,
    solved,
    space_of,
    start_touches,
)
from linkwork.planning.roadmap import growing

FINER = 4.0  # by which the step shrinks when a path that samples found free is not proved
ATTEMPTS = 4
GRAZING = 0.001  # [m] that later attempts keep away
PORTION = 4096  # iterations between two looks at the clock
MANY_ITERATIONS = 32_768  # of problems side by side, before one is searched alone
ROOM = 1 << 24  # nodes of a tree, at most
METHODS = {
    "rrt_connect": "the first path, by two trees that grow towards each other",
    "aorrtc": "shorter and shorter paths until the time is over, by trees with a bound on "
    "the length",
    "prm_star": "the same, by larger and larger roadmaps",
}


def plan(
    model: CollisionModel,
    start: ArrayLike,
    goal: ArrayLike | PoseGoal,
    obstacles: Obstacles | Sequence[Any] | None = None,
    method: str = "rrt_connect",
    constraints: Sequence[Any] = (),
    seed: int = 0,
    time_limit: float | None = 1.0,
    step: float = 1.0 / 32.0,
    shorten: bool = True,
    certify: bool = True,
    joints: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
    range: float = 1.0,
    good_enough: float = 0.0,
) -> Plan:
    """A path from a configuration to a goal that touches nothing.

    start        (nq,)
    goal         a configuration (nq,), several (k, nq) of which any will do, or a PoseGoal
    obstacles    `Obstacles` (packed once, quick again) or a list of shapes
    constraints  what the whole motion keeps: tasks of `lw.tasks` whose rows with a cost are
                 equalities (a tool upright, on a plane, two hands on one tray), or `Constraint`s
                 with boxes and tolerances; see constraints.py. Closed loops of the robot are kept
                 closed unasked
    seed         of the samples: the same seed gives the same path, to the bit, on any number of
                 threads
    time_limit   [s] of the search; None: none
    step         between samples of a motion [rad, m], while searching
    shorten      take shortcuts
    certify      prove the path over its whole length; one that cannot be proved is planned again
                 with finer steps. What is then free at samples of step / 64, but grazes something,
                 is returned with `certified` False
    joints       names of the joints to move; the others keep the values of the start
    weights      (nq,) how much a radian or metre of each coordinate counts in distances
    range        the longest extension of a tree, in the weighted distance
    method       "rrt_connect": the first path. "aorrtc": shorter and shorter ones until
                 `time_limit`, or until one is no longer than `good_enough`; see anytime.py.
                 "prm_star": the same by larger and larger roadmaps

    No path within the budget, a start or goal that touches something: `success` is False and
    `reason` says which.
    Source: [Kuffner2000]; see rrt_connect.py, shortening.py, collision/certify.py.
    """
    choice(method, tuple(METHODS), "plan: method")
    clock = time.perf_counter()
    around = (
        obstacles if obstacles is None or isinstance(obstacles, Obstacles) else Obstacles(obstacles)
    )
    options: PlanOptions = {
        "constraints": constraints,
        "seed": seed,
        "time_limit": time_limit,
        "step": step,
        "shorten": shorten,
        "certify": certify,
        "joints": joints,
        "weights": weights,
        "range": range,
    }
    asking = _Asking(model, options, "plan")
    begin = one_configuration(asking.space, start, "plan: start")
    asked, seconds = asking.question(begin, goal, around, clock, untested=method != "prm_star")
    if isinstance(asked, Plan):
        return asked
    aim = number(good_enough, "plan: good_enough")
    if asking.manifold is not None and method != "rrt_connect":
        raise NotPossible(
            f'plan: method "{method}" knows no constraints or closed loops; use "rrt_connect"'
        )
    if method == "prm_star":
        if joints is not None or weights is not None:
            raise NotPossible(
                'plan: method "prm_star" moves all joints, unweighted; use "rrt_connect" or '
                '"aorrtc"'
            )
        parts = (asking.settings.step, asking.limit, aim, seconds)
        return growing(asked.search.model, begin, asked.goals, around, seed, *parts)
    return asking.answer(asked, seconds, aim=aim if method == "aorrtc" else np.inf)


def plan_many(
    model: CollisionModel,
    starts: ArrayLike,
    goals: ArrayLike,
    obstacles: Obstacles | Sequence[Any] | None = None,
    **options: Unpack[PlanOptions],
) -> Plans:
    """Many problems at once, on all threads: starts (nq,) or (n, nq), goals (nq,),
    (n, nq) or (n, k, nq).

    obstacles   one scene for all (`Obstacles` or a list of shapes), or a list of n `Obstacles`
    options     as `plan` takes them: constraints, seed, time_limit (of each problem), step,
                shorten, certify, joints, weights, range
    Each plan is the one that `plan` gives for its problem alone.
    """
    clock = time.perf_counter()
    asking = _Asking(model, options, "plan_many")
    space = asking.space
    first = np.atleast_2d(space.configuration(starts, "plan_many: starts"))
    last = space.configuration(goals, "plan_many: goals")
    last = last[None, None] if last.ndim == 1 else last[:, None] if last.ndim == 2 else last
    if first.ndim != 2 or last.ndim != 3:
        raise InvalidInput(
            f"plan_many: starts {first.shape} and goals {last.shape}, expected (n, nq) and "
            "(n, k, nq)"
        )
    count = max(len(first), len(last))
    if len(first) not in (1, count) or len(last) not in (1, count):
        raise InvalidInput(
            f"plan_many: {len(first)} starts and {len(last)} goals, expected as many, or one "
            "of either"
        )
    scenes = _scenes(obstacles, count)
    plans: list[Plan | None] = [None] * count
    waiting: list[tuple[int, Question, Job | None]] = []
    for k in builtins.range(count):
        begin, ends, around = first[k % len(first)], last[k % len(last)], scenes[k % len(scenes)]
        asked, _ = asking.question(begin, ends, around, time.perf_counter(), untested=True)
        if isinstance(asked, Plan):
            plans[k] = asked
            continue
        waiting.append((k, asked, None if asking.manifold else _job_of(asked, asked.settings)))
    jobs = [job for _, _, job in waiting if job is not None]
    if jobs:
        waiting[0][1].search.run_all(jobs, MANY_ITERATIONS)
    done = (
        {}
        if asking.manifold
        else _together(asking, [(k, asked, job) for k, asked, job in waiting if job])
    )
    for k, asked, job in waiting:
        seconds = {"goals": 0.0, "search": 0.0, "shorten": 0.0, "certify": 0.0}
        plans[k] = done.get(k) or asking.answer(
            asked, seconds, job if job and _is_done(job) else None
        )
    return Plans([answer for answer in plans if answer is not None], time.perf_counter() - clock)


def _together(asking: _Asking, searched: list[tuple[int, Question, Job]]) -> dict[int, Plan]:
    """Paths that were found, shortened and proved side by side;
    what is missing needs more than that."""
    solved_ones = [
        (k, asked, job) for k, asked, job in searched if job["status"] == SOLVED and _is_done(job)
    ]
    paths = {k: asked.space.unwrapped(job.waypoints) for k, asked, job in solved_ones}
    if asking.shorten and solved_ones:
        search = solved_ones[0][1].search.padded(PADDING)
        jobs = {k: shortening_job(asked, asked.settings, paths[k]) for k, asked, _ in solved_ones}
        search.run_all(list(jobs.values()), 0)
        paths = {k: shortened_by(asked, jobs[k]) for k, asked, _ in solved_ones}
    seconds = {"goals": 0.0, "search": 0.0, "shorten": 0.0, "certify": 0.0}
    if not asking.certify:
        return {
            k: solved(asking.model, asked.obstacles, paths[k], False, np.nan, job, seconds)
            for k, asked, job in solved_ones
        }
    certificates = many_certificates(
        asking.model, [(paths[k], asked.obstacles) for k, asked, _ in solved_ones]
    )
    plans = {}
    for (k, asked, job), proof in zip(solved_ones, certificates, strict=True):
        if proof.free.all():
            clearance, model = float(proof.clearance.min()), asking.model
            plans[k] = solved(model, asked.obstacles, paths[k], True, clearance, job, seconds)
    return plans


class _Asking:
    """What all problems of one call have in common, checked."""

    def __init__(self, model: CollisionModel, options: PlanOptions, who: str) -> None:
        whole = completed(options, who)
        self.model, self.who = model, who
        self.space = space_of(model, whole["joints"], whole["weights"], who)
        self.settings = settings_of(whole["step"], whole["range"])
        self.limit, self.seed = whole["time_limit"], whole["seed"]
        self.shorten, self.certify = whole["shorten"], whole["certify"]
        self.shift = shift_of(self.seed, self.space)
        self.manifold = manifold_of(self.space, whole["constraints"])

    def question(
        self,
        start: np.ndarray,
        goal: Any,
        obstacles: Obstacles | None,
        clock: float,
        untested: bool,
    ) -> tuple[Question | Plan, dict[str, float]]:
        """The problem with goals that are free, or the answer that says why there is nothing to
        plan.

        untested   the search may look itself whether start and goal are free
        """
        search = search_of(self.model, self.space, obstacles)
        if self.manifold is not None:
            refuse_off(self.manifold, start)
            untested = False
        parts = (self.model, self.space, start, goal, obstacles, self.seed, self.manifold, untested)
        goals, reason = goals_of(*parts)
        seconds = {
            "goals": time.perf_counter() - clock,
            "search": 0.0,
            "shorten": 0.0,
            "certify": 0.0,
        }
        if reason:
            return failure(self.model, obstacles, reason, goals, seconds), seconds
        return Question(
            search, self.space, obstacles, start, goals, self.settings, self.shift, untested
        ), seconds

    def answer(
        self,
        asked: Question,
        seconds: dict[str, float],
        ready: Job | None = None,
        aim: float = np.inf,
    ) -> Plan:
        if self.manifold is not None:
            return constrained(
                asked, self.manifold, seconds, self.limit, self.shorten, self.certify
            )
        return _answer(asked, seconds, self.limit, self.shorten, self.certify, ready, aim)


def _is_done(job: Job) -> bool:
    """Whether nothing is left to search."""
    if job["status"] in (START_TOUCHES, GOAL_TOUCHES):
        return True
    return job["status"] == SOLVED and job["path_count"] <= job["path_rows"]


def _job_of(asked: Question, settings: PlannerSettings) -> Job:
    box = asked.space.box(asked.start)
    job = asked.search.job(asked.start, asked.goals, asked.obstacles, box, settings, asked.shift)
    if asked.untested and len(asked.goals) == 1:
        job["unchecked"] = 1
    return job


def _answer(
    asked: Question,
    seconds: dict[str, float],
    limit: float,
    shorten: bool,
    certify: bool,
    ready: Job | None = None,
    aim: float = np.inf,
) -> Plan:
    """Search, shorten, certify; a path that is not proved is asked for again with finer steps."""
    model, own = asked.search.model, asked.search
    job, until, settings = ready, time.perf_counter() + limit, asked.settings
    history: tuple[tuple[float, float], ...] = ()
    for attempt in builtins.range(ATTEMPTS):
        if attempt:
            settings = replace(asked.settings, step=asked.settings.step / FINER**attempt)
            asked = replace(
                asked, search=_apart(asked, own), shift=(asked.shift + 0.5) % 1.0, untested=False
            )
        job, path = _searched(asked, settings, seconds, until, job)
        if path is None:
            return failure(
                model, asked.obstacles, _why(asked, job, limit), asked.goals, seconds, job
            )
        if shorten:
            path = _shortened(asked, settings, seconds, path)
        if aim < np.inf:
            path, history = _improved(asked, settings, seconds, path, until, aim)
        if not certify:
            return replace(
                solved(model, asked.obstacles, path, False, np.nan, job, seconds), history=history
            )
        clock = time.perf_counter()
        certificate = model.certify_motion(path[:-1], path[1:], asked.obstacles)
        seconds["certify"] += time.perf_counter() - clock
        if certificate.free.all():
            answer = solved(
                model, asked.obstacles, path, True, float(certificate.clearance.min()), job, seconds
            )
            return replace(answer, history=history)
        # it grazes something: free, but not proved
        if attempt == ATTEMPTS - 1 and not np.any(certificate.collides):
            return solved(model, asked.obstacles, path, False, np.nan, job, seconds)
        job = None
    what = (
        f"no path: each of {ATTEMPTS} paths touches between its samples, the last with samples "
        f"at {settings.step:.2g}"
    )
    return failure(model, asked.obstacles, what, asked.goals, seconds, job)


def _why(asked: Question, job: Job, limit: float) -> str:
    """Why a search found no path."""
    if job["status"] == START_TOUCHES:
        return start_touches(asked.search.model, asked.start, asked.obstacles)
    if job["status"] == GOAL_TOUCHES:
        return goal_touches(asked.search.model, asked.goals[0], asked.obstacles)
    return (
        f"no path: {job['iterations']} iterations, {nodes_of(job)} nodes, none within {limit:g} s"
    )


def _apart(asked: Question, own: Search) -> Search:
    """The search with shapes grown a little, if start and goals are free then:
    what grazes cannot be proved."""
    apart = own.padded(GRAZING)
    ends = np.concatenate([asked.start[None], asked.goals])
    return own if np.any(apart.model.collides(ends, asked.obstacles)) else apart


def _searched(
    asked: Question,
    settings: PlannerSettings,
    seconds: dict[str, float],
    until: float,
    job: Job | None,
) -> tuple[Job, np.ndarray | None]:
    """Iterations in portions, until there is a path or no time."""
    clock = time.perf_counter()
    search = asked.search
    if job is None:
        job = _job_of(asked, settings)
        status = search.in_portions(job, PORTION, ROOM, until)
        if status == SOLVED and job["path_count"] > job["path_rows"]:
            raise NotPossible(
                f"plan: the first path has {job['path_count']} waypoints, more than "
                f"{job['path_rows']}"
            )
    seconds["search"] += time.perf_counter() - clock
    if job["status"] != SOLVED:
        return job, None
    return job, asked.space.unwrapped(job.waypoints)


def _improved(
    asked: Question,
    settings: PlannerSettings,
    seconds: dict[str, float],
    path: np.ndarray,
    until: float,
    aim: float,
) -> tuple[np.ndarray, tuple[tuple[float, float], ...]]:
    """The shortest path until there is no time, and (seconds, length) of each on the way."""
    if until == np.inf:
        raise InvalidInput(
            'plan: method "aorrtc" goes on until time_limit, expected a number of seconds'
        )
    clock = time.perf_counter()
    problem = (asked.start, asked.goals, asked.obstacles, asked.space.box(asked.start))

    def shorter(rows: np.ndarray) -> np.ndarray:
        return shortened(asked, settings, asked.space.unwrapped(rows))

    best, history, _ = improved(
        asked.search, problem, settings, asked.shift, path, shorter, until, aim
    )
    seconds["search"] += time.perf_counter() - clock
    return best, tuple((at - clock, length) for at, length in history)


def _shortened(
    asked: Question, settings: PlannerSettings, seconds: dict[str, float], path: np.ndarray
) -> np.ndarray:
    clock = time.perf_counter()
    shorter = shortened(asked, settings, path)
    seconds["shorten"] += time.perf_counter() - clock
    return shorter


def _scenes(obstacles: Any, count: int) -> list[Obstacles | None]:
    if obstacles is None or isinstance(obstacles, Obstacles):
        return [obstacles]
    listed = list(obstacles)
    if listed and all(scene is None or isinstance(scene, Obstacles) for scene in listed):
        if len(listed) != count:
            raise InvalidInput(
                f"plan_many: {len(listed)} scenes for {count} problems, expected one or as many"
            )
        return listed
    return [Obstacles(listed)]
