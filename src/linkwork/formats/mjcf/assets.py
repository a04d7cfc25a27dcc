"""Assets: meshes, height fields and the colours of materials, read when a geom needs them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

from linkwork.errors import InvalidFile, did_you_mean, listed
from linkwork.formats.files import read_bounded
from linkwork.formats.mjcf.attached import Attached
from linkwork.formats.mjcf.defaults import Defaults
from linkwork.formats.mjcf.folders import Folders
from linkwork.formats.mjcf.mesh_files import LARGEST, MOST_FACES, Triangles, checked, triangles
from linkwork.formats.mjcf.mesh_inertia import WAYS, MeshIntegrals, integrals
from linkwork.formats.mjcf.orientation import position, quaternion
from linkwork.formats.mjcf.settings import CompilerSettings
from linkwork.formats.mjcf.words import Words
from linkwork.formats.strictness import Passed
from linkwork.formats.xml import Element
from linkwork.model.number import IDENTITY, Vector, scale, times, transpose
from linkwork.model.placement import Placement

Color = tuple[float, float, float, float]


_COLOURED = frozenset(("rgba", "material"))


class Assets:
    """The <asset> sections of a file. A mesh that only is to be drawn is never opened."""

    def __init__(
        self,
        root: Element,
        defaults: Defaults,
        settings: CompilerSettings,
        folders: Folders,
        passed: Passed,
        visuals: bool = True,
    ) -> None:
        self.settings, self.folders = settings, folders
        self.passed, self.visuals = passed, visuals
        assets = [asset for section in root.all("asset") for asset in section]
        self.meshes = {_name(e): defaults.words(e) for e in assets if e.tag == "mesh"}
        self.hfields = {_name(e): Words(e) for e in assets if e.tag == "hfield"}
        self.materials = {_name(e): defaults.words(e) for e in assets if e.tag == "material"}
        self.integrals = cache(self._integrals)
        self.triangles = cache(self._triangles)

    def mesh(self, name: str, geom: Words) -> Words:
        """The mesh a geom names."""
        if name not in self.meshes:
            near = did_you_mean(name, self.meshes)
            raise geom.holder("mesh").error(
                f'names the mesh "{name[:60]}", which is no asset{near}'
            )
        return self.meshes[name]

    def hfield_size(self, geom: Words) -> Vector:
        """Half sizes of the box that stands for a height field:
        a quarter of its height above half its base."""
        name = geom.text("hfield")
        if name not in self.hfields:
            near = did_you_mean(name, self.hfields)
            raise geom.holder("hfield").error(
                f'names the hfield "{name[:60]}", which is no asset{near}'
            )
        x, y, top, base = self.hfields[name].numbers("size", 4)
        return (x, y, 0.25 * top + 0.5 * base)

    def color(self, geom: Words) -> Color | None:
        """The geom's own colour, or that of its material."""
        if geom.has_none_of(_COLOURED) or not self.visuals:
            return None
        holder = geom if geom.has("rgba") else self.materials.get(geom.text("material", ""))
        if holder is None or not holder.has("rgba"):
            return None
        try:
            r, g, b, a = (min(max(x, 0.0), 1.0) for x in holder.numbers("rgba", 4))
        except InvalidFile as error:
            self.passed.detail(error, "it has no colour")
            return None
        return (r, g, b, a)

    def file(self, mesh: Words) -> str:
        """The path of a mesh file below the folders, or its name as the file gives it."""
        name = mesh.text("file", "")
        return self._path(mesh.own, name) or name

    def drawn(self, mesh: Words) -> tuple[Vector, Placement] | None:
        """(scale, T_geom_drawing) that draw the mesh file,
        or None where a turn before an uneven scale forbids it.

        MuJoCo moves by -refpos, turns by the inverse of refquat and scales, in this order.
        """
        x, y, z = mesh.numbers("scale", 3, (1.0, 1.0, 1.0))
        refpos = position(mesh, "refpos")
        R = transpose(quaternion(mesh, "refquat")) if mesh.has("refquat") else IDENTITY
        if R == IDENTITY:
            return (x, y, z), Placement(position=(-x * refpos[0], -y * refpos[1], -z * refpos[2]))
        if x == y == z > 0.0:
            return (x, y, z), Placement(R, scale(-x, times(R, refpos)))
        return None

    def _integrals(self, name: str) -> MeshIntegrals:
        mesh = self.meshes[name]
        way = mesh.choice("inertia", WAYS, "legacy")
        label = f"{mesh.own.source}:{mesh.own.line}: {mesh.own.described}"
        return integrals(self.triangles(name), way, label, mesh.whole("maxhullvert", -1))

    def _triangles(self, name: str) -> Triangles:
        """The mesh where its geom has it: moved, turned and scaled; a mirror turns the faces
        round."""
        mesh = self.meshes[name]
        vertices, faces = self._raw(mesh)
        vertices = vertices - np.array(position(mesh, "refpos"))
        if mesh.has("refquat"):
            vertices = vertices @ np.array(quaternion(mesh, "refquat"))
        factors = np.array(mesh.numbers("scale", 3, (1.0, 1.0, 1.0)))
        with np.errstate(over="ignore"):
            vertices = vertices * factors
        return checked(
            Triangles(vertices, faces[:, ::-1] if np.prod(np.sign(factors)) < 0 else faces), name
        )

    def _raw(self, mesh: Words) -> Triangles:
        element = mesh.own
        if element.has("builtin") and element.text("builtin") != "none":
            raise element.error(
                "is built in, and linkwork does not make MuJoCo's built-in meshes; save it as "
                "a file"
            )
        if element.has("vertex"):
            return _written(element)
        name = element.text("file")
        path = self._path(element, name)
        if path is None:
            places = listed((f'"{str(each)[:200]}"' for each in self._places(element)), 4)
            looked = f" (looked in {places})" if places else ""
            why = (
                "whose mass MuJoCo would infer, but there is no such file below "
                f"{self.folders.described}{looked}"
            )
            raise element.error(f'names the file "{name[:200]}", {why}')
        return triangles(read_bounded(path, LARGEST), path)

    def _places(self, mesh: Element) -> list[Path]:
        """Folders a mesh may lie in: meshdir of the main file, beside the included file,
        both together.

        MuJoCo takes the second where the main file is named by its whole path, the third where it
        is not.
        """
        around = mesh.parent
        if (
            isinstance(around, Attached)
            and around.settings is not None
            and around.folder is not None
        ):
            return [around.folder / around.settings.mesh_folder, around.folder]
        places = [each / self.settings.mesh_folder for each in self.folders.open]
        base = self.folders.base
        if base is not None and os.path.isabs(mesh.source):
            folder = Path(os.path.dirname(mesh.source))
            beside = os.path.relpath(folder, os.path.realpath(base))
            if beside != ".":
                places[1:1] = [folder, base / self.settings.mesh_folder / beside]
        return places

    def _path(self, mesh: Element, name: str) -> str | None:
        if not name:
            return None
        around = mesh.parent
        known = (
            around.settings if isinstance(around, Attached) and around.settings else self.settings
        )
        name = os.path.basename(name.replace("\\", "/")) if known.strip_path else name
        return self.folders.find(name, self._places(mesh))


def _written(mesh: Element) -> Triangles:
    """The mesh whose numbers stand in the file itself."""
    coordinates = np.array(mesh.few("vertex", 12, 3 * MOST_FACES))
    indices = np.array(mesh.few("face", 3, 3 * MOST_FACES) if mesh.has("face") else ())
    if len(coordinates) % 3 or len(indices) % 3:
        raise mesh.error("has vertex or face with numbers that do not come in threes")
    if (np.abs(indices) > len(coordinates)).any():
        raise mesh.error("has a face that names a vertex it does not have")
    with np.errstate(over="ignore"):
        vertices = coordinates.astype(np.float32).astype(np.float64)
    triangles = Triangles(vertices.reshape(-1, 3), indices.astype(np.int64).reshape(-1, 3))
    return checked(triangles, f"{mesh.source}:{mesh.line}")


def _name(asset: Element) -> str:
    """An asset without a name has that of its file, without folder and ending."""
    name = (
        asset.attributes.get("name")
        or os.path.splitext(os.path.basename(asset.attributes.get("file", "")))[0]
    )
    if not name:
        raise asset.error("has neither a name nor a file")
    return name
