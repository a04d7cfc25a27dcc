"""Drawings: a task with its linkage, curves and path, as SVG without any package, or on matplotlib axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.synthesis.circuit_verdicts import circuits_of
from linkwork.synthesis.kinematics import pairs_of_points, posture_kernel
from linkwork.synthesis.linkage import Linkage, Linkages
from linkwork.synthesis.plates import COLOURS
from linkwork.synthesis.task import PlanarTask

PIXELS = 720


def traced_path(linkage: Linkage) -> np.ndarray:
    """(k,) the tracer along the whole circuit of position 1, complex [m]."""
    around = circuits_of(Linkages(linkage.topology, linkage.points[None]))
    x = around.x[0][np.isfinite(around.x[0]).all(axis=-1)]
    # slider travels are in sizes of the linkage there
    scale = np.array([1.0 if edge.along is None else float(linkage.size) for edge in linkage.topology.tree[0]])
    pose = posture_kernel(linkage.topology)(x * scale, pairs_of_points(linkage.points))[2]
    return np.concatenate([[linkage.tracer], pose[:, 0] + 1j * pose[:, 1]])


def svg(linkage: Linkage | None = None, task: PlanarTask | None = None, curves: Any = None) -> str:
    """One SVG picture: positions with their angles, bodies as bars or triangles, the tracer's path, curves."""
    strokes: list[tuple[np.ndarray, str, str]] = []  # points, colour, kind
    if curves is not None:
        for piece in np.unique(curves.piece):
            own = curves.piece == piece
            strokes.append((curves.center[own], "#999999", "line"))
            strokes.append((curves.circle[own], "#cccccc", "line"))
    if linkage is not None:
        strokes.append((traced_path(linkage), "#222222", "dashed"))
        for k, (body, names) in enumerate(linkage.topology.bodies.items()):
            if body != linkage.topology.ground:
                places = np.array([linkage.at(p) for p in names])
                strokes.append((places, COLOURS[k % len(COLOURS)], "body"))
        pins = np.array([linkage.at(pin[0]) for pin in linkage.topology.pins])
        strokes.append((pins, "#222222", "pins"))
    if task is not None:
        strokes.append((task.positions, "#c8553d", "positions"))
    frame = [p for p, _, kind in strokes if kind != "line"] or [p for p, _, _ in strokes]
    z = np.concatenate(frame) if frame else np.zeros(1)
    size = max(np.ptp(z.real), np.ptp(z.imag), 1e-9)
    left, high = z.real.min() - 0.1 * size, z.imag.max() + 0.1 * size
    scale = PIXELS / (1.2 * size)
    place = lambda p: f"{(p.real - left) * scale:.2f},{(high - p.imag) * scale:.2f}"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{PIXELS}" height="{PIXELS}" style="background:white">']
    for points, colour, kind in strokes:
        text = " ".join(place(p) for p in points if np.isfinite(p) and abs(p) < 1e6 * size)
        if kind in ("line", "dashed"):
            dash = ' stroke-dasharray="6 4"' if kind == "dashed" else ""
            lines.append(f'<polyline points="{text}" fill="none" stroke="{colour}"{dash}/>')
        elif kind == "body":
            lines.append(
                f'<polygon points="{text}" fill="{colour}" fill-opacity="0.3" stroke="{colour}" stroke-width="3"/>'
            )
        elif kind == "pins":
            lines += [f'<circle cx="{place(p).split(",")[0]}" cy="{place(p).split(",")[1]}" r="4"/>' for p in points]
    if task is not None:
        for j in range(task.n):
            p = complex(task.positions[j])
            angle = 0.0 if not np.isfinite(task.angles[j]) else float(task.angles[j])
            tip = p + 0.06 * size * np.exp(1j * angle)
            if np.isfinite(task.angles[j]):
                lines.append(f'<polyline points="{place(p)} {place(tip)}" stroke="#c8553d" stroke-width="2"/>')
            x, y = place(p).split(",")
            lines.append(f'<circle cx="{x}" cy="{y}" r="5" fill="none" stroke="#c8553d" stroke-width="2"/>')
            lines.append(f'<text x="{float(x) + 7:.1f}" y="{float(y) - 7:.1f}" font-size="14">{j + 1}</text>')
    return "\n".join([*lines, "</svg>", ""])


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
