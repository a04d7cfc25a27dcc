"""Six-bars: a chain of three joints that follows a task, closed by two dyads between its bodies.

The last body of the chain is carried through the poses; inverse kinematics gives the poses of the
other two. Relative to any body every other one then has poses too, and a dyad of these relative
poses is a link between the two that changes nothing. Two such links leave one degree of freedom.
Source: [Soh2008] for six-bars, [McCarthy2011] chapter 6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from linkwork import deadlines
from linkwork.arguments import whole
from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis import graphs
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.linkage import GROUND, Linkage, Topology
from linkwork.synthesis.task import PlanarTask, check_count, complex_points, exact_poses, troubles

POSES = 5
"""Poses that leave no freedom to the dyads."""
DRAWS, ASIDE = 64, 0.2
"""Of poses beside a task of fewer: how often, and how far from the way between two neighbours
[task sizes, turns]."""
SAME = 1e-6
"""Pivots nearer to those of an existing link [task sizes] make the same link again."""


@dataclass(frozen=True)
class Frames:
    """Rotation and shift of each body at every position, from position 1: P -> shift + P turn,
    (n,) complex each."""

    turn: np.ndarray
    shift: np.ndarray

    def of(self, point: complex) -> np.ndarray:
        return self.shift + point * self.turn

    def seen_from(self, other: Frames) -> PlanarTask:
        """This body's motion as the other one sees it, in axes of position 1."""
        turn = self.turn / other.turn
        origin = (self.shift - other.shift) / other.turn
        return PlanarTask(origin, np.unwrap(np.angle(turn)))


def chain_frames(task: PlanarTask, chain: Any, joints: int, who: str) -> list[Frames]:
    """Frames of ground, first body, ..., tracer's body,
    from the chain's pivots (joints,) at position 1.

    A chain of three joints has one way to follow (two elbows, of which position 1 decides). The two
    outer bodies of a longer one keep the angle between them.
    """
    pivots = complex_points(chain, f"{who}: chain")
    if pivots.shape != (joints,):
        raise InvalidInput(
            f"{who}: chain has shape {pivots.shape}, expected {joints} pivots at position "
            "1, complex"
        )
    turn = np.exp(1j * task.rotations)
    turn = np.concatenate([[1.0], turn])
    last = Frames(turn, task.positions - task.positions[0] * turn)
    ground = Frames(np.ones(task.n, complex), np.zeros(task.n, complex))
    # the third body keeps its angle to the last one, halved: both share the body's rotation
    if joints == 4:
        half = np.exp(0.5j * np.angle(turn))
        wrist = last.of(pivots[3])
        third = Frames(half, wrist - pivots[3] * half)
        inner = _two_links(pivots[:3], third.of(pivots[2]), who)
        return [ground, *inner, third, last]
    inner = _two_links(pivots, last.of(pivots[2]), who)
    return [ground, *inner, last]


def _two_links(pivots: np.ndarray, wrist: np.ndarray, who: str) -> list[Frames]:
    """The first two bodies of a chain whose third pivot goes through `wrist` (n,)."""
    A, B, C = pivots[:3]
    a, b = abs(B - A), abs(C - B)
    reach = wrist - A
    r = np.abs(reach)
    cosine = (r**2 + a**2 - b**2) / (2 * r * a)
    if (np.abs(cosine) > 1).any():
        j = int((np.abs(cosine) > 1).argmax()) + 1
        raise NotPossible(
            f"{who}: the chain does not reach position {j}: its first two links are too short or "
            "too long"
        )
    side = np.sign(((C - A).conjugate() * (B - A)).imag) or 1.0
    elbow = A + a * reach / r * np.exp(1j * side * np.arccos(cosine))
    first, second = (elbow - A) / (B - A), (wrist - elbow) / (C - B)
    return [Frames(first, A - A * first), Frames(second, elbow - B * second)]


@deadlines.limited
def six_bars(
    task: PlanarTask, chain: Any, most: int = 200, seed: int = 0, *, time_limit: float | None = None
) -> list[Linkage]:
    """Every six-bar that carries the tracer through five poses;
    of two to four poses members of the family.

    chain        three pivots at position 1: on the ground, elbow, wrist on the tracer's body;
                 complex or (3, 2)
    most         so many linkages at most
    seed         of the poses that are drawn beside fewer than five: every member meets some such
                 poses
    time_limit   seconds after which it ends with NotPossible; None: as long as it takes

    The first dyad closes two bodies of the chain, the second two bodies of what then exists, its
    new link included. Linkages come with their rotations at the positions; `check` judges them.
    """
    return _around(task, chain, 3, most, seed, "six_bars")


@deadlines.limited
def eight_bars(
    task: PlanarTask, chain: Any, most: int = 200, seed: int = 0, *, time_limit: float | None = None
) -> list[Linkage]:
    """Eight-bars by the same way: a chain of four pivots, closed by three dyads. See `six_bars`."""
    return _around(task, chain, 4, most, seed, "eight_bars")


