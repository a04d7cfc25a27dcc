"""Drawing: stick figures and curves with matplotlib, for files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.robot import Robot
from linkwork.view.segments import segments

COLORS = {"body": "#1f3a5f", "actuator": "#d1495b", "spring": "#66a182", "member": "#8d96a3"}
WIDTHS = {"body": 2.6, "actuator": 3.2, "spring": 1.8, "member": 1.6}


def draw_robot(axes: Any, robot: Robot, q: np.ndarray, strength: float = 1.0) -> None:
    """The stick figure of one configuration q (nq,) on 3-D axes of matplotlib."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

    figure = segments(robot, np.asarray(q, dtype=float))
    for kind, color in COLORS.items():
        ends = figure.of(kind)
        if ends.size:
            lines = Line3DCollection(ends, colors=color, linewidths=WIDTHS[kind], alpha=strength, capstyle="round")
            axes.add_collection3d(lines)
    joints = figure.of("body").reshape(-1, 3)
    axes.scatter(*joints.T, s=7, color=COLORS["body"], alpha=strength, depthshade=False)


def draw_motion(axes: Any, robot: Robot, q: np.ndarray, trails: Sequence[str] = (), ghosts: int = 4) -> None:
    """A motion q (n, nq): fading figures, the last one strong, and the trail of some frames; axes in equal scale."""
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


def draw_columns(axes: Any, time: np.ndarray, columns: dict[str, np.ndarray], unit: str, title: str) -> None:
    """Curves over time, each with its name."""
    for name, values in columns.items():
        axes.plot(time, values, linewidth=1.6, label=name)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"[{unit}]")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False, ncols=2)
    axes.spines[["top", "right"]].set_visible(False)
