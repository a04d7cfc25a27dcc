"""Load arrows: forces as arrows, moments as arrows around their axis, coloured from no load to the largest."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.view.load_vectors import LoadVectors
from linkwork.view.palette import load_colors
from linkwork.view.triangles import turn_z_to

STEPS = 20
"""Segments of the arc of a moment."""
TURN = 1.5 * np.pi
SMALLEST = 0.02
"""Loads below this share of the largest's length are not drawn."""


class Pointers:
    """Arrows of one kind in a viser scene, updated in place."""

    def __init__(self, server: Any, place: str, radius: float) -> None:
        self.server, self.place, self.radius = server, place, radius
        self.heads: Any = None
        self.arcs: Any = None

    def straight(self, starts: np.ndarray, vectors: np.ndarray, share: np.ndarray) -> None:
        """Arrows from points (n, 3) along vectors (n, 3) [m], coloured by their share (n,) of the largest load."""
        self._arrows(np.stack([starts, starts + vectors], axis=1), load_colors(share))

    def curved(self, centres: np.ndarray, vectors: np.ndarray, share: np.ndarray) -> None:
        """Arrows that turn about vectors (n, 3) at points (n, 3); the length of a vector is the arc's radius [m]."""
        angle = np.linspace(0.0, TURN, STEPS + 1)
        circle = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
        r = np.linalg.norm(vectors, axis=-1)[:, None, None]
        points = centres[:, None] + r * np.einsum("nij,kj->nki", turn_z_to(vectors), circle)
        colors = load_colors(share)
        segments = np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3).astype(np.float32)
        painted = np.repeat(colors, 2 * STEPS, axis=0).reshape(-1, 2, 3)
        if self.arcs is None:
            self.arcs = self.server.scene.add_line_segments(
                f"{self.place}/arcs", segments, painted, thickness=2 * self.radius
            )
        else:
            self.arcs.points, self.arcs.colors, self.arcs.visible = segments, painted, True
        self._arrows(np.stack([points[:, -2], points[:, -1] + 0.12 * (points[:, -1] - points[:, -2])], axis=1), colors)

    def hide(self) -> None:
        for node in (self.heads, self.arcs):
            if node is not None:
                node.visible = False

    @property
    def visible(self) -> bool:
        return self.heads is not None and bool(self.heads.visible)

    def _arrows(self, ends: np.ndarray, colors: np.ndarray) -> None:
        ends = ends.astype(np.float32)
        if self.heads is None or len(self.heads.points) != len(ends):
            self.heads = self.server.scene.add_arrows(
                f"{self.place}/heads",
                ends,
                colors,
                shaft_radius=self.radius,
                head_radius=2.4 * self.radius,
                head_length=6 * self.radius,
            )
        else:
            self.heads.points, self.heads.colors, self.heads.visible = ends, colors, True


class LoadArrows:
    """The loads of one robot: joint forces, joint moments, and what actuators and springs carry.

    Lengths and colours grow with the square root of the load, so that a wrist is seen beside a base.
    """

    KINDS = ("joint forces", "joint moments", "actuator loads")

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        self.shown = dict.fromkeys(self.KINDS, False)
        self.longest = 0.22 * scene.size
        radius = 0.0045 * scene.size
        place = f"{scene.root}/loads"
        self.pointers = {
            name: Pointers(scene.server, f"{place}/{name.replace(' ', '_')}", radius)
            for name in (*self.KINDS, "actuator moments")
        }

    @property
    def wanted(self) -> bool:
        return any(self.shown.values())

    def choose(self, kind: str, shown: bool) -> None:
        """Show or hide one of KINDS."""
        self.shown[kind] = shown
        if not shown:
            self.pointers[kind].hide()
            if kind == "actuator loads":
                self.pointers["actuator moments"].hide()
                self._unpaint()

    def show(self, loads: LoadVectors, k: int) -> None:
        """Draw row k of some loads."""
        with self.scene.server.atomic():
            if self.shown["joint forces"]:
                self._draw("joint forces", loads.at[k], loads.forces[k], loads.largest_force)
            if self.shown["joint moments"]:
                self._draw("joint moments", loads.at[k], loads.moments[k], loads.largest_moment)
            if self.shown["actuator loads"]:
                self._draw("actuator loads", loads.push_at[k], loads.pushes[k], loads.largest_push)
                self._draw("actuator moments", loads.turn_at[k], loads.turns[k], loads.largest_turn)
                self._paint(loads, k)

    def _draw(self, kind: str, at: np.ndarray, loads: np.ndarray, largest: float) -> None:
        size = np.linalg.norm(loads, axis=-1)
        share = np.sqrt(size / largest) if largest > 0 else 0 * size
        keep = share > SMALLEST
        if not keep.any():
            self.pointers[kind].hide()
            return
        length = np.where(keep, share, 0.0) * self.longest * (0.4 if "moments" in kind else 1.0)
        vectors = loads / np.maximum(size, 1e-300)[:, None] * length[:, None]
        draw = self.pointers[kind].curved if "moments" in kind else self.pointers[kind].straight
        draw(at, vectors, share)

    def _paint(self, loads: LoadVectors, k: int) -> None:
        members = self.scene.members
        if members is None or not loads.axial or loads.largest_axial <= 0:
            return
        share = np.sqrt(np.abs(loads.axial_loads[k]) / loads.largest_axial)
        for name, color in zip(loads.axial, load_colors(share), strict=True):
            members.paint(name, tuple(int(c) for c in color))

    def _unpaint(self) -> None:
        members = self.scene.members
        for name in () if members is None else members.names:
            members.paint(name, members.color_of(name))
