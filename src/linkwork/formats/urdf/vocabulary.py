"""The words of URDF: which tags and attributes linkwork reads, and which it knows to belong to other tools.

URDF is a language others extend, so a word that is in neither table is left out with one warning for the file. A word
that looks like a misspelling of one linkwork reads is an error: `<orgin>` must not silently move a joint.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from linkwork.errors import InvalidFile
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
    "joint": (("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"), ("name", "type")),
    "parent": ((), ("link",)),
    "child": ((), ("link",)),
    "axis": ((), ("xyz",)),
    "limit": ((), ("lower", "upper", "velocity", "effort")),
    "dynamics": ((), ("damping", "friction", "armature")),
    "mimic": ((), ("joint", "multiplier", "offset")),
}

# tag -> tags inside it that are read by simulators, controllers or drivers, and do not change the mechanism
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
    "link": ("contact", "surface", "sensor", "self_filter", "collision_checking", "origin", "gravity", "kinematic"),
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
    "limit": ("current", "gear_velocity", "command_effort", "acceleration", "deceleration", "jerk"),
    "dynamics": ("D", "K", "mu_coulomb", "mu_viscous", "spring_stiffness", "spring_reference", "rotor_inertia"),
}

# tags that would change the mechanism if they were left out
REFUSED_TAGS = {
    "loop_joint": "closes a loop, which URDF has no word for; describe the loop in a .robot.yaml file",
}

_MISSPELT = 0.82  # of difflib's ratio: "orgin" and "origin" have 0.91, "point" and "joint" 0.80


def unknown_parts(robot: Element) -> list[str]:
    """Tags and attributes in neither table, as `<tag> on line 7`; refuses xacro, misspellings and REFUSED_TAGS."""
    return list(_unknown_parts(robot))


def _unknown_parts(element: Element) -> Iterator[str]:
    refuse_xacro(element)
    tags, attributes = READ[element.tag]
    for attribute in element.attributes:
        if attribute in attributes or ":" in attribute:
            continue
        absent = [each for each in attributes if each not in element.attributes]
        if attribute in FOREIGN_ATTRIBUTES.get(element.tag, ()):
            continue
        if near := _meant(attribute, absent):
            raise element.error(f'has an attribute "{attribute}", expected "{near}"')
        yield f'attribute "{attribute}" on line {element.line}'
    for child in element:
        refuse_xacro(child)
        if child.tag in tags:
            yield from _unknown_parts(child)
        elif child.tag in REFUSED_TAGS:
            raise child.error(REFUSED_TAGS[child.tag])
        elif ":" in child.tag or child.tag in FOREIGN_TAGS.get(element.tag, ()):
            continue
        elif near := _meant(child.tag, tags):
            raise child.error(f"is not a tag of URDF in this place, expected <{near}>")
        else:
            yield f"<{child.tag}> on line {child.line}"


def refuse_xacro(element: Element) -> None:
    """Xacro is a macro language whose result is a URDF; only the result is a robot."""
    macro = element.tag.startswith("xacro:")
    if macro or any("${" in value or "$(" in value for value in element.attributes.values()):
        raise InvalidFile(
            f"{element.source}:{element.line}: {element.described} is xacro, not URDF; "
            "expand it first: xacro robot.urdf.xacro > robot.urdf"
        )


def _meant(word: str, choices: Iterable[str]) -> str | None:
    """The word that was meant, if this one is a misspelling of it."""
    near = difflib.get_close_matches(word.lower(), list(choices), n=1, cutoff=_MISSPELT)
    return near[0] if near else None
