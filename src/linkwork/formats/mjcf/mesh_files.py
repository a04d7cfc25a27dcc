"""Mesh files: the triangles of binary STL, OBJ and MuJoCo's own MSH, as MuJoCo reads them.

Coordinates pass through single precision, because MuJoCo stores them so: a mesh weighs here what it
weighs there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwork.errors import InvalidFile
from linkwork.formats.mjcf.polygon import triangles_of

LARGEST = 64 * 2**20
"""Largest mesh that is read [bytes]."""

MOST_FACES = 1_000_000


class Triangles(NamedTuple):
    """vertices (n, 3) [m] and faces (m, 3), counter-clockwise from outside; no faces:
    the convex hull is meant."""

    vertices: np.ndarray
    faces: np.ndarray


def triangles(content: bytes, name: str) -> Triangles:
    """The triangles of a mesh file; its ending names the format."""
    ending = os.path.splitext(name)[1].lower()
    if ending not in READERS:
        raise InvalidFile(
            f"{name}: has the ending {ending!r}, MuJoCo reads meshes from {', '.join(READERS)}"
        )
    vertices, faces = READERS[ending](content, name)
    return checked(Triangles(vertices, faces), name)


def checked(mesh: Triangles, name: str) -> Triangles:
    """The mesh, if it has four finite vertices and faces that name its vertices."""
    if len(mesh.vertices) < 4 or not np.isfinite(mesh.vertices).all():
        raise InvalidFile(
            f"{name}: has {len(mesh.vertices)} vertices, expected at least 4 with finite "
            "coordinates"
        )
    if len(mesh.faces) and not (0 <= mesh.faces.min() and mesh.faces.max() < len(mesh.vertices)):
        raise InvalidFile(
            f"{name}: a face names a vertex that is not among the {len(mesh.vertices)} there are"
        )
    return mesh


def _stl(content: bytes, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Binary STL: a header of 80 bytes, the number of triangles, 50 bytes each."""
    count = int.from_bytes(content[80:84], "little")
    if len(content) < 84 or len(content) != 84 + 50 * count or not 0 < count <= MOST_FACES:
        ascii_one = content[:5] == b"solid"
        what = (
            "is an ASCII STL, MuJoCo reads binary ones"
            if ascii_one
            else "is not a whole binary STL file"
        )
        raise InvalidFile(f"{name}: {what}")
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    corners = np.frombuffer(content, record, count, 84)["corners"].reshape(-1, 3)
    return corners.astype(np.float64), np.arange(3 * count).reshape(-1, 3)


def _msh(content: bytes, name: str) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's MSH: four counts (vertices, normals, texture coordinates, faces), then the
    arrays."""
    counts = np.frombuffer(content[:16], "<i4")
    if len(counts) != 4 or counts.min() < 0 or counts.max() > MOST_FACES:
        raise InvalidFile(f"{name}: is not a whole MSH file")
    vertices, normals, texture, faces = (int(n) for n in counts)
    if len(content) != 16 + 4 * (3 * vertices + 3 * normals + 2 * texture + 3 * faces):
        raise InvalidFile(f"{name}: is not a whole MSH file")
    at_faces = 16 + 4 * (3 * vertices + 3 * normals + 2 * texture)
    positions = np.frombuffer(content, "<f4", 3 * vertices, 16).reshape(-1, 3)
    return positions.astype(np.float64), np.frombuffer(content, "<i4", 3 * faces, at_faces).reshape(
        -1, 3
    )


def _obj(content: bytes, name: str) -> tuple[np.ndarray, np.ndarray]:
    """OBJ: of the shapes that `o` and `g` begin MuJoCo takes the first one with faces;
    vertices are common to all."""
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    closed = False
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if not words or words[0] not in ("v", "f", "o", "g"):
            continue
        try:
            if words[0] == "v":
                vertices.append([float(word) for word in words[1:4]])
                if len(vertices[-1]) != 3:
                    raise ValueError
            elif words[0] == "f" and not closed:
                faces.append([_index(word, len(vertices)) for word in words[1:]])
                if len(faces[-1]) < 3:
                    raise ValueError
            elif words[0] in ("o", "g"):
                closed = bool(faces)
        except (ValueError, OverflowError):
            raise InvalidFile(
                f'{name}:{number}: "{line[:60].strip()}" is not a vertex or a face of OBJ'
            ) from None
        if len(faces) > MOST_FACES:
            raise InvalidFile(f"{name}: has more than {MOST_FACES} faces")
    with np.errstate(over="ignore"):
        positions = np.array(vertices, dtype=np.float64).reshape(-1, 3).astype(np.float32)
    if any(not 0 <= k < len(positions) for face in faces for k in face):
        raise InvalidFile(
            f"{name}: a face names a vertex that is not among the {len(positions)} there are"
        )
    corners = [corner for face in faces for corner in triangles_of(face, positions)]
    return positions.astype(np.float64), np.array(corners, dtype=np.int64).reshape(-1, 3)


def _index(word: str, count: int) -> int:
    """The vertex of `7`, `7/1/2` or, counted from the last one, `-1`."""
    k = int(word.split("/", 1)[0])
    return k - 1 if k > 0 else count + k


READERS: dict[str, Callable[[bytes, str], tuple[np.ndarray, np.ndarray]]] = {
    ".stl": _stl,
    ".obj": _obj,
    ".msh": _msh,
}
