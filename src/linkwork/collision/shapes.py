"""Shapes that can touch each other: frozen values in SI units,
placed in the axes of a body or of the world.

`Sphere`, `Capsule`, `TaperedCapsule`, `Box`, `HalfSpace` and `Cylinder` are numbers: `columns()`
gives them in the order of `distances.COLUMNS`, and machine code works on them. `Convex` and `Mesh`
hold triangles and are compared by coal. `Cloud` and `HeightField` (in `fields.py`) are obstacles
only.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, number
from linkwork.collision.placing import Pose, length, placed, vector
from linkwork.collision.pointed import Pointed
from linkwork.collision.shape_values import (
    grown_length,
    like,
    middle,
    points_of,
    settle,
    shifted_point,
)
from linkwork.doors import without_door
from linkwork.errors import InvalidInput
from linkwork.formats.mesh_file import read_mesh
from linkwork.model.number import Vector
from linkwork.model.placement import HERE, Placement
from linkwork.results import short_repr

MOST_TRIANGLES = 5_000_000


class _Plain:
    """What shapes that are a few numbers have together."""

    __slots__ = ()

    def numbers(self) -> list[float]:
        """The numbers of the shape, in the order of `distances.COLUMNS`."""
        raise NotImplementedError

    def columns(self) -> np.ndarray:
        """The same as an array."""
        return np.array(self.numbers())


class _Ended(_Plain):
    """What shapes between two points have together."""

    __slots__ = ()
    start: Vector
    end: Vector

    def _set_ends(self, who: str, **radii: float) -> None:
        ends = {key: vector(getattr(self, key), f"{who}: {key}") for key in ("start", "end")}
        settle(
            self, **ends, **{key: length(radius, f"{who}: {key}") for key, radius in radii.items()}
        )

    def shifted(self, by: Vector) -> Self:
        return like(self, start=shifted_point(self.start, by), end=shifted_point(self.end, by))

    def moved(self, T: Placement) -> Self:
        return replace(self, start=T.at(self.start), end=T.at(self.end))  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class Sphere(_Plain):
    """A ball; radius 0 is a point."""

    kind: ClassVar[str] = "sphere"
    center: Vector
    radius: float
    name: str | None = None

    def __post_init__(self) -> None:
        settle(
            self,
            center=vector(self.center, "Sphere: center"),
            radius=length(self.radius, "Sphere: radius"),
        )

    @without_door
    def numbers(self) -> list[float]:
        return [*self.center, self.radius]

    def shifted(self, by: Vector) -> Sphere:
        return like(self, center=shifted_point(self.center, by))

    def moved(self, T: Placement) -> Sphere:
        return replace(self, center=T.at(self.center))

    def grown(self, by: float) -> Sphere:
        return replace(self, radius=grown_length(self.radius, by, "Sphere"))

    @without_door
    def ball(self) -> tuple[Vector, float]:
        return self.center, self.radius


@dataclass(frozen=True, slots=True)
class Capsule(_Ended):
    """All points within `radius` of the segment from `start` to `end`; start = end is a sphere,
    radius 0 a segment."""

    kind: ClassVar[str] = "capsule"
    start: Vector
    end: Vector
    radius: float
    name: str | None = None

    def __post_init__(self) -> None:
        self._set_ends("Capsule", radius=self.radius)

    @without_door
    def numbers(self) -> list[float]:
        return [*self.start, *self.end, self.radius]

    def grown(self, by: float) -> Capsule:
        return replace(self, radius=grown_length(self.radius, by, "Capsule"))

    @without_door
    def ball(self) -> tuple[Vector, float]:
        return middle(self.start, self.end), 0.5 * math.dist(self.start, self.end) + self.radius


@dataclass(frozen=True, slots=True)
class TaperedCapsule(_Ended):
    """The hull of two balls."""

    kind: ClassVar[str] = "tapered_capsule"
    start: Vector
    end: Vector
    start_radius: float
    end_radius: float
    name: str | None = None

    def __post_init__(self) -> None:
        self._set_ends("TaperedCapsule", start_radius=self.start_radius, end_radius=self.end_radius)

    @without_door
    def numbers(self) -> list[float]:
        return [*self.start, *self.end, self.start_radius, self.end_radius]

    def grown(self, by: float) -> TaperedCapsule:
        start, end = (
            grown_length(radius, by, "TaperedCapsule")
            for radius in (self.start_radius, self.end_radius)
        )
        return replace(self, start_radius=start, end_radius=end)

    @without_door
    def ball(self) -> tuple[Vector, float]:
        half = 0.5 * math.dist(self.start, self.end)
        return middle(self.start, self.end), half + max(self.start_radius, self.end_radius)


@dataclass(frozen=True, slots=True)
class Box(_Plain):
    """A box of full lengths `size` (x, y, z) about the origin of its pose."""

    kind: ClassVar[str] = "box"
    size: Vector
    pose: Placement = HERE
    name: str | None = None

    def __post_init__(self) -> None:
        size = vector(self.size, "Box: size")
        if min(size) < 0.0:
            raise InvalidInput(f"Box: size is {list(size)}, expected no negative length")
        settle(self, size=size, pose=placed(self.pose, "Box"))

    @without_door
    def numbers(self) -> list[float]:
        (a, b, c), (d, e, f), (g, h, i) = self.pose.rotation
        x, y, z = self.size
        return [*self.pose.position, a, b, c, d, e, f, g, h, i, 0.5 * x, 0.5 * y, 0.5 * z]

    def shifted(self, by: Vector) -> Box:
        return like(self, pose=Placement(self.pose.rotation, shifted_point(self.pose.position, by)))

    def moved(self, T: Placement) -> Box:
        return replace(self, pose=T @ self.pose)

    def grown(self, by: float) -> Box:
        x, y, z = (grown_length(side, 2.0 * by, "Box") for side in self.size)
        return replace(self, size=(x, y, z))

    @without_door
    def ball(self) -> tuple[Vector, float]:
        return self.pose.position, 0.5 * math.hypot(*self.size)


@dataclass(frozen=True, slots=True)
class HalfSpace(_Plain):
    """Everything on and below a plane: normal' x <= offset.
    The normal points to the free side and is made a unit."""

    kind: ClassVar[str] = "half_space"
    normal: Vector
    offset: float
    name: str | None = None

    def __post_init__(self) -> None:
        n = np.array(vector(self.normal, "HalfSpace: normal"))
        size = np.linalg.norm(n)
        if not size > 0.0:
            raise InvalidInput("HalfSpace: normal is [0, 0, 0], expected a direction")
        settle(
            self, normal=tuple((n / size).tolist()), offset=number(self.offset, "HalfSpace: offset")
        )

    @without_door
    def numbers(self) -> list[float]:
        return [*self.normal, self.offset]

    def shifted(self, by: Vector) -> HalfSpace:
        return self.moved(Placement(position=by))

    def moved(self, T: Placement) -> HalfSpace:
        n: np.ndarray = np.array(T.rotation) @ np.array(self.normal)
        a, b, c = n.tolist()
        return replace(self, normal=(a, b, c), offset=self.offset + float(n @ T.position))

    def grown(self, by: float) -> HalfSpace:
        return replace(self, offset=self.offset + by)

    @without_door
    def ball(self) -> tuple[Vector, float]:
        x, y, z = (self.offset * n for n in self.normal)
        return (x, y, z), math.inf


@dataclass(frozen=True, slots=True)
class Cylinder(_Plain):
    """A cylinder about the z axis of its pose, which is in its middle."""

    kind: ClassVar[str] = "cylinder"
    radius: float
    length: float
    pose: Placement = HERE
    name: str | None = None

    def __post_init__(self) -> None:
        sizes = {
            key: length(getattr(self, key), f"Cylinder: {key}") for key in ("radius", "length")
        }
        settle(self, **sizes, pose=placed(self.pose, "Cylinder"))

    @property
    def axis(self) -> Vector:
        x, y, z = (row[2] for row in self.pose.rotation)
        return x, y, z

    @without_door
    def numbers(self) -> list[float]:
        return [*self.pose.position, *self.axis, self.radius, 0.5 * self.length]

    def shifted(self, by: Vector) -> Cylinder:
        return like(self, pose=Placement(self.pose.rotation, shifted_point(self.pose.position, by)))

    def moved(self, T: Placement) -> Cylinder:
        return replace(self, pose=T @ self.pose)

    def grown(self, by: float) -> Cylinder:
        radius = grown_length(self.radius, by, "Cylinder")
        height = grown_length(self.length, 2.0 * by, "Cylinder")
        return replace(self, radius=radius, length=height)

    @without_door
    def ball(self) -> tuple[Vector, float]:
        return self.pose.position, math.hypot(self.radius, 0.5 * self.length)


@short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Convex(Pointed):
    """The convex hull of points `vertices` (n, 3) in axes of its pose, grown by `margin` [m]."""

    kind: ClassVar[str] = "convex"
    vertices: np.ndarray
    pose: Placement = HERE
    name: str | None = None
    margin: float = 0.0
    _content: bytes | None = field(default=None, init=False, repr=False)
    _ball: tuple[Vector, float] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        points = points_of(self.vertices, "Convex: vertices", least=1)
        settle(
            self,
            vertices=points,
            pose=placed(self.pose, "Convex"),
            margin=length(self.margin, "Convex: margin"),
        )


@short_repr
@dataclass(frozen=True, slots=True, eq=False)
class Mesh(Pointed):
    """The surface of triangles: `vertices` (n, 3), `faces` (m, 3) indices into them,
    grown by `margin` [m]."""

    kind: ClassVar[str] = "mesh"
    vertices: np.ndarray
    faces: np.ndarray
    pose: Placement = HERE
    name: str | None = None
    margin: float = 0.0
    file: str | None = field(default=None, compare=False)
    _content: bytes | None = field(default=None, init=False, repr=False)
    _ball: tuple[Vector, float] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        points = points_of(self.vertices, "Mesh: vertices", least=3)
        faces = np.asarray(self.faces)
        if faces.dtype.kind not in "iu" or faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
            raise InvalidInput(
                f"Mesh: faces has shape {faces.shape}, expected (m, 3) whole numbers, at least "
                "one row"
            )
        if len(faces) > MOST_TRIANGLES:
            raise InvalidInput(
                f"Mesh: {len(faces)} triangles came, expected at most {MOST_TRIANGLES}"
            )
        if faces.min() < 0 or faces.max() >= len(points):
            bad = int(faces.min()) if faces.min() < 0 else int(faces.max())
            raise InvalidInput(f"Mesh: faces name vertex {bad}, expected 0 .. {len(points) - 1}")
        faces = np.ascontiguousarray(faces, dtype=np.int64)
        faces.flags.writeable = False
        pose, margin = placed(self.pose, "Mesh"), length(self.margin, "Mesh: margin")
        settle(self, vertices=points, faces=faces, pose=pose, margin=margin)

    def corners(self) -> np.ndarray:
        """Those that a triangle names."""
        return self.vertices[np.unique(self.faces)]

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        scale: ArrayLike = 1.0,
        pose: Pose = None,
        name: str | None = None,
    ) -> Mesh:
        """The triangles of a file (STL; OBJ, DAE, PLY and others by trimesh), as one mesh."""
        from linkwork.formats.files import file_name, read_bounded

        shown = file_name(path)
        read_bounded(shown, largest=2**30)  # the refusals of files, in words
        factors = np.broadcast_to(as_doubles(scale, "Mesh: scale"), (3,))
        vertices, faces, count = [], [], 0
        for part in read_mesh(shown):
            vertices.append(part.vertices * factors)
            faces.append(part.faces.astype(np.int64) + count)
            count += len(part.vertices)
        triangles = np.concatenate(faces)
        if np.prod(factors) < 0.0:  # a mirror turns triangles inside out
            triangles = triangles[:, ::-1]
        return cls(np.concatenate(vertices), triangles, pose, name, file=shown)  # type: ignore[arg-type]


Shape: TypeAlias = Sphere | Capsule | TaperedCapsule | Box | HalfSpace | Cylinder | Convex | Mesh
PRIMITIVES = (Sphere, Capsule, TaperedCapsule, Box, HalfSpace, Cylinder)
SHAPES = (*PRIMITIVES, Convex, Mesh)
