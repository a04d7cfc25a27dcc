"""Two surfaces: what coal does not say about them,
the normal where they are apart and the depth where they cross.

The depth of two triangles is the least way out along a direction. Along n the one is ahead of the
other by

    gap(n) = min over B of n'x - max over A of n'x        negative where their shadows overlap

whose largest value is at a normal of either triangle, at a cross product of two of their edges, or,
where both lie in one plane, at a direction in it across an edge (separating axes, [Ericson2005]
section 5.2.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Answer = tuple[float, np.ndarray, np.ndarray, np.ndarray]

MOST = 5_000  # pairs of triangles that are measured
TOUCHING = 1e-12  # [m] a distance that rounding leaves of two surfaces that cross
FLAT = 1e-9  # sine of an angle below which directions count as one, and [m] corners as equally far


def cross(library: Any, first: Any, at: Any, second: Any, other_at: Any) -> bool:
    """Whether any two triangles of two surfaces of coal cross."""
    return bool(
        library.collide(
            first, at, second, other_at, library.CollisionRequest(), library.CollisionResult()
        )
    )


def completed(
    library: Any, first: Any, at: Any, second: Any, other_at: Any, answer: Answer
) -> Answer:
    """coal's answer about two surfaces, whose normal is not set, with normal and depth."""
    distance, point, other_point, _ = answer
    if distance > TOUCHING:
        return distance, point, other_point, (other_point - point) / distance
    crossing = deepest(library, first, at, second, other_at)
    return (0.0, point, point, np.array([1.0, 0.0, 0.0])) if crossing is None else crossing


def deepest(library: Any, first: Any, at: Any, second: Any, other_at: Any) -> Answer | None:
    """(distance, point, other point, normal) of the two triangles that overlap most,
    or None where none do."""
    request, result = library.CollisionRequest(), library.CollisionResult()
    request.num_max_contacts = MOST
    library.collide(first, at, second, other_at, request, result)
    contacts = [result.getContact(k) for k in range(result.numContacts())]
    if not contacts:
        return None
    a = _triangles(first, [contact.b1 for contact in contacts], at)
    b = _triangles(second, [contact.b2 for contact in contacts], other_at)
    gaps, normals = _gaps(a, b)
    measured = np.isfinite(gaps)  # two triangles without area have no axis
    if not measured.any():
        return None
    k = int(np.argmin(np.where(measured, gaps, np.inf)))
    distance, normal = min(float(gaps[k]), -TOUCHING), normals[k]
    point, other_point = _witnesses(a[k], b[k], normal, distance)
    return distance, point, other_point, normal


def _triangles(surface: Any, numbers: list[int], at: Any) -> np.ndarray:
    """Corners (n, 3, 3) of numbered triangles in world axes."""
    local = np.array(
        [[surface.vertex(i) for i in _corners(surface.tri_indices(k))] for k in numbers]
    )
    return local @ at.getRotation().T + np.ravel(at.getTranslation())


def _corners(triangle: Any) -> tuple[int, int, int]:
    return triangle[0], triangle[1], triangle[2]


def _gaps(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(largest gap (n,), its direction (n, 3)) of pairs of triangles (n, 3, 3)."""
    edges_a, edges_b = np.roll(a, -1, axis=1) - a, np.roll(b, -1, axis=1) - b
    normal_a, normal_b = (
        np.cross(edges[:, 0], edges[:, 1])[:, None] for edges in (edges_a, edges_b)
    )
    between = np.cross(edges_a[:, :, None], edges_b[:, None]).reshape(len(a), 9, 3)
    in_plane = [
        np.cross(normal, edges) for normal, edges in ((normal_a, edges_a), (normal_b, edges_b))
    ]
    ways = np.concatenate([normal_a, normal_b, between, *in_plane], axis=1)
    lengths = np.linalg.norm(ways, axis=2)
    scale = np.linalg.norm(np.concatenate([edges_a, edges_b], axis=1), axis=2).max(axis=1)[:, None]
    usable = lengths > FLAT * scale * np.where(np.arange(ways.shape[1]) < 11, scale, scale**2)
    axes = ways / np.where(usable, lengths, 1.0)[..., None]
    axes = np.concatenate([axes, -axes], axis=1)
    gap = np.einsum("nki,nci->nkc", axes, b).min(axis=2) - np.einsum("nki,nci->nkc", axes, a).max(
        axis=2
    )
    gap = np.where(np.concatenate([usable, usable], axis=1), gap, -np.inf)
    best = gap.argmax(axis=1)
    rows = np.arange(len(a))
    return gap[rows, best], axes[rows, best]


def _witnesses(
    a: np.ndarray, b: np.ndarray, normal: np.ndarray, distance: float
) -> tuple[np.ndarray, np.ndarray]:
    """The points of two triangles that are furthest into each other along the normal."""
    along_a, along_b = a @ normal, b @ normal
    ahead = a[along_a >= along_a.max() - FLAT]
    behind = b[along_b <= along_b.min() + FLAT]
    if len(ahead) == 1 or len(behind) > 2:
        point = ahead.mean(axis=0)
        return point, point + distance * normal
    if len(behind) == 1 or len(ahead) > 2:
        other_point = behind.mean(axis=0)
        return other_point - distance * normal, other_point
    # two edges: where their lines cross, seen along the normal
    u, w = ahead[1] - ahead[0], behind[1] - behind[0]
    s = np.linalg.lstsq(np.stack([u, -w, normal], axis=1), behind[0] - ahead[0], rcond=None)[0][0]
    point = ahead[0] + np.clip(s, 0.0, 1.0) * u
    return point, point + distance * normal
