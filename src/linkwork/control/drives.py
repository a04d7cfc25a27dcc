"""Drives: inverters and cascaded loops of current, speed and position,
as data with their gains and periods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi
import numpy as np

from linkwork.arguments import choice
from linkwork.control.checks import positive, whole
from linkwork.errors import InvalidInput

LIMITS = ("circle", "hexagon")


@dataclass(frozen=True)
class Inverter:
    """A three-phase bridge, averaged over its switching period.

    voltage [V]   of the link;  limit: "circle" |u| <= U/sqrt(3), or the true "hexagon"
                  (corners 2 U/3)
    dead_time [s] between switches, and switching [Hz]: each phase loses 4/3 of dead_time switching
    U along its current
    """

    voltage: float
    limit: str = "circle"
    dead_time: float = 0.0
    switching: float = 0.0

    def __post_init__(self) -> None:
        positive(self.voltage, "Inverter: voltage")
        choice(self.limit, LIMITS, "Inverter: limit")
        lost = positive(self.dead_time, "Inverter: dead_time", zero=True) * positive(
            self.switching, "Inverter: switching", zero=True
        )
        if lost >= 0.2:
            raise InvalidInput(
                f"Inverter: dead_time times switching is {lost:g}, expected well below 1"
            )

    @property
    def lost(self) -> float:
        """Voltage [V] (space vector) that dead time takes along the current."""
        return 4.0 / 3.0 * self.dead_time * self.switching * self.voltage

    def held(self, u_a: Any, u_b: Any) -> tuple[Any, Any]:
        """Stator voltages (alpha, beta) within reach, over symbols; the direction is kept."""
        size = casadi.sqrt(u_a * u_a + u_b * u_b + 1e-300)
        if self.limit == "circle":
            reach = self.voltage / np.sqrt(3.0)
        else:  # distance of the hexagon's edge in this direction: edges at 30 deg + k 60 deg from the first corner
            edges = [
                abs_(u_a * np.cos(a) + u_b * np.sin(a)) for a in np.deg2rad([30.0, 90.0, 150.0])
            ]
            widest = casadi.fmax(casadi.fmax(edges[0], edges[1]), edges[2])
            reach = self.voltage / np.sqrt(3.0) * size / casadi.fmax(widest, 1e-12)
        factor = casadi.fmin(1.0, reach / size)
        return factor * u_a, factor * u_b


def abs_(x: Any) -> Any:
    return casadi.fabs(x)


@dataclass(frozen=True)
class CurrentLoop:
    """Field-oriented PI of two degrees of freedom with the speed inside its integrator (decoupled).

    bandwidth [rad/s] alpha: u = alpha L (i* - i) + w - alpha L i,  w' = (alpha + j w_e)(u_realised
    - v): both axes are first-order lags of 1/alpha at any speed. period [s]; delay: whole periods
      from sampling to the bridge.
    limit [A peak]: of the current that the outer loops may ask for
    Source: [Briz2000] eq. 14-16 (complex vectors).
    """

    bandwidth: float = 2 * np.pi * 200.0
    period: float = 250e-6
    delay: int = 1
    limit: float = np.inf

    def __post_init__(self) -> None:
        positive(self.bandwidth, "CurrentLoop: bandwidth")
        positive(self.period, "CurrentLoop: period")
        whole(self.delay, "CurrentLoop: delay", least=0)
        if self.delay > 1:
            raise InvalidInput(f"CurrentLoop: delay is {self.delay} periods, expected 0 or 1")
        if self.bandwidth * self.period > 1.0:
            raise InvalidInput(
                f"CurrentLoop: bandwidth {self.bandwidth:g} rad/s is too fast for {self.period:g} "
                "s: keep it below "
                f"{1.0 / self.period:g} rad/s"
            )
        if not self.limit > 0:
            raise InvalidInput(f"CurrentLoop: limit is {self.limit!r} A, expected a number above 0")


@dataclass(frozen=True)
class VelocityLoop:
    """PI of two degrees of freedom on the speed: torque = alpha J (w* - w) + v - alpha J w,
    v' = alpha (torque - v).

    bandwidth [rad/s]; limit [N m]; inertia [kg m^2] it is designed for (left out: the motor's and
    the load's);
    every: periods of the current loop between its samples
    """

    bandwidth: float = 2 * np.pi * 4.0
    limit: float = np.inf
    inertia: float | None = None
    every: int = 1

    def __post_init__(self) -> None:
        positive(self.bandwidth, "VelocityLoop: bandwidth")
        whole(self.every, "VelocityLoop: every")
        if not self.limit > 0:
            raise InvalidInput(
                f"VelocityLoop: limit is {self.limit!r} N m, expected a number above 0"
            )


@dataclass(frozen=True)
class PositionLoop:
    """speed* = feed_forward target' + gain (target - angle); gain [1/s]; limit [rad/s]; every:
    as for VelocityLoop."""

    gain: float = 20.0
    feed_forward: float = 1.0
    limit: float = np.inf
    every: int = 1

    def __post_init__(self) -> None:
        positive(self.gain, "PositionLoop: gain")
        positive(self.feed_forward, "PositionLoop: feed_forward", zero=True)
        whole(self.every, "PositionLoop: every")


@dataclass(frozen=True)
class Cascade:
    """Loops of a drive, the inner one fastest. Without position the reference is a speed."""

    current: CurrentLoop = field(default_factory=CurrentLoop)
    velocity: VelocityLoop = field(default_factory=VelocityLoop)
    position: PositionLoop | None = None

    def __post_init__(self) -> None:
        inner = self.current.bandwidth
        if self.velocity.bandwidth > 0.5 * inner:
            raise InvalidInput(
                f"Cascade: the speed loop ({self.velocity.bandwidth:g} rad/s) must be slower than "
                "half the current "
                f"loop ({inner:g} rad/s)"
            )


@dataclass(frozen=True)
class Thermal:
    """Winding temperature: capacity T' = losses - (T - ambient) / resistance.

    resistance [K/W] to the ambient, capacity [J/K], ambient and highest [deg C]: their products are
    the time of I^2 t
    """

    resistance: float
    capacity: float
    ambient: float = 25.0
    highest: float = 155.0

    def __post_init__(self) -> None:
        positive(self.resistance, "Thermal: resistance")
        positive(self.capacity, "Thermal: capacity")
        if not self.highest > self.ambient:
            raise InvalidInput(
                f"Thermal: highest {self.highest:g} must be above ambient {self.ambient:g} deg C"
            )

    @property
    def time(self) -> float:
        """Time constant [s]."""
        return self.resistance * self.capacity

    def overload_time(self, losses: float) -> float:
        """How long [s] losses [W] may last from ambient until the highest temperature; inf:
        for ever."""
        rise = positive(losses, "Thermal: losses", zero=True) * self.resistance
        allowed = self.highest - self.ambient
        return np.inf if rise <= allowed else float(-self.time * np.log1p(-allowed / rise))
