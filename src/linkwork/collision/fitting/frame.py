"""A frame that moves with a surface: moved, turned, mirrored or scaled,
the surface looks the same in it."""

from __future__ import annotations

import numpy as np


def own_frame(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(A, c): x = A' (p - c), with c the centroid of the triangles and the rows of A' their
    principal axes.

    Axes go from the widest to the narrowest and point to the longer tail; A may be a mirror. A
    surface that is the same on both sides has no such tail, but then both choices look the same.
    """
    edges = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(edges, axis=1)
    weight = area / area.sum() if area.sum() > 0.0 else np.full(len(area), 1.0 / len(area))
    middle = corners.mean(axis=1)
    center = weight @ middle
    rest = corners - center
    # second moments of a triangle: the mean of (sum of corners)(sum)' and of each corner, over 12
    total = rest.sum(axis=1)
    moments = np.einsum("m,mi,mj->ij", weight, total, total) + np.einsum(
        "m,mki,mkj->ij", weight, rest, rest
    )
    _, axes = np.linalg.eigh(moments)
    axes = axes[:, ::-1]
    along = rest.mean(axis=1) @ axes
    tails = weight @ along**3
    return axes * np.where(tails < 0.0, -1.0, 1.0), center
