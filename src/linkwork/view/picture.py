"""Picture: a robot in one configuration as a PNG, without a browser."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite, finite_rows
from linkwork.errors import InvalidInput
from linkwork.formats.files import write_atomically
from linkwork.loads.members import member_names
from linkwork.model.elements import LoopClosure
from linkwork.robot import Robot
from linkwork.view import triangles
from linkwork.view.member_nodes import RADIUS, member_parts, member_scales
from linkwork.view.palette import COLORS, Color
from linkwork.view.png import png_bytes
from linkwork.view.postures import Postures, postures, start
from linkwork.view.raster import (
    Camera,
    Floor,
    Mesh,
    axes_of,
    fitted,
    floor_of,
    merged,
    render,
    vertex_normals,
)
from linkwork.view.scene import extent
from linkwork.view.solids import solids

LARGEST = 4096
"""Pixels of an edge: more would take minutes and gigabytes."""


def picture(
    robot: Robot,
    q: ArrayLike | None = None,
    path: str | Path | None = None,
    size: tuple[int, int] = (750, 750),
    view: tuple[float, float] | None = None,
    trails: Sequence[str] | None = None,
    ghosts: ArrayLike | None = None,
    obstacles: Any = None,
    paths: Sequence[ArrayLike] = (),
) -> bytes:
    """The robot at q (nq,) as a PNG, with its shapes in shaded colours;
    also written to `path` if one is given.

    q        left out: where it stands first (`robot.home`, or the start of its first motion)
    size     width and height [pixel]
    view     azimuth and elevation [deg] of the eye; left out: from the front right, or onto a flat
             mechanism
    trails   frames whose path over the robot's first motion (or over `ghosts`) is drawn; left out:
             of a machine with closed loops, where it stands first, the frames that it describes
             (coupler curves)
    ghosts   (n, nq): other configurations, drawn pale and behind
    obstacles  what stands around: `lw.collision.Obstacles`, or shapes
    paths    (n, 3) each [m]: lines in world axes
    """
    content = png_bytes(image(robot, q, size, view, trails, ghosts, obstacles, paths))
    if path is not None:
        write_atomically(path, content)
    return content


def image(
    robot: Robot,
    q: ArrayLike | None = None,
    size: tuple[int, int] = (750, 750),
    view: tuple[float, float] | None = None,
    trails: Sequence[str] | None = None,
    ghosts: ArrayLike | None = None,
    obstacles: Any = None,
    paths: Sequence[ArrayLike] = (),
) -> np.ndarray:
    """The same as pixels (height, width, 3) of bytes."""
    at = start(robot) if q is None else finite(q, (robot.nq,), "picture: q")
    others = (
        None
        if ghosts is None
        else finite_rows(ghosts, robot.nq, "picture: ghosts").reshape(-1, robot.nq)
    )
    width, height = pixels(size)
    if trails is None:
        trails = described_frames(robot) if q is None and len(robot.motions) else ()
    looks = Look.of(robot, at)
    parts = [looks.mesh(postures(robot, at), 0)]
    lines = [finite_rows(path, 3, "picture: paths").reshape(-1, 3) for path in paths]
    parts += [looks.trail(path) for path in [*trail_paths(robot, trails, others), *lines]]
    if obstacles is not None:
        parts += obstacle_meshes(obstacles)
    return shot(merged(parts), looks.size, (width, height), view, looks.ghosts(others))


def shot(
    mesh: Mesh,
    scale: float,
    size: tuple[int, int],
    view: tuple[float, float] | None = None,
    ghosts: Mesh | None = None,
) -> np.ndarray:
    """A picture (height, width, 3) of a mesh and its ghosts that fills it, on a floor. scale [m]:
    the robot's size."""
    camera, floor, shown = stage(
        mesh if ghosts is None else merged([mesh, ghosts]), scale, size, view
    )
    return render(mesh, camera, shown, floor, ghosts)


