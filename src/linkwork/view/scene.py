"""Scene: a robot in the browser; scripts draw with it what the viewer draws.

server = viser.ViserServer(host="127.0.0.1")
scene = RobotScene(server, robot)
scene.move(q)
scene.trail("path", points)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.loads.members import member_names
from linkwork.model import Body
from linkwork.robot import Robot
from linkwork.view.load_arrows import LoadArrows, Pointers
from linkwork.view.member_nodes import MemberNodes
from linkwork.view.palette import COLORS, Color
from linkwork.view.postures import Postures, parents, postures, quaternions, start
from linkwork.view.solids import bounds, solids
from linkwork.view.triangles import arrow

FADED = 0.4
"""Opacity of bodies that must not hide the arrows inside them."""


class RobotScene:
    """The bodies of one robot as nodes of a viser scene under `root`,
    moved by `move(q)` or `show(postures, k)`.

    `at` (3,) [m] puts the whole robot elsewhere, so that several stand side by side.
    """

    def __init__(
        self,
        server: Any,
        robot: Robot,
        root: str = "/robot",
        at: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        self.server, self.robot, self.root = server, robot, root
        self.base = server.scene.add_frame(root, show_axes=False, position=at)
        first = postures(robot, start(robot))
        self.size = extent(robot, first)
        self.solids, self.missing = solids(robot.model, self.size)
        self._places = _places(robot, f"{root}/bodies")
        with server.atomic():
            made = {
                name: server.scene.add_frame(
                    self._places[name],
                    show_axes=False,
                    axes_length=0.07 * self.size,
                    axes_radius=0.0025 * self.size,
                    origin_radius=0.004 * self.size,
                )
                for name in sorted(robot.bodies, key=lambda name: self._places[name].count("/"))
            }
            self.frames = {name: made[name] for name in robot.bodies}
            self._bodies = list(self.frames.values())
            self._drawn: Postures | None = None
            self.meshes = [
                server.scene.add_mesh_simple(
                    f"{self.place(body.name)}/solid{k}",
                    solid.vertices,
                    solid.faces,
                    color=solid.color,
                )
                for body in robot.model.bodies
                for k, solid in enumerate(self.solids[body.name])
            ]
            ends = None if first.ends is None else first.ends[0]
            named = member_names(robot.subject)
            self.members = MemberNodes(server, robot, root, self.size, ends) if named else None
            self.center: Any = None
            self._extras: dict[str, list[Any]] = {}
            self.loads = LoadArrows(self)
            self.show(first, 0)

    @property
    def q(self) -> np.ndarray:
        """Where the robot stands (nq,)."""
        return self.postures.q[self.row].copy()

    def move(self, q: np.ndarray) -> None:
        """Put every body where q (nq,) has it."""
        self.show(postures(self.robot, q), 0)

    def show(self, rows: Postures, k: int) -> None:
        """Put every body where row k of some postures has it:
        each in the axes of the body that carries it."""
        known = self._drawn is rows
        self.postures, self.row, self._drawn = rows, k, rows
        steps, frames = rows.steps, self._bodies
        with self.server.atomic():
            for i in steps.slides if known else range(len(frames)):
                frames[i].position = steps.position[k, i]
            for i in steps.turns if known else range(len(frames)):
                frames[i].wxyz = steps.wxyz[k, i]
            if self.members is not None:
                self.members.move(None if rows.ends is None else rows.ends[k])
            if self.center is not None and self.center.visible:
                self.center.position = self.robot.center_of_mass(rows.q[k])

    def fade(self, faded: bool) -> None:
        """Make the bodies translucent, so that what is inside them is seen."""
        with self.server.atomic():
            for mesh in self.meshes:
                mesh.opacity = FADED if faded else None

    def bounds(self) -> np.ndarray:
        """(2, 3): the lowest and the highest coordinates of what is drawn now [m], world axes."""
        pieces = [self.solids[name] for name in self.robot.bodies]
        rows, k = self.postures, self.row
        return bounds(pieces, rows.rotation[k], rows.position[k]) + np.asarray(self.base.position)

    def bounds_over(self, playback: Any, instants: int = 12) -> np.ndarray:
        """The same over some instants of a motion too, if there is one."""
        boxes = [self.bounds()]
        if playback is not None:
            pieces, rows = [self.solids[name] for name in self.robot.bodies], playback.postures
            at = np.asarray(self.base.position)
            for k in np.unique(np.linspace(0, len(rows) - 1, instants).round().astype(int)):
                boxes.append(bounds(pieces, rows.rotation[k], rows.position[k]) + at)
        return np.stack(
            [np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)]
        )

    def remove(self) -> None:
        """Take everything away."""
        self.base.remove()

    def show_axes(self, shown: bool) -> None:
        """The axes of every body and of every named frame."""
        for frame in self.frames.values():
            frame.show_axes = shown
        self._option("frames", shown)

    def show_points(self, shown: bool) -> None:
        """Every named point, with its name."""
        self._option("points", shown)

    def show_inertia(self, shown: bool) -> None:
        """For each body the box of uniform density that has its mass properties' principal
        moments."""
        self._option("inertia", shown)

    def show_center_of_mass(self, shown: bool) -> None:
        """A ball at the centre of mass of the whole robot."""
        if self.center is None:
            self.center = self.server.scene.add_icosphere(
                f"{self.root}/center_of_mass", 0.022 * self.size, COLORS["center"]
            )
        self.center.visible = shown
        self.show(self.postures, self.row)

    def arrows(
        self, name: str, starts: np.ndarray, vectors: np.ndarray, scale: float = 1.0
    ) -> Pointers:
        """Arrows (n, 3) at points (n, 3), such as forces: `scale` [m/N] makes lengths of them;
        coloured by length."""
        drawn = Pointers(
            self.server, [f"{self.root}/{name}/{k}" for k in range(len(starts))], arrow()
        )
        length = np.linalg.norm(vectors, axis=-1)
        share = length / max(1e-300, float(length.max(initial=0.0)))
        drawn.show(scale * np.asarray(vectors, dtype=float), share, np.asarray(starts, dtype=float))
        return drawn

    def trail(self, name: str, points: np.ndarray, color: Color = COLORS["trail"]) -> Any:
        """The path of a point (n, 3)."""
        points = np.asarray(points, dtype=np.float32)
        ends = np.stack([points[:-1], points[1:]], axis=1)
        return self.server.scene.add_line_segments(
            f"{self.root}/{name}", ends, color, thickness=0.006 * self.size
        )

    def place(self, body: str) -> str:
        """The name of a body's node: what hangs below it moves with the body."""
        return self._places[body]

    def _option(self, kind: str, shown: bool) -> None:
        """Nodes that are made when they are first asked for."""
        if kind not in self._extras:
            if not shown:
                return
            make = {
                "points": self._draw_points,
                "inertia": self._draw_inertia,
                "frames": self._draw_frames,
            }[kind]
            with self.server.atomic():
                self._extras[kind] = [
                    node for body in self.robot.model.bodies for node in make(body)
                ]
        for node in self._extras[kind]:
            node.visible = shown

    def _draw_points(self, body: Body) -> list[Any]:
        nodes = []
        for label, position in body.points:
            place, at = f"{self.place(body.name)}/points/{label}", np.array(position, dtype=float)
            nodes.append(
                self.server.scene.add_icosphere(
                    place, 0.007 * self.size, COLORS["point"], position=at
                )
            )
            nodes.append(self.server.scene.add_label(f"{place}/label", f"{body.name}.{label}"))
        return nodes

    def _draw_frames(self, body: Body) -> list[Any]:
        return [
            self.server.scene.add_frame(
                f"{self.place(body.name)}/frames/{frame.name}",
                axes_length=0.05 * self.size,
                axes_radius=0.002 * self.size,
                origin_radius=0.003 * self.size,
                position=np.array(frame.placement.position, dtype=float),
                wxyz=quaternions(np.array(frame.placement.rotation, dtype=float)),
            )
            for frame in self.robot.model.frames
            if frame.body == body.name
        ]

    def _draw_inertia(self, body: Body) -> list[Any]:
        box = inertia_box(body)
        if box is None:
            return []
        sides, R, com = box
        place = f"{self.place(body.name)}/inertia"
        return [
            self.server.scene.add_box(
                place,
                COLORS["inertia"],
                dimensions=tuple(sides),
                opacity=0.35,
                wxyz=quaternions(R),
                position=com,
            )
        ]


