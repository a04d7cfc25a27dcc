"""Touching: is a shape nearer to another than some distance? The cheapest exact tests,
for checks that need no number.

A sphere needs no root: the square of the distance of its centre is compared. Every other pair of
kinds compares its signed distance (distances/).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi
from casadi import SX, dot, fabs, fmax, fmin, sqrt

from linkwork.collision.distances import nearest
from linkwork.collision.distances.prisms import squared_distance

# [m] the least radius: a point inside a box touches it, although its distance from the box is zero
POINT = 1e-12

Columns = Sequence[SX]


class Gap(NamedTuple):
    """How far two shapes are apart, as far as a comparison needs it: measured once,
    compared with several margins.

    value, reach   the signed distance is below a margin where value < reach + margin;  squared:
                   value is a square
    """

    value: SX
    reach: SX
    squared: bool

    def below(self, margin: SX | float, least: float = 0.0) -> SX:
        """1 where the signed distance is below the margin [m], else 0.
        The margin is less negative than a radius.

        Inside a shape a squared distance is zero however deep: there a `least` reach keeps it.
        """
        reach = self.reach + margin
        if not self.squared:
            return self.value < reach
        reach = fmax(reach, least)
        return self.value < reach * reach


def gap(kind: str, shape: Columns, other_kind: str, other: Columns) -> Gap:
    """The cheapest measure of a pair of kinds."""
    if not has_test(kind, other_kind):
        return Gap(nearest(kind, shape, other_kind, other).distance, SX(0), False)
    sphere, other_kind, other = (
        (shape, other_kind, other) if kind == "sphere" else (other, kind, shape)
    )
    center, radius = casadi.vertcat(*sphere[:3]), fmax(sphere[3], POINT)
    if other_kind == "half_space":
        return Gap(dot(casadi.vertcat(*other[:3]), center) - other[3], radius, False)
    squared, extra = _FROM_POINT[other_kind](center, other)
    return Gap(squared, radius + extra, True)


def closer(kind: str, shape: Columns, other_kind: str, other: Columns, margin: SX | float) -> SX:
    """1 where the signed distance is below the margin [m], else 0.
    The margin is less negative than a radius."""
    return gap(kind, shape, other_kind, other).below(margin)


def may_be_closer(
    kind: str, shape: Columns, other_kind: str, other: Columns, margin: SX | float
) -> SX:
    """1 where the signed distance may be below a margin of any sign."""
    return gap(kind, shape, other_kind, other).below(margin, POINT)


def has_test(kind: str, other_kind: str) -> bool:
    """Whether this pair of kinds has a test of its own."""
    return "sphere" in (kind, other_kind) and {kind, other_kind} <= set(_FROM_POINT)


def _from_sphere(p: SX, other: Columns) -> tuple[SX, SX]:
    way = p - casadi.vertcat(*other[:3])
    return dot(way, way), other[3]


def _from_capsule(p: SX, other: Columns) -> tuple[SX, SX]:
    start, end = casadi.vertcat(*other[:3]), casadi.vertcat(*other[3:6])
    axis, way = end - start, p - start
    t = fmin(fmax(dot(way, axis) / fmax(dot(axis, axis), 1e-30), 0.0), 1.0)
    rest = way - t * axis
    return dot(rest, rest), other[6]


def _from_box(p: SX, other: Columns) -> tuple[SX, SX]:
    way = p - casadi.vertcat(*other[:3])
    squared = SX(0)
    for k in range(3):
        along = sum((other[3 + 3 * j + k] * way[j] for j in range(3)), SX(0))
        outside = fmax(fabs(along) - other[12 + k], 0.0)
        squared = squared + outside * outside
    return squared, SX(0)


def _from_cylinder(p: SX, other: Columns) -> tuple[SX, SX]:
    way, axis = p - casadi.vertcat(*other[:3]), casadi.vertcat(*other[3:6])
    along = dot(way, axis)
    across = way - along * axis
    beside = fmax(sqrt(dot(across, across)) - other[6], 0.0)
    beyond = fmax(fabs(along) - other[7], 0.0)
    return beside * beside + beyond * beyond, SX(0)


def _from_prism(p: SX, other: Columns) -> tuple[SX, SX]:
    return squared_distance(p, other), SX(0)


def near_patch(sphere: Columns, low: SX, high: SX, top: SX, margin: SX | float) -> SX:
    """1 where a sphere may be nearer than a margin to what is below `top`, low to high."""
    beside = [fmax(fmax(low[k] - sphere[k], sphere[k] - high[k]), 0.0) for k in range(2)]
    above = fmax(sphere[2] - top, 0.0)
    reach = fmax(sphere[3] + margin, POINT)
    return beside[0] * beside[0] + beside[1] * beside[1] + above * above < reach * reach


# kind -> (squared distance of a point from the shape's core, zero inside; radius of the core)
_FROM_POINT: dict[str, Callable[[SX, Columns], tuple[SX, SX]]] = {
    "sphere": _from_sphere,
    "capsule": _from_capsule,
    "box": _from_box,
    "cylinder": _from_cylinder,
    "half_space": _from_sphere,
    "prism": _from_prism,
}
