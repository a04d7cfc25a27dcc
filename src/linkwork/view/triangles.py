"""Triangles: boxes, balls, cylinders, tubes and coils as (vertices (n, 3) [m], faces (m, 3))."""

from __future__ import annotations

import numpy as np

Triangles = tuple[np.ndarray, np.ndarray]
ALMOST_STRAIGHT = np.cos(np.deg2rad(15.0))
"""Between two steps of a line whose pipes close without a ball:
the gap is an eighth of their radius."""


def box(size: np.ndarray) -> Triangles:
    """A box of size (3,) about the origin; every side has its own corners,
    so that its edges look sharp."""
    corners: list[np.ndarray] = []
    faces: list[tuple[int, ...]] = []
    for axis in range(3):
        u, w = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
        for sign in (1.0, -1.0):
            n, k = sign * np.eye(3)[axis], len(corners)
            corners += [n - u - w, n + u - w, n + u + w, n - u + w]
            side = [(k, k + 1, k + 2), (k, k + 2, k + 3)]
            faces += side if sign > 0 else [(a, c, b) for a, b, c in side]
    return np.array(corners) * np.asarray(size, dtype=float) / 2, np.array(faces)


def ball(radius: float, around: int = 20, up: int = 10) -> Triangles:
    """A sphere about the origin."""
    angle = np.linspace(0.0, np.pi, up + 1)
    return turned(np.column_stack([radius * np.sin(angle), -radius * np.cos(angle)]), around)


def cylinder(radius: float, length: float, around: int = 24) -> Triangles:
    """A cylinder along z about the origin, closed, with sharp rims."""
    r, h = radius, length / 2
    return joined(
        [
            turned(np.array(line), around)
            for line in ([(0, -h), (r, -h)], [(r, -h), (r, h)], [(r, h), (0, h)])
        ]
    )


def capsule(radius: float, length: float, around: int = 20) -> Triangles:
    """A cylinder along z about the origin with a half ball at each end;
    `length` is that of the straight part."""
    low, high = np.linspace(0.0, np.pi / 2, 6), np.linspace(np.pi / 2, np.pi, 6)
    profile = [(radius * np.sin(a), -length / 2 - radius * np.cos(a)) for a in low]
    profile += [(radius * np.sin(a), length / 2 - radius * np.cos(a)) for a in high]
    return turned(np.array(profile), around)


def coil(
    radius: float, wire: float, length: float, turns: int = 9, steps: int = 14, around: int = 6
) -> Triangles:
    """A helical spring of unit length from the origin along z;
    scaled along z to `length` its wire is round."""
    t = np.linspace(0.0, 1.0, turns * steps + 1)
    winding = 2 * np.pi * turns * t
    r = radius * np.minimum(1.0, 12 * np.minimum(t, 1 - t))  # the ends run in to the axis
    centre = np.column_stack([r * np.cos(winding), r * np.sin(winding), t])
    out = np.column_stack([np.cos(winding), np.sin(winding), 0 * t])
    ring = np.linspace(0.0, 2 * np.pi, around, endpoint=False)
    up = np.array([0.0, 0.0, 1.0])
    offsets = np.cos(ring)[:, None, None] * out + np.sin(ring)[:, None, None] * up / length
    vertices = (centre[None] + wire * offsets).transpose(1, 0, 2).reshape(-1, 3)
    return vertices, _quads(len(t), around)[:, ::-1]


def arrow() -> Triangles:
    """An arrow of unit length from the origin along z."""
    lines = (
        [(0, 0), (0.022, 0)],
        [(0.022, 0), (0.022, 0.8)],
        [(0.022, 0.8), (0.06, 0.8)],
        [(0.06, 0.8), (0, 1)],
    )
    return joined([turned(np.array(line, dtype=float), 16) for line in lines])


def turning_arrow(steps: int = 32, around: int = 8) -> Triangles:
    """An arrow bent about z to three quarters of a circle of unit radius."""
    t = np.linspace(0.0, 1.35 * np.pi, steps + 1)
    centre = np.column_stack([np.cos(t), np.sin(t), 0 * t])
    ring = np.linspace(0.0, 2 * np.pi, around, endpoint=False)
    offsets = np.cos(ring)[:, None, None] * centre + np.sin(ring)[:, None, None] * np.array(
        [0.0, 0.0, 1.0]
    )
    bent = (
        (centre[None] + 0.055 * offsets).transpose(1, 0, 2).reshape(-1, 3),
        _quads(len(t), around)[:, ::-1],
    )
    head = joined(
        [turned(np.array(line), 16) for line in ([(0, 0), (0.15, 0)], [(0.15, 0), (0, 0.42)])]
    )
    tangent = np.array([-np.sin(t[-1]), np.cos(t[-1]), 0.0])
    return joined([bent, moved(head, turn_z_to(tangent), centre[-1])])


