"""Elbow page: the ring of an elbow's arm angles, free, forbidden and beyond joint limits,
and obstacles to drag."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwork.avoidance import Elbow, SafetyVolume, nearest_free
from linkwork.avoidance.arcs import joined
from linkwork.errors import LinkworkError
from linkwork.view.newest import Newest
from linkwork.view.obstacle_page import ObstaclePage
from linkwork.view.shape_triangles import FREE, TOUCHING

LIMITED = (170, 176, 186)
SEGMENTS = 180
"""Of the ring."""


class ElbowPage(ObstaclePage):
    """The ring, the angle that a person turns, and the volume around the arm."""

    def __init__(self, stand: Any) -> None:
        super().__init__(stand)
        gui = self.server.gui
        with gui.add_folder("Avoidance", expand_by_default=False):
            self.shown = gui.add_checkbox("ring of the arm angle", False)
            self.angle = gui.add_slider("arm angle [deg]", -180.0, 180.0, 1.0, 0.0, disabled=True)
            self.maximum = gui.add_number("radius at the elbow [mm]", 150.0, min=0.0)
            self.minimum = gui.add_number("at shoulder and wrist [mm]", 0.0, min=0.0)
            self.file = gui.add_text("obstacles file", "")
            self.ball = gui.add_button("add a ball to drag")
            self.makes_way = gui.add_checkbox("the elbow makes way", True)
            self.status = gui.add_markdown("")
        self.elbow: Elbow | None = None
        self.arcs = self.limited = np.empty((0, 2))  # that obstacles and joint limits forbid
        self.colors = np.empty((0, 3), dtype=np.uint8)
        self._ring: Any = None
        self._working = False
        self._listen(Newest(self.follow), "avoided")
        for control in (self.maximum, self.minimum, self.makes_way):
            control.on_update(lambda _: self._newest())
        self.angle.on_update(lambda event: self.turned() if event.client is not None else None)

    @property
    def volume(self) -> SafetyVolume:
        """The radii that are set; the smaller one never exceeds the larger."""
        largest = 1e-3 * float(self.maximum.value)
        return SafetyVolume(min(1e-3 * float(self.minimum.value), largest), largest)

    def restart(self) -> None:
        """Draw the ring, or take it away."""
        with self.stand.lock:
            self.remove()
            if not self.shown.value or not self._ready():
                return
            self.angle.disabled = False
        self._newest()

    def _prepare(self) -> None:
        if self.elbow is None:
            up = -np.asarray(self.robot.model.gravity, dtype=float)
            self.elbow = Elbow(self.robot, self.stand.tip, up if np.any(up) else (0.0, 0.0, 1.0))

    def show(self, q: np.ndarray) -> None:
        """The robot stands elsewhere: so does the ring."""
        if self.shown.value and self.elbow is not None and not self._working:
            self._draw(q)

    def add_ball(self) -> None:
        """A ball above the elbow, to drag."""
        if self.elbow is None or not self.shown.value:
            return
        with self.stand.lock:
            size, q = self.stand.scene.size, self.stand.scene.q
            pose = self.robot.pose(q, self.stand.tip)
            at = (
                self.elbow.points(pose, float(self.elbow.arm_angle(q)))[1]
                + self.elbow.reference * 0.25 * size
            )
        self._put_ball(at, 0.05 * size)

    def turned(self) -> None:
        """A person moves the elbow; the tool stays."""
        with self.stand.lock:
            if self.elbow is not None and self.shown.value:
                self._go(math.radians(float(self.angle.value)))

    def follow(self) -> None:
        """Draw the ring; where the elbow makes way,
        put it to the nearest free angle of the arc where it is.

        Free is what neither obstacles nor joint limits forbid.
        """
        with self.stand.lock:
            if self.elbow is None or not self.shown.value or self.stand.removed:
                return
            q = self.stand.scene.q
            if not self._draw(q) or not self.makes_way.value:
                return
            both = np.concatenate([self.arcs, self.limited])
            closed = joined(both[:, 0], both[:, 1] - both[:, 0])
            wanted = nearest_free(closed, 0.0, keep=float(self.elbow.arm_angle(q)))
            if not math.isnan(wanted):
                self._go(wanted)

    def remove(self) -> None:
        """Take everything away that was drawn."""
        if self._ring is not None:
            self._ring.remove()
        self._ring = None
        self.obstacles.clear()
        self.angle.disabled, self.status.content = True, ""

    def _go(self, angle: float) -> None:
        assert self.elbow is not None
        q = self.stand.scene.q
        try:
            moved = self.elbow.along_branch(self.robot.pose(q, self.stand.tip), q, angle)
        except LinkworkError as error:
            self.status.content = str(error)
            return
        self._working = True
        try:
            self.stand.show(moved)
        finally:
            self._working = False
        self._draw(self.stand.scene.q)

    def _draw(self, q: np.ndarray) -> bool:
        """The ring at q in its colours; says whether there is one."""
        assert self.elbow is not None
        try:
            here = float(self.elbow.arm_angle(q))
            pose = self.robot.pose(q, self.stand.tip)
            swing = self.elbow.swing(pose, "ring")
            self.arcs = self.elbow.forbidden(pose, self.obstacles.obstacles, self.volume)
            self.limited = self.elbow.beyond_limits(pose, q)
            clearance = self.elbow.clearance(pose, here, self.obstacles.obstacles, self.volume)
        except LinkworkError as error:
            self.status.content = str(error)
            return False
        edges = np.linspace(-np.pi, np.pi, SEGMENTS + 1)
        middle = (edges[1:] + edges[:-1]) / 2
        self.colors = np.tile(np.array(FREE, dtype=np.uint8), (SEGMENTS, 1))
        self.colors[_inside(self.limited, middle)] = LIMITED
        self.colors[_inside(self.arcs, middle)] = TOUCHING
        elbow0 = self.elbow.points(pose, 0.0)[1]
        center = elbow0 - (elbow0 - swing[:3]) @ swing[6:9] * swing[6:9]
        radius = (elbow0 - swing[:3]) @ swing[6:9]
        at = center + radius * (
            np.cos(edges)[:, None] * swing[6:9] + np.sin(edges)[:, None] * swing[9:12]
        )
        ends = np.stack([at[:-1], at[1:]], axis=1).astype(np.float32)
        colors = np.repeat(self.colors[:, None], 2, axis=1)
        self._ring = self.server.scene.add_line_segments(
            f"{self.stand.scene.root}/arm angle",
            ends,
            colors,
            thickness=0.012 * self.stand.scene.size,
        )
        self.angle.value = float(
            np.clip(math.degrees((here + np.pi) % (2 * np.pi) - np.pi), -180.0, 180.0)
        )
        share = float((self.colors == FREE).all(axis=1).mean())
        least = f", clearance {1e3 * clearance.min():.0f} mm" if len(clearance) else ""
        self.status.content = (
            f"arm angle {math.degrees(here):.1f} deg, {share:.0%} of the ring is free{least}"
        )
        return True


def _inside(arcs: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Whether angles (n,) lie in arcs (k, 2)."""
    return (((angles[:, None] - arcs[:, 0]) % (2 * np.pi)) < arcs[:, 1] - arcs[:, 0]).any(axis=1)
