"""Grip sequence: close, turn and open in an order that holds the object, with the time of a
cycle."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from linkwork.arguments import number
from linkwork.control.checks import positive
from linkwork.control.rotary_gripper import RotaryGripper, trapezoid_time
from linkwork.errors import InvalidInput, NotPossible

TEXTS = ("name", "source")


@dataclass(frozen=True)
class GripSequence:
    """What a gripper is told, act after act: each begins when the one before is done,
    or at a time `at` [s] after it.

    gripper       RotaryGripper: forces beyond its peak current are refused
    stroke        [s] to open or to close
    velocity, acceleration   [rad/s, rad/s^2] of turns
    A turn while the fingers move, and a force while the gripper turns, are refused: the train
    couples both motors, so that the object would be dropped or crushed. `end` [s], `per_minute` and
    `acts` say what the cycle takes.
    """

    gripper: RotaryGripper
    stroke: float
    velocity: float = 5.9
    acceleration: float = 73.3
    acts: tuple[tuple[str, float, float], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.gripper, RotaryGripper):
            raise InvalidInput(
                f"GripSequence: gripper is {type(self.gripper).__name__}, expected RotaryGripper"
            )
        for name in ("stroke", "velocity", "acceleration"):
            positive(getattr(self, name), f"GripSequence: {name}")

    @property
    def end(self) -> float:
        """When the last act is done [s]."""
        return self.acts[-1][2] if self.acts else 0.0

    @property
    def per_minute(self) -> float:
        if not self.acts:
            raise NotPossible("GripSequence: there is no act yet; grip, turn or open first")
        return 60.0 / self.end

    def grip(self, force: float, at: float | None = None) -> GripSequence:
        """Close, or change the force, to a set-point [N];
        a change of force alone takes no time here."""
        wanted = positive(force, "GripSequence: force")
        self.gripper.current(wanted)  # beyond the peak current it is refused here
        holds = any(name.startswith("grip") for name, *_ in self._since_opening)
        return self._then(f"grip at {wanted:g} N", 0.0 if holds else self.stroke, at)

    def turn(
        self, angle: float, at: float | None = None, lasting: float | None = None
    ) -> GripSequence:
        """Turn by an angle [rad] within the limits; lasting [s]: as measured,
        a lift beside it included."""
        way = abs(number(angle, "GripSequence: angle"))
        needed = trapezoid_time(way, self.velocity, self.acceleration) if way else 0.0
        time = needed if lasting is None else positive(lasting, "GripSequence: lasting")
        return self._then(f"turn by {np.rad2deg(way):.4g} deg", time, at)

    def open(self, at: float | None = None) -> GripSequence:
        return self._then("open", self.stroke, at)

    @property
    def _since_opening(self) -> list[tuple[str, float, float]]:
        last = max((k for k, act in enumerate(self.acts) if act[0] == "open"), default=-1)
        return list(self.acts[last + 1 :])

    def _then(self, name: str, lasts: float, at: float | None) -> GripSequence:
        begins = self.end if at is None else number(at, "GripSequence: at")
        for other, start, ends in self.acts[-1:]:
            if begins < ends - 1e-12:
                raise NotPossible(
                    f"GripSequence: {name} at {begins:g} s: {other} from {start:g} s lasts until "
                    f"{ends:g} s"
                )
        if not begins >= 0:
            raise InvalidInput(f"GripSequence: at is {begins:g} s, expected a time of at least 0")
        return replace(self, acts=(*self.acts, (name, begins, begins + lasts)))


def gripper_table() -> list[dict[str, Any]]:
    """Grippers that paper 09 compares: names, sources, and numbers (None where none is
    published)."""
    text = (files("linkwork") / "control" / "grippers.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return [
        {key: x if key in TEXTS else (float(x) if x else None) for key, x in row.items()}
        for row in rows
    ]
