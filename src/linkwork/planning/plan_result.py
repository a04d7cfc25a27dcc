"""Plan: a path that was asked for, what is proved about it, and how it becomes a motion in time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwork.arguments import number
from linkwork.collision import CollisionModel, Obstacles
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.planning.blends import Blended, blended
from linkwork.planning.tightening import tightened
from linkwork.trajectory.minimum_time import TimeLaw, minimum_time
from linkwork.trajectory.path import Path

REASONS = (
    "solved",
    "start in collision",
    "goal in collision",
    "goal out of reach",
    "all goals blocked",
    "no path",
)
"""What `Plan.reason` begins with."""


@dataclass(frozen=True, repr=False)
class Plan(Tabular, rows="path", within=1, aside=("goal", "history")):
    """The answer to one problem.

    success      there is a path
    reason       "solved", or what prevented it, with names and numbers; begins with one of REASONS
    path         (m, nq) waypoints, straight motions between them; (0, nq) without success
    length       of the path [rad and m]
    certified    every point of the path is proved to touch nothing (not only samples of it)
    bound        a lower bound [m] of the distance along the whole path that the proof came by; NaN
                 where nothing is proved; `clearance` is a better one
    goal         which of the goal configurations it ends at
    iterations   of the search; nodes: of its trees; checks: motions that were asked of the checker
    seconds      by phase: goals, search, shorten, certify
    history      (seconds, length) of the first path and of each shorter one; of anytime methods
    """

    success: bool
    reason: str
    path: np.ndarray
    length: float
    certified: bool
    bound: float
    goal: np.ndarray
    iterations: int
    nodes: int
    checks: int
    seconds: Mapping[str, float]
    model: CollisionModel = field(repr=False)
    obstacles: Obstacles | None = field(repr=False)
    history: tuple[tuple[float, float], ...] = ()

    @cached_property
    def clearance(self) -> float:
        """A lower bound [m] of the distance along the whole path, at most 0.05 and within a tenth
        of the distance itself (`tightening.py`), found when it is first asked for; NaN where
        nothing is proved."""
        return (
            tightened(self.model, self.path, self.obstacles, self.bound)
            if self.certified
            else math.nan
        )

    def __repr__(self) -> str:
        total = 1e3 * sum(self.seconds.values())
        if not self.success:
            return f"<Plan: {self.reason}; {total:.2f} ms>"
        proof = (
            f"certified, {1e3 * self.clearance:.1f} mm clear" if self.certified else "not certified"
        )
        return (
            f"<Plan: {len(self.path)} waypoints, length {self.length:.3f}, {proof}; {total:.2f} ms>"
        )

    def __bool__(self) -> bool:
        return self.success

    def to_path(self, rounding: float = 0.5) -> Path:
        """The path with rounded corners, whose direction has no jumps:
        free as proved as the plan is. See blends.py.

        rounding   of each corner, at most: the share of the shorter of its two sides, up to 0.5
        """
        return self._blended(rounding).path

    def motion_clearance(self, rounding: float = 0.5) -> float:
        """As `clearance`, along `to_path(rounding)` and so along `timed(rounding)`:
        rounded corners may come nearer."""
        if not self.certified:
            return math.nan
        known = self._blended(rounding)
        return max(0.0, tightened(self.model, known.chords, self.obstacles, 0.0) - known.apart)

    def clearance_of(self, law: TimeLaw) -> float:
        """`motion_clearance` with the rounding that a law of `timed` was made with; NaN for a law
        along another path, of which nothing is known, and where nothing is proved."""
        own = [rounding for rounding, known in self._roundings.items() if known.path is law.path]
        return self.motion_clearance(own[0]) if own else math.nan

    def _blended(self, rounding: float) -> Blended:
        """The path with rounded corners, made once for each rounding."""
        if not self.success:
            raise NotPossible(f"to_path: the plan has no path ({self.reason})")
        share = number(rounding, "to_path: rounding")
        if share not in self._roundings:
            self._roundings[share] = blended(
                self.model, self.path, self.obstacles, share, self.certified
            )
        return self._roundings[share]

    @cached_property
    def _roundings(self) -> dict[float, Blended]:
        return {}

    def timed(self, rounding: float = 0.5, **limits: Any) -> TimeLaw:
        """The fastest motion along `to_path` that limits allow;
        see `lw.trajectory.minimum_time` for `limits`."""
        return minimum_time(self.model.subject, self.to_path(rounding), **limits)


class Plans(Tabular, Sequence[Plan]):
    """Answers to many problems: a sequence of plans, with their numbers as arrays.

    success, length, certified, bound, clearance, iterations   (n,)
    seconds                                                    of everything together
    """

    def __init__(self, plans: Sequence[Plan], seconds: float) -> None:
        self._plans, self.seconds = tuple(plans), seconds
        self.success = np.array([plan.success for plan in plans], dtype=bool)
        self.certified = np.array([plan.certified for plan in plans], dtype=bool)
        self.length = np.array([plan.length for plan in plans], dtype=float)
        self.bound = np.array([plan.bound for plan in plans], dtype=float)
        self.iterations = np.array([plan.iterations for plan in plans], dtype=np.int64)

    @cached_property
    def clearance(self) -> np.ndarray:
        """(n,) of each plan."""
        return np.array([plan.clearance for plan in self._plans], dtype=float)

    def __len__(self) -> int:
        return len(self._plans)

    def __getitem__(self, index: Any) -> Any:
        return self._plans[index]

    def __iter__(self) -> Iterator[Plan]:
        return iter(self._plans)

    def _table(self) -> dict[str, np.ndarray]:
        numbers = {
            name: getattr(self, name)
            for name in ("success", "certified", "length", "bound", "iterations")
        }
        return numbers | {"reason": np.array([plan.reason for plan in self._plans], dtype=object)}

    def __repr__(self) -> str:
        good = int(self.success.sum())
        return (
            f"<Plans: {good} of {len(self)} solved, {int(self.certified.sum())} certified; "
            f"{self.seconds:.3g} s>"
        )
