"""Classify: which family a robot is in, told from its joint axes alone, and why not in the others."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.errors import NotPossible
from linkwork.inverse.analytic import offset_wrist, pieper, planar, seven_axis, three_axes, ur
from linkwork.inverse.analytic.candidates import Canonical
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.family import Family
from linkwork.inverse.analytic.ideal import EXACT, NEAR, Lines
from linkwork.inverse.analytic.screws import Chain, chain_of
from linkwork.inverse.analytic.solvers.general_6r import General6R, best_cut
from linkwork.inverse.analytic.solvers.offset_wrist import OffsetWrist
from linkwork.inverse.analytic.solvers.planar import Planar2R, Planar3R, PlanarPoint2R, PlanarPoint3R
from linkwork.inverse.analytic.solvers.seven_axis import SevenAxis
from linkwork.inverse.analytic.solvers.spherical import LockedEnd, SphericalShoulder, SphericalWrist, ThreeAxes
from linkwork.inverse.analytic.solvers.ur import UR
from linkwork.subject import RobotLike, Subject, subject_of


@dataclass(frozen=True)
class Classification:
    """What closed forms there are between a robot's base and one of its frames.

    family       its name: "ur", "offset_wrist", "spherical_wrist", "spherical_shoulder", "seven_axis",
                 "seven_axis_locked", "planar_2r", "planar_3r", "positioning_3r", "general_6r"; "none"
    title        the same in words
    exact        the axes are the family's to rounding; otherwise nominal solutions are polished on the true robot
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

    def __str__(self) -> str:
        how = "exact" if self.exact else f"nominal, axes off by {self.deviation:.2g}, solutions polished"
        lines = [f'robot "{self.robot}", frame "{self.frame}": {self.title} ({self.family}; {how})']
        lines += [f"  joints  {', '.join(self.joints)}"] if self.joints else []
        lines += [f"  {name:<7} {value:.6g}" for name, value in self.parameters.items()]
        counted = {name: why for name, why in self.others.items() if " axes, expected " not in why}
        lines += [f"  not {name}: {why}" for name, why in (counted or self.others).items()]
        return "\n".join(lines)


def classify(robot: RobotLike, frame: str) -> Classification:
    """The family of the chain from the base of a robot to a frame; names, base, axis signs and zeros do not matter."""
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
    for attempt in _ATTEMPTS:
        if len(chain) not in attempt.axes:
            others[attempt.name] = f"{len(chain)} axes, expected {attempt.axes[0]}"
            continue
        if best is not None and attempt.last_resort:
            others[attempt.name] = f"solved as {best.name}, which is simpler"
            continue
        off, found = attempt.make(subject, chain)
        if isinstance(found, str):
            others[attempt.name] = found
        elif best is not None and deviation <= max(off, EXACT):
            others[attempt.name] = f"fits as well (off by {off:.2g}); {best.name} comes first"
        else:
            if best is not None:
                others[best.name] = f"nearly: off by {deviation:.2g}"
            best, deviation = found, off
    point = _point_solver(subject, chain)
    if best is None and point is not None:
        best, deviation = point, 0.0 if point.exact else NEAR
    names = chain.joints
    if best is None:
        why = f"{len(chain)} revolute axes of no family with closed forms"
        return _result(subject.model.name, frame, names, None, point, "none", why, 0.0, others)
    others.pop(best.name, None)
    pose = None if best.position else best
    return _result(subject.model.name, frame, names, pose, point, best.name, best.title, deviation, others, best)


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


@dataclass(frozen=True)
class _Attempt:
    """A family to try: make(subject, chain) -> (deviation, solver or the reason why not)."""

    name: str
    axes: tuple[int, ...]
    make: Callable[[Subject, Chain], tuple[float, Family | str]]
    last_resort: bool = False


def _by_axes(
    solver: type[Family],
    recognise: Callable[[Lines], Lines],
    canonical: Callable[[Lines], tuple[Frames, Any]],
    backward: bool = False,
    refused: Callable[[Any], str] = lambda size: "",
) -> Callable[[Subject, Chain], tuple[float, Family | str]]:
    def make(subject: Subject, chain: Chain) -> tuple[float, Family | str]:
        lines = recognise(Lines(chain.backward() if backward else chain))
        deviation, why = lines.worst
        if deviation > NEAR:
            return deviation, why
        placed, size = canonical(lines)
        no = refused(size)
        if no:
            return 1.0, no
        return deviation, solver(subject, chain, Canonical(placed, backward), size, deviation <= EXACT)

    return make


