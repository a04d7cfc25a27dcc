"""Pointed: what shapes made of points have together."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.collision.shape_values import grown_length, like, shifted_point
from linkwork.model.number import ZERO, Vector
from linkwork.model.placement import Placement


class Pointed:
    """What shapes made of points have together: compared by content, grown by a margin."""

    __slots__ = ()
    vertices: Any
    pose: Any
    margin: Any
    name: Any
    _content: bytes | None
    _ball: tuple[Vector, float] | None

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self) and isinstance(other, Pointed) and self._key() == other._key()
        )

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.content(), self.pose, self.margin, self.name

    def content(self) -> bytes:
        """What the points and triangles are, as a digest that is computed once."""
        if self._content is None:
            arrays = (getattr(self, key) for key in ("vertices", "faces") if hasattr(self, key))
            digest = b"".join(hashlib.sha256(array.data).digest() for array in arrays)
            object.__setattr__(self, "_content", digest)
        assert self._content is not None
        return self._content

    def corners(self) -> np.ndarray:
        """The vertices (n, 3) that count, in axes of the pose."""
        return self.vertices

    def world(self) -> np.ndarray:
        """The vertices (n, 3) in the axes in which the shape is placed."""
        R, p = np.array(self.pose.rotation), np.array(self.pose.position)
        return self.vertices @ R.T + p

    def moved(self, T: Placement) -> Any:
        return like(self, pose=T @ self.pose)

    def shifted(self, by: Vector) -> Any:
        return self.moved(Placement(position=shifted_point(ZERO, by)))

    def grown(self, by: float) -> Any:
        return replace(self, margin=grown_length(self.margin, by, type(self).__name__))  # type: ignore[type-var]

    def ball(self) -> tuple[Vector, float]:
        """Around the points, in axes of the pose computed once: a mesh that moves keeps it."""
        if self._ball is None:
            corners = self.corners()
            middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
            x, y, z = middle.tolist()
            radius = float(np.linalg.norm(corners - middle, axis=1).max())
            object.__setattr__(self, "_ball", ((x, y, z), radius))
        assert self._ball is not None
        return self.pose.at(self._ball[0]), self._ball[1] + self.margin
