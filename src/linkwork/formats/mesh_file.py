"""Mesh files as triangles: STL is read here, other formats by trimesh."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import InvalidFile, NotPossible

_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 84


@dataclass(frozen=True)
class MeshPart:
    """vertices (n, 3) in the file's unit, faces (m, 3), and the colour the file gives it,
    if any (0 .. 255)."""

    vertices: np.ndarray
    faces: np.ndarray
    color: tuple[int, int, int] | None = None


@lru_cache(maxsize=512)
def read_mesh(path: str) -> tuple[MeshPart, ...]:
    """The parts of a mesh file; equal corners of a part are one vertex.
    Their arrays are never written to."""
    data = Path(path).read_bytes()
    if len(data) >= _HEADER and len(data) == _HEADER + _TRIANGLE.itemsize * int.from_bytes(
        data[80:84], "little"
    ):
        corners = np.frombuffer(data, _TRIANGLE, offset=_HEADER)["corners"].reshape(-1, 3)
        parts = [MeshPart(*_merged(corners))] if len(corners) else []
    else:
        parts = _by_trimesh(path)
    if not parts or not all(np.isfinite(part.vertices).all() for part in parts):
        raise InvalidFile(f"{path}: holds no triangles that can be drawn")
    for part in parts:
        part.vertices.flags.writeable = part.faces.flags.writeable = False
    return tuple(parts)


def stl_of(path: str) -> bytes:
    """A mesh file of any kind that can be read, as a binary STL; its parts become one."""
    corners = np.concatenate(
        [part.vertices[part.faces].reshape(-1, 3, 3) for part in read_mesh(path)]
    )
    rows = np.zeros(len(corners), dtype=_TRIANGLE)
    rows["corners"] = corners
    return b"\0" * 80 + len(rows).to_bytes(4, "little") + rows.tobytes()


def _merged(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (3 m, 3) of loose triangles -> vertices that neighbours share, faces."""
    # -0.0 becomes 0.0: equal numbers, equal bytes
    rows = np.ascontiguousarray(corners + np.float32(0.0))
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * 3))).ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], index.reshape(-1, 3).astype(np.uint32)


def _by_trimesh(path: str) -> list[MeshPart]:
    try:
        import trimesh
    except ImportError:
        raise NotPossible(
            f'{path}: this kind of mesh needs the extra "meshes": pip install "linkwork[meshes]"'
        ) from None
    try:
        loaded: Any = trimesh.load(path)
        meshes = loaded.dump() if isinstance(loaded, trimesh.Scene) else [loaded]
        return [
            MeshPart(
                np.array(mesh.vertices, dtype=np.float32),
                np.array(mesh.faces, dtype=np.uint32),
                _color(mesh),
            )
            for mesh in meshes
            if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces)
        ]
    except Exception as error:  # trimesh raises whatever its many readers raise
        raise InvalidFile(f"{path}: is no mesh that can be read ({error})") from None


def _color(mesh: Any) -> tuple[int, int, int] | None:
    """The main colour of a mesh, where its file gives one."""
    if not mesh.visual.defined:
        return None
    r, g, b = getattr(mesh.visual, "material", mesh.visual).main_color[:3]
    return int(r), int(g), int(b)
