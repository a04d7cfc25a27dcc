"""Chain starts: linkages from which a fit begins,
random ones laid over the positions and exact ones of some of them.

Random chains are laid by centre, spread and long axis of their path where the crank is free, by the
best similarity (a linear problem) for sixteen first angles where its timing is given. Exact ones:
through five of the poses a chain of three joints A, B, E is drawn, and both other links are dyads
of relative poses ([Soh2008]); through nine of the points there are four-bars, and a six-bar whose
second triangle is rigid moves as its four-bar does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.errors import NotPossible
from linkwork.synthesis.chains import (
    CHAINS,
    FOUR,
    STEPHENSON,
    parameters_of,
    postures,
    scaled,
    tracer_of,
)
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.four_bars import cognates, four_bars
from linkwork.synthesis.task import PlanarTask

GRID, FIRST_ANGLES = 48, 16
SMALLEST, LARGEST = 1e-2, 30.0
"""Links of exact starts lie between these [task sizes]."""
Starts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Parameters (m, k), for poses with the body's angle as their last; sides (m, s);
crank angles (m, n)."""


@dataclass(frozen=True)
class Goal:
    """Positions to come near to, in task sizes about their middle.

    points (n,) complex; turns (n,) complex exp(i angle), 0 for a point; weights (n,); timing (n,)
    or None
    """

    points: np.ndarray
    turns: np.ndarray
    weights: np.ndarray
    timing: np.ndarray | None

    @property
    def n(self) -> int:
        return len(self.points)

    @property
    def posed(self) -> bool:
        return bool(np.any(self.turns))

    @property
    def places(self) -> np.ndarray:
        """(n, 2): points and turns."""
        return np.stack([self.points, self.turns], axis=-1)

    def seen(self, placed: np.ndarray) -> np.ndarray:
        """The same places (..., n, 2) with directions left out where a point has none."""
        there = np.stack([np.ones(self.n), self.turns != 0], axis=-1)
        return np.where(there > 0, placed, 0.0)

    def gap(self, placed: np.ndarray) -> np.ndarray:
        """(..., n) squared distance of tracer and direction (..., n or 1, 2), chords for angles."""
        return (
            np.abs(
                self.seen(np.broadcast_to(placed, (*placed.shape[:-2], self.n, 2))) - self.places
            )
            ** 2
        ).sum(-1)

    def turned_by(self, directions: np.ndarray) -> float:
        """The largest error of an angle [rad] for directions (n,) of the body."""
        there = self.turns != 0
        return float(np.abs(np.angle(self.turns[there] / directions[there])).max(initial=0.0))


def random_chains(chain: str, goal: Goal, count: int, seed: int) -> Starts:
    """Random chains whose paths lie over the points."""
    P = goal.points
    random = np.random.default_rng(seed)
    p, sides = _drawn(chain, 2 * count, random)
    theta = np.linspace(0.0, 2.0 * np.pi, GRID, endpoint=False)
    placed, inside = postures(chain, p[:, None], sides[:, None], theta)
    moves = np.flatnonzero(inside.sum(axis=-1) >= 6)[:count]
    p, sides, placed, inside = p[moves], sides[moves], placed[moves], inside[moves]
    if goal.timing is not None:
        return _laid_in_time(chain, goal, p, sides, goal.timing)
    Q, _ = tracer_of(chain, placed)
    weight = inside / inside.sum(axis=-1, keepdims=True)
    middle = (weight * Q).sum(axis=-1)
    off = np.where(inside, Q - middle[:, None], 0.0)
    spread = np.sqrt((weight * np.abs(off) ** 2).sum(axis=-1)) + 1e-9
    axis = np.angle((weight * off**2).sum(axis=-1))
    about = P - P.mean()
    turn = np.exp(0.5j * (np.angle((about**2).mean()) - axis)) * np.where(
        random.uniform(size=len(p)) < 0.5, 1.0, -1.0
    )
    factor = np.sqrt((np.abs(about) ** 2).mean()) / spread * turn
    return _with_angles(
        chain, goal, scaled(chain, p, factor, P.mean() - middle * factor), sides, GRID
    )


