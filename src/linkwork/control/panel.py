"""The part of the viewer about control: the robot moving in its loop, with gains,
target and payload to drag."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.view.control_bench import DURATION, LAWS, Bench, Frame
from linkwork.view.control_pictures import map_picture
from linkwork.view.postures import postures
from linkwork.view.sliders import by_person

RATE = 30.0
"""Frames a second of the robot in its loop; a new response takes less than one of them."""
PAUSE = 0.5
"""Rest at the end of a run before it begins again [s]."""
FAR = 1e3
"""Joints of an unstable loop are drawn until here [rad, m]."""
BESIDE = 4.0
"""Frames a second of the robot while a hand moves:
a browser that draws in software has its time for the curves."""
MARKED = 0.2
"""Seconds between two pictures of the stability map and two sentences while a hand moves.

People read no faster; a picture costs as much as the run itself, and new words lay out everything
below them anew.
"""
VARIES = (0.5, 1.5)
"""Range of a live variable's slider, times its present value."""


def panel(stand: Any) -> ControlPanel | None:
    """A folder in the robot's tab, of robots with masses and plain joints."""
    robot = stand.robot
    plain = robot.nv > 0 and robot.nq == robot.nv and not robot.model.kinematic_only
    return ControlPanel(stand) if plain else None


class ControlPanel:
    """Nothing is computed before a person switches the bench on;
    then every hand movement gives a new response."""

    def __init__(self, stand: Any) -> None:
        self.stand, self.robot, self.server = stand, stand.robot, stand.server
        gui = self.server.gui
        with gui.add_folder("Control bench", expand_by_default=False):
            self.shown = gui.add_checkbox("robot in its loop", False)
            self.status = gui.add_markdown("")
        self.shown.on_update(lambda _: self._switched())
        self.bench: Bench | None = None
        self.frames = 0
        self.last: Frame | None = None
        self._controls: Any = None
        self._rows: Any = None
        self._began = 0.0
        self._asked, self._map_asked = threading.Event(), threading.Event()
        self._running = False
        self._radii = np.zeros((0, 0))
        self._marked, self._stale, self._moved_at = 0.0, False, 0.0
        self._sentence = ""

    def show(self, q: np.ndarray) -> None:
        """A person has put the robot elsewhere: the run begins there."""
        if self.bench is not None and self._running and self.stand.playback is None:
            self.bench.begin(q)
            self._place_gizmo()
            self._ask(True)

    def remove(self) -> None:
        """The robot goes: threads end, and what was drawn goes with it."""
        self._stop()

    # switching on and off

    def _switched(self) -> None:
        try:
            with self.stand.lock:
                self._stop()
                if self.shown.value:
                    self._start()
        except LinkworkError as error:
            self.status.content = str(error)

    def _start(self) -> None:
        self.stand.viewer.playing.value = False
        self.stand.viewer.cast_shadows(False)  # the curves need the browser's time
        self.bench = bench = Bench(self.robot, self.stand.tip)
        bench.begin(self.stand.scene.q)
        gui = self.server.gui
        self.tab = self.stand.viewer.side_tab(f"Control: {self.robot.name}")
        self._add_plots(gui)
        self._add_controls(gui)
        self.gizmo = self.server.scene.add_transform_controls(
            f"{self.stand.scene.root}/loop target",
            scale=0.16 * self.stand.scene.size,
            line_width=3.0,
            disable_rotations=True,
        )
        self._place_gizmo()
        self.gizmo.on_update(lambda _: self._dragged())
        self._running = True
        self._began = time.perf_counter()
        for work in (self._work, self._play):
            threading.Thread(target=work, daemon=True).start()
        self._ask(True)

    def _stop(self) -> None:
        if not self._running:
            return
        self._running = False
        self._asked.set()
        self._controls.remove()
        self.gizmo.remove()
        self.stand.viewer.tab_removed(self.tab)
        self.stand.viewer.cast_shadows(True)
        self.status.content, self._rows, self.last = "", None, None

    def _add_plots(self, gui: Any) -> None:
        flat = (np.array([0.0, 1.0]), np.zeros(2), np.zeros(2))

        def chart(title: str, across: str, first: str, second: str = "") -> Any:
            series: list[dict[str, Any]] = [{"label": across}]
            colours = ("#3b6ea5", "#c8553d")
            for name, colour in zip((first, second) if second else (first,), colours, strict=False):
                series.append(
                    {"label": name, "stroke": colour, "width": 2, "points": {"show": False}}
                )
            return gui.add_uplot(
                flat[: len(series)],
                tuple(series),
                title=title,
                scales={"x": {"time": False}},
                axes=({"size": 28}, {"size": 52}),
                legend={"show": False},
                height=150,
            )

        with self.tab:
            self.words = gui.add_markdown("")
            self.response = chart(
                "joint and its goal [rad, m] over time [s]", "time", "joint", "goal"
            )
            self.force = chart("its force [N m, N] over time [s]", "time", "force")
            self.magnitude = chart(
                "loop gain [dB] over log10 frequency [rad/s]", "frequency", "gain"
            )
            self.phase = chart("phase [deg] over log10 frequency [rad/s]", "frequency", "phase")
            self.picture = gui.add_image(
                np.full((8, 8, 3), 255, np.uint8), label="stability map", format="png"
            )
            self.map_words = gui.add_markdown("")

    def _add_controls(self, gui: Any) -> None:
        bench = self.bench
        assert bench is not None
        with self.stand.tab:
            self._controls = gui.add_folder(f"Loop of {self.robot.name}")
        law = LAWS[bench.law]
        with self._controls:
            self.law = gui.add_dropdown("law", tuple(LAWS), initial_value=bench.law)
            self.gains = [
                gui.add_slider(
                    f"log10 {g.label}", np.log10(g.low), np.log10(g.high), 0.01, np.log10(g.first)
                )
                for g in law.gains
            ]
            self.joint = gui.add_dropdown("plotted joint", self.robot.joints)
            self.period = gui.add_slider("period [ms]", 0.5, 10.0, 0.5, 1e3 * bench.period)
            self.delay = gui.add_slider("delay [periods]", 0, 3, 1, bench.delay)
            self.mass = gui.add_slider("payload [kg]", 0.0, 5.0, 0.05, bench.mass)
            self.known = gui.add_checkbox("the law knows it", bench.known)
            self.variables = {
                name: gui.add_slider(
                    name, *sorted(x * share for share in VARIES), abs(x) / 500 or 1e-3, x
                )
                for name, x in bench.variables.items()
            }
        self.law.on_update(lambda _: self._law_chosen())
        for slider in self.gains:
            slider.on_update(by_person(lambda _: self._gains_moved()))
        for control in (self.joint, self.known):
            control.on_update(lambda _: self._moved())
        for slider in (self.period, self.delay, self.mass, *self.variables.values()):
            slider.on_update(by_person(lambda _: self._moved()))

    # what a hand does

    def _gains_moved(self) -> None:
        if self.bench is not None and self._running:
            self.bench.gains[self.bench.law] = (
                10.0 ** self.gains[0].value,
                10.0 ** self.gains[1].value,
            )
            self._ask(False)

    def _moved(self) -> None:
        bench = self.bench
        if bench is None or not self._running:
            return
        bench.joint = self.robot.joints.index(self.joint.value)
        bench.period, bench.delay = 1e-3 * float(self.period.value), int(self.delay.value)
        bench.mass, bench.known = float(self.mass.value), bool(self.known.value)
        bench.variables = {name: float(slider.value) for name, slider in self.variables.items()}
        self._ask(True)

    def _law_chosen(self) -> None:
        bench = self.bench
        if bench is None or not self._running or self.law.value not in LAWS:
            return
        bench.law = self.law.value
        self._radii = np.zeros((0, 0))  # of the law before
        for slider, gain, now in zip(
            self.gains, LAWS[bench.law].gains, bench.gains[bench.law], strict=True
        ):
            slider.label = f"log10 {gain.label}"
            slider.min, slider.max = float(np.log10(gain.low)), float(np.log10(gain.high))
            slider.value = float(np.log10(now))
        self._ask(True)

    def _dragged(self) -> None:
        if self.bench is not None and self._running:
            self.bench.drag(np.array(self.gizmo.position, dtype=float))
            self._ask(True)

    def _place_gizmo(self) -> None:
        assert self.bench is not None
        self.gizmo.position = self.robot.pose(self.bench.goal, self.bench.frame)[:3, 3]

    def _ask(self, map_too: bool) -> None:
        self._moved_at = time.perf_counter()
        if map_too:
            self._map_asked.set()
        self._asked.set()

    # the two threads

    def _work(self) -> None:
        """A response for what is set now; the map when no hand moves on meanwhile,
        or at the latest after a few."""
        waited = 0
        self._told(self.step)
        self.stand.viewer.look()  # the curves beside the scene have taken a part of it
        while self._running:
            if not self._asked.wait(MARKED) and not self._map_asked.is_set():
                if self._stale:
                    self._mark()
                continue
            if self._asked.is_set():
                self._asked.clear()
                self._told(self.step)
                waited += 1
            if (
                self._running
                and self._map_asked.is_set()
                and (not self._asked.is_set() or waited >= 3)
            ):
                self._map_asked.clear()
                waited = 0
                self._told(self.redraw_map)

    def _told(self, work: Any) -> None:
        try:
            work()
        except LinkworkError as error:
            if self._running:
                self._sentence = self.words.content = str(error)

    def step(self) -> None:
        """One second of the loop, its curves and words."""
        bench = self.bench
        if bench is None or not self._running:
            return
        began = time.perf_counter()
        frame = bench.response()
        alive = (np.abs(frame.q) < FAR).all(axis=1)  # also where q is no number
        rows = postures(self.robot, frame.q[alive]) if alive.any() else None
        taken = time.perf_counter() - began
        with self.server.atomic():
            self._draw(frame, taken)
        self.last, self._rows = frame, rows
        self.frames += 1

    def _draw(self, frame: Frame, taken: float) -> None:
        bench = self.bench
        assert bench is not None
        k, one, two = bench.joint, *bench.gains[bench.law]
        goal = np.full(len(frame.time), frame.goal[k])
        q, tau = (np.where(np.abs(x[:, k]) < 1e9, x[:, k], np.nan) for x in (frame.q, frame.tau))
        self.response.data = (frame.time, q, goal)
        self.force.data = (frame.time, tau)
        if len(frame.gain):
            across = np.log10(frame.frequency)
            self.magnitude.data = (across, 20.0 * np.log10(np.maximum(np.abs(frame.gain), 1e-12)))
            self.phase.data = (across, np.degrees(np.unwrap(np.angle(frame.gain))))
        for chart in (self.magnitude, self.phase, self.picture):
            chart.visible = bool(len(frame.gain))
        labels = [gain.label for gain in LAWS[bench.law].gains]
        self._sentence = (
            f"{labels[0]} = {one:.4g}, {labels[1]} = {two:.4g}. {frame.words} "
            f"{DURATION:g} s of the loop in {1e3 * taken:.0f} ms."
        )
        self._stale = True
        if time.perf_counter() - self._marked > MARKED:
            self._mark()

    def redraw_map(self) -> None:
        """Where the loop is stable over both gains."""
        bench = self.bench
        if bench is None or not self._running:
            return
        self._radii = bench.map()
        first, second = LAWS[bench.law].gains
        if not self._radii.size:
            self.map_words.content = (
                "A law that switches has no linear loop: no Bode plot and no map."
            )
            return
        self._mark()
        self.map_words.content = (
            f"across: {first.label}, {first.low:g} .. {first.high:g}; up: {second.label}, "
            f"{second.low:g} .. "
            f"{second.high:g}, both logarithmic. Red is unstable, dark green fades fastest; the "
            "cross is here."
        )

    def _mark(self) -> None:
        """The verdict in words, and the map with the present gains on it:
        the same map while only they move."""
        bench = self.bench
        assert bench is not None
        self._marked, self._stale = time.perf_counter(), False
        self.words.content = self._sentence
        if self._radii.size:
            pairs = zip(bench.gains[bench.law], LAWS[bench.law].gains, strict=True)
            at = [float(np.log(now / g.low) / np.log(g.high / g.low)) for now, g in pairs]
            self.picture.image = map_picture(self._radii, at[0], at[1])

    def _play(self) -> None:
        """The robot goes through the newest run again and again, in its own time."""
        while self._running:
            moving = time.perf_counter() - self._moved_at < MARKED
            time.sleep(1.0 / (BESIDE if moving else RATE))
            rows, frame = self._rows, self.last
            if rows is None or frame is None or self.stand.viewer.playing.value:
                continue
            now = (time.perf_counter() - self._began) % (DURATION + PAUSE)
            k = min(int(now / DURATION * (len(frame.time) - 1)), len(rows) - 1)
            with self.stand.lock:
                if self._running and not self.stand.removed:
                    self.stand.scene.show(rows, k)
