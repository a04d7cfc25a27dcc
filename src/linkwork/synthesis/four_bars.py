"""Four-bars through every mix of poses and points that leaves no freedom, complete."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.polynomials import Starts
from linkwork.results import short_repr
from linkwork.synthesis import mixes
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.linkage import (
    FOUR_BAR,
    Linkages,
    as_linkages,
    known_driver,
    linkages,
    pairs_of,
)
from linkwork.synthesis.task import PlanarTask, as_task, refuse, troubles

MOST_SAMPLES = 1_000_000

MEETS = 1e-9
"""How far [task sizes] distances of pivots may change between positions."""
REAL = 1e-6
FAR = 1e4
"""Links longer than this [task sizes] are beyond what a workshop and rounding allow."""
SAME_POINT = 1e-7
PATHS_AT_ONCE, MOST_PATHS = 2000, 20_000
"""Paths that are followed for members of a family: a few seconds of processor time in all."""


@short_repr
@dataclass(frozen=True)
class FourBars(Tabular, rows="residual"):
    """Four-bars of one task: real, verified, each pair of dyads once.

    linkages    Linkages (m,) with rotations at the positions
    ground      (m, 2), moving (m, 2) pivots at position 1, complex [m]
    roots       how many complex solutions were found, of `expected`
    family      "5 poses", "3 poses + 4 points", "9 points" ...
    residual    (m,) largest change of a link's length over the positions [task sizes]
    """

    linkages: Linkages
    roots: int
    expected: int
    family: str
    residual: np.ndarray

    @property
    def ground(self) -> np.ndarray:
        return np.stack([self.linkages.at("A"), self.linkages.at("D")], axis=-1)

    @property
    def moving(self) -> np.ndarray:
        return np.stack([self.linkages.at("B"), self.linkages.at("C")], axis=-1)

    def __len__(self) -> int:
        return len(self.linkages)

    def __getitem__(self, chosen: Any) -> Linkages:
        return self.linkages[chosen]


def four_bars(
    task: PlanarTask,
    samples: int = 500,
    seed: int = 0,
    driver: str = "crank",
    time_limit: float | None = None,
) -> FourBars:
    """Every four-bar whose tracer meets the task: poses, points (angle NaN), or a mix of them.

    driver   "crank" or "rocker": which of the two grounded links is driven

    2 (poses - 1) + points = 8 leaves no freedom, and nine points alone: 6 linkages of five poses,
    30, 201, 1112, and of nine points 1442 triples of cognates (`cognates` makes two more of each,
    with the same path). Fewer conditions leave
    families: then up to `samples` members are drawn, with rotations, angles of points or pivots at
    random (`seed`). More conditions cannot be met exactly: use fit.
    time_limit: seconds after which it ends with NotPossible; None: as long as it takes
    """
    with deadlines.time_limit(time_limit, "four_bars"):
        who = "four_bars"
        task = as_task(task, who)
        if task.batch:
            raise NotPossible(
                f"{who}: the task is a batch of shape {task.batch}; dyads and search take batches"
            )
        known_driver(driver, who)
        refuse(task, who, "timing")
        if task.n < 2:
            raise NotPossible(f"{who}: the task has {task.n} position, expected at least 2")
        with_angle = task.oriented
        poses, points = int(with_angle.sum()), int((~with_angle).sum())
        rates = _velocities(task, who)
        _check_distinct(task, who)
        count = 2 * (max(poses - 1, 0) + rates) + points - (1 if poses == 0 else 0)
        family = _family(poses, points, rates)
        if count > 8:
            raise NotPossible(
                f"{who}: {family} ask for {count} conditions, a four-bar has 8: at most 5 poses or "
                "9 points exact; "
                "use fit"
            )
        if not points and count == 8:
            pairs = dyads(task)
            assert isinstance(pairs, Dyads)
            return _of_dyads(task, pairs, family, 6, driver)
        samples = deadlines.counted(samples, f"{who}: samples", 1, MOST_SAMPLES)
        if count < 8:
            return _sampled(task, count, family, samples, seed, driver)
        # position 1 shall be a pose: with points alone its orientation is the reference
        order = np.argsort(~with_angle, kind="stable")
        poses = max(poses, 1)
        alone = PlanarTask(task.positions[None, order], task.angles[None, order])
        x, _, roots = _complete(alone, poses)
        angles = np.broadcast_to(task.angles, (len(x), task.n))
        ground, moving, alpha = _placed(task, order, x, angles, poses)
        return _verified(task, ground, moving, alpha, roots, mixes.COUNTS[poses], family, driver)


def _velocities(task: PlanarTask, who: str) -> int:
    """How many positions have a velocity; each counts like a pose."""
    if task.velocities is None:
        return 0
    if not task.oriented.all():
        refuse(task, who, "velocities")
    return int(np.isfinite(task.velocities).all(axis=-1).sum())


def _family(poses: int, points: int, rates: int = 0) -> str:
    words = {"pose": poses, "point": points}
    parts = [f"{n} {word}{'s' if n > 1 else ''}" for word, n in words.items() if n]
    parts += [f"{rates} {'velocities' if rates > 1 else 'velocity'}"] if rates else []
    return " + ".join(parts)


def _check_distinct(task: PlanarTask, who: str) -> None:
    """Equal positions by name, pure translation, points in a line or on a circle."""
    if task.oriented.all():
        trouble = troubles(task)[()]
        if trouble:
            raise NotPossible(f"{who}: {trouble}")
        return
    P, size = task.positions, float(task.size)
    for j in range(task.n):
        for k in range(j):
            both = task.oriented[j] and task.oriented[k]
            if abs(P[j] - P[k]) <= SAME_POINT * size and not both:
                raise NotPossible(
                    f"{who}: positions {k + 1} and {j + 1} are equal within rounding; leave one out"
                )
    if task.oriented.any() or task.n < 5:
        return
    x = (P - P.mean()) / size
    columns = np.stack([x.real, x.imag, np.ones(task.n), np.abs(x) ** 2], axis=-1)
    if np.linalg.svd(columns[:, :3])[1][-1] < 1e-7:
        raise NotPossible(
            f"{who}: all points lie on one line; a slider or a straight-line linkage by fit "
            "suits them"
        )
    if np.linalg.svd(columns)[1][-1] < 1e-7:
        raise NotPossible(f"{who}: all points lie on one circle: a single crank meets them")


@functools.cache
def starts(poses: int) -> Starts:
    """Start solutions of a mix, kept as data; `linkwork synthesis starts` makes and compares
    them."""
    return Starts.load(Path(__file__).parent / "starts" / f"poses_{poses}.npz")


def _parameters(task: PlanarTask, poses: int) -> np.ndarray:
    """(..., p): what mixes.system(poses) is told of tasks whose first `poses` positions have
    angles."""
    d = task.displacements / task.size[..., None]
    columns: list[np.ndarray] = []
    for j in range(task.n - 1):
        columns += [d[..., j], d[..., j].conj()]
        if j < poses - 1:
            columns.append(np.exp(1j * task.rotations[..., j]))
    return np.stack(columns, axis=-1)


def _complete(tasks: PlanarTask, poses: int) -> tuple[np.ndarray, np.ndarray, int]:
    """(x (m, 8 + points) of the real solutions in task sizes, task (m,) of each, number of complex
    ones)."""
    parameters, symmetry = _parameters(tasks, poses), mixes.symmetry(poses)
    solved = mixes.system(poses).solve(parameters, starts(poses), symmetry, conditions=False)
    # one of each triple of cognates may have real pivots where the representative has not been that
    # one
    values, conjugates = solved.x[..., 0:8:2], solved.x[..., 1:8:2]
    scale = np.abs(values).max(axis=-1) + np.abs(conjugates).max(axis=-1)
    real = np.abs(conjugates - values.conj()).max(axis=-1) <= REAL * scale
    real &= solved.success
    return solved.x[real], np.nonzero(real)[0], int(solved.success.sum())


def _placed(
    task: PlanarTask, order: np.ndarray, x: np.ndarray, angles: np.ndarray, poses: int
) -> tuple:
    """(ground (m, 2), moving (m, 2) at the task's own position 1, rotations of the body (m, n)) of
    solutions x (m, k).

    order    of the task's positions in the solutions; the first `poses` have angles (m, n) of the
             task, or are the reference
    """
    first = order[0]
    scale = float(task[order].size)
    a, z = x[:, [0, 4]] * scale, x[:, [2, 6]] * scale
    turns = np.zeros((len(x), task.n))
    known, unknown = order[1:poses], order[poses:]
    turns[:, known] = angles[:, known] - angles[:, [first]]
    turns[:, unknown] = np.angle(x[:, 8:])
    moving = task.positions[0] + z * np.exp(1j * turns[:, :1])
    return task.positions[first] + a, moving, turns - turns[:, :1]


def _verified(
    task: PlanarTask,
    ground: np.ndarray,
    moving: np.ndarray,
    alpha: np.ndarray,
    roots: int,
    expected: int,
    family: str,
    driver: str,
) -> FourBars:
    """Only linkages whose pivots keep their distances, with rotations of all bodies."""
    P, size = task.positions, float(task.size)
    arms = moving - P[0]
    at = P[None, :, None] + arms[:, None, :] * np.exp(1j * alpha)[:, :, None]
    links = at - ground[:, None, :]
    lengths = np.abs(links)
    change = np.abs(lengths - lengths[:, :1]).max(axis=(1, 2)) / size
    longest = np.maximum(lengths[:, 0].max(axis=-1), np.abs(arms).max(axis=-1)) / size
    apart = np.abs(arms[:, 0] - arms[:, 1]) > 1e-7 * size
    good = (change <= MEETS * np.maximum(1.0, longest)) & (longest < FAR) & apart
    good &= (lengths[:, 0] > 1e-9 * size).all(axis=-1)
    beta = np.angle(links / np.where(lengths[:, :1] > 0, links[:, :1], 1.0))
    rotations = {"crank": beta[..., 0], "coupler": alpha, "rocker": beta[..., 1]}
    topology = FOUR_BAR[driver]
    turns = np.stack([rotations[body] for body in topology.moving], axis=-1)
    tips = np.broadcast_to(P[0], len(ground))
    points = np.stack([ground[:, 0], ground[:, 1], moving[:, 0], moving[:, 1], tips], axis=-1)
    many = Linkages(topology, points[good], turns[good])
    order = np.lexsort((many.at("A").imag, many.at("A").real))
    return FourBars(many[order], roots, expected, family, change[good][order])


def _of_dyads(task: PlanarTask, chains: Dyads, family: str, expected: int, driver: str) -> FourBars:
    pairs, _ = pairs_of(task, chains)
    if not len(pairs):
        empty = np.zeros((0, 2), dtype=complex)
        return _verified(
            task, empty, empty, np.zeros((0, task.n)), expected, expected, family, driver
        )
    ground = np.stack([pairs.at("A"), pairs.at("D")], axis=-1)
    moving = np.stack([pairs.at("B"), pairs.at("C")], axis=-1)
    alpha = np.broadcast_to(task.angles - task.angles[0], (len(pairs), task.n))
    return _verified(task, ground, moving, alpha, expected, expected, family, driver)


def _sampled(
    task: PlanarTask, count: int, family: str, samples: int, seed: int, driver: str
) -> FourBars:
    """Members of a family: angles of points and rotations of cranks drawn at random,
    the rest solved.

    Points get random angles; then both dyads of up to four poses are drawn from their own families.
    """
    random = np.random.default_rng(seed)
    label = f"{family} (a family, sampled)"
    if task.n > 5:
        ground, moving, alpha = _with_some_angles(task, samples, random)
        return _verified(task, ground, moving, alpha, len(ground), samples, label, driver)
    angles = np.broadcast_to(task.angles, (samples, task.n)).copy()
    missing = ~np.isfinite(angles)
    angles[missing] = random.uniform(-np.pi, np.pi, size=int(missing.sum()))
    angles[:, 0] = np.where(np.isfinite(task.angles[0]), task.angles[0], 0.0)
    batch = PlanarTask(
        np.broadcast_to(task.positions, angles.shape), angles, velocities=task.velocities
    )
    halves = [
        _drawn_dyads(batch, 5 - task.n - _velocities(task, "four_bars"), random) for _ in range(2)
    ]
    chosen = []
    for half in halves:
        weight = np.where(half.valid, random.uniform(size=half.valid.shape), -1.0)
        chosen.append(weight.argmax(axis=-1))
    rows = np.flatnonzero(halves[0].valid.any(axis=-1) & halves[1].valid.any(axis=-1))
    pick = lambda name: np.stack(
        [getattr(f, name)[rows, c[rows]] for f, c in zip(halves, chosen)], axis=-1
    )
    alpha = (angles - angles[:, :1])[rows]
    return _verified(task, pick("ground"), pick("moving"), alpha, len(rows), samples, label, driver)


def _with_some_angles(task: PlanarTask, samples: int, random: np.random.Generator) -> tuple:
    """Members of a family of six to eight positions, as `_placed` gives them.

    So many points get an angle at random that no freedom is left: every four-bar of the family has
    some angle there. Each draw is solved completely, many at once, until there are enough members
    or enough paths were followed.
    """
    order = np.argsort(~task.oriented, kind="stable")
    poses = 10 - task.n  # 2 (poses - 1) + points = 8
    drawn = order[max(int(task.oriented.sum()), 1) : poses]
    at_once = max(1, PATHS_AT_ONCE // mixes.COUNTS[poses])
    parts: list[tuple] = []
    for _ in range(MOST_PATHS // PATHS_AT_ONCE):
        angles = np.broadcast_to(task.angles, (at_once, task.n)).copy()
        if not task.oriented.any():
            angles[:, order[0]] = 0.0
        angles[:, drawn] = random.uniform(-np.pi, np.pi, size=(at_once, len(drawn)))
        positions = np.broadcast_to(task.positions[order], angles.shape)
        x, rows, _ = _complete(PlanarTask(positions, angles[:, order]), poses)
        parts.append(_placed(task, order, x, angles[rows], poses))
        if sum(len(part[0]) for part in parts) >= samples:
            break
    return tuple(np.concatenate([part[k] for part in parts])[:samples] for k in range(3))


def _drawn_dyads(batch: PlanarTask, free: int, random: np.random.Generator) -> Dyads:
    """One draw of the free choices for every task: rotations of the grounded link,
    and Z where there are too few."""
    count, size = batch.batch[0], batch.size
    choices: dict[str, np.ndarray] = {}
    if free > batch.n - 1:
        choices["Z"] = (random.normal(size=(count, 2)) @ np.array([1, 1j])) * size
        free -= 2
    rotations = {j: random.uniform(-np.pi, np.pi, size=count) for j in range(2, 2 + free)}
    drawn = dyads(batch, rotations or None, Z=choices.get("Z"))
    assert isinstance(drawn, Dyads)
    return drawn


def cognates(linkage: Linkages) -> Linkages:
    """(..., 3) four-bars with the same path of the tracer: the given one and Roberts' two others.

    The third ground pivot makes a triangle with the first two that is similar to the coupler's.
    """
    linkage = as_linkages(linkage, "cognates")
    if linkage.topology.name != "four-bar":
        raise NotPossible(f'cognates: a "{linkage.topology.name}" has none; expected four-bars')
    A, D, B, C, P = (linkage.at(name) for name in "ADBCP")
    rho = (P - B) / (C - B)
    third = A + rho * (D - A)
    # on A and the third pivot: crank P - B, coupler turns with the old crank
    left = [A, third, A + P - B, A + P - B + rho * (B - A), P]
    # on D and the third pivot, the same seen from the other side
    sigma = (P - C) / (B - C)
    right = [D, D + sigma * (A - D), D + P - C, D + P - C + sigma * (C - D), P]
    stacked = [np.stack(x, axis=-1) for x in ([A, D, B, C, P], left, right)]
    points = np.stack(stacked, axis=-2)
    return linkages(FOUR_BAR["crank"], points)
