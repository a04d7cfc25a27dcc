"""Mesh files as triangles: STL is read here, other formats by trimesh."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import InvalidFile, NotPossible

_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 84


@lru_cache(maxsize=512)
def read_mesh(path: str) -> tuple[np.ndarray, np.ndarray]:
    """(vertices (n, 3) float32 in the file's unit, faces (m, 3)); equal corners are one vertex. Never written to."""
    data = Path(path).read_bytes()
    if len(data) >= _HEADER and len(data) == _HEADER + _TRIANGLE.itemsize * int.from_bytes(data[80:84], "little"):
        corners = np.frombuffer(data, _TRIANGLE, offset=_HEADER)["corners"].reshape(-1, 3)
        vertices, faces = _merged(corners)
    else:
        vertices, faces = _by_trimesh(path)
    if not len(faces) or not np.isfinite(vertices).all():
        raise InvalidFile(f"{path}: holds no triangles that can be drawn")
    for array in (vertices, faces):
        array.flags.writeable = False
    return vertices, faces


def _merged(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (3 m, 3) of loose triangles -> vertices that neighbours share, faces."""
    rows = np.ascontiguousarray(corners + np.float32(0.0))  # -0.0 becomes 0.0: equal numbers, equal bytes
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * 3))).ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], index.reshape(-1, 3).astype(np.uint32)


def _by_trimesh(path: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        import trimesh
    except ImportError:
        raise NotPossible(
            f'{path}: this kind of mesh needs the extra "meshes": pip install "linkwork[meshes]"'
        ) from None
    try:
        mesh: Any = trimesh.load(path, force="mesh")
    except Exception as error:  # trimesh raises whatever its many readers raise
        raise InvalidFile(f"{path}: is no mesh that can be read ({error})") from None
    return np.array(mesh.vertices, dtype=np.float32), np.array(mesh.faces, dtype=np.uint32)
