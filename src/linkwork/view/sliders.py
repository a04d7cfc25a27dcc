"""Sliders: one a joint coordinate and one a command, within their limits."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.actuation.coordinates import commands_of
from linkwork.actuation.layout import layout_of
from linkwork.configurations import places
from linkwork.errors import LinkworkError
from linkwork.model.elements import LinearActuator
from linkwork.model.rotation import from_quaternion, from_rpy, to_rpy
from linkwork.robot import Robot
from linkwork.view.postures import quaternions

SPAN = {"m": 1.0, "rad": np.pi}
"""Range of a slider where nothing limits its coordinate, to both sides."""
DECIMALS = {"m": 5, "rad": 4, "deg": 2}
"""Of the numbers beside sliders: about a hundredth of a millimetre."""


@dataclass(frozen=True)
class Coordinate:
    """One number of a configuration that a person can set: `read(q)`,
    `write(q, value)` changes q in place."""

    joint: str
    label: str
    unit: str
    low: float
    high: float
    read: Callable[[np.ndarray], float]
    write: Callable[[np.ndarray, float], None]


def coordinates(robot: Robot) -> list[Coordinate]:
    """Every coordinate; ball and floating joints by roll,
    pitch and yaw instead of their quaternion."""
    sliders: list[Coordinate] = []
    limits = robot.limits
    for joint, at, at_v in places(robot.subject):
        sliding = joint.kind.slides
        several = at_v.stop - at_v.start > 1
        turning = "xyz" if joint.kind.is_free else ""
        plain = range(3) if turning else range(0 if joint.kind.is_ball else at.stop - at.start)
        for k in plain:
            unit = "m" if k in sliding else "rad"
            low, high = float(limits.lower[at.start + k]), float(limits.upper[at.start + k])
            label = f"{joint.name}[{k}]" if several else joint.name
            low = low if np.isfinite(low) else min(-SPAN[unit], high - SPAN[unit])
            high = high if np.isfinite(high) else max(SPAN[unit], low + SPAN[unit])
            sliders.append(Coordinate(joint.name, label, unit, low, high, *_entry(at.start + k)))
        if joint.kind.quaternion:
            for k, name in enumerate(("roll", "pitch", "yaw")):
                span = np.pi / 2 if name == "pitch" else np.pi
                label, entry = f"{joint.name} {name}", _angle(at.stop - 4, k)
                sliders.append(Coordinate(joint.name, label, "rad", -span, span, *entry))
    return sliders


class JointSliders:
    """A slider a coordinate in the current folder;
    `changed(coordinate, value)` is called when a person moves one."""

    def __init__(
        self,
        gui: Any,
        robot: Robot,
        changed: Callable[[Coordinate, float], None],
        degrees: bool = False,
    ) -> None:
        self.coordinates = coordinates(robot)
        self.handles: dict[str, Any] = {}
        self._factors: dict[str, float] = {}
        for coordinate in self.coordinates:
            work = functools.partial(changed, coordinate)
            slider, factor = add_slider(
                gui,
                coordinate.label,
                coordinate.unit,
                coordinate.low,
                coordinate.high,
                work,
                degrees,
            )
            self.handles[coordinate.label], self._factors[coordinate.label] = slider, factor

    def show(self, q: np.ndarray) -> None:
        """Put the sliders where q is."""
        for coordinate in self.coordinates:
            put(
                self.handles[coordinate.label], self._factors[coordinate.label] * coordinate.read(q)
            )

    def remove(self) -> None:
        """Take them away."""
        for slider in self.handles.values():
            slider.remove()


class ActuatorSliders:
    """A slider a command that is not simply a joint's own coordinate;
    `changed(index, value)` when one is moved."""

    def __init__(
        self,
        gui: Any,
        robot: Robot,
        q: np.ndarray,
        changed: Callable[[int, float], None],
        degrees: bool = False,
    ) -> None:
        self.robot = robot
        self.handles: dict[str, Any] = {}
        self.entries: dict[str, int] = {}
        self._factors: dict[str, float] = {}
        layout = layout_of(robot.subject)
        for name, entry in zip(layout.names, layout.entries, strict=True):
            if entry is None or (name in robot.joints and not layout.implicit):
                continue
            low, high, unit = _command_limits(
                robot, name, float(commands_of(robot.subject, q)[0][entry])
            )
            slider, factor = add_slider(
                gui, name, unit, low, high, functools.partial(changed, entry), degrees
            )
            self.handles[name], self.entries[name], self._factors[name] = slider, entry, factor

    def show(self, q: np.ndarray) -> None:
        """Put the sliders where the commands of q are."""
        if not self.handles:
            return
        c, _, _ = commands_of(self.robot.subject, q)
        for name, slider in self.handles.items():
            put(slider, self._factors[name] * float(c[self.entries[name]]))

    def remove(self) -> None:
        """Take them away."""
        for slider in self.handles.values():
            slider.remove()


def add_slider(
    gui: Any,
    label: str,
    unit: str,
    low: float,
    high: float,
    work: Callable[[float], None],
    degrees: bool,
) -> tuple[Any, float]:
    """(a slider from low to high, what its numbers are multiplied by):
    degrees where angles are wanted in them.

    work(value) is called in the coordinate's own unit. Labels of the range have three digits, the
    number box as many decimals as a person reads.
    """
    if degrees and unit == "rad":
        unit, factor = "deg", 180.0 / np.pi
    else:
        factor = 1.0
    low, high = factor * low, factor * high
    step = nice_step(high - low)
    high = max(high, low + step)
    marks = tuple((end, f"{end:.3g}") for end in (low, high))
    first = float(np.clip(0.0, low, high))
    slider = gui.add_slider(f"{label} [{unit}]", low, high, step, first, marks=marks)
    slider.precision = DECIMALS[unit]
    slider.on_update(by_person(lambda value: work(value / factor)))
    return slider, factor


def nice_step(span: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that divides a range into a thousand steps or
    more."""
    wanted = max(span / 1000.0, 1e-9)
    power = 10.0 ** np.floor(np.log10(wanted) + 1e-9)
    return float(max(m for m in (power, 2 * power, 5 * power) if m <= wanted * (1 + 1e-9)))


