"""Distances between two parts of a model over many configurations,
one array operation a pair of kinds.

For what is decided once (which pairs to look at, tests, reports); the queries of a model have
kernels of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import casadi
import numpy as np

from linkwork import quantities
from linkwork.collision import exact
from linkwork.collision.distances import COLUMNS, KINDS, PAIRS
from linkwork.collision.shapes import Shape
from linkwork.engine.compile import CompiledFunction, compile
from linkwork.subject import Subject

ROWS = 400_000
"""Pairs of shapes a call: the columns of that many fit into memory that is quick to get."""


class Poses:
    """Poses of all bodies for configurations q (n, nq): rotation (n, bodies, 3, 3),
    position (n, bodies, 3)."""

    def __init__(self, subject: Subject, q: np.ndarray) -> None:
        self.names = [body.name for body in subject.model.bodies]
        self.rotation, self.position = quantities.evaluate(subject, "forward_kinematics", {"q": q})

    def of(self, body: str, rows: Any = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        k = self.names.index(body)
        return self.rotation[rows, k], self.position[rows, k]


def distances(
    shapes: Sequence[Shape],
    pose: tuple[np.ndarray, np.ndarray],
    others: Sequence[Shape],
    other: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """The smallest signed distance (n,) between any shape of one part and any of another,
    at n poses each."""
    n = len(pose[1])
    least = np.full(n, np.inf)
    step = max(1, ROWS // max(1, len(shapes) * len(others)))
    for begin in range(0, n, step):
        some = slice(begin, begin + step)
        first = (pose[0][some], pose[1][some])
        second = (other[0][some], other[1][some])
        for kind, mine in grouped(shapes).items():
            for other_kind, theirs in grouped(others).items():
                near = _between(kind, mine, first, other_kind, theirs, second)
                least[some] = np.minimum(least[some], near)
    return least


def grouped(shapes: Sequence[Shape]) -> dict[str, list[Shape]]:
    """Shapes by kind."""
    by_kind: dict[str, list[Shape]] = {}
    for shape in shapes:
        by_kind.setdefault(shape.kind, []).append(shape)
    return by_kind


def _between(
    kind: str, mine: list[Shape], pose: Any, other_kind: str, theirs: list[Shape], other: Any
) -> np.ndarray:
    """The smallest distance (n,) of shapes of two kinds."""
    if (kind, other_kind) not in PAIRS and (other_kind, kind) not in PAIRS:
        return exact.distances(mine, pose, theirs, other)
    if (kind, other_kind) not in PAIRS:
        kind, mine, pose, other_kind, theirs, other = other_kind, theirs, other, kind, mine, pose
    a, b = placed_columns(kind, mine, *pose), placed_columns(other_kind, theirs, *other)
    rows = (len(a), len(mine), len(theirs))
    wide_a = np.broadcast_to(a[:, :, None, :], (*rows, a.shape[-1]))
    wide_b = np.broadcast_to(b[:, None, :, :], (*rows, b.shape[-1]))
    return distance_kernel(kind, other_kind)(wide_a, wide_b).reshape(len(a), -1).min(axis=1)


@cache
def distance_kernel(kind: str, other_kind: str) -> CompiledFunction:
    """The distance alone of a pair of kinds, of columns in world axes."""

    def traced(a: casadi.SX, b: casadi.SX) -> casadi.SX:
        return PAIRS[kind, other_kind](casadi.vertsplit(a), casadi.vertsplit(b)).distance

    sizes = {"a": len(COLUMNS[kind]), "b": len(COLUMNS[other_kind])}
    return compile(traced, sizes, name=f"distance of {kind} and {other_kind}")


def placed_columns(kind: str, shapes: Sequence[Shape], R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Columns (n, shapes, columns) in world axes of shapes fixed to a body with poses R (n, 3, 3),
    p (n, 3)."""
    assert kind in KINDS
    body = np.array([shape.columns() for shape in shapes])  # type: ignore[union-attr]
    columns = np.broadcast_to(body, (len(p), *body.shape)).copy()
    if kind == "half_space":
        columns[..., :3] = np.einsum("nij,kj->nki", R, body[:, :3])
        columns[..., 3] = body[:, 3] + np.einsum("nki,ni->nk", columns[..., :3], p)
        return columns
    columns[..., :3] = np.einsum("nij,kj->nki", R, body[:, :3]) + p[:, None, :]
    if kind in ("capsule", "tapered_capsule"):
        columns[..., 3:6] = np.einsum("nij,kj->nki", R, body[:, 3:6]) + p[:, None, :]
    elif kind == "cylinder":
        columns[..., 3:6] = np.einsum("nij,kj->nki", R, body[:, 3:6])
    elif kind == "box":
        turned = np.einsum("nij,kjl->nkil", R, body[:, 3:12].reshape(-1, 3, 3))
        columns[..., 3:12] = turned.reshape(*turned.shape[:2], 9)
    return columns


def ball_of(shapes: Sequence[Shape]) -> tuple[np.ndarray, float]:
    """A ball (center, radius) around all shapes of a part."""
    balls = [shape.ball() for shape in shapes]
    centers = np.array([center for center, _ in balls])
    radii = np.array([radius for _, radius in balls])
    low, high = (centers - radii[:, None]).min(axis=0), (centers + radii[:, None]).max(axis=0)
    middle = 0.5 * (low + high)
    return middle, float((np.linalg.norm(centers - middle, axis=1) + radii).max())
