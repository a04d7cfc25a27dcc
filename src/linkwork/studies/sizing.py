"""Sizing: a motor behind a gear over a cycle, at every instant and in the long run.

    w_m = n w                                                   the motor turns n times as fast as its joint
    T_m = (J_m + J_g) n a + (T / n) eta^(-sign(T w))            rotor, and the load through a gear that loses 1 - eta

A motor serves a duty if its torque-speed curve is above T_m at every instant, its thermal limit
above T_m in the long run, and the load's inertia seen through the gear, J / n^2, is no more than a
few times its own.
Source: [Roos2006], choosing motor and gearhead together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.studies.lines import Actuator

INERTIA_RATIO = 10.0
"""Largest inertia of the load, seen by the motor, in rotor inertias,
that a usual servo loop holds well."""


@short_repr
@dataclass(frozen=True, eq=False)
class Cycle(Tabular, rows="lasting"):
    """What an actuator does over time, at its output: every array (n,), one row an instant.

    effort       of the load alone, without rotors [N m, N]; speed [rad/s, m/s]; acceleration
                 [rad/s^2, m/s^2]
    lasting      how long each instant stands for [s]
    inertia      largest inertia of the load seen by the actuator [kg m^2, kg]
    """

    effort: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray
    lasting: np.ndarray
    inertia: float = 0.0


@short_repr
@dataclass(frozen=True)
class Option(Tabular):
    """A line of a catalogue with one of its gear ratios,
    and how much of its limits a duty uses (1: all of it).

    torque, thermal, speed, power   largest share of the torque-speed curve, of the thermal limit
                                    (margins included), of
                      the largest speed, of the power; `stroke` of its way (0: endless)
    inertia_ratio     inertia of the load seen by the motor, in rotor inertias
                      (0: no rotor is described)
    lacking           what it cannot do, in words; "" where it fits
    """

    actuator: Actuator
    ratio: float
    torque: float
    thermal: float
    speed: float
    power: float
    stroke: float
    inertia_ratio: float
    lacking: str = ""

    @property
    def name(self) -> str:
        """Its line, and its gear where it has one: "servo 1.3 x 100"."""
        return (
            self.actuator.name
            if not self.actuator.gear_ratios
            else f"{self.actuator.name} x {self.ratio:g}"
        )

    @property
    def fits(self) -> bool:
        return not self.lacking

    def _table(self) -> Mapping[str, Any]:
        return option_table((self,))


def motor_side(line: Actuator, ratio: float, cycle: Cycle) -> tuple[np.ndarray, np.ndarray]:
    """(speed, torque) (n,) of the motor's shaft over a cycle [rad/s, N m];
    of a line without a gear: of its output."""
    driving = np.sign(cycle.effort * cycle.speed)
    through = cycle.effort / ratio * line.gear_efficiency ** (-driving)
    return ratio * cycle.speed, through + line.inertia * ratio * cycle.acceleration


def thermal_torque(torque: np.ndarray, lasting: np.ndarray, time_constant: float) -> float:
    """The torque that heats as much, for ever, as a repeated cycle does when it is hottest.

        theta' = (T^2 - theta) / time_constant,     theta(0) = theta(end)

    Losses of a winding go with T^2, and its temperature follows them with one time constant. Where
    that is long beside the cycle (or infinite) this is the rms torque; where it is short, the
    largest one.
    """
    squares, total = torque**2, float(lasting.sum())
    if not total > 0.0:
        return float(np.sqrt(squares.max(initial=0.0)))
    if not np.isfinite(time_constant):
        return float(np.sqrt(squares @ lasting / total))
    stay = np.exp(-lasting / time_constant)
    theta, heated = 0.0, np.empty(len(torque))
    # one cycle from cold; linear, so that the warm one is a shift of it
    for k in range(len(torque)):
        theta = squares[k] + (theta - squares[k]) * stay[k]
        heated[k] = theta
    start = theta / -np.expm1(-total / time_constant)
    return float(
        np.sqrt((heated + start * np.exp(-np.cumsum(lasting) / time_constant)).max(initial=start))
    )


def option(
    line: Actuator,
    ratio: float,
    kind: str,
    cycle: Cycle,
    travel: float,
    margin: float,
    inertia_ratio: float,
) -> Option:
    """One line with one gear against one cycle."""
    speeds, torques = motor_side(line, ratio, cycle)
    speed, allowed = float(np.abs(speeds).max()), line.allowed(np.abs(speeds))
    needed = margin * np.abs(torques)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(needed > 0.0, needed / allowed, 0.0)
    held = margin * thermal_torque(torques, cycle.lasting, line.thermal_time)
    power = margin * float(np.abs(torques * speeds).max())
    matched = cycle.inertia / ratio**2 / line.inertia if line.inertia > 0.0 else 0.0
    worst = int(np.argmax(shares))
    needs: dict[str, tuple[float, float]] = {
        "peak effort": (line.peak, float(needed.max())),
        "continuous effort": (line.continuous, held),
        "speed": (line.speed, speed),
        "power": (line.power, power),
    }
    if kind == "linear":
        needs["stroke"] = (line.stroke, travel)
    short = [
        f"{what} {has:.4g} < {wanted:.4g}" for what, (has, wanted) in needs.items() if has < wanted
    ]
    if not short and shares[worst] > 1.0:
        short.append(
            f"torque {allowed[worst]:.4g} < {needed[worst]:.4g} at {abs(speeds[worst]):.4g} rad/s"
        )
    if matched > inertia_ratio:
        short.append(f"inertia ratio {matched:.4g} > {inertia_ratio:g}")
    return Option(
        actuator=line,
        ratio=ratio,
        torque=float(shares[worst]),
        thermal=held / line.continuous,
        speed=speed / line.speed,
        power=power / line.power,
        stroke=travel / line.stroke if kind == "linear" else 0.0,
        inertia_ratio=matched,
        lacking=f"is {line.kind}" if line.kind != kind else ", ".join(short),
    )


def option_table(options: tuple[Option, ...]) -> Mapping[str, Any]:
    """The columns of a table with one row an option."""
    numbers = {
        label: np.array([getattr(each, label) for each in options])
        for label in ("ratio", "torque", "thermal", "speed", "power", "inertia_ratio")
    }
    verdicts = [each.lacking or "fits" for each in options]
    return {"actuator": [each.actuator.name for each in options], **numbers, "verdict": verdicts}
