"""Actuator selection: what each actuator must do over motions, against a catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.actuation.layout import layout_of
from linkwork.actuation.motions import SampledMotion
from linkwork.arguments import number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.formats.tabular import Tabular
from linkwork.loads.analyse import Analysis, analyse
from linkwork.loads.named_motions import is_motion
from linkwork.model.elements import LinearActuator
from linkwork.results import short_repr
from linkwork.studies.cycles import cycles, lasting_of
from linkwork.studies.lines import Actuator, catalogue
from linkwork.studies.sizing import INERTIA_RATIO, Cycle, Option, option, option_table
from linkwork.subject import RobotLike, Subject, subject_of
from linkwork.trajectory.motion import Motion

Some = str | Path | SampledMotion | Motion | Analysis | Mapping[str, Any] | Iterable[Any]
"""One motion (a name, a motion, arrays, an analysis) or several."""


@short_repr
@dataclass(frozen=True)
class Duty(Tabular, rows="speed"):
    """What one actuator must do over all motions: efforts [N, N m], speed [m/s, rad/s], power [W],
    travel [m, rad].

    rms and mean_power are over time: a motion twice as long counts twice, however finely either is
    sampled
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
    """A duty with the catalogue's lines that can do it, smallest first;
    `why_not` says what each other line lacks.

    options   every line with every gear it is offered with: how much of its limits is used, and
              what it lacks
    cycle     the duty over time, at the actuator's output
    """

    duty: Duty
    fitting: tuple[Actuator, ...]
    why_not: dict[str, str]
    options: tuple[Option, ...] = ()
    cycle: Cycle | None = None

    def __repr__(self) -> str:
        chosen = self.best.name if self.best else "none"
        return (
            f'<Selection for "{self.duty.name}": {chosen}; {len(self.fitting)} fit, '
            f"{len(self.why_not)} do not>"
        )

    def _table(self) -> Mapping[str, Any]:
        return option_table(
            tuple(sorted(self.options, key=lambda each: (not each.fits, _size(each))))
        )

    @property
    def choice(self) -> Actuator | None:
        """The smallest that can do it."""
        return self.fitting[0] if self.fitting else None

    @property
    def best(self) -> Option | None:
        """The smallest that can do it, with the gear that uses least of what its torque and its
        heat allow."""
        of_choice = [each for each in self.options if each.fits and each.actuator == self.choice]
        return min(of_choice, key=lambda each: max(each.torque, each.thermal), default=None)

    def picture(self, option: Option | None = None, path: str | Path | None = None) -> bytes:
        """The duty in the torque-speed plane of a motor, `best` if none is given, as a PNG;
        also written to `path`."""
        from linkwork.studies.duty_figure import duty_picture

        chosen = self.best if option is None else option
        if chosen is None or self.cycle is None:
            raise NotPossible(
                f'picture: nothing of the catalogue can drive "{self.duty.name}"; give one of '
                ".options"
            )
        content = duty_picture(self.duty.name, self.duty.kind, chosen, self.cycle)
        if path is not None:
            write_atomically(path, content)
        return content


def duties(
    robot: RobotLike, motions: Some, steps: int = 1001, payload: Any = None
) -> tuple[Duty, ...]:
    """What every motor and actuator must do over one motion or several,
    all that `robot.analyse` takes, or analyses."""
    subject = subject_of(robot, "duties")
    done = _analyses(subject, motions, steps, payload)
    return tuple(_duty(subject, name, k, done) for k, name in enumerate(layout_of(subject).names))


def select(
    robot: RobotLike,
    motions: Some,
    lines: Iterable[Actuator] | None = None,
    margin: float = 1.5,
    steps: int = 1001,
    payload: Any = None,
    inertia_ratio: float = INERTIA_RATIO,
) -> dict[str, Selection]:
    """For every actuator of the robot the catalogue's lines that can do its duty with a margin on
    effort and power.

    At every instant the torque-speed curve must cover margin times the effort, in the long run the
    continuous effort margin times the rms (with a thermal time constant: the hottest instant),
    power margin times the peak power, speed the speed, and the stroke of a linear actuator its
    travel. A motor is tried with each gear that it is offered with: its rotor is accelerated too,
    its gear loses power, and the load may have at most `inertia_ratio` times its inertia. Rotors
    that the robot itself describes (`armature`) are left out where the lines have rotors. See
    studies/sizing.py.
    """
    if not number(margin, "select: margin") > 0.0:
        raise InvalidInput(f"select: margin is {margin}, expected a positive number")
    if not number(inertia_ratio, "select: inertia_ratio") > 0.0:
        raise InvalidInput(f"select: inertia_ratio is {inertia_ratio}, expected a positive number")
    offered = (
        catalogue() if lines is None else tuple(lines) if isinstance(lines, Iterable) else (lines,)
    )
    if not all(isinstance(line, Actuator) for line in offered):
        raise InvalidInput(
            "select: lines holds something else than Actuator, expected lines of a catalogue"
        )
    subject = subject_of(robot, "select")
    done = _analyses(subject, motions, steps, payload)
    chosen = {}
    for k, cycle in enumerate(cycles(subject, done, any(line.inertia for line in offered))):
        duty = _duty(subject, layout_of(subject).names[k], k, done)
        options = [
            option(line, ratio, duty.kind, cycle, duty.travel, margin, inertia_ratio)
            for line in offered
            for ratio in line.ratios
        ]
        chosen[duty.name] = _selected(duty, cycle, options)
    return chosen


def _analyses(subject: Subject, motions: Some, steps: int, payload: Any) -> list[Analysis]:
    if isinstance(motions, Analysis) or is_motion(motions):
        motions = [motions]
    if not isinstance(motions, Iterable):
        raise InvalidInput(
            f"duties: motions is {type(motions).__name__}, expected a motion or several"
        )
    done = [
        m if isinstance(m, Analysis) else analyse(subject, m, steps=steps, payload=payload)
        for m in motions
    ]
    if not sum(len(a) for a in done):
        raise InvalidInput("duties: no motion is given, or none has an instant")
    return done


def _duty(subject: Subject, name: str, k: int, done: list[Analysis]) -> Duty:
    effort = np.concatenate([a.loads.efforts[:, k] for a in done])
    speed = np.concatenate([a.cd[:, k] for a in done])
    entry = layout_of(subject).entries[k]
    travel = np.concatenate([a.c[:, entry] for a in done]) if entry is not None else np.zeros(1)
    power = effort * speed
    lasting = lasting_of(done)
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


def _kind(subject: Subject, name: str) -> str:
    for element in subject.model.elements:
        if isinstance(element, LinearActuator) and element.name == name:
            return "linear"
    joints = {joint.name: joint for joint in subject.model.joints}
    return "linear" if name in joints and joints[name].kind.is_slide else "rotary"


def _size(option: Option) -> tuple[float, ...]:
    """What makes an option small: its power, which a gear does not change; then its effort."""
    return option.actuator.power, option.actuator.peak, option.ratio


def _selected(duty: Duty, cycle: Cycle, options: list[Option]) -> Selection:
    fitting = {each.actuator: None for each in sorted(options, key=_size) if each.fits}
    lacking = {each.name: each.lacking for each in options if not each.fits}
    return Selection(duty, tuple(fitting), lacking, tuple(options), cycle)
