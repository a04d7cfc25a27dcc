"""Elbow avoidance: one control step from the tool's pose and the obstacles to joint angles and a
speed scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import as_doubles, finite, number
from linkwork.avoidance.arcs import nearest_of, wrapped_one
from linkwork.avoidance.around import Around, around
from linkwork.avoidance.elbow import Elbow
from linkwork.avoidance.guard import approaches, speed_scale
from linkwork.avoidance.smoothing import CriticallyDampedFilter
from linkwork.avoidance.solids import SolidVolume
from linkwork.avoidance.step_code import NO_CONFIGURATION, NO_ROOM, ON_TARGET, RESULTS, STALE
from linkwork.avoidance.step_memory import WIDTH, StepMemory
from linkwork.avoidance.volume import SafetyVolume
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr

Status = Literal["clear", "avoiding", "lagging", "blocked", "stale"]
STATUSES: tuple[Status, ...] = ("clear", "avoiding", "lagging", "blocked", "stale")
STEP, DOUBLES = "ElbowAvoidance.step", np.dtype(np.float64)
USUAL_THRESHOLD = 0.05
"""Distance [m] to solids below which the guard slows the tool."""


@short_repr
@dataclass(frozen=True)
class Step(Tabular, rows="clearance"):
    """What one control step decided.

    q             (nq,) joint coordinates with the tool at its pose and the elbow at arm_angle
    wanted        the arm angle that clears every obstacle [rad], NaN where none does
    arm_angle     the filtered one, put out of the hard volume where need be, which q has [rad]
    clearance     least clearance of any obstacle to the hard volume at arm_angle [m], inf without
                  obstacles
    speed_scale   factor in [0, 1] for the tool's speed, from the guard
    status        "clear", "avoiding", "lagging" (the filter was too slow: the elbow was put to the
                  edge of the hard volume), "blocked" (no arm angle is free), "stale"
                  (an obstacle was NaN: the last target is kept)
    """

    q: np.ndarray
    wanted: float
    arm_angle: float
    clearance: float
    speed_scale: float
    status: Status


@short_repr
@dataclass(frozen=True)
class Steps(Tabular, rows="clearance"):
    """Many steps as arrays: q (n, nq), the others (n,)."""

    q: np.ndarray
    wanted: np.ndarray
    arm_angle: np.ndarray
    clearance: np.ndarray
    speed_scale: np.ndarray
    status: np.ndarray

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Steps:
        """The columns of a list of steps."""
        return cls(
            *(np.array([getattr(step, field.name) for step in steps]) for field in fields(Step))
        )

    def __len__(self) -> int:
        return len(self.arm_angle)


class ElbowAvoidance:
    """Keeps the elbow off obstacles while the tool follows its poses.

    volume       what obstacles keep out of: a SafetyVolume, or a SolidVolume of any solids
    filter       smooths the wanted arm angle (followed as an angle, the short way round)
    hard         radius at the elbow [m] that obstacles must not enter; left out, that of the
                 volume. Of a SolidVolume the distance to its solids; left out, 0
    activation   radius at the elbow [m] from which the elbow already makes way; left out, the
                 volume's own. It should exceed `hard` by what the filter lags: 2 x speed of the
                 obstacle / rate. Of a SolidVolume the distance
    threshold    clearance [m] below which the guard slows the tool; left out, a third of the hard
                 radius (of a SolidVolume 0.05)
    q0           configuration whose branch (of eight) is kept; left out, the first step chooses the
                 one nearest to neutral

    A filtered elbow alone can NOT be certified to keep clear: it lags, and a free arc can vanish.
    Two things make the
    promise: where the filtered angle would leave an obstacle inside the hard volume, the elbow goes
    to the nearest angle that does not ("lagging"; faster than the filter would), and the guard
    scales the tool's speed, down to 0 in contact. Only where no arm angle at all is free
    ("blocked") an obstacle can be inside.

    Source: [Simas2022] Algorithm 1, with exact arcs of all obstacles in the place of one
    approximate correction.
    """

    def __init__(
        self,
        elbow: Elbow,
        volume: SafetyVolume | SolidVolume,
        filter: CriticallyDampedFilter,
        activation: float | None = None,
        threshold: float | None = None,
        q0: ArrayLike | None = None,
        hard: float | None = None,
    ) -> None:
        if not isinstance(elbow, Elbow) or not isinstance(volume, (SafetyVolume, SolidVolume)):
            raise InvalidInput(
                "ElbowAvoidance: expected an Elbow, and a SafetyVolume or SolidVolume"
            )
        self.elbow, self.volume = elbow, volume
        own = volume.maximum if isinstance(volume, SafetyVolume) else 0.0
        kept = own if hard is None else number(hard, "ElbowAvoidance: hard")
        reach = own if activation is None else number(activation, "ElbowAvoidance: activation")
        reach = max(reach, kept) if activation is None else reach
        if kept < 0.0:
            raise InvalidInput(f"ElbowAvoidance: hard is {kept} m, expected a radius >= 0")
        if reach < kept:
            raise InvalidInput(
                f"ElbowAvoidance: activation {reach} m is inside the hard radius {kept} m"
            )
        self._hard, self._active = kept, reach
        self.filter = CriticallyDampedFilter(filter.rate, filter.period, angle=True)
        usual = kept / 3 if isinstance(volume, SafetyVolume) and kept > 0.0 else USUAL_THRESHOLD
        self.threshold = (
            usual if threshold is None else number(threshold, "ElbowAvoidance: threshold")
        )
        if not self.threshold > 0.0:
            raise InvalidInput(
                f"ElbowAvoidance: threshold is {self.threshold} m, expected a distance > 0"
            )
        nq = elbow.subject.nq
        before = (
            configurations.neutral(elbow.subject)
            if q0 is None
            else finite(q0, (nq,), "ElbowAvoidance: q0")
        )
        self._q = np.array(before, dtype=float)
        if q0 is not None:
            self.filter.reset(float(elbow.arm_angle(self._q)))
        self._wanted = self.filter.value
        self._last_clearance = math.inf
        self._memory: StepMemory | None = None
        if isinstance(volume, SafetyVolume):
            radii = {"active": reach, "hard": kept}
            levels = {
                name: SafetyVolume(min(volume.minimum, own), own) for name, own in radii.items()
            }
            self._memory = StepMemory(
                elbow, levels, self.filter, self.threshold, self._q[elbow.columns]
            )

    def step(self, pose: ArrayLike, points: Any, radius: ArrayLike = 0.0) -> Step:
        """One control step: the tool's pose (4, 4) and the obstacles.

        points      (n, 3), segments (n, 2, 3), or shapes: spheres, capsules, ..., another robot by
                    `robot_obstacles(model, q)`; `radius` [m] makes points spheres and segments
                    capsules
        """
        if self._memory is None:
            return self._by_parts(pose, around(points, radius, STEP).finite())
        T = pose if type(pose) is np.ndarray else as_doubles(pose, f"{STEP}: pose")
        if T.shape != (4, 4) or T.dtype is not DOUBLES:
            T = self._pose(T)
        plain = type(points) is np.ndarray and points.dtype is DOUBLES and points.shape[1:] == (3,)
        if plain and type(radius) is float and radius == 0.0:
            row = self._memory.one(T, points)
        else:
            row = self._memory.many(T[None], [around(points, radius, STEP)])[0]
        return self._decided(row, T, points, radius)

    def _decided(self, row: np.ndarray, pose: np.ndarray, points: Any, radius: ArrayLike) -> Step:
        """What the machine code decided, or why it could not."""
        assert self._memory is not None
        wanted, angle, clearance, scale, status = row[: len(RESULTS)].tolist()
        if status > STALE:
            self._refuse(int(status), pose)
            self._memory.widen()
            return self.step(pose, points, radius)
        return Step(
            self._whole(row[len(RESULTS) :]), wanted, angle, clearance, scale, STATUSES[int(status)]
        )

    def _refuse(self, status: int, pose: np.ndarray) -> None:
        """Why there is no step; nothing where more room is all that is needed."""
        if status == NO_ROOM:
            return
        swing = self.elbow.swing(pose, STEP)  # which says what is wrong with a pose
        assert status == NO_CONFIGURATION, (status, swing)
        raise NotPossible(
            f"{STEP}: no configuration at this pose and arm angle: shoulder or wrist is "
            "singular there"
        )

    def _pose(self, T: np.ndarray) -> np.ndarray:
        if T.shape != (4, 4):
            raise InvalidInput(f"{STEP}: pose has shape {T.shape}, expected (4, 4)")
        return as_doubles(T, f"{STEP}: pose")

    def _whole(self, joints: np.ndarray) -> np.ndarray:
        """All coordinates, (..., nq): those off the arm are where q0 has them."""
        if len(self._q) == joints.shape[-1]:
            return joints.copy()
        whole = np.broadcast_to(self._q, (*joints.shape[:-1], len(self._q))).copy()
        whole[..., self.elbow.columns] = joints
        return whole

    def _by_parts(self, pose: ArrayLike, stands: Around) -> Step:
        """One step of solids, whose arcs are found by distances of the collision room."""
        assert isinstance(self.volume, SolidVolume)
        self.elbow.swing(pose, STEP)  # which refuses where there is no arm angle
        wanted = self._wanted if stands.stale else self._target(pose, stands)
        blocked = math.isnan(wanted)
        if not blocked:
            self._wanted = wanted
        angle = self.filter.step(self._wanted)
        clearance, lagging = self._room(pose, angle, stands), False
        if clearance < 0.0:
            out = nearest_of(
                self.volume.forbidden(self.elbow, pose, stands, self._hard), angle, angle
            )
            lagging = not math.isnan(out)
            blocked = blocked or not lagging
            if lagging:
                angle = out
                self.filter.reset(angle)
                clearance = self._room(pose, angle, stands)
        q = self._configuration(pose, angle)
        scale = self._guarded(clearance)
        status = self._status(stands.stale, blocked, lagging, wanted, angle)
        return Step(q, wanted, angle, clearance, scale, status)

    def run(
        self, poses: ArrayLike, points: Sequence[Any] | np.ndarray, radius: ArrayLike = 0.0
    ) -> Steps:
        """Steps along poses (n, 4, 4), each with its own obstacles:
        an array (n, k, 3) or a list of n of them."""
        T = as_doubles(poses, "ElbowAvoidance.run: poses")
        if T.ndim != 3 or T.shape[1:] != (4, 4) or len(points) != len(T):
            raise InvalidInput(
                f"ElbowAvoidance.run: poses has shape {T.shape} with {len(points)} lists of "
                "obstacles, expected "
                "(n, 4, 4) and n"
            )
        if self._memory is None:
            return Steps.of(
                [self.step(pose, at, radius) for pose, at in zip(T, points, strict=True)]
            )
        stands = [around(at, radius, "ElbowAvoidance.run") for at in points]
        rows, done = np.empty((len(T), WIDTH)), 0
        while done < len(T):
            rows[done:] = self._memory.many(T[done:], stands[done:])
            missing = np.flatnonzero(rows[done:, 4] > STALE)
            if not len(missing):
                break
            done += int(missing[0])
            self._refuse(int(rows[done, 4]), T[done])
            self._memory.widen()
        wanted, angle, clearance, scale = rows[:, : len(RESULTS) - 1].T.copy()
        status = np.array(STATUSES)[rows[:, 4].astype(int)]
        return Steps(self._whole(rows[:, len(RESULTS) :]), wanted, angle, clearance, scale, status)

    def _room(self, pose: ArrayLike, angle: float, stands: Around) -> float:
        """Least distance to the solids beyond the hard one [m]."""
        assert isinstance(self.volume, SolidVolume)
        return (
            self.volume.room_at(self.elbow, pose, angle, stands) - self._hard
            if len(stands)
            else math.inf
        )

    def _target(self, pose: ArrayLike, stands: Around) -> float:
        """The free arm angle nearest to zero in the free arc where the elbow is."""
        assert isinstance(self.volume, SolidVolume)
        forbidden = self.volume.forbidden(self.elbow, pose, stands, self._active)
        return nearest_of(forbidden, 0.0, self.filter.value)

    def _configuration(self, pose: ArrayLike, angle: float) -> np.ndarray:
        """The row of the branch that goes on from the last configuration."""
        nearest = self.elbow.nearest(pose, angle, self._q)
        if nearest is None:
            raise NotPossible(
                f"{STEP}: no configuration at arm angle {angle:.4g} rad: shoulder or wrist is "
                "singular there"
            )
        self._q = nearest
        return nearest.copy()

    def _guarded(self, clearance: float) -> float:
        approaching = approaches(clearance, self._last_clearance)
        self._last_clearance = clearance
        return 1.0 if math.isinf(clearance) else speed_scale(clearance, self.threshold, approaching)

    def _status(
        self, stale: bool, blocked: bool, lagging: bool, wanted: float, angle: float
    ) -> Status:
        if stale:
            return "stale"
        if blocked:
            return "blocked"
        if lagging:
            return "lagging"
        moving = abs(wrapped_one(wanted - angle)) > ON_TARGET
        return "avoiding" if moving or abs(wrapped_one(wanted)) > ON_TARGET else "clear"
