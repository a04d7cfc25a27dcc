"""The words of URDF: which tags and attributes linkwork reads,
and which it knows to belong to other tools.

URDF is a language others extend, so a word that is in neither table is left out with one warning
for the file. A word that looks like a misspelling of one linkwork reads is an error: `<orgin>` must
not silently move a joint.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from linkwork.errors import LONGEST_MEANT
from linkwork.formats.strictness import Passed
from linkwork.formats.xml import Element

NAMESPACE = "linkwork"
"""Prefix of linkwork's own attributes, which mark frames, points and the world (see write.py)."""

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")

# tag -> (tags read inside it, attributes read of it)
READ: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "robot": (("link", "joint", "material"), ("name",)),
    "link": (("inertial", "visual", "collision"), ("name",)),
    "inertial": (("origin", "mass", "inertia"), ()),
    "mass": ((), ("value",)),
    "inertia": ((), ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "visual": (("origin", "geometry", "material"), ("name",)),
    "collision": (("origin", "geometry", "material"), ("name",)),
    "origin": ((), ("xyz", "rpy", "quat_xyzw")),
    "geometry": (SHAPES, ()),
    "box": ((), ("size",)),
    "cylinder": ((), ("radius", "length")),
    "sphere": ((), ("radius",)),
    "capsule": ((), ("radius", "length")),
    "mesh": ((), ("filename", "scale")),
    "material": (("color",), ("name",)),
    "color": ((), ("rgba",)),
    "joint": (
        ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
        ("name", "type"),
    ),
    "parent": ((), ("link",)),
    "child": ((), ("link",)),
    "axis": ((), ("xyz",)),
    "limit": ((), ("lower", "upper", "velocity", "effort", "acceleration", "deceleration")),
    "dynamics": ((), ("damping", "friction", "armature")),
    "mimic": ((), ("joint", "multiplier", "offset")),
}

# tag -> tags inside it that are read by simulators, controllers or drivers,
# and do not change the mechanism
FOREIGN_TAGS: dict[str, tuple[str, ...]] = {
    "robot": (
        "gazebo",
        "transmission",
        "ros2_control",
        "sensor",
        "mujoco",
        "self_collision_checking",
        "disable_collisions",
    ),
    "link": (
        "contact",
        "surface",
        "sensor",
        "self_filter",
        "collision_checking",
        "origin",
        "gravity",
        "kinematic",
    ),
    "inertial": (),
    "visual": ("meta",),
    "collision": ("verbose", "contact_coefficients", "surface"),
    "geometry": ("plane", "ellipsoid", "cone", "heightmap", "cdf", "sdf", "convex"),
    "material": ("texture",),
    "joint": ("calibration", "safety_controller", "hardwareInterface", "transmission"),
}

# tag -> attributes of it that other tools read
FOREIGN_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "robot": ("version", "xmlns"),
    "link": ("type", "concave", "id"),
    "joint": ("dont_collapse", "id"),
    "geometry": ("name",),
    "visual": ("group",),
    "collision": ("group", "concave"),
    "limit": ("current", "gear_velocity", "command_effort", "jerk"),
    "dynamics": (
        "D",
        "K",
        "mu_coulomb",
        "mu_viscous",
        "spring_stiffness",
        "spring_reference",
        "rotor_inertia",
    ),
}

# tags that would change the mechanism if they were left out
REFUSED_TAGS = {
    "loop_joint": "closes a loop, which URDF has no word for; describe the loop in a "
    ".robot.yaml file",
}

_MISSPELT = 0.82  # of difflib's ratio: "orgin" and "origin" have 0.91, "point" and "joint" 0.80


_DRAWN = ("visual", "material")
"""Tags below which everything is only drawn: nothing there stops a robot."""


def check_words(robot: Element, passed: Passed) -> None:
    """Remarks tags and attributes in neither table; refuses misspellings, xacro and REFUSED_TAGS.

    Below <visual> and <material> all of these are details that are only drawn. What is passed over
    is taken out of the element, so that nobody reads it.
    """
    _check(robot, passed, drawn=False)


def _check(element: Element, passed: Passed, drawn: bool) -> None:
    if is_xacro(element):
        _refuse_xacro(element, passed, drawn)
    tags, attributes = READ[element.tag]
    for attribute in element.attributes:
        foreign = FOREIGN_ATTRIBUTES.get(element.tag, ())
        if attribute in attributes or attribute in foreign or ":" in attribute:
            continue
        near = _meant(attribute, [each for each in attributes if each not in element.attributes])
        if not near:
            passed.remark(f'left out attribute "{attribute[:60]}" on line {element.line}')
            continue
        sentence = f'has an attribute "{attribute}", expected "{near}"'
        if not drawn:
            raise element.error(sentence)
        passed.detail(element.error(sentence))
    if not element.children:
        return
    element.children = [
        child
        for child in element.children
        if child.tag in tags or _is_read(child, element, tags, passed, drawn)
    ]
    for child in element.children:
        if (child.attributes or child.children) and child.tag in tags:  # an empty one says nothing
            _check(child, passed, drawn or child.tag in _DRAWN)


def _is_read(
    child: Element, parent: Element, tags: Iterable[str], passed: Passed, drawn: bool
) -> bool:
    """Whether a child of a tag that is not among those read stays; remarks or refuses it
    otherwise."""
    if child.tag.startswith("xacro:"):
        error = child.error(f"is xacro, not URDF; {EXPAND}")
        if drawn:
            passed.detail(error)
        else:
            passed.plain(error, "it is left out")
        return False
    if child.tag in REFUSED_TAGS:
        raise child.error(REFUSED_TAGS[child.tag])
    if ":" in child.tag or child.tag in FOREIGN_TAGS.get(parent.tag, ()):
        return True
    near = _meant(child.tag, tags)
    if not near:
        passed.remark(f"left out <{child.tag[:60]}> on line {child.line}")
        return False
    error = child.error(f"is not a tag of URDF in this place, expected <{near}>")
    if not drawn:
        raise error
    passed.detail(error)
    return False


EXPAND = "expand it first: xacro robot.urdf.xacro > robot.urdf, or load the .xacro file"


def _refuse_xacro(element: Element, passed: Passed, drawn: bool) -> None:
    """Xacro is a macro language whose result is a URDF; only the result is a robot."""
    error = element.error(f"is xacro, not URDF; {EXPAND}")
    if not drawn:
        raise error
    passed.detail(error)


def is_xacro(element: Element) -> bool:
    """Whether an element is a macro or has an expression among its attributes."""
    if element.tag.startswith("xacro:"):
        return True
    for value in element.attributes.values():
        if "$" in value and ("${" in value or "$(" in value):
            return True
    return False


def _meant(word: str, choices: Iterable[str]) -> str | None:
    """The word that was meant, if this one is a misspelling of it."""
    if len(word) > LONGEST_MEANT:
        return None
    word = word.lower()
    choices = [each for each in choices if _may_be(word, each)]
    if not choices:
        return None
    near = difflib.get_close_matches(word, choices, n=1, cutoff=_MISSPELT)
    return near[0] if near else None


def _may_be(word: str, choice: str) -> bool:
    """Whether the ratio 2 M / (m + n) of M matching letters can reach _MISSPELT;
    each letter matches at most once."""
    least = 0.5 * _MISSPELT * (len(word) + len(choice))
    return (
        min(len(word), len(choice)) >= least and sum([letter in choice for letter in word]) >= least
    )
