"""The part of the viewer about collisions: shapes over the robot, obstacles to drag, the nearest pair as a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.collision.model import CollisionModel, model
from linkwork.collision.obstacle_files import load_obstacles
from linkwork.collision.obstacles import Obstacle, Obstacles
from linkwork.collision.shapes import Box, Capsule, Cylinder, Sphere
from linkwork.errors import LinkworkError
from linkwork.view.clearance import FREE, OBSTACLE, TOUCHING, drawn, pose_of
from linkwork.view.postures import matrix, quaternions

_KINDS = {"sphere", "capsule", "box", "cylinder"}


def panel(stand: Any) -> CollisionPanel | None:
    """A folder in the robot's tab, of robots that describe collision shapes."""
    return CollisionPanel(stand) if any(body.collisions for body in stand.robot.model.bodies) else None


class CollisionPanel:
    """Nothing is drawn or computed before a person asks for it; meshes are shown as the capsules around them."""

    def __init__(self, stand: Any) -> None:
        self.stand, self.robot, self.server = stand, stand.robot, stand.server
        gui = self.server.gui
        with gui.add_folder("Collision", expand_by_default=False):
            self.shown = gui.add_checkbox("shapes and distances", False)
            self.file = gui.add_text("obstacles file", "")
            self.status = gui.add_markdown("")
        self.model: CollisionModel | None = None
        self.obstacles = Obstacles()
        self._bodies: dict[str, list[Any]] = {}
        self._things: dict[str, Any] = {}
        self._line: Any = None
        self.shown.on_update(lambda _: self.restart())
        self.file.on_update(lambda _: self.restart())

    def restart(self) -> None:
        """Draw what is asked for, or take it away."""
        with self.stand.lock:
            self._clear()
            if not self.shown.value:
                return
            try:
                if self.model is None:
                    kinds = {shape.kind for body in self.robot.model.bodies for shape in body.collisions}
                    self.model = model(self.robot, "described" if kinds <= _KINDS else "capsules")
                self.obstacles = load_obstacles(self.file.value.strip()) if self.file.value.strip() else Obstacles()
            except LinkworkError as error:
                self.status.content = str(error)
                return
            self._draw_robot(self.model)
            for shape in self.obstacles:
                self._draw_obstacle(shape)
            self.show(self.stand.scene.q)

    def show(self, q: np.ndarray) -> None:
        """The nearest pair of the robot at q, and which bodies touch."""
        if self.model is None or not self.shown.value:
            return
        try:
            nearest = self.model.clearance(q, self.obstacles)
        except LinkworkError as error:
            self.status.content = str(error)
            return
        distance = float(nearest.distance)
        if not np.isfinite(distance):
            self.status.content = "there is nothing it could touch"
            return
        touching = {nearest.body, nearest.other} if distance <= 0.0 else set()
        for name, handles in self._bodies.items():
            for handle in handles:
                handle.color = TOUCHING if name in touching else FREE
        word = "overlap by" if distance <= 0.0 else "are apart by"
        self.status.content = f"{nearest.body} and {nearest.other} {word} {1e3 * abs(distance):.1f} mm"
        ends = np.stack([nearest.point, nearest.other_point])[None].astype(np.float32)
        color = TOUCHING if distance <= 0.0 else FREE
        path = f"{self.stand.scene.root}/nearest"
        self._line = self.server.scene.add_line_segments(path, ends, colors=color, line_width=4.0)

    def remove(self) -> None:
        """The robot goes, and what was drawn with it."""
        self._clear()

    def _draw_robot(self, made: CollisionModel) -> None:
        for part, shapes in made.shapes.items():
            place = self.stand.scene.place(made.carriers[part])
            for k, shape in enumerate(shapes):
                vertices, faces = drawn(shape)
                path = f"{place}/collision {part} {k}"
                handle = self.server.scene.add_mesh_simple(path, vertices, faces, color=FREE, opacity=0.45)
                self._bodies.setdefault(part, []).append(handle)

    def _draw_obstacle(self, shape: Obstacle) -> None:
        """A solid under a handle that can be dragged; half-spaces and clouds count but are not drawn."""
        if not isinstance(shape, (Sphere, Capsule, Box, Cylinder)):
            return
        root, name = f"{self.stand.scene.root}/obstacle {shape.name}", str(shape.name)
        T = pose_of(shape)
        gizmo = self.server.scene.add_transform_controls(
            root, scale=0.3, position=T[:3, 3], wxyz=quaternions(T[:3, :3])
        )
        vertices, faces = drawn(self.obstacles.moved(name, np.eye(4))[name])
        self.server.scene.add_mesh_simple(f"{root}/solid", vertices, faces, color=OBSTACLE, opacity=0.8)
        gizmo.on_update(lambda _: self.dragged(name, np.array(gizmo.position), np.array(gizmo.wxyz)))
        self._things[name] = gizmo

    def dragged(self, name: str, position: np.ndarray, wxyz: np.ndarray) -> None:
        """An obstacle is elsewhere; nothing is compiled for that."""
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = matrix(wxyz), position
        with self.stand.lock:
            self.obstacles = self.obstacles.moved(name, T)
            self.show(self.stand.scene.q)

    def _clear(self) -> None:
        every = [handle for handles in self._bodies.values() for handle in handles]
        for handle in (*every, *self._things.values(), *([self._line] if self._line is not None else [])):
            handle.remove()
        self._bodies, self._things, self._line = {}, {}, None
        self.status.content = ""