def has_own_commands(robot: Robot) -> bool:
    """Whether some command is not simply a joint's coordinate."""
    layout = layout_of(robot.subject)
    return bool(layout.implicit) or any(
        name not in robot.joints and "[" not in name for name in layout.names
    )


def _command_limits(robot: Robot, name: str, now: float) -> tuple[float, float, str]:
    """(lowest, highest, unit) of a command: a strut's stroke, a joint's range,
    or what that makes of it."""
    for element in robot.model.elements:
        if isinstance(element, LinearActuator) and element.name == name:
            low, high = float(element.lower), float(element.upper)
            return (
                (low if low > 0.0 else 0.8 * now),
                (high if np.isfinite(high) else 1.2 * now),
                "m",
            )
    layout = layout_of(robot.subject)
    joint = next((d.drive.joints[0] for d in layout.driven if name in d.drive.names), name)
    if joint not in robot.joints:
        return now - np.pi, now + np.pi, "rad"
    at = robot.index(joint).start
    unit = "m" if robot.model.joint(joint).kind.is_slide else "rad"
    ends = np.array([robot.limits.lower[at], robot.limits.upper[at]])
    if joint != name and np.isfinite(ends).all():
        try:
            entry = layout.entries[layout.names.index(name)]
            q = np.repeat(robot.neutral()[None], 2, axis=0)
            q[:, at] = ends
            ends = np.sort(commands_of(robot.subject, q)[0][:, entry])
        except LinkworkError:
            ends = np.array([-np.inf, np.inf])
    low = float(ends[0]) if np.isfinite(ends[0]) else now - SPAN[unit]
    high = float(ends[1]) if np.isfinite(ends[1]) else now + SPAN[unit]
    return low, max(high, low + 1e-6), unit


_held = threading.local()
"""slider, taken: what this thread is moving for a person, and the value it took from there."""


def by_person(work: Callable[[float], None]) -> Callable[[Any], None]:
    """Only what comes from a browser, kept within the limits:
    sliders that follow the robot must not drive it."""

    def called(event: Any) -> None:
        slider = event.target
        taken = slider.value
        if event.client is None or not np.isfinite(taken):
            return
        _held.slider, _held.taken = slider, taken
        try:
            work(float(np.clip(taken, slider.min, slider.max)))
        finally:
            _held.slider = None

    return called


def put(slider: Any, value: float) -> None:
    """Let a slider follow, except while a person drags it on: what came meanwhile would be lost,
    and the thumb jump."""
    value = float(np.clip(value, slider.min, slider.max))
    held = getattr(_held, "slider", None) is slider
    if held:
        rounding = 1e-6 * (slider.max - slider.min)
        if slider.value != _held.taken or abs(slider.value - value) < rounding:
            return
    slider.value = value


def _entry(k: int) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray, float], None]]:
    def write(q: np.ndarray, value: float) -> None:
        q[k] = value

    return lambda q: float(q[k]), write


def _angle(
    at: int, k: int
) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray, float], None]]:
    """Roll, pitch or yaw of the quaternion (x, y, z, w) that stands at q[at : at + 4]."""

    def angles(q: np.ndarray) -> list[float]:
        return list(to_rpy(from_quaternion([float(x) for x in q[at : at + 4]])))

    def write(q: np.ndarray, value: float) -> None:
        rpy = angles(q)
        rpy[k] = value
        q[at : at + 4] = np.roll(quaternions(np.array(from_rpy(rpy), dtype=float)), -1)

    return lambda q: angles(q)[k], write
