"""Mechanisms to simulate: small systems, an arm, a body that floats, a chain with a ball joint."""

from __future__ import annotations

from functools import cache

from casadi import cos, sin

import linkwork as lw
from linkwork.lagrange import System
from linkwork.model import Body, Joint, MassProperties, Model, Placement
from tests.published import URDFS

DOUBLE_PENDULUM = System.planar_chain("RR", [1.0, 0.7], [1.0, 1.5])
POINT = System("x y", gravity=(0, -9.81)).with_body("ball", 2.0, lambda q: (q.x, q.y))
CART = System("x theta", gravity=(0, -9.81)).with_body("cart", 1.5, lambda q: (q.x, 0))
CART = CART.with_body(
    "bob", 0.5, lambda q: (q.x + 0.8 * sin(q.theta), -0.8 * cos(q.theta)), drag=0.1
)


def block(mass: float, *moments: float) -> MassProperties:
    a, b, c = moments
    return MassProperties(mass, (0.1, -0.05, 0.02), ((a, 0.01, 0.0), (0.01, b, 0.0), (0.0, 0.0, c)))


@cache
def floating() -> lw.Robot:
    """A body that floats, with a swinging second one on a ball joint."""
    bodies = (Body("base", block(2.0, 0.3, 0.4, 0.2)), Body("arm", block(0.7, 0.05, 0.06, 0.03)))
    joints = (
        Joint("free", "floating", None, "base"),
        Joint("hip", "ball", "base", "arm", placement=Placement(position=(0.3, 0.0, 0.1))),
    )
    return lw.Robot(Model("floating pair", bodies, joints, gravity=(0.0, 0.0, -9.81)))


@cache
def ur5() -> lw.Robot:
    return lw.load(next(path for name, path in URDFS.items() if path.name == "ur5_robot.urdf"))