def turned(profile: np.ndarray, around: int) -> Triangles:
    """The surface of a profile (n, 2) of (radius, z) from below to above, turned about z."""
    angle = np.linspace(0.0, 2 * np.pi, around, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    rings = [np.column_stack([r * circle, np.full(around, z)]) for r, z in profile]
    return np.concatenate(rings), _quads(len(profile), around)


def moved(shape: Triangles, R: np.ndarray, p: np.ndarray) -> Triangles:
    """The shape turned by R (3, 3) and put at p (3,)."""
    vertices, faces = shape
    return vertices @ np.asarray(R, dtype=float).T + np.asarray(p, dtype=float), faces


def joined(shapes: list[Triangles]) -> Triangles:
    """Several shapes as one."""
    starts = np.cumsum([0, *(len(v) for v, _ in shapes[:-1])])
    faces = [f + start for (_, f), start in zip(shapes, starts, strict=True)]
    return np.concatenate([v for v, _ in shapes]), np.concatenate(faces)


def creased(shape: Triangles) -> Triangles:
    """The same surface with vertices split where its faces turn sharply,
    so that edges of a machined part look sharp.

    Faces share a vertex if their normals, rounded to halves, agree: a fine mesh of a round surface
    stays smooth.
    """
    vertices, faces = shape
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a).astype(float)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    directions = (np.round(2 * normals).astype(np.int64) + 2) @ (25, 5, 1)
    keys, index = np.unique(faces.astype(np.int64) * 125 + directions[:, None], return_inverse=True)
    return vertices[keys // 125], index.reshape(faces.shape)


def tube(start: np.ndarray, end: np.ndarray, radius: float) -> Triangles:
    """A round bar between two points, with round ends."""
    across = np.asarray(end, dtype=float) - np.asarray(start, dtype=float)
    shape = capsule(radius, float(np.linalg.norm(across)), 16)
    return moved(
        shape,
        turn_z_to(across),
        (np.asarray(start, dtype=float) + np.asarray(end, dtype=float)) / 2,
    )


def line(points: np.ndarray, radius: float, around: int = 8) -> Triangles:
    """A thin round line through points (n, 3): a pipe a step,
    a ball at its ends and wherever it turns sharply."""
    steps = np.diff(points, axis=0)
    R = turn_z_to(steps)
    angle = np.linspace(0.0, 2 * np.pi, around, endpoint=False)
    circle = radius * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    rings = np.einsum("nij,aj->nai", R, circle)
    pipes = np.stack([points[:-1, None] + rings, points[1:, None] + rings], axis=1).reshape(-1, 3)
    faces = _quads(2, around) + 2 * around * np.arange(len(steps))[:, None, None]
    along = R[..., 2]
    sharp = np.flatnonzero(np.einsum("ni,ni->n", along[:-1], along[1:]) < ALMOST_STRAIGHT) + 1
    knots, knot_faces = ball(radius, around, around // 2)
    balls = [(knots + points[k], knot_faces) for k in (0, *sharp, len(points) - 1)]
    return joined([(pipes, faces.reshape(-1, 3)), *balls])


def turn_z_to(direction: np.ndarray) -> np.ndarray:
    """A rotation (..., 3, 3) whose z axis points along `direction` (..., 3);
    the identity for a zero vector."""
    d = np.asarray(direction, dtype=float)
    length = np.linalg.norm(d, axis=-1, keepdims=True)
    z = np.where(length > 1e-12, d / np.maximum(length, 1e-12), [0.0, 0.0, 1.0])
    aside = np.where(np.abs(z[..., :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    y = np.cross(z, aside)
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], axis=-1)


def _quads(rings: int, around: int) -> np.ndarray:
    """Faces between consecutive rings of vertices, seen from outside."""
    row, column = np.meshgrid(np.arange(rings - 1), np.arange(around), indexing="ij")
    a = row * around + column
    b = row * around + (column + 1) % around
    return np.concatenate(
        [np.stack([a, b, b + around], -1), np.stack([a, b + around, a + around], -1)]
    ).reshape(-1, 3)