def stage(
    mesh: Mesh, scale: float, size: tuple[int, int], view: tuple[float, float] | None
) -> tuple[Camera, Floor, float]:
    """(camera, floor, size [m] of what is shown) for a mesh: the floor is the ground,
    or what it stands on."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    camera = fitted(mesh.vertices, axes_of(*(view or viewpoint(low, high))), *size)
    ground = 0.0 if -0.02 * scale < low[2] < 0.25 * scale else float(low[2])
    shown = max(scale, float(np.linalg.norm((high - low)[:2])) / 1.6)
    return camera, floor_of(camera, ground - 1e-4 * scale, (low + high)[:2] / 2, shown), shown


def viewpoint(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """(azimuth, elevation) [deg]: from the front right; onto the plane of what is flat."""
    spread = np.asarray(high) - np.asarray(low)
    thin = int(np.argmin(spread))
    if spread[thin] < 0.22 * np.sort(spread)[1]:
        return ((-28.0, 18.0), (-68.0, 18.0), (-62.0, 52.0))[thin]
    return -52.0, 22.0


@dataclass(frozen=True)
class Look:
    """What is drawn of a robot: the meshes of its bodies in their own axes,
    and those of its members."""

    robot: Robot
    size: float
    bodies: tuple[tuple[int, Mesh], ...]
    first: np.ndarray

    @classmethod
    def of(cls, robot: Robot, q: np.ndarray) -> Look:
        """q: the strokes of its struts there decide how long their barrels are."""
        rows = postures(robot, start(robot))
        size = extent(robot, rows)
        parts, _ = solids(robot.model, size)
        bodies = tuple(
            (k, mesh_of(piece.vertices, piece.faces, piece.color))
            for k, name in enumerate(robot.bodies)
            for piece in parts[name]
            if len(piece.faces)
        )
        ends = rows.ends if rows.ends is not None else postures(robot, q).ends
        first = (
            np.ones(0) if ends is None else np.linalg.norm(ends[0, :, 1] - ends[0, :, 0], axis=-1)
        )
        return cls(robot, size, bodies, np.maximum(first, RADIUS * size))

    def mesh(self, rows: Postures, k: int) -> Mesh:
        """Row k of some postures, world axes."""
        meshes = [
            replace(mesh, vertices=mesh.vertices @ R.T + p, normals=mesh.normals @ R.T)
            for body, mesh in self.bodies
            for R, p in ((rows.rotation[k, body], rows.position[k, body]),)
        ]
        if rows.ends is not None:
            meshes += self._members(rows.ends[k])
        if not meshes:  # a point: a ball says where
            meshes = [mesh_of(*triangles.ball(0.02 * self.size), COLORS["body"])]
        return merged(meshes)

    def ghosts(self, configurations: np.ndarray | None) -> Mesh | None:
        """Other configurations (n, nq), pale."""
        if configurations is None or not len(configurations):
            return None
        rows = postures(self.robot, configurations)
        return merged([pale(self.mesh(rows, k)) for k in range(len(rows))])

    def trail(self, points: np.ndarray, color: Color = COLORS["trail"]) -> Mesh:
        """A path (n, 3) as a thin round line."""
        apart = [0]
        for k in range(1, len(points)):
            if np.linalg.norm(points[k] - points[apart[-1]]) > 1e-4 * self.size:
                apart.append(k)
        if len(apart) > 1:
            return mesh_of(*triangles.line(points[apart], 0.0035 * self.size), color)
        vertices, faces = triangles.ball(0.005 * self.size)
        return mesh_of(vertices + points[0], faces, color)

    def ball(self, point: np.ndarray) -> Mesh:
        """A mark at a point (3,)."""
        vertices, faces = triangles.ball(0.025 * self.size)
        return mesh_of(vertices + point, faces, COLORS["actuator"])

    def _members(self, ends: np.ndarray) -> list[Mesh]:
        elements = {getattr(e, "name", None): e for e in self.robot.model.elements}
        meshes = []
        for name, (a, b), first in zip(
            member_names(self.robot.subject), ends, self.first, strict=True
        ):
            length, element = float(np.linalg.norm(b - a)), elements[name]
            if length < 1e-9 and not isinstance(element, LoopClosure):
                continue
            R = triangles.turn_z_to(b - a)
            parts = member_parts(element, RADIUS * self.size, float(first))
            for ((vertices, faces), color), scale in zip(
                parts, member_scales(element, length, float(first)), strict=False
            ):
                meshes.append(mesh_of((vertices * [1.0, 1.0, scale]) @ R.T + a, faces, color))
        return meshes


def obstacle_meshes(obstacles: Any) -> list[Mesh]:
    """What stands around, each shape that has an end, in the colour of obstacles."""
    # whoever draws a robot alone does not wait for the room
    from linkwork.collision import (
        Obstacles,
    )
    from linkwork.view.shape_triangles import ENDLESS, OBSTACLE, drawn

    around = obstacles if isinstance(obstacles, Obstacles) else Obstacles(obstacles)
    return [mesh_of(*drawn(shape), OBSTACLE) for shape in around if shape.kind not in ENDLESS]


def pale(mesh: Mesh, share: float = 0.72) -> Mesh:
    """The same in colours near white."""
    return replace(mesh, colors=mesh.colors + share * (1.0 - mesh.colors))


def described_frames(robot: Robot) -> tuple[str, ...]:
    """The frames that a machine with closed loops describes:
    whoever writes them down wants to see their paths."""
    return tuple(frame.name for frame in robot.model.frames) if robot.model.elements else ()


def trail_paths(robot: Robot, frames: Sequence[str], q: np.ndarray | None) -> list[np.ndarray]:
    """Paths (n, 3) of frames over configurations, or over the robot's first motion."""
    if not frames:
        return []
    if q is None:
        if not len(robot.motions):
            raise InvalidInput(
                f'picture: trails need a motion, and robot "{robot.name}" has none; give ghosts'
            )
        motion = robot.motions[next(iter(robot.motions))]
        q = np.asarray(motion.sample(np.linspace(0.0, motion.duration, 241))[0])
    return [np.asarray(robot.pose(q, frame)[:, :3, 3]) for frame in frames]


def robot_html(robot: Robot) -> str:
    """A table of the robot with a small picture, for notebooks."""
    table = f"<pre style='margin:0'>{escape(str(robot))}</pre>"
    content = base64.b64encode(picture(robot, size=(600, 600))).decode()
    drawn = f"<img alt='{escape(robot.name)}' width='300' src='data:image/png;base64,{content}'>"
    return f"<div style='display:flex;align-items:center;gap:1em'>{drawn}{table}</div>"


def mesh_of(vertices: np.ndarray, faces: np.ndarray, color: Color) -> Mesh:
    """Triangles of one colour."""
    vertices, faces = np.asarray(vertices, dtype=float), np.asarray(faces, dtype=np.int64)
    colors = np.broadcast_to(np.array(color, dtype=float) / 255.0, (len(faces), 3))
    return Mesh(vertices, vertex_normals(vertices, faces), faces, colors)


def pixels(size: tuple[int, int], who: str = "picture") -> tuple[int, int]:
    """Width and height that a picture can have."""
    try:
        width, height = (int(edge) for edge in size)
    except (TypeError, ValueError):
        raise InvalidInput(f"{who}: size is {size!r}, expected width and height [pixel]") from None
    if not (16 <= width <= LARGEST and 16 <= height <= LARGEST):
        raise InvalidInput(
            f"{who}: size is {width} x {height}, expected 16 to {LARGEST} pixels each"
        )
    return width, height
