"""Lines of a catalogue: actuators and motors with their limits, read from a CSV file."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.arguments import finite_doubles
from linkwork.errors import InvalidFile, InvalidInput, did_you_mean
from linkwork.formats.files import read_bounded

FIELDS = ("name", "kind", "peak", "continuous", "speed", "power", "stroke", "source")
MOTOR_FIELDS = (
    "rotor_inertia",
    "gear_ratios",
    "gear_efficiency",
    "gear_inertia",
    "curve",
    "thermal_time",
)
"""Columns that a catalogue may have beside; an empty cell is what the line has without the
column."""
KINDS = ("linear", "rotary")


@dataclass(frozen=True)
class Actuator:
    """A line of a catalogue: kind "linear" (forces [N], speed [m/s], stroke [m]) or "rotary"
    (torques [N m], [rad/s]).

    peak, continuous: largest effort for moments and for ever; power: mechanical [W]; stroke: inf
    for endless turning

    With gear_ratios the line is a motor, and those numbers are of its shaft (always N m, rad/s); it
    is offered with each of the ratios: turns of the motor a turn of the joint, or radians a metre
    (2 pi / lead of a screw).

    rotor_inertia     of the motor [kg m^2] (of a line without gear: seen at the output [kg m^2,
                      kg])
    gear_efficiency   share of the power that the gear lets through, either way; gear_inertia: at
                      the motor [kg m^2]
    curve             ((speed, effort), ...): the largest effort at each speed, straight between;
                      left out: `peak` up to `speed`
    thermal_time      time constant of its temperature [s]; inf: the mean of losses over the whole
                      cycle decides
    """

    name: str
    kind: str
    peak: float
    continuous: float
    speed: float
    power: float
    stroke: float = math.inf
    source: str = ""
    rotor_inertia: float = 0.0
    gear_ratios: tuple[float, ...] = ()
    gear_efficiency: float = 1.0
    gear_inertia: float = 0.0
    curve: tuple[tuple[float, float], ...] = ()
    thermal_time: float = math.inf

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise self._refusal(f"kind is {self.kind!r}, expected {' or '.join(KINDS)}")
        for label in ("peak", "continuous", "speed", "power", "stroke", "thermal_time"):
            value = getattr(self, label)
            if not value > 0.0:
                raise self._refusal(f"{label} is {value}, expected a positive number")
        for label in ("rotor_inertia", "gear_inertia"):
            value = getattr(self, label)
            if not (value >= 0.0 and math.isfinite(value)):
                raise self._refusal(f"{label} is {value}, expected a number that is not negative")
        if not 0.0 < self.gear_efficiency <= 1.0:
            raise self._refusal(
                f"gear_efficiency is {self.gear_efficiency}, expected a number above 0, at most 1"
            )
        if not all(ratio > 0.0 and math.isfinite(ratio) for ratio in self.gear_ratios):
            raise self._refusal(f"gear_ratios are {self.gear_ratios}, expected positive numbers")
        speeds = [speed for speed, _ in self.curve]
        if speeds != sorted(set(speeds)) or not all(s >= 0.0 and e >= 0.0 for s, e in self.curve):
            raise self._refusal(
                f"curve is {self.curve}, expected pairs (speed, effort) with growing speeds"
            )

    @property
    def inertia(self) -> float:
        """Of everything that turns with the motor."""
        return self.rotor_inertia + self.gear_inertia

    @property
    def ratios(self) -> tuple[float, ...]:
        """The gears it is offered with; (1,) where it is a whole actuator."""
        return self.gear_ratios or (1.0,)

    def allowed(self, speed: np.ndarray) -> np.ndarray:
        """(n,): the largest effort at speeds (n,) that are not negative;
        zero beyond the largest speed."""
        speed = finite_doubles(speed, "allowed: speed")
        if not self.curve:
            return np.where(speed <= self.speed, self.peak, 0.0)
        speeds, efforts = np.array(self.curve, dtype=float).T
        return np.where(
            speed <= self.speed, np.minimum(np.interp(speed, speeds, efforts), self.peak), 0.0
        )

    def _refusal(self, sentence: str) -> InvalidInput:
        return InvalidInput(f'actuator "{self.name}": {sentence}')


def catalogue(path: str | Path | None = None) -> tuple[Actuator, ...]:
    """The lines of a CSV file with columns name, kind, peak, continuous, speed, power, stroke,
    source.

    Motors may have more columns, which may stay empty: rotor_inertia, gear_ratios ("50;80;100"),
    gear_efficiency, gear_inertia, curve ("0:3.8;400:3.8;628:1.3": speed and effort), thermal_time.
    See `Actuator`. Without a path: the small one that comes along, of generic sizes in steps, which
    are no maker's products.
    """
    where = "catalogue.csv" if path is None else str(path)
    content = (
        files("linkwork.studies").joinpath("catalogue.csv").read_bytes()
        if path is None
        else read_bounded(path)
    )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{where}: is not text in UTF-8: {error}") from None
    reader = csv.DictReader(line for line in text.splitlines() if line and not line.startswith("#"))
    columns = tuple(reader.fieldnames or ())
    if columns[: len(FIELDS)] != FIELDS:
        raise InvalidFile(f"{where}: columns are {reader.fieldnames}, expected {', '.join(FIELDS)}")
    for name in columns[len(FIELDS) :]:
        if name not in MOTOR_FIELDS:
            near = did_you_mean(name, MOTOR_FIELDS)
            raise InvalidFile(
                f'{where}: unknown column "{name}"{near}; beside {", ".join(FIELDS)} there may be '
                f"{', '.join(MOTOR_FIELDS)}"
            )
    lines = []
    for count, row in enumerate(reader, start=2):
        try:
            numbers: dict[str, Any] = {label: float(row[label]) for label in FIELDS[2:7]}
            lines.append(
                Actuator(row["name"], row["kind"], **numbers, source=row["source"], **_motor(row))
            )
        except (TypeError, ValueError) as error:
            raise InvalidFile(f"{where}: row {count}: {error}") from None
    return tuple(lines)


def _motor(row: dict[str, str]) -> dict[str, Any]:
    """The cells of a motor that are not empty."""
    texts = {label: (row.get(label) or "").strip() for label in MOTOR_FIELDS}
    read: dict[str, Any] = dict.fromkeys(MOTOR_FIELDS, float) | {
        "gear_ratios": _numbers,
        "curve": _pairs,
    }
    return {label: read[label](text) for label, text in texts.items() if text}


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in text.split(";"))


def _pairs(text: str) -> tuple[tuple[float, float], ...]:
    pairs = [each.split(":") for each in text.split(";")]
    if not all(len(pair) == 2 for pair in pairs):
        raise ValueError(
            f"curve {text!r}, expected speed:effort pairs such as 0:3.8;400:3.8;628:1.3"
        )
    return tuple((float(speed), float(effort)) for speed, effort in pairs)