def _with_angles(
    chain: str,
    goal: Goal,
    p: np.ndarray,
    sides: np.ndarray,
    grid: int,
    phi: np.ndarray | None = None,
) -> Starts:
    """Crank angles of the places of each path nearest to the positions, of a grid;
    chains that never assemble go.

    phi (m,): the body's angle on its link where it is known.
    """
    theta = np.linspace(0.0, 2.0 * np.pi, grid, endpoint=False)
    placed, inside = postures(chain, p[:, None], sides[:, None], theta)
    moves = inside.any(axis=-1)
    p, sides, inside = p[moves], sides[moves], inside[moves]
    Q, direction = tracer_of(chain, placed[moves])
    gap = np.abs(Q[:, None, :] - goal.points[:, None]) ** 2
    nearest = lambda gap: np.where(inside[:, None, :], gap, np.inf).argmin(axis=-1)
    at = nearest(gap)
    if not goal.posed:
        return p, sides, theta[at]
    there = goal.turns != 0
    body_angle = None if phi is None else phi[moves]
    # the body's angle by the postures, then postures by place and angle
    for _ in range(1 if body_angle is not None else 2):
        if phi is None:
            seen = np.take_along_axis(direction, at, axis=-1)
            body_angle = np.angle((goal.turns * seen.conj())[:, there].sum(axis=-1))
        turned = direction * np.exp(1j * body_angle)[:, None]  # type: ignore[operator]
        off = np.abs(turned[:, None, :] - goal.turns[:, None]) ** 2 * there[:, None]
        at = nearest(gap + off)
    return np.concatenate([p, body_angle[:, None]], axis=-1), sides, theta[at]  # type: ignore[index]


