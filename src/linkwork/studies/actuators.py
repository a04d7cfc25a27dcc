"""Actuator selection: what each actuator must do over motions, against a catalogue."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.actuation.layout import layout_of
from linkwork.actuation.motions import SampledMotion
from linkwork.arguments import number
from linkwork.errors import InvalidFile, InvalidInput
from linkwork.formats.files import read_bounded
from linkwork.formats.tabular import Tabular
from linkwork.loads.analyse import Analysis, analyse
from linkwork.model.elements import LinearActuator
from linkwork.subject import RobotLike, Subject, subject_of

FIELDS = ("name", "kind", "peak", "continuous", "speed", "power", "stroke", "source")
KINDS = ("linear", "rotary")
Some = str | SampledMotion | Analysis | Mapping[str, Any] | Iterable[Any]
"""One motion (a name, a motion, arrays, an analysis) or several."""


@dataclass(frozen=True)
class Actuator:
    """A line of a catalogue: kind "linear" (forces [N], speed [m/s], stroke [m]) or "rotary" (torques [N m], [rad/s]).

    peak, continuous: largest effort for moments and for ever; power: mechanical [W]; stroke: inf for endless turning
    """

    name: str
    kind: str
    peak: float
    continuous: float
    speed: float
    power: float
    stroke: float = math.inf
    source: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidInput(f'actuator "{self.name}": kind is {self.kind!r}, expected {" or ".join(KINDS)}')
        for label in ("peak", "continuous", "speed", "power", "stroke"):
            value = getattr(self, label)
            if not value > 0.0:
                raise InvalidInput(f'actuator "{self.name}": {label} is {value}, expected a positive number')


@dataclass(frozen=True)
class Duty:
    """What one actuator must do over all motions: efforts [N, N m], speed [m/s, rad/s], power [W], travel [m, rad].

    rms and mean_power are over time: a motion twice as long counts twice, however finely either is sampled
    """

    name: str
    kind: str
    peak: float
    rms: float
    speed: float
    power: float
    mean_power: float
    lowest: float
    highest: float

    @property
    def travel(self) -> float:
        return self.highest - self.lowest


@dataclass(frozen=True, repr=False)
class Selection(Tabular):
    """A duty with the catalogue's lines that can do it, smallest first; `why_not` says what each other line lacks."""

    duty: Duty
    fitting: tuple[Actuator, ...]
    why_not: dict[str, str]

    def __repr__(self) -> str:
        chosen = self.choice.name if self.choice else "none"
        return f'<Selection for "{self.duty.name}": {chosen}; {len(self.fitting)} fit, {len(self.why_not)} do not>'

    def _table(self) -> dict[str, Any]:
        lines = [(line.name, "fits") for line in self.fitting] + list(self.why_not.items())
        return {"actuator": [name for name, _ in lines], "verdict": [verdict for _, verdict in lines]}

    @property
    def choice(self) -> Actuator | None:
        """The smallest that can do it."""
        return self.fitting[0] if self.fitting else None


