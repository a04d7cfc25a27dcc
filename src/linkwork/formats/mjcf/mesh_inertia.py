"""Mass properties of a mesh of triangles, in the four ways MuJoCo knows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.errors import InvalidFile
from linkwork.formats.mjcf.mesh_files import Triangles

WAYS = ("convex", "exact", "legacy", "shell")
SMALLEST = 1e-15
"""MuJoCo's smallest volume or area (mjMINVAL)."""

DROPPED = 1e-7
"""Products of inertia of a mesh that MuJoCo 4.0 takes for none, of the largest number of the
inertia: vertices are in single precision. Left in, mass matrices differ from MuJoCo's by as
much."""

MOST_TURNS = 500


class MeshIntegrals(NamedTuple):
    """content: volume [m^3] or area [m^2]; center (3,) [m];
    inertia (3, 3) about it for unit mass [m^2]."""

    content: float
    center: np.ndarray
    inertia: np.ndarray


def integrals(mesh: Triangles, way: str, name: str, most_hull_vertices: int = -1) -> MeshIntegrals:
    """Volume, centre of mass and inertia.

    Every triangle (D, E, F) with a reference point spans a pyramid of volume v; over the pyramids

        V = sum v,   c = sum v (3/4 (D + E + F)/3 + 1/4 reference) / V,
        P = sum v/20 ((D + E + F)(D + E + F)' + D D' + E E' + F F')   with corners seen from c
        I = tr(P) 1 - P

    exact    v signed: right for any closed surface with outward faces
    legacy   |v|, from the centroid of the faces and then from c: right where these points see all
             of the surface, too heavy elsewhere; MuJoCo's default, so a file that says nothing
             means this
    convex   exact, for the convex hull
    shell    the surface itself: v is the area of the triangle, and 12 replaces 20
    """
    faces = mesh.faces
    if way == "convex" or not len(faces):
        faces = _hull_faces(mesh.vertices, name, most_hull_vertices)
    with np.errstate(all="ignore"):
        result = _integrals(mesh.vertices, faces, way)
    problem = _problem(result)
    if problem:
        raise InvalidFile(f'{name}: {problem} (inertia="{way}")')
    return result


def _integrals(vertices: np.ndarray, faces: np.ndarray, way: str) -> MeshIntegrals:
    corners = vertices[faces]
    areas, middles, _ = _facts(corners)
    centroid = areas @ middles / areas.sum()
    weights = _weights(corners - centroid, way)
    center = weights @ (0.75 * middles + 0.25 * centroid) / weights.sum()
    seen = corners - center
    weights = _weights(seen, way)
    sums = seen.sum(axis=1)
    P = (weights[:, None] * sums).T @ sums
    for k in range(3):
        P += (weights[:, None] * seen[:, k]).T @ seen[:, k]
    P /= 12.0 if way == "shell" else 20.0
    content = float(weights.sum())
    return MeshIntegrals(content, center, _kept(np.trace(P) * np.eye(3) - P) / content)


def _kept(I: np.ndarray) -> np.ndarray:
    """The part of a mesh's inertia that MuJoCo keeps:
    what is diagonal in axes that it finds to 1e-7 only.

    Classical Jacobi: the largest product I_ij is turned away by the angle with tan(2 angle) = 2
    I_ij / (I_jj - I_ii), until no product is larger than `DROPPED` times the largest number of I;
    what is left of them is dropped.
    """
    axes, D = np.eye(3), I
    least = DROPPED * np.abs(I).max()
    for _ in range(MOST_TURNS):
        i, j = max(((0, 1), (0, 2), (1, 2)), key=lambda at: abs(D[at]))
        if not abs(D[i, j]) >= least:
            break
        ratio = (D[j, j] - D[i, i]) / (2.0 * D[i, j])
        tangent = np.copysign(1.0, ratio) / (abs(ratio) + np.hypot(1.0, ratio))
        c = 1.0 / np.hypot(1.0, tangent)
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = c
        turn[i, j], turn[j, i] = c * tangent, -c * tangent
        axes = axes @ turn
        D = axes.T @ I @ axes
    return (axes * np.diag(D)) @ axes.T


def _weights(corners: np.ndarray, way: str) -> np.ndarray:
    """What each triangle counts, seen from the origin."""
    areas, middles, normals = _facts(corners)
    if way == "shell":
        return areas
    volumes = np.einsum("ni,ni->n", middles, normals) / 6.0
    return np.abs(volumes) if way == "legacy" else volumes


def _facts(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Areas (n,), centroids (n, 3) and normals (n, 3) of twice the area's length."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    return 0.5 * lengths, corners.mean(axis=1), normals


def _hull_faces(vertices: np.ndarray, name: str, most: int) -> np.ndarray:
    """Triangles of the convex hull, outward. `most` vertices are added to its first simplex at most
    (Qhull's TA)."""
    # takes longer to import than most files to read
    from scipy.spatial import (
        ConvexHull,
        QhullError,
    )

    limit = f" TA{most - 4}" if most >= 4 else ""
    try:
        hull = ConvexHull(vertices, qhull_options=f"Qt{limit}")
    except (QhullError, ValueError):
        raise InvalidFile(f"{name}: its convex hull has no volume") from None
    a, b, c = (vertices[hull.simplices[:, k]] for k in range(3))
    inward = np.einsum("ni,ni->n", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces = hull.simplices.copy()
    faces[inward, 1], faces[inward, 2] = hull.simplices[inward, 2], hull.simplices[inward, 1]
    return faces


def _problem(result: MeshIntegrals) -> str | None:
    if result.content < 0.0:
        return f"its volume {result.content:g} m^3 is negative: the faces look inwards"
    if not result.content >= SMALLEST:
        return f"it has no volume ({result.content:g} m^3)"
    if not (np.isfinite(result.center).all() and np.isfinite(result.inertia).all()):
        return "its mass properties are beyond the numbers"
    return None
