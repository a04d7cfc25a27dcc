"""Replanner: keeps a path to a goal valid while obstacles move, the cheapest repair first.

At each step, in this order: the path as it is; a straight motion to a later waypoint; a short plan
to a later waypoint; a new plan. The first three count only if they are proved for the obstacles
where they are now (and keep the constraints). A new plan whose proof does not come through is taken
all the same, and `Replan.certified` says so; until a proof of that path holds, what is free at
samples counts. Whether a path stays free until the next step is told by shapes that are grown by
what an obstacle can move in one period.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import number
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.planning.constraints import manifold_of
from linkwork.planning.on_manifold import OnManifold
from linkwork.planning.options import PlanOptions, completed
from linkwork.planning.planner import plan
from linkwork.planning.questions import one_configuration, space_of
from linkwork.results import short_repr

SHORTEST = 1e-3  # [s] of a search
How = Literal["kept", "straight", "joined", "planned", "stopped"]


@short_repr
@dataclass(frozen=True)
class Replan(Tabular, rows="path", within=1):
    """What one step decided.

    path        (m, nq) from where the robot is to the goal; one row where it has to stop
    how         "kept", "straight" (to a later waypoint), "joined" (planned to a later waypoint),
                "planned", "stopped"
    certified   the path is proved free of the obstacles as they are; clearance: lower bound [m],
                NaN where not proved
    safe        it stays free, at samples, whatever obstacles do within one period and the bound on
                their speed
    seconds     that the step took
    """

    path: np.ndarray
    how: How
    certified: bool
    clearance: float
    safe: bool
    reason: str
    seconds: float


class Replanner:
    """Keeps a valid path.

    goal      as `plan` takes it
    fastest   [m/s] bound on the speed of obstacles; one of which a point moved further since the
              last step is refused
    period    [s] between steps
    options   of `plan`: seed, step, ...; time_limit [s] bounds all searches of a step together
    """

    def __init__(
        self,
        model: CollisionModel,
        goal: Any,
        obstacles: Obstacles | Sequence[Any] | None = None,
        fastest: float = 1.0,
        period: float = 0.05,
        **options: Unpack[PlanOptions],
    ) -> None:
        whole = completed(options, "Replanner")
        self.limit, self.certify = float(whole["time_limit"]), bool(whole["certify"])
        # proving: the path as it is has its proof
        self.proving = self.certify
        self.sampled_by = float(whole["step"])
        self.model, self.goal, self.options = model, goal, options
        self.space = space_of(model, whole["joints"], whole["weights"], "Replanner")
        self.manifold = manifold_of(self.space, whole["constraints"])
        self.period = number(period, "Replanner: period")
        self.fastest = number(fastest, "Replanner: fastest")
        if not (self.period > 0.0 and self.fastest >= 0.0):
            raise InvalidInput(
                f"Replanner: period is {self.period:g} s and fastest {self.fastest:g} m/s, "
                "expected > 0 and >= 0"
            )
        self.obstacles = _as_obstacles(obstacles)
        self.path = np.zeros((0, model.subject.nq))
        margin = self.period * self.fastest
        self._grown = model.padded(margin) if margin > 0.0 else model

    def step(self, q: ArrayLike, obstacles: Obstacles | Sequence[Any] | None = None) -> Replan:
        """The path from q (nq,) among obstacles as they are now; None: as they were."""
        clock = time.perf_counter()
        here = one_configuration(self.space, q, "Replanner.step: q")
        if obstacles is not None:
            now = _as_obstacles(obstacles)
            self._refuse_faster(now)
            self.obstacles = now
        path, how, reason = self._repaired(here, clock + self.limit)
        self.path = path
        proved, clearance = False, float("nan")
        safe = not bool(self._grown.collides(here, self.obstacles))
        if len(path) > 1:
            proof = self.model.certify_motion(path[:-1], path[1:], self.obstacles)
            proved = bool(np.all(proof.free))
            clearance = float(np.min(proof.clearance)) if proved else clearance
            self.proving = self.certify and proved
            safe = bool(np.all(self._grown.motion_is_free(path[:-1], path[1:], self.obstacles)))
        return Replan(path, how, proved, clearance, safe, reason, time.perf_counter() - clock)

    def _repaired(self, here: np.ndarray, until: float) -> tuple[np.ndarray, How, str]:
        rest = self._rest(here)
        if len(rest) > 1:
            free = self._good(here, rest[:-1], rest[1:])
            if free.all():
                return rest, "kept", ""
            # waypoints from which the way on is free, the furthest back first
            first = len(rest) - 1 - int(np.argmax(np.r_[~free[::-1], True]))
            tail = rest[first:]
            straight = self._good(here, np.broadcast_to(here, tail.shape), tail)
            if straight.any():
                k = int(np.argmax(straight))
                return np.concatenate([here[None], tail[k:]]), "straight", ""
            joined = plan(self.model, here, tail, self.obstacles, **self._within(until))
            if joined.success and (joined.certified or not self.proving):
                off = self.space.difference(tail, np.broadcast_to(joined.path[-1], tail.shape))
                k = int(np.argmin(np.abs(off).max(axis=1)))
                return (
                    self.space.unwrapped(np.concatenate([joined.path, tail[k + 1 :]])),
                    "joined",
                    "",
                )
        answer = plan(self.model, here, self.goal, self.obstacles, **self._within(until))
        if answer.success:
            return answer.path, "planned", ""
        return here[None].copy(), "stopped", answer.reason

    def _good(self, here: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Which motions (k, nq), (k, nq) are proved free (free at samples, where no proofs are
        wanted or the path has none) and keep the constraints."""
        if self.proving:
            free = np.asarray(self.model.certify_motion(first, last, self.obstacles).free)
        else:
            free = np.asarray(
                self.model.motion_is_free(first, last, self.obstacles, self.sampled_by)
            )
        if self.manifold is None:
            return free
        on = OnManifold(self.manifold, here)
        return free & np.array(
            [on.worst(np.stack(ends)) <= 1.0 for ends in zip(first, last, strict=True)]
        )

    def _within(self, until: float) -> PlanOptions:
        """The options of a search that ends at a time, at the soonest after SHORTEST."""
        if until == np.inf:
            return self.options
        return {**self.options, "time_limit": max(until - time.perf_counter(), SHORTEST)}

    def _rest(self, here: np.ndarray) -> np.ndarray:
        """What is left of the path from where the robot is;
        nothing where the goal was changed or there is no path."""
        if len(self.path) < 2:
            return self.path[:0]
        ways = np.diff(self.path, axis=0)
        squares = np.maximum((ways**2).sum(axis=1), 1e-300)
        off = self.space.difference(self.path[:-1], np.broadcast_to(here, ways.shape))
        s = np.clip((off * ways).sum(axis=1) / squares, 0.0, 1.0)
        nearest = int(np.argmin(np.linalg.norm(off - s[:, None] * ways, axis=1)))
        return self.space.unwrapped(np.concatenate([here[None], self.path[nearest + 1 :]]))

    def _refuse_faster(self, now: Obstacles) -> None:
        before = {} if self.obstacles is None else {shape.name: shape for shape in self.obstacles}
        most = self.fastest * self.period
        shape: Any
        for shape in now:
            old: Any = before.get(shape.name)
            if old is None or old.kind != shape.kind or shape.kind in ("cloud", "half_space"):
                continue
            moved = _moved_by(old, shape)
            if moved is not None and moved > most * (1.0 + 1e-9) + 1e-12:
                raise InvalidInput(
                    f'Replanner.step: obstacle "{shape.name}" moved by {moved:.4g} m in one '
                    "period, more than the "
                    f"bound {self.fastest:g} m/s x {self.period:g} s; raise `fastest` or step "
                    "more often"
                )


