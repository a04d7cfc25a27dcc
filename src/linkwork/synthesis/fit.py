"""Fit: four-bars and six-bars that come as near as they can to any number of positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from linkwork import deadlines
from linkwork.errors import NotPossible, UnknownName, did_you_mean
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis import chain_fit, descent, path_descent
from linkwork.synthesis.chain_starts import Goal
from linkwork.synthesis.chains import CHAINS, FOUR, parameters_of
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.four_bar_paths import GRID, nearest_angles, postures, random_paths
from linkwork.synthesis.four_bars import cognates, four_bars
from linkwork.synthesis.functions import FunctionGenerators, FunctionTask, function_generator
from linkwork.synthesis.linkage import FOUR_BAR, Linkages
from linkwork.synthesis.task import PlanarTask, as_task

MOST_STARTS = 1_000_000
TOPOLOGIES = tuple(CHAINS)
SAMPLES = 720
"""Postures of a path by which the distance of a point is bracketed before it is refined."""
EXACT = 1e-9


@short_repr
@dataclass(frozen=True)
class Fits(Tabular, rows="rms"):
    """Distinct optima, the best first.

    linkages      Linkages (m,), closed at the posture nearest to position 1
    rms, worst    (m,) distance of the positions from the path [m]: exact, on one circuit
    angle_worst   (m,) largest error of an angle [rad]; 0 for points
    parameters    (m, 9): Ax, Ay, Gx, Gy, crank, coupler, rocker, tracer along and across the
                  coupler; of six-bars (m, 15), synthesis/chains.py
    starts        how many were run, and how many of them ended in the first optimum
    """

    linkages: Linkages
    rms: np.ndarray
    worst: np.ndarray
    angle_worst: np.ndarray
    parameters: np.ndarray
    starts: int
    hits: int

    def __len__(self) -> int:
        return len(self.linkages)

    def __getitem__(self, chosen: Any) -> Linkages:
        return self.linkages[chosen]


class FitOptions(TypedDict, total=False):
    """Options of `fit` by name that choose among results."""

    bounds: Any
    best: int
    time_limit: float | None


@overload
def fit(
    task: PlanarTask,
    topology: str = ...,
    starts: int = ...,
    seed: int = ...,
    **options: Unpack[FitOptions],
) -> Fits: ...


@overload
def fit(
    task: FunctionTask,
    topology: str = ...,
    starts: int = ...,
    seed: int = ...,
    *,
    time_limit: float | None = ...,
) -> FunctionGenerators: ...


def fit(
    task: PlanarTask | FunctionTask,
    topology: str = "four-bar",
    starts: int = 4096,
    seed: int = 0,
    *,
    bounds: Any = None,
    best: int = 10,
    time_limit: float | None = None,
) -> Fits | FunctionGenerators:
    """The best linkages for any number of poses and points, with the weights of the task.

    topology "four-bar", "Stephenson III" or "Watt I" (the tracer on the link that no crank or
             rocker touches); with `timing` of the task the crank turns by it from position to
             position
    starts   random linkages scaled to the positions; poses add exact answers of five of them,
             points those of nine (of six-bars too: through five poses exact, through nine points as
             their four-bars)
    bounds   {"ground": (xmin, ymin, xmax, ymax), "length": (least, most), "ratio": most} that a
             result must keep
    best     how many distinct optima come back

    time_limit: seconds after which it ends with NotPossible; None: as long as it takes

    A FunctionTask (pairs of a function) gives what `function_generator` gives.
    """
    with deadlines.time_limit(time_limit, "fit"):
        return _fitted(task, topology, starts, seed, bounds, best)


def _fitted(
    task: PlanarTask | FunctionTask, topology: str, starts: int, seed: int, bounds: Any, best: int
) -> Fits | FunctionGenerators:
    who = "fit"
    if isinstance(task, FunctionTask):
        if topology != FOUR or bounds is not None:
            raise NotPossible(
                f"{who}: pairs of a function are fitted by four-bars and slider-cranks "
                "without bounds"
            )
        return function_generator(
            task.inputs, task.outputs, task.scale, starts, seed, output=task.output
        )
    task = as_task(task, who)
    if topology not in TOPOLOGIES:
        near = did_you_mean(str(topology), TOPOLOGIES)
        raise UnknownName(
            f'{who}: topology "{topology}" is unknown, expected one of '
            f"{', '.join(TOPOLOGIES)}{near}"
        )
    if task.batch:
        raise NotPossible(f"{who}: the task is a batch of shape {task.batch}, expected one task")
    if task.n < 5 or descent.padded(task.n) == 0:
        most = descent.SIZES[-1]
        raise NotPossible(
            f"{who}: the task has {task.n} positions, expected 5 to {most}; four_bars takes fewer"
        )
    starts = deadlines.counted(starts, f"{who}: starts", 1, MOST_STARTS)
    best = deadlines.counted(best, f"{who}: best", 1, MOST_STARTS)
    limits = chain_fit.bounds_of(bounds, who)
    posed = np.isfinite(task.angles)
    centre = task.positions.mean()
    size = float(np.abs(task.positions - centre).max())
    if size == 0:
        raise NotPossible(f"{who}: all positions are equal")
    P = (task.positions - centre) / size
    weights = np.ones(task.n) if task.weights is None else np.broadcast_to(task.weights, (task.n,))
    if topology != FOUR or task.timing is not None:
        turns = np.where(posed, np.exp(1j * np.where(posed, task.angles, 0.0)), 0.0)
        goal = Goal(P, turns, weights, task.timing)
        return _of_chain(topology, goal, starts, seed, centre, size, limits, best)
    run = _poses if posed.any() else _points
    x, side, angles, cost = run(task, P, weights, posed, starts, seed)
    order = np.argsort(cost, kind="stable")
    chosen, hits = chain_fit.distinct(x[order], cost[order], 6 * best)
    keep = order[chosen]
    return _finished(
        task, x[keep], side[keep], angles[keep], centre, size, limits, best, len(x), hits
    )


def _of_chain(
    chain: str,
    goal: Goal,
    starts: int,
    seed: int,
    centre: complex,
    size: float,
    limits: dict[str, Any],
    best: int,
) -> Fits:
    """Six-bars, and four-bars whose crank follows the timing."""
    x, sides, angles, cost = chain_fit.optima(chain, goal, starts, seed)
    order = np.argsort(cost, kind="stable")
    chosen, hits = chain_fit.distinct(x[order], cost[order], 6 * best)
    optima = []
    for k in order[chosen]:
        optimum = chain_fit.judged(chain, x[k], sides[k], angles[k], goal)
        if optimum is not None and chain_fit.within(chain, optimum, limits, size, centre):
            optima.append(optimum)
    optima.sort(key=lambda optimum: optimum.cost)
    optima = optima[:best]
    count, names = CHAINS[chain].parameters, CHAINS[chain].topology.points
    points = np.array([o.points * size + centre for o in optima], dtype=complex).reshape(
        -1, len(names)
    )
    distance = size * np.array([o.distance for o in optima]).reshape(-1, goal.n)
    parameters = size * np.array([o.parameters for o in optima]).reshape(-1, count)
    parameters[:, :2] += [centre.real, centre.imag]
    rms, worst = np.sqrt((distance**2).mean(axis=-1)), distance.max(axis=-1, initial=0.0)
    links = Linkages(CHAINS[chain].topology, points)
    off = np.array([o.angle_worst for o in optima], dtype=float)
    return Fits(links, rms, worst, off, parameters, len(x), hits)


def _points(
    task: PlanarTask, P: np.ndarray, weights: np.ndarray, posed: np.ndarray, starts: int, seed: int
) -> tuple[np.ndarray, ...]:
    """Points alone: along paths; where random starts do not solve it,
    from exact answers of nine of the points."""
    p, side, angles = random_paths(P, starts, seed)
    x, t, cost = path_descent.descend(p, side, angles, P, weights)
    if task.n >= 9 and np.sqrt(cost.min() / task.n) > EXACT:
        nine = np.round(np.linspace(0, task.n - 1, 9)).astype(int) if task.n > 9 else np.arange(9)
        try:
            exact = four_bars(PlanarTask(P[nine]))
        except NotPossible:
            return x, side, t, cost
        every = cognates(exact.linkages).points.reshape(-1, 5)
        # either grounded link may be the one that goes round;
        # driven by the other one the path would need both sides
        p, sides = parameters_of(FOUR, np.concatenate([every, every[:, [1, 0, 3, 2, 4]]]))
        more = p, sides[:, 0]
        if len(more[0]):
            near = nearest_angles(*more, P)
            x2, t2, cost2 = path_descent.descend(more[0], more[1], near, P, weights)
            x, t, cost = (np.concatenate(pair) for pair in ((x, x2), (t, t2), (cost, cost2)))
            side = np.concatenate([side, more[1]])
    return x, side, t, cost


def _poses(
    task: PlanarTask, P: np.ndarray, weights: np.ndarray, posed: np.ndarray, starts: int, seed: int
) -> tuple[np.ndarray, ...]:
    """Poses, or poses and points: from pairs of exact dyads of five poses, and from random
    pivots."""
    random = np.random.default_rng(seed)
    alpha = np.where(posed, task.angles - task.angles[posed][0], 0.0)
    pivots = [_random_pivots(P, alpha, random, starts // 2)]
    of_poses = np.flatnonzero(posed)
    if len(of_poses) >= 5:
        count = max(1, starts // 8)
        subsets = np.stack([random.choice(of_poses, 5, replace=False) for _ in range(count)])
        chains = dyads(PlanarTask(P[subsets], alpha[subsets]))
        assert isinstance(chains, Dyads)
        row, slot = np.nonzero(chains.valid & ~chains.near_trivial)
        if len(row) >= 2:
            turn = np.exp(-1j * alpha[subsets[row, 0]])
            # in the body's axes at angle 0
            z = (chains.moving[row, slot] - P[subsets[row, 0]]) * turn
            a, length = chains.ground[row, slot], np.abs(chains.W[row, slot])
            first, second = (random.integers(len(row), size=starts // 2) for _ in range(2))
            other = first != second
            first, second = first[other], second[other]
            pivots.append(tuple(np.stack([v[first], v[second]], axis=-1) for v in (a, z, length)))
    ground, arms, lengths = (np.concatenate(parts) for parts in zip(*pivots))
    apart = np.abs(arms[:, 0] - arms[:, 1]) > 1e-6
    ground, arms, lengths = ground[apart], arms[apart], lengths[apart]
    common = np.angle(arms[:, 1] - arms[:, 0])
    w, b = arms[:, 0] * np.exp(-1j * common), np.abs(arms[:, 1] - arms[:, 0])
    pivots_and_tip = [x for z in (ground[:, 0], ground[:, 1], w) for x in (z.real, z.imag)]
    start = np.stack([*pivots_and_tip, b, lengths[:, 0], lengths[:, 1], common], axis=-1)
    t = np.where(posed, alpha, 0.0)[None] + np.where(posed, 0.0, common[:, None])
    t = _best_turns(start, P, posed, t)
    x, turns, cost = descent.descend(start, t, P, weights, posed)
    first = turns[:, 0] + np.where(posed[0], x[:, 9], 0.0)
    return _as_paths(x, first, P, cost)


def _random_pivots(
    P: np.ndarray, alpha: np.ndarray, random: np.random.Generator, count: int
) -> tuple[np.ndarray, ...]:
    draw = lambda: random.normal(size=(count, 2)) + 1j * random.normal(size=(count, 2))
    a, z = 1.5 * draw() + P.mean(), 1.5 * draw()
    at = P[None, :, None] + z[:, None, :] * np.exp(1j * alpha)[None, :, None]
    return a, z, np.abs(at - a[:, None, :]).mean(axis=1)


def _best_turns(start: np.ndarray, P: np.ndarray, posed: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Angles of points: the best of a grid."""
    if posed.all():
        return t
    grid = np.linspace(-np.pi, np.pi, GRID, endpoint=False)
    u = np.exp(1j * grid)
    A, D, w = (start[:, i] + 1j * start[:, i + 1] for i in (0, 2, 4))
    z = w + start[:, 6]
    error = 0.0
    for pivot, arm, length in ((A, w, start[:, 7]), (D, z, start[:, 8])):
        at = P[None, :, None] + arm[:, None, None] * u - pivot[:, None, None]
        error = error + (np.abs(at) - length[:, None, None]) ** 2
    return np.where(posed, t, grid[np.asarray(error).argmin(axis=-1)])


