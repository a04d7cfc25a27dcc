"""Checks that make a model a model: names, tree shape, axes, limits, mimic, mass properties."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from linkwork.errors import InvalidInput, InvalidModel, did_you_mean, listed
from linkwork.model.element_checks import checked_elements
from linkwork.model.inertia import LARGEST, LEVELS, mass_problem
from linkwork.model.joint import SIZES, TYPES, Joint
from linkwork.model.model import Model
from linkwork.model.number import (
    IDENTITY,
    Vector,
    all_floats,
    dot,
    finite,
    has_symbols,
    norm,
    scale,
)
from linkwork.model.placement import HERE, Placement
from linkwork.model.rotation import orthogonality_error

log = logging.getLogger("linkwork")

SHORTEST_AXIS = 1e-12
"""An axis shorter than this is no direction."""


def validated(model: Model, check: str = "physical") -> Model:
    """The model with unit axes, or InvalidModel with a sentence that names the culprit.

    `check` is the level for mass properties: a body that fails "physical" or "positive" raises; at
    "any" what would fail at "physical" is logged as one warning, because many published
    descriptions break the triangle inequality.
    """
    if check not in LEVELS:
        raise InvalidModel(f'check level "{check}" is unknown, expected one of {", ".join(LEVELS)}')
    model = well_formed(model)
    _check_mass(model, check)
    object.__setattr__(model, "is_checked", True)
    return model


def sound(model: Model) -> Model:
    """The model as it is where it was validated, else validated at level "any":
    for models that are made by hand."""
    if not isinstance(model, Model):
        raise InvalidInput(
            f'Robot: model is a {type(model).__name__}, expected a Model; lw.load("panda") makes '
            "a Robot"
        )
    return model if model.is_checked else validated(model, "any")


def well_formed(model: Model) -> Model:
    """The model with unit axes, all checks but those of mass properties passed."""
    _check_names(model)
    _check_tree(model)
    _check_attached(model)
    model = replace(model, joints=tuple([_checked_joint(joint) for joint in model.joints]))
    _check_mimic(model)
    if model.elements:
        names = {body.name for body in model.bodies}
        joints = {joint.name: joint for joint in model.joints}
        model = replace(model, elements=checked_elements(model.elements, names, joints))
    return model


def changed(model: Model, **parts: Any) -> Model:
    """The model with other parts, well formed; one that was validated still is where its bodies
    are the same."""
    new = well_formed(replace(model, **parts))
    if model.is_checked and new.bodies is model.bodies:
        object.__setattr__(new, "is_checked", True)
    return new


def _check_names(model: Model) -> None:
    for what, names in (
        ("body", [b.name for b in model.bodies]),
        ("joint", [j.name for j in model.joints]),
        ("frame", [f.name for f in model.frames]),
    ):
        name = _used_twice(names)
        if name is not None:
            count = names.count(name)
            raise InvalidModel(
                f'robot "{model.name}": {what} name "{name}" is used {count} times', (what, name)
            )
        if not all(names):
            raise InvalidModel(f'robot "{model.name}": a {what} has an empty name')
    if not model.bodies:
        raise InvalidModel(f'robot "{model.name}" has no bodies')
    if not finite(model.gravity):
        raise InvalidModel(f'robot "{model.name}": gravity {model.gravity} is not finite')


def _check_tree(model: Model) -> None:
    names = {body.name for body in model.bodies}
    parent: dict[str, str | None] = {}
    carrier: dict[str, str] = {}
    for joint in model.joints:
        if joint.child not in names or (joint.parent is not None and joint.parent not in names):
            raise _of_nobody(joint, names)
        if joint.child in parent:
            raise InvalidModel(
                f'body "{joint.child}" is the child of two joints, "{carrier[joint.child]}" and '
                f'"{joint.name}"; '
                "close loops with a loop element instead",
                ("joint", joint.name),
            )
        parent[joint.child] = joint.parent
        carrier[joint.child] = joint.name
    settled: set[str | None] = {None}
    for name in parent:
        trail: dict[str, None] = {}  # ordered, and quick to search
        at: str | None = name
        while at is not None and at not in settled:
            if at in trail:
                round_trip = [*list(trail)[list(trail).index(at) :], at]
                sentence = f'body "{at}" is its own ancestor: {" <- ".join(round_trip[:12])}'
                raise InvalidModel(sentence, ("joint", carrier[at]))
            trail[at] = None
            at = parent.get(at)
        settled.update(trail)


def _of_nobody(joint: Joint, names: set[str]) -> InvalidModel:
    role, body = (
        ("child", joint.child)
        if joint.parent is None or joint.parent in names
        else ("parent", joint.parent)
    )
    sentence = f'joint "{joint.name}": {role} body "{body}" is unknown{did_you_mean(body, names)}'
    return InvalidModel(sentence, ("joint", joint.name))


def _check_attached(model: Model) -> None:
    """Frames, points and lines: they hang on something that exists, and their numbers are
    finite."""
    names = {body.name for body in model.bodies}
    for frame in model.frames:
        problem = _problem_of_placement(frame.placement)
        if frame.body not in names:
            problem = f': body "{frame.body}" is unknown{did_you_mean(frame.body, names)}'
        elif frame.name in names and frame.name != frame.body:
            problem = " has the name of a body"
        if problem:
            raise InvalidModel(f'frame "{frame.name}"{problem}', ("frame", frame.name))
    for body in model.bodies:
        if not body.points and not body.lines:
            continue
        culprit = ("body", body.name)
        points = [name for name, _ in body.points]
        known = set(points)
        if (twice := _used_twice(points)) is not None:
            raise InvalidModel(
                f'body "{body.name}": point name "{twice}" is used {points.count(twice)} times',
                culprit,
            )
        for name, position in body.points:
            if not finite(position):
                raise InvalidModel(
                    f'body "{body.name}": point "{name}" at {position} is not finite', culprit
                )
        for end in (end for line in body.lines for end in line):
            if end not in known:
                sentence = (
                    f'body "{body.name}": a line ends at point "{end}", which it does not have'
                )
                raise InvalidModel(f"{sentence}{did_you_mean(end, points)}", culprit)


def _checked_joint(joint: Joint) -> Joint:
    """The joint with unit axes."""
    problem = _problem_of_joint(joint)
    if problem:
        raise InvalidModel(f'joint "{joint.name}"{problem}', ("joint", joint.name))
    kind = joint.kind
    if not kind.has_axis:
        return joint
    first = _unit(joint, "axis", joint.axis)
    if not kind.has_second_axis:
        return joint if first is joint.axis else replace(joint, axis=first)
    second = _unit(joint, "second_axis", joint.second_axis)
    if not has_symbols((first, second)) and abs(dot(first, second)) > 1.0 - 1e-9:
        axes = f"axis {joint.axis} and second_axis {joint.second_axis}"
        sentence = f'joint "{joint.name}": {axes} are parallel, expected two directions'
        raise InvalidModel(sentence, ("joint", joint.name))
    return replace(joint, axis=first, second_axis=second)


def _problem_of_joint(joint: Joint) -> str:
    """What is wrong with a joint, but for its axes; "" where nothing is."""
    if joint.type not in SIZES:
        return (
            f' has type "{joint.type}"; linkwork knows '
            f"{', '.join(TYPES)}{did_you_mean(joint.type, TYPES)}"
        )
    if problem := _problem_of_placement(joint.placement):
        return problem
    if joint.limits and len(joint.limits) != joint.nv:
        return f" has {len(joint.limits)} limits, expected {joint.nv}"
    for limit in joint.limits:
        if not limit.lower <= limit.upper:
            return f": lower limit {limit.lower:g} is above upper limit {limit.upper:g}"
        if not (limit.velocity >= 0.0 and limit.effort >= 0.0):
            return (
                f": velocity limit {limit.velocity:g} and effort limit {limit.effort:g} must "
                "not be negative"
            )
        if not limit.acceleration > 0.0:
            return f": acceleration limit {limit.acceleration:g} must be positive"
    resistances = (joint.damping, joint.friction, joint.armature)
    if not all_floats(resistances) or any(resistances):
        for label, value in zip(("damping", "friction", "armature"), resistances):
            if problem := _problem_of_resistance(label, value, joint.nv):
                return problem
    pitch = joint.pitch
    if (type(pitch) is not float or pitch) and joint.kind.has_axis and not finite((pitch,)):
        return f": pitch {joint.pitch} is not finite"
    return ""


def _problem_of_resistance(label: str, value: Any, nv: int) -> str:
    """What is wrong with damping, friction or armature: one number, or one for each coordinate."""
    for x in value if isinstance(value, tuple) else (value,):
        if not has_symbols(x) and not (math.isfinite(x) and x >= 0.0):
            return f": {label} {x:g} must be finite and not negative"
    if isinstance(value, tuple) and len(value) != nv:
        return f": {label} has {len(value)} numbers, expected 1 or {nv}"
    return ""


def _problem_of_placement(placement: Placement) -> str:
    """What is wrong with where something sits; "" where nothing is."""
    if placement is HERE:
        return ""
    R, p = placement.rotation, placement.position
    if not finite((*R[0], *R[1], *R[2], *p)):
        return ": its placement is not finite"
    if not has_symbols(p) and max(map(abs, p)) > LARGEST:
        where = f"its placement is at {tuple(p)} m, beyond {LARGEST:g}"
        return f": {where}, where what is computed with it leaves the numbers"
    if R is IDENTITY or has_symbols(R):
        return ""
    error = orthogonality_error(R)
    return (
        f": its rotation is not orthogonal: R'R differs from 1 by {error:.3g}"
        if error > 1e-6
        else ""
    )


def _unit(joint: Joint, label: str, axis: Vector) -> Vector:
    if all_floats(axis) and abs(math.hypot(*axis) - 1.0) < 1e-15:
        return axis
    if has_symbols(axis):
        return scale(1.0 / norm(axis), axis)
    culprit = ("joint", joint.name)
    if not finite(axis):
        raise InvalidModel(f'joint "{joint.name}": {label} {tuple(axis)} is not finite', culprit)
    length = math.hypot(*axis)
    if not SHORTEST_AXIS <= length < math.inf:
        size = "zero" if length < SHORTEST_AXIS else "beyond the numbers"
        sentence = (
            f'joint "{joint.name}": {label} {tuple(axis)} has length {size}, expected a direction'
        )
        raise InvalidModel(sentence, culprit)
    return tuple(x / length for x in axis)


def _check_mimic(model: Model) -> None:
    joints = {joint.name: joint for joint in model.joints}
    sound: set[str] = set()
    for joint in model.joints:
        seen: dict[str, None] = {joint.name: None}
        at = joint
        while at.mimic is not None and at.name not in sound:
            culprit = ("joint", at.name)
            leader = joints.get(at.mimic.joint)
            if leader is None:
                sentence = (
                    f'joint "{at.name}" mimics joint "{at.mimic.joint}", which does not exist'
                )
                raise InvalidModel(f"{sentence}{did_you_mean(at.mimic.joint, joints)}", culprit)
            if at.nv != 1 or leader.nv != 1:
                sentence = f'joint "{at.name}" ({at.type}) mimics "{leader.name}" ({leader.type})'
                raise InvalidModel(f"{sentence}: both must have one coordinate", culprit)
            if not (math.isfinite(at.mimic.multiplier) and math.isfinite(at.mimic.offset)):
                raise InvalidModel(
                    f'joint "{at.name}": mimic multiplier and offset must be finite', culprit
                )
            if leader.name in seen:
                circle = " -> ".join([*seen, leader.name][-12:])
                raise InvalidModel(f"joints mimic each other in a circle: {circle}", culprit)
            seen[leader.name] = None
            at = leader
        sound.update(seen)


def _check_mass(model: Model, check: str) -> None:
    unphysical = []
    for body in model.bodies:
        problem = mass_problem(body.mass_properties, "physical" if check == "any" else check)
        if problem is None:
            continue
        if check == "any" and mass_problem(body.mass_properties, "any") is None:
            unphysical.append(f'"{body.name}": {problem}')
        else:
            raise InvalidModel(
                f'robot "{model.name}", body "{body.name}": {problem}', ("body", body.name)
            )
    if unphysical:
        bodies = "body is" if len(unphysical) == 1 else "bodies are"
        log.warning(
            'robot "%s": %d %s not physical: %s',
            model.name,
            len(unphysical),
            bodies,
            listed(unphysical, 100),
        )


def _used_twice(names: Iterable[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)
