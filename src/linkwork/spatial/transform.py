"""Transform: rotation and translation kept apart, acting on points, motions,
forces and inertias with @."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from casadi import SX, dot

from linkwork.spatial.vector import ZERO3, cross


@dataclass(frozen=True, slots=True)
class _Screw:
    """A linear and an angular part in the axes of one frame."""

    linear: SX = ZERO3
    angular: SX = ZERO3

    def __add__(self, other: Self) -> Self:
        return type(self)(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Self:
        return type(self)(-self.linear, -self.angular)

    def __mul__(self, s: SX) -> Self:
        return type(self)(self.linear * s, self.angular * s)


class Motion(_Screw):
    """A spatial velocity or acceleration: linear part at the frame's origin, angular part,
    in the frame's axes."""

    __slots__ = ()

    def cross(self, other: Any) -> Any:
        """V x M for a motion, V x* F for a force."""
        v, w = self.linear, self.angular
        if isinstance(other, Motion):
            return Motion(cross(w, other.linear) + cross(v, other.angular), cross(w, other.angular))
        return Force(cross(w, other.linear), cross(w, other.angular) + cross(v, other.linear))

    def dot(self, force: Force) -> SX:
        """Power of a force on this motion."""
        return dot(self.linear, force.linear) + dot(self.angular, force.angular)


class Force(_Screw):
    """A spatial force or momentum: linear part (force),
    angular part (moment about the frame's origin)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Transform:
    """T_parent_child: x_parent = R x_child + p. `T @ x` brings x from child to parent,
    `T.inv @ x` back."""

    R: Any  # a matrix, or a Turn, which knows its own zeros
    p: SX

    def __matmul__(self, x: Any) -> Any:
        R, p = self.R, self.p
        if isinstance(x, Transform):
            return Transform(R @ x.R, R @ x.p + p)
        if isinstance(x, Motion):
            w = R @ x.angular
            return Motion(R @ x.linear + cross(p, w), w)
        if isinstance(x, Force):
            f = R @ x.linear
            return Force(f, R @ x.angular + cross(p, f))
        return x.moved(self)

    @property
    def inv(self) -> InverseTransform:
        """T_child_parent, as an operator: nothing is computed until it meets its operand."""
        return InverseTransform(self)


@dataclass(frozen=True, slots=True)
class InverseTransform:
    """`T.inv @ x` expresses a motion or force of the parent frame in the child frame."""

    T: Transform

    def __matmul__(self, x: Any) -> Any:
        R, p = self.T.R.T, self.T.p
        if isinstance(x, Motion):
            return Motion(R @ (x.linear + cross(x.angular, p)), R @ x.angular)
        if isinstance(x, Force):
            return Force(R @ x.linear, R @ (x.angular - cross(p, x.linear)))
        raise TypeError(f"cannot bring a {type(x).__name__} into the child frame")