def _short(*names: str) -> Callable[[Any], str]:
    """Refuse an arm one of whose needed lengths is zero."""

    def refused(size: Any) -> str:
        zero = [n for n in names if abs(getattr(size, n)) < 1e-9 * size.scale]
        return f"{' and '.join(zero)} = 0" if zero else ""

    return refused


def _wrist_refused(size: offset_wrist.Dimensions) -> str:
    if abs(size.d5) < 1e-9 * size.scale:
        return "d5 = 0: the wrist is spherical"
    if abs(np.sin(size.alpha4)) < 1e-6 or abs(np.sin(size.alpha5)) < 1e-6:
        return "neighbouring wrist axes are parallel"
    return _short("a2", "d4")(size)


def _locked(last: bool) -> Callable[[Subject, Chain], tuple[float, Family | str]]:
    """Seven axes: six of them with a spherical shoulder (last locked) or wrist (first locked)."""
    solver, backward = (SphericalShoulder, True) if last else (SphericalWrist, False)
    inside = _by_axes(solver, pieper.recognise, pieper.canonical, backward)

    def make(subject: Subject, chain: Chain) -> tuple[float, Family | str]:
        deviation, inner = inside(subject, chain.part(0, 6) if last else chain.part(1, 7))
        if isinstance(inner, str):
            return deviation, inner
        assert isinstance(inner, SphericalWrist)
        exact = deviation <= EXACT
        return deviation, LockedEnd(subject, chain, inner.canonical, inner.size, exact, inner=inner, last=last)

    return make


def general_solver(subject: Subject, chain: Chain) -> Family:
    """The solver of any six axes, whatever family they are in."""
    placed = frames(chain, (1,) * 6, (1,) * 5)
    return General6R(subject, chain, Canonical(placed), placed, True, cut=best_cut(chain, placed))


def _general(subject: Subject, chain: Chain) -> tuple[float, Family | str]:
    return 0.0, general_solver(subject, chain)


def _point_solver(subject: Subject, chain: Chain) -> Family | None:
    """The solver for positions alone, for chains of two or three axes."""
    if len(chain) == 2:
        attempts = [_by_axes(PlanarPoint2R, planar.recognise, planar.canonical, refused=_planar_refused("a1", "tip"))]
    elif len(chain) == 3:
        attempts = [
            _by_axes(PlanarPoint3R, planar.recognise, planar.canonical, refused=_planar_refused("a1", "a2")),
            _by_axes(ThreeAxes, three_axes.recognise, three_axes.canonical),
        ]
    else:
        return None
    for attempt in attempts:
        _, found = attempt(subject, chain)
        if not isinstance(found, str):
            return found
    return None


def _planar_refused(*names: str) -> Callable[[planar.Dimensions], str]:
    def refused(size: planar.Dimensions) -> str:
        longest = max(size.a1, size.a2, size.tip, 1e-300)
        zero = [n for n in names if getattr(size, n) < 1e-9 * longest]
        return f"{' and '.join(zero)} = 0" if zero else ""

    return refused


_ATTEMPTS = (
    _Attempt("planar_2r", (2,), _by_axes(Planar2R, planar.recognise, planar.canonical, refused=_planar_refused("a1"))),
    _Attempt(
        "planar_3r", (3,), _by_axes(Planar3R, planar.recognise, planar.canonical, refused=_planar_refused("a1", "a2"))
    ),
    _Attempt("ur", (6,), _by_axes(UR, ur.recognise, ur.canonical, refused=_short("a2", "a3"))),
    _Attempt(
        "offset_wrist",
        (6,),
        _by_axes(OffsetWrist, offset_wrist.recognise, offset_wrist.canonical, refused=_wrist_refused),
    ),
    _Attempt("spherical_wrist", (6,), _by_axes(SphericalWrist, pieper.recognise, pieper.canonical)),
    _Attempt(
        "spherical_shoulder", (6,), _by_axes(SphericalShoulder, pieper.recognise, pieper.canonical, backward=True)
    ),
    _Attempt("seven_axis", (7,), _by_axes(SevenAxis, seven_axis.recognise, seven_axis.canonical)),
    _Attempt("seven_axis_locked", (7,), _locked(last=True)),
    _Attempt("seven_axis_locked", (7,), _locked(last=False)),
    _Attempt("general_6r", (6,), _general, last_resort=True),
)
