"""Polygons of OBJ files in triangles: ears are cut off one after the other,
in the order in which MuJoCo's reader does.

A polygon whose corners do not lie in one plane encloses another volume with other triangles, so
that a mesh weighs what it weighs in MuJoCo only when the polygon is cut as there. Its reader works
in single precision, and so do we.
"""

from __future__ import annotations

import numpy as np

MOST_CORNERS = 100
"""Of a polygon in MuJoCo's reader, which leaves larger ones out:
without them a mesh weighs what it weighs there."""

_FLAT = float(np.finfo(np.float32).eps)


def triangles_of(face: list[int], positions: np.ndarray) -> list[tuple[int, int, int]]:
    """Corners (indices into positions (n, 3), float32) -> triangles:
    the quadrilateral along its shorter diagonal."""
    if len(face) == 3:
        return [(face[0], face[1], face[2])]
    if len(face) > MOST_CORNERS:
        return []
    with np.errstate(all="ignore"):
        return _quadrilateral(face, positions) if len(face) == 4 else _ears(face, positions)


def _quadrilateral(face: list[int], positions: np.ndarray) -> list[tuple[int, int, int]]:
    a, b, c, d = face
    first, second = positions[c] - positions[a], positions[d] - positions[b]
    shorter = first @ first < second @ second
    return [(a, b, c), (a, c, d)] if shorter else [(a, b, d), (b, c, d)]


def _ears(face: list[int], positions: np.ndarray) -> list[tuple[int, int, int]]:
    """Cut ears: a corner that is convex, with no other corner inside its triangle.

    The search goes on where the last ear was and gives up after as many tries as there are corners;
    the tries are counted anew only when one is left after an ear. What is left then is left out, as
    in MuJoCo's reader.
    """
    flat = positions[:, _plane(face, positions)]
    remaining = list(face)
    ears: list[tuple[int, int, int]] = []
    at, tries, before = 0, len(face), len(face)
    while len(remaining) > 3 and tries > 0:
        count = len(remaining)
        tries = tries - 1 if count == before else count
        at, before = at % count, count
        corners = [remaining[(at + k) % count] for k in range(3)]
        others = [remaining[(at + k) % count] for k in range(3, count)]
        if _is_ear(flat[corners], flat[others]):
            ears.append((corners[0], corners[1], corners[2]))
            del remaining[(at + 1) % count]
        else:
            at += 1
    if len(remaining) == 3:
        ears.append((remaining[0], remaining[1], remaining[2]))
    return ears


def _plane(face: list[int], positions: np.ndarray) -> list[int]:
    """The two coordinates in which the first corner that is no straight line is seen largest."""
    count = len(face)
    for k in range(count):
        a, b, c = (positions[face[(k + j) % count]] for j in range(3))
        x, y, z = np.abs(np.cross(b - a, c - b))
        if max(x, y, z) > _FLAT:
            if x > y and x > z:
                return [1, 2]
            return [0, 1] if z > x and z > y else [0, 2]
    return [1, 2]


def _is_ear(corners: np.ndarray, others: np.ndarray) -> bool:
    """corners (3, 2) and the other corners (n, 2) of the polygon, in the plane."""
    (ax, ay), (bx, by), (cx, cy) = corners
    turn = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
    # of the first edge seen from the origin: what the reader takes
    side = (ax * by - ay * bx) * np.float32(0.5)
    if turn * side < 0.0:
        return False
    return not any(_is_inside(corners, x, y) for x, y in others)


def _is_inside(corners: np.ndarray, x: np.float32, y: np.float32) -> bool:
    """Whether a ray from the point crosses the triangle's edges an odd number of times."""
    inside = False
    for k in range(3):
        (xi, yi), (xj, yj) = corners[k], corners[k - 1]
        if (yi > y) != (yj > y) and x < (xj - xi) * (y - yi) / (yj - yi) + xi:
            inside = not inside
    return inside
