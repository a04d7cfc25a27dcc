"""Clearance over a motion as HTML: curve, instant, pair and picture of the worst; shapes as triangles."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.collision import Box, Capsule, CollisionModel, Convex, Mesh, Obstacles, Sphere, TaperedCapsule
from linkwork.collision.exact import axes_along
from linkwork.collision.placing import matrix_of
from linkwork.errors import NotPossible
from linkwork.formats.files import write_atomically
from linkwork.view import triangles
from linkwork.view.html import table
from linkwork.view.pictures import pictures

FREE, TOUCHING, OBSTACLE = (90, 160, 90), (226, 44, 58), (190, 150, 90)
_NOT_DRAWN = {"half_space", "cloud", "height_field"}
_CURVE = (640, 160)  # of the picture [px]


def write_clearance(
    path: str | Path, made: CollisionModel, time: np.ndarray, q: np.ndarray, obstacles: Obstacles | None = None
) -> Path:
    """A page about a motion q (n, nq) at times [s] among obstacles: curve, instant, pair and picture of the worst."""
    body = told(made, time, q, obstacles) or "<p>There is nothing it could touch.</p>"
    name = escape(made.subject.model.name)
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title></head>'
    style = "font-family:sans-serif;max-width:720px;margin:2em auto;color:#1f3a5f"
    write_atomically(path, f'{head}<body style="{style}"><h1>{name}</h1>{body}</body></html>\n')
    return Path(path)


def told(made: CollisionModel, time: np.ndarray, q: np.ndarray, obstacles: Obstacles | None = None) -> str:
    """HTML of the clearance over a motion; nothing where there is nothing to touch."""
    distance = np.asarray(made.clearance(q, obstacles).distance)
    if not np.isfinite(distance).all():
        return ""
    worst = int(np.argmin(distance))
    nearest = made.clearance(q[worst], obstacles)
    touching = float((distance <= 0.0).mean())
    what = "itself" if obstacles is None else "itself or an obstacle"
    verdict = f"It touches {what} in {touching:.1%} of the instants." if touching else f"It never touches {what}."
    row = (float(time[worst]), 1e3 * float(nearest.distance), str(nearest.body), str(nearest.other))
    header = ("time of the least [s]", "clearance [mm]", "body", "other")
    checked = f"{len(made.pairs.checked)} pairs of bodies were looked at"
    checked += "." if obstacles is None else f", and {len(obstacles)} obstacles."
    curve = _curve(np.asarray(time), distance)
    picture = _picture(made, q[worst], obstacles, nearest)
    return f"<h2>Clearance</h2><p>{verdict} {checked}</p>{table('clearance', header, [row])}{curve}{picture}"


def _picture(made: CollisionModel, q: np.ndarray, obstacles: Obstacles | None, nearest: Any) -> str:
    """The shapes at the worst instant, what is nearest in red with a line; nothing without matplotlib."""
    try:
        png = pictures(lambda figure: _draw(figure, made, q, obstacles, nearest), ["png"], (4.5, 4.5))["png"]
    except NotPossible:
        return ""
    image = base64.b64encode(png).decode()
    words = 'class="clearance" alt="the instant of the least clearance" width="450"'
    return f'<img {words} src="data:image/png;base64,{image}">'


def _draw(figure: Any, made: CollisionModel, q: np.ndarray, obstacles: Obstacles | None, nearest: Any) -> None:
    from matplotlib.ticker import MaxNLocator
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    axes = figure.add_subplot(projection="3d")
    points = [np.stack([nearest.point, nearest.other_point])]

    def add(shape: Any, T: np.ndarray, color: tuple[int, int, int]) -> None:
        if shape.kind not in _NOT_DRAWN:
            vertices, faces = drawn(shape)
            world = vertices @ T[:3, :3].T + T[:3, 3]
            points.append(world)
            axes.add_collection3d(Poly3DCollection(world[faces], facecolor=np.array(color) / 255.0, alpha=0.35))

    for part, shapes in made.shapes.items():
        T = made.robot.pose(q, made.carriers[part])
        for shape in shapes:
            add(shape, T, TOUCHING if part in (nearest.body, nearest.other) else FREE)
    for obstacle in obstacles or ():
        add(obstacle, np.eye(4), TOUCHING if obstacle.name == nearest.other else OBSTACLE)
    axes.plot(*points[0].T, color="black", marker="o", markersize=3)
    everything = np.concatenate(points)
    middle, half = 0.5 * (everything.max(axis=0) + everything.min(axis=0)), 0.5 * np.ptp(everything, axis=0).max()
    axes.set(xlim=middle[0] + [-half, half], ylim=middle[1] + [-half, half], zlim=middle[2] + [-half, half])
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set_box_aspect((1, 1, 1), zoom=0.82)  # so that the labels are within the picture
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_major_locator(MaxNLocator(5))


def _curve(time: np.ndarray, distance: np.ndarray) -> str:
    """The clearance over time as a line, zero marked, the least as a dot, with the ends of both axes."""
    width, height = _CURVE
    kept = np.unique(np.linspace(0, len(time) - 1, min(len(time), 401)).astype(int))
    low, high = min(0.0, float(distance.min())), max(0.0, float(distance.max()))
    span, duration = max(high - low, 1e-9), max(float(time[-1] - time[0]), 1e-9)
    x = (time - time[0]) / duration * width
    y = (high - distance) / span * (height - 40) + 20
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[kept], y[kept]))
    zero, worst = high / span * (height - 40) + 20, int(np.argmin(distance))
    labels = (
        _label(0, 12, "start", f"{1e3 * high:.4g} mm"),
        _label(0, zero - 4, "start", "0 mm"),
        _label(0, height - 2, "start", f"{time[0]:.4g} s"),
        _label(width, height - 2, "end", f"{time[-1]:.4g} s"),
    )
    return (
        f'<svg class="clearance" viewBox="0 0 {width} {height}" role="img" aria-label="clearance over time">'
        f'<line x1="0" x2="{width}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="#b0b7c0" stroke-dasharray="4 4"/>'
        f'<polyline points="{points}" fill="none" stroke="#1f3a5f" stroke-width="2"/>'
        f'<circle cx="{x[worst]:.1f}" cy="{y[worst]:.1f}" r="4" fill="#d1495b"/>{"".join(labels)}</svg>'
    )


def _label(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:g}" y="{y:.1f}" font-size="11" text-anchor="{anchor}" fill="#5b6675">{words}</text>'


def drawn(shape: Any) -> tuple[np.ndarray, np.ndarray]:
    """(vertices, faces) of a shape in the axes in which it is placed."""
    match shape:
        case Sphere():
            made = triangles.ball(shape.radius)
        case Capsule():
            made = triangles.capsule(shape.radius, float(np.linalg.norm(np.subtract(shape.end, shape.start))))
        case Box():
            made = triangles.box(np.array(shape.size))
        case TaperedCapsule():
            return _hull(np.concatenate([_ball(shape.start, shape.start_radius), _ball(shape.end, shape.end_radius)]))
        case Convex():
            T = matrix_of(shape.pose)
            return _hull(shape.vertices @ T[:3, :3].T + T[:3, 3])
        case Mesh():
            made = shape.vertices, shape.faces
        case _:
            made = triangles.cylinder(shape.radius, shape.length)
    T = pose_of(shape)
    vertices, faces = triangles.moved(made, T[:3, :3], T[:3, 3])
    return np.asarray(vertices, dtype=np.float32), np.asarray(faces)


def _ball(center: Any, radius: float) -> np.ndarray:
    return triangles.ball(radius)[0] + np.array(center)


def _hull(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Triangles around points, each seen from outside against the clock."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    corners = points[hull.simplices]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("fi,fi->f", across, hull.equations[:, :3]) < 0.0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    return np.asarray(points, dtype=np.float32), faces


def pose_of(shape: Any) -> np.ndarray:
    """Where the own axes of a shape are (4, 4): centre of a sphere, middle of a capsule with z along it."""
    T = np.eye(4)
    match shape:
        case Sphere():
            T[:3, 3] = shape.center
        case Capsule() | TaperedCapsule():
            start, end = np.array(shape.start), np.array(shape.end)
            T[:3, :3], T[:3, 3] = axes_along(end - start), 0.5 * (start + end)
        case _:
            T = matrix_of(shape.pose)
    return T
