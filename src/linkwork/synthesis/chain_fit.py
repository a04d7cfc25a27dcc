"""Chain fit: four-bars with prescribed timing and six-bars that come as near as they can to many points.

Starts are random chains laid over the points: by centre, spread and long axis where the crank is free, by the best
similarity (a linear problem) for sixteen first angles where its timing is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import mapping
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.synthesis import path_descent
from linkwork.synthesis.chains import CHAINS, FOUR, STEPHENSON, postures, scaled

GRID, FIRST_ANGLES = 48, 16
SAME = 1e-5
"""Parameters nearer than this [task sizes] are one optimum."""
SAMPLES = 720
"""Postures of a path by which the distance of a point is bracketed before it is refined."""


@dataclass(frozen=True)
class Optimum:
    """One linkage: distances of the points from its path [task sizes], parameters, sides, points at position 1."""

    distance: np.ndarray
    parameters: np.ndarray
    sides: np.ndarray
    points: np.ndarray


def optima(
    chain: str, P: np.ndarray, weights: np.ndarray, timing: np.ndarray | None, starts: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(parameters (m, k), sides (m, s), crank angles (m, n), sums of squares (m,)) of all starts."""
    p, sides, angles = random_chains(chain, P, starts, seed, timing)
    x, t, cost = path_descent.descend(p, sides, angles, P, weights, chain, timing is not None)
    return x, sides, t, cost


