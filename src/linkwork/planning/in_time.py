"""Plans in time: motions among obstacles with given velocities, with time as one more coordinate.

Time is cut into slabs of one period. In a slab a moving shape stays within the shape at the middle
of the slab grown by what it moves in half a period, so that a piece of a motion that is proved free
of that scene is free at every instant of the slab. A front runs over the nodes of a roadmap, slab
by slab: whoever stands on a node may wait there while it is free, or leave along an edge at the
speed that its slowest joint allows; all motions that are under way are asked of the checker
together. Edges to a node that is held until they would arrive are left out: nothing is gained by
them. So the first arrival at a goal is the earliest on this map. Source: [Kavraki1996] (roadmap),
[Phillips2011] (nodes by the intervals in which they are free).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import finite, finite_doubles, number
from linkwork.collision import CollisionModel, HeightField, Obstacles
from linkwork.collision.certify import many_certificates
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.planning.questions import goals_of, one_configuration, refuse_loops, space_of
from linkwork.planning.roadmap import Roadmap
from linkwork.results import short_repr

NEIGHBOURS = 16  # nodes that start and goals are joined to
OUTWARD = 1.0 + 1e-9


@dataclass(frozen=True)
class Moving:
    """Shapes in world axes that move together: at time t [s] they stand t velocity [m/s] from where
    they are given."""

    shapes: tuple[Any, ...]
    velocity: tuple[float, float, float]

    def __init__(self, shapes: Obstacles | Iterable[Any] | Any, velocity: ArrayLike) -> None:
        listed = tuple(shapes) if isinstance(shapes, Iterable) else (shapes,)
        for shape in listed:
            if not (hasattr(shape, "grown") and hasattr(shape, "shifted")):
                raise InvalidInput(
                    f"Moving: {type(shape).__name__} is no shape that can move; use spheres, "
                    "boxes, ..."
                )
            if isinstance(shape, HeightField):  # grown it is higher, but not wider
                raise InvalidInput(
                    "Moving: a height field stands still, expected spheres, boxes, meshes, ..."
                )
        x, y, z = finite(velocity, (3,), "Moving: velocity").tolist()
        object.__setattr__(self, "shapes", listed)
        object.__setattr__(self, "velocity", (x, y, z))

    def at(self, t: float, margin: float = 0.0) -> list[Any]:
        """The shapes at a time [s], grown by a margin [m]."""
        time, wide = number(t, "at: t"), number(margin, "at: margin")
        x, y, z = (time * v for v in self.velocity)
        return [shape.shifted((x, y, z)).grown(wide) for shape in self.shapes]

    @property
    def speed(self) -> float:
        return math.hypot(*self.velocity)


@short_repr
@dataclass(frozen=True)
class TimedPlan(Tabular, rows="times"):
    """The answer of `plan_in_time`.

    times, path   (m,) [s] and (m, nq): straight motions between them, at constant speed
    certified     every instant is proved free;  clearance: a lower bound [m] along the whole motion
    rests_until   [s] until when the robot may stay at the goal, as far as was looked
    checks        pieces of motions that were asked of the checker;  seconds: by phase: map, search,
                  certify
    """

    success: bool
    reason: str
    times: np.ndarray
    path: np.ndarray
    certified: bool
    clearance: float
    rests_until: float
    checks: int
    seconds: dict[str, float]
    model: CollisionModel = field(repr=False)
    obstacles: Obstacles | None = field(repr=False)
    moving: tuple[Moving, ...] = field(repr=False)

    def at(self, t: ArrayLike) -> np.ndarray:
        """Configurations (..., nq) at times (...) [s];
        before the first and after the last it stands."""
        if not self.success:
            raise InvalidInput(f"at: the plan has no path ({self.reason})")
        when = finite_doubles(t, "at: t")
        return np.stack([np.interp(when, self.times, column) for column in self.path.T], axis=-1)

    def scene(self, t: float) -> Obstacles:
        """What stands around at a time [s]."""
        return _scene(self.obstacles, self.moving, number(t, "scene: t"))


def plan_in_time(
    model: CollisionModel,
    start: ArrayLike,
    goal: Any,
    obstacles: Obstacles | Sequence[Any] | None = None,
    moving: Sequence[Moving] | Moving = (),
    speeds: ArrayLike | None = None,
    period: float = 0.05,
    horizon: float = 10.0,
    nodes: int = 300,
    seed: int = 0,
    time_limit: float = 5.0,
) -> TimedPlan:
    """The motion that arrives first, from a configuration at time 0 to a goal,
    among obstacles that move.

    goal        a configuration (nq,), several (k, nq) of which any will do, or a PoseGoal
    obstacles   what stands still;  moving: what moves, with its velocity
    speeds      [rad/s, m/s] of the joints, at most, one number or (nq,); left out, those of the
                robot
    period      [s] of a slab: moving shapes count as grown by what they move in half of it
    horizon     [s] within which the goal is reached
    nodes       of the map;  time_limit: [s] of the search
    """
    clock = time.perf_counter()
    space = space_of(model, None, None, "plan_in_time")
    refuse_loops(model.subject, "plan_in_time")
    begin = one_configuration(space, start, "plan_in_time: start")
    around = (
        obstacles if obstacles is None or isinstance(obstacles, Obstacles) else Obstacles(obstacles)
    )
    movers = (moving,) if isinstance(moving, Moving) else tuple(moving)
    for mover in movers:
        if not isinstance(mover, Moving):
            raise InvalidInput(
                f"plan_in_time: moving has a {type(mover).__name__}, expected "
                "Moving(shapes, velocity)"
            )
    lengths = {"period": period, "horizon": horizon, "time_limit": time_limit}
    slab, until, limit = (_positive(value, name) for name, value in lengths.items())
    rates = _speeds(model, speeds)
    seconds = {"map": 0.0, "search": 0.0, "certify": 0.0}
    goals, reason = goals_of(model, space, begin, goal, around, seed)
    if reason:
        return _failure(reason, model, around, movers, seconds)
    search = _Search(
        Roadmap.build(model, around, nodes, seed), begin, goals, movers, rates, slab, until
    )
    seconds["map"] = time.perf_counter() - clock
    if not search.rests(0)[search.start]:
        return _failure("start in collision with a moving obstacle", model, around, movers, seconds)
    while True:
        clock = time.perf_counter()
        end = clock + limit - seconds["search"] - seconds["certify"]
        way, now = search.run(end), time.perf_counter()
        seconds["search"] += now - clock
        if way is None:
            within = f"time_limit = {limit:g} s" if now > end else f"{until:g} s"
            what = f"no path: none on a map of {len(search.points)} nodes within {within}"
            return _failure(
                f"{what} ({search.asked} motions)", model, around, movers, seconds, search.asked
            )
        clock = time.perf_counter()
        least = search.proved(way)
        seconds["certify"] += time.perf_counter() - clock
        if least is not None:
            break
    times, path = search.motion(way)
    rest = (search.rests_until(way[-1]), search.asked, seconds)
    return TimedPlan(True, "solved", times, path, True, least, *rest, model, around, movers)


@dataclass(frozen=True)
class _Arrival:
    """Comes to a node at a slab's beginning, by an edge taken at `left` from `before`."""

    node: int
    slab: int
    edge: int
    left: int
    before: int


