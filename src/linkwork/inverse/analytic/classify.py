"""Classify: which family a robot is in, told from its joint axes alone, and why not in the
others."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.inverse.analytic.family import Family
from linkwork.inverse.analytic.ideal import EXACT, NEAR
from linkwork.inverse.analytic.screws import Chain, chain_of
from linkwork.subject import RobotLike, Subject, subject_of


@dataclass(frozen=True)
class Classification(Tabular):
    """What closed forms there are between a robot's base and one of its frames.

    family       its name: "ur", "offset_wrist", "spherical_wrist", "spherical_shoulder",
                 "seven_axis", "seven_axis_locked", "planar_2r", "planar_3r", "positioning_3r",
                 "general_6r"; "none"
    title        the same in words
    exact        the axes are the family's to rounding; otherwise nominal solutions are polished on
                 the true robot
    deviation    how far the axes are from the family's [rad, or of the arm's length]
    parameters   canonical lengths [m] and angles [rad]
    others       why it is none of the other families, by name
    pose, point  the solvers for targets (4, 4) and (3,), None where there is none
    """

    robot: str
    frame: str
    joints: tuple[str, ...]
    family: str
    title: str
    exact: bool
    deviation: float
    parameters: Mapping[str, float]
    others: Mapping[str, str]
    pose: Family | None = field(default=None, repr=False)
    point: Family | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"nominal, axes off by {self.deviation:.2g}"
        return f'<Classification of "{self.robot}" at "{self.frame}": {self.family}, {how}>'

    def _table(self) -> dict[str, Any]:
        return {
            "parameter": np.array(list(self.parameters), dtype=object),
            "value": np.array(list(self.parameters.values()), dtype=float),
        }

    def __str__(self) -> str:
        how = (
            "exact"
            if self.exact
            else f"nominal, axes off by {self.deviation:.2g}, solutions polished"
        )
        lines = [f'robot "{self.robot}", frame "{self.frame}": {self.title} ({self.family}; {how})']
        lines += [f"  joints  {', '.join(self.joints)}"] if self.joints else []
        lines += [f"  {name:<7} {value:.6g}" for name, value in self.parameters.items()]
        counted = {name: why for name, why in self.others.items() if " axes, expected " not in why}
        lines += [f"  not {name}: {why}" for name, why in (counted or self.others).items()]
        return "\n".join(lines)


def classify(robot: RobotLike, frame: str) -> Classification:
    """The family of the chain from the base of a robot to a frame; names, base,
    axis signs and zeros do not matter."""
    return classified(subject_of(robot, "classify"), frame)


def classified(subject: Subject, frame: str) -> Classification:
    """`classify` of a subject, remembered."""
    if not isinstance(frame, str):
        subject.place_of(frame)  # refuses it by name
    return subject.once((classified, frame), lambda: _classified(subject, frame))


def _classified(subject: Subject, frame: str) -> Classification:
    try:
        chain = chain_of(subject, frame)
    except NotPossible as error:
        why = str(error).split(": ", 1)[1]
        return _result(subject.model.name, frame, (), None, None, "none", why, 0.0, {})
    others: dict[str, str] = {}
    best: Family | None = None
    deviation = 1.0
    tries = [(family, way) for family in families() for way in family.ways()]
    for family, way in tries:
        if len(chain) != family.axes:
            others[family.name] = f"{len(chain)} axes, expected {family.axes}"
            continue
        if best is not None and family.last_resort:
            others[family.name] = f"solved as {best.name}, which is simpler"
            continue
        off, solver = way(subject, chain)
        if isinstance(solver, str):
            others[family.name] = solver
        elif best is not None and deviation <= max(off, EXACT):
            others[family.name] = f"fits as well (off by {off:.2g}); {best.name} comes first"
        else:
            if best is not None:
                others[best.name] = f"nearly: off by {deviation:.2g}"
            best, deviation = solver, off
    point = _point_solver(subject, chain)
    if best is None and point is not None:
        best, deviation = point, 0.0 if point.exact else NEAR
    names = chain.joints
    if best is None:
        why = f"{len(chain)} revolute axes of no family with closed forms"
        return _result(subject.model.name, frame, names, None, point, "none", why, 0.0, others)
    others.pop(best.name, None)
    pose = None if best.position else best
    verdict = best.name, best.title, deviation, others, best
    return _result(subject.model.name, frame, names, pose, point, *verdict)


def _result(
    robot: str,
    frame: str,
    joints: tuple[str, ...],
    pose: Family | None,
    point: Family | None,
    name: str,
    title: str,
    deviation: float,
    others: Mapping[str, str],
    best: Family | None = None,
) -> Classification:
    parameters = {} if best is None else dict(best.parameters)
    return Classification(
        robot,
        frame,
        joints,
        name,
        title,
        deviation <= EXACT,
        deviation,
        types.MappingProxyType(parameters),
        types.MappingProxyType(dict(others)),
        pose,
        point,
    )


@functools.cache
def families(position: bool = False) -> tuple[type[Family], ...]:
    """The families of this folder for poses, or for positions alone,
    in the order in which they are tried."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"{__package__}.{module.name}")
    known, concrete = [Family], []
    while known:
        family = known.pop()
        known += family.__subclasses__()
        if family.axes and family.position == position:
            concrete.append(family)
    return tuple(sorted(concrete, key=lambda family: family.rank))


def _point_solver(subject: Subject, chain: Chain) -> Family | None:
    """The solver for positions alone, where there is one."""
    for family in families(position=True):
        for way in family.ways() if family.axes == len(chain) else ():
            _, solver = way(subject, chain)
            if not isinstance(solver, str):
                return solver
    return None
