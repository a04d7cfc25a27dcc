"""Shapes of a URDF: visual and collision geometry with their colours."""

from __future__ import annotations

from linkwork.formats.meshes import MeshFinder
from linkwork.formats.urdf.vocabulary import SHAPES
from linkwork.formats.xml import Element
from linkwork.model.body import Shape
from linkwork.model.placement import Placement
from linkwork.model.rotation import from_quaternion, from_rpy

Color = tuple[float, float, float, float]


def placement(origin: Element | None) -> Placement:
    """T_parent_child of an <origin>: xyz [m] with rpy [rad], or with quat_xyzw as of URDF 1.2."""
    if origin is None:
        return Placement()
    if origin.has("quat_xyzw"):
        if origin.has("rpy"):
            raise origin.error("has both rpy and quat_xyzw, expected one of them")
        quaternion = origin.numbers("quat_xyzw", 4)
        if abs(sum(x * x for x in quaternion) - 1.0) > 1e-3:  # published with few digits
            raise origin.error(f"has quat_xyzw {quaternion}, expected a unit quaternion")
        R = from_quaternion(quaternion)
    else:
        R = from_rpy(origin.numbers("rpy", 3, (0.0, 0.0, 0.0)))
    x, y, z = origin.numbers("xyz", 3, (0.0, 0.0, 0.0))
    return Placement(R, (x, y, z))


def named_colors(robot: Element) -> dict[str, Color]:
    """Colours by material name: those of the robot first, then those first given inside a shape."""
    inside = [m for link in robot.all("link") for shape in link for m in shape.all("material")]
    colors: dict[str, Color] = {}
    for material in [*robot.all("material"), *inside]:
        name, own = material.text("name", ""), _own_color(material)
        if name and own is not None:
            colors.setdefault(name, own)
    return colors


def shapes(link: Element, tag: str, colors: dict[str, Color], meshes: MeshFinder) -> tuple[Shape, ...]:
    """The shapes of a link under <visual> or <collision>. One of a kind linkwork does not know is left out."""
    found = []
    for element in link.all(tag):
        geometry = element.needed("geometry")
        kinds = [child for child in geometry if child.tag in SHAPES]
        if len(kinds) > 1:
            raise geometry.error(f"holds <{kinds[0].tag}> and <{kinds[1].tag}>, expected one shape")
        T = placement(element.only("origin"))
        material = element.only("material")
        color = None if material is None else _own_color(material) or colors.get(material.text("name", ""))
        for kind in kinds:
            mesh = meshes.find(kind.text("filename")) if kind.tag == "mesh" else None
            found.append(Shape(kind.tag, _size(kind), T, color, mesh, element.attributes.get("name") or None))
    return tuple(found)


def _own_color(material: Element) -> Color | None:
    """The colour a material gives itself. Published files also say 255 or -1: cut to 0..1, it is only drawing."""
    color = material.only("color")
    if color is None:
        return None
    r, g, b, a = (min(max(x, 0.0), 1.0) for x in color.numbers("rgba", 4))
    return (r, g, b, a)


def _size(kind: Element) -> tuple[float, ...]:
    """Sizes in the order of `Shape`."""
    match kind.tag:
        case "mesh":
            return kind.numbers("scale", 3, (1.0, 1.0, 1.0))
        case "box":
            return _not_negative(kind, kind.numbers("size", 3))
        case "sphere":
            return _not_negative(kind, kind.numbers("radius", 1))
    return _not_negative(kind, (kind.number("radius"), kind.number("length")))


def _not_negative(kind: Element, sizes: tuple[float, ...]) -> tuple[float, ...]:
    if min(sizes) < 0.0:
        raise kind.error(f"has a negative size: {', '.join(f'{size:g}' for size in sizes)} m")
    return sizes
