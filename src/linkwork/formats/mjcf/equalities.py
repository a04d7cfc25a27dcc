"""Equalities: connect and weld as loop closures, linear joint equalities as mimic or coupling,
the others carried.

MuJoCo holds its equalities softly (solref, solimp); linkwork's elements are exact, and the softness
is left out.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

from linkwork.errors import did_you_mean
from linkwork.formats.mjcf.bodies import Names
from linkwork.formats.mjcf.defaults import Defaults
from linkwork.formats.mjcf.marks import Marks
from linkwork.formats.mjcf.orientation import SHORTEST, position
from linkwork.formats.mjcf.words import Words
from linkwork.formats.strictness import Passed
from linkwork.formats.xml import Element
from linkwork.model import elements as loops
from linkwork.model.carried import Carried
from linkwork.model.joint import Mimic
from linkwork.model.number import Vector
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_quaternion

_NOT_CARRIED = {"actuator": ("class", "name", "armature")}
"""Classes are resolved, and the armature of an actuator has gone to its joint."""

_IDENTITY = (0.0, 1.0, 0.0, 0.0, 0.0)
"""polycoef of a joint equality that gives none: both joints turn alike."""


@dataclass(frozen=True)
class Mechanism:
    """What an equality can name.

    poses        T_world_body at MuJoCo's reference qpos0, by the file's name of the body, the world
                 included
    sites        name -> (body, T_body_site)
    references   joint of one coordinate -> its reference
    tendons      fixed tendon -> ((joint, coefficient), ...)
    ends         sites that linkwork wrote for the ends of closures, which have no names in the
                 model
    """

    poses: Mapping[str, Placement]
    sites: Mapping[str, tuple[str, Placement]]
    references: Mapping[str, float]
    tendons: Mapping[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    ends: Container[str] = ()


@dataclass
class Equalities:
    """What the <equality> sections become."""

    elements: list[loops.Element] = field(default_factory=list)
    mimic: dict[str, Mimic] = field(default_factory=dict)
    carried: list[Carried] = field(default_factory=list)


def equalities(
    root: Element,
    defaults: Defaults,
    mechanism: Mechanism,
    marks: Marks,
    follow: bool,
    names: Names,
    passed: Passed,
) -> Equalities:
    """`follow`: a joint equality y - y0 = a0 + a1 (x - x0) makes y mimic x,
    unless y follows already or in a circle.

    names   what is taken already: an equality without a name gets a free one
    """
    results = Equalities()
    taken = [
        each.attributes.get("name", "") for section in root.all("equality") for each in section
    ]
    names.taken.update(taken)
    results.elements += marks.elements
    for element in (each for section in root.all("equality") for each in section):
        if f"equality:{element.attributes.get('name', '')}" in marks.rows:
            continue
        words = defaults.equality(element)
        wish = f"{element.tag}_{len(results.elements) + len(results.carried) + 1}"
        name = element.attributes.get("name") or names.free(wish)
        if not words.flag("active", True):
            results.carried.append(as_carried("equality", words, name))
            continue
        match element.tag:
            case "connect" | "weld":
                closure = (_connect if element.tag == "connect" else _weld)(words, name, mechanism)
                dependent = marks.dependent.get(name, ())
                results.elements.append(
                    replace(closure, dependent=dependent) if dependent else closure
                )
            case "joint":
                _joint(
                    words, name, mechanism, follow and name not in marks.couplings, results, passed
                )
            case "tendon" if (coupling := _tendon(words, name, mechanism)) is not None:
                results.elements.append(coupling)
            case _:
                results.carried.append(as_carried("equality", words, name))
                passed.remark(f'equality {element.tag} "{name}" is carried but holds nothing')
    return results


def as_carried(section: str, words: Words, name: str, *parts: Carried) -> Carried:
    """An element with all that it inherits."""
    resolved = _NOT_CARRIED.get(section, ("class", "name"))
    attributes = tuple(
        (word, text) for word, text in words.attributes.items() if word not in resolved
    )
    return Carried(f"mjcf {section} {words.own.tag}".rstrip(), name, attributes, parts)


def _connect(words: Words, name: str, mechanism: Mechanism) -> loops.LoopClosure:
    if words.has("site1") or words.has("site2"):
        first, second = (_site(words, each, mechanism)[0] for each in ("site1", "site2"))
        return loops.LoopClosure(name, "point", first, second)
    anchor = position(words, "anchor") if words.has("anchor") else words.numbers("anchor", 3)
    T1, T2 = (mechanism.poses[_body(words, each, mechanism)] for each in ("body1", "body2"))
    first = _point(_body(words, "body1", mechanism), (anchor[0], anchor[1], anchor[2]))
    second = _point(_body(words, "body2", mechanism), T2.inverse().at(T1.at(first.position)))
    return loops.LoopClosure(name, "point", first, second)


def _weld(words: Words, name: str, mechanism: Mechanism) -> loops.LoopClosure:
    """Both frames coincide; relpose is T_body1_body2, with a zero quaternion that of the reference;
    anchor in body2."""
    turning = words.number("torquescale", 1.0) != 0.0
    directions = loops.WELD_DIRECTIONS if turning else loops.WELD_DIRECTIONS[:3]
    if words.has("site1") or words.has("site2"):
        (first, R1), (second, R2) = (_site(words, each, mechanism) for each in ("site1", "site2"))
        return loops.LoopClosure(
            name, "weld", first, second, rotation=R1, second_rotation=R2, directions=directions
        )
    body1, body2 = (_body(words, each, mechanism) for each in ("body1", "body2"))
    x, y, z, qw, qx, qy, qz = words.numbers("relpose", 7, (0.0,) * 7)
    if qw * qw + qx * qx + qy * qy + qz * qz < SHORTEST:
        T12 = mechanism.poses[body1].inverse() @ mechanism.poses[body2]
    else:
        T12 = Placement(from_quaternion((qx, qy, qz, qw)), (x, y, z))
    anchor = position(words, "anchor")
    first, second = _point(body1, T12.at(anchor)), _point(body2, anchor)
    return loops.LoopClosure(
        name, "weld", first, second, rotation=T12.rotation, directions=directions
    )


def _joint(
    words: Words, name: str, mechanism: Mechanism, follow: bool, results: Equalities, passed: Passed
) -> None:
    a0, a1, *higher = words.overlaid("polycoef", _IDENTITY)
    joint1, ref1 = _scalar_joint(words, "joint1", mechanism)
    if not words.text("joint2", "") or any(higher):
        results.carried.append(as_carried("equality", words, name))
        what = (
            "a polynomial of higher degree" if words.text("joint2", "") else "about one joint alone"
        )
        passed.remark(f'equality joint "{name}" is {what}: it is carried but holds nothing')
        return
    joint2, ref2 = _scalar_joint(words, "joint2", mechanism)
    offset = ref1 + a0 - a1 * ref2
    if (
        follow
        and a1
        and joint1 not in results.mimic
        and not _leads_to(results.mimic, joint2, joint1)
    ):
        results.mimic[joint1] = Mimic(joint2, a1, offset)
    else:
        results.elements.append(loops.Coupling(name, ((joint1, 1.0), (joint2, -a1)), offset))


def _tendon(words: Words, name: str, mechanism: Mechanism) -> loops.Coupling | None:
    """Fixed tendons: L1 - L1_0 = a0 + a1 (L2 - L2_0) with L = sum of coefficient * q is linear in
    the joints."""
    a0, a1, *higher = words.overlaid("polycoef", _IDENTITY)
    first, second = words.text("tendon1"), words.text("tendon2", "")
    if first not in mechanism.tendons or (
        second and (any(higher) or second not in mechanism.tendons)
    ):
        return None
    terms = dict.fromkeys((joint for joint, _ in mechanism.tendons[first]), 0.0)
    for joint, coefficient in mechanism.tendons[first]:
        terms[joint] += coefficient
    for joint, coefficient in mechanism.tendons[second] if second else ():
        terms[joint] = terms.get(joint, 0.0) - a1 * coefficient
    kept = tuple((joint, c) for joint, c in terms.items() if c)
    return loops.Coupling(
        name, kept, a0 + sum(c * mechanism.references[joint] for joint, c in kept)
    )


def _leads_to(mimic: Mapping[str, Mimic], joint: str, end: str) -> bool:
    while joint != end and joint in mimic:
        joint = mimic[joint].joint
    return joint == end


def _body(words: Words, attribute: str, mechanism: Mechanism) -> str:
    name = words.text(attribute, "world" if attribute == "body2" else None)
    if name not in mechanism.poses:
        near = did_you_mean(name, mechanism.poses)
        raise words.error(f'names the body "{name[:60]}", which does not exist{near}')
    return name


def _site(
    words: Words, attribute: str, mechanism: Mechanism
) -> tuple[loops.Point, tuple[Vector, Vector, Vector]]:
    name = words.text(attribute)
    if name not in mechanism.sites:
        near = did_you_mean(name, mechanism.sites)
        raise words.error(f'names the site "{name[:60]}", which does not exist{near}')
    body, T = mechanism.sites[name]
    return _point(body, T.position, "" if name in mechanism.ends else name), T.rotation


def _point(body: str, at: Vector, name: str = "") -> loops.Point:
    return loops.Point(None if body == "world" else body, at, name)


def _scalar_joint(words: Words, attribute: str, mechanism: Mechanism) -> tuple[str, float]:
    name = words.text(attribute)
    if name not in mechanism.references:
        near = did_you_mean(name, mechanism.references)
        raise words.error(
            f'names the joint "{name[:60]}", which is no hinge or slide of this file{near}'
        )
    return name, mechanism.references[name]
