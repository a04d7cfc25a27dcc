"""Edits of a System's joints, and what may be taken away from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import casadi
from casadi import SX

from linkwork.errors import InvalidInput, UnknownName, did_you_mean, listed
from linkwork.lagrange.build import check_inertia
from linkwork.lagrange.declarations import declared
from linkwork.lagrange.joints import Pose
from linkwork.lagrange.parts import Frame
from linkwork.lagrange.terms import Body
from linkwork.model.kinds import KINDS

if TYPE_CHECKING:
    from linkwork.lagrange.system import System


def with_joint(system: System, frame: Frame) -> System:
    """The system with the frame of a joint, new or in the place of the one of its name,
    and with its coordinate."""
    joint, name = frame.joint, frame.name
    assert joint is not None
    symbols = system.scope.symbols
    # `pose` refuses types that there are not
    moves = joint.type not in KINDS or not KINDS[joint.type].is_fixed
    coordinates = system.coordinates
    if moves and name not in coordinates:
        declared(symbols, (name,), {}, taken=(*coordinates, *system.variables))
        coordinates = (*coordinates, name)
        # a fixed joint that moves now: its coordinate stands where its joint does
        if name in system.frames:
            order = [f for f in system.frames if f in coordinates]
            others = [c for c in coordinates if c not in order]
            coordinates = (*others, *order)
    pose = joint.pose(symbols.q[name] if moves else None, system.scope, f'joint "{name}"')
    made = replace(frame, pose=pose, coordinate=name if moves else None)
    new = system._edited(frames={**system.frames, name: made}, coordinates=coordinates)
    if not moves and name in coordinates:
        _refuse_use_of(new, name, f'joint "{name}" cannot become fixed')
        new = new._edited(coordinates=tuple(c for c in coordinates if c != name))
    for term in new.terms.values():
        if isinstance(term, Body):
            check_inertia(new, term)
    return new


def without(system: System, name: str) -> System:
    """The system without a term, constraint, joint or frame;
    of a body and a joint of one name the body goes first."""
    terms, constraints, frames = dict(system.terms), dict(system.constraints), dict(system.frames)
    if name in terms:
        users = [t.name for t in terms.values() if name in t.bodies]
        if users:
            raise InvalidInput(f'remove: "{name}" is held by {listed(users)}; remove these first')
        del terms[name]
        return system._edited(terms=terms)
    if name in constraints:
        del constraints[name]
        return system._edited(constraints=constraints)
    if name not in frames:
        known = (*terms, *constraints, *frames)
        raise UnknownName(
            f'remove: system "{system.name}" has no "{name}"{did_you_mean(name, known)}'
        )
    users = [f.name for f in frames.values() if f.parent == name] + [
        t.name for t in terms.values() if name in t.frames
    ]
    if users:
        raise InvalidInput(f'remove: "{name}" carries {listed(users)}; remove these first')
    frame = frames.pop(name)
    new = system._edited(frames=frames)
    if frame.coordinate is None:
        return new
    _refuse_use_of(new, frame.coordinate, f'remove: joint "{name}" cannot go')
    return new._edited(coordinates=tuple(c for c in system.coordinates if c != frame.coordinate))


def _refuse_use_of(system: System, coordinate: str, sentence: str) -> None:
    """Nothing may depend on a coordinate that disappears."""
    symbols = system.scope.symbols
    symbol = casadi.vertcat(symbols.q[coordinate], symbols.v[coordinate])
    users = [
        term.name
        for term, x in system.placed
        if casadi.depends_on(casadi.vertcat(x, term.function), symbol)
    ]
    users += [c.name for c in system.constraints.values() if casadi.depends_on(c.function, symbol)]
    users += [f.name for f in system.frames.values() if casadi.depends_on(_all_of(f.pose), symbol)]
    if users:
        raise InvalidInput(f'{sentence}: coordinate "{coordinate}" is used by {listed(users)}')


def _all_of(pose: Pose) -> SX:
    return casadi.vertcat(pose.before, casadi.vec(pose.R), pose.after)
