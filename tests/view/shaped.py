"""An arm with shapes: a UR5e with a capsule from joint to joint where its description has none."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import linkwork as lw
from linkwork.collision.exact import axes_along
from linkwork.model.body import Shape
from linkwork.model.placement import Placement


@cache
def shaped_ur5e() -> lw.Robot:
    robot = lw.load("ur5e")
    if any(body.collisions for body in robot.model.bodies):
        return robot
    links: dict[str, Shape] = {}
    for joint in robot.model.joints:
        end = np.array(joint.placement.position)
        if joint.parent and np.linalg.norm(end) > 0.1:
            R = axes_along(end)
            place = Placement(tuple(tuple(row) for row in R.tolist()), tuple((end / 2).tolist()))
            links[joint.parent] = Shape("capsule", (0.05, float(np.linalg.norm(end))), place)
    bodies = [
        replace(b, collisions=(links[b.name],)) if b.name in links else b
        for b in robot.model.bodies
    ]
    return lw.Robot(replace(robot.model, bodies=tuple(bodies)))