def _places(robot: Robot, root: str) -> dict[str, str]:
    """The name of each body's node: below the node of the body that carries it,
    so that a hinge is one rotation."""
    carriers = dict(zip(robot.bodies, parents(robot), strict=True))

    def place(body: str) -> str:
        above = root if carriers[body] < 0 else place(robot.bodies[carriers[body]])
        return f"{above}/{body.replace('/', '|')}"

    return {body: place(body) for body in robot.bodies}


def inertia_box(body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(sides (3,) [m], R_body_box, centre (3,)) of the box of uniform density with the body's mass
    and inertia.

    A box with sides a, b, c has I_1 = m (b^2 + c^2) / 12 and so on, hence a^2 = 6 (I_2 + I_3 - I_1)
    / m. None for a body without mass or moments; a side that an unphysical inertia would make
    imaginary is drawn thin.
    """
    mass = float(body.mass_properties.mass)
    moments, R = np.linalg.eigh(np.array(body.mass_properties.inertia, dtype=float))
    if mass <= 0.0 or moments.max() <= 0.0:
        return None
    if np.linalg.det(R) < 0:
        R = -R
    sides = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / mass, 0.0))
    return np.maximum(sides, 0.02 * sides.max()), R, np.array(body.mass_properties.com, dtype=float)


def extent(robot: Robot, rows: Postures) -> float:
    """How large the robot is [m]: nearly the diagonal of the box around its bodies,
    points and members."""
    points = [rows.position[0]]
    for k, body in enumerate(robot.model.bodies):
        if body.points:
            places = np.array([p for _, p in body.points], dtype=float)
            points.append(places @ rows.rotation[0, k].T + rows.position[0, k])
    if rows.ends is not None:
        points.append(rows.ends[0].reshape(-1, 3))
    every = np.concatenate(points)
    return max(0.9 * float(np.linalg.norm(every.max(axis=0) - every.min(axis=0))), 1e-3)
