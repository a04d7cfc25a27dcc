"""Drawings: a task with its linkage, curves and path, as SVG without any package,
or on matplotlib axes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import InvalidInput, NotPossible
from linkwork.synthesis.linkage import Linkage
from linkwork.synthesis.motions import motion_of
from linkwork.synthesis.plates import COLOURS
from linkwork.synthesis.task import PlanarTask

PIXELS, DPI = 720, 100
FAR = 5.0
"""Curves end so far away [sizes of the picture]."""


def traced_path(linkage: Linkage) -> np.ndarray:
    """(k,) the tracer along the whole circuit of position 1, complex [m]."""
    return np.concatenate([[linkage.tracer], motion_of(linkage).path])


def svg(linkage: Linkage | None = None, task: PlanarTask | None = None, curves: Any = None) -> str:
    """One SVG picture: positions with their angles, bodies as bars or triangles, the tracer's path,
    curves."""
    strokes = _strokes(linkage, task, curves)
    middle, half, size = _frame(strokes, curves is not None and linkage is None)
    left, high = middle.real - half, middle.imag + half
    scale = PIXELS / (2 * half)
    place = lambda p: f"{(p.real - left) * scale:.2f},{(high - p.imag) * scale:.2f}"
    box = f'width="{PIXELS}" height="{PIXELS}" viewBox="0 0 {PIXELS} {PIXELS}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {box} style="background:white">']
    for points, colour, kind in strokes:
        text = " ".join(place(p) for p in points if np.isfinite(p) and abs(p) < 1e6 * size)
        if kind in ("line", "dashed"):
            dash = ' stroke-dasharray="6 4"' if kind == "dashed" else ""
            for run in _near(points, complex(left, high), FAR * half):
                text = " ".join(place(p) for p in run)
                lines.append(f'<polyline points="{text}" fill="none" stroke="{colour}"{dash}/>')
        elif kind == "body":
            lines.append(
                f'<polygon points="{text}" fill="{colour}" fill-opacity="0.3" stroke="{colour}" '
                'stroke-width="3"/>'
            )
    lines += [] if linkage is None else _marked_pins(linkage, place)
    lines += [] if task is None else _marked_positions(task, place, size)
    return "\n".join([*lines, "</svg>", ""])


def _frame(strokes: list[tuple[np.ndarray, str, str]], roomy: bool) -> tuple[complex, float, float]:
    """(middle, half side of the square picture, size of what is in it [m]); curves alone are
    roomy."""
    frame = [p for p, _, kind in strokes if kind != "line"] or [p for p, _, _ in strokes]
    z = np.concatenate(frame) if frame else np.zeros(1, dtype=complex)
    size = max(np.ptp(z.real), np.ptp(z.imag), 1e-9)
    middle = complex(z.real.min() + z.real.max(), z.imag.min() + z.imag.max()) / 2
    return middle, (1.5 if roomy else 0.6) * size, size


def _strokes(
    linkage: Linkage | None, task: PlanarTask | None, curves: Any
) -> list[tuple[np.ndarray, str, str]]:
    """What is drawn, from the back to the front: (points, colour, kind)."""
    strokes: list[tuple[np.ndarray, str, str]] = []
    if curves is not None:
        for piece in np.unique(curves.piece):
            here = curves.piece == piece
            strokes.append((curves.center[here], "#777777", "line"))
            strokes.append((curves.circle[here], "#bbbbbb", "line"))
    if linkage is not None:
        strokes.append((traced_path(linkage), "#222222", "dashed"))
        for k, (body, names) in enumerate(linkage.topology.bodies.items()):
            if body != linkage.topology.ground:
                places = np.array([linkage.at(p) for p in names])
                strokes.append((places, COLOURS[k % len(COLOURS)], "body"))
        pins = np.array([linkage.at(pin[0]) for pin in linkage.topology.pins])
        strokes.append((pins, "#222222", "pins"))  # inside the frame; _marked_pins draws them
    if task is not None:
        strokes.append((task.positions, "#c8553d", "positions"))
    return strokes


def _marked_pins(linkage: Linkage, place: Callable[[complex], str]) -> list[str]:
    """Pins and sliders with their names; a small triangle below each one that stands on the
    ground."""
    topology = linkage.topology
    fixed = {joint[0] for joint in topology.pins if topology.ground in joint[1:]}
    lines = []
    for name in dict.fromkeys(joint[0] for joint in (*topology.pins, *topology.sliders)):
        x, y = place(complex(linkage.at(name))).split(",")
        if name in fixed:
            lines.append(f'<path d="M {x} {y} l -8 14 h 16 Z" fill="#dddddd" stroke="#222222"/>')
        lines.append(f'<circle cx="{x}" cy="{y}" r="4"/>')
        at = f'x="{float(x) - 7:.1f}" y="{float(y) - 8:.1f}"'
        lines.append(f'<text {at} font-size="13" text-anchor="end" fill="#555555">{name}</text>')
    return lines


def _marked_positions(task: PlanarTask, place: Callable[[complex], str], size: float) -> list[str]:
    """Numbered circles at the positions, with a hand where a position has an angle."""
    lines = []
    for j in range(task.n):
        p = complex(task.positions[j])
        if np.isfinite(task.angles[j]):
            tip = p + 0.06 * size * np.exp(1j * float(task.angles[j]))
            lines.append(
                f'<polyline points="{place(p)} {place(tip)}" stroke="#c8553d" stroke-width="2"/>'
            )
        x, y = place(p).split(",")
        lines.append(
            f'<circle cx="{x}" cy="{y}" r="5" fill="none" stroke="#c8553d" stroke-width="2"/>'
        )
        aside = 14 * _aside(float(task.angles[j]))
        at = f'x="{float(x) + aside.real:.1f}" y="{float(y) + 5 - aside.imag:.1f}"'
        lines.append(f'<text {at} font-size="14" text-anchor="middle">{j + 1}</text>')
    return lines


def _aside(angle: float) -> complex:
    """The direction in which a position has its number: away from its hand."""
    return -np.exp(1j * angle) if np.isfinite(angle) else np.exp(0.25j * np.pi)


def _near(points: np.ndarray, corner: complex, reach: float) -> list[np.ndarray]:
    """Runs of a line within reach: through an asymptote it comes back from the other side."""
    far = np.flatnonzero(~(np.isfinite(points) & (np.abs(points - corner) < reach)))
    runs = np.split(points, np.unique(np.concatenate([far, far + 1])))
    return [run for run in runs if len(run) > 1]


def draw(
    axes: Any, linkage: Linkage | None = None, task: PlanarTask | None = None, curves: Any = None
) -> None:
    """The same on matplotlib axes."""
    strokes = _strokes(linkage, task, curves)
    middle, half, size = _frame(strokes, curves is not None and linkage is None)
    for points, colour, kind in strokes:
        if kind in ("line", "dashed"):
            for run in _near(points, middle, FAR * half):
                axes.plot(
                    run.real, run.imag, "--" if kind == "dashed" else "-", color=colour, lw=1.0
                )
        elif kind == "body":
            axes.fill(points.real, points.imag, fc=colour, alpha=0.3)
            axes.fill(points.real, points.imag, fill=False, ec=colour, lw=2.5, joinstyle="round")
    beside = {"textcoords": "offset points", "fontsize": 11}
    if linkage is not None:
        fixed = {pin[0] for pin in linkage.topology.pins if linkage.topology.ground in pin[1:]}
        for name in dict.fromkeys(
            pin[0] for pin in (*linkage.topology.pins, *linkage.topology.sliders)
        ):
            z = complex(linkage.at(name))
            axes.plot(
                z.real,
                z.imag,
                "^" if name in fixed else "o",
                color="#222222",
                ms=9 if name in fixed else 6,
            )
            axes.annotate(name, (z.real, z.imag), xytext=(-12, 8), color="#555555", **beside)
    for j in range(0 if task is None else task.n):
        p, angle = complex(task.positions[j]), float(task.angles[j])  # type: ignore[union-attr]
        axes.plot(p.real, p.imag, "o", mfc="none", mec="#c8553d", mew=1.8, ms=8)
        aside = 14 * _aside(angle)
        middle_of = {"ha": "center", "va": "center"}
        axes.annotate(
            str(j + 1), (p.real, p.imag), xytext=(aside.real, aside.imag), **middle_of, **beside
        )
        if np.isfinite(angle):
            tip = p + 0.06 * size * np.exp(1j * angle)
            axes.plot([p.real, tip.real], [p.imag, tip.imag], color="#c8553d", lw=1.8)
    axes.set_aspect("equal")
    axes.set_xlim(middle.real - half, middle.real + half)
    axes.set_ylim(middle.imag - half, middle.imag + half)


def save_picture(
    path: str | Path,
    linkage: Linkage | None = None,
    task: PlanarTask | None = None,
    curves: Any = None,
) -> Path:
    """Write the picture: .svg without any package,
    .png with axes in metres by matplotlib (extra `plots`)."""
    path = Path(path)
    if path.suffix == ".svg":
        path.write_text(svg(linkage, task, curves), encoding="utf-8")
        return path
    if path.suffix != ".png":
        raise InvalidInput(
            f'save_picture: "{path.name}" has an unknown ending, expected .svg or .png'
        )
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NotPossible(
            'a .png needs the extra "plots": pip install "linkwork[plots]"; .svg needs nothing'
        ) from None
    figure = Figure(figsize=(PIXELS / DPI, PIXELS / DPI), layout="constrained")
    axes = figure.add_subplot()
    draw(axes, linkage, task, curves)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
    figure.savefig(path, dpi=2 * DPI)
    return path
