"""Picture: a robot in one configuration as a PNG, without a browser."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite
from linkwork.errors import NotPossible
from linkwork.formats.files import write_atomically
from linkwork.robot import Robot
from linkwork.view.drawing import COLORS, WIDTHS
from linkwork.view.pictures import pictures
from linkwork.view.postures import postures, start
from linkwork.view.scene import extent
from linkwork.view.segments import segments
from linkwork.view.solids import bounds, solids

LIGHT = np.array([0.35, -0.5, 0.79])
"""Where the light comes from, world axes."""
MOST_FACES = 60_000
"""Meshes with more triangles than this are thinned, since matplotlib draws each by itself."""


def picture(
    robot: Robot, q: ArrayLike | None = None, path: str | Path | None = None, size: tuple[float, float] = (5.0, 5.0)
) -> bytes:
    """The robot at q (nq,) as a PNG, with its shapes in shaded colours; also written to `path` if one is given.

    q left out: neutral, or for a machine with loops its assembled reference. size: width and height [inch], 150 dots
    an inch. Needs matplotlib: pip install 'linkwork[plots]'.
    """
    at = start(robot) if q is None else finite(q, (robot.nq,), "picture: q")
    content = pictures(lambda figure: _draw(figure, robot, at), ["png"], size)["png"]
    if path is not None:
        write_atomically(path, content)
    return content


def robot_html(robot: Robot) -> str:
    """A table of the robot with a small picture, for notebooks; the table alone where nothing can be drawn."""
    table = f"<pre style='margin:0'>{escape(str(robot))}</pre>"
    try:
        image = base64.b64encode(picture(robot, size=(3.0, 3.0))).decode()
    except NotPossible:
        return table
    drawn = f"<img alt='{escape(robot.name)}' width='300' src='data:image/png;base64,{image}'>"
    return f"<div style='display:flex;align-items:center;gap:1em'>{drawn}{table}</div>"


def _draw(figure: Any, robot: Robot, q: np.ndarray) -> None:
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection  # type: ignore[import-untyped]

    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    parts, _ = solids(robot.model, extent(robot, postures(robot, q)))
    poses = robot.forward_kinematics(q)
    corners, shades = [], []
    total = sum(len(piece.faces) for pieces in parts.values() for piece in pieces)
    thin = max(1, -(-total // MOST_FACES))
    for k, pieces in enumerate(parts.values()):
        for piece in pieces:
            world = piece.vertices @ poses.rotation[k].T + poses.position[k]
            triangles = world[piece.faces[::thin]]
            corners.append(triangles)
            shades.append(_shaded(triangles, piece.color))
    members = segments(robot, q)
    for kind in ("actuator", "spring", "member"):
        ends = members.of(kind)
        if ends.size:
            axes.add_collection3d(Line3DCollection(ends, colors=COLORS[kind], linewidths=WIDTHS[kind]))
    if corners:
        surface = Poly3DCollection(np.concatenate(corners), facecolors=np.concatenate(shades), linewidths=0)
        axes.add_collection3d(surface)
    low, high = bounds(list(parts.values()), poses.rotation, poses.position)
    _frame(axes, low, high)


def _shaded(triangles: np.ndarray, color: tuple[int, int, int]) -> np.ndarray:
    """Colours (m, 4): brighter towards the light."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    facing = np.abs(normals / np.where(lengths > 0.0, lengths, 1.0) @ LIGHT)
    brightness = 0.45 + 0.55 * facing[:, None]
    rgb = np.array(color, dtype=float)[None] / 255.0 * brightness
    return np.concatenate([rgb, np.ones((len(rgb), 1))], axis=1)


def _frame(axes: Any, low: np.ndarray, high: np.ndarray) -> None:
    """Equal scale, no box; a faint floor where the robot stands on one."""
    centre, half = (low + high) / 2, max(float((high - low).max()) / 2, 1e-3) * 0.8
    for name, c in zip("xyz", centre, strict=True):
        getattr(axes, f"set_{name}lim")(c - half, c + half)
    axes.set_box_aspect((1, 1, 1))
    axes.view_init(elev=22, azim=-55)
    axes.set_axis_off()
