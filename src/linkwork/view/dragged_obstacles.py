"""Dragged obstacles: solids of a scene under handles, and what stands where after a drag."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.collision import Cloud, HalfSpace, HeightField, Obstacles
from linkwork.view.handles import Handles
from linkwork.view.newest import Newest
from linkwork.view.postures import quaternions
from linkwork.view.shape_triangles import OBSTACLE, drawn, pose_of


class DraggedObstacles:
    """Obstacles of one stand. Solids are dragged by handles;
    clouds and ground are drawn where they are."""

    def __init__(self, stand: Any, folder: str, newest: Newest) -> None:
        self.stand, self.folder = stand, folder
        self.handles = Handles(newest)
        self._obstacles = Obstacles()
        self._still: list[Any] = []
        self._solids: dict[str, Any] = {}

    @property
    def obstacles(self) -> Obstacles:
        """What stands around, where its handles are now."""
        with self.stand.lock:
            for name, T in self.handles.dragged():
                self._obstacles = self._obstacles.moved(name, T)
            return self._obstacles

    def show(self, obstacles: Obstacles) -> None:
        """Draw these in the place of those before."""
        self.clear()
        self._obstacles = obstacles
        for shape in obstacles:
            self._draw(shape)

    def add(self, shape: Any) -> None:
        """One more."""
        self._obstacles = self.obstacles.with_shapes(shape)
        self._draw(self._obstacles.shapes[-1])

    def drag(self, name: str, position: np.ndarray, wxyz: np.ndarray) -> None:
        """One of them is elsewhere."""
        self.handles.drag(name, position, wxyz)

    def clear(self) -> None:
        """Take them away."""
        self.handles.clear()
        for handle in self._still:
            handle.remove()
        self._still, self._solids, self._obstacles = [], {}, Obstacles()

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
        root = f"{self.stand.scene.root}/{self.folder} {name}"
        T = pose_of(shape)
        scene = self.stand.server.scene
        gizmo = scene.add_transform_controls(
            root, scale=0.12 * self.stand.scene.size, position=T[:3, 3], wxyz=quaternions(T[:3, :3])
        )
        vertices, faces = drawn(self._obstacles.moved(name, np.eye(4))[name])
        solid = scene.add_mesh_simple(f"{root}/solid", vertices, faces, color=OBSTACLE, opacity=0.8)
        self._solids[name] = solid
        self.handles.listen(name, gizmo)
