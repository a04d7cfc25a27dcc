"""The shapes of a description as shapes that collide."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from linkwork.collision.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from linkwork.errors import NotPossible
from linkwork.model.body import Shape as DescribedShape
from linkwork.model.number import add, norm, scale, subtract
from linkwork.model.placement import Placement
from linkwork.model.rotation import along


def shape_of(shape: DescribedShape, who: str) -> Shape:
    """One described shape, in axes of its body; a mesh without its file is refused."""
    T, name = shape.placement, shape.name
    sizes: Any = shape.size
    match shape.kind:
        case "sphere":
            return Sphere(T.position, sizes[0], name)
        case "box":
            return Box(sizes, T, name)
        case "cylinder":
            return Cylinder(sizes[0], sizes[1], T, name)
        case "capsule":
            half = 0.5 * sizes[1]
            return Capsule(T.at((0.0, 0.0, -half)), T.at((0.0, 0.0, half)), sizes[0], name)
        case "mesh":
            return replace(_mesh(str(shape.mesh), tuple(map(float, sizes)), who), pose=T, name=name)
    raise NotPossible(f'{who}: a shape of kind "{shape.kind}" cannot be used for collisions')


@lru_cache(maxsize=256)
def _mesh(file: str, scale: tuple[float, ...], who: str) -> Mesh:
    """The triangles of a file, read once."""
    try:
        with open(file, "rb"):
            pass
    except (OSError, ValueError):
        raise NotPossible(
            f'{who}: the mesh "{file}" is not on this disk; visuals=True takes the visual shapes, '
            "or give shapes={body: [...]}"
        ) from None
    return Mesh.read(file, np.array(scale))


def described_shape(shape: Shape) -> DescribedShape:
    """A colliding shape as a description writes it; what no description knows is refused."""
    match shape:
        case Sphere():
            return DescribedShape(
                "sphere", (shape.radius,), Placement(position=shape.center), name=shape.name
            )
        case Box():
            return DescribedShape("box", shape.size, shape.pose, name=shape.name)
        case Cylinder():
            return DescribedShape(
                "cylinder", (shape.radius, shape.length), shape.pose, name=shape.name
            )
        case Capsule():
            way = subtract(shape.end, shape.start)
            T = Placement(along(way), scale(0.5, add(shape.start, shape.end)))
            return DescribedShape("capsule", (shape.radius, norm(way)), T, name=shape.name)
    raise NotPossible(f"a shape of kind {shape.kind} cannot be written to a robot description")
