"""Reasons why a model cannot be written as MJCF."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from linkwork.formats.mjcf.bodies import WORLD
from linkwork.formats.mjcf.document import DEEPEST
from linkwork.formats.mjcf.plan import Plan, Planned
from linkwork.formats.mjcf.principal import is_enough_to_move, problem
from linkwork.model import elements as loops
from linkwork.model.body import Body
from linkwork.model.inertia import MassProperties
from linkwork.model.joint import Joint
from linkwork.model.model import Model
from linkwork.model.number import has_symbols
from linkwork.model.placement import HERE

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def reasons_before(model: Model) -> Iterator[str]:
    """What forbids even to plan the file: numbers that are symbols, no mass at all,
    names that XML cannot hold."""
    live = [body.name for body in model.bodies if _is_live(body)]
    live += [joint.name for joint in model.joints if has_symbols(_numbers(joint))]
    if live or has_symbols(model.gravity):
        yield f'"{live[0] if live else "gravity"}" depends on live variables'
        return
    if model.kinematic_only:
        yield "it is kinematic only, and MuJoCo wants mass in every moving body"
    for name in _names(model):
        if _NOT_IN_XML.search(name):
            yield f"the name {name!r} has characters that XML cannot hold"
    for joint in model.joints:
        yield from _about_joint(joint)
        if joint.child == WORLD:
            yield (
                f'body "{WORLD}" hangs on joint "{joint.name}", and MuJoCo keeps that name for '
                "what stands still"
            )
    for body in model.bodies:
        if body.name == WORLD and body.mass_properties != MassProperties():
            yield f'body "{WORLD}" has mass, and that of MuJoCo has none'
    for element in model.elements:
        yield from _about_element(element)
    yield from _unknown_elements(model)
    springs = Counter(e.joint for e in model.elements if isinstance(e, loops.TorsionSpring))
    yield from (
        f'joint "{joint}" has {count} springs, MJCF one'
        for joint, count in springs.items()
        if count > 1
    )
    sites = Counter(
        [
            *(f.name for f in model.frames),
            *(f"{b.name}.{p}" for b in model.bodies for p, _ in b.points),
        ]
    )
    yield from (
        f'the name "{name}" would be that of {n} sites' for name, n in sites.items() if n > 1
    )


def reasons(plan: Plan) -> Iterator[str]:
    """What MuJoCo's own rules forbid: bodies that move without mass, moments that no matter has."""
    deepest = max(_depths(plan), default=0)
    if deepest > DEEPEST - 10:
        yield (
            f"its chains are {deepest} bodies long, and more than {DEEPEST} nested elements are "
            "not read"
        )
    for planned in plan.all():
        about = f'body "{planned.body.name}"'
        sentence = problem(planned.body.mass_properties)
        if sentence:
            yield f"{about} {sentence}"
        elif planned.moves and not _has_mass(planned):
            yield f"{about} moves without mass or without inertia, which MuJoCo does not allow"


def _about_joint(joint: Joint) -> Iterator[str]:
    about = f'joint "{joint.name}"'
    if joint.kind.has_pitch:
        yield f"{about} is helical, and MuJoCo has no such joint"
    if joint.kind.is_free:
        if joint.parent not in (None, WORLD) or joint.placement != HERE:
            yield f"{about} floats, and MuJoCo's free joint counts from the world's origin alone"
        if any(_tuple(joint.armature)):
            yield f"{about} floats with armature, which MuJoCo would lay on world axes"
    for label in ("damping", "friction", "armature"):
        if joint.kind.quaternion and len(set(_tuple(getattr(joint, label)))) > 1:
            yield f"{about} is {joint.type} and has a different {label} for each coordinate"


def _about_element(element: loops.Element) -> Iterator[str]:
    match element:
        case loops.LoopClosure(kind="point"):
            pass
        case loops.LoopClosure(kind="weld", directions=directions):
            if tuple(directions) not in (loops.WELD_DIRECTIONS, loops.WELD_DIRECTIONS[:3]):
                yield (
                    f'weld "{element.name}" holds {", ".join(directions)}, MuJoCo all six or '
                    "x, y, z"
                )
        case loops.Coupling():
            pass
        case loops.TorsionSpring(stiffness=stiffness, pretension=pretension):
            if pretension and not stiffness:
                yield f'spring "{element.name}" has pretension without stiffness'
        case loops.Spring():
            yield from _about_spring(element)
        case loops.Differential(matrix=matrix):
            square = len({len(matrix), *(len(row) for row in matrix)}) == 1
            if not has_symbols(matrix) and (
                not square or abs(np.linalg.det(np.array(matrix, dtype=float))) < 1e-12
            ):
                yield f'differential "{element.name}" has a matrix that cannot be inverted'
    if has_symbols(
        tuple(getattr(element, label) for label in element.__slots__ if label != "note")
    ):
        yield f'"{getattr(element, "name", "")}" depends on live variables'


