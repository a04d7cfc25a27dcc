"""Elbow avoidance: one control step from the tool's pose and the obstacles to joint angles and a speed scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, number
from linkwork.avoidance.arcs import merged, nearest_free, wrapped
from linkwork.avoidance.elbow import Elbow
from linkwork.avoidance.guard import speed_scale
from linkwork.avoidance.smoothing import CriticallyDampedFilter
from linkwork.avoidance.volume import SafetyVolume
from linkwork.errors import InvalidInput, NotPossible

Status = Literal["clear", "avoiding", "lagging", "blocked", "stale"]
ON_TARGET = 1e-3
"""An arm angle this near to the wanted one [rad] has arrived."""


@dataclass(frozen=True)
class Step:
    """What one control step decided.

    q             (nq,) joint coordinates with the tool at its pose and the elbow at arm_angle
    wanted        the arm angle that clears every obstacle [rad], NaN where none does
    arm_angle     the filtered one, put out of the hard volume where need be, which q has [rad]
    clearance     least clearance of any obstacle to the hard volume at arm_angle [m], inf without obstacles
    speed_scale   factor in [0, 1] for the tool's speed, from the guard
    status        "clear", "avoiding", "lagging" (the filter was too slow: the elbow was put to the edge of the hard
                  volume), "blocked" (no arm angle is free), "stale" (an obstacle was NaN: the last target is kept)
    """

    q: np.ndarray
    wanted: float
    arm_angle: float
    clearance: float
    speed_scale: float
    status: Status


class ElbowAvoidance:
    """Keeps the elbow off obstacles while the tool follows its poses.

    volume       the hard volume, which obstacles must not enter
    filter       smooths the wanted arm angle (followed as an angle, the short way round)
    activation   radius at the elbow [m] from which the elbow already makes way; left out, the volume's own. It should
                 exceed `volume.maximum` by what the filter lags: 2 x speed of the obstacle / rate.
    threshold    clearance [m] below which the guard slows the tool; left out, a third of volume.maximum
    q0           configuration whose branch (of eight) is kept; left out, the first step chooses the one nearest to
                 neutral

    A filtered elbow alone can NOT be certified to keep clear: it lags, and a free arc can vanish. Two things make the
    promise: where the filtered angle would leave an obstacle inside the hard volume, the elbow goes to the nearest
    angle that does not ("lagging"; faster than the filter would), and the guard scales the tool's speed, down to 0 in
    contact. Only where no arm angle at all is free ("blocked") an obstacle can be inside.

    Source: [Simas2022] Algorithm 1, with exact arcs of all points in the place of one approximate correction.
    """

    def __init__(
        self,
        elbow: Elbow,
        volume: SafetyVolume,
        filter: CriticallyDampedFilter,
        activation: float | None = None,
        threshold: float | None = None,
        q0: ArrayLike | None = None,
    ) -> None:
        if not isinstance(elbow, Elbow) or not isinstance(volume, SafetyVolume):
            raise InvalidInput("ElbowAvoidance: expected an Elbow and a SafetyVolume")
        reach = volume.maximum if activation is None else number(activation, "ElbowAvoidance: activation")
        if reach < volume.maximum:
            raise InvalidInput(f"ElbowAvoidance: activation {reach} m is inside the hard radius {volume.maximum} m")
        self.elbow, self.volume = elbow, volume
        self.active = SafetyVolume(volume.minimum, reach)
        self.filter = CriticallyDampedFilter(filter.rate, filter.period, angle=True)
        self.threshold = volume.maximum / 3 if threshold is None else threshold
        self._q = None if q0 is None else np.array(q0, dtype=float)
        if self._q is not None:
            self.filter.reset(float(elbow.arm_angle(self._q)))
        self._wanted = self.filter.value
        self._last_clearance = math.inf

    def step(self, pose: ArrayLike, points: ArrayLike, radius: ArrayLike = 0.0) -> Step:
        """One control step: the tool's pose (4, 4), obstacles as points (n, 3) or spheres with `radius` [m]."""
        at = as_doubles(points, "ElbowAvoidance.step: points")
        if at.ndim != 2 or at.shape[-1] != 3:
            raise InvalidInput(f"ElbowAvoidance.step: points has shape {at.shape}, expected (n, 3)")
        sizes = as_doubles(radius, "ElbowAvoidance.step: radius")
        stale = not (np.isfinite(at).all() and np.isfinite(sizes).all())
        if stale:
            known = np.isfinite(at).all(axis=1) & np.isfinite(sizes)
            at, sizes = at[known], sizes if sizes.ndim == 0 else sizes[known]
        swing = self.elbow.swing(pose, "ElbowAvoidance.step")
        wanted = self._wanted if stale else self._target(swing, at, sizes)
        blocked = math.isnan(wanted)
        if not blocked:
            self._wanted = wanted
        angle = self.filter.step(self._wanted)
        clearance, lagging = self._room(swing, angle, at, sizes), False
        if clearance < 0.0:
            out = nearest_free(merged(*self.elbow.arcs_at(swing, at, self.volume, sizes)), angle, keep=angle)
            lagging = not math.isnan(out)
            blocked = blocked or not lagging
            if lagging:
                angle = out
                self.filter.reset(angle)
                clearance = self._room(swing, angle, at, sizes)
        q = self._configuration(pose, angle)
        scale = self._guarded(clearance)
        status = self._status(stale, blocked, lagging, wanted, angle)
        return Step(q, wanted, angle, clearance, scale, status)

    def _room(self, swing: np.ndarray, angle: float, at: np.ndarray, sizes: np.ndarray) -> float:
        """Least clearance to the hard volume [m]."""
        return self.elbow.nearest_clearance(swing, angle, at, self.volume, sizes) if len(at) else math.inf

    def _target(self, swing: np.ndarray, at: np.ndarray, sizes: np.ndarray) -> float:
        """The free arm angle nearest to zero in the free arc where the elbow is."""
        here = self.filter.value
        if not len(at):
            return float(here + wrapped(-here))
        arcs = merged(*self.elbow.arcs_at(swing, at, self.active, sizes))
        return nearest_free(arcs, 0.0, keep=here)

    def _configuration(self, pose: ArrayLike, angle: float) -> np.ndarray:
        """The row of the branch that goes on from the last configuration."""
        rows = self.elbow.configurations(pose, angle)
        exists = np.isfinite(rows).all(axis=1)
        if not exists.any():
            raise NotPossible(
                f"ElbowAvoidance.step: no configuration at arm angle {angle:.4g} rad: "
                "shoulder or wrist is singular there"
            )
        rows = rows[exists]
        before = np.zeros(rows.shape[1]) if self._q is None else self._q
        turned = before + wrapped(rows - before)
        self._q = turned[np.argmin(np.abs(turned - before).max(axis=1))]
        return self._q.copy()

    def _guarded(self, clearance: float) -> float:
        approaching = clearance < self._last_clearance
        self._last_clearance = clearance
        return 1.0 if math.isinf(clearance) else speed_scale(clearance, self.threshold, approaching)

    def _status(self, stale: bool, blocked: bool, lagging: bool, wanted: float, angle: float) -> Status:
        if stale:
            return "stale"
        if blocked:
            return "blocked"
        if lagging:
            return "lagging"
        moving = abs(float(wrapped(wanted - angle))) > ON_TARGET
        return "avoiding" if moving or abs(float(wrapped(wanted))) > ON_TARGET else "clear"
