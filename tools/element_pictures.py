"""Draw a picture of every element of a .robot.yaml into docs/images/elements:
sketches with the words of its keys.

python tools/element_pictures.py            draws them all; tools/readme_table.py puts them on docs/elements.md
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, FancyArrowPatch, Polygon, Rectangle

FOLDER = Path(__file__).parent.parent / "docs" / "images" / "elements"
BODY, OTHER, PART, WORD = "#1f3a5f", "#7189a6", "#d1495b", "#333333"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        wide = draw is loop_closure
        figure = Figure(figsize=(7.6, 4.2) if wide else (4.8, 2.6), layout="constrained")
        draw(figure)
        figure.savefig(FOLDER / f"{name}.png", dpi=110, facecolor="white")


def stage(figure: Figure, place: Any = 111, width: float = 4.0, height: float = 2.1) -> Any:
    axes = figure.add_subplot(place)
    axes.set_xlim(0.0, width)
    axes.set_ylim(0.0, height)
    axes.set_aspect("equal")
    axes.axis("off")
    return axes


def link(axes: Any, *points: tuple[float, float], color: str = BODY, width: float = 5.0) -> None:
    x, y = np.array(points).T
    axes.plot(x, y, color=color, linewidth=width, solid_capstyle="round", zorder=2)


def pin(axes: Any, at: tuple[float, float], size: float = 0.06, color: str = BODY) -> None:
    axes.add_patch(Circle(at, size, facecolor="white", edgecolor=color, linewidth=2.0, zorder=5))


def ground(axes: Any, x: float, y: float, half: float = 0.25) -> None:
    axes.plot([x - half, x + half], [y, y], color="#555555", linewidth=1.5, zorder=1)
    for k in np.linspace(x - half, x + half - 0.1, 5):
        axes.plot([k, k - 0.08], [y, y - 0.1], color="#555555", linewidth=1.0, zorder=1)


def word(axes: Any, x: float, y: float, text: str, color: str = WORD, **more: Any) -> None:
    axes.text(
        x,
        y,
        text,
        color=color,
        fontsize=9,
        ha=more.pop("ha", "center"),
        va="center",
        zorder=9,
        **more,
    )


def zigzag(axes: Any, a: tuple[float, float], b: tuple[float, float], color: str = PART) -> None:
    start, end = np.array(a), np.array(b)
    along = (end - start) / np.linalg.norm(end - start)
    across = np.array([-along[1], along[0]])
    u = np.linspace(0.0, 1.0, 19)
    side = (
        np.where(np.arange(19) % 2 == 0, 0.08, -0.08) * (np.arange(19) > 1) * (np.arange(19) < 17)
    )
    points = start + u[:, None] * (end - start) + side[:, None] * across
    axes.plot(*points.T, color=color, linewidth=2.0, zorder=3)


def cylinder(
    axes: Any, a: tuple[float, float], b: tuple[float, float], share: float = 0.55
) -> None:
    start, end = np.array(a), np.array(b)
    middle = start + share * (end - start)
    link(axes, a, b, color=PART, width=3.0)
    link(axes, a, tuple(middle), color=PART, width=9.0)


def mast(axes: Any, x: float, top: float, hinge: float, tip: tuple[float, float]) -> None:
    """A post on the ground and an arm that turns about a hinge on it."""
    ground(axes, x, 0.3)
    link(axes, (x, 0.3), (x, top))
    link(axes, (x, hinge), tip, color=OTHER)
    pin(axes, (x, hinge))


def turn(
    axes: Any, at: tuple[float, float], radius: float, begin: float, end: float, text: str = ""
) -> None:
    axes.add_patch(
        Arc(
            at,
            2 * radius,
            2 * radius,
            theta1=begin,
            theta2=end,
            color=WORD,
            linewidth=1.2,
            zorder=6,
        )
    )
    tip = np.deg2rad(end)
    x, y = at[0] + radius * np.cos(tip), at[1] + radius * np.sin(tip)
    step = 1e-3 * np.array([-np.sin(tip), np.cos(tip)])
    arrow(axes, (x - step[0], y - step[1]), (x + step[0], y + step[1]))
    if text:
        half = np.deg2rad((begin + end) / 2)
        word(
            axes,
            at[0] + (radius + 0.22) * np.cos(half),
            at[1] + (radius + 0.16) * np.sin(half),
            text,
        )


def arrow(axes: Any, a: tuple[float, float], b: tuple[float, float], color: str = WORD) -> None:
    axes.add_patch(
        FancyArrowPatch(
            a, b, arrowstyle="-|>", mutation_scale=10, color=color, linewidth=1.2, zorder=7
        )
    )


def wheel(axes: Any, at: tuple[float, float], radius: float, color: str = PART) -> None:
    axes.add_patch(
        Circle(
            at, radius, facecolor="#f6e3e5" if color == PART else "#e8eef4", edgecolor=color, lw=2.0
        )
    )
    pin(axes, at, 0.05, color)


def linear_actuator(figure: Figure) -> None:
    left, right = stage(figure, 121, 2.2, 2.1), stage(figure, 122, 2.2, 2.1)
    mast(left, 0.6, 1.1, 1.1, (1.9, 1.6))
    cylinder(left, (0.6, 0.5), (1.5, 1.44))
    for at in ((0.6, 0.5), (1.5, 1.44)):
        pin(left, at)
    word(left, 0.28, 0.5, "foot")
    word(left, 1.5, 1.7, "head")
    word(left, 0.3, 1.15, "joint")
    word(left, 1.6, 0.72, "length =\ncommand", PART)
    word(left, 1.1, 2.0, "a strut")
    ground(right, 0.6, 0.3, 0.5)
    link(right, (0.1, 0.4), (1.9, 0.4), color="#999999", width=2.0)
    link(right, (0.9, 0.4), (1.5, 1.3), color=PART, width=3.0)
    right.add_patch(Rectangle((0.75, 0.3), 0.3, 0.2, facecolor=PART, zorder=4))
    link(right, (1.5, 1.3), (0.5, 1.7), color=OTHER)
    for at in ((0.9, 0.4), (1.5, 1.3)):
        pin(right, at)
    arrow(right, (0.15, 0.62), (0.7, 0.62))
    word(right, 0.4, 0.76, "command")
    word(right, 1.4, 0.8, "rod", PART)
    word(right, 1.85, 0.24, "direction")
    word(right, 1.78, 1.35, "head")
    word(right, 1.1, 2.0, "with rod: a carriage")


def gear(figure: Figure) -> None:
    axes = stage(figure)
    wheel(axes, (1.2, 1.0), 0.25)
    wheel(axes, (2.05, 1.0), 0.6, BODY)
    link(axes, (2.05, 1.0), (3.6, 1.5), color=OTHER)
    pin(axes, (2.05, 1.0))
    turn(axes, (1.2, 1.0), 0.34, 90, 250, "")
    word(axes, 0.6, 1.9, "command c = ratio q + offset", PART, ha="left")
    turn(axes, (2.05, 1.0), 0.85, 0, 20, "joint q")


def belt(figure: Figure) -> None:
    axes = stage(figure)
    ground(axes, 0.8, 0.3)
    link(axes, (0.8, 0.3), (0.8, 1.0))
    link(axes, (0.8, 1.0), (2.6, 1.0), color=OTHER)
    link(axes, (2.6, 1.0), (3.6, 1.6), color="#9db3a4")
    wheel(axes, (0.8, 1.0), 0.2)
    wheel(axes, (2.6, 1.0), 0.38, BODY)
    for a, b in (((0.78, 1.2), (2.55, 1.38)), ((0.78, 0.8), (2.55, 0.62))):
        axes.plot(*zip(a, b), color=PART, linewidth=2.0)
    word(axes, 0.8, 1.42, "driving_radius", PART)
    word(axes, 2.6, 0.45, "driven_radius")
    word(axes, 3.0, 1.75, "joint")
    word(axes, 1.6, 0.9, "carrier turns this arm", OTHER)


def differential(figure: Figure) -> None:
    axes = stage(figure)
    for x, name in ((0.9, "motor 1"), (3.1, "motor 2")):
        axes.add_patch(
            Rectangle((x - 0.12, 0.55), 0.24, 0.9, facecolor="#f6e3e5", edgecolor=PART, lw=2.0)
        )
        link(
            axes,
            (x - 0.6 if x < 2 else x + 0.12, 1.0),
            (x - 0.12 if x < 2 else x + 0.6, 1.0),
            color=PART,
            width=3.0,
        )
        word(axes, x, 0.35, name, PART)
    axes.add_patch(
        Polygon(
            [(1.25, 1.2), (2.75, 1.2), (2.4, 1.5), (1.6, 1.5)],
            facecolor="#e8eef4",
            edgecolor=BODY,
            lw=2,
        )
    )
    link(axes, (1.02, 1.0), (2.98, 1.0), color="#999999", width=2.0)
    link(axes, (2.0, 1.5), (2.0, 2.0), color=OTHER)
    turn(axes, (2.0, 1.75), 0.25, 200, 340, "")
    word(axes, 2.55, 1.85, "roll = (c1 - c2) / 2", ha="left")
    word(axes, 2.0, 0.8, "pitch = (c1 + c2) / 2")


def four_bar(figure: Figure) -> None:
    axes = stage(figure)
    a, b, c, d = (0.9, 0.6), (0.65, 1.15), (2.75, 1.65), (3.1, 0.6)
    ground(axes, *a)
    ground(axes, *d)
    link(axes, a, b, color=PART, width=4.0)
    link(axes, b, c, color=PART, width=4.0)
    link(axes, c, d, color=PART, width=4.0)
    axes.plot([a[0], d[0]], [a[1], d[1]], color="#999999", linestyle=":", zorder=1)
    link(axes, d, (3.8, 1.3), color=OTHER)
    for at in (a, b, c, d):
        pin(axes, at)
    word(axes, 0.4, 0.9, "crank")
    word(axes, 1.6, 1.6, "coupler")
    word(axes, 2.68, 1.05, "rocker")
    word(axes, 2.0, 0.5, "ground")
    word(axes, 3.2, 0.25, "joint turns with the rocker")


def coupling(figure: Figure) -> None:
    axes = stage(figure)
    for x, name, end in ((0.9, "q1", (1.5, 1.5)), (2.5, "q2", (3.3, 1.3))):
        ground(axes, x, 0.5)
        link(axes, (x, 0.5), end, color=OTHER)
        pin(axes, (x, 0.5))
        word(axes, x + 0.45, 0.6, name)
    axes.plot([0.95, 2.45], [0.5, 0.5], color=PART, linestyle="--", linewidth=2.0)
    word(axes, 1.9, 1.85, "terms {q1: a, q2: b}:   a q1 + b q2 = offset", PART)


def spring(figure: Figure) -> None:
    axes = stage(figure)
    mast(axes, 0.8, 1.7, 0.6, (3.3, 0.9))
    zigzag(axes, (0.8, 1.6), (2.6, 0.82))
    for at in ((0.8, 1.6), (2.6, 0.82)):
        pin(axes, at)
    word(axes, 0.5, 1.65, "first")
    word(axes, 2.65, 1.08, "second")
    word(axes, 2.5, 1.55, "tension = pretension +\nstiffness (length - free_length)", PART)


def torsion_spring(figure: Figure) -> None:
    axes = stage(figure)
    ground(axes, 1.4, 0.5)
    link(axes, (1.4, 0.5), (3.2, 1.2), color=OTHER)
    s = np.linspace(0.0, 5.0 * np.pi, 200)
    radius = 0.08 + 0.02 * s
    axes.plot(
        1.4 + radius * np.cos(s), 0.5 + radius * np.sin(s), color=PART, linewidth=2.0, zorder=6
    )
    pin(axes, (1.4, 0.5))
    axes.plot([1.4, 3.2], [0.5, 0.5], color="#999999", linestyle=":")
    word(axes, 3.0, 0.68, "free")
    word(axes, 2.0, 1.7, "torque = -(pretension + stiffness (q - free))", PART)


def damper(figure: Figure) -> None:
    axes = stage(figure)
    ground(axes, 0.7, 0.4)
    link(axes, (0.7, 0.4), (0.7, 1.3))
    link(axes, (3.2, 0.4), (3.2, 1.3), color=OTHER)
    link(axes, (0.7, 1.1), (1.6, 1.1), color=PART, width=2.5)
    axes.plot([2.3, 1.6, 1.6, 2.3], [1.3, 1.3, 0.9, 0.9], color=PART, linewidth=2.5)
    link(axes, (1.95, 1.1), (3.2, 1.1), color=PART, width=2.5)
    axes.plot([1.95, 1.95], [0.95, 1.25], color=PART, linewidth=4.0)
    for at in ((0.7, 1.1), (3.2, 1.1)):
        pin(axes, at)
    word(axes, 0.7, 1.5, "first")
    word(axes, 3.2, 1.5, "second")
    word(axes, 2.0, 1.75, "pull = damping * rate of the length", PART)


def bar(figure: Figure) -> None:
    axes = stage(figure)
    _bar_and_slider(axes)
    word(axes, 0.4, 1.65, "pivot")
    word(axes, 1.45, 1.45, "length", PART)
    word(axes, 2.6, 0.88, "tip", PART)
    word(axes, 3.1, 1.6, "branch: on which side\nof the pivot the tip is")


def slider(figure: Figure) -> None:
    axes = stage(figure)
    _bar_and_slider(axes)
    axes.add_patch(Rectangle((2.02, 0.5), 0.36, 0.2, facecolor=PART, alpha=0.75, zorder=4))
    pin(axes, (2.2, 0.6))
    word(axes, 1.6, 1.4, "bar", "#999999")
    word(axes, 0.9, 0.35, "guide (a point of the line)")
    pin(axes, (0.9, 0.6), 0.04, OTHER)
    arrow(axes, (2.6, 0.85), (3.3, 0.85))
    word(axes, 2.95, 1.02, "direction")


def _bar_and_slider(axes: Any) -> None:
    ground(axes, 0.9, 1.95 - 0.3, 0.2)
    link(axes, (0.2, 0.6), (3.8, 0.6), color=OTHER, width=2.5)
    link(axes, (0.9, 1.65), (2.2, 0.6), color=PART, width=3.5)
    pin(axes, (0.9, 1.65))
    pin(axes, (2.2, 0.6))


def loop_closure(figure: Figure) -> None:
    kinds: tuple[tuple[str, Callable[[Any], None]], ...] = (
        ("point (3): a ball joint", _point),
        ("distance (1): a rod of `length`", _distance),
        ("weld (1 to 6): frames agree", _weld),
        ("hinge (5): about `axis`", _hinge),
        ("planar_hinge (2): in the plane alone", _hinge),
        ("pin_in_slot (1): along `direction`", _slot),
    )
    for k, (title, draw) in enumerate(kinds):
        axes = stage(figure, 231 + k, 2.4, 1.7)
        draw(axes)
        word(axes, 1.2, 1.6, title)


def _two(axes: Any, at: tuple[float, float] = (1.25, 0.85)) -> None:
    link(axes, (0.3, 0.35), at)
    link(axes, at, (2.15, 0.45), color=OTHER)
    word(axes, 0.45, 0.75, "first")
    word(axes, 1.95, 0.8, "second", OTHER)


def _point(axes: Any) -> None:
    _two(axes)
    axes.add_patch(
        Circle((1.25, 0.85), 0.11, facecolor=PART, edgecolor="white", linewidth=1.5, zorder=6)
    )


def _distance(axes: Any) -> None:
    link(axes, (0.3, 0.35), (0.75, 1.05))
    link(axes, (1.75, 1.05), (2.15, 0.35), color=OTHER)
    link(axes, (0.75, 1.05), (1.75, 1.05), color=PART, width=3.0)
    pin(axes, (0.75, 1.05))
    pin(axes, (1.75, 1.05))
    word(axes, 1.25, 0.87, "length", PART)


def _weld(axes: Any) -> None:
    _two(axes)
    for dx, dy, name in ((0.35, 0.0, "x"), (0.0, 0.35, "z")):
        arrow(axes, (1.25, 0.85), (1.25 + dx, 0.85 + dy), PART)
        word(axes, 1.25 + 1.25 * dx, 0.85 + 1.25 * dy, name, PART)


def _hinge(axes: Any) -> None:
    _two(axes)
    pin(axes, (1.25, 0.85), 0.09, PART)
    axes.add_patch(Circle((1.25, 0.85), 0.02, facecolor=PART, zorder=8))
    word(axes, 1.25, 1.12, "axis (towards you)", PART)


def _slot(axes: Any) -> None:
    axes.plot([1.1, 1.1, 1.3, 1.3, 1.1], [0.15, 1.35, 1.35, 0.15, 0.15], color=BODY, linewidth=3.0)
    link(axes, (1.3, 0.75), (2.2, 0.75))
    link(axes, (0.35, 0.35), (1.2, 1.0), color=OTHER)
    pin(axes, (1.2, 1.0), 0.085, PART)
    pin(axes, (1.2, 0.75), 0.03, BODY)
    arrow(axes, (1.5, 0.95), (1.5, 1.35))
    word(axes, 1.88, 1.2, "direction")
    word(axes, 1.85, 0.6, "first: slot")
    word(axes, 0.5, 1.0, "second: pin", OTHER)


PICTURES: dict[str, Callable[[Figure], None]] = {
    draw.__name__: draw
    for draw in (
        *(linear_actuator, gear, belt, differential, four_bar, coupling),
        *(spring, torsion_spring, damper, bar, slider, loop_closure),
    )
}

if __name__ == "__main__":
    main()
