"""Stand: one robot in the viewer with its controls."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwork.actuation.coordinates import commands_of
from linkwork.errors import LinkworkError, UnknownName, did_you_mean
from linkwork.loops.assembly import has_closures
from linkwork.robot import Robot
from linkwork.view.columns import column_names, unit
from linkwork.view.frame_tree import FrameTree
from linkwork.view.live_plots import LivePlot
from linkwork.view.load_arrows import LoadArrows
from linkwork.view.load_vectors import load_vectors
from linkwork.view.panels import panels_for
from linkwork.view.playback import Playback
from linkwork.view.scene import RobotScene
from linkwork.view.sliders import ActuatorSliders, Coordinate, JointSliders, has_own_commands
from linkwork.view.target import Target

NOTHING = "(none)"
TRAIL = 500
"""Points of the trail of a robot that a person moves."""


def _told(work: Callable[..., None]) -> Callable[..., None]:
    """What a person asks for and the robot cannot do is said in the stand's status line."""

    @functools.wraps(work)
    def guarded(self: Stand, *arguments: Any) -> None:
        if self.removed:
            return
        self.status.content = ""
        try:
            work(self, *arguments)
        except LinkworkError as error:
            self.status.content = str(error)

    return guarded


class Stand:
    """A robot with sliders, options, a target, a motion and plots, in one tab of the viewer."""

    def __init__(
        self, viewer: Any, robot: Robot, root: str, at: tuple[float, float, float]
    ) -> None:
        self.viewer, self.robot, self.server, self.lock = viewer, robot, viewer.server, viewer.lock
        self.scene = RobotScene(self.server, robot, root, at)
        self.tip = robot.model.frames[-1].name if robot.model.frames else robot.bodies[-1]
        self.removed = False
        self.playback: Playback | None = None
        self.plots: dict[str, LivePlot] = {}
        self._trail: Any = None
        self._path: list[np.ndarray] = []
        self.tab = viewer.tabs.add_tab(robot.name)
        gui = self.server.gui
        with self.tab:
            self.status = gui.add_markdown("")
            self.motion = gui.add_dropdown(
                "motion", (NOTHING, *robot.motions), visible=bool(len(robot.motions))
            )
            self.motion.on_update(
                lambda event: self._choose_motion() if event.client is not None else None
            )
            self._add_options(gui)
            self._add_plots(gui)
            self.target = Target(self)
            self.frame_tree = FrameTree(self)
            self._folders = (
                gui.add_folder("Actuators", visible=has_own_commands(robot)),
                gui.add_folder("Joints", expand_by_default=len(robot.joints) <= 8),
            )
            self._add_sliders()
            self.panels = panels_for(self)
        if self.scene.missing:
            self.status.content = (
                f"{len(self.scene.missing)} meshes are missing, such as {self.scene.missing[0]}"
            )
        self.sliders_follow()

    @property
    def degrees(self) -> bool:
        """Whether angles are shown in degrees."""
        return bool(self.viewer.angles.value == "degrees")

    @property
    def trails(self) -> tuple[str, ...]:
        """Frames whose trail is drawn."""
        return () if self.trail_frame.value == NOTHING else (self.trail_frame.value,)

    def angles_changed(self) -> None:
        """Sliders in the unit that is chosen now."""
        with self.lock, self.server.atomic():
            self.actuators.remove()
            self.joints.remove()
            self._add_sliders()
            self.sliders_follow()

    def _add_sliders(self) -> None:
        gui = self.server.gui
        with self._folders[0]:
            self.actuators = ActuatorSliders(
                gui, self.robot, self.scene.q, self._command, self.degrees
            )
        with self._folders[1]:
            self.joints = JointSliders(gui, self.robot, self._joint, self.degrees)

    def show(self, q: np.ndarray) -> None:
        """Move the robot to q (nq,), its sliders and loads with it."""
        with self.lock:
            if self.removed:  # a slider was moved while the robot was taken away
                return
            self.scene.move(q)
            self.sliders_follow()
            if self.scene.loads.wanted:
                self._show_static_loads()
            if self.playback is None:
                self._record()
                self._path = (
                    [*self._path, self._trail_point()][-TRAIL:]
                    if self.trail_frame.value != NOTHING
                    else []
                )
                self._draw_trail()

    def sliders_follow(self) -> None:
        """Put the sliders, and the panels of rooms, where the robot is."""
        q = self.scene.q
        self.joints.show(q)
        try:
            self.actuators.show(q)
        except LinkworkError:  # a posture that its struts cannot hold: their sliders stay
            pass
        self.frame_tree.show(q)
        for panel in self.panels.values():
            panel.show(q)

    def load_motion(self, motion: str | Mapping[str, Any]) -> Playback:
        """Take a motion by name or as arrays (see `Playback`), and show its start."""
        playback = Playback(self.robot, motion)
        with self.lock:
            self.playback = playback
            if isinstance(motion, str):
                self.motion.value = motion
            self._draw_trail()
            for column, plot in self.plots.items():
                plot.set(playback.time, playback.columns[column])
            self.seek(0.0)
            self.sliders_follow()
        return playback

    def seek(self, t: float) -> None:
        """Show the motion at t [s] after its start, or its end where it is over.
        The caller holds the lock."""
        if self.playback is None:
            return
        k = self.playback.row(t)
        self.scene.show(self.playback.postures, k)
        if self.scene.loads.wanted:
            vectors = self.playback.vectors_if_ready()
            if vectors is not None:
                self.scene.loads.show(vectors, k)
                self._say_loads(vectors)
            elif self.playback.failed:
                self.status.content = self.playback.failed

    def plot(self, column: str) -> LivePlot:
        """A column of the motion (see `robot.analyse(...).names`) as a live plot beside the
        scene."""
        names = column_names(self.robot)
        if column not in names:
            raise UnknownName(f'viewer: there is no column "{column}"{did_you_mean(column, names)}')
        times, columns = self._columns()  # may compile for seconds: the robot moves on meanwhile
        with self.lock:
            if column not in self.plots:
                title = f"{self.robot.name}: {column} [{unit(self.robot, column)}]".removesuffix(
                    " []"
                )
                plot = self.viewer.add_plot(title, times, columns[column])
                plot.remove_button.on_click(lambda _: self.unplot(column))
                self.plots[column] = plot
            return self.plots[column]

    def unplot(self, column: str) -> None:
        """Take a plot away."""
        with self.lock:
            self.plots.pop(column).remove()
            self.viewer.plots_changed()

    def trail(self, frame: str | None) -> None:
        """The path of a frame over the motion, or from now on where there is none;
        None takes it away."""
        with self.lock:
            self.trail_frame.value = NOTHING if frame is None else frame

    def remove(self) -> None:
        """Take the robot and its controls away."""
        with self.lock:
            self.removed = True
            for column in list(self.plots):
                self.unplot(column)
            for panel in self.panels.values():
                panel.remove()
            self.tab.remove()
            self.scene.remove()

    def _add_options(self, gui: Any) -> None:
        weightless = self.robot.model.kinematic_only
        choices: dict[str, Callable[[bool], None]] = {
            "frames": self.scene.show_axes,
            "named points": self.scene.show_points,
        }
        if not weightless:
            choices |= {
                "centre of mass": self.scene.show_center_of_mass,
                "inertia boxes": self.scene.show_inertia,
            }
            choices |= {
                kind: functools.partial(self._choose_loads, kind) for kind in LoadArrows.KINDS
            }
        self.options: dict[str, Any] = {}
        with gui.add_folder("Shown", expand_by_default=False):
            for label, work in choices.items():
                box = gui.add_checkbox(label, False)
                box.on_update(lambda _, box=box, work=work: self._option(work, box))
                self.options[label] = box
            self.trail_frame = gui.add_dropdown(
                "trail of", tuple(dict.fromkeys((NOTHING, *self.robot.frames)))
            )
            self.trail_frame.on_update(lambda _: self._trail_chosen())
            self.legend = gui.add_markdown("")

    def _add_plots(self, gui: Any) -> None:
        with gui.add_folder("Plots", expand_by_default=False):
            self.column = gui.add_dropdown("column", column_names(self.robot))
            button = gui.add_button("plot it")
        button.on_click(lambda _: self._plot_chosen())

    @_told
    def _plot_chosen(self) -> None:
        self.plot(self.column.value)

    @_told
    def _trail_chosen(self) -> None:
        with self.lock:
            self._path = []
            self._draw_trail()

    @_told
    def _option(self, work: Callable[[bool], None], box: Any) -> None:
        with self.lock:  # each click comes in a thread of its own
            work(bool(box.value))

    def _choose_loads(self, kind: str, shown: bool) -> None:
        self.scene.loads.choose(kind, shown)
        if not self.scene.loads.wanted:
            self.legend.content = ""
        elif self.playback is None:
            self._show_static_loads()
        else:
            self.seek(self.viewer.time)

    def _show_static_loads(self) -> None:
        """What holds the robot still where it stands."""
        still = self.robot.analyse({"time": np.zeros(1), "q": self.scene.q[None]})
        vectors = load_vectors(still)
        self.scene.loads.show(vectors, 0)
        self._say_loads(vectors)

    def _say_loads(self, vectors: Any) -> None:
        shown, words = self.scene.loads.shown, []
        if shown["joint forces"]:
            words.append(f"force {vectors.largest_force:.4g} N")
        if shown["joint moments"]:
            words.append(f"moment {vectors.largest_moment:.4g} N m")
        if shown["actuator loads"]:
            words.append(f"actuators {vectors.largest_push:.4g} N, {vectors.largest_turn:.4g} N m")
        text = f"red is the largest: {'; '.join(words)}" if words else ""
        if self.legend.content != text:
            self.legend.content = text

    @_told
    def _choose_motion(self) -> None:
        if self.motion.value != NOTHING:
            self.viewer.load_motion(self.motion.value, self)
            return
        with self.lock:
            self.playback = None
            self._draw_trail()
            for plot in self.plots.values():
                plot.clear()

    @_told
    def _joint(self, coordinate: Coordinate, value: float) -> None:
        with self.lock:
            self.viewer.playing.value = False
            q = self.scene.q
            coordinate.write(q, value)
            if has_closures(self.robot.subject):
                assembled = self.robot.assemble(q, hold=[coordinate.joint])
                if not assembled.success:
                    self.status.content = str(assembled.reason)
                    return
                q = assembled.q
            self.show(q)

    @_told
    def _command(self, entry: int, value: float) -> None:
        with self.lock:
            self.viewer.playing.value = False
            q = self.scene.q
            c, _, _ = commands_of(self.robot.subject, q)
            c[entry] = value
            moved, _, _ = self.robot.from_actuators(c, q0=q)
            self.show(moved)

    def _trail_point(self) -> np.ndarray:
        return np.asarray(self.robot.pose(self.scene.q, self.trail_frame.value)[:3, 3])

    def _draw_trail(self) -> None:
        """The path of the chosen frame: over the whole motion, or where a person has moved it."""
        with self.lock:
            if self._trail is not None:
                self._trail.remove()
                self._trail = None
            if self.trail_frame.value == NOTHING:
                return
            path = np.array(self._path).reshape(-1, 3)
            if self.playback is not None:
                path = self.robot.pose(self.playback.postures.q, self.trail_frame.value)[:, :3, 3]
            if len(path) > 1:
                self._trail = self.scene.trail("trail", path)

    def _record(self) -> None:
        """Without a motion the plots show what happens while a person moves the robot."""
        if self.plots:
            _, columns = self._columns()
            now = time.monotonic()
            for name, plot in self.plots.items():
                plot.append(now, float(columns[name][-1]))

    def _columns(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """(time, columns) of the motion; of standing still where there is none."""
        if self.playback is None:
            times = np.array([0.0, 1.0])
            return times, Playback(
                self.robot, {"time": times, "q": np.repeat(self.scene.q[None], 2, axis=0)}
            ).columns
        return self.playback.time, self.playback.columns
