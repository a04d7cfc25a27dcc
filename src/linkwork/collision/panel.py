"""The part of the viewer about collisions: shapes over the robot, obstacles to drag,
the nearest pair as a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.collision.clearance import Clearance
from linkwork.collision.model import CollisionModel, model
from linkwork.collision.obstacle_files import load_obstacles
from linkwork.collision.obstacles import Obstacles
from linkwork.errors import LinkworkError
from linkwork.view.dragged_obstacles import DraggedObstacles
from linkwork.view.newest import Newest
from linkwork.view.shape_triangles import FREE, TOUCHING, drawn

_KINDS = {"sphere", "capsule", "box", "cylinder"}
CLEAR, SOLID = 0.45, 0.95  # opacity: what touches hides the colour of the body's own mesh
NEAREST = (200, 0, 160)  # of the line: no body and no obstacle has this colour


def panel(stand: Any) -> CollisionPanel | None:
    """A folder in the robot's tab, of robots that describe collision shapes."""
    return (
        CollisionPanel(stand) if any(body.collisions for body in stand.robot.model.bodies) else None
    )


class CollisionPanel:
    """Nothing is drawn or computed before a person asks for it;
    meshes are shown as the capsules around them."""

    def __init__(self, stand: Any) -> None:
        self.stand, self.robot, self.server = stand, stand.robot, stand.server
        gui = self.server.gui
        with gui.add_folder("Collision", expand_by_default=False):
            self.shown = gui.add_checkbox("shapes and distances", False)
            self.file = gui.add_text("obstacles file", "")
            self.status = gui.add_markdown("")
        self.model: CollisionModel | None = None
        self.around = DraggedObstacles(stand, "obstacle", Newest(self._show_here))
        self._bodies: dict[str, list[Any]] = {}
        self._red: set[str] = set()
        self._line: Any = None
        self._number: Any = None
        self.shown.on_update(lambda _: self.restart())
        self.file.on_update(lambda _: self.restart())

    @property
    def obstacles(self) -> Obstacles:
        """What stands around, where it was dragged to."""
        return self.around.obstacles

    @property
    def number(self) -> str:
        """What is written beside the line."""
        return "" if self._number is None else str(self._number.text)

    def restart(self) -> None:
        """Draw what is asked for, or take it away."""
        with self.stand.lock:
            self._clear()
            if not self.shown.value:
                return
            try:
                if self.model is None:
                    kinds = {
                        shape.kind for body in self.robot.model.bodies for shape in body.collisions
                    }
                    self.model = model(self.robot, "described" if kinds <= _KINDS else "capsules")
                file = self.file.value.strip()
                obstacles = load_obstacles(file) if file else Obstacles()
            except LinkworkError as error:
                self.status.content = str(error)
                return
            self._draw_robot(self.model)
            self.around.show(obstacles)
            self.show(self.stand.scene.q)

    def show(self, q: np.ndarray) -> None:
        """The nearest pair of the robot at q, and everything that touches."""
        if self.model is None or not self.shown.value or not self._bodies:
            return
        try:
            nearest = self.model.clearance(q, self.obstacles)
            touching = self.model.contacts(q, self.obstacles) if nearest.distance <= 0.0 else ()
        except LinkworkError as error:
            self.status.content = str(error)
            return
        self._colour({name for contact in touching for name in (contact.body, contact.other)})
        distance = float(nearest.distance)
        if not np.isfinite(distance):
            self.status.content = "there is nothing it could touch"
            return
        word = "overlap by" if distance <= 0.0 else "are apart by"
        told = [f"{nearest.body} and {nearest.other} {word} {1e3 * abs(distance):.1f} mm"]
        told += [f"{contact}" for contact in touching]
        self.status.content = "\n\n".join(told)
        self._mark(nearest)

    def remove(self) -> None:
        """The robot goes, and what was drawn with it."""
        self._clear()

    def _show_here(self) -> None:
        with self.stand.lock:
            self.show(self.stand.scene.q)

    def _colour(self, touching: set[str]) -> None:
        """What touches in red; only what changes is told to the browser."""
        for name in touching ^ self._red:
            self.around.colour(name, TOUCHING if name in touching else None)
            for handle in self._bodies.get(name, ()):
                handle.color = TOUCHING if name in touching else FREE
                handle.opacity = SOLID if name in touching else CLEAR
        self._red = touching

    def _mark(self, nearest: Clearance) -> None:
        """A line between the nearest points, and their distance beside its middle."""
        ends = np.stack([nearest.point, nearest.other_point])[None].astype(np.float32)
        middle, text = ends[0].mean(axis=0), f"{1e3 * float(nearest.distance):.1f} mm"
        if self._line is not None:
            self._line.points, self._number.position = ends, middle
            self._number.text = text
            return
        root, scene = self.stand.scene.root, self.server.scene
        thick = {"thickness": 4.0, "thickness_units": "screen"}
        self._line = scene.add_line_segments(f"{root}/nearest", ends, colors=NEAREST, **thick)
        self._number = scene.add_label(f"{root}/nearest number", text, position=middle)

    def _draw_robot(self, made: CollisionModel) -> None:
        for part, shapes in made.shapes.items():
            place = self.stand.scene.place(made.carriers[part])
            for k, shape in enumerate(shapes):
                vertices, faces = drawn(shape)
                path = f"{place}/collision {part} {k}"
                handle = self.server.scene.add_mesh_simple(
                    path, vertices, faces, color=FREE, opacity=CLEAR
                )
                self._bodies.setdefault(part, []).append(handle)

    def _clear(self) -> None:
        marks = [self._line, self._number] if self._line is not None else []
        for handle in (
            *(handle for handles in self._bodies.values() for handle in handles),
            *marks,
        ):
            handle.remove()
        self.around.clear()
        self._bodies, self._red, self._line, self._number = {}, set(), None, None
        self.status.content = ""