def _as_paths(
    x: np.ndarray, turn: np.ndarray, P: np.ndarray, cost: np.ndarray
) -> tuple[np.ndarray, ...]:
    """The same linkages as parameters of paths: (parameters (m, 9), sides, crank angle at position
    1 (m, 1), cost)."""
    A, D, w = (x[:, i] + 1j * x[:, i + 1] for i in (0, 2, 4))
    u = np.exp(1j * turn)
    B = P[0] + w * u
    C = P[0] + (w + x[:, 6]) * u
    side = np.sign(((D - B).conj() * (C - B)).imag)
    G = D - A
    flip = np.sign(x[:, 6])  # a negative coupler points the other way
    tip = -w * flip
    lengths = [np.abs(x[:, i]) for i in (7, 6, 8)]
    parts = [A.real, A.imag, G.real, G.imag, *lengths, tip.real, tip.imag]
    degenerate = (np.abs(A - D) < 1e-4) & (np.abs(x[:, 6]) < 1e-4) | (np.abs(x[:, 6]) < 1e-7)
    cost = np.where(degenerate, np.inf, cost)
    return np.stack(parts, axis=-1), np.where(side == 0, 1.0, side), np.angle(B - A)[:, None], cost


def _finished(
    task: PlanarTask,
    x: np.ndarray,
    side: np.ndarray,
    angles: np.ndarray,
    centre: complex,
    size: float,
    limits: dict[str, Any],
    best: int,
    starts: int,
    hits: int,
) -> Fits:
    rows = []
    for k in range(len(x)):
        distance, turned, theta = _distances(x[k], side[k], task, centre, size)
        if distance is not None:
            rows.append(
                (float(np.sqrt((distance**2).mean())), float(distance.max()), turned, k, theta)
            )
    rows.sort(key=lambda row: row[0] + row[2] * size * 1e-3)
    points, rms, worst, angle, kept = [], [], [], [], []
    for r, w, turned, k, theta in rows:
        corners = _corners(x[k], side[k], theta) * size + centre
        if _within(corners, limits):
            points.append(corners)
            rms.append(r)
            worst.append(w)
            angle.append(turned)
            kept.append(k)
    shape = np.array(points, dtype=complex).reshape(-1, 5)[:best]
    moved = np.zeros((0, 9))
    if kept:
        moved = x[kept] * size + np.array([centre.real, centre.imag, 0, 0, 0, 0, 0, 0, 0])
    near, far, off = (np.array(v, dtype=float)[:best] for v in (rms, worst, angle))
    return Fits(Linkages(FOUR_BAR["crank"], shape), near, far, off, moved[:best], starts, hits)