def _moved_by(before: Any, now: Any) -> float | None:
    """No point of a shape has moved further [m] between two of its places; a shape that grew moved
    by that. None where it is another shape."""
    if hasattr(now, "heights"):
        if now.cell != before.cell or now.heights.shape != before.heights.shape:
            return None
        return math.dist(now.origin, before.origin) + float(
            np.abs(now.heights - before.heights).max()
        )
    if hasattr(now, "content") and now.content() != before.content():
        return None
    grown = math.hypot(*(_half_lengths(now) - _half_lengths(before)))
    if hasattr(now, "start"):
        return (
            max(math.dist(getattr(now, end), getattr(before, end)) for end in ("start", "end"))
            + grown
        )
    (center, radius), (other, _) = before.ball(), now.ball()
    way = math.dist(other, center)
    if not hasattr(now, "pose"):
        return way + grown
    # 2 sin(angle / 2)
    turned = np.linalg.norm(np.subtract(now.pose.rotation, before.pose.rotation)) / math.sqrt(2.0)
    return way + radius * float(turned) + grown


def _half_lengths(shape: Any) -> np.ndarray:
    """What a shape measures from its middle [m]: half sides and half lengths, radii, a margin."""
    if shape.kind == "box":
        return 0.5 * np.array(shape.size)
    if shape.kind == "cylinder":
        return np.array([shape.radius, 0.5 * shape.length])
    if shape.kind == "tapered_capsule":
        return np.array([shape.start_radius, shape.end_radius])
    return np.array([shape.margin if hasattr(shape, "margin") else shape.radius])


def _as_obstacles(obstacles: Any) -> Obstacles:
    return obstacles if isinstance(obstacles, Obstacles) else Obstacles(obstacles or ())
