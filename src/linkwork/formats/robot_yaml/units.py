"""Units of a .robot.yaml: what a bare number means,
and numbers that carry their own unit ("350 g", "1.2 N/mm")."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from linkwork.errors import did_you_mean

Powers: TypeAlias = tuple[int, int, int]
"""Exponents of (metre, kilogram, second). Angles have none."""


@dataclass(frozen=True, slots=True)
class Unit:
    """SI value = number * times / by; kept as two numbers so that 145 mm is exactly the double
    0.145."""

    times: float
    by: float
    powers: Powers

    def to_si(self, x: float) -> float:
        return x * self.times / self.by

    def from_si(self, x: float) -> float:
        return x * self.by / self.times


_BASE: dict[str, Unit] = {
    "m": Unit(1.0, 1.0, (1, 0, 0)),
    "cm": Unit(1.0, 100.0, (1, 0, 0)),
    "mm": Unit(1.0, 1000.0, (1, 0, 0)),
    "um": Unit(1.0, 1e6, (1, 0, 0)),
    "in": Unit(254.0, 10000.0, (1, 0, 0)),
    "rad": Unit(1.0, 1.0, (0, 0, 0)),
    "deg": Unit(math.pi, 180.0, (0, 0, 0)),
    "rev": Unit(2.0 * math.pi, 1.0, (0, 0, 0)),
    "rpm": Unit(math.pi, 30.0, (0, 0, -1)),
    "kg": Unit(1.0, 1.0, (0, 1, 0)),
    "g": Unit(1.0, 1000.0, (0, 1, 0)),
    "s": Unit(1.0, 1.0, (0, 0, 1)),
    "ms": Unit(1.0, 1000.0, (0, 0, 1)),
    "min": Unit(60.0, 1.0, (0, 0, 1)),
    "N": Unit(1.0, 1.0, (1, 1, -2)),
    "kN": Unit(1000.0, 1.0, (1, 1, -2)),
    "1": Unit(1.0, 1.0, (0, 0, 0)),
}
_PART = re.compile(r"\s*([*/])?\s*([A-Za-z]+|1)\s*(?:\^\s*(-?[1-4]))?\s*")

# dimension -> exponents of metre, kilogram, second
POWERS: dict[str, Powers] = {
    "number": (0, 0, 0),
    "length": (1, 0, 0),
    "angle": (0, 0, 0),
    "mass": (0, 1, 0),
    "inertia": (2, 1, 0),
    "time": (0, 0, 1),
    "speed": (1, 0, -1),
    "angular speed": (0, 0, -1),
    "acceleration": (1, 0, -2),
    "angular acceleration": (0, 0, -2),
    "gravity": (1, 0, -2),
    "force": (1, 1, -2),
    "torque": (2, 1, -2),
    "stiffness": (0, 1, -2),
    "angular stiffness": (2, 1, -2),
    "damping": (0, 1, -1),
    "angular damping": (2, 1, -1),
}
SI_NAMES = {
    "number": "1",
    "length": "m",
    "angle": "rad",
    "mass": "kg",
    "inertia": "kg*m^2",
    "time": "s",
    "speed": "m/s",
    "angular speed": "rad/s",
    "acceleration": "m/s^2",
    "angular acceleration": "rad/s^2",
    "gravity": "m/s^2",
    "force": "N",
    "torque": "N*m",
    "stiffness": "N/m",
    "angular stiffness": "N*m/rad",
    "damping": "N*s/m",
    "angular damping": "N*m*s/rad",
}
LENGTHS, ANGLES, MASSES = ("m", "mm", "cm", "in"), ("rad", "deg"), ("kg", "g")


def parse_unit(text: str) -> Unit:
    """The unit of a text such as "mm", "kg*mm^2", "N*s/m"; ValueError with a sentence otherwise."""
    times, by, powers, at = 1.0, 1.0, [0, 0, 0], 0
    text = text.strip()
    while at < len(text) or at == 0:
        part = _PART.match(text, at)
        if part is None or (part[1] is None) != (at == 0) or len(text) > 40:
            raise ValueError(
                f'"{text}" is not a unit; expected units such as mm, deg, kg*mm^2 or N/m'
            )
        at = part.end()
        base = _BASE.get(part[2])
        if base is None:
            raise ValueError(f'unknown unit "{part[2]}"{did_you_mean(part[2], _BASE)}')
        power = int(part[3] or 1) * (-1 if part[1] == "/" else 1)
        up, down = (base.times, base.by) if power > 0 else (base.by, base.times)
        times, by = times * up ** abs(power), by * down ** abs(power)
        powers = [p + power * b for p, b in zip(powers, base.powers)]
    return Unit(times, by, (powers[0], powers[1], powers[2]))


@dataclass(frozen=True)
class Units:
    """What bare numbers of a file mean. Everything that is not a length, angle, mass,
    inertia or their rate is SI."""

    length: str = "m"
    angle: str = "rad"
    mass: str = "kg"
    inertia: str = ""
    table: Mapping[str, Unit] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {
            **SI_NAMES,
            "length": self.length,
            "angle": self.angle,
            "mass": self.mass,
            "inertia": self.inertia or f"{self.mass}*{self.length}^2",
            "speed": f"{self.length}/s",
            "angular speed": f"{self.angle}/s",
            "acceleration": f"{self.length}/s^2",
            "angular acceleration": f"{self.angle}/s^2",
        }
        object.__setattr__(self, "table", {d: parse_unit(name) for d, name in names.items()})

    def unit(self, dimension: str) -> Unit:
        """The unit of a bare number of this dimension."""
        return self.table[dimension]
