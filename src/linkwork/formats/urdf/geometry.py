"""Shapes of a URDF: visual and collision geometry with their colours."""

from __future__ import annotations

from linkwork.errors import InvalidFile
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.strictness import Passed
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


class Palette:
    """Colours of materials. They are only drawn: what is wrong with one is passed over."""

    def __init__(self, robot: Element, passed: Passed) -> None:
        self.passed = passed
        inside = [m for link in robot.all("link") for shape in link for m in shape.all("material")]
        self._own = {
            id(material): self._color(material) for material in [*robot.all("material"), *inside]
        }
        self._named: dict[str, Color] = {}
        for material in [*robot.all("material"), *inside]:  # those of the robot first
            name, color = material.text("name", ""), self._own[id(material)]
            if name and color is not None:
                self._named.setdefault(name, color)

    def of(self, shape: Element) -> Color | None:
        """The colour of a <visual> or <collision>."""
        material = shape.only("material", self.passed, drawn=True)
        if material is None:
            return None
        return self._own[id(material)] or self._named.get(material.text("name", ""))

    def _color(self, material: Element) -> Color | None:
        """The colour a material gives itself. Published files also say 255 or -1: cut to 0..1,
        it is only drawing."""
        color = material.only("color", self.passed, drawn=True)
        if color is None:
            return None
        try:
            numbers = (*color.few("rgba", 3, 4), 1.0)
        except InvalidFile as error:
            self.passed.detail(error, "it is not drawn")
            return None
        if len(numbers) == 4:
            self.passed.detail(
                color.error(f'has rgba="{color.text("rgba")}", expected 4 numbers'), "opaque"
            )
        r, g, b, a = (min(max(x, 0.0), 1.0) for x in numbers[:4])
        return (r, g, b, a)


class Shapes:
    """Reads the shapes of links; one of a kind that linkwork does not know is left out."""

    def __init__(self, robot: Element, meshes: MeshFinder, passed: Passed) -> None:
        self.palette = Palette(robot, passed)
        self.meshes, self.passed = meshes, passed

    def visuals(self, link: Element) -> tuple[Shape, ...]:
        """What is drawn: a shape that cannot be read is passed over, the others stay."""
        shapes: list[Shape] = []
        for element in link.all("visual"):
            try:
                shapes += self._shapes(element, drawn=True)
            except InvalidFile as error:
                self.passed.detail(error, "it is not drawn")
        return tuple(shapes)

    def collisions(self, link: Element) -> tuple[Shape, ...]:
        """What collides: part of the mechanics."""
        return tuple(
            shape
            for element in link.all("collision")
            for shape in self._shapes(element, drawn=False)
        )

    def _shapes(self, element: Element, drawn: bool) -> list[Shape]:
        geometry = element.only("geometry", self.passed, drawn)
        if geometry is None:
            error = element.error("has no <geometry>, expected one")
            if drawn:
                self.passed.detail(error, "it is left out")
            else:
                self.passed.plain(error, "it is left out")
            return []
        kinds = [child for child in geometry if child.tag in SHAPES]
        if len(kinds) > 1:
            raise geometry.error(f"holds <{kinds[0].tag}> and <{kinds[1].tag}>, expected one shape")
        T = placement(element.only("origin", self.passed, drawn))
        color, name = self.palette.of(element), element.attributes.get("name") or None
        return [
            Shape(each.tag, self._size(each), T, color, self._mesh(each), name) for each in kinds
        ]

    def _mesh(self, kind: Element) -> str | None:
        return self.meshes.find(kind.text("filename")) if kind.tag == "mesh" else None

    def _size(self, kind: Element) -> tuple[float, ...]:
        """Sizes in the order of `Shape`."""
        match kind.tag:
            case "mesh":
                return self._scale(kind) if kind.has("scale") else (1.0, 1.0, 1.0)
            case "box":
                return _not_negative(kind, kind.numbers("size", 3))
            case "sphere":
                return _not_negative(kind, kind.numbers("radius", 1))
        return _not_negative(kind, (kind.number("radius"), kind.number("length")))

    def _scale(self, mesh: Element) -> tuple[float, ...]:
        """Three factors; published files give one for all three, or a fourth."""
        factors = mesh.few("scale", 1, 4)
        if len(factors) == 2:
            raise mesh.error(f'has scale="{mesh.text("scale")}", expected 3 numbers')
        if len(factors) != 3:
            meaning = "one for all three axes" if len(factors) == 1 else "the first three count"
            self.passed.detail(
                mesh.error(f'has scale="{mesh.text("scale")}", expected 3 numbers'), meaning
            )
        return factors * 3 if len(factors) == 1 else factors[:3]


def _not_negative(kind: Element, sizes: tuple[float, ...]) -> tuple[float, ...]:
    if min(sizes) < 0.0:
        raise kind.error(f"has a negative size: {', '.join(f'{size:g}' for size in sizes)} m")
    return sizes