def random_chains(
    chain: str, P: np.ndarray, count: int, seed: int, timing: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(parameters (m, k), sides (m, s), crank angles (m, n)): random chains whose paths lie over the points."""
    random = np.random.default_rng(seed)
    p, sides = _drawn(chain, 2 * count, random)
    theta = np.linspace(0.0, 2.0 * np.pi, GRID, endpoint=False)
    placed, inside = postures(chain, p[:, None], sides[:, None], theta)
    moves = np.flatnonzero(inside.sum(axis=-1) >= 6)[:count]
    p, sides, Q, inside = p[moves], sides[moves], placed[moves][..., _tracer(chain)], inside[moves]
    if timing is not None:
        return _laid_in_time(chain, P, p, sides, timing)
    weight = inside / inside.sum(axis=-1, keepdims=True)
    middle = (weight * Q).sum(axis=-1)
    off = np.where(inside, Q - middle[:, None], 0.0)
    spread = np.sqrt((weight * np.abs(off) ** 2).sum(axis=-1)) + 1e-9
    axis = np.angle((weight * off**2).sum(axis=-1))
    goal = P - P.mean()
    turn = np.exp(0.5j * (np.angle((goal**2).mean()) - axis)) * np.where(random.uniform(size=len(p)) < 0.5, 1.0, -1.0)
    factor = np.sqrt((np.abs(goal) ** 2).mean()) / spread * turn
    laid = P.mean() + off * factor[:, None]
    distance = np.where(inside[:, None, :], np.abs(laid[:, None, :] - P[None, :, None]), np.inf)
    angles = theta[distance.argmin(axis=-1)] + np.angle(factor)[:, None]
    return scaled(chain, p, factor, P.mean() - middle * factor), sides, angles


def _drawn(chain: str, many: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Chains with A at the origin and the ground line along x; most have a crank that goes round."""
    draw = lambda *shape: random.normal(size=shape) + 1j * random.normal(size=shape)
    lengths = np.exp(random.uniform(-1.2, 1.2, size=(8 * many + 64, 4)))
    ordered = np.sort(lengths, axis=-1)
    round_ = (lengths[:, 1] == ordered[:, 0]) & (ordered[:, 0] + ordered[:, 3] < ordered[:, 1] + ordered[:, 2])
    rows = np.concatenate([np.flatnonzero(round_)[: 3 * many // 4], np.flatnonzero(~round_)])[:many]
    random.shuffle(rows)
    g, a, b, c = lengths[rows].T
    m = len(g)
    arm = b * (0.5 + 0.8 * draw(m))
    zero = np.zeros(m)
    sides = np.where(random.uniform(size=(m, CHAINS[chain].sides)) < 0.5, 1.0, -1.0)
    four = np.stack([zero, zero, g, zero, a, b, c, arm.real, arm.imag], axis=-1)
    if chain == FOUR:
        return four, sides
    # the second triangle: a pivot near where E goes, and links that reach it all round where that can be
    theta = np.linspace(0.0, 2.0 * np.pi, GRID, endpoint=False)
    points, inside = postures(FOUR, four[:, None], sides[:, None, :1], theta)
    D, C, E = (points[..., k] for k in (1, 3, 4))
    share = inside / np.maximum(inside.sum(axis=-1, keepdims=True), 1)
    spread = np.abs(E - E[:, :1]).max(axis=-1) + 0.1
    if chain == STEPHENSON:
        pivot = (share * E).sum(axis=-1) + 1.2 * spread * draw(m)
        at = np.broadcast_to(pivot[:, None], E.shape)
    else:
        pivot = 1.2 * c * draw(m)
        at = D + pivot[:, None] * (C - D) / c[:, None]
    apart = np.abs(E - at)
    least = np.where(inside, apart, np.inf).min(axis=-1)
    most = np.where(inside, apart, 0.0).max(axis=-1)
    least = np.where(np.isfinite(least), least, 1.0)
    link = np.exp(random.uniform(-0.7, 0.7, size=m)) * np.maximum(0.5 * (least + most), 1e-2)
    low, high = np.maximum(most - link, link - least), least + link
    lever = np.where(low < high, random.uniform(np.minimum(low, high), high), 0.5 * (least + most))
    tip = link * (0.5 + 0.8 * draw(m))
    more = [pivot.real, pivot.imag, link, np.maximum(lever, 1e-2), tip.real, tip.imag]
    return np.concatenate([four, np.stack(more, axis=-1)], axis=-1), sides


def _laid_in_time(
    chain: str, P: np.ndarray, p: np.ndarray, sides: np.ndarray, timing: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The best similarity of sixteen first angles of the crank."""
    first = np.linspace(0.0, 2.0 * np.pi, FIRST_ANGLES, endpoint=False)
    theta = first[:, None] + (timing - timing[0])
    placed, inside = postures(chain, p[:, None, None], sides[:, None, None], theta)
    Q = placed[..., _tracer(chain)]
    middle = Q.mean(axis=-1)
    off, goal = Q - middle[..., None], P - P.mean()
    factor = (off.conj() * goal).sum(axis=-1) / np.maximum((np.abs(off) ** 2).sum(axis=-1), 1e-12)
    error = (np.abs(off * factor[..., None] - goal) ** 2).sum(axis=-1) + 1e6 * (~inside).sum(axis=-1)
    best = error.argmin(axis=-1)
    row = np.arange(len(p))
    factor, middle = factor[row, best], middle[row, best]
    fine = (error[row, best] < 1e6) & (np.abs(factor) > 1e-6)
    p, sides, factor, middle, best = (x[fine] for x in (p, sides, factor, middle, best))
    angles = first[best][:, None] + (timing - timing[0]) + np.angle(factor)[:, None]
    return scaled(chain, p, factor, P.mean() - middle * factor), sides, angles


def judged(
    chain: str, p: np.ndarray, sides: np.ndarray, angles: np.ndarray, P: np.ndarray, timed: bool
) -> Optimum | None:
    """Distances along one assembly that the crank can run through; None where there is no such way."""
    if timed:
        between = np.linspace(angles.min(), angles.max(), SAMPLES)
        if not postures(chain, p, sides, between)[1].all():
            return None
        placed, _ = postures(chain, p, sides, angles)
        return Optimum(np.abs(placed[:, _tracer(chain)] - P), p, sides, placed[0])
    theta = np.linspace(-np.pi, np.pi, SAMPLES, endpoint=False)
    placed, inside = postures(chain, p, sides, theta)
    gap = np.abs(placed[:, _tracer(chain), None] - P)
    best: tuple[float, np.ndarray] | None = None
    for piece in _pieces(inside):
        at = piece[gap[piece].argmin(axis=0)]
        total = float((gap[at, np.arange(len(P))] ** 2).sum())
        if best is None or total < best[0]:
            best = (total, theta[at])
    if best is None:
        return None
    t = _feet(chain, p, sides, best[1], P)
    placed, fine = postures(chain, p, sides, t)
    if not fine.all():
        return None
    return Optimum(np.abs(placed[:, _tracer(chain)] - P), p, sides, placed[0])


def _pieces(inside: np.ndarray) -> list[np.ndarray]:
    """Indices of each run of assembled postures, all round."""
    if inside.all():
        return [np.arange(len(inside))]
    begin = int(np.flatnonzero(~inside)[0])
    order = np.roll(np.arange(len(inside)), -begin)
    runs = np.split(order, np.flatnonzero(~inside[order])[1:])
    return [run[inside[run]] for run in runs if inside[run].any()]


def _feet(chain: str, p: np.ndarray, sides: np.ndarray, t: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Crank angles of the nearest points of the path, by Gauss and Newton with refusal."""
    h = 1e-6
    place = lambda x: postures(chain, p, sides, x)[0][:, _tracer(chain)]
    for _ in range(60):
        q = place(t)
        slope = (place(t + h) - place(t - h)) / (2 * h)
        dt = ((P - q) * slope.conj()).real / np.maximum(np.abs(slope) ** 2, 1e-20)
        trial = t + np.clip(dt, -0.02, 0.02)
        moved, fine = postures(chain, p, sides, trial)
        better = fine & (np.abs(P - moved[:, _tracer(chain)]) < np.abs(P - q))
        if not better.any():
            break
        t = np.where(better, trial, t)
    return t


def within(chain: str, optimum: Optimum, limits: dict[str, Any], size: float, centre: complex) -> bool:
    """Whether pivots and lengths keep the bounds of `fit`."""
    topology = CHAINS[chain].topology
    places = dict(zip(topology.points, optimum.points * size + centre))
    p = optimum.parameters
    links = [np.hypot(p[2], p[3]), *p[4:7], *([] if chain == FOUR else p[11:13])]
    return keeps(limits, [places[name] for name in topology.bodies["ground"]], size * np.abs(np.array(links)))


def distinct(x: np.ndarray, cost: np.ndarray, most: int) -> tuple[list[int], int]:
    """Indices of the first `most` different rows of a list in order of cost, and how often the first one came."""
    chosen: list[int] = []
    hits = 0
    finite = np.flatnonzero(np.isfinite(cost) & np.isfinite(x).all(axis=-1) & (cost < 1e8))
    for k in finite:
        near = [np.abs(x[k] - x[c]).max() < SAME * (1 + np.abs(x[c]).max()) for c in chosen]
        hits += bool(near and near[0])
        if any(near):
            continue
        if len(chosen) == most:
            break
        chosen.append(int(k))
    return chosen, hits + bool(chosen)


def bounds_of(bounds: Any, who: str) -> dict[str, Any]:
    """Checked bounds of `fit` by name."""
    given = mapping(bounds, f"{who}: bounds")
    known = {"ground": 4, "length": 2, "ratio": 1}
    for name, value in given.items():
        if name not in known:
            raise UnknownName(f'{who}: bounds has no "{name}"{did_you_mean(name, known)}')
        if np.size(value) != known[name] or not np.isfinite(np.asarray(value, dtype=float)).all():
            raise InvalidInput(f"{who}: bounds[{name!r}] is {value!r}, expected {known[name]} finite numbers")
    return given


def keeps(limits: dict[str, Any], pivots: list[complex], lengths: np.ndarray) -> bool:
    """Whether ground pivots and lengths of links keep the bounds of `fit`."""
    if "ground" in limits:
        low_x, low_y, high_x, high_y = limits["ground"]
        if any(not (low_x <= z.real <= high_x and low_y <= z.imag <= high_y) for z in pivots):
            return False
    if "length" in limits and not (limits["length"][0] <= lengths.min() and lengths.max() <= limits["length"][1]):
        return False
    return not ("ratio" in limits and lengths.max() > float(np.ravel(limits["ratio"])[0]) * lengths.min())


def _tracer(chain: str) -> int:
    return CHAINS[chain].topology.points.index("P")