def catalogue(path: str | Path | None = None) -> tuple[Actuator, ...]:
    """The lines of a CSV file with columns name, kind, peak, continuous, speed, power, stroke, source.

    Without a path: the small one that comes along, of generic sizes in steps, which are no maker's products.
    """
    where = "catalogue.csv" if path is None else str(path)
    content = files("linkwork.studies").joinpath("catalogue.csv").read_bytes() if path is None else read_bounded(path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{where}: is not text in UTF-8: {error}") from None
    reader = csv.DictReader(line for line in text.splitlines() if line and not line.startswith("#"))
    if tuple(reader.fieldnames or ()) != FIELDS:
        raise InvalidFile(f"{where}: columns are {reader.fieldnames}, expected {', '.join(FIELDS)}")
    found = []
    for count, row in enumerate(reader, start=2):
        try:
            numbers = {label: float(row[label]) for label in FIELDS[2:7]}
        except (TypeError, ValueError) as error:
            raise InvalidFile(f"{where}: row {count}: {error}") from None
        found.append(Actuator(row["name"], row["kind"], **numbers, source=row["source"]))
    return tuple(found)


def duties(robot: RobotLike, motions: Some, steps: int = 1001, payload: Any = None) -> tuple[Duty, ...]:
    """What every motor and actuator must do over one motion or several: names, motions, arrays, or analyses."""
    subject = subject_of(robot, "duties")
    if isinstance(motions, (str, Mapping, Analysis, SampledMotion)):
        motions = [motions]
    if not isinstance(motions, Iterable):
        raise InvalidInput(f"duties: motions is {type(motions).__name__}, expected a motion or several")
    done = [m if isinstance(m, Analysis) else analyse(subject, m, steps=steps, payload=payload) for m in motions]
    if not sum(len(a) for a in done):
        raise InvalidInput("duties: no motion is given, or none has an instant")
    return tuple(_duty(subject, name, k, done) for k, name in enumerate(layout_of(subject).names))


def select(
    robot: RobotLike,
    motions: Some,
    lines: Iterable[Actuator] | None = None,
    margin: float = 1.5,
    steps: int = 1001,
    payload: Any = None,
) -> dict[str, Selection]:
    """For every actuator of the robot the catalogue's lines that can do its duty with a margin on effort and power.

    Continuous effort must cover margin * rms, peak effort margin * peak, power margin * peak power, speed the speed,
    and the stroke of a linear actuator its travel.
    """
    if not number(margin, "select: margin") > 0.0:
        raise InvalidInput(f"select: margin is {margin}, expected a positive number")
    offered = catalogue() if lines is None else tuple(lines) if isinstance(lines, Iterable) else (lines,)
    if not all(isinstance(line, Actuator) for line in offered):
        raise InvalidInput("select: lines holds something else than Actuator, expected lines of a catalogue")
    return {duty.name: _selected(duty, offered, margin) for duty in duties(robot, motions, steps, payload)}


def _duty(subject: Subject, name: str, k: int, done: list[Analysis]) -> Duty:
    effort = np.concatenate([a.loads.efforts[:, k] for a in done])
    speed = np.concatenate([a.cd[:, k] for a in done])
    entry = layout_of(subject).entries[k]
    travel = np.concatenate([a.c[:, entry] for a in done]) if entry is not None else np.zeros(1)
    power = effort * speed
    lasting = np.concatenate([_lasting(a.time) for a in done])
    if not lasting.any():  # single instants: poses, each of which counts the same
        lasting = np.ones(len(effort))
    return Duty(
        name=name,
        kind=_kind(subject, name),
        peak=float(np.abs(effort).max()),
        rms=float(np.sqrt(np.average(effort**2, weights=lasting))),
        speed=float(np.abs(speed).max()),
        power=float(np.abs(power).max()),
        mean_power=float(np.average(np.abs(power), weights=lasting)),
        lowest=float(travel.min()),
        highest=float(travel.max()),
    )


def _lasting(time: np.ndarray) -> np.ndarray:
    """How long each instant of a motion stands for [s]: half way to its neighbours, at the ends a whole step."""
    return np.abs(np.gradient(time)) if len(time) > 1 else np.zeros(len(time))


def _kind(subject: Subject, name: str) -> str:
    for element in subject.model.elements:
        if isinstance(element, LinearActuator) and element.name == name:
            return "linear"
    joints = {joint.name: joint for joint in subject.model.joints}
    return "linear" if name in joints and joints[name].kind.is_slide else "rotary"


def _selected(duty: Duty, offered: tuple[Actuator, ...], margin: float) -> Selection:
    fitting, lacking = [], {}
    for line in offered:
        needs = {
            "peak effort": (line.peak, margin * duty.peak),
            "continuous effort": (line.continuous, margin * duty.rms),
            "speed": (line.speed, duty.speed),
            "power": (line.power, margin * duty.power),
        }
        if duty.kind == "linear":
            needs["stroke"] = (line.stroke, duty.travel)
        short = [f"{what} {has:.4g} < {wanted:.4g}" for what, (has, wanted) in needs.items() if has < wanted]
        if line.kind != duty.kind:
            short = [f"is {line.kind}"]
        if short:
            lacking[line.name] = ", ".join(short)
        else:
            fitting.append(line)
    return Selection(duty, tuple(sorted(fitting, key=lambda line: (line.peak, line.power))), lacking)
