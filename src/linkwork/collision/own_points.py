"""Own points: a cloud that a camera saw, without the points that are on the robot itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.arguments import finite, number
from linkwork.collision.fields import Cloud
from linkwork.collision.part_distances import Poses, distance_kernel, grouped, placed_columns
from linkwork.collision.tile import in_pairs
from linkwork.errors import InvalidInput, NotPossible
from linkwork.subject import Subject

ROWS = 200_000  # pairs of points and shapes a call
# a sphere comes first in their pairs
OF_SPHERES = (
    "sphere",
    "capsule",
    "tapered_capsule",
    "box",
    "cylinder",
)


def without_own_points(
    subject: Subject,
    shapes: Mapping[str, Sequence[Any]],
    carriers: Mapping[str, str],
    q: Any,
    cloud: Any,
    margin: float,
) -> Any:
    """The cloud, or points (n, 3), without those nearer than `margin` [m] to a shape of the robot
    at q (nq,)."""
    configuration = finite(q, (subject.nq,), "without_own_points: q")
    margin = number(margin, "without_own_points: margin")
    points = cloud.points if isinstance(cloud, Cloud) else Cloud(cloud).points
    radius = cloud.radius if isinstance(cloud, Cloud) else 0.0
    keep = np.full(len(points), True)
    poses = Poses(subject, configuration[None])
    for part, own in shapes.items():
        R, p = poses.of(carriers[part])
        for kind, group in grouped(own).items():
            if kind not in OF_SPHERES or not in_pairs("sphere", kind):
                raise NotPossible(
                    f'without_own_points: "{part}" has a {kind}, whose distance from points has no '
                    "expression; "
                    'use shapes="spheres" or "capsules"'
                )
            columns = placed_columns(kind, group, R, p)[0]
            step = max(1, ROWS // len(columns))
            for begin in range(0, len(points), step):
                some = slice(begin, begin + step)
                balls = np.c_[points[some], np.full(len(points[some]), radius)]
                distance = distance_kernel("sphere", kind)(balls[:, None, :], columns[None])
                keep[some] &= distance.min(axis=1) >= margin
    if not isinstance(cloud, Cloud):
        return points[keep]
    if not keep.any():
        raise InvalidInput(
            "without_own_points: every point of the cloud is on the robot, expected some that "
            "are not"
        )
    return replace(cloud, points=points[keep])
