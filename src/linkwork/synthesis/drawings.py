"""Drawings: a task with its linkage, curves and path, as SVG without any package, or on matplotlib axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.synthesis.linkage import Linkage
from linkwork.synthesis.motions import motion_of
from linkwork.synthesis.plates import COLOURS
from linkwork.synthesis.task import PlanarTask

PIXELS = 720
FAR = 5.0
"""Curves end so far away [sizes of the picture]."""


def traced_path(linkage: Linkage) -> np.ndarray:
    """(k,) the tracer along the whole circuit of position 1, complex [m]."""
    return np.concatenate([[linkage.tracer], motion_of(linkage).path])


def svg(linkage: Linkage | None = None, task: PlanarTask | None = None, curves: Any = None) -> str:
    """One SVG picture: positions with their angles, bodies as bars or triangles, the tracer's path, curves."""
    strokes = _strokes(linkage, task, curves)
    frame = [p for p, _, kind in strokes if kind != "line"] or [p for p, _, _ in strokes]
    z = np.concatenate(frame) if frame else np.zeros(1)
    size = max(np.ptp(z.real), np.ptp(z.imag), 1e-9)
    # the picture is square, with the middle of all in its middle; curves alone get room about the positions
    half = (0.6 if linkage is not None or curves is None else 1.5) * size
    left, high = (z.real.min() + z.real.max()) / 2 - half, (z.imag.min() + z.imag.max()) / 2 + half
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
                f'<polygon points="{text}" fill="{colour}" fill-opacity="0.3" stroke="{colour}" stroke-width="3"/>'
            )
    lines += [] if linkage is None else _marked_pins(linkage, place)
    lines += [] if task is None else _marked_positions(task, place, size)
    return "\n".join([*lines, "</svg>", ""])


def _strokes(linkage: Linkage | None, task: PlanarTask | None, curves: Any) -> list[tuple[np.ndarray, str, str]]:
    """What is drawn, from the back to the front: (points, colour, kind)."""
    strokes: list[tuple[np.ndarray, str, str]] = []
    if curves is not None:
        for piece in np.unique(curves.piece):
            own = curves.piece == piece
            strokes.append((curves.center[own], "#777777", "line"))
            strokes.append((curves.circle[own], "#bbbbbb", "line"))
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
    """Pins and sliders with their names; a small triangle below each one that stands on the ground."""
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
            lines.append(f'<polyline points="{place(p)} {place(tip)}" stroke="#c8553d" stroke-width="2"/>')
        x, y = place(p).split(",")
        lines.append(f'<circle cx="{x}" cy="{y}" r="5" fill="none" stroke="#c8553d" stroke-width="2"/>')
        lines.append(f'<text x="{float(x) + 7:.1f}" y="{float(y) - 7:.1f}" font-size="14">{j + 1}</text>')
    return lines


def _near(points: np.ndarray, corner: complex, reach: float) -> list[np.ndarray]:
    """Runs of a line within reach: through an asymptote it comes back from the other side."""
    far = np.flatnonzero(~(np.isfinite(points) & (np.abs(points - corner) < reach)))
    runs = np.split(points, np.unique(np.concatenate([far, far + 1])))
    return [run for run in runs if len(run) > 1]


def draw(axes: Any, linkage: Linkage | None = None, task: PlanarTask | None = None, curves: Any = None) -> None:
    """The same on matplotlib axes."""
    if curves is not None:
        for points, name in ((curves.center, "centre points"), (curves.circle, "circle points")):
            axes.plot(points.real, points.imag, lw=0.6, label=name)
    if linkage is not None:
        path = traced_path(linkage)
        axes.plot(path.real, path.imag, "k--", lw=0.8)
        for k, (body, names) in enumerate(linkage.topology.bodies.items()):
            if body != linkage.topology.ground:
                z = np.array([linkage.at(p) for p in (*names, names[0])])
                axes.plot(z.real, z.imag, "o-", color=COLOURS[k % len(COLOURS)], label=body)
    if task is not None:
        axes.plot(task.positions.real, task.positions.imag, "s", mfc="none", color="#c8553d")
    axes.set_aspect("equal")
