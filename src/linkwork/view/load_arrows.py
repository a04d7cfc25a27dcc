"""Load arrows: forces as arrows, moments as arrows bent about their axis, coloured from no load to the largest."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.view.load_vectors import LoadVectors
from linkwork.view.palette import linear, load_colors
from linkwork.view.postures import quaternions
from linkwork.view.triangles import Triangles, arrow, turn_z_to, turning_arrow

SMALLEST = 0.04
"""Loads that would be drawn shorter than this share of the longest are not drawn."""


class Pointers:
    """Arrows of one kind in a viser scene: instances of one shape that points along z, updated in place."""

    def __init__(self, server: Any, place: str, shape: Triangles) -> None:
        self.server, self.place, self.shape = server, place, shape
        self.node: Any = None

    def show(self, at: np.ndarray, vectors: np.ndarray, share: np.ndarray) -> None:
        """Arrows at points (n, 3) along vectors (n, 3), as large as these [m], coloured by a share (n,) of a load."""
        colors = linear(load_colors(share))
        wxyz, scales = quaternions(turn_z_to(vectors)), np.linalg.norm(vectors, axis=-1).astype(np.float32)
        if self.node is None or len(self.node.batched_positions) != len(at):
            self.node = self.server.scene.add_batched_meshes_simple(
                self.place, *self.shape, wxyz, at, batched_scales=scales, batched_colors=colors, lod="off"
            )
        else:
            node = self.node
            node.batched_wxyzs, node.batched_positions, node.batched_scales = wxyz, at, scales
            node.batched_colors, node.visible = colors, True

    def hide(self) -> None:
        if self.node is not None:
            self.node.visible = False

    @property
    def visible(self) -> bool:
        return self.node is not None and bool(self.node.visible)


class LoadArrows:
    """The loads of one robot: joint forces, joint moments, and what actuators and springs carry.

    Lengths and colours grow with the square root of the load, so that a wrist is seen beside a base.
    """

    KINDS = ("joint forces", "joint moments", "actuator loads")

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        self.shown = dict.fromkeys(self.KINDS, False)
        self.longest = 0.22 * scene.size
        self.pointers = {
            name: Pointers(
                scene.server,
                f"{scene.root}/loads/{name.replace(' ', '_')}",
                turning_arrow() if "moments" in name else arrow(),
            )
            for name in (*self.KINDS, "actuator moments")
        }

    @property
    def wanted(self) -> bool:
        return any(self.shown.values())

    def choose(self, kind: str, shown: bool) -> None:
        """Show or hide one of KINDS."""
        self.shown[kind] = shown
        self.scene.fade(self.wanted)
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
        length = np.where(keep, share, 0.0) * self.longest * (0.32 if "moments" in kind else 1.0)
        self.pointers[kind].show(at, loads / np.maximum(size, 1e-300)[:, None] * length[:, None], share)

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
