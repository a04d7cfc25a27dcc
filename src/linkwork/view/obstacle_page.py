"""Obstacle page: a folder of a robot's tab with obstacles to drag,
for the pages that answer while a person drags."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.collision import Obstacles, Sphere, load_obstacles
from linkwork.errors import LinkworkError
from linkwork.view.dragged_obstacles import DraggedObstacles
from linkwork.view.newest import Newest


class ObstaclePage:
    """Nothing is computed before a person asks for it: `shown` is their wish,
    `status` the answer in words."""

    shown: Any
    file: Any
    ball: Any
    status: Any

    def __init__(self, stand: Any) -> None:
        self.stand, self.robot, self.server = stand, stand.robot, stand.server

    def _listen(self, newest: Newest, folder: str) -> None:
        """Obstacles, and the controls that every such page has; called when these are there."""
        self._newest = newest
        self.obstacles = DraggedObstacles(self.stand, folder, newest)
        for control in (self.shown, self.file):
            control.on_update(lambda _: self.restart())
        self.ball.on_click(lambda _: self.add_ball())

    def restart(self) -> None:
        """Begin, or take everything away."""
        raise NotImplementedError

    def add_ball(self) -> None:
        """A ball to drag."""
        raise NotImplementedError

    def _prepare(self) -> None:
        """Make what the page asks; refusals are said in the status."""
        raise NotImplementedError

    def _ready(self) -> bool:
        """Whether what the page asks is there and the obstacles of its file are drawn; if not,
        the status says why."""
        try:
            self._prepare()
            path = self.file.value.strip()
            self.obstacles.show(load_obstacles(path) if path else Obstacles())
        except LinkworkError as error:
            self.status.content = str(error)
            return False
        return True

    def _put_ball(self, at: np.ndarray, radius: float) -> None:
        x, y, z = at.tolist()
        with self.stand.lock:
            self.obstacles.add(Sphere((x, y, z), radius))
        self._newest()