def _around(
    task: PlanarTask, chain: Any, joints: int, most: int, seed: int, who: str
) -> list[Linkage]:
    """Linkages around a chain of so many joints, closed by one dyad less."""
    task = exact_poses(task, who)
    check_count(task, 2, POSES, who, "dyads of relative poses meet at most 5; take five of them")
    if task.batch:
        raise NotPossible(f"{who}: the task is a batch of shape {task.batch}, expected one task")
    trouble = str(troubles(task)[()])
    # a pure translation has six-bars: the bodies of the chain turn
    if trouble.startswith("positions"):
        raise NotPossible(f"{who}: {trouble}; move one of them")
    most, seed = whole(most, f"{who}: most"), whole(seed, f"{who}: seed", 0)
    chain_frames(task, chain, joints, who)  # a position of the task that is out of reach is named
    pivots = complex_points(chain, f"{who}: chain")
    names = [GROUND, *(f"link_{k}" for k in range(1, joints)), "coupler"]
    pins = [(pivots[k], names[k], names[k + 1]) for k in range(joints)]
    random = np.random.default_rng(seed)
    linkages: list[Linkage] = []
    for _ in range(1 if task.n == POSES else DRAWS):
        five = _with_drawn_poses(task, random)
        try:
            frames = chain_frames(five, chain, joints, who)
        except NotPossible:  # a drawn pose is out of reach
            continue
        linkages += _closed(five, dict(zip(names, frames)), pins, joints - 1, most - len(linkages))
        if len(linkages) >= most:
            break
    return [replace(linkage, rotations=linkage.rotations[: task.n]) for linkage in linkages]  # type: ignore[index]


def _with_drawn_poses(task: PlanarTask, random: np.random.Generator) -> PlanarTask:
    """The task with poses at random between its own, up to five."""
    positions, angles = list(task.positions), list(task.angles)
    turned = np.ptp(task.angles)
    for _ in range(POSES - task.n):
        j, share = random.integers(task.n - 1), random.uniform()
        between = lambda x, j=j, share=share: (1 - share) * x[j] + share * x[j + 1]
        aside = random.normal(size=3)
        positions.append(
            between(task.positions) + ASIDE * float(task.size) * (aside[0] + 1j * aside[1])
        )
        angles.append(between(task.angles) + ASIDE * turned * aside[2])
    return PlanarTask(positions, angles)


def _closed(task: PlanarTask, bodies: dict, pins: list, left: int, most: int) -> list[Linkage]:
    """All ways to add `left` dyads, none of which makes a part rigid or repeats a link;
    at most so many."""
    complete: list[Linkage] = []
    seen: set[tuple] = set()

    def add(bodies: dict, pins: list, left: int) -> None:
        deadlines.check()
        if len(complete) >= most:
            return
        if left == 0:
            linkage = _linkage(task, bodies, pins)
            if linkage is not None:
                key = tuple(np.round(np.sort_complex(linkage.points), 6)), linkage.topology.name
                if key not in seen:
                    seen.add(key)
                    complete.append(linkage)
            return
        names = list(bodies)
        for a, b in combinations(names, 2):
            if any({a, b} == {c, d} for _, c, d in pins):
                continue
            try:
                links = dyads(bodies[b].seen_from(bodies[a]))
            except NotPossible:
                continue
            assert isinstance(links, Dyads)
            for k in range(len(links)):
                inner, outer = complex(links.ground[k]), complex(links.moving[k])
                if _repeats(inner, outer, a, b, pins, float(task.size)) or bool(
                    links.near_trivial[k]
                ):
                    continue
                name = f"link_{len(bodies)}"
                more = {**bodies, name: _frame_of(inner, outer, bodies[a], bodies[b])}
                new = [*pins, (inner, a, name), (outer, name, b)]
                if not _rigid(more, new):
                    add(more, new, left - 1)

    add(bodies, pins, left)
    return complete


def _frame_of(inner: complex, outer: complex, a: Frames, b: Frames) -> Frames:
    """The new link, from where its pivots are."""
    start, end = a.of(inner), b.of(outer)
    turn = (end - start) / (outer - inner)
    turn = turn / np.abs(turn)
    return Frames(turn, start - inner * turn)


def _repeats(inner: complex, outer: complex, a: str, b: str, pins: list, size: float) -> bool:
    """Whether a link with these pivots between these bodies is there already."""
    near = lambda p, q: abs(p - q) < SAME * size
    for p, c, d in pins:
        for q, e, f in pins:
            through = {c, d} & {e, f}
            ends = {c, d} ^ {e, f}
            if p != q and through and ends == {a, b}:
                first = p if a in (c, d) else q
                second = q if first is p else p
                if near(first, inner) and near(second, outer):
                    return True
    return abs(outer - inner) < SAME * size


def _rigid(bodies: dict, pins: list) -> bool:
    names = list(bodies)
    edges = [(names.index(a), names.index(b)) for _, a, b in pins]
    for k in range(3, len(names) + 1):
        for part in combinations(range(len(names)), k):
            inside = sum(a in part and b in part for a, b in edges)
            if 3 * (k - 1) - 2 * inside < 1:
                return True
    return False


def _linkage(task: PlanarTask, bodies: dict, pins: list) -> Linkage | None:
    names = list(bodies)
    edges = frozenset(tuple(sorted((names.index(a), names.index(b)))) for _, a, b in pins)
    degree = [sum(k in e for e in edges) for k in range(len(names))]
    if min(degree) < 2 or len(edges) != len(pins):
        return None
    labels = [f"J{k + 1}" for k in range(len(pins))]
    carried: dict[str, list[str]] = {name: [] for name in names}
    for label, (_, a, b) in zip(labels, pins):
        carried[a].append(label)
        carried[b].append(label)
    carried["coupler"].append("P")
    kind = graphs.name_of(edges, len(names), 0)  # type: ignore[arg-type]
    grounded = [b if a == GROUND else a for _, a, b in pins if GROUND in (a, b)]
    topology = Topology(
        kind,
        {name: tuple(points) for name, points in carried.items()},
        tuple((label, a, b) for label, (_, a, b) in zip(labels, pins)),
        driver=grounded[0],
        tracer=("coupler", "P"),
    )
    places = dict(zip(labels, (p for p, _, _ in pins))) | {"P": complex(task.positions[0])}
    points = np.array([places[name] for name in topology.points], dtype=complex)
    turns = np.stack([np.unwrap(np.angle(bodies[name].turn)) for name in topology.moving], axis=-1)
    return Linkage(topology, points, turns)
