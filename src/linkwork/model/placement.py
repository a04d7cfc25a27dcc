"""Placement: where one frame sits in another, rotation and position kept apart."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.model.number import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    add,
    product,
    scale,
    times,
    transpose,
)
from linkwork.model.rotation import snapped


@dataclass(frozen=True, slots=True)
class Placement:
    """T_parent_child: p_parent = rotation p_child + position [m]."""

    rotation: Matrix = IDENTITY
    position: Vector = ZERO

    def __matmul__(self, other: Placement) -> Placement:
        """T_a_c = T_a_b @ T_b_c."""
        if other is HERE:  # most elements of a file have no pose of their own
            return self
        if self is HERE:
            return other
        return Placement(snapped(product(self.rotation, other.rotation)), self.at(other.position))

    def at(self, point: Vector) -> Vector:
        """The point of the child frame, seen in the parent frame."""
        return add(times(self.rotation, point), self.position)

    def inverse(self) -> Placement:
        """T_child_parent."""
        if self is HERE:
            return self
        R = transpose(self.rotation)
        return Placement(R, scale(-1.0, times(R, self.position)))


HERE = Placement()
"""The identity: the child frame is the parent frame."""
