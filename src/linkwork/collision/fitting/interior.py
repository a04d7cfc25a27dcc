"""Points inside a surface: rays along z through a grid of columns,
counted with the sense in which they cross."""

from __future__ import annotations

import numpy as np

_OPEN = 0.02  # share of columns that may leave the surface more often than they enter it


def inside_points(corners: np.ndarray, spacing: float) -> np.ndarray | None:
    """Points (n, 3) of a grid that lie inside a surface of triangles;
    None where the surface is open.

    A ray that has crossed more faces one way than the other is inside: overlapping solids count as
    one, and faces that all look inwards do as well as outwards. The grid is turned a little against
    the axes, in which meshes have edges.
    """
    turn = _turn()
    turned = corners @ turn.T
    low, high = turned.min(axis=(0, 1)), turned.max(axis=(0, 1))
    steps = np.maximum(np.ceil((high - low)[:2] / spacing).astype(int), 1)
    column, z, sense = _crossings(turned, low, spacing, steps)
    if not len(column):
        return np.zeros((0, 3))
    order = np.lexsort((z, column))
    column, z, sense = column[order], z[order], sense[order]
    first = np.concatenate([[True], column[1:] != column[:-1]])
    begin = np.flatnonzero(first)
    total = np.add.reduceat(sense, begin)
    if (total != 0).mean() > _OPEN:
        return None
    level = np.cumsum(sense)
    level -= np.repeat(level[begin] - sense[begin], np.diff(np.append(begin, len(z))))
    closed = np.repeat(total == 0, np.diff(np.append(begin, len(z))))
    within = np.flatnonzero((level[:-1] != 0) & (column[:-1] == column[1:]) & closed[:-1])
    points = []
    for k in within:
        heights = np.arange(np.ceil(z[k] / spacing), np.floor(z[k + 1] / spacing) + 1) * spacing
        i, j = divmod(int(column[k]), int(steps[1]))
        x, y = low[0] + (i + 0.5) * spacing, low[1] + (j + 0.5) * spacing
        points.append(
            np.column_stack([np.full(len(heights), x), np.full(len(heights), y), heights])
        )
    return np.concatenate(points) @ turn if points else np.zeros((0, 3))


def _crossings(
    corners: np.ndarray, low: np.ndarray, spacing: float, steps: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(column, z, +1 or -1) of every crossing of a triangle with the middle of a column."""
    at = (corners[:, :, :2] - low[:2]) / spacing - 0.5  # in columns
    first = np.maximum(np.ceil(at.min(axis=1)).astype(int), 0)
    last = np.minimum(np.floor(at.max(axis=1)).astype(int), steps - 1)
    width = np.maximum(last - first + 1, 0)
    count = width[:, 0] * width[:, 1]
    row = np.repeat(np.arange(len(corners)), count)
    k = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    i = first[row, 0] + k // np.maximum(width[row, 1], 1)
    j = first[row, 1] + k % np.maximum(width[row, 1], 1)
    a, b, c = (at[row, m] for m in range(3))
    p = np.stack([i, j], axis=1)
    weights = np.stack([_area(b, c, p), _area(c, a, p), _area(a, b, p)], axis=1)
    hit = (weights > 0.0).all(axis=1) | (weights < 0.0).all(axis=1)
    weights, row = weights[hit], row[hit]
    z = (weights * corners[row, :, 2]).sum(axis=1) / weights.sum(axis=1)
    return i[hit] * steps[1] + j[hit], z, np.where(weights[:, 0] > 0.0, 1, -1)


def _area(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Twice the signed area of the triangle a, b, p in the plane."""
    return (b[:, 0] - a[:, 0]) * (p[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (p[:, 0] - a[:, 0])


def _turn() -> np.ndarray:
    """A rotation by odd angles."""
    a, b = 0.3137, 0.2291
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    return about_x @ about_y
