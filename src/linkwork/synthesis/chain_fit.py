"""Chain fit: four-bars with prescribed timing and six-bars that come as near as they can to many
positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import mapping
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.synthesis import chain_starts, path_descent
from linkwork.synthesis.chain_starts import Goal
from linkwork.synthesis.chains import CHAINS, FOUR, postures, tracer_of

SAME = 1e-5
"""Parameters nearer than this [task sizes] are one optimum."""
SAMPLES = 720
"""Postures of a path by which the distance of a point is bracketed before it is refined."""
EXACT = 1e-9
"""Distance [task sizes] at which points count as met."""


@dataclass(frozen=True)
class Optimum:
    """One linkage: distances of the positions from its path [task sizes], the largest error of an
    angle [rad], parameters, sides, points at position 1."""

    distance: np.ndarray
    angle_worst: float
    parameters: np.ndarray
    sides: np.ndarray
    points: np.ndarray

    @property
    def cost(self) -> float:
        return float((self.distance**2).sum()) + self.angle_worst**2


def optima(
    chain: str, goal: Goal, starts: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(parameters (m, k), sides (m, s), crank angles (m, n), sums of squares (m,)) of all
    starts."""
    first: tuple[np.ndarray, ...] = chain_starts.random_chains(chain, goal, starts, seed)
    if goal.posed:
        first = _joined(first, chain_starts.of_five_poses(chain, goal, max(1, starts // 8), seed))
    ends = _descended(chain, goal, first)
    if (
        not goal.posed
        and goal.timing is None
        and np.sqrt(ends[3].min(initial=np.inf) / goal.n) > EXACT
    ):
        more = chain_starts.of_nine_points(chain, goal)
        if len(more[0]):
            ends = _joined(ends, _descended(chain, goal, more))
    return ends  # type: ignore[return-value]


def _descended(chain: str, goal: Goal, starts: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    p, sides, angles = starts
    turns = goal.turns if goal.posed else None
    x, t, cost = path_descent.descend(
        p, sides, angles, goal.points, goal.weights, chain, goal.timing is not None, turns
    )
    return x, sides, t, cost


def _joined(
    first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, ...]:
    return tuple(np.concatenate(pair) for pair in zip(first, second, strict=True))


def judged(
    chain: str, p: np.ndarray, sides: np.ndarray, angles: np.ndarray, goal: Goal
) -> Optimum | None:
    """Distances along one assembly that the crank can run through; None where there is no such
    way."""
    if goal.timing is not None:
        t = angles
        between = np.linspace(t.min(), t.max(), SAMPLES)
        if not postures(chain, _own(chain, p), sides, between)[1].all():
            return None
    else:
        theta = np.linspace(-np.pi, np.pi, SAMPLES, endpoint=False)
        placed, inside = _placed(chain, p, sides, theta, goal)
        gap = goal.gap(placed[:, None])
        best: tuple[float, np.ndarray] | None = None
        for piece in _pieces(inside):
            at = piece[gap[piece].argmin(axis=0)]
            total = float(gap[at, np.arange(goal.n)].sum())
            if best is None or total < best[0]:
                best = (total, theta[at])
        if best is None:
            return None
        t = _feet(chain, p, sides, best[1], goal)
    points, fine = postures(chain, _own(chain, p), sides, t)
    if not fine.all():
        return None
    tracer, _ = tracer_of(chain, points)
    off = goal.turned_by(_placed(chain, p, sides, t, goal)[0][:, 1])
    return Optimum(np.abs(tracer - goal.points), off, _own(chain, p), sides, points[0])


def _own(chain: str, p: np.ndarray) -> np.ndarray:
    """Parameters of the linkage alone, without the angle at which a body is fixed to it."""
    return p[: CHAINS[chain].parameters]


def _placed(
    chain: str, p: np.ndarray, sides: np.ndarray, theta: np.ndarray, goal: Goal
) -> tuple[np.ndarray, np.ndarray]:
    """(tracer and direction of the body (k, 2) complex, assembled (k,)) at crank angles theta
    (k,)."""
    points, inside = postures(chain, _own(chain, p), sides, theta)
    tracer, direction = tracer_of(chain, points)
    phi = p[-1] if goal.posed else 0.0
    return np.stack([tracer, direction * np.exp(1j * phi)], axis=-1), inside


def _pieces(inside: np.ndarray) -> list[np.ndarray]:
    """Indices of each run of assembled postures, all round."""
    if inside.all():
        return [np.arange(len(inside))]
    begin = int(np.flatnonzero(~inside)[0])
    order = np.roll(np.arange(len(inside)), -begin)
    runs = np.split(order, np.flatnonzero(~inside[order])[1:])
    return [run[inside[run]] for run in runs if inside[run].any()]


def _feet(chain: str, p: np.ndarray, sides: np.ndarray, t: np.ndarray, goal: Goal) -> np.ndarray:
    """Crank angles of the nearest places of the path, by Gauss and Newton with refusal."""
    h = 1e-6
    wanted = goal.places
    place = lambda x: goal.seen(_placed(chain, p, sides, x, goal)[0])
    for _ in range(60):
        q = place(t)
        slope = (place(t + h) - place(t - h)) / (2 * h)
        dt = ((wanted - q) * slope.conj()).real.sum(axis=-1)
        dt = dt / np.maximum((np.abs(slope) ** 2).sum(axis=-1), 1e-20)
        trial = t + np.clip(dt, -0.02, 0.02)
        moved, fine = _placed(chain, p, sides, trial, goal)
        better = fine & (goal.gap(moved) < goal.gap(q))
        if not better.any():
            break
        t = np.where(better, trial, t)
    return t


def within(
    chain: str, optimum: Optimum, limits: dict[str, Any], size: float, centre: complex
) -> bool:
    """Whether pivots and lengths keep the bounds of `fit`."""
    topology = CHAINS[chain].topology
    places = dict(zip(topology.points, optimum.points * size + centre))
    p = optimum.parameters
    links = [np.hypot(p[2], p[3]), *p[4:7], *([] if chain == FOUR else p[11:13])]
    return keeps(
        limits, [places[name] for name in topology.bodies["ground"]], size * np.abs(np.array(links))
    )


def distinct(x: np.ndarray, cost: np.ndarray, most: int) -> tuple[list[int], int]:
    """Indices of the first `most` different rows of a list in order of cost,
    and how often the first one came."""
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
    named = mapping(bounds, f"{who}: bounds")
    known = {"ground": 4, "length": 2, "ratio": 1}
    for name, value in named.items():
        if name not in known:
            raise UnknownName(f'{who}: bounds has no "{name}"{did_you_mean(name, known)}')
        if np.size(value) != known[name] or not np.isfinite(np.asarray(value, dtype=float)).all():
            raise InvalidInput(
                f"{who}: bounds[{name!r}] is {value!r}, expected {known[name]} finite numbers"
            )
    return named


def keeps(limits: dict[str, Any], pivots: list[complex], lengths: np.ndarray) -> bool:
    """Whether ground pivots and lengths of links keep the bounds of `fit`."""
    if "ground" in limits:
        low_x, low_y, high_x, high_y = limits["ground"]
        if any(not (low_x <= z.real <= high_x and low_y <= z.imag <= high_y) for z in pivots):
            return False
    if "length" in limits and not (
        limits["length"][0] <= lengths.min() and lengths.max() <= limits["length"][1]
    ):
        return False
    return not (
        "ratio" in limits and lengths.max() > float(np.ravel(limits["ratio"])[0]) * lengths.min()
    )
