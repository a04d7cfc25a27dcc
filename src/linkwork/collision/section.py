"""Clearance over a motion: the part of a report about a robot that could touch itself."""

from __future__ import annotations

from html import escape

import numpy as np

from linkwork.collision.model import CollisionModel, model
from linkwork.errors import LinkworkError
from linkwork.loads import Analysis
from linkwork.robot import Robot
from linkwork.view.html import table

_KINDS = {"sphere", "capsule", "tapered_capsule", "box", "cylinder"}
_CURVE = (640, 160)  # of the picture [px]


def section(robot: Robot, analysis: Analysis | None) -> str:
    """The least distance between bodies of the robot over the motion: curve, instant and pair of the worst.

    Of robots whose described shapes machine code knows; meshes would first have to be fitted.
    """
    if analysis is None:
        return ""
    kinds = {shape.kind for body in robot.model.bodies for shape in body.collisions}
    if not kinds or not kinds <= _KINDS:
        return ""
    try:
        made = model(robot)
        distance = np.asarray(made.clearance(analysis.q).distance)
    except LinkworkError as error:
        return f"<h2>Clearance</h2><p>{escape(str(error))}</p>"
    if not np.isfinite(distance).all():
        return ""
    return _told(made, analysis, distance)


def _told(made: CollisionModel, analysis: Analysis, distance: np.ndarray) -> str:
    worst = int(np.argmin(distance))
    nearest = made.clearance(analysis.q[worst])
    touching = float((distance <= 0.0).mean())
    verdict = f"It touches itself in {touching:.1%} of the instants." if touching else "It never touches itself."
    row = (float(analysis.time[worst]), 1e3 * float(nearest.distance), str(nearest.body), str(nearest.other))
    header = ("time of the least [s]", "clearance [mm]", "body", "other")
    checked = f"{len(made.pairs.checked)} pairs of bodies were looked at."
    picture = _curve(analysis.time, distance)
    return f"<h2>Clearance</h2><p>{verdict} {checked}</p>{table('clearance', header, [row])}{picture}"


def _curve(time: np.ndarray, distance: np.ndarray) -> str:
    """The clearance over time as a line, zero marked, the least as a dot."""
    width, height = _CURVE
    kept = np.unique(np.linspace(0, len(time) - 1, min(len(time), 401)).astype(int))
    low, high = min(0.0, float(distance.min())), max(0.0, float(distance.max()))
    span, duration = max(high - low, 1e-9), max(float(time[-1] - time[0]), 1e-9)
    x = (time - time[0]) / duration * width
    y = (high - distance) / span * (height - 20) + 10
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[kept], y[kept]))
    zero, worst = high / span * (height - 20) + 10, int(np.argmin(distance))
    return (
        f'<svg class="clearance" viewBox="0 0 {width} {height}" role="img" aria-label="clearance over time">'
        f'<line x1="0" x2="{width}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="#b0b7c0" stroke-dasharray="4 4"/>'
        f'<polyline points="{points}" fill="none" stroke="#1f3a5f" stroke-width="2"/>'
        f'<circle cx="{x[worst]:.1f}" cy="{y[worst]:.1f}" r="4" fill="#d1495b"/></svg>'
    )
