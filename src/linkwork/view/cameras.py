"""Cameras: where they stand so that a box is wholly in the picture, and the ground below it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from linkwork.view.palette import COLORS
from linkwork.view.picture import viewpoint
from linkwork.view.raster import axes_of

FIELD, MARGIN = float(np.deg2rad(45.0)), 0.06
"""Angle of view from below to above, and the part of the picture that stays free on each side."""
SHADOW = 0.3
"""How dark a robot's shadow lies on the ground."""


def aim(camera: Any, aspect: float, low: np.ndarray, high: np.ndarray) -> None:
    """The nearest place on the way from the front right from which a box is wholly in the
    picture."""
    middle = (low + high) / 2
    R = axes_of(*viewpoint(low, high))
    x, y, z = ((corners_of(low, high) - middle) @ R).T
    slope = np.tan(FIELD / 2) * (1 - 2 * MARGIN)
    away = max((z + np.abs(x) / (slope * aspect)).max(), (z + np.abs(y) / slope).max(), 0.1)
    camera.position, camera.look_at = tuple(middle + away * R[:, 2]), tuple(middle)


def sees(camera: Any, aspect: float, points: np.ndarray) -> bool:
    """Whether a camera has all points (n, 3) in its picture."""
    position, target = np.array(camera.position), np.array(camera.look_at)
    forward = target - position
    right = np.cross(forward, np.array(camera.up_direction))
    if not np.linalg.norm(right) > 0.0:  # it looks straight down, or nowhere yet
        return False
    forward, right = forward / np.linalg.norm(forward), right / np.linalg.norm(right)
    seen = points - position
    depth, slope = seen @ forward, np.tan(camera.fov / 2)
    across, up = np.abs(seen @ right), np.abs(seen @ np.cross(right, forward))
    return bool(((depth > 0) & (across <= slope * aspect * depth) & (up <= slope * depth)).all())


def corners_of(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(8, 3): the corners of a box."""
    return np.array(list(product(*zip(low, high, strict=True))))


def add_ground(server: Any) -> Any:
    """The grid below a robot, and the angle of view of browsers to come."""
    server.scene.set_up_direction("+z")
    server.initial_camera.fov = FIELD
    return server.scene.add_grid(
        "/ground",
        infinite_grid=True,
        cell_size=0.1,
        section_size=0.5,
        cell_color=COLORS["cell"],
        section_color=COLORS["section"],
        fade_distance=12.0,
        shadow_opacity=SHADOW,
    )


def lay_ground(grid: Any, low: np.ndarray, high: np.ndarray) -> None:
    """The grid at the foot of a box, with cells of about a tenth of its size."""
    size = max(float(np.linalg.norm(high - low)), 0.2)
    grid.position = (0.0, 0.0, min(0.0, float(low[2])) - 1e-3 * size)
    cell = float(10.0 ** np.round(np.log10(size) - 1.0))
    grid.cell_size, grid.section_size, grid.fade_distance = cell, 5 * cell, 8 * size
