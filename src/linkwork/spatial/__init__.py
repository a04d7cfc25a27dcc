"""Rigid-body algebra over symbols: rotations, transforms, motions, forces, inertias.
Knows no robot."""

from linkwork.spatial.inertia import Inertia
from linkwork.spatial.operators import quicken
from linkwork.spatial.transform import Force, InverseTransform, Motion, Transform
from linkwork.spatial.vector import (
    ZERO3,
    axis_rotation,
    cross,
    matrix,
    quaternion_rotation,
    skew,
    vector,
)

quicken()

__all__ = [
    "ZERO3",
    "Force",
    "Inertia",
    "InverseTransform",
    "Motion",
    "Transform",
    "axis_rotation",
    "cross",
    "matrix",
    "quaternion_rotation",
    "skew",
    "vector",
]
