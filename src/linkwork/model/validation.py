"""Checks that make a model a model: names, tree shape, axes, limits, mimic, mass properties."""

from __future__ import annotations

import logging
import math
from collections import Counter
from dataclasses import replace

from linkwork.errors import InvalidModel, did_you_mean
from linkwork.model.joint import SIZES, TYPES, Joint
from linkwork.model.model import Model
from linkwork.model.number import Vector, has_symbols, norm, scale

log = logging.getLogger("linkwork")


def validated(model: Model, check: str = "physical") -> Model:
    """The model with unit axes, or InvalidModel with a sentence that names the culprit.

    `check` is the level for mass properties: a body that fails "physical" or "positive" raises; at "any" what would
    fail at "physical" is logged as one warning, because many published descriptions break the triangle inequality.
    """
    _check_names(model)
    _check_tree(model)
    model = replace(model, joints=tuple(_checked_joint(model, joint) for joint in model.joints))
    _check_mimic(model)
    _check_mass(model, check)
    return model


def _check_names(model: Model) -> None:
    for what, names in (
        ("body", [b.name for b in model.bodies]),
        ("joint", [j.name for j in model.joints]),
        ("frame", [f.name for f in model.frames]),
    ):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InvalidModel(f'robot "{model.name}": {what} name "{twice[0]}" is used {names.count(twice[0])} times')
        if any(not name for name in names):
            raise InvalidModel(f'robot "{model.name}": a {what} has an empty name')
    if not model.bodies:
        raise InvalidModel(f'robot "{model.name}" has no bodies')
    if not all(has_symbols(g) or math.isfinite(g) for g in model.gravity):
        raise InvalidModel(f'robot "{model.name}": gravity {model.gravity} is not finite')


def _check_tree(model: Model) -> None:
    names = {body.name for body in model.bodies}
    parent: dict[str, str | None] = {}
    for joint in model.joints:
        for role, body in (("parent", joint.parent), ("child", joint.child)):
            if body is not None and body not in names:
                raise InvalidModel(f'joint "{joint.name}": {role} body "{body}" is unknown{did_you_mean(body, names)}')
        if joint.child in parent:
            raise InvalidModel(
                f'body "{joint.child}" is the child of two joints ("{joint.name}" is the second); '
                "close loops with a loop element instead"
            )
        parent[joint.child] = joint.parent
    settled: set[str | None] = {None}
    for name in parent:
        trail: list[str] = []
        body: str | None = name
        while body not in settled and body is not None:
            if body in trail:
                raise InvalidModel(f'body "{body}" is its own ancestor: {" <- ".join([*trail, body])}')
            trail.append(body)
            body = parent.get(body)
        settled.update(trail)
    for frame in model.frames:
        if frame.body not in names:
            raise InvalidModel(f'frame "{frame.name}": body "{frame.body}" is unknown{did_you_mean(frame.body, names)}')
        if frame.name in names and frame.name != frame.body:
            raise InvalidModel(f'frame "{frame.name}" has the name of a body')


def _checked_joint(model: Model, joint: Joint) -> Joint:
    if joint.type not in SIZES:
        raise InvalidModel(
            f'joint "{joint.name}" has type "{joint.type}"; linkwork knows {", ".join(TYPES)}'
            f"{did_you_mean(joint.type, TYPES)}"
        )
    placement = (joint.placement.rotation, joint.placement.position)
    if not has_symbols(placement) and not all(map(math.isfinite, [x for r in placement[0] for x in r] + [*placement[1]])):
        raise InvalidModel(f'joint "{joint.name}": its placement is not finite')
    if joint.limits and len(joint.limits) != joint.nv:
        raise InvalidModel(f'joint "{joint.name}" has {len(joint.limits)} limits, expected {joint.nv}')
    for limit in joint.limits:
        if not limit.lower <= limit.upper:
            raise InvalidModel(f'joint "{joint.name}": lower limit {limit.lower:g} is above upper limit {limit.upper:g}')
        if not (limit.velocity >= 0.0 and limit.effort >= 0.0):
            raise InvalidModel(f'joint "{joint.name}": velocity and effort limits must not be negative')
    for label in ("damping", "friction", "armature"):
        value = getattr(joint, label)
        for x in value if isinstance(value, tuple) else (value,):
            if not has_symbols(x) and not (math.isfinite(x) and x >= 0.0):
                raise InvalidModel(f'joint "{joint.name}": {label} {x:g} must be finite and not negative')
        if isinstance(value, tuple) and len(value) != joint.nv:
            raise InvalidModel(f'joint "{joint.name}": {label} has {len(value)} numbers, expected 1 or {joint.nv}')
    if joint.type in ("fixed", "ball", "floating"):
        return joint
    return replace(
        joint,
        axis=_unit(joint, "axis", joint.axis),
        second_axis=_unit(joint, "second_axis", joint.second_axis) if joint.type == "universal" else joint.second_axis,
    )


def _unit(joint: Joint, label: str, axis: Vector) -> Vector:
    if has_symbols(axis):
        return scale(1.0 / norm(axis), axis)
    if not all(map(math.isfinite, axis)):
        raise InvalidModel(f'joint "{joint.name}": {label} {tuple(axis)} is not finite')
    length = math.sqrt(sum(x * x for x in axis))
    if length < 1e-12:
        raise InvalidModel(f'joint "{joint.name}": {label} {tuple(axis)} has length zero, expected a direction')
    if abs(length - 1.0) < 1e-15:
        return axis
    return tuple(x / length for x in axis)  # type: ignore[return-value]


def _check_mimic(model: Model) -> None:
    joints = {joint.name: joint for joint in model.joints}
    for joint in model.joints:
        seen, at = [joint.name], joint
        while at.mimic is not None:
            leader = joints.get(at.mimic.joint)
            if leader is None:
                raise InvalidModel(
                    f'joint "{at.name}" mimics joint "{at.mimic.joint}", which does not exist'
                    f"{did_you_mean(at.mimic.joint, joints)}"
                )
            if at.nv != 1 or leader.nv != 1:
                raise InvalidModel(f'joint "{at.name}" mimics "{leader.name}": both must have one coordinate')
            if not (math.isfinite(at.mimic.multiplier) and math.isfinite(at.mimic.offset)):
                raise InvalidModel(f'joint "{at.name}": mimic multiplier and offset must be finite')
            if leader.name in seen:
                raise InvalidModel(f"joints mimic each other in a circle: {' -> '.join([*seen, leader.name])}")
            seen.append(leader.name)
            at = leader


def _check_mass(model: Model, check: str) -> None:
    unphysical = []
    for body in model.bodies:
        problem = body.mass_properties.problem(check)
        if problem:
            raise InvalidModel(f'robot "{model.name}", body "{body.name}": {problem}')
        if check == "any" and (problem := body.mass_properties.problem("physical")):
            unphysical.append(f'"{body.name}": {problem}')
    if unphysical:
        log.warning('robot "%s": %d bodies are not physical: %s', model.name, len(unphysical), "; ".join(unphysical))
