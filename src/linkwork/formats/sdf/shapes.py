"""Shapes of an SDF link: visual and collision geometry with their colours."""

from __future__ import annotations

from linkwork.errors import InvalidFile
from linkwork.formats.meshes import MeshFinder
from linkwork.formats.sdf.poses import number, numbers, placement
from linkwork.formats.strictness import Passed
from linkwork.formats.xml import Element
from linkwork.model.body import Shape


class Shapes:
    """Reads the shapes of links; kinds that linkwork cannot draw are left out."""

    def __init__(self, meshes: MeshFinder, passed: Passed, visuals: bool) -> None:
        self.meshes, self.passed, self.read_visuals = meshes, passed, visuals

    def visuals(self, link: Element) -> tuple[Shape, ...]:
        shapes = []
        for element in link.all("visual") if self.read_visuals else ():
            try:
                shapes += self._shapes(element)
            except InvalidFile as error:
                self.passed.detail(error, "it is not drawn")
        return tuple(shapes)

    def collisions(self, link: Element) -> tuple[Shape, ...]:
        return tuple(shape for element in link.all("collision") for shape in self._shapes(element))

    def _shapes(self, element: Element) -> list[Shape]:
        geometry = element.needed("geometry")
        T, color = placement(element.only("pose")), self._color(element)
        name = element.attributes.get("name") or None
        known = ("box", "sphere", "cylinder", "capsule", "mesh")
        kinds = [kind for kind in geometry if kind.tag in known]
        return [Shape(k.tag, _size(k), T, color, self._mesh(k), name) for k in kinds]

    def _mesh(self, kind: Element) -> str | None:
        return self.meshes.find(kind.needed("uri").content.strip()) if kind.tag == "mesh" else None

    def _color(self, element: Element) -> tuple[float, float, float, float] | None:
        """The diffuse colour; what is wrong with it is only drawn."""
        materials = element.all("material")
        diffuse = materials[0].all("diffuse") if materials and self.read_visuals else []
        if not diffuse:
            return None
        try:
            r, g, b, a = (min(max(x, 0.0), 1.0) for x in numbers(diffuse[0], 4))
        except InvalidFile as error:
            self.passed.detail(error, "it has no colour")
            return None
        return (r, g, b, a)


def _size(kind: Element) -> tuple[float, ...]:
    """Sizes in the order of `Shape`."""
    match kind.tag:
        case "mesh":
            scale = kind.only("scale")
            return (1.0, 1.0, 1.0) if scale is None else numbers(scale, 3)
        case "box":
            sizes = numbers(kind.needed("size"), 3)
        case "sphere":
            sizes = (number(kind, "radius"),)
        case _:
            sizes = (number(kind, "radius"), number(kind, "length"))
    if min(sizes) < 0.0:
        raise kind.error(f"has a negative size: {', '.join(f'{size:g}' for size in sizes)} m")
    return sizes
