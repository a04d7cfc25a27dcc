"""Load arrows: forces as arrows, moments as arrows bent about their axis,
coloured from no load to the largest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.view.load_vectors import LoadVectors
from linkwork.view.palette import load_colors
from linkwork.view.postures import quaternions
from linkwork.view.triangles import Triangles, arrow, turn_z_to, turning_arrow

LEVELS = 32
"""Lengths and colours of loads go in steps: a browser moves a node at once,
but is slow to scale and paint it anew."""


class Pointers:
    """Arrows of one kind in a viser scene: copies of one shape that points along z,
    a node at each of `places`."""

    def __init__(self, server: Any, places: Sequence[str], shape: Triangles) -> None:
        self.nodes = [
            server.scene.add_mesh_simple(place, *shape, visible=False) for place in places
        ]
        self._sizes = np.zeros(len(self.nodes))
        self._colors = np.zeros((len(self.nodes), 3), dtype=np.uint8)

    def show(self, vectors: np.ndarray, share: np.ndarray, at: np.ndarray | None = None) -> None:
        """Arrows along vectors (n, 3), as large as these [m], coloured by a share (n,) of a load;
        at points (n, 3).

        Vectors and points are seen from the node above; one of no length is hidden. Only what
        changes is sent.
        """
        sizes, colors = np.linalg.norm(vectors, axis=-1), load_colors(share)
        wxyz = quaternions(turn_z_to(vectors))
        for k in np.flatnonzero(sizes > 0.0):
            node = self.nodes[k]
            node.wxyz = wxyz[k]
            if at is not None:
                node.position = at[k]
            if abs(sizes[k] - self._sizes[k]) > 1e-9:
                node.scale, node.visible = float(sizes[k]), True
            if (colors[k] != self._colors[k]).any():
                node.color = tuple(colors[k].tolist())
        for k in np.flatnonzero((sizes == 0.0) & (self._sizes > 0.0)):
            self.nodes[k].visible = False
        self._sizes, self._colors = sizes, colors

    def hide(self) -> None:
        for node in self.nodes:
            node.visible = False
        self._sizes = np.zeros(len(self.nodes))

    @property
    def visible(self) -> bool:
        return any(node.visible for node in self.nodes)


class LoadArrows:
    """The loads of one robot: joint forces, joint moments, and what actuators and springs carry.

    Lengths and colours grow with the square root of the load, so that a wrist is seen beside a
    base.
    """

    KINDS = ("joint forces", "joint moments", "actuator loads")

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        self.shown = dict.fromkeys(self.KINDS, False)
        self.longest = 0.22 * scene.size
        self.pointers: dict[str, Pointers] = {}

    @property
    def wanted(self) -> bool:
        return any(self.shown.values())

    def choose(self, kind: str, shown: bool) -> None:
        """Show or hide one of KINDS."""
        self.shown[kind] = shown
        self.scene.fade(self.wanted)
        if not shown:
            self._hide(kind)
        if kind == "actuator loads" and not shown:
            self._hide("actuator moments")
            self._unpaint()

    def show(self, loads: LoadVectors, k: int) -> None:
        """Draw row k of some loads."""
        with self.scene.server.atomic():
            if self.shown["joint forces"]:
                self._on_bodies(
                    "joint forces",
                    loads.bodies,
                    loads.turned_back(loads.forces, k),
                    loads.largest_force,
                )
            if self.shown["joint moments"]:
                self._on_bodies(
                    "joint moments",
                    loads.bodies,
                    loads.turned_back(loads.moments, k),
                    loads.largest_moment,
                )
            if self.shown["actuator loads"]:
                names = [f"{self.scene.root}/loads/push{i}" for i in range(loads.pushes.shape[1])]
                self._draw(
                    "actuator loads", names, loads.pushes[k], loads.largest_push, loads.push_at[k]
                )
                self._on_bodies(
                    "actuator moments",
                    loads.turn_bodies,
                    loads.turns_on_body[k],
                    loads.largest_turn,
                )
                self._paint(loads, k)

    def _on_bodies(
        self, kind: str, bodies: Sequence[str], vectors: np.ndarray, largest: float
    ) -> None:
        """Loads at the origins of bodies, in their axes: the arrows ride on the bodies."""
        places = [
            f"{self.scene.place(body)}/loads/{kind.replace(' ', '_')}{i}"
            for i, body in enumerate(bodies)
        ]
        self._draw(kind, places, vectors, largest)

    def _draw(
        self,
        kind: str,
        places: Sequence[str],
        loads: np.ndarray,
        largest: float,
        at: np.ndarray | None = None,
    ) -> None:
        if kind not in self.pointers:
            shape = turning_arrow() if "moments" in kind else arrow()
            self.pointers[kind] = Pointers(self.scene.server, places, shape)
        size = np.linalg.norm(loads, axis=-1)
        share = np.round(LEVELS * np.sqrt(size / largest)) / LEVELS if largest > 0 else 0 * size
        length = share * self.longest * (0.32 if "moments" in kind else 1.0)
        self.pointers[kind].show(
            loads / np.maximum(size, 1e-300)[:, None] * length[:, None], share, at
        )

    def _hide(self, kind: str) -> None:
        if kind in self.pointers:
            self.pointers[kind].hide()

    def _paint(self, loads: LoadVectors, k: int) -> None:
        members = self.scene.members
        if members is None or not loads.axial or loads.largest_axial <= 0:
            return
        share = (
            np.round(LEVELS * np.sqrt(np.abs(loads.axial_loads[k]) / loads.largest_axial)) / LEVELS
        )
        for name, color in zip(loads.axial, load_colors(share), strict=True):
            members.paint(name, tuple(int(c) for c in color))

    def _unpaint(self) -> None:
        members = self.scene.members
        for name in () if members is None else members.names:
            members.paint(name, members.color_of(name))
