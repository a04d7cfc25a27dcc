"""Redrawn: one figure of a paper, and strokes that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.robot import Robot
from linkwork.view.drawing import beside, draw_columns, draw_picture


@dataclass(frozen=True)
class Redrawn:
    """name: "figure-12"; caption: what it shows and what is ours; draw(figure):
    strokes on a matplotlib figure."""

    name: str
    caption: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (8.0, 5.0)

    def draw_captioned(self, figure: Any) -> None:
        """The figure with its caption above."""
        self.draw(figure)
        figure.suptitle(self.caption, fontsize=9, color="#5c6b7a")


def panels(
    figure: Any, time: np.ndarray, rows: Sequence[tuple[str, str, Mapping[str, np.ndarray]]]
) -> list[Any]:
    """Curves over one time, one panel a row: (title, unit, {name: values})."""
    axes = figure.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
    for at, (title, unit, series) in zip(axes, rows, strict=True):
        draw_columns(at, time, dict(series), unit, title)
        if at is not axes[-1]:
            at.set_xlabel("")
    return list(axes)


def marked(axes: Any, time: Sequence[float], values: Sequence[float], name: str) -> None:
    """The published numbers as open circles, over our curve."""
    axes.plot(time, values, "o", markersize=5, markerfacecolor="none", color="black", label=name)
    beside(axes)


def standing(
    figure: Any,
    place: tuple[int, int, int],
    robot: Robot,
    q: np.ndarray,
    title: str,
    view: tuple[float, float] | None = None,
    points: Sequence[np.ndarray] = (),
    paths: Sequence[np.ndarray] = (),
) -> Any:
    """One configuration with its shapes; points (3,) and paths (n, 3) are marked."""
    axes = figure.add_subplot(*place)
    draw_picture(axes, robot, q, points=points, paths=paths, view=view)
    axes.set_title(title, fontsize=9)
    return axes


def flat(axes: Any, joints: np.ndarray, name: str, strength: float = 1.0) -> None:
    """Planar links through points (n, 2)."""
    axes.plot(*joints.T, "o-", linewidth=2, markersize=4, alpha=strength, label=name)
    axes.set_aspect("equal")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
