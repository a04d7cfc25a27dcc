"""Drawing: robots with their shapes, stick figures and curves with matplotlib, for files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.arguments import finite_doubles
from linkwork.robot import Robot
from linkwork.view.picture import Look, shot
from linkwork.view.postures import postures
from linkwork.view.raster import merged
from linkwork.view.segments import segments

COLORS = {"body": "#1f3a5f", "actuator": "#d1495b", "spring": "#66a182", "member": "#8d96a3"}
WIDTHS = {"body": 2.6, "actuator": 3.2, "spring": 1.8, "member": 1.6}


MOST_CURVES = 8
"""A chart with more curves is not read; the rest stays in its table."""


def draw_picture(
    axes: Any,
    robot: Robot,
    q: np.ndarray,
    ghosts: np.ndarray | None = None,
    paths: Sequence[np.ndarray] = (),
    points: Sequence[np.ndarray] = (),
    view: tuple[float, float] | None = None,
    size: tuple[int, int] = (640, 560),
) -> None:
    """The robot at q (nq,) with its shapes, shaded, on flat axes of matplotlib.

    ghosts   (n, nq): other configurations, pale and behind;  paths: (n, 3) lines;  points: (3,)
             marked by red balls [m]
    view     azimuth and elevation [deg] of the eye;  size [pixel]
    """
    look = Look.of(robot, np.asarray(q, dtype=float))
    parts = [look.mesh(postures(robot, q), 0)]
    parts += [look.trail(np.asarray(path, dtype=float)) for path in paths]
    parts += [look.ball(np.asarray(point, dtype=float)) for point in points]
    axes.imshow(shot(merged(parts), look.size, size, view, look.ghosts(ghosts)))
    axes.set_axis_off()


def draw_robot(axes: Any, robot: Robot, q: np.ndarray, strength: float = 1.0) -> None:
    """The stick figure of one configuration q (nq,) on 3-D axes of matplotlib."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

    figure = segments(robot, np.asarray(q, dtype=float))
    for kind, color in COLORS.items():
        ends = figure.of(kind)
        if ends.size:
            lines = Line3DCollection(
                ends, colors=color, linewidths=WIDTHS[kind], alpha=strength, capstyle="round"
            )
            axes.add_collection3d(lines)
    joints = figure.of("body").reshape(-1, 3)
    axes.scatter(*joints.T, s=7, color=COLORS["body"], alpha=strength, depthshade=False)


def draw_motion(
    axes: Any, robot: Robot, q: np.ndarray, trails: Sequence[str] = (), ghosts: int = 4
) -> None:
    """A motion q (n, nq): fading figures, the last one strong, and the trail of some frames;
    axes in equal scale."""
    q = np.asarray(q, dtype=float)
    for k in np.unique(np.linspace(0, len(q) - 1, ghosts + 1).astype(int)):
        draw_robot(axes, robot, q[k], 1.0 if k == len(q) - 1 else 0.12 + 0.3 * k / len(q))
    reached = [segments(robot, q).ends.reshape(-1, 3)]
    for frame in trails:
        path = robot.pose(q, frame)[:, :3, 3]
        axes.plot(*path.T, color="#edae49", linewidth=1.8, label=frame)
        reached.append(path)
    _equal_scale(axes, np.concatenate(reached))


def _equal_scale(axes: Any, points: np.ndarray) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    centre, half = (low + high) / 2, max(float((high - low).max()) / 2, 1e-3)
    for name, c in zip("xyz", centre, strict=True):
        getattr(axes, f"set_{name}lim")(c - half, c + half)
        getattr(axes, f"set_{name}label")(f"{name} [m]")
    axes.set_box_aspect((1, 1, 1))


def draw_columns(
    axes: Any, time: np.ndarray, columns: dict[str, np.ndarray], unit: str, title: str
) -> None:
    """Curves over time, each with its name beside the chart;
    of many the eight with the largest range."""
    time = finite_doubles(time, "draw_columns: time")
    ranges = sorted(columns, key=lambda name: float(np.ptp(columns[name])), reverse=True)
    shown = [name for name in columns if name in ranges[:MOST_CURVES]]
    for name in shown:
        axes.plot(time, columns[name], linewidth=1.6, label=name)
    if len(shown) < len(columns):
        title += f" ({len(shown)} of {len(columns)})"
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"[{unit}]")
    axes.grid(alpha=0.25)
    beside(axes)
    axes.spines[["top", "right"]].set_visible(False)


def beside(axes: Any) -> None:
    """The legend to the right of the chart, where it hides no curve."""
    axes.legend(
        fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2
    )
