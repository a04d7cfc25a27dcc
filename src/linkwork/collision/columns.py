"""Columns: the numbers of each kind of shape by what they are;
those of a robot's shape are in axes of its node."""

from __future__ import annotations

SHAPE_COLUMNS: dict[str, tuple[tuple[str, int], ...]] = {
    "sphere": (("center", 3), ("radius", 1)),
    "capsule": (("start", 3), ("end", 3), ("radius", 1)),
    "tapered_capsule": (("start", 3), ("end", 3), ("radii", 2)),
    "box": (("center", 3), ("rotation", 9), ("half", 3)),
    "half_space": (("normal", 3), ("offset", 1)),
    "cylinder": (("center", 3), ("axis", 3), ("sizes", 2)),
    "prism": (("corners", 9),),
}
"""The columns of distances.COLUMNS, and of prisms of ground."""
POINTS, DIRECTIONS, ROTATIONS = ("center", "start", "end"), ("axis",), ("rotation",)
MOVING = (*POINTS, *DIRECTIONS, *ROTATIONS)
"""What changes with the pose of the body."""
