"""Clearance over a motion as HTML: curve, instant, pair and picture of the worst."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.collision import CollisionModel, Obstacles
from linkwork.formats.files import write_atomically
from linkwork.view import triangles
from linkwork.view.chart import Chart
from linkwork.view.html import table
from linkwork.view.palette import COLORS
from linkwork.view.picture import mesh_of, shot
from linkwork.view.png import png_bytes
from linkwork.view.raster import merged
from linkwork.view.report_page import page_html
from linkwork.view.shape_triangles import ENDLESS, OBSTACLE, TOUCHING, drawn

PIXELS = (1080, 760)


def write_clearance(
    path: str | Path,
    made: CollisionModel,
    time: np.ndarray,
    q: np.ndarray,
    obstacles: Obstacles | None = None,
) -> Path:
    """A page about a motion q (n, nq) at times [s] among obstacles: curve, instant,
    pair and picture of the worst."""
    body = told(made, time, q, obstacles) or "<p>There is nothing it could touch.</p>"
    name = made.subject.model.name
    write_atomically(path, page_html(name, f"<h1>{escape(name)}</h1>{body}"))
    return Path(path)


def told(
    made: CollisionModel, time: np.ndarray, q: np.ndarray, obstacles: Obstacles | None = None
) -> str:
    """HTML of the clearance over a motion; nothing where there is nothing to touch."""
    distance = np.asarray(made.clearance(q, obstacles).distance)
    if not np.isfinite(distance).all():
        return ""
    worst = int(np.argmin(distance))
    nearest = made.clearance(q[worst], obstacles)
    touching = float((distance <= 0.0).mean())
    what = "itself" if obstacles is None else "itself or an obstacle"
    verdict = (
        f"It touches {what} in {touching:.1%} of the instants."
        if touching
        else f"It never touches {what}."
    )
    row = (float(time[worst]), 1e3 * float(nearest.distance), str(nearest.body), str(nearest.other))
    header = ("time of the least [s]", "clearance [mm]", "body", "other")
    checked = f"{len(made.pairs.checked)} pairs of bodies were looked at"
    checked += "." if obstacles is None else f", and {len(obstacles)} obstacles."
    curve = _curve(np.asarray(time), distance)
    picture = _picture(made, q[worst], obstacles, nearest)
    both = f'<div class="charts">{curve}<figure>{picture}</figure></div>'
    return f"<h2>Clearance</h2><p>{verdict} {checked}</p>{table('clearance', header, [row])}{both}"


def _picture(made: CollisionModel, q: np.ndarray, obstacles: Obstacles | None, nearest: Any) -> str:
    """The shapes at the worst instant, what is nearest in red, its points marked."""
    parts = []
    for part, shapes in made.shapes.items():
        T = made.robot.pose(q, made.carriers[part])
        color = TOUCHING if part in (nearest.body, nearest.other) else COLORS["shape"]
        for shape in shapes:
            vertices, faces = drawn(shape)
            parts.append(mesh_of(vertices @ T[:3, :3].T + T[:3, 3], faces, color))
    for obstacle in obstacles or ():
        if obstacle.kind not in ENDLESS:
            parts.append(
                mesh_of(*drawn(obstacle), TOUCHING if obstacle.name == nearest.other else OBSTACLE)
            )
    size = float(np.ptp(np.concatenate([mesh.vertices for mesh in parts]), axis=0).max())
    for point in (nearest.point, nearest.other_point):
        vertices, faces = triangles.ball(0.012 * size)
        parts.append(mesh_of(vertices + point, faces, COLORS["center"]))
    image = base64.b64encode(png_bytes(shot(merged(parts), size, PIXELS))).decode()
    words = 'class="clearance" alt="the instant of the least clearance" width="100%"'
    return f'<img {words} src="data:image/png;base64,{image}">'


def _curve(time: np.ndarray, distance: np.ndarray) -> str:
    """The clearance over time, zero and the least marked."""
    worst = int(np.argmin(distance))
    mark = float(time[worst]), float(distance[worst])
    chart = Chart("clearance", "m", {"clearance": distance}, time, mark=mark, zero=True)
    return chart.html()
