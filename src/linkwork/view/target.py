"""Target: a frame to drag; the robot follows by inverse kinematics,
and every other solution is a ghost."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.view.ghosts import Ghosts
from linkwork.view.newest import Newest
from linkwork.view.postures import matrix, quaternions


class Target:
    """The controls of one stand's target: which frame, whether it is shown, and whether ghosts
    are."""

    def __init__(self, stand: Any) -> None:
        self.stand, self.robot, self.scene = stand, stand.robot, stand.scene
        gui = stand.server.gui
        with gui.add_folder("Target", expand_by_default=False):
            self.frame = gui.add_dropdown(
                "frame", tuple(dict.fromkeys(self.robot.frames)), initial_value=stand.tip
            )
            self.shown = gui.add_checkbox("drag a target", False)
            self.all_solutions = gui.add_checkbox("all solutions as ghosts", True)
            self.status = gui.add_markdown("")
        self.gizmo: Any = None
        self._about = ""
        self.ghosts = Ghosts(self.scene)
        self._newest = Newest(self._follow_gizmo)
        for control in (self.shown, self.frame, self.all_solutions):
            control.on_update(lambda _: self._chosen())

    def _chosen(self) -> None:
        try:
            self.restart()
        except LinkworkError as error:  # a frame that no dropdown offered
            self.status.content = str(error)

    def restart(self) -> None:
        """Put the target on its frame, or take it away."""
        with self.stand.lock:
            if not self.shown.value:
                self.ghosts.hide()
                if self.gizmo is not None:
                    self.gizmo.visible = False
                return
            if self.gizmo is None:
                self.gizmo = self.stand.server.scene.add_transform_controls(
                    f"{self.scene.root}/target", scale=0.16 * self.scene.size, line_width=3.0
                )
                self.gizmo.on_update(lambda _: self._dragged())
            pose = self.robot.pose(self.scene.q, self.frame.value)
            self.gizmo.position, self.gizmo.wxyz = pose[:3, 3], quaternions(pose[:3, :3])
            self.gizmo.visible = True
            self.refresh_ghosts()

    def follow(self, position: np.ndarray, wxyz: np.ndarray) -> bool:
        """Move the frame to a pose in the robot's axes from where the robot stands;
        says whether it could."""
        goal = np.eye(4)
        goal[:3, :3], goal[:3, 3] = matrix(wxyz), position
        with self.stand.lock:
            self.refresh_ghosts(goal)
            try:
                result = self.robot.inverse_kinematics(goal, self.frame.value, q0=self.scene.q)
            except LinkworkError as error:
                self.status.content = str(error)
                return False
            reached = bool(np.all(result.success))
            self.status.content = self._words(
                f"not reached: {result.reason}" if not reached else ""
            )
            if reached:
                self.stand.show(np.asarray(result.q, dtype=float))
            return reached

    def refresh_ghosts(self, goal: np.ndarray | None = None) -> None:
        """Every analytic solution of the target's pose; none for a robot without closed forms."""
        with self.stand.lock:
            self._about = ""
            if not (self.shown.value and self.all_solutions.value):
                self.ghosts.hide()
                return
            if goal is None:
                goal = self.robot.pose(self.scene.q, self.frame.value)
            try:
                solutions = self.robot.inverse_kinematics_all(
                    goal, self.frame.value, q0=self.scene.q
                )
            except LinkworkError as error:  # no closed form for these axes: the robot still follows
                self._about = f"no ghosts: {error}"
                self.ghosts.hide()
            else:
                postures = np.asarray(solutions.q, dtype=float)
                self._about = f"{len(postures)} solutions"
                self.ghosts.show(postures)
            self.status.content = self._words()

    def _words(self, trouble: str = "") -> str:
        return trouble or self._about

    def _dragged(self) -> None:
        self.stand.viewer.playing.value = False
        self._newest()

    def _follow_gizmo(self) -> None:
        self.follow(np.array(self.gizmo.position), np.array(self.gizmo.wxyz))
