"""SearchLoop: attempts at a target as one step function, compiled to machine code by scan.

State of a lane, in this order: x, where the present attempt is; attempt, its number
(-1: from the caller's q0); left, how many more there may be; i, its steps so far; before, the
squared errors one and two steps ago; best_ee and best, the nearest so far; tolerance.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
from casadi import DM, SX

from linkwork.engine.scan import keyed_scan
from linkwork.inverse.descent import least_weights, step_towards
from linkwork.inverse.mechanism import Mechanism
from linkwork.inverse.seeds import box, seed
from linkwork.inverse.targets import Goal

PATIENCE, LEAST, PROGRESS = 20, 5, 0.8
"""An attempt has 20 steps, and ends after 5 where two steps took less than a fifth off the squared
error."""
LONG_PATIENCE, LONG_PROGRESS, EVERY = 120, 0.9999, 8
"""Every eighth attempt, and the last one, is patient: it follows a slow descent to its end."""
WISH, WISHES = 0.5, 30
"""How much of the way to the preferred configuration a step goes, and how many do;
then the goals alone count."""
HUGE = 1e300
ENDLESS = 1e9
"""Stands for an infinite limit where limits are numbers that come with the call."""


Shapes = dict[str, int | tuple[int, ...]]


class SearchLoop:
    """The compiled loop for some goals of a mechanism.

    limits   (lower, upper) of the mechanism's q, as constants of the code, or None: they come with
             each call
    wish     each call brings a preferred configuration for what the goals leave free
    """

    def __init__(
        self,
        mechanism: Mechanism,
        goals: tuple[Goal, ...],
        limits: tuple[np.ndarray, np.ndarray] | None,
        wish: bool,
    ) -> None:
        self.mechanism, self.goals, self.limits, self.wish = mechanism, goals, limits, wish
        self.single = np.array([at for at, _ in mechanism.single], dtype=int)
        n, s = len(mechanism.q), len(self.single)
        self.x = slice(1, 1 + n)
        self.attempt = 1 + n
        self.left = 2 + n
        self.best = slice(7 + n, 7 + 2 * n)
        state: Shapes = {
            "x": n,
            "attempt": (),
            "left": (),
            "i": (),
            "before": 2,
            "best_ee": (),
            "best": n,
            "tolerance": (),
        }
        parameters: Shapes = {"target": sum(goal.size for goal in goals)}
        if limits is None:
            parameters |= {"lower": s, "upper": s, "centre": s, "spread": s}
        if wish:
            parameters["preferred"] = s
        key = mechanism.subject.key(SearchLoop, goals, limits, wish)
        self.scan = keyed_scan(key, [self._step], state, parameters, name="inverse_kinematics")

    def _step(self, k: SX, **given: SX) -> dict[str, SX]:
        x, i, before, ee_best = given["x"], given["i"], given["before"], given["best_ee"]
        lower, upper, centre, spread = self._ranges(given)
        step = step_towards(
            self.mechanism, self.goals, x, given["target"], lower, upper, self._wish(given)
        )
        near = casadi.logic_and(step.bound < given["tolerance"], step.cut <= 0)
        here = step.ee < given["tolerance"] ** 2
        patient = casadi.logic_or(given["left"] <= 0, _divides(EVERY, given["attempt"] + 1))
        if self.wish:
            patient = SX(1)
            i = i - WISHES
        steps = casadi.if_else(patient, LONG_PATIENCE, PATIENCE)
        slow = casadi.logic_and(
            i >= casadi.if_else(patient, PATIENCE, LEAST),
            step.ee > casadi.if_else(patient, LONG_PROGRESS, PROGRESS) * before[1],
        )
        over = i + 1 >= steps
        if self.wish:  # the goals are met before the wish is
            here, i = casadi.logic_and(here, i >= 0), i + WISHES
        reached = casadi.logic_or(near, here)
        ends = casadi.logic_and(casadi.logic_or(slow, over), casadi.logic_not(reached))
        better, arrives = step.ee < ee_best, casadi.logic_and(near, casadi.logic_not(here))
        following = seed(self.mechanism, given["attempt"] + 1, x, centre, spread)
        return {
            "x": casadi.if_else(ends, following, step.x),
            "attempt": given["attempt"] + ends,
            "left": given["left"] - ends,
            "i": casadi.if_else(ends, 0, i + 1),
            "before": casadi.if_else(ends, HUGE, casadi.vertcat(step.ee, before[0])),
            "best_ee": casadi.fmin(step.ee, ee_best),
            "best": casadi.if_else(arrives, step.x, casadi.if_else(better, x, given["best"])),
            "tolerance": given["tolerance"],
            "stop": casadi.logic_or(reached, casadi.logic_and(ends, given["left"] <= 0)),
        }

    def _ranges(self, given: dict[str, SX]) -> tuple[SX, SX, SX, SX]:
        if self.limits is None:
            return given["lower"], given["upper"], given["centre"], given["spread"]
        lower, upper = (x[self.single] for x in self.limits)
        return tuple(SX(DM(x)) for x in (lower, upper, *box(self.mechanism, lower, upper)))  # type: ignore[return-value]

    def _wish(self, given: dict[str, SX]) -> SX | None:
        if not self.wish:
            return None
        dx = SX.zeros(self.mechanism.n)
        for i, (at, v) in enumerate(self.mechanism.single):
            share = wish_share(given["i"]) * casadi.logic_not(_divides(2, given["attempt"] + 1))
            dx[v] = share * (given["preferred"][i] - given["x"][at])
        return dx

    def weighted(self, position: float, turn: float) -> float:
        """One tolerance for the weighted error that keeps both."""
        weights = self._weights
        return min(position * weights[0], turn * weights[1])

    @functools.cached_property
    def _weights(self) -> tuple[float, float]:
        return least_weights(self.mechanism, self.goals)

    def fresh(self, x: np.ndarray) -> dict[str, Any]:
        """The state of an attempt that has not begun."""
        return {"i": 0.0, "before": np.full(2, HUGE), "best_ee": HUGE, "best": x}

    def flat(self, x: np.ndarray, restarts: int, position: float, turn: float) -> np.ndarray:
        """The whole start state of one target without a start of the caller's own,
        as `call` takes it."""
        end = [HUGE, HUGE, HUGE, *x, self.weighted(position, turn)]
        return np.array([0.0, *x, 0.0, float(restarts), 0.0, *end])

    @functools.cached_property
    def call(self) -> Callable[..., Any]:
        """f(flat state, parameters, steps) for one target."""
        return self.scan.caller()


def wish_share(i: SX) -> SX:
    """How far step i of an attempt follows the wish."""
    return casadi.if_else(i < WISHES, WISH, 0)


def _divides(n: int, k: SX) -> SX:
    """n divides k, and k > 0."""
    return casadi.logic_and(k > 0, casadi.floor(k * (1 / n)) * n >= k)
