"""Optimised paths: least acceleration and length at some clearance,
by Gauss-Newton steps that keep the path free.

A path is N points x_i, i even in time, both ends fixed. With D1, D2 its first and second
differences and d_i, g_i the distance of the nearest shapes at x_i and its exact gradient by the
joints,

    minimise   BEND N^3 |D2 x|^2 + N |D1 x|^2 + push sum_i max(0, clearance - d_i)^2 N

Hinges that are active are linearised: one block-banded system a step, damped as Levenberg does.
Shapes that are not the nearest, and that the step would run into, take part as planes (planes.py).
A step is taken only if the objective falls and every motion between the points is *proved* free, so
that no answer is worse than its seed. First missing clearance counts much (away from what is near),
then less (smooth); the answer is the best by the latter.
Source: [Ratliff2009] (objective), [Levenberg1944] (damping), [Kiwiel1990] (planes).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import number, whole
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput, NotPossible
from linkwork.planning.paths import free_path
from linkwork.planning.plan_result import Plan, Plans
from linkwork.planning.planes import Planes
from linkwork.planning.planner import plan
from linkwork.planning.questions import length_of, space_of
from linkwork.planning.space import Space

POINTS = 96
ITERATIONS = 40
MOST_SEEDS = 1000
BEND = 0.02  # what acceleration counts, against the length squared
# what missing clearance counts [1/m^2]: first away from what is near, then smooth
PUSHES = (
    2e5,
    5e4,
)
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-2, 1e-6, 1e6
ENOUGH = 2e-3  # a share of the objective: steps that gain less are the last
TIRED = 3  # of them in a row


@deadlines.limited
def optimise(
    model: CollisionModel,
    paths: Any,
    obstacles: Obstacles | Sequence[Any] | None = None,
    seeds: int = 1,
    clearance: float = 0.02,
    points: int = POINTS,
    iterations: int = ITERATIONS,
    seed: int = 0,
    *,
    time_limit: float | None = None,
) -> Any:
    """Smoother and shorter paths, certified at every step, from paths that are free.

    paths        a path (m, nq), a Plan, or several of either (`Plans`, a list), improved side by
                 side
    obstacles    of all paths; None: those of each Plan
    seeds        from how many paths each answer comes: the given one and, above 1, others that the
                 planner finds between its ends; the best is taken
    clearance    [m] that is aimed at where there is room
    points       of an answer, even in time; iterations: at most; seed: of the planner
    time_limit   seconds after which it ends with NotPossible; None: as long as it takes
    Gives a Plan, or Plans for several; `path` (points, nq), `certified`. A path that cannot be
    improved comes back.
    """
    around = (
        obstacles if obstacles is None or isinstance(obstacles, Obstacles) else Obstacles(obstacles)
    )
    aim = number(clearance, "optimise: clearance")
    if not aim >= 0.0:
        raise InvalidInput(
            f"optimise: clearance is {aim:g}, expected a distance that is not negative [m]"
        )
    deadlines.counted(seeds, "optimise: seeds", 1, MOST_SEEDS)
    for label, value, least in (("points", points, 5), ("iterations", iterations, 0)):
        whole(value, f"optimise: {label}", least, f"a whole number, at least {least}")
    space = space_of(model, None, None, "optimise")
    one = isinstance(paths, Plan) or (
        not isinstance(paths, (Plans, list, tuple)) and np.ndim(paths) == 2
    )
    one = one or (isinstance(paths, (list, tuple)) and all(np.ndim(row) == 1 for row in paths))
    clock = time.perf_counter()
    asked = []
    for path in [paths] if one else list(paths):
        scene = path.obstacles if around is None and isinstance(path, Plan) else around
        rows, scene = free_path(model, _rows_of(path), scene, "optimise", 1.0 / 32.0)
        begun = [rows]
        for k in range(1, int(seeds)):
            other = plan(model, rows[0], rows[-1], scene, seed=seed + k, certify=False)
            begun += [other.path] if other.success else []
        asked.append((scene, begun))
    answers: list[Any] = [None] * len(asked)
    # paths of one scene side by side
    for scene in {id(scene): scene for scene, _ in asked}.values():
        members = [k for k, (around_k, _) in enumerate(asked) if around_k is scene]
        seeds_of = [asked[k][1] for k in members]
        better = _best(model, space, seeds_of, scene, aim, int(points), int(iterations))
        for k, answer in zip(members, better, strict=True):
            answers[k] = answer
    return answers[0] if one else Plans(answers, time.perf_counter() - clock)


def _rows_of(path: Any) -> Any:
    if not isinstance(path, Plan):
        return path
    if not path.success:
        raise NotPossible(f"optimise: a plan has no path ({path.reason})")
    return path.path


def _best(
    model: CollisionModel,
    space: Space,
    asked: list[list[np.ndarray]],
    obstacles: Obstacles | None,
    aim: float,
    points: int,
    iterations: int,
) -> list[Plan]:
    """For each list of seeds the best answer; all of them are improved side by side."""
    clock = time.perf_counter()
    count = max(points, *(len(path) for begun in asked for path in begun))
    sizes = [len(begun) for begun in asked]
    ends = np.cumsum(sizes)
    x = np.stack([spread(path, count) for begun in asked for path in begun])
    work = _Descent(model, space, obstacles, aim, x)
    steps = work.run(iterations)
    answers = []
    for begun, end in zip(asked, ends, strict=True):
        first = end - len(begun)
        k = first + int(np.argmin(np.where(work.proved[first:end], work.least[first:end], np.inf)))
        path = work.best[k] if work.proved[k] else begun[0]
        proof = model.certify_motion(path[:-1], path[1:], obstacles)
        free = bool(np.all(proof.free))
        bound = float(np.min(proof.clearance)) if free else np.nan
        seconds = {"optimise": (time.perf_counter() - clock) / len(asked)}
        parts = (path[-1], steps, len(begun), 0, seconds, model, obstacles)
        answers.append(Plan(True, "solved", path, length_of(path), free, bound, *parts))
    return answers


def spread(path: np.ndarray, points: int) -> np.ndarray:
    """Points along a path of straight motions, about evenly, every waypoint among them:
    the same motions."""
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    if len(path) == points:
        return path
    share = lengths / max(float(lengths.sum()), 1e-300) * (points - 1)
    counts = np.maximum(np.floor(share), 1).astype(int)
    while counts.sum() > points - 1:
        counts[int(np.argmax(np.where(counts > 1, counts - share, -np.inf)))] -= 1
    while counts.sum() < points - 1:
        counts[int(np.argmax(share / counts))] += 1
    parts = [
        a + (b - a) * np.arange(n)[:, None] / n
        for a, b, n in zip(path[:-1], path[1:], counts, strict=True)
    ]
    return np.concatenate([*parts, path[-1:]])


def squared_acceleration(path: np.ndarray) -> float:
    """The integral of |x''|^2 over 0 .. 1 for points (n, nq) even in time."""
    bends = path[2:] - 2.0 * path[1:-1] + path[:-2]
    return float((len(path) - 1) ** 3 * (bends * bends).sum())


@dataclass(frozen=True)
class _Value:
    """Of paths (b, n, nq): length squared and bending (b,), missing clearance squared (b,),
    distances (b, n) and their gradients (b, n, nq)."""

    smooth: np.ndarray
    missing: np.ndarray
    distance: np.ndarray
    gradient: np.ndarray

    def with_push(self, push: float) -> np.ndarray:
        """The objective (b,)."""
        return self.smooth + push * self.missing


class _Descent:
    """Paths that are improved side by side; each has its own damping and end."""

    def __init__(
        self,
        model: CollisionModel,
        space: Space,
        obstacles: Obstacles | None,
        aim: float,
        x: np.ndarray,
    ) -> None:
        self.model, self.obstacles, self.aim, self.x = model, obstacles, aim, x
        self.count, self.size = x.shape[1], x.shape[2]
        turns = np.array(space.turns) > 0.0
        self.lower = np.where(turns, -np.inf, space.lower)
        self.upper = np.where(turns, np.inf, space.upper)
        self.stiffness = stiffness(self.count, self.size)
        row, column = np.tril_indices(self.size)
        place = self.size * np.arange(self.count - 2)[:, None] + column
        self.blocks = (row, column, np.broadcast_to(row - column, place.shape), place)
        self.now = self._valued(x)
        self.planes = Planes(len(x), self.count - 2, self.size)
        self.damping = np.full(len(x), FIRST_DAMPING)
        self.tired = np.zeros(len(x), dtype=int)
        self.proved = self._free(x)
        self.best, self.least = x.copy(), self.now.with_push(PUSHES[-1])

    def run(self, iterations: int) -> int:
        """Steps of every phase until none gains anything; gives how many."""
        steps = 0
        for phase, push in enumerate(PUSHES):
            self.damping[:], self.tired[:] = FIRST_DAMPING, 0
            until = iterations * (phase + 1) // len(PUSHES)
            while steps < until:
                active = np.flatnonzero(
                    self.proved & (self.tired < TIRED) & (self.damping < MOST_DAMPING)
                )
                if not len(active):
                    break
                deadlines.check()
                self._iterate(active, push)
                steps += 1
        return steps

    def _iterate(self, active: np.ndarray, push: float) -> None:
        """One step of each active path, taken where it is better and free."""
        moved = self.x[active].copy()
        for place, k in enumerate(active):
            moved[place, 1:-1] += self._step(k, push)
        moved[:, 1:-1] = np.clip(moved[:, 1:-1], self.lower, self.upper)
        then, before = self._valued(moved), self.now.with_push(push)[active]
        gain = 1.0 - then.with_push(push) / np.maximum(before, 1e-300)
        good = gain > 0.0
        good[good] = self._free(moved[good])
        self.tired[active] = np.where(good & (gain < ENOUGH), self.tired[active] + 1, 0)
        factors = np.where(good, 0.25, 6.0)
        self.damping[active] = np.maximum(self.damping[active] * factors, LEAST_DAMPING)
        for place, k in enumerate(active):  # the look that is not the path's own from now on
            look, at, x = (self.now, k, self.x[k]) if good[place] else (then, place, moved[place])
            self.planes.keep(k, x[1:-1], look.distance[at, 1:-1], look.gradient[at, 1:-1])
        taken = active[good]
        self.x[taken] = moved[good]
        for name in ("smooth", "missing", "distance", "gradient"):
            getattr(self.now, name)[taken] = getattr(then, name)[good]
        value = self.now.with_push(PUSHES[-1])
        better = taken[value[taken] < self.least[taken]]
        self.best[better], self.least[better] = self.x[better], value[better]

    def _valued(self, x: np.ndarray) -> _Value:
        intervals = self.count - 1
        nearest = self.model.clearance(x, self.obstacles)
        missing = np.maximum(self.aim - nearest.distance, 0.0)
        ways = np.diff(x, axis=1)
        bends = np.diff(ways, axis=1)
        squares = intervals * np.einsum("bij,bij->b", ways, ways)
        bend = BEND * intervals**3 * np.einsum("bij,bij->b", bends, bends)
        squared = np.einsum("bi,bi->b", missing, missing) / intervals
        looks = (np.array(nearest.distance), np.array(nearest.gradient))
        return _Value(squares + bend, squared, *looks)

    def _free(self, x: np.ndarray) -> np.ndarray:
        """Which paths are proved free."""
        if not len(x):
            return np.zeros(0, dtype=bool)
        return np.all(self.model.certify_motion(x[:, :-1], x[:, 1:], self.obstacles).free, axis=1)

    def _step(self, k: int, push: float) -> np.ndarray:
        """The damped Gauss-Newton step (n - 2, nq) of one path: first with the nearest pair of
        shapes at each point, then with the planes that this would break."""
        x, weight = self.x[k, 1:-1], push / (self.count - 1)
        distance, gradient = self.now.distance[k, 1:-1], self.now.gradient[k, 1:-1]
        missing = np.maximum(self.aim - distance, 0.0)
        slope = np.where(missing[:, None] > 0.0, gradient, 0.0)
        pull = weight * missing[:, None] * slope - self._slope(self.x[k])
        banded = self.stiffness.copy()
        banded[0] += self.damping[k] * self.stiffness[0].mean()
        self._add_squares(banded, weight, slope)
        step = _solved(banded, pull)
        missing, slope = self.planes.broken(k, x, step, (distance, gradient), self.aim)
        if not slope.any():
            return step
        self._add_squares(banded, weight, slope)
        return _solved(banded, pull + weight * missing[:, None] * slope)

    def _add_squares(self, banded: np.ndarray, weight: float, slope: np.ndarray) -> None:
        """weight g g' of each point to its block on the diagonal: band j holds entries
        (c + j, c)."""
        row, column, band, place = self.blocks
        banded[band, place] += weight * slope[:, row] * slope[:, column]

    def _slope(self, x: np.ndarray) -> np.ndarray:
        """Half the gradient of length squared and bending at the inner points (n - 2, nq)."""
        intervals = self.count - 1
        ways = np.diff(x, axis=0)
        bends = np.diff(ways, axis=0)
        padded = np.concatenate([np.zeros((1, x.shape[1])), bends, np.zeros((1, x.shape[1]))])
        return -intervals * bends + BEND * intervals**3 * np.diff(padded, n=2, axis=0)


def _solved(banded: np.ndarray, pull: np.ndarray) -> np.ndarray:
    from scipy.linalg.lapack import dpbsv  # solveh_banded asks longer than this takes

    _, step, failed = dpbsv(banded, pull.ravel(), lower=1)
    # not positive by rounding: more damping
    return step.reshape(pull.shape) if not failed else np.zeros_like(pull)


def stiffness(count: int, size: int) -> np.ndarray:
    """N D1'D1 + BEND N^3 D2'D2 at the inner points, for all joints,
    in lower banded form (2 size + 1, (n - 2) size)."""
    inner, intervals = count - 2, count - 1
    # D2'D2 has 1 -4 6 -4 1 in its rows, but nothing bends beyond the ends
    bending = np.full(inner, 6.0)
    bending[[0, -1]] -= 1.0
    bands = np.array([2.0 * intervals, -intervals, 0.0])[:, None] + np.zeros(inner)
    bands += BEND * intervals**3 * np.stack([bending, np.full(inner, -4.0), np.ones(inner)])
    banded = np.zeros((2 * size + 1, inner * size))
    for j, band in enumerate(bands):
        banded[j * size] = np.repeat(band, size)
        banded[j * size, (inner - j) * size :] = 0.0  # beyond the last row
    return banded
