"""Signed distances between two shapes in world axes, as expressions without branches.

`PAIRS[(kind, other)]` holds a function of the columns of two shapes (see `COLUMNS`); the kind that
comes first in `KINDS` comes first in the key. `nearest` takes them in any order. Every function
gives a `Nearest`.

    distance      negative inside; then it is the shortest way to come apart, with the sign turned
    point         on the first shape;  other_point  on the second one
    normal        a unit vector from the first shape towards the second: distance =
                  (other_point - point)' normal

Nothing divides by zero: radius 0, length 0, parallel, crossing and nested shapes have a finite
answer in every lane. What is not here (boxes and most cylinders with each other, convex bodies,
meshes) goes to `linkwork.collision.exact`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from casadi import SX

from linkwork.collision.distances import (
    boxes,
    cylinders,
    half_spaces,
    prisms,
    segments,
    tapered,
    tapered_boxes,
)
from linkwork.collision.distances.nearest import Nearest

__all__ = ["COLUMNS", "KINDS", "PAIRS", "Nearest", "nearest"]

COLUMNS = {
    "sphere": ("x", "y", "z", "radius"),
    "capsule": ("x0", "y0", "z0", "x1", "y1", "z1", "radius"),
    "tapered_capsule": ("x0", "y0", "z0", "x1", "y1", "z1", "radius0", "radius1"),
    "box": ("x", "y", "z", *(f"r{i}{j}" for i in range(3) for j in range(3)), "hx", "hy", "hz"),
    "half_space": ("nx", "ny", "nz", "offset"),
    "cylinder": ("x", "y", "z", "ax", "ay", "az", "radius", "half_length"),
}
"""The numbers of each kind in world axes [m]; axes and normals are unit vectors,
rotations R_world_box by rows."""

KINDS = tuple(COLUMNS)

PAIRS: dict[tuple[str, str], Callable[[Sequence[SX], Sequence[SX]], Nearest]] = {
    ("sphere", "sphere"): segments.sphere_sphere,
    ("sphere", "capsule"): segments.sphere_capsule,
    ("capsule", "capsule"): segments.capsule_capsule,
    ("sphere", "tapered_capsule"): tapered.sphere_tapered,
    ("capsule", "tapered_capsule"): tapered.tapered_tapered,
    ("tapered_capsule", "tapered_capsule"): tapered.tapered_tapered,
    ("sphere", "box"): boxes.sphere_box,
    ("capsule", "box"): boxes.capsule_box,
    ("tapered_capsule", "box"): tapered_boxes.tapered_box,
    ("sphere", "half_space"): half_spaces.sphere_half_space,
    ("capsule", "half_space"): half_spaces.capsule_half_space,
    ("tapered_capsule", "half_space"): tapered.tapered_half_space,
    ("box", "half_space"): half_spaces.box_half_space,
    ("sphere", "cylinder"): cylinders.sphere_cylinder,
    ("half_space", "cylinder"): cylinders.half_space_cylinder,
}


def nearest(kind: str, shape: Sequence[SX], other_kind: str, other: Sequence[SX]) -> Nearest:
    """The nearest points of two shapes given in any order; "prism" (of ground) meets spheres,
    which come first."""
    if other_kind == "prism":
        assert kind == "sphere"
        return prisms.sphere_prism(shape, other)
    if (kind, other_kind) in PAIRS:
        return PAIRS[kind, other_kind](shape, other)
    return PAIRS[other_kind, kind](other, shape).turned()
