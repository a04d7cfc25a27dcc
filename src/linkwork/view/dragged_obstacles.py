"""Dragged obstacles: solids of a scene under handles, and what stands where after a drag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.collision import Cloud, HalfSpace, HeightField, Obstacles
from linkwork.view.postures import matrix, quaternions
from linkwork.view.shape_triangles import OBSTACLE, drawn, pose_of


class DraggedObstacles:
    """Obstacles of one stand. Solids are dragged by handles;
    clouds and ground are drawn where they are."""

    def __init__(self, stand: Any, folder: str, moved: Callable[[], None]) -> None:
        self.stand, self.folder, self.moved = stand, folder, moved
        self.obstacles = Obstacles()
        self.handles: dict[str, Any] = {}
        self._still: list[Any] = []
        self._solids: dict[str, Any] = {}

    def show(self, obstacles: Obstacles) -> None:
        """Draw these in the place of those before."""
        self.clear()
        self.obstacles = obstacles
        for shape in obstacles:
            self._draw(shape)

    def add(self, shape: Any) -> None:
        """One more."""
        self.obstacles = self.obstacles.with_shapes(shape)
        self._draw(self.obstacles.shapes[-1])

    def drag(self, name: str, position: np.ndarray, wxyz: np.ndarray) -> None:
        """One of them is elsewhere."""
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = matrix(wxyz), position
        with self.stand.lock:
            self.obstacles = self.obstacles.moved(name, T)
        self.moved()

    def clear(self) -> None:
        """Take them away."""
        for handle in (*self.handles.values(), *self._still):
            handle.remove()
        self.handles, self._still, self._solids, self.obstacles = {}, [], {}, Obstacles()

    def colour(self, name: str, color: tuple[int, int, int] | None) -> None:
        """One of them in a colour, or in its own again; names of others are nothing here."""
        if name in self._solids:
            self._solids[name].color = OBSTACLE if color is None else color

    def _draw(self, shape: Any) -> None:
        match shape:
            case HalfSpace():
                return  # without end; it counts
            case Cloud() | HeightField():
                self._still.append(self._draw_still(shape))
            case _:
                self._draw_solid(shape)

    def _draw_still(self, shape: Cloud | HeightField) -> Any:
        root, scene = f"{self.stand.scene.root}/{self.folder} {shape.name}", self.stand.server.scene
        if isinstance(shape, Cloud):
            size = max(2.0 * shape.radius, 0.004 * self.stand.scene.size)
            points = shape.points.astype(np.float32)
            return scene.add_point_cloud(
                root, points, colors=OBSTACLE, point_size=size, point_shape="circle"
            )
        vertices, faces = shape.triangles()
        made = scene.add_mesh_simple(
            root, vertices.astype(np.float32), faces, color=OBSTACLE, side="double"
        )
        self._solids[str(shape.name)] = made
        return made

    def _draw_solid(self, shape: Any) -> None:
        name = str(shape.name)
        root, T, scene = (
            f"{self.stand.scene.root}/{self.folder} {name}",
            pose_of(shape),
            self.stand.server.scene,
        )
        gizmo = scene.add_transform_controls(
            root, scale=0.12 * self.stand.scene.size, position=T[:3, 3], wxyz=quaternions(T[:3, :3])
        )
        vertices, faces = drawn(self.obstacles.moved(name, np.eye(4))[name])
        solid = scene.add_mesh_simple(f"{root}/solid", vertices, faces, color=OBSTACLE, opacity=0.8)
        self._solids[name] = solid
        gizmo.on_update(lambda _: self.drag(name, np.array(gizmo.position), np.array(gizmo.wxyz)))
        self.handles[name] = gizmo
