"""Dragged obstacles: solids of a scene under handles, and what stands where after a drag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.collision import Box, Capsule, Cylinder, Obstacles, Sphere
from linkwork.view.clearance import OBSTACLE, drawn, pose_of
from linkwork.view.postures import matrix, quaternions


class DraggedObstacles:
    """Obstacles of one stand; half-spaces and clouds count but are not drawn."""

    def __init__(self, stand: Any, folder: str, moved: Callable[[], None]) -> None:
        self.stand, self.folder, self.moved = stand, folder, moved
        self.obstacles = Obstacles()
        self.handles: dict[str, Any] = {}

    def show(self, obstacles: Obstacles) -> None:
        """Draw these in the place of those before."""
        self.clear()
        self.obstacles = obstacles
        for shape in obstacles:
            if isinstance(shape, (Sphere, Capsule, Box, Cylinder)):
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
        for handle in self.handles.values():
            handle.remove()
        self.handles, self.obstacles = {}, Obstacles()

    def _draw(self, shape: Any) -> None:
        name = str(shape.name)
        root, T, scene = f"{self.stand.scene.root}/{self.folder} {name}", pose_of(shape), self.stand.server.scene
        gizmo = scene.add_transform_controls(
            root, scale=0.12 * self.stand.scene.size, position=T[:3, 3], wxyz=quaternions(T[:3, :3])
        )
        vertices, faces = drawn(self.obstacles.moved(name, np.eye(4))[name])
        scene.add_mesh_simple(f"{root}/solid", vertices, faces, color=OBSTACLE, opacity=0.8)
        gizmo.on_update(lambda _: self.drag(name, np.array(gizmo.position), np.array(gizmo.wxyz)))
        self.handles[name] = gizmo
