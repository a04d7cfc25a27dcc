"""Ghosts: several configurations of one robot at once, translucent."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.view.palette import BRANCHES, linear
from linkwork.view.postures import postures


class Ghosts:
    """Copies of a robot's bodies: one batched node a solid, one instance a configuration."""

    def __init__(self, scene: Any, opacity: float = 0.3) -> None:
        self.scene, self.opacity = scene, opacity
        self.q = np.zeros((0, scene.robot.nq))
        self._nodes: list[tuple[int, Any]] = []

    def show(self, q: np.ndarray) -> None:
        """Draw configurations q (m, nq), each in its own colour; none hides them."""
        count = len(self.q)
        self.q = np.atleast_2d(np.asarray(q, dtype=float)).reshape(-1, self.scene.robot.nq)
        if not len(self.q):
            self.hide()
            return
        rows = postures(self.scene.robot, self.q)
        wxyz, position = rows.wxyz, rows.position
        with self.scene.server.atomic():
            if len(self.q) != count or not self._nodes:
                self._draw(wxyz, position)
            else:
                for k, node in self._nodes:
                    node.batched_wxyzs, node.batched_positions = wxyz[:, k], position[:, k]

    def hide(self) -> None:
        """Take them away."""
        for _, node in self._nodes:
            node.remove()
        self._nodes, self.q = [], np.zeros((0, self.scene.robot.nq))

    def _draw(self, wxyz: np.ndarray, position: np.ndarray) -> None:
        """New nodes: the number of instances of a node is fixed."""
        for _, node in self._nodes:
            node.remove()
        colors = linear(np.array([BRANCHES[k % len(BRANCHES)] for k in range(len(self.q))]))
        self._nodes = [
            (
                k,
                self.scene.server.scene.add_batched_meshes_simple(
                    f"{self.scene.root}/ghosts/{k}/{piece}",
                    solid.vertices,
                    solid.faces,
                    wxyz[:, k],
                    position[:, k],
                    batched_colors=colors,
                    opacity=self.opacity,
                    lod="off",
                    cast_shadow=False,
                    receive_shadow=False,
                ),
            )
            for k, body in enumerate(self.scene.robot.bodies)
            for piece, solid in enumerate(self.scene.solids[body])
        ]
