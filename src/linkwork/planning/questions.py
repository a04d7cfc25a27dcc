"""Questions: what is asked of a planner, checked: the model, its space, free goals,
or why there is nothing to plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import number, whole
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.loops.assembly import has_closures
from linkwork.planning.constraints import Manifold
from linkwork.planning.goals import PoseGoal
from linkwork.planning.jobs import Job, PlannerSettings, Search
from linkwork.planning.plan_result import Plan
from linkwork.planning.space import Space
from linkwork.subject import Subject

SHORTCUTS = 300
SHORTEST_STEP = 1e-6
"""[rad, m] between samples of a motion, which machine code looks at without a pause."""
# [m] that a shortcut keeps away: one that grazes something is hard to prove and of no use to a
# robot
PADDING = 0.003


@dataclass(frozen=True)
class Question:
    """A problem whose arguments are checked; untested:
    but for what the start and a single goal touch."""

    search: Search
    space: Space
    obstacles: Obstacles | None
    start: np.ndarray
    goals: np.ndarray
    settings: PlannerSettings
    shift: np.ndarray
    untested: bool = False


def space_of(
    model: CollisionModel, joints: Sequence[str] | None, weights: ArrayLike | None, who: str
) -> Space:
    """The space of a model; that of all joints, unweighted, is made once."""
    if not isinstance(model, CollisionModel):
        raise InvalidInput(
            f"{who}: model is {type(model).__name__}, expected lw.collision.model(robot)"
        )
    if joints is not None or weights is not None:
        return Space.of(model.subject, joints, weights, who)
    kernels = model.tables.kernels
    if "space" not in kernels:
        kernels["space"] = Space.of(model.subject, None, None, who)
    return kernels["space"]


def search_of(model: CollisionModel, space: Space, obstacles: Obstacles | None) -> Search:
    """The machine code for a model, made once; what it cannot check is refused."""
    if model.subject.live:
        raise NotPossible("plan: lengths of the robot are live; use robot.with_variables first")
    if not model.in_machine_code(obstacles):
        raise NotPossible(
            "plan: hulls and meshes are not planned with; use lw.collision.model(robot, "
            'shapes="spheres" or "capsules"), and boxes, spheres, capsules or clouds as obstacles'
        )
    kernels, name = model.tables.kernels, f"search {space.turns} {space.weights}"
    if name not in kernels:
        kernels[name] = Search(model, space.turns, space.weights)
    return kernels[name]


def refuse_loops(subject: Subject, who: str) -> None:
    """Straight motions open closed loops: what knows no constraints refuses them."""
    if has_closures(subject):
        raise NotPossible(
            f'{who}: robot "{subject.model.name}" has closed loops, which straight motions open; '
            "use plan"
        )


def one_configuration(space: Space, q: Any, label: str) -> np.ndarray:
    rows = space.configuration(q, label)
    if rows.ndim != 1:
        raise InvalidInput(f"{label} has shape {rows.shape}, expected ({space.subject.nq},)")
    return rows


def shortened(
    asked: Question, settings: PlannerSettings, path: np.ndarray, tries: int = SHORTCUTS
) -> np.ndarray:
    """The path with shortcuts, without waypoints that stand twice."""
    search, job = asked.search.padded(PADDING), shortening_job(asked, settings, path, tries)
    search.go_on(job, 0, search.arena(job))
    return shortened_by(asked, job)


def shortening_job(
    asked: Question, settings: PlannerSettings, path: np.ndarray, tries: int = SHORTCUTS
) -> Job:
    """What shortens a path, to be run by the padded search."""
    box = asked.space.box(asked.start)
    parts = (asked.start, asked.goals, asked.obstacles, box, settings, asked.shift, path)
    job = asked.search.padded(PADDING).job(*parts)
    job["wishes"] = tries
    return job


def shortened_by(asked: Question, job: Job) -> np.ndarray:
    """The path of a job that has shortened it."""
    rows = asked.space.unwrapped(job.waypoints)
    ways = rows[1:] - rows[:-1]
    moves = np.einsum("ij,ij->i", ways, ways) > 0.0
    return rows if moves.all() else np.concatenate([rows[:-1][moves], rows[-1:]])


def goals_of(
    model: CollisionModel,
    space: Space,
    start: np.ndarray,
    goal: Any,
    obstacles: Obstacles | None,
    seed: int,
    manifold: Manifold | None = None,
    untested: bool = False,
) -> tuple[np.ndarray, str]:
    """Goal configurations (k, nq) that are free and keep constraints,
    and why there is nothing to plan.

    untested   one goal may come back without a look at what it touches: the search looks at it and
               at the start
    """
    if isinstance(goal, PoseGoal):
        rows = goal.configurations(
            space, start, seed, () if manifold is None else manifold.constraints
        )
        if not len(rows):
            return rows, _out_of_reach(goal)
    else:
        rows = np.atleast_2d(space.configuration(goal, "plan: goal"))
        if rows.ndim != 2 or not len(rows):
            raise InvalidInput(f"plan: goal has shape {np.shape(goal)}, expected (nq,) or (k, nq)")
        held = None if space.all_free else ~space.free & (np.abs(rows - start) > 1e-12)
        if held is not None and held.any():
            k = int(np.argwhere(held)[0][1])
            raise InvalidInput(
                f'plan: goal moves joint "{space.joint_of(k)}", which is not among `joints`'
            )
    if manifold is not None:
        kept = manifold.off(rows, manifold.numbers(start)) <= 1.0
        if not kept.any():
            label, beyond, tolerance = manifold.explained(rows[0])[0]
            return (
                rows,
                f'goal breaks the constraint "{label}" by {beyond:.3g} [m, rad], its tolerance is '
                f"{tolerance:.3g}",
            )
        rows = rows[kept]
    if untested and len(rows) == 1:
        return rows, ""
    touching = model.collides(np.concatenate([start[None], rows]), obstacles)
    if touching[0]:
        return rows, start_touches(model, start, obstacles)
    free = rows[~touching[1:]]
    if len(free):
        return free, ""
    if len(rows) == 1:
        return rows, goal_touches(model, rows[0], obstacles)
    told = touch_of(model, rows[0], obstacles)
    count = len(rows)
    return (
        rows,
        f"all goals blocked: each of {count} configurations touches something; in the first {told}",
    )


def _out_of_reach(goal: PoseGoal) -> str:
    """A sentence about a frame that no configuration brings to its poses."""
    count = len(goal.poses)
    first = goal.poses[0][:3, 3] if goal.task == "pose" else goal.poses[0]
    where = ", ".join(f"{x:.3g}" for x in first)
    poses = (
        f"its pose at ({where}) m"
        if count == 1
        else f"any of {count} poses, the first at ({where}) m"
    )
    return f'goal out of reach: no configuration brings "{goal.frame}" to {poses}'


def start_touches(model: CollisionModel, q: np.ndarray, obstacles: Obstacles | None) -> str:
    return f"start in collision: {touch_of(model, q, obstacles)}"


def goal_touches(model: CollisionModel, q: np.ndarray, obstacles: Obstacles | None) -> str:
    return f"goal in collision: {touch_of(model, q, obstacles)}"


def touch_of(model: CollisionModel, q: np.ndarray, obstacles: Obstacles | None) -> str:
    nearest = model.clearance(q, obstacles)
    return f'"{nearest.body}" is {-1e3 * nearest.distance:.1f} mm inside "{nearest.other}"'


def failure(
    model: CollisionModel,
    obstacles: Any,
    reason: str,
    goals: np.ndarray,
    seconds: Any,
    job: Job | None = None,
) -> Plan:
    nq = model.subject.nq
    counts = (0, 0, 0) if job is None else (job["iterations"], nodes_of(job), job["checks"])
    nowhere = np.full(nq, np.nan)
    empty = np.zeros((0, nq))
    return Plan(
        False, reason, empty, np.nan, False, np.nan, nowhere, *counts, seconds, model, obstacles
    )


def solved(
    model: CollisionModel,
    obstacles: Obstacles | None,
    path: np.ndarray,
    proved: bool,
    clearance: float,
    job: Job,
    seconds: Mapping[str, float],
) -> Plan:
    """The answer with a path, proved free or not."""
    counts = (job["iterations"], nodes_of(job), job["checks"])
    return Plan(
        True,
        "solved",
        path,
        length_of(path),
        proved,
        clearance,
        path[-1],
        *counts,
        seconds,
        model,
        obstacles,
    )


def length_of(path: np.ndarray) -> float:
    """The length of a path (m, nq) [rad and m]."""
    ways = path[1:] - path[:-1]
    return float(np.sqrt(np.einsum("ij,ij->i", ways, ways)).sum())


def nodes_of(job: Job) -> int:
    return job["first_count"] + job["second_count"]


def settings_of(step: float, reach: float) -> PlannerSettings:
    own = number(step, "plan: step")
    longest = number(reach, "plan: range")
    for label, value in (("step", own), ("range", longest)):
        if not value > 0.0:
            raise InvalidInput(f"plan: {label} is {value:g}, expected a positive length [rad or m]")
    if own < SHORTEST_STEP:
        work = f"a motion of 1 rad would be looked at {1.0 / own:.0e} times"
        raise InvalidInput(
            f"plan: step is {own:g}, so that {work}, expected at least {SHORTEST_STEP:g}"
        )
    return PlannerSettings(step=own, range=longest)


def shift_of(seed: int, space: Space) -> np.ndarray:
    """By which a seed moves the samples; the sequence itself for seed 0."""
    whole(seed, "plan: seed", 0, "a whole number that is not negative")
    size = len(space.turns)
    return np.zeros(size) if seed == 0 else np.random.default_rng(int(seed)).random(size)
