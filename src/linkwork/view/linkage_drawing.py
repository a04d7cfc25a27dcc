"""Linkage drawing: curves, dyads, linkages and their paths as lines in the plane of a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork import synthesis
from linkwork.synthesis import PlanarTask
from linkwork.synthesis.linkage import Linkage
from linkwork.synthesis.motions import bodies_at

Colour = tuple[int, int, int]
COLOURS = {"crank": (59, 110, 165), "coupler": (200, 85, 61), "rocker": (88, 129, 87)}
OTHER: Colour = (90, 90, 160)
CENTER, CIRCLE, PATH = (110, 110, 110), (190, 190, 190), (40, 40, 40)
DYAD, POLE, PICKED = (230, 140, 30), (150, 60, 160), (200, 30, 120)
LAYERS = ("/plane", "/curves", "/dyads", "/path", "/picked", "/linkage")
LAYER = 2e-3
"""What is drawn over what, and how far apart [task sizes]."""
FAR = 20.0
"""What is further from position 1 is not drawn [task sizes]."""


class LinkageDrawing:
    """Draws into the scene of a server; `scale` is the task's size [m], `origin` its position 1."""

    def __init__(self, scene: Any, scale: float) -> None:
        self.scene, self.scale = scene, scale
        self.drawn: dict[str, Any] = {}

    def lines(
        self,
        name: str,
        strokes: list[tuple[np.ndarray, Colour]],
        origin: complex,
        width: float = 2.0,
    ) -> None:
        """Lines (points (k,) complex, colour) as one node: a frame is few messages."""
        pieces, colours = [np.zeros((1, 2), complex)], [np.zeros((1, 2, 3), np.uint8)]
        for points, colour in strokes:
            near = self._near(points, origin)
            joined = near[1:] & near[:-1]
            pieces.append(np.stack([points[:-1][joined], points[1:][joined]], axis=-1))
            both_ends = (len(pieces[-1]), 2, 3)
            colours.append(np.broadcast_to(np.array(colour, dtype=np.uint8), both_ends))
        ends = np.concatenate(pieces)
        height = LAYERS.index(name) * LAYER * self.scale
        segments = np.stack([ends.real, ends.imag, np.full(ends.shape, height)], axis=-1)
        # the browser takes colours of lines for light, not for what a screen is told,
        # and would show them pale
        light = np.round(255.0 * (np.concatenate(colours) / 255.0) ** 2.2).astype(np.uint8)
        thick = {"thickness": width, "thickness_units": "screen"}
        self.drawn[name] = self.scene.add_line_segments(name, segments, light, **thick)

    def curves(self, curves: Any, origin: complex) -> None:
        """Both curves of four poses, piece by piece."""
        pieces = [curves.piece == piece for piece in range(int(curves.piece.max()) + 1)]
        dark = [(curves.center[rows], CENTER) for rows in pieces]
        pale = [(curves.circle[rows], CIRCLE) for rows in pieces]
        self.lines("/curves", dark + pale, origin)

    def dyads(self, dyads: Any, task: PlanarTask) -> None:
        """Links from ground to moving pivots, and the poles of the positions."""
        origin = complex(task.positions[0])
        limbs = np.stack([dyads.ground, dyads.moving], axis=-1)
        # of four poses they are samples of a curve, and stay behind what is chosen
        few = task.n == 5
        self.lines("/dyads", [(limb, DYAD) for limb in limbs], origin, 3.0 if few else 1.2)
        poles = synthesis.poles(task)
        points = np.array([poles[i, j] for j in range(1, task.n + 1) for i in range(1, j)])
        near = points[self._near(points, origin)]
        places = np.stack([near.real, near.imag, np.zeros(len(near))], axis=-1)
        size = 0.03 * self.scale
        self.drawn["/poles"] = self.scene.add_point_cloud("/poles", places, POLE, point_size=size)

    def linkage(self, linkage: Linkage, x: np.ndarray, origin: complex) -> None:
        """Every moving body as its outline, where the joints are at x."""
        places = bodies_at(linkage, x)
        outlines = [
            (np.append(points, points[0]), COLOURS.get(body, OTHER))
            for body, points in places.items()
        ]
        self.lines("/linkage", outlines, origin, 5.0)

    def _near(self, points: np.ndarray, origin: complex) -> np.ndarray:
        return np.isfinite(points) & (np.abs(points - origin) < FAR * self.scale)
