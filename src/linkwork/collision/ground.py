"""Ground: height fields as prisms in patches, for loops that skip what is far.

A patch is a few cells, a group a few patches; each has a box that goes down without end, so that
what is deep below the surface is near to it. A loop looks at groups, at the patches of groups that
are near, and at their prisms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.collision.clusters import Ranges, Rows

CELLS, PATCHES = 4, 4  # of a side of a patch, of a group
OUTWARD = 1e-9  # [m]


def ground_rows(fields: Sequence[tuple[int, Any]]) -> tuple[Rows, Ranges]:
    """Rows of the tables of height fields with their numbers,
    and {number: (first, count)} of the groups of each."""
    prisms: list[np.ndarray] = []
    patches: list[tuple[np.ndarray, tuple[int, int]]] = []
    groups: list[tuple[np.ndarray, tuple[int, int]]] = []
    ranges: Ranges = {}
    count = 0
    for number, field in fields:
        before = len(groups)
        corners = _corners(field)
        size = CELLS * PATCHES
        for i in range(0, len(corners), size):
            for j in range(0, corners.shape[1], size):
                first, boxes = len(patches), []
                for patch in _parts(corners[i : i + size, j : j + size]):
                    triangles = patch.reshape(-1, 9)
                    prisms.append(np.c_[triangles, np.full(len(triangles), float(number))])
                    boxes.append(_box(patch))
                    patches.append((boxes[-1], (count, len(triangles))))
                    count += len(triangles)
                groups.append((_around(np.array(boxes)), (first, len(boxes))))
        ranges[number] = (before, len(groups) - before)
    rows = {
        "ground_prisms": (np.concatenate([np.zeros((0, 10)), *prisms]), np.zeros((count, 0))),
        "ground_patches": _rows(patches),
        "ground_groups": _rows(groups),
    }
    return rows, ranges


def _corners(field: Any) -> np.ndarray:
    """(cells x, cells y, 2 triangles, 3 corners, 3),
    each triangle against the clock seen from above."""
    vertices, faces = field.triangles()
    nx, ny = field.heights.shape
    return vertices[faces].reshape(2, nx - 1, ny - 1, 3, 3).transpose(1, 2, 0, 3, 4)


def _parts(corners: np.ndarray) -> list[np.ndarray]:
    """The patches of a group."""
    return [
        corners[i : i + CELLS, j : j + CELLS]
        for i in range(0, len(corners), CELLS)
        for j in range(0, corners.shape[1], CELLS)
    ]


def _box(corners: np.ndarray) -> np.ndarray:
    """low x, y, high x, y, top."""
    points = corners.reshape(-1, 3)
    low, high = points.min(axis=0) - OUTWARD, points.max(axis=0) + OUTWARD
    return np.array([*low[:2], *high])


def _around(boxes: np.ndarray) -> np.ndarray:
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])


def _rows(parts: Sequence[tuple[np.ndarray, tuple[int, int]]]) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.array([box for box, _ in parts]).reshape(-1, 5)
    return numbers, np.array([part for _, part in parts], dtype=np.int64).reshape(-1, 2)
