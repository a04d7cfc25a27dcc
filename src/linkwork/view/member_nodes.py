"""Member nodes: struts that telescope, springs that stretch, bars,
sliders and pins of closed loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.loads.members import member_names
from linkwork.model.elements import Bar, Damper, LinearActuator, LoopClosure, Slider, Spring
from linkwork.robot import Robot
from linkwork.view import triangles
from linkwork.view.palette import COLORS, Color
from linkwork.view.postures import quaternions

KINDS: dict[type, str] = {LinearActuator: "actuator", Damper: "actuator", Spring: "spring"}


RADIUS = 0.008
"""Radius of members as part of the robot's size."""


class MemberNodes:
    """The members of one robot in a viser scene, moved by their ends;
    every mesh has unit length along z.

    `ends` (m, 2, 3) where the robot stands first: the barrel of a strut takes half of that length.
    """

    def __init__(
        self, server: Any, robot: Robot, root: str, size: float, ends: np.ndarray | None
    ) -> None:
        self.names = member_names(robot.subject)
        elements = {getattr(e, "name", None): e for e in robot.model.elements}
        self.elements = [elements[name] for name in self.names]
        self.radius = RADIUS * size
        start = (
            np.ones(len(self.names))
            if ends is None
            else np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1)
        )
        self.start = np.maximum(start, self.radius)
        self.nodes: dict[str, list[Any]] = {}
        for name, element, length in zip(self.names, self.elements, self.start, strict=True):
            place = f"{root}/members/{name.replace('/', '|')}"
            self.nodes[name] = [
                server.scene.add_mesh_simple(f"{place}/{k}", *shape, color=color)
                for k, (shape, color) in enumerate(
                    member_parts(element, self.radius, float(length))
                )
            ]
        self.shown = True

    def color_of(self, name: str) -> Color:
        """The colour of a member that carries no load."""
        return COLORS[KINDS.get(type(self.elements[self.names.index(name)]), "member")]

    def move(self, ends: np.ndarray | None) -> None:
        """Put every member between its ends (m, 2, 3) [m]; None hides them all."""
        if (ends is not None) != self.shown:
            self.shown = ends is not None
            for parts in self.nodes.values():
                for node in parts:
                    node.visible = self.shown
        if ends is None:
            return
        across = ends[:, 1] - ends[:, 0]
        lengths = np.linalg.norm(across, axis=-1)
        wxyz = quaternions(triangles.turn_z_to(across))
        for k, name in enumerate(self.names):
            scales = member_scales(self.elements[k], float(lengths[k]), float(self.start[k]))
            for node, scale in zip(self.nodes[name], scales, strict=False):
                node.position, node.wxyz, node.scale = ends[k, 0], wxyz[k], (1.0, 1.0, scale)

    def paint(self, name: str, color: Color) -> None:
        """Colour the loaded part of a member."""
        self.nodes[name][-1].color = color


def member_parts(
    element: Any, radius: float, length: float
) -> list[tuple[triangles.Triangles, Color]]:
    """What is drawn of a member, along z from the origin with unit length;
    the second part is a barrel of half that."""
    r, up = radius, np.array([0.0, 0.0, 0.5])
    rod = triangles.moved(triangles.cylinder(0.55 * r, 1.0), np.eye(3), up)
    if isinstance(element, (LinearActuator, Damper)):
        barrel = triangles.moved(triangles.cylinder(1.25 * r, 1.0), np.eye(3), up)
        return [(rod, COLORS["rod"]), (barrel, COLORS["actuator"])]
    if isinstance(element, Spring):
        return [(triangles.coil(1.6 * r, 0.4 * r, length), COLORS["spring"])]
    if isinstance(element, LoopClosure) and element.kind != "distance":
        return [(triangles.ball(1.9 * r), COLORS["hub"])]
    if isinstance(element, (Bar, LoopClosure)):
        return [
            (triangles.moved(triangles.cylinder(0.9 * r, 1.0), np.eye(3), up), COLORS["member"])
        ]
    assert isinstance(element, Slider)
    return [(rod, COLORS["member"])]


def member_scales(element: Any, length: float, first: float) -> tuple[float, ...]:
    """How long the parts of a member are drawn that is `length` now and was `first`;
    a pin is not stretched."""
    if isinstance(element, LoopClosure) and length < 1e-6:
        return (1.0,)
    return (max(length, 1e-6), 0.5 * first)