def _distances(p: np.ndarray, side: float, task: PlanarTask, centre: complex, size: float) -> tuple:
    """(distance of each position [m], worst angle [rad], crank angle at position 1),
    on the circuit of position 1."""
    P = (task.positions - centre) / size
    posed = np.isfinite(task.angles)
    theta = np.linspace(-np.pi, np.pi, SAMPLES, endpoint=False)
    lengths = np.array([np.hypot(p[2], p[3]), p[4], p[5], p[6]])
    ordered = np.sort(lengths)
    two = ordered[0] + ordered[3] <= ordered[1] + ordered[2] and lengths.argmin() <= 1
    sides = [np.array([side])] if two else [np.array([side, -side])]
    for chosen in sides:
        both = np.repeat(p[None], len(chosen), axis=0)
        Q, _, inside = postures(both, chosen, np.broadcast_to(theta, (len(chosen), SAMPLES)))
        gap = np.where(inside[..., None], np.abs(Q[..., None] - P) ** 2, np.inf)
        at = gap.reshape(-1, len(P)).argmin(axis=0)
        which, start = np.divmod(at, SAMPLES)
        t = theta[start]
        # golden steps would do; Newton on the foot point with halving is quicker
        for _ in range(60):
            q, _, _ = _foot(both, chosen, which, t)
            h = 1e-6
            before, _, _ = _foot(both, chosen, which, t - h)
            after, _, _ = _foot(both, chosen, which, t + h)
            slope = (after - before) / (2 * h)
            dt = ((P - q) * slope.conj()).real / np.maximum(np.abs(slope) ** 2, 1e-20)
            dt = np.clip(dt, -0.02, 0.02)
            better_q, _, better_ok = _foot(both, chosen, which, t + dt)
            improves = better_ok & (np.abs(P - better_q) < np.abs(P - q))
            t = np.where(improves, t + dt, t)
            if not improves.any():
                break
        q, e_at, ok = _foot(both, chosen, which, t)
        if not ok.all():
            continue
        angle = 0.0
        if posed.any():
            body = np.exp(1j * task.angles[posed]) / e_at[posed]
            mean = body.mean() / max(abs(body.mean()), 1e-12)
            angle = float(np.abs(np.angle(body / mean)).max())
        return np.abs(P - q) * size, angle, (float(t[0]), float(chosen[which[0]]))
    return None, 0.0, 0.0


def _foot(
    p: np.ndarray, side: np.ndarray, which: np.ndarray, t: np.ndarray
) -> tuple[np.ndarray, ...]:
    Q, e, inside = postures(p[which], side[which], t[:, None])
    return Q[:, 0], e[:, 0], inside[:, 0]


def _corners(p: np.ndarray, side: float, posture: tuple[float, float]) -> np.ndarray:
    """A, D, B, C, P with the crank at an angle, on a side: closed exactly."""
    theta, own_side = posture
    Q, e, _ = postures(p[None], np.array([own_side]), np.array([[theta]]))
    A = p[0] + 1j * p[1]
    B = A + p[4] * np.exp(1j * theta)
    return np.array([A, A + p[2] + 1j * p[3], B, B + p[5] * e[0, 0], Q[0, 0]])


def _within(corners: np.ndarray, limits: dict[str, Any]) -> bool:
    A, D, B, C, _ = corners
    return chain_fit.keeps(limits, [A, D], np.abs(np.array([D - A, B - A, C - B, C - D])))
