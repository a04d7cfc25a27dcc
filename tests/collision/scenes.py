"""Scenes that CI has: a table, shelves, an open box, a cage;
and robots with spheres or capsules on them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.collision import (
    Box,
    Capsule,
    CollisionModel,
    HalfSpace,
    Obstacles,
    Sphere,
    TaperedCapsule,
)


def turned(angle: float, position: tuple[float, float, float]) -> np.ndarray:
    """A pose turned about z."""
    T = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    T[:2, :2], T[:3, 3] = [[c, -s], [s, c]], position
    return T


def table() -> Obstacles:
    legs = [Capsule((x, y, -0.6), (x, y, -0.1), 0.03) for x in (0.3, 0.8) for y in (-0.4, 0.4)]
    return Obstacles(
        [Box((0.7, 1.0, 0.05), turned(0.2, (0.55, 0, -0.05))), *legs, Sphere((0.5, 0.1, 0.1), 0.08)]
    )


def shelves() -> Obstacles:
    boards = [Box((0.3, 0.9, 0.02), turned(0.1, (0.7, 0, z))) for z in (0.1, 0.4, 0.7)]
    sides = [Box((0.3, 0.02, 0.8), turned(0.1, (0.7, y, 0.4))) for y in (-0.45, 0.45)]
    cans = [Capsule((0.65, y, 0.15), (0.65, y, 0.25), 0.035) for y in (-0.2, 0.0, 0.25)]
    return Obstacles([*boards, *sides, *cans])


def open_box() -> Obstacles:
    walls = [Box((0.4, 0.02, 0.3), turned(0.0, (0.5, y, 0.2))) for y in (-0.2, 0.2)]
    walls += [Box((0.02, 0.4, 0.3), turned(0.0, (x, 0.0, 0.2))) for x in (0.3, 0.7)]
    return Obstacles(
        [*walls, Box((0.4, 0.4, 0.02), turned(0.0, (0.5, 0, 0.05))), HalfSpace((0, 0, 1), -0.05)]
    )


def cage() -> Obstacles:
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    bars = [
        Capsule((0.6 * np.cos(a), 0.6 * np.sin(a), 0), (0.6 * np.cos(a), 0.6 * np.sin(a), 1), 0.02)
        for a in angles
    ]
    return Obstacles([*bars, HalfSpace((0, 0.1, -1), -1.3)])


SCENES = {"table": table(), "shelves": shelves(), "open box": open_box(), "cage": cage()}


def shapes_on(robot: lw.Robot, seed: int, kinds: str = "sphere") -> dict[str, list]:
    """Shapes at random on the bodies, some 5 cm in size,
    along the way to where the next joint begins."""
    rng = np.random.default_rng(seed)
    tree = robot.subject.full_tree
    found = {}
    for body in robot.bodies:
        node = tree.bodies[body][0]
        children = [
            n.placement.position for n in tree.nodes if n.parent == node and n is not tree.nodes[0]
        ]
        end = np.array(children[0], dtype=float) if children else np.array([0, 0, 0.05])
        if not np.isfinite(end).all() or body == "world":
            continue
        own: list = []
        for k in range(3):
            center = end * k / 2 + rng.normal(scale=0.01, size=3)
            if kinds == "sphere" or (kinds == "mixed" and k == 0):
                own.append(Sphere(center, rng.uniform(0.01, 0.04)))
            elif k == 1:
                own.append(
                    Capsule(
                        end * 0.1,
                        end * 0.9 + rng.normal(scale=0.005, size=3),
                        rng.uniform(0.01, 0.03),
                    )
                )
        found[body] = own
    return found


SLIDER = """<robot name="gantry">
  <link name="rail"/><link name="cart"/><link name="arm"/><link name="tip"/>
  <joint name="x" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="turn" type="revolute"><parent link="cart"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="out" type="prismatic"><parent link="arm"/><child link="tip"/><axis xyz="1 0 0"/><origin xyz="0.3 0 0.2"/>
    <limit lower="0" upper="0.5" velocity="1" effort="1"/></joint>
</robot>"""


@cache
def gantry() -> lw.Robot:
    """A cart on a rail, an arm that turns on it, and a tip that slides out of the arm."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gantry.urdf"
        path.write_text(SLIDER)
        return lw.load(path)


def tip_of_gantry(*shapes: Any) -> CollisionModel:
    """Shapes on the last body of a small robot, where the question is not about the robot."""
    return CollisionModel(gantry(), {"tip": list(shapes)}, pairs=[])


def capsule_gantry(radius: float = 0.03) -> CollisionModel:
    """A gantry with balls and a capsule at its tip, all of some radius,
    and a slanting bar on its cart.

    The tip passes below, above and through the bar. Models with these kinds on cart and tip share
    machine code.
    """
    row = [Sphere((x, 0, 0), radius) for x in np.linspace(0.0, 0.2, 4)]
    tip = [*row, Capsule((0.0, 0, 0.04), (0.2, 0, 0.08), radius)]
    bar = Capsule((0.45, -0.4, 0.1), (0.55, 0.4, 0.35), radius)
    return CollisionModel(gantry(), {"cart": [bar], "tip": tip}, pairs=[("cart", "tip")])


def tapered_gantry(radius: float = 0.03) -> CollisionModel:
    """The same of tapered capsules alone, thinner at their ends."""
    up = TaperedCapsule((0.0, 0, 0.0), (0.2, 0, 0.08), 0.8 * radius, radius)
    down = TaperedCapsule((0.05, 0, -0.03), (0.2, 0, -0.06), radius, 0.5 * radius)
    bar = TaperedCapsule((0.45, -0.4, 0.1), (0.55, 0.4, 0.35), radius, 0.7 * radius)
    return CollisionModel(gantry(), {"cart": [bar], "tip": [up, down]}, pairs=[("cart", "tip")])


def cones() -> Obstacles:
    """Tapered capsules that stand around a gantry."""
    angles = np.linspace(0, 2 * np.pi, 6, endpoint=False)
    feet = [(0.7 * np.cos(a), 0.7 * np.sin(a), 0.0) for a in angles]
    return Obstacles([TaperedCapsule(foot, (*foot[:2], 0.3), 0.08, 0.03) for foot in feet])