def _about_spring(spring: loops.Spring) -> Iterator[str]:
    """MuJoCo's springs are lines, with slack between two lengths."""
    if has_symbols((spring.stiffness, spring.free_length, spring.pretension)):
        return
    about = f'spring "{spring.name}"'
    if spring.pretension and not spring.stiffness:
        yield f"{about} has pretension without stiffness"
    elif spring.pretension and spring.kind != "both":
        yield (
            f"{about} has pretension that ends where it hangs loose, and MuJoCo's springs begin "
            "at zero force"
        )
    elif (
        spring.kind == "both"
        and spring.stiffness
        and spring.free_length < spring.pretension / spring.stiffness
    ):
        yield f"{about} pulls even without length, and MuJoCo's springs have a length without force"


def _unknown_elements(model: Model) -> Iterator[str]:
    """Kinds of elements that MJCF has no word for, with the names of each."""
    unknown: dict[str, list[str]] = {}
    for element in model.elements:
        match element:
            case (
                loops.LoopClosure(kind="point" | "weld" | "hinge" | "planar_hinge" | "distance")
                | loops.Coupling()
            ):
                continue
            case loops.TorsionSpring() | loops.LinearActuator() | loops.Spring() | loops.Damper():
                continue
            case (
                loops.Gear()
                | loops.Belt()
                | loops.Differential()
                | loops.Share()
                | loops.Stiffness()
            ):
                continue
            case loops.Bar(name=bar) | loops.Slider(bar=bar) if not _is_loaded(model, bar):
                continue
            case loops.LoopClosure(kind=kind):
                word = f"{kind} closure"
            case _:
                word = type(element).__name__
        name = getattr(element, "name", getattr(element, "support", getattr(element, "body", "")))
        unknown.setdefault(word, []).append(f'"{name}"')
    for kind, names in unknown.items():
        yield f"MJCF has no word for a {kind}: {', '.join(dict.fromkeys(names))}"


def _is_loaded(model: Model, bar: str) -> bool:
    """Whether something with a force acts on a massless bar; without, it moves nothing."""
    for part in model.elements:
        points = [getattr(part, label, None) for label in ("first", "second", "foot", "head")]
        if any(isinstance(point, loops.Point) and point.body == bar for point in points):
            silent = (
                isinstance(part, loops.Spring)
                and not has_symbols(part.stiffness)
                and not part.stiffness
            )
            if not silent:
                return True
    return False


def _has_mass(planned: Planned) -> bool:
    """MuJoCo's rule: the body itself, or one that is fixed to it, has mass and inertia."""
    stack = [planned]
    while stack:
        each = stack.pop()
        if is_enough_to_move(each.body.mass_properties):
            return True
        stack.extend(child for child in each.children if not child.moves)
    return False


def _depths(plan: Plan) -> Iterator[int]:
    stack = [(planned, 1) for planned in plan.roots]
    while stack:
        planned, depth = stack.pop()
        yield depth
        stack.extend((child, depth + 1) for child in planned.children)


def _names(model: Model) -> list[str]:
    shapes = [shape for body in model.bodies for shape in (*body.visuals, *body.collisions)]
    return [
        model.name,
        *(body.name for body in model.bodies),
        *(joint.name for joint in model.joints),
        *(frame.name for frame in model.frames),
        *(name for body in model.bodies for name, _ in body.points),
        *(text for shape in shapes for text in (shape.name, shape.mesh) if text),
        *(getattr(element, "name", "") for element in model.elements),
        *(name for name, _ in model.configurations),
    ]


def _is_live(body: Body) -> bool:
    m = body.mass_properties
    shapes = tuple(
        (s.size, s.placement.rotation, s.placement.position)
        for s in (*body.visuals, *body.collisions)
    )
    return has_symbols(
        (m.mass, m.com, m.inertia, tuple(position for _, position in body.points), shapes)
    )


def _numbers(joint: Joint) -> tuple[object, ...]:
    T = joint.placement
    return (
        *(T.rotation, T.position, joint.axis, joint.second_axis, joint.pitch),
        *(joint.damping, joint.friction, joint.armature),
    )


def _tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)
