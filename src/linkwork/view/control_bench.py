"""Control bench: a robot's closed loop that is computed anew as fast as a hand moves;
knows no browser.

One second from `start` to `goal` under a sampled law: rows, figures, loop gain and stability.
Gains, period, payload and live variables are numbers of a run: moving them compiles nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.control import (
    CartesianImpedance,
    ConstantRate,
    Posture,
    SlidingMode,
    Surface,
    judge,
)
from linkwork.control.linear import loop_at
from linkwork.control.loop_maps import LoopTrace
from linkwork.errors import InvalidInput
from linkwork.model.payload import Payload
from linkwork.robot import Robot
from linkwork.simulation import PD, ComputedTorque, GravityCompensation, Sampled, simulate
from linkwork.simulation.controllers import Controller
from linkwork.simulation.plants import plant_of

DURATION = 1.0
ROWS = 100
"""Rows of a response: what a narrow plot can show."""
FREQUENCIES = 80
CELLS = (20, 14)
"""Gain sets of the stability map, along the first and the second gain."""
REACH = 40
"""Damped steps towards a dragged place."""


@dataclass(frozen=True)
class Gain:
    """A slider: its name with unit, bounds (on a logarithmic scale) and where it starts."""

    label: str
    low: float
    high: float
    first: float


@dataclass(frozen=True)
class BenchLaw:
    """A law that the bench offers: two gains, and whether it is smooth,
    so that it has a linear loop."""

    gains: tuple[Gain, Gain]
    make: Callable[..., Controller]
    smooth: bool = True


def _pd(bench: Bench, first: Any, second: Any, model: Any) -> Controller:
    inertia = bench.inertia
    return GravityCompensation(model) + PD(first * inertia, second * inertia, bench.goal)


def _computed(bench: Bench, first: Any, second: Any, model: Any) -> Controller:
    return ComputedTorque(first, second, bench.goal, model)


def _sliding(bench: Bench, first: Any, second: Any, model: Any) -> Controller:
    return SlidingMode(Surface(first), ConstantRate(second), bench.goal, model)


def _impedance(bench: Bench, first: Any, second: Any, model: Any) -> Controller:
    axes, place = bench.axes, bench.robot.pose(bench.goal, bench.frame)[:3, 3]
    target = place[["xyz".index(axis) for axis in axes]]
    rest = (
        Posture(bench.goal, 25.0 * bench.inertia, 10.0 * bench.inertia)
        if len(bench.goal) > len(axes)
        else None
    )
    return CartesianImpedance(
        bench.frame, first, second, target=target, nullspace=rest, axes=axes, model=model
    )


LAWS = {
    "PD with gravity": BenchLaw(
        (Gain("kp [1/s^2] x inertia", 1.0, 1e5, 200.0), Gain("kd [1/s] x inertia", 0.1, 1e4, 20.0)),
        _pd,
    ),
    "computed torque": BenchLaw(
        (Gain("kp [1/s^2]", 1.0, 1e5, 200.0), Gain("kd [1/s]", 0.1, 1e4, 20.0)), _computed
    ),
    "sliding mode": BenchLaw(
        (Gain("slope [1/s]", 0.5, 100.0, 8.0), Gain("gain [rad/s^2]", 0.1, 1e3, 10.0)),
        _sliding,
        smooth=False,
    ),
    "Cartesian impedance": BenchLaw(
        (Gain("stiffness [N/m]", 1.0, 1e5, 800.0), Gain("damping [N s/m]", 0.1, 1e4, 80.0)),
        _impedance,
    ),
}


@dataclass(frozen=True)
class Frame:
    """What one position of the sliders gives.

    time (T,), q (T, n), tau (T, n); figures of `judge`;  frequency (F,) [rad/s], gain (F,) complex
    of the chosen joint's loop, or nothing where the law is not smooth;  radius: below 1 small
    errors fade; words: verdict
    """

    time: np.ndarray
    q: np.ndarray
    tau: np.ndarray
    goal: np.ndarray
    figures: Mapping[str, np.ndarray]
    frequency: np.ndarray
    gain: np.ndarray
    radius: float
    words: str


@dataclass
class Bench:
    """A robot under a law: what a person can move are attributes;
    `response()` and `map()` are what is seen."""

    robot: Robot
    frame_name: str | None = None
    law: str = "computed torque"
    gains: dict[str, tuple[float, float]] = field(default_factory=dict)
    period: float = 1e-3
    delay: int = 0
    mass: float = 0.0
    known: bool = False
    joint: int = 0
    variables: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        robot = self.robot
        if robot.model.kinematic_only or robot.nq != robot.nv or not robot.nv:
            raise InvalidInput(
                f'control bench: robot "{robot.name}" has no masses or quaternions; expected '
                "plain joints"
            )
        self.frame = self.frame_name or (
            robot.model.frames[-1].name if robot.model.frames else robot.bodies[-1]
        )
        self.gains = {
            name: (law.gains[0].first, law.gains[1].first) for name, law in LAWS.items()
        } | self.gains
        present = dict(robot.model.variables)
        self.variables = {
            name: float(present[name]) for name in robot.subject.live
        } | self.variables
        self._traces: dict[Any, LoopTrace] = {}
        self.begin(robot.home)

    def begin(self, q: np.ndarray) -> None:
        """Start from q (nq,) and stay there until a target is dragged."""
        self.start = self.goal = np.array(q, dtype=float)
        self.inertia = np.diag(self.robot.mass_matrix(self.start)).copy()
        self.axes = self._free_axes()

    def drag(self, place: np.ndarray) -> float:
        """Bring the frame's goal to a world position (3,) as near as it comes;
        gives what is left [m]."""
        rows = ["xyz".index(axis) for axis in self.axes]
        limits, q = self.robot.limits, self.goal
        for _ in range(REACH):
            miss = (place - self.robot.pose(q, self.frame)[:3, 3])[rows]
            if np.abs(miss).max() < 1e-6:
                break
            J = self.robot.jacobian(q, self.frame)[rows]
            step = J.T @ np.linalg.solve(
                J @ J.T + 1e-6 * np.trace(J @ J.T) * np.eye(len(rows)), miss
            )
            step *= min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-12))
            q = np.clip(q + step, limits.lower, limits.upper)
        self.goal = q
        return float(np.linalg.norm((place - self.robot.pose(q, self.frame)[:3, 3])[rows]))

    def _free_axes(self) -> tuple[str, ...]:
        """Directions that the frame can go."""
        J = self.robot.jacobian(self.start, self.frame)[:3]
        size = float(np.abs(J).max()) or 1.0
        kept: list[int] = []
        for axis in range(3):
            if (
                len(kept) < J.shape[1]
                and np.linalg.svd(J[[*kept, axis]], compute_uv=False)[-1] > 0.02 * size
            ):
                kept.append(axis)
        return tuple("xyz"[axis] for axis in kept) or ("x",)

    def controller(self, first: Any = None, second: Any = None) -> Controller:
        """The law as it stands, or with other gains (batches (..., 1) too)."""
        one, two = self.gains[self.law]
        model = None if self.known else self.robot
        made = LAWS[self.law].make(
            self, one if first is None else first, two if second is None else second, model
        )
        return Sampled(made, self.period, self.delay * self.period)

    @property
    def payload(self) -> Payload:
        """What the frame carries; the law knows of it where `known` says so."""
        carrier = self.frame
        if self.robot.subject.live:  # frames may move with variables: the body is what carries
            carrier = self.robot.bodies[-1]
        return Payload(carrier, self.mass)

    def _options(self) -> dict[str, Any]:
        return {"payload": self.payload} | ({"variables": self.variables} if self.variables else {})

    def response(self) -> Frame:
        """Run, figures, loop gain and verdict for what is set now."""
        step = self.period / max(1, round(self.period / 1e-3))
        every = max(1, round(DURATION / ROWS / step))
        rows = max(2, round(DURATION / (every * step)))
        run = simulate(
            self.robot,
            self.start,
            duration=rows * every * step,
            step=step,
            sample=every * step,
            control=self.controller(),
            energy_tolerance=np.inf,
            failures="keep",
            **self._options(),
        )
        figures = judge(run, self.goal) if bool(run.success) else {}
        frequency = np.geomspace(0.1, np.pi / self.period, FREQUENCIES)
        gain, radius = np.zeros(0, complex), np.nan
        if LAWS[self.law].smooth:
            loop = loop_at(
                self._traced("one", self.controller()), self.goal, np.zeros(self.robot.nv)
            )
            radius = loop.radius
            gain = loop.loop_gain(self.joint).frequency_response(frequency)[:, 0, 0]
        words = self._words(run, figures, radius)
        return Frame(run.time, run.q, run.tau, self.goal, figures, frequency, gain, radius, words)

    def map(self) -> np.ndarray:
        """Spectral radius (first, second) over the gains of the law at the goal;
        none for laws that are not smooth."""
        law = LAWS[self.law]
        if not law.smooth:
            return np.zeros((0, 0))
        first, second = (
            np.geomspace(g.low, g.high, n) for g, n in zip(law.gains, CELLS, strict=True)
        )
        one, two = np.meshgrid(first, second, indexing="ij")
        trace = self._traced("many", self.controller(one[..., None], two[..., None]))
        return trace.maps(self.goal, np.zeros(self.robot.nv)).radii().reshape(CELLS)

    def _traced(self, which: str, control: Controller) -> LoopTrace:
        options = self._options()
        plant = plant_of(self.robot, options["payload"], options.get("variables"))
        key = (which, self.law, self.known, self.delay)
        trace = self._traces.get(key)
        if trace is None or not trace.renew(plant, control):
            trace = self._traces[key] = LoopTrace(plant, control, True, None)
        return trace

    def _words(self, run: Any, figures: Mapping[str, np.ndarray], radius: float) -> str:
        if not figures:
            return f"**UNSTABLE**: {run.reason}"
        k = self.joint
        told = [
            f"error at the end {figures['steady_error'][k]:.3g}",
            f"peak force {figures['peak'][k]:.3g}",
        ]
        if "overshoot" in figures and np.isfinite(figures["overshoot"][k]):
            told.insert(0, f"overshoot {100 * figures['overshoot'][k]:.1f} %")
        if "settling" in figures and np.isfinite(figures["settling"][k]):
            told.insert(1, f"settled after {figures['settling'][k]:.3g} s")
        told.append(f"force varies by {figures['variation'][k]:.3g} a second")
        small = (
            ""
            if np.isnan(radius)
            else f"**{'stable' if radius < 1 else 'UNSTABLE'}** (radius {radius:.4f}). "
        )
        return f"{small}{'; '.join(told)}. {run.foreseen}"
