"""Plates: the bodies of a linkage as flat parts to cut, in true size.

A body of two points is a bar with round ends, one of more is the hull of discs around its points,
each with a hole. Parts are stacked so that no two bodies that share a pin lie in one layer. DXF
(millimetres, one layer a body) needs the package ezdxf (extra `synthesis`); SVG needs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwork.arguments import number
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.results import short_repr
from linkwork.synthesis.linkage import Linkage, Linkages

MM = 1000.0
COLOURS = ("#3b6ea5", "#c8553d", "#588157", "#8e6c8a", "#b08900", "#2a9d8f", "#9b2226", "#6c757d")


@short_repr
@dataclass(frozen=True)
class Plate:
    """One part: outline as corner points with a radius (round corners), holes,
    and its layer in the stack (0 below)."""

    body: str
    corners: np.ndarray
    radius: float
    holes: np.ndarray
    hole: float
    layer: int


@short_repr
@dataclass(frozen=True)
class Plates(Tabular):
    """All parts of a linkage; `save` writes .dxf or .svg in true size."""

    parts: tuple[Plate, ...]

    def _table(self) -> dict[str, np.ndarray]:
        """A row a hole: of which part, in which layer, where at position 1, and how wide [m]."""
        holes = [(part, place) for part in self.parts for place in part.holes]
        return {
            "body": np.array([part.body for part, _ in holes], dtype=object),
            "layer": np.array([part.layer for part, _ in holes]),
            "x": np.array([place.real for _, place in holes]),
            "y": np.array([place.imag for _, place in holes]),
            "diameter": np.array([part.hole for part, _ in holes]),
        }

    def save(self, path: str | Path) -> Path:
        """Write a drawing; the ending decides: .dxf (millimetres, one layer a body) or .svg
        (true size)."""
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.svg(), encoding="utf-8")
        elif path.suffix == ".dxf":
            _write_dxf(self.parts, path)
        else:
            raise InvalidInput(
                f'plates: "{path.name}" has an unknown ending, expected .dxf or .svg'
            )
        return path

    def svg(self) -> str:
        """The parts as one SVG in millimetres, assembled at position 1."""
        z = np.concatenate([p.corners for p in self.parts])
        margin = max(p.radius for p in self.parts) + 0.002
        left, right = z.real.min() - margin, z.real.max() + margin
        low, high = z.imag.min() - margin, z.imag.max() + margin
        wide, tall = (right - left) * MM, (high - low) * MM
        size = f'width="{wide:.3f}mm" height="{tall:.3f}mm" viewBox="0 0 {wide:.3f} {tall:.3f}"'
        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>']
        place = lambda p: ((p.real - left) * MM, (high - p.imag) * MM)
        for k, part in enumerate(sorted(self.parts, key=lambda p: p.layer)):
            colour = COLOURS[k % len(COLOURS)]
            lines.append(
                f'<g id="{part.body}" fill="{colour}" fill-opacity="0.35" stroke="{colour}" '
                'stroke-width="0.3">'
            )
            lines.append(f'<path d="{_svg_path(part, place)}"/>')
            for hole in part.holes:
                x, y = place(hole)
                lines.append(
                    f'<circle cx="{x:.4f}" cy="{y:.4f}" r="{part.hole / 2 * MM:.4f}" fill="white"/>'
                )
            lines.append("</g>")
        return "\n".join([*lines, "</svg>", ""])


def plates(linkage: Linkages, width: float, hole: float) -> Plates:
    """Flat parts of one linkage: `width` of the bars and diameter of the holes [m]."""
    if not isinstance(linkage, Linkage):
        raise InvalidInput("plates: expected one Linkage")
    width, hole = number(width, "plates: width"), number(hole, "plates: hole")
    if width <= 0 or hole <= 0:
        raise InvalidInput(f"plates: width is {width}, hole {hole}, expected both positive [m]")
    if width < 1.5 * hole:
        raise NotPossible(
            f"plates: width {width * MM:g} mm is too small for a hole of {hole * MM:g} mm; at "
            "least 1.5 times it"
        )
    topology = linkage.topology
    layers = _layers(topology.bodies, topology.pins)
    parts = []
    for body, points in topology.bodies.items():
        if body == topology.ground:
            points = tuple(p for p in points if any(p == pin[0] for pin in topology.pins))
        if not points:
            continue
        places = np.array([linkage.at(p) for p in points])
        pinned = np.array([any(p == pin[0] for pin in topology.pins) for p in points])
        parts.append(Plate(body, _hull(places), width / 2, places[pinned], hole, layers[body]))
    return Plates(tuple(parts))


def _layers(bodies, pins) -> dict[str, int]:
    """Stacking order: bodies that share a pin's point lie in different layers
    (greedy, the ground lowest)."""
    at: dict[str, set[str]] = {}
    for point, a, b in pins:
        at.setdefault(point, set()).update((a, b))
    layer: dict[str, int] = {}
    for body in bodies:
        taken = {
            layer[other]
            for members in at.values()
            if body in members
            for other in members
            if other in layer
        }
        layer[body] = next(k for k in range(len(bodies) + 1) if k not in taken)
    return layer


def _hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    order = sorted({(float(p.real), float(p.imag)) for p in points})
    if len(order) < 3:
        return np.array([complex(*p) for p in order])

    def half(run):
        chain: list[tuple[float, float]] = []
        for p in run:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2], chain[-1]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0:
                    break
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array([complex(*p) for p in [*half(order), *half(order[::-1])]])


def _sides(part: Plate) -> list[tuple[complex, complex]]:
    """Straight sides of the rounded outline, shifted outward by the radius."""
    c = part.corners
    if len(c) == 1:
        return []
    loop = [*zip(c, np.roll(c, -1))]
    out = []
    for p, q in loop:
        normal = -1j * (q - p) / abs(q - p) * part.radius
        out.append((complex(p + normal), complex(q + normal)))
    return out


def _svg_path(part: Plate, place) -> str:
    r = part.radius * MM
    sides = _sides(part)
    if not sides:
        x, y = place(part.corners[0])
        return (
            f"M {x - r:.4f} {y:.4f} a {r:.4f} {r:.4f} 0 1 0 {2 * r:.4f} 0 a {r:.4f} {r:.4f} 0 1 "
            f"0 {-2 * r:.4f} 0 Z"
        )
    text = "M {:.4f} {:.4f}".format(*place(sides[0][0]))
    for k, (_, end) in enumerate(sides):
        following = sides[(k + 1) % len(sides)][0]
        text += " L {:.4f} {:.4f}".format(*place(end))
        text += " A {:.4f} {:.4f} 0 0 0 {:.4f} {:.4f}".format(r, r, *place(following))
    return text + " Z"


def _write_dxf(parts: tuple[Plate, ...], path: Path) -> None:
    try:
        from ezdxf import filemanagement
    except ImportError:
        raise NotPossible(
            'plates: DXF files need the package ezdxf: pip install "linkwork[synthesis]"'
        ) from None
    document = filemanagement.new("R2010", units=4)  # millimetres
    space = document.modelspace()
    for k, part in enumerate(parts):
        document.layers.add(part.body, color=k % 7 + 1)
        attributes = {"layer": part.body}
        sides = _sides(part)
        if not sides:
            centre = part.corners[0] * MM
            space.add_circle((centre.real, centre.imag), part.radius * MM, dxfattribs=attributes)
        else:
            # arcs as bulges: tan(angle / 4) of the turn at each corner
            rows = []
            for k2, (start, end) in enumerate(sides):
                following = sides[(k2 + 1) % len(sides)]
                turn = (
                    np.angle((following[1] - following[0]) / (end - start))
                    if len(sides) > 2
                    else np.pi
                )
                rows.append((start.real * MM, start.imag * MM, 0.0))
                rows.append((end.real * MM, end.imag * MM, float(np.tan(turn / 4.0))))
            space.add_lwpolyline(rows, format="xyb", close=True, dxfattribs=attributes)
        for hole in part.holes * MM:
            space.add_circle((hole.real, hole.imag), part.hole / 2 * MM, dxfattribs=attributes)
    document.saveas(path)
