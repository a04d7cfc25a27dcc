"""Edits: pure functions that make a new model from a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from linkwork.errors import (
    InvalidInput,
    InvalidModel,
    NotPossible,
    UnknownName,
    did_you_mean,
    listed,
)
from linkwork.model.body import Body
from linkwork.model.inertia import from_parameters
from linkwork.model.joint import Joint, Mimic, resolved_mimic
from linkwork.model.joint_motion import joint_motion
from linkwork.model.kinds import FIXED, FLOATING
from linkwork.model.model import Configurations, Frame, Model
from linkwork.model.number import Vector
from linkwork.model.placement import HERE, Placement
from linkwork.model.validation import changed, well_formed


def with_frame(model: Model, name: str, body: str, placement: Placement = HERE) -> Model:
    """The model with one more named frame, T_body_frame = `placement` on a body
    (or on another frame)."""
    on, T_body_on = _place(model, body)
    return changed(model, frames=(*model.frames, Frame(name, on, T_body_on @ placement)))


def with_base(model: Model, placement: Placement | None = None, floating: bool = False) -> Model:
    """The model standing elsewhere in the world:
    T_world_new = `placement` @ T_world_old for everything it stands on.

    `floating` lets it move: the fixed root becomes the child of a floating joint "root_joint"
    placed where it stood. A root that moves already keeps its joint. Gravity stays in world axes.
    """
    T = placement or Placement()
    joints = [
        replace(j, placement=T @ j.placement) if j.parent is None else j for j in model.joints
    ]
    joints += [
        Joint(_root_joint_name(model, root), FIXED, None, root, T) for root in _unjointed(model)
    ]
    if floating:
        roots = [joint for joint in joints if joint.parent is None]
        if len(roots) != 1:
            names = listed(joint.child for joint in roots)
            raise NotPossible(
                f'robot "{model.name}" stands on {len(roots)} bodies ({names}), a floating base '
                "needs one"
            )
        (root,) = roots
        if root.kind.is_fixed:
            joints = [replace(joint, type=FLOATING) if joint is root else joint for joint in joints]
        elif not root.kind.is_free:
            raise NotPossible(
                f'robot "{model.name}" stands on joint "{root.name}" ({root.type}), expected a '
                "fixed root"
            )
    return changed(model, joints=tuple(joints))


def with_gravity(model: Model, gravity: Vector) -> Model:
    """The model in another gravity field, world axes [m/s^2]."""
    numbers = tuple(gravity)
    if len(numbers) != 3:
        raise InvalidInput(f"with_gravity: gravity is {numbers}, expected 3 numbers in world axes")
    return changed(model, gravity=(numbers[0], numbers[1], numbers[2]))


def with_parameters(
    model: Model,
    parameters: tuple[float, ...],
    damping: tuple[float, ...] | None = None,
    friction: tuple[float, ...] | None = None,
    armature: tuple[float, ...] | None = None,
    order: tuple[str, ...] = (),
) -> Model:
    """The model with other inertial parameters, ten a body in its order; joints of one coordinate
    in `order` get others of damping, dry friction and rotor inertia."""
    if len(parameters) != 10 * len(model.bodies):
        raise InvalidInput(
            f"with_parameters: {len(parameters)} parameters, expected {10 * len(model.bodies)}: "
            "ten a body of robot "
            f'"{model.name}", as robot.parameters() has them'
        )
    properties = [from_parameters(parameters[k : k + 10]) for k in range(0, len(parameters), 10)]
    for body, identified in zip(model.bodies, properties, strict=True):
        if problem := identified.problem("any"):
            raise InvalidInput(f'with_parameters: body "{body.name}": {problem}')
    bodies = tuple(
        replace(body, mass_properties=identified)
        for body, identified in zip(model.bodies, properties, strict=True)
    )
    changes: dict[str, dict[str, Any]] = {name: {} for name in order}
    for label, numbers in (("damping", damping), ("friction", friction), ("armature", armature)):
        for name, value in zip(order, numbers or ()):
            changes[name][label] = value
    joints = tuple(replace(joint, **changes.get(joint.name, {})) for joint in model.joints)
    return changed(model, bodies=bodies, joints=joints)


def locked(model: Model, joints: Mapping[str, float | Sequence[float]]) -> Model:
    """The model with joints made rigid at given coordinates: name -> q (a number, or nq of them).

    The joint keeps its name and becomes fixed; joints that mimic it become fixed where that puts
    them. A joint that mimics another cannot be locked alone: lock its leader.
    """
    follows = resolved_mimic(model.joints)
    values: dict[str, tuple[float, ...]] = {}
    for name, q in joints.items():
        joint = model.joint(name)
        if name in follows:
            raise NotPossible(
                f'joint "{name}" follows joint "{follows[name][0]}"; lock '
                f'"{follows[name][0]}" instead'
            )
        values[name] = _coordinates(joint, q)
    for name, (leader, multiplier, offset) in follows.items():
        if leader in values:
            values[name] = (multiplier * values[leader][0] + offset,)
    rigid = tuple(_made_fixed(j, values[j.name]) if j.name in values else j for j in model.joints)
    free = {joint.name for joint in rigid if joint.nq}
    return changed(model, joints=rigid, configurations=_configurations_of(model, free))


def subchain(model: Model, base: str, tip: str) -> Model:
    """The bodies from `base` to `tip` alone, the base fixed at the world's origin.

    Everything off that path is left out: side branches with their mass, closed-loop elements and
    motions. The base must be an ancestor of the tip. A joint that mimics one off the path has no
    leader any more and is refused.
    """
    carrier = {joint.child: joint for joint in model.joints}
    model.body(base)
    path, at = [model.body(tip).name], tip
    while at != base:
        parent = carrier[at].parent if at in carrier else None
        if parent is None:
            raise NotPossible(
                f'robot "{model.name}": body "{base}" is not on the way from the world to "{tip}"'
            )
        path.append(parent)
        at = parent
    bodies = set(path)
    joints = tuple(joint for joint in model.joints if joint.child in bodies - {base})
    names = {joint.name for joint in joints}
    for joint in joints:
        if joint.mimic is not None and joint.mimic.joint not in names:
            raise NotPossible(
                f'joint "{joint.name}" follows joint "{joint.mimic.joint}", which is not between '
                f'"{base}" and "{tip}"; '
                f'lock "{joint.mimic.joint}" first, or load the robot with mimic="independent"'
            )
    return well_formed(
        replace(
            model,
            bodies=tuple(body for body in model.bodies if body.name in bodies),
            joints=joints,
            frames=tuple(frame for frame in model.frames if frame.body in bodies),
            elements=(),
            motions=(),
            configurations=_configurations_of(model, names),
        )
    )


def attach(
    model: Model, other: Model, frame: str, prefix: str = "", placement: Placement = HERE
) -> Model:
    """Both robots as one: what `other` stands on is carried by a body or frame of `model`,
    at `placement` on it.

    The names of `other` get the prefix first. A root of `other` without a joint is fixed by a joint
    "<root>_attached"; a root joint it has (a floating one included) now moves on that body. Gravity
    and name are those of `model`.
    """
    if prefix:
        other = renamed(other, prefix)
    body, T_body_frame = _place(model, frame)
    T = T_body_frame @ placement
    joints = [
        replace(j, parent=body, placement=T @ j.placement) if j.parent is None else j
        for j in other.joints
    ]
    joints += [Joint(f"{root}_attached", FIXED, body, root, T) for root in _unjointed(other)]
    for what, mine, theirs in (
        ("body", model.bodies, other.bodies),
        ("joint", model.joints, joints),
        ("frame", model.frames, other.frames),
    ):
        both = {item.name for item in mine} & {item.name for item in theirs}
        if both:
            names = listed(sorted(both))
            raise InvalidModel(
                f"attach: both robots have a {what} named {names}; give the other one a prefix"
            )
    return well_formed(
        replace(
            model,
            bodies=model.bodies + other.bodies,
            joints=(*model.joints, *joints),
            frames=model.frames + other.frames,
            elements=model.elements + other.elements,
            notes=model.notes + other.notes,
        )
    )


def renamed(model: Model, prefix: str) -> Model:
    """The model with a prefix before every name of a body, joint,
    frame and shape (points are named by their body)."""
    if model.elements or model.motions:
        raise NotPossible(
            f'robot "{model.name}" has closed-loop elements or motions, which name bodies '
            "and joints"
        )

    def named(joint: Joint) -> Joint:
        mimic = joint.mimic
        return replace(
            joint,
            name=prefix + joint.name,
            parent=None if joint.parent is None else prefix + joint.parent,
            child=prefix + joint.child,
            mimic=None
            if mimic is None
            else Mimic(prefix + mimic.joint, mimic.multiplier, mimic.offset),
        )

    def clothed(body: Body) -> Body:
        shapes = [
            tuple(s if s.name is None else replace(s, name=prefix + s.name) for s in some)
            for some in (body.visuals, body.collisions)
        ]
        return replace(body, name=prefix + body.name, visuals=shapes[0], collisions=shapes[1])

    return well_formed(
        replace(
            model,
            bodies=tuple(map(clothed, model.bodies)),
            joints=tuple(map(named, model.joints)),
            frames=tuple(
                Frame(prefix + f.name, prefix + f.body, f.placement) for f in model.frames
            ),
            configurations=tuple(
                (c, tuple((prefix + j, q) for j, q in some)) for c, some in model.configurations
            ),
        )
    )


def _place(model: Model, name: str) -> tuple[str, Placement]:
    """A body or frame by name: (its body, T_body_frame)."""
    for frame in model.frames:
        if frame.name == name:
            return frame.body, frame.placement
    names = [body.name for body in model.bodies]
    if name not in names:
        near = did_you_mean(name, [*names, *(frame.name for frame in model.frames)])
        raise UnknownName(f'robot "{model.name}" has no body or frame "{name}"{near}')
    return name, Placement()


def _unjointed(model: Model) -> list[str]:
    """Bodies that stand in the world without a joint."""
    children = {joint.child for joint in model.joints}
    return [body.name for body in model.bodies if body.name not in children]


def _root_joint_name(model: Model, root: str) -> str:
    """ "root_joint" for the only root; with the body's name where several stand or the name is
    taken."""
    taken = any(joint.name == "root_joint" for joint in model.joints)
    return f"{root}_root_joint" if taken or len(_unjointed(model)) > 1 else "root_joint"


def _coordinates(joint: Joint, q: float | Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(float(x) for x in q) if hasattr(q, "__len__") else (float(q),)  # type: ignore[union-attr]
    except (TypeError, ValueError):
        expected = "a number" if joint.nq == 1 else f"{joint.nq} numbers"
        raise InvalidInput(
            f'locked: joint "{joint.name}" is given {q!r}, expected {expected}'
        ) from None


def _made_fixed(joint: Joint, q: tuple[float, ...]) -> Joint:
    return Joint(
        joint.name, FIXED, joint.parent, joint.child, joint.placement @ joint_motion(joint, q)
    )


def _configurations_of(model: Model, joints: set[str]) -> Configurations:
    """The named configurations, reduced to the given joints."""
    return tuple(
        (name, tuple((j, q) for j, q in some if j in joints)) for name, some in model.configurations
    )
