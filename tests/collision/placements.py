"""Random placements of shapes as columns of `linkwork.collision.distances`,
and the same shapes for coal and MuJoCo."""

from __future__ import annotations

import functools

import casadi
import coal
import numpy as np

import linkwork as lw
from linkwork.collision.distances import COLUMNS, PAIRS


def rotations(rng, n):
    """n random rotations by rows, (n, 9)."""
    q = rng.normal(size=(n, 4))
    x, y, z, w = (q / np.linalg.norm(q, axis=1)[:, None]).T
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)]
    rows += [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)]
    rows += [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]
    return np.stack(rows, axis=1)


def directions(rng, n):
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1)[:, None]


def draw(kind, rng, n):
    """n shapes of a kind within two metres, from thin to thick,
    one in four of length zero where it has a length."""
    p = rng.uniform(-1, 1, (n, 3))
    ends = p + rng.uniform(-1, 1, (n, 3)) * rng.uniform(-0.3, 1, (n, 1)).clip(0)
    match kind:
        case "sphere":
            return np.c_[p, rng.uniform(0, 0.6, n)]
        case "capsule":
            return np.c_[p, ends, rng.uniform(0, 0.6, n)]
        case "tapered_capsule":
            return np.c_[p, ends, rng.uniform(0, 0.6, (n, 2))]
        case "box":
            return np.c_[p, rotations(rng, n), rng.uniform(0.05, 0.8, (n, 3))]
        case "half_space":
            return np.c_[directions(rng, n), rng.uniform(-1, 1, n)]
    return np.c_[p, directions(rng, n), rng.uniform(0.02, 0.6, (n, 2))]


def axes_along(u):
    """(a rotation whose z points along u, the length of u)."""
    length = np.linalg.norm(u)
    z = u / length if length > 0 else np.array([0.0, 0, 1])
    side = np.cross([1.0, 0, 0] if abs(z[0]) < 0.6 else [0.0, 1, 0], z)
    x = side / np.linalg.norm(side)
    return np.c_[x, np.cross(z, x), z], length


def for_coal(kind, row):
    """(geometry, transform) of one shape for coal."""
    R, p = np.eye(3), np.zeros(3)
    match kind:
        case "sphere":
            geometry, p = coal.Sphere(row[3]), row[:3]
        case "capsule":
            R, length = axes_along(row[3:6] - row[:3])
            geometry, p = coal.Capsule(row[6], length), 0.5 * (row[:3] + row[3:6])
        case "box":
            geometry, R, p = coal.Box(*(2 * row[12:15])), row[3:12].reshape(3, 3), row[:3]
        case "half_space":
            geometry = coal.Halfspace(row[:3], row[3])
        case "cylinder":
            R, _ = axes_along(row[3:6])
            geometry, p = coal.Cylinder(row[6], 2 * row[7]), row[:3]
    return geometry, coal.Transform3s(R, p)


def by_coal(kind, a, other_kind, b):
    """(distance, point, other point, normal) of each pair of rows, by coal."""
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    found = np.zeros((len(a), 10))
    for i in range(len(a)):
        result = coal.DistanceResult()
        distance = coal.distance(
            *for_coal(kind, a[i]), *for_coal(other_kind, b[i]), request, result
        )
        points = result.getNearestPoint1(), result.getNearestPoint2(), result.normal
        found[i] = np.concatenate([[distance], *(np.ravel(x) for x in points)])
    return found[:, 0], found[:, 1:4], found[:, 4:7], found[:, 7:]


@functools.cache
def kernel(kind, other_kind):
    """The distance of a pair of kinds as a compiled function of its columns."""

    def traced(a, b):
        return tuple(PAIRS[kind, other_kind](casadi.vertsplit(a), casadi.vertsplit(b)))

    return lw.compile(
        traced,
        {"a": len(COLUMNS[kind]), "b": len(COLUMNS[other_kind])},
        name=f"{kind}_{other_kind}",
    )


def support(kind, rows, n):
    """How far each shape reaches along directions n (rows, directions, 3),
    or the same ones (directions, 3) for all."""
    n = np.broadcast_to(n, (len(rows), *n.shape[-2:]))

    def along(vectors):
        return np.einsum("ki,kdi->kd", vectors, n)

    p = along(rows[:, :3])
    match kind:
        case "sphere":
            return p + rows[:, 3:4]
        case "capsule" | "tapered_capsule":
            return np.maximum(p + rows[:, 6:7], along(rows[:, 3:6]) + rows[:, -1:])
        case "box":
            axes = rows[:, 3:12].reshape(-1, 3, 3)
            return p + np.einsum(
                "ki,kdi->kd", rows[:, 12:15], np.abs(np.einsum("kji,kdj->kdi", axes, n))
            )
    axial = along(rows[:, 3:6])
    return (
        p
        + rows[:, 7:8] * np.abs(axial)
        + rows[:, 6:7] * np.linalg.norm(np.cross(rows[:, None, 3:6], n), axis=2)
    )


def gaps(pair, a, b, n):
    """Between the shadows of both shapes on lines along n (rows or one, directions, 3):
    none exceeds the distance."""
    return -support(pair[0], a, n) - support(pair[1], b, -n)


def deepest_ball(rows, point, outward):
    """(centre, radius) of the ball of each hull of two balls on whose surface `point` lies,
    seen along `outward`."""
    p, u, r, k = rows[:, :3], rows[:, 3:6] - rows[:, :3], rows[:, 6:7], rows[:, -1:] - rows[:, 6:7]
    step, way = u + k * outward, point - p - r * outward  # point = p + s u + (r + s k) outward
    s = ((way * step).sum(axis=1) / np.maximum((step * step).sum(axis=1), 1e-300)).clip(0, 1)[
        :, None
    ]
    return p + s * u, (r + s * k)[:, 0]


def balls_of(kind, rows, point, outward):
    """The same for every round kind."""
    if kind == "sphere":
        return rows[:, :3], rows[:, 3]
    return deepest_ball(rows, point, outward)
