"""Shapes as geoms: what is drawn in group 2, what collides in group 3, what does both in group
0."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from linkwork.errors import LinkworkError
from linkwork.formats.mesh_file import stl_of
from linkwork.formats.mjcf.bodies import Names
from linkwork.formats.mjcf.mesh_files import READERS
from linkwork.formats.mjcf.rows import element, numbers, where
from linkwork.model.body import Body, Shape
from linkwork.model.number import Vector

_STL_HEADER = 84


class GeomRows:
    """Geoms of the bodies, and the meshes they need;
    `lost` counts shapes that MuJoCo could not load, `why` says why.

    converted   folder for meshes of kinds that MuJoCo does not load: they become STL there
                (`made`: path -> content, for who writes the file); None: they are lost
    """

    def __init__(self, folder: Path | None, converted: Path | None = None) -> None:
        self.folder = folder
        self.converted = converted
        self.made: dict[Path, bytes] = {}
        self.why: dict[str, None] = {}
        self._stls: dict[str, str | None] = {}
        self.assets: dict[tuple[str, Vector], str] = {}
        self.names = Names(())
        self._files = Names(())
        self.geoms = Names(())
        self.lost = 0

    def of(self, body: Body) -> list[str]:
        both = set(body.visuals) & set(body.collisions)
        rows = [self._row(shape, {}) for shape in body.visuals if shape in both]
        drawn = {"group": "2", "contype": "0", "conaffinity": "0"}
        rows += [self._row(shape, drawn) for shape in body.visuals if shape not in both]
        rows += [self._row(shape, {"group": "3"}) for shape in body.collisions if shape not in both]
        return [row for row in rows if row is not None]

    def mesh_rows(self) -> list[str]:
        """A surface need not enclose a volume to be drawn, so no mass is asked of the meshes."""
        return [
            element("mesh", name=name, file=file, scale=numbers(scale), inertia="shell")
            for (file, scale), name in self.assets.items()
        ]

    def _row(self, shape: Shape, words: dict[str, str]) -> str | None:
        size: str | None = None
        mesh: str | None = None
        shape = shape.without_empty_length()
        match shape.kind:
            case "box":
                size = numbers([x / 2 for x in shape.size])
            case "sphere":
                size = numbers(shape.size)
            case "cylinder" | "capsule":
                size = numbers((shape.size[0], shape.size[1] / 2))
            case "mesh" if shape.mesh and (file := self._loadable(shape.mesh)) is not None:
                mesh = self._asset(replace(shape, mesh=file))
        if (size is None and mesh is None) or (
            size is not None and not all(x > 0 for x in shape.size)
        ):
            self.lost += 1
            return None
        return element(
            "geom",
            name=None if shape.name is None else self.geoms.free(shape.name),
            type=shape.kind,
            size=size,
            mesh=mesh,
            **words,
            **where(shape.placement),
            rgba=None if shape.color is None else numbers(shape.color),
        )

    def _loadable(self, mesh: str) -> str | None:
        """The file itself, or the STL made of it, or None with a reason."""
        if _can_be_loaded(mesh):
            return mesh
        if mesh not in self._stls:
            self._stls[mesh] = self._stl(mesh)
        return self._stls[mesh]

    def _stl(self, mesh: str) -> str | None:
        if self.converted is None or not os.path.isabs(mesh) or not os.path.isfile(mesh):
            self.why[f"{os.path.basename(mesh)} is no file of a kind that MuJoCo loads"] = None
            return None
        try:
            content = stl_of(mesh)
        except (LinkworkError, OSError) as error:
            self.why[str(error)] = None
            return None
        path = self.converted / f"{self._files.free(Path(mesh).stem)}.stl"
        self.made[path] = content
        return str(path)

    def _asset(self, shape: Shape) -> str:
        path = Path(str(shape.mesh))
        inside = self.folder is not None and path.is_relative_to(self.folder)
        file = str(path.relative_to(self.folder)) if inside and self.folder else str(path)
        x, y, z = shape.size
        key = (file, (x, y, z))
        if key not in self.assets:
            self.assets[key] = self.names.free(path.stem)
        return self.assets[key]


def _can_be_loaded(mesh: str) -> bool:
    """Whether the mesh is a file of a kind that MuJoCo loads; an STL must be binary."""
    ending = os.path.splitext(mesh)[1].lower()
    if ending not in READERS or not os.path.isabs(mesh):
        return False
    try:
        size = os.stat(mesh).st_size
        if ending != ".stl":
            return os.path.isfile(mesh)
        with open(mesh, "rb") as file:
            count = int.from_bytes(file.read(_STL_HEADER)[80:], "little")
    except (OSError, ValueError):
        return False
    return size == _STL_HEADER + 50 * count and count > 0