def _drawn(chain: str, many: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Chains with A at the origin and the ground line along x; most have a crank that goes
    round."""
    draw = lambda *shape: random.normal(size=shape) + 1j * random.normal(size=shape)
    lengths = np.exp(random.uniform(-1.2, 1.2, size=(8 * many + 64, 4)))
    ordered = np.sort(lengths, axis=-1)
    round_ = (lengths[:, 1] == ordered[:, 0]) & (
        ordered[:, 0] + ordered[:, 3] < ordered[:, 1] + ordered[:, 2]
    )
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
    # the second triangle: a pivot near where E goes,
    # and links that reach it all round where that can be
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
    chain: str, goal: Goal, p: np.ndarray, sides: np.ndarray, timing: np.ndarray
) -> Starts:
    """The best similarity of sixteen first angles of the crank."""
    first = np.linspace(0.0, 2.0 * np.pi, FIRST_ANGLES, endpoint=False)
    theta = first[:, None] + (timing - timing[0])
    placed, inside = postures(chain, p[:, None, None], sides[:, None, None], theta)
    Q, direction = tracer_of(chain, placed)
    P = goal.points
    middle = Q.mean(axis=-1)
    off, about = Q - middle[..., None], P - P.mean()
    factor = (off.conj() * about).sum(axis=-1) / np.maximum((np.abs(off) ** 2).sum(axis=-1), 1e-12)
    error = (np.abs(off * factor[..., None] - about) ** 2).sum(axis=-1) + 1e6 * (~inside).sum(
        axis=-1
    )
    best = error.argmin(axis=-1)
    row = np.arange(len(p))
    factor, middle = factor[row, best], middle[row, best]
    fine = (error[row, best] < 1e6) & (np.abs(factor) > 1e-6)
    p, sides, factor, middle, best, row = (x[fine] for x in (p, sides, factor, middle, best, row))
    angles = first[best][:, None] + (timing - timing[0]) + np.angle(factor)[:, None]
    laid = scaled(chain, p, factor, P.mean() - middle * factor)
    if goal.posed:
        turned = direction[row, best] * (factor / np.abs(factor))[:, None]
        phi = np.angle((goal.turns * turned.conj()).sum(axis=-1))
        laid = np.concatenate([laid, phi[:, None]], axis=-1)
    return laid, sides, angles


def of_five_poses(chain: str, goal: Goal, count: int, seed: int) -> Starts:
    """Six-bars through five of the poses: exact there, unless a posture needs another assembly."""
    empty = (
        np.zeros((0, CHAINS[chain].parameters + 1)),
        np.zeros((0, CHAINS[chain].sides)),
        np.zeros((0, goal.n)),
    )
    posed = np.flatnonzero(goal.turns)
    if chain == FOUR or len(posed) < 5 or goal.timing is not None:
        return empty
    random = np.random.default_rng((seed, 5))
    five = np.stack([random.choice(posed, 5, replace=False) for _ in range(count)])
    P, turn = goal.points[five], goal.turns[five] / goal.turns[five[:, :1]]
    # a chain of three joints that follows: A on the ground, B its elbow, E on the body
    draw = lambda: random.normal(size=(count, 1)) + 1j * random.normal(size=(count, 1))
    A, E = P[:, :1] + 1.2 * draw(), P + 0.8 * draw() * turn
    reach = np.abs(E - A)
    near, far = reach.min(axis=-1, keepdims=True), reach.max(axis=-1, keepdims=True)
    a = far * random.uniform(0.5, 1.2, size=(count, 1))
    low, high = np.maximum(far - a, a - near), a + near
    b = low + (high - low) * random.uniform(0.1, 0.9, size=(count, 1))
    cosine = np.clip((reach**2 + a**2 - b**2) / (2 * reach * a), -1.0, 1.0)
    side = np.where(random.uniform(size=(count, 1)) < 0.5, 1.0, -1.0)
    B = A + a * (E - A) / reach * np.exp(1j * side * np.arccos(cosine))
    # the rocker carries the coupler, the lever the body:
    # dyads of their poses seen from what they stand on
    D, C = _some_dyad(B, (E - B) / b, (A[:, 0], B[:, 0]), random)
    if chain == STEPHENSON:
        F, H = _some_dyad(P, turn, (A[:, 0], B[:, 0]), random)
    else:
        coupler = (E - B) / (E - B)[:, :1]
        with np.errstate(invalid="ignore"):  # NaN: no rocker
            rocker = (B + (C[:, None] - B[:, :1]) * coupler - D[:, None]) / (C - D)[:, None]
            seen, turned = (P - D[:, None]) / rocker + D[:, None], turn / rocker
        F, H = _some_dyad(seen, turned, (C, E[:, 0]), random)
    points = np.stack([A[:, 0], D, F, B[:, 0], C, E[:, 0], H, P[:, 0]], axis=-1)
    labels = ("A", "D", "F", "B", "C", "E", "H", "P")
    points = points[:, [labels.index(label) for label in CHAINS[chain].topology.points]]
    whole = np.isfinite(points).all(axis=-1)
    p, sides = parameters_of(chain, points[whole])
    phi = np.angle(goal.turns[five[whole, 0]] / tracer_of(chain, points[whole])[1])
    links = np.abs(
        np.concatenate([np.hypot(p[:, 2:3], p[:, 3:4]), p[:, 4:7], p[:, 11:13]], axis=-1)
    )
    usable = (links > SMALLEST).all(axis=-1) & (links < LARGEST).all(axis=-1)
    if not usable.any():
        return empty
    return _with_angles(chain, goal, p[usable], sides[usable], 4 * GRID, phi[usable])


def _some_dyad(
    places: np.ndarray,
    turns: np.ndarray,
    known: tuple[np.ndarray, np.ndarray],
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """(ground, moving) (m,) of one dyad through each row's five poses, other than a known one;
    NaN where none is."""
    usable = np.isfinite(places).all(axis=-1) & np.isfinite(turns).all(axis=-1)
    angles = np.unwrap(np.angle(np.where(usable[:, None], turns, 1.0)), axis=-1)
    chains = dyads(PlanarTask(np.where(usable[:, None], places, np.arange(5.0)), angles))
    assert isinstance(chains, Dyads)
    apart = np.abs(chains.ground - known[0][:, None]) + np.abs(chains.moving - known[1][:, None])
    fine = chains.valid & ~chains.near_trivial & (apart > 1e-6) & usable[:, None]
    slot = np.where(fine, random.uniform(size=fine.shape), -1.0).argmax(axis=-1)
    row = np.arange(len(slot))
    there = fine[row, slot]
    return tuple(np.where(there, x[row, slot], np.nan) for x in (chains.ground, chains.moving))  # type: ignore[return-value]


def of_nine_points(chain: str, goal: Goal) -> Starts:
    """Six-bars that move as the four-bars through nine of the points."""
    empty = (
        np.zeros((0, CHAINS[chain].parameters)),
        np.zeros((0, CHAINS[chain].sides)),
        np.zeros((0, goal.n)),
    )
    if chain == FOUR or goal.n < 9:
        return empty
    nine = np.round(np.linspace(0, goal.n - 1, 9)).astype(int)
    try:
        exact = cognates(four_bars(PlanarTask(goal.points[nine])).linkages).points.reshape(-1, 5)
    except NotPossible:
        return empty
    # either grounded link may be the one that goes round
    exact = np.concatenate([exact, exact[:, [1, 0, 3, 2, 4]]])
    A, D, B, C, P = exact.T
    # E beside the coupler; the lever is the rocker again (Stephenson) or stands where the rocker
    # meets the coupler
    E = 0.5 * (B + C) + 0.4j * (C - B)
    F, H = (D, C) if chain == STEPHENSON else (C, C + 0.5j * (C - B))
    labels = ("A", "D", "F", "B", "C", "E", "H", "P")
    points = np.stack([A, D, F, B, C, E, H, P], axis=-1)
    points = points[:, [labels.index(label) for label in CHAINS[chain].topology.points]]
    if not len(points):
        return empty
    return _with_angles(chain, goal, *parameters_of(chain, points), 4 * GRID)