class _Search:
    """The front over nodes and slabs; answers about nodes, and unproved edges, are kept."""

    def __init__(
        self,
        roadmap: Roadmap,
        start: np.ndarray,
        goals: np.ndarray,
        moving: tuple[Moving, ...],
        rates: np.ndarray,
        period: float,
        horizon: float,
    ) -> None:
        self.model = roadmap.model
        self.around = roadmap.obstacles
        self.moving = moving
        self.period = period
        self.space = roadmap.space
        self.points = np.concatenate([roadmap.nodes, start[None], goals])
        self.start = len(roadmap.nodes)
        self.goals = np.arange(self.start + 1, len(self.points))
        self.slabs, self.asked = math.ceil(horizon / period - 1e-9), 0
        joined = roadmap.joined(self.points, 1 + len(goals), NEIGHBOURS)
        pairs = np.concatenate([roadmap.edges[roadmap.free_edges], joined])
        edges = np.concatenate([pairs, pairs[:, ::-1]])  # both directions
        self.source, self.target = edges.T
        self.ways = roadmap.space.difference(self.points[self.source], self.points[self.target])
        slowest = (np.abs(self.ways) / rates).max(axis=1)
        self.counts = np.maximum(np.ceil(slowest / period * (1.0 - 1e-12)), 1.0).astype(np.int64)
        self._scenes: dict[int, Obstacles] = {}
        self._rests: dict[int, np.ndarray] = {}
        self._refused: set[tuple[int, int]] = set()
        # no part of the search, whose time is limited: it may compile
        self.free_until = self._free_until()

    def run(self, until: float) -> list[_Arrival] | None:
        """The arrivals along the way that comes first to a goal, or None."""
        arrivals = [_Arrival(self.start, 0, -1, 0, -1)]
        held = np.full(len(self.points), -1)  # the arrival that stands on each node
        held[self.start] = 0
        edge, left, origin = (np.zeros(0, dtype=np.int64) for _ in range(3))  # of motions under way
        for slab in range(self.slabs):
            if time.perf_counter() > until:
                return None
            leaving = self._leaving(held, slab)
            edge = np.concatenate([edge, leaving])
            left = np.concatenate([left, np.full(len(leaving), slab)])
            origin = np.concatenate([origin, held[self.source[leaving]]])
            good = self._pieces_free(edge, slab - left, slab)
            edge, left, origin = edge[good], left[good], origin[good]
            held[~self.rests(slab)] = -1
            there = slab + 1 - left == self.counts[edge]
            for e, begun, before in zip(edge[there], left[there], origin[there], strict=True):
                node = int(self.target[e])
                if held[node] < 0:
                    held[node] = len(arrivals)
                    arrivals.append(_Arrival(node, slab + 1, int(e), int(begun), int(before)))
            edge, left, origin = edge[~there], left[~there], origin[~there]
            done = held[self.goals]
            if (done >= 0).any():
                return _back(arrivals, int(done[done >= 0].min()))
        return None

    def rests(self, slab: int) -> np.ndarray:
        """Which nodes touch nothing during a slab."""
        if slab not in self._rests:
            self._rests[slab] = ~self.model.collides(self.points, self.scene(slab))
        return self._rests[slab]

    def rests_until(self, end: _Arrival) -> float:
        """[s] until when the last node stays free, up to the horizon."""
        slab = end.slab
        while slab < self.slabs and self.rests(slab)[end.node]:
            slab += 1
        return slab * self.period

    def scene(self, slab: int) -> Obstacles:
        """What a slab has to be free of."""
        if slab not in self._scenes:
            middle, half = (slab + 0.5) * self.period, 0.5 * self.period
            self._scenes[slab] = _scene(self.around, self.moving, middle, half * OUTWARD)
        return self._scenes[slab]

    def proved(self, way: list[_Arrival]) -> float | None:
        """A bound of the clearance [m] along a way; None where an edge is not proved,
        which is then left out."""
        pieces, owners = [], []
        for before, after in itertools.pairwise(way):
            here = self.points[before.node]
            for slab in range(before.slab, after.left):  # it waits
                pieces.append((np.stack([here, here]), self.scene(slab)))
                owners.append((after.edge, after.left))
            for slab in range(after.left, after.slab):
                edge, k = np.array([after.edge]), np.array([slab - after.left])
                pieces.append((np.concatenate(self._piece(edge, k)), self.scene(slab)))
                owners.append((after.edge, after.left))
        proofs = many_certificates(self.model, pieces)
        bad = {owner for owner, proof in zip(owners, proofs, strict=True) if not proof.free.all()}
        self._refused |= bad
        return (
            None
            if bad
            else min((float(proof.clearance.min()) for proof in proofs), default=math.nan)
        )

    def motion(self, way: list[_Arrival]) -> tuple[np.ndarray, np.ndarray]:
        """(times, configurations) of a way, without whole turns between them."""
        slabs, rows = [0], [self.points[way[0].node]]
        for before, after in itertools.pairwise(way):
            if after.left > before.slab:
                slabs.append(after.left)
                rows.append(rows[-1])
            slabs.append(after.slab)
            rows.append(self.points[after.node])
        return self.period * np.array(slabs, dtype=float), self.space.unwrapped(np.array(rows))

    def _leaving(self, held: np.ndarray, slab: int) -> np.ndarray:
        """Edges that are taken at the beginning of a slab."""
        then = slab + self.counts
        useless = (held[self.target] >= 0) & (self.free_until[slab][self.target] >= then)
        leaving = np.flatnonzero((held[self.source] >= 0) & ~useless & (then <= self.slabs))
        if self._refused:
            leaving = leaving[[(int(e), slab) not in self._refused for e in leaving]]
        return leaving

    def _free_until(self) -> np.ndarray:
        """(slabs + 1, nodes): the first slab from each one on in which a node is not free."""
        until = np.full((self.slabs + 1, len(self.points)), self.slabs)
        for slab in range(self.slabs - 1, -1, -1):
            until[slab] = np.where(self.rests(slab), until[slab + 1], slab)
        return until

    def _pieces_free(self, edge: np.ndarray, k: np.ndarray, slab: int) -> np.ndarray:
        """Whether the k-th pieces of edges touch nothing in a slab, at samples."""
        if not len(edge):
            return np.zeros(0, dtype=bool)
        self.asked += len(edge)
        first, last = self._piece(edge, k)
        return np.atleast_1d(self.model.motion_is_free(first, last, self.scene(slab)))

    def _piece(self, edge: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What of edges (n,) falls into their k-th (n,) slab: its ends (n, nq)."""
        count = self.counts[edge]
        begin, way = self.points[self.source[edge]], self.ways[edge]
        return begin + (k / count)[:, None] * way, begin + ((k + 1) / count)[:, None] * way


def _back(arrivals: list[_Arrival], end: int) -> list[_Arrival]:
    way = []
    while end >= 0:
        way.append(arrivals[end])
        end = arrivals[end].before
    return way[::-1]


def _scene(
    still: Obstacles | None, moving: Sequence[Moving], t: float, half: float = 0.0
) -> Obstacles:
    """What stands around at a time, shapes that move grown by what they move in a time `half`."""
    moved = [shape for mover in moving for shape in mover.at(t, mover.speed * half)]
    return Obstacles([*(still or ()), *moved])


def _failure(
    reason: str,
    model: CollisionModel,
    obstacles: Any,
    moving: Any,
    seconds: dict[str, float],
    checks: int = 0,
) -> TimedPlan:
    empty = np.zeros((0, model.subject.nq))
    numbers = (np.zeros(0), empty, False, math.nan, math.nan, checks, seconds)
    return TimedPlan(False, reason, *numbers, model, obstacles, moving)


def _positive(value: Any, name: str) -> float:
    size = number(value, f"plan_in_time: {name}")
    if not size > 0.0:
        raise InvalidInput(f"plan_in_time: {name} is {size:g}, expected a positive time [s]")
    return size


def _speeds(model: CollisionModel, given: ArrayLike | None) -> np.ndarray:
    """(nq,) largest speeds of the joints."""
    nq = model.subject.nq
    if given is None:
        rates = np.array(configurations.limits(model.subject).velocity, dtype=float)
        if not np.isfinite(rates).all():
            raise InvalidInput(
                f'plan_in_time: robot "{model.subject.model.name}" says no speeds; give speeds='
            )
        return rates
    listed = finite_doubles(given, "plan_in_time: speeds")
    if listed.shape not in ((), (nq,)) or not (listed > 0.0).all():
        raise InvalidInput(
            f"plan_in_time: speeds is {listed.tolist()}, expected positive numbers, one or ({nq},)"
        )
    return np.broadcast_to(listed, (nq,)).astype(float)
