"""Drives: actuators and tendons as carried data,
and the rotor inertia that actuators lay on joints."""

from __future__ import annotations

from collections.abc import Container, Iterable

from linkwork.errors import did_you_mean
from linkwork.formats.mjcf.defaults import Defaults
from linkwork.formats.mjcf.equalities import as_carried
from linkwork.formats.mjcf.marks import Marks
from linkwork.formats.mjcf.words import Words
from linkwork.formats.strictness import Passed
from linkwork.formats.xml import Element
from linkwork.model.carried import Carried

COMMON = (
    *(
        "ctrllimited",
        "ctrlrange",
        "forcelimited",
        "forcerange",
        "gear",
        "cranklength",
        "damping",
        "delay",
        "group",
    ),
    *("interp", "nsample", "user"),
)
"""Attributes that nearly every kind of actuator has."""

LACKING = {
    "orientation": ("ctrllimited", "gear", "cranklength", "damping"),
    "adhesion": ("ctrllimited", "gear", "cranklength", "damping"),
    "damper": ("ctrllimited",),
    "dcmotor": ("forcelimited", "forcerange"),
}


def tendons(
    root: Element, defaults: Defaults, joints: Iterable[str], marks: Marks, passed: Passed
) -> list[Carried]:
    """Every tendon with its path, but for those that linkwork wrote for couplings of several
    joints.

    One with inertia of its own couples joints in a way that linkwork's joints cannot hold: it is
    carried as data.
    """
    carried = []
    known = list(joints)
    for k, element in enumerate(each for section in root.all("tendon") for each in section):
        words = defaults.tendon(element)
        if words.number("armature", 0.0):
            name, line = element.attributes.get("name") or f"tendon_{k + 1}", element.line
            passed.remark(
                f'line {line}: armature of tendon "{name}" is carried, and adds no inertia'
            )
        for part in element:
            _check_joint(Words(part), "joint", known)
        name = element.attributes.get("name", "")
        if name in marks.couplings or f"tendon:{name}" in marks.rows:
            continue
        parts = (Carried(part.tag, "", tuple(part.attributes.items())) for part in element)
        carried.append(
            as_carried("tendon", words, element.attributes.get("name") or f"tendon_{k + 1}", *parts)
        )
    return carried


def fixed_tendons(
    root: Element, joints: Container[str]
) -> dict[str, tuple[tuple[str, float], ...]]:
    """Name -> ((joint, coefficient), ...) of the fixed tendons over joints of one coordinate."""
    tendons = {}
    for element in (each for section in root.all("tendon") for each in section.all("fixed")):
        terms = tuple((part.text("joint"), part.number("coef")) for part in element)
        if element.attributes.get("name") and all(joint in joints for joint, _ in terms):
            tendons[element.text("name")] = terms
    return tendons


def actuators(
    root: Element, defaults: Defaults, joints: dict[str, int], marks: Marks
) -> tuple[list[Carried], dict[str, float]]:
    """Every actuator, and the armature they add to joints: gear^2 times their own.

    joints   name -> number of coordinates of velocity
    """
    carried: list[Carried] = []
    added: dict[str, float] = {}
    for k, element in enumerate(each for section in root.all("actuator") for each in section):
        if f"actuator:{element.attributes.get('name', '')}" in marks.rows:
            continue
        words = defaults.actuator(element)
        joint = _check_joint(words, "joint", joints) or _check_joint(words, "jointinparent", joints)
        armature = words.number("armature", 0.0)
        if armature:
            if joint is None or joints[joint] != 1:
                where = (
                    "a tendon, a site or a body"
                    if joint is None
                    else f'joint "{joint}" of several coordinates'
                )
                raise words.holder("armature").error(
                    f"has armature on {where}, expected a hinge or a slide"
                )
            gear = words.overlaid("gear", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))[0]
            if armature < 0.0:
                raise words.holder("armature").error(
                    f"has armature {armature:g}, expected no negative number"
                )
            added[joint] = added.get(joint, 0.0) + gear * gear * armature
        name = element.attributes.get("name") or f"actuator_{k + 1}"
        carried.append(as_carried("actuator", _of_its_kind(words), name))
    return carried, added


def _of_its_kind(words: Words) -> Words:
    """An actuator with what it inherits from defaults of its own kind,
    and from those of other kinds what all have."""
    element = words.own
    shared = [word for word in COMMON if word not in LACKING.get(element.tag, ())]
    kept = {
        word: tuple(held for held in holders if held[1].tag == element.tag or word in shared)
        for word, holders in words.inherited.items()
    }
    return Words(element, {word: holders for word, holders in kept.items() if holders})


def _check_joint(words: Words, attribute: str, joints: Iterable[str]) -> str | None:
    name = words.own.attributes.get(attribute)
    if name is not None and name not in joints:
        raise words.error(
            f'names the joint "{name[:60]}", which does not exist{did_you_mean(name, joints)}'
        )
    return name
