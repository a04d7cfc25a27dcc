"""Jerk-limited motion from any state to any other, by Ruckig: once,
or again in every cycle of a controller.

Profiles of seven phases of constant jerk, the fastest there are, are Ruckig's [Berscheid2021]; here
they are motions like all others. Needs the extra "replan".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import configurations
from linkwork.arguments import as_doubles, finite, number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.subject import RobotLike, subject_of
from linkwork.trajectory.motion import STEP, Motion, finite_times


@dataclass(frozen=True, repr=False)
class JerkLimited(Motion):
    """A motion with jerks, accelerations and speeds within limits; made by `jerk_limited`."""

    profile: Any
    size: int

    def __repr__(self) -> str:
        return f"<JerkLimited {self.size} coordinates, {self.duration:.4g} s>"

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.profile.duration)

    def at(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a), each (..., n), at times t (...) [s];
        after the end it goes on with its last speed."""
        times = finite_times(t)
        states = np.array([self.profile.at_time(max(float(x), 0.0)) for x in times.ravel()])
        q, v, a = np.moveaxis(states.reshape(*times.shape, 3, self.size), -2, 0)
        return q, v, a


def jerk_limited(
    start: ArrayLike,
    end: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    jerk: ArrayLike,
    start_velocity: ArrayLike | None = None,
    start_acceleration: ArrayLike | None = None,
    end_velocity: ArrayLike | None = None,
) -> JerkLimited:
    """The fastest motion between two states with limited jerk;
    all joints take as long as the slowest.

    start, end                         (n,) [rad, m]
    velocity, acceleration, jerk       largest, numbers or (n,)
    start_velocity, start_acceleration, end_velocity   (n,); left out: rest
    """
    who = "jerk_limited"
    first, last = as_doubles(start, f"{who}: start"), as_doubles(end, f"{who}: end")
    if first.ndim != 1 or first.shape != last.shape or not len(first):
        raise InvalidInput(
            f"{who}: start has shape {first.shape}, end {last.shape}, expected two of one length"
        )
    n = len(first)
    order = _order(who, n, velocity, acceleration, jerk)
    order.current_position = finite(first, (n,), f"{who}: start")
    order.target_position = finite(last, (n,), f"{who}: end")
    order.current_velocity = _rate(who, "start_velocity", start_velocity, n)
    order.current_acceleration = _rate(who, "start_acceleration", start_acceleration, n)
    order.target_velocity = _rate(who, "end_velocity", end_velocity, n)
    ruckig = _ruckig()
    profile = ruckig.Trajectory(n)
    _asked(who, order, lambda: ruckig.Ruckig(n).calculate(order, profile))
    return JerkLimited(profile, n)


class Follower:
    """A setpoint that runs after targets which may jump in any cycle, with limited jerk.

    robot   its limits of speed and, where it has them, of acceleration count unless others are
            given
    q       (nq,) where it starts, at rest
    step    [s] of a cycle

    `follower.update(target)` gives q, v, a for the next cycle; `follower.reached` says whether the
    target is there.
    """

    def __init__(
        self,
        robot: RobotLike,
        q: ArrayLike,
        jerk: ArrayLike,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        step: float = STEP,
    ) -> None:
        subject = subject_of(robot, "Follower")
        if subject.nq != subject.nv:
            raise NotPossible(
                f"Follower: the robot has nq = {subject.nq}, nv = {subject.nv}, expected equal ones"
            )
        n = subject.nq
        limits = configurations.limits(subject)
        if number(step, "Follower: step") <= 0.0:
            raise InvalidInput(f"Follower: step is {step}, expected a time > 0 s")
        speeds = limits.velocity if velocity is None else velocity
        ramps = limits.acceleration if acceleration is None else acceleration
        for name, values in (("velocity", speeds), ("acceleration", ramps)):
            if not np.isfinite(as_doubles(values, f"Follower: {name}")).all():
                raise InvalidInput(
                    f"Follower: the robot limits no {name} of some joints, expected {name}="
                )
        ruckig = _ruckig()
        self.step, self.n = float(step), n
        self._order = _order("Follower", n, speeds, ramps, jerk)
        self._order.current_position = finite(q, (n,), "Follower: q")
        self._planner, self._answer = ruckig.Ruckig(n, self.step), ruckig.OutputParameter(n)
        self.reached = True

    def __repr__(self) -> str:
        return f"<Follower of {self.n} coordinates, a cycle of {self.step:g} s>"

    @property
    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, v, a), each (n,), of the last cycle."""
        order = self._order
        return tuple(  # type: ignore[return-value]
            np.array(x)
            for x in (order.current_position, order.current_velocity, order.current_acceleration)
        )

    def update(
        self, target: ArrayLike, target_velocity: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One cycle on the way to a target (n,), at which it shall have a velocity (n,): (q, v, a),
        each (n,)."""
        order = self._order
        order.target_position = finite(target, (self.n,), "update: target")
        order.target_velocity = _rate("update", "target_velocity", target_velocity, self.n)
        result = _asked("update", order, lambda: self._planner.update(order, self._answer))
        self._answer.pass_to_input(order)
        self.reached = result == _ruckig().Result.Finished
        return self.state


def _order(who: str, n: int, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike) -> Any:
    order = _ruckig().InputParameter(n)
    for name, limit in (("velocity", velocity), ("acceleration", acceleration), ("jerk", jerk)):
        values = as_doubles(limit, f"{who}: {name}")
        if (
            values.shape not in ((), (n,))
            or not (values > 0).all()
            or not np.isfinite(values).all()
        ):
            raise InvalidInput(
                f"{who}: {name} is {values.tolist()}, expected a positive number or {n} of them"
            )
        setattr(order, f"max_{name}", np.broadcast_to(values, (n,)).tolist())
    return order


def _rate(who: str, name: str, rate: ArrayLike | None, n: int) -> list[float]:
    return [0.0] * n if rate is None else finite(rate, (n,), f"{who}: {name}").tolist()


def _asked(who: str, order: Any, work: Callable[[], Any]) -> Any:
    """Ruckig's answer; what it refuses is said in our words."""
    pairs = (("target_velocity", "max_velocity"), ("current_acceleration", "max_acceleration"))
    for limit, largest in pairs:
        for k, (x, most) in enumerate(
            zip(getattr(order, limit), getattr(order, largest), strict=True)
        ):
            if abs(x) > most:
                words = limit.replace("_", " ")
                raise InvalidInput(
                    f"{who}: {words} of coordinate {k} is {x:g}, expected at most {most:g}"
                )
    ruckig = _ruckig()
    try:
        result = work()
    except ruckig.RuckigError as error:
        raise NotPossible(f"{who}: there is no such motion: {error}") from None
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise NotPossible(f"{who}: there is no such motion ({result.name})")
    return result


def _ruckig() -> Any:
    try:
        import ruckig
    except ImportError:
        raise NotPossible("this needs the package ruckig: pip install 'linkwork[replan]'") from None
    return ruckig
