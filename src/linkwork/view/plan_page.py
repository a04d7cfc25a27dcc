"""Plan page: drag the goal, the start or an obstacle, and a path that is proved free follows."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from linkwork.collision import CollisionModel
from linkwork.collision import model as collision_model
from linkwork.errors import LinkworkError
from linkwork.planning import Plan, plan
from linkwork.view.ghosts import Ghosts
from linkwork.view.handles import Handles
from linkwork.view.newest import Newest
from linkwork.view.obstacle_page import ObstaclePage
from linkwork.view.path_samples import along

FRAME = 1.0 / 30.0
"""Time of the search [s] while a person drags."""
PATIENT = 1.0
"""Time of the search [s] when the drag has ended without a path."""
GHOSTS, SAMPLES = 6, 80
_KINDS = {"sphere", "capsule", "box", "cylinder", "tapered_capsule"}


class PlanPage(ObstaclePage):
    """Start, goal and the path between them, followed while one of them is dragged."""

    def __init__(self, stand: Any) -> None:
        super().__init__(stand)
        gui = self.server.gui
        with gui.add_folder("Planning", expand_by_default=False):
            self.shown = gui.add_checkbox("plan a path", False)
            self.file = gui.add_text("obstacles file", "")
            self.ball = gui.add_button("add a ball to drag")
            self.here = gui.add_button("start from here")
            self.ghosts_shown = gui.add_checkbox("ghosts along the path", True)
            self.status = gui.add_markdown("")
            self.chart: Any = None
            self.play = gui.add_button("play the fastest motion", disabled=True)
            self.chart_folder = gui.add_folder("speed over time", visible=False)
        self.model: CollisionModel | None = None
        self.answer: Plan | None = None
        self.law: Any = None
        self.motion_clearance = math.nan  # of the law; NaN where it is not known
        self.milliseconds = 0.0
        self.start = self.goal = stand.scene.q
        self.ghosts = Ghosts(stand.scene, opacity=0.25)
        self._line: Any = None
        self.trouble = ""  # why what was dragged there cannot be planned
        newest = Newest(self.follow, self.settled)
        self.gizmos = Handles(newest)
        self._listen(newest, "plan obstacle")
        self.ghosts_shown.on_update(lambda _: self._draw())
        self.here.on_click(lambda _: self.start_here())
        self.play.on_click(lambda _: self.play_it())

    def begin(self, answer: Plan, law: Any, file: Any = None) -> None:
        """Show a plan that was made elsewhere, with the obstacles of a file;
        from there on it can be dragged."""
        self.model = answer.model
        self.file.value, self.shown.value = "" if file is None else str(file), True
        self.restart()
        clear = math.nan if law is None else answer.clearance_of(law)
        with self.stand.lock:
            self.start = answer.path[0]
            self.goal = answer.path[-1]
            self.answer = answer
            self.law = law
            for name, q in (("start", self.start), ("goal", self.goal)):
                self._put(name, q)
            self.milliseconds = 1e3 * sum(answer.seconds.values())
            self.motion_clearance = clear
            self.play.disabled = law is None
            self._draw()
            self._say()
            if law is not None:
                self._show_law()

    def restart(self) -> None:
        """Begin with the robot where it is, start and goal in one place; or take everything
        away."""
        with self.stand.lock:
            self.remove()
            if not self.shown.value or not self._ready():
                return
            self.start = self.goal = self.stand.scene.q
            for name in ("start", "goal"):
                self._add_gizmo(name)
            self.status.content = "drag the goal away from the tool"

    def _prepare(self) -> None:
        if self.model is None:
            kinds = {shape.kind for body in self.robot.model.bodies for shape in body.collisions}
            self.model = collision_model(self.robot, "described" if kinds <= _KINDS else "capsules")

    def add_ball(self) -> None:
        """A ball beside the tool, to drag."""
        if not self.shown.value:
            return
        size = self.stand.scene.size
        at = self.robot.pose(self.stand.scene.q, self.stand.tip)[:3, 3] + np.array(
            [0.0, 0.0, 0.25 * size]
        )
        self._put_ball(at, 0.06 * size)

    def start_here(self) -> None:
        """The path begins where the robot stands."""
        with self.stand.lock:
            self.start = self.stand.scene.q
            self._put("start", self.start)
        self._newest()

    def drag(self, name: str, position: np.ndarray, wxyz: np.ndarray) -> None:
        """The start or the goal is elsewhere."""
        self.gizmos.drag(name, position, wxyz)

    def follow(self, time_limit: float = FRAME) -> None:
        """Plan, shorten, certify, draw."""
        with self.stand.lock:
            if self.model is None or not self.shown.value:
                return
            self.trouble = self._reach()
            if self.trouble:
                self._say()
                return
            start, goal, around = self.start, self.goal, self.obstacles.obstacles
        clock = time.perf_counter()
        try:
            answer = plan(self.model, start, goal, around, time_limit=time_limit)
        except LinkworkError as error:
            self.trouble = str(error)
            self._say()
            return
        self.milliseconds = 1e3 * (time.perf_counter() - clock)
        with self.stand.lock:
            if self.stand.removed:
                return
            self.answer, self.law, self.play.disabled = answer, None, True
            self._draw()
            self._say()

    def _reach(self) -> str:
        """The postures of start and goal where they were dragged to, each the nearest to the one
        before, by inverse kinematics; why not, where there is none."""
        for name, T in self.gizmos.dragged():
            before = self.goal if name == "goal" else self.start
            try:
                result = self.robot.inverse_kinematics(T, self.stand.tip, q0=before)
            except LinkworkError as error:
                return str(error)
            if not bool(np.all(result.success)):
                return f"{name} not reached: {result.reason}"
            q = np.asarray(result.q, dtype=float)
            if name == "goal":
                self.goal = q
            else:
                self.start = q
        return ""

    def settled(self) -> None:
        """The drag has ended: a patient search where there was no path,
        and the fastest motion along the path."""
        if self.answer is not None and self.answer.reason.startswith("no path"):
            self.follow(PATIENT)
        answer = self.answer
        if answer is None or not answer.success or len(answer.path) < 2 or answer.length < 1e-9:
            return
        if self.law is not None:  # the hand has changed nothing that can be planned
            return
        try:
            law = answer.timed()
        except LinkworkError as error:
            self.status.content += f"\n\nno time law: {error}"
            return
        if self.answer is not answer:  # dragged on meanwhile
            return
        clear = answer.clearance_of(law)
        with self.stand.lock:
            if self.answer is answer and not self.stand.removed:
                self.law, self.motion_clearance, self.play.disabled = law, clear, False
                self._say()
                self._show_law()

    def play_it(self) -> None:
        """The fastest motion as the motion of the viewer."""
        if self.law is None:
            return
        instants = np.linspace(0.0, float(self.law.duration), 200)
        q, v, a = self.law.at(instants)
        self.stand.viewer.load_motion({"time": instants, "q": q, "v": v, "a": a}, self.stand)
        self.stand.viewer.playing.value = True

    def remove(self) -> None:
        """Take everything away that was drawn."""
        self.gizmos.clear()
        if self._line is not None:
            self._line.remove()
        self._line, self.answer, self.law, self.trouble = None, None, None, ""
        self.ghosts.hide()
        self.obstacles.clear()
        self.play.disabled, self.chart_folder.visible = True, False
        self.status.content = ""

    def _add_gizmo(self, name: str) -> None:
        path, size = f"{self.stand.scene.root}/plan {name}", 0.14 if name == "goal" else 0.1
        gizmo = self.server.scene.add_transform_controls(
            path, scale=size * self.stand.scene.size, line_width=3.0
        )
        self.gizmos.listen(name, gizmo)
        self._put(name, self.goal if name == "goal" else self.start)

    def _put(self, name: str, q: np.ndarray) -> None:
        if name in self.gizmos:
            self.gizmos.put(name, self.robot.pose(q, self.stand.tip))

    def _draw(self) -> None:
        answer = self.answer
        if answer is None or not answer.success or len(answer.path) < 2:
            self.ghosts.hide()
            if self._line is not None:
                self._line.visible = False
            return
        points = self.robot.pose(along(answer.path, SAMPLES), self.stand.tip)[:, :3, 3]
        self._line = self.stand.scene.trail("plan", points)
        self.ghosts.show(
            along(answer.path, GHOSTS) if self.ghosts_shown.value else np.zeros((0, self.robot.nq))
        )

    def _say(self) -> None:
        if self.trouble:
            self.status.content = self.trouble
            return
        answer = self.answer
        if answer is None:
            return
        took = f"in {self.milliseconds:.1f} ms"
        if not answer.success:
            self.status.content = f"{answer.reason} ({took})"
            return
        # of the motion in time as soon as there is one:
        # its corners are rounded and may come nearer than the path
        clear = answer.bound if self.law is None else self.motion_clearance
        proof = "not proved"
        if answer.certified:
            known = math.isfinite(clear)
            proof = (
                f"proved free, at least {1e3 * clear:.1f} mm clear"
                if known
                else "the path alone proved free"
            )
        words = f"length {answer.length:.3f}, {len(answer.path)} waypoints, {proof}, {took}"
        if self.law is not None:
            words += f"; fastest motion {self.law.duration:.2f} s"
        self.status.content = words

    def _show_law(self) -> None:
        """The speed of the fastest motion over time, as the size of the joint velocities."""
        instants = np.linspace(0.0, float(self.law.duration), 120)
        _, v, _ = self.law.at(instants)
        data = (instants, np.linalg.norm(v, axis=1))
        if self.chart is None:
            with self.chart_folder:
                self.chart = self.server.gui.add_uplot(
                    data,
                    (
                        {"label": "time [s]"},
                        {"label": "speed [rad/s]", "stroke": "#d1495b", "width": 2},
                    ),
                    scales={"x": {"time": False}},
                    axes=({"size": 28}, {"size": 52}),
                    legend={"show": False},
                    height=160,
                )
        else:
            self.chart.data = data
        self.chart_folder.visible = True
