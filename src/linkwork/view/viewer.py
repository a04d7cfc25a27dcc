"""Viewer: robots in the browser with sliders, motions, loads, plots and targets to drag."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.errors import InvalidInput, LinkworkError, NotPossible, UnknownName, did_you_mean
from linkwork.formats.installed import installed_file
from linkwork.interrupts import wait_until
from linkwork.library import load, robots
from linkwork.robot import Robot
from linkwork.view.cameras import SHADOW, add_ground, aim, corners_of, lay_ground, sees
from linkwork.view.gate import count_lost_tasks, gated
from linkwork.view.live_plots import LivePlot
from linkwork.view.saving import Saving
from linkwork.view.sliders import by_person, put
from linkwork.view.stand import Stand

FRAMES_PER_SECOND = 50
SLIDERS_PER_SECOND = 8
"""While a motion plays, sliders and plots follow at this rate: people read them no faster,
and forty cost much."""


class Viewer:
    """Serves robots to browsers. `port=0` takes a free one; `address` is what to open.
    Closed by `close()` or `with`.

    viewer.add(other)              a second robot beside the first
    viewer.load_motion(motion)     a named motion, or arrays; viewer.playing.value = True plays it
    viewer.stands[0]               sliders, options, target and plots of the first robot
    viewer.gate.counts             what was refused and what failed on connections, by reason
    viewer.server                  viser's own server, to draw anything else
    """

    def __init__(
        self, robot: Robot, host: str = "127.0.0.1", port: int = 8080, names: Sequence[str] = ()
    ) -> None:
        """host: who may connect; names: more names by which browsers reach this machine
        (a proxy's, say)."""
        try:
            import viser
        except ImportError:
            raise NotPossible(
                'the viewer needs the extra "view": pip install "linkwork[view]"'
            ) from None
        if not host.strip():
            raise InvalidInput(
                "viewer: host is empty, which would be every machine; say 0.0.0.0 if you mean that"
            )
        if not 0 <= port <= 65535:
            raise InvalidInput(f"viewer: port is {port}, expected 0 (any free one) to 65535")
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise InvalidInput(f"viewer: names is {names!r}, expected names of this machine")
        port = _free_port(host, port)
        self.lock = threading.RLock()
        self._closed = threading.Event()
        with quiet(), gated((host, *names)) as self.gate:
            self.server: Any = viser.ViserServer(
                host=host, port=port, label="linkwork", verbose=False
            )
        count_lost_tasks(self.server, self.gate)
        _whole_frames(self.server)
        self.port = int(self.server.get_port())
        self.address = f"http://{_reached_at(host)}:{self.port}"
        self._given: dict[str, Robot] = {}
        self.stands: list[Stand] = []
        self.time = 0.0
        self._numbers = iter(range(10**9))
        self._dress()
        self._add_robot_controls(robot)
        self._add_motion_controls()
        self.saving = Saving(self)
        self.tabs = self.server.gui.add_tab_group()
        self.panel: Any = None
        self._plot_tab: Any = None
        self._side_tabs = 0
        self.add(robot)
        self._player = threading.Thread(target=self._play, daemon=True)
        self._player.start()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def robot(self) -> Robot:
        """The first robot."""
        return self.stands[0].robot

    @property
    def scene(self) -> Any:
        """The scene of the first robot."""
        return self.stands[0].scene

    def close(self) -> None:
        """Stop serving."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._player.join(timeout=2.0)
        with quiet(), contextlib.suppress(AttributeError):
            self.server.stop()
            # its last act is to print; viser waits a second, too
            self.server._websock_server._server_thread.join(1.0)

    def wait(self, seconds: float | None = None) -> None:
        """Serve until Ctrl-C, or for some seconds."""
        wait_until(self._closed, seconds)
        self.close()

    def show(self, q: np.ndarray) -> None:
        """Move the first robot, its sliders with it,
        and cameras that would not see the whole of it."""
        self.stands[0].show(q)
        self.keep_in_picture()

    def add(self, robot: Robot | str) -> Stand:
        """One more robot beside the others: a robot, or a name that `known` has."""
        return self._stand(self._named(robot) if isinstance(robot, str) else robot, self.stands)

    def load(self, robot: Robot | str) -> Stand:
        """One robot in the place of all others."""
        chosen = self._named(robot) if isinstance(robot, str) else robot
        with self.lock:
            self.playing.value = False
            before = list(self.stands)
            stand = self._stand(chosen, [])
            for other in before:
                other.remove()
            self.time = self.scrub.value = 0.0
            self.scrub.disabled = True
            return stand

    def remove(self, stand: Stand) -> None:
        """Take one robot away."""
        with self.lock:
            self.stands.remove(stand)
            stand.remove()

    def known(self, name: str) -> bool:
        """Whether a browser may ask for this name: a built-in or installed description,
        or a robot given by a script.

        Never a path: who looks at the viewer cannot make it read files.
        """
        return name in self._given or name in robots() or installed_file(name) is not None

    def load_motion(self, motion: str | Mapping[str, Any], stand: Stand | None = None) -> None:
        """A motion for one robot (the first where none is said): a name,
        or arrays as `Playback` takes them."""
        with self.lock:
            (stand or self.stands[0]).load_motion(motion)
            # a label of few digits
            self.scrub.max = max(float(np.ceil(1e3 * self.duration - 1e-6)) / 1e3, 1e-3)
            self.scrub.disabled = False
        self.seek(0.0)
        self.keep_in_picture()

    @property
    def duration(self) -> float:
        """[s] of the longest motion."""
        return max(
            (s.playback.duration for s in self.stands if s.playback is not None), default=0.0
        )

    def seek(self, t: float) -> None:
        """Show every motion at a time [s]."""
        with self.lock:
            self.time = float(t)
            self._seek(self.time)
            self._follow(self.time)

    def add_plot(self, title: str, times: np.ndarray, values: np.ndarray) -> LivePlot:
        """A curve in the panel beside the scene."""
        with self.lock:
            if self._plot_tab is None:
                self._plot_tab = self._left_panel().add_tab("Plots")
            self.panel.visible = True
            with self._plot_tab:
                plot = LivePlot(self.server.gui, title, times, values)
            plot.show(self.time)
            return plot

    def side_tab(self, title: str) -> Any:
        """A tab of its own in the panel beside the scene, for a room's curves;
        `tab_removed` when it is gone."""
        with self.lock:
            self._side_tabs += 1
            self._left_panel().visible = True
            return self.panel.add_tab(title)

    def tab_removed(self, tab: Any) -> None:
        """Take such a tab away."""
        with self.lock:
            tab.remove()
            self._side_tabs -= 1
            self.plots_changed()

    def plots_changed(self) -> None:
        """The panel of plots is there as long as there are plots."""
        if self.panel is not None:
            self.panel.visible = self._side_tabs > 0 or any(stand.plots for stand in self.stands)

    def _left_panel(self) -> Any:
        if self.panel is None:
            self.panel = self.server.gui.add_panel()
            self.panel.dock_left()
            self.panel.set_width(340)
        return self.panel

    def look(self) -> None:
        """Turn every camera so that all robots are seen,
        over their whole motions where they have any."""
        low, high = self._bounds()
        lay_ground(self.grid, low, high)
        for camera, aspect in self._cameras():
            aim(camera, aspect, low, high)

    def cast_shadows(self, shown: bool) -> None:
        """Shadows, or none: without a graphics card they are a third of a frame's cost."""
        self.server.scene.configure_default_lights(cast_shadow=shown)
        self.grid.shadow_opacity = SHADOW if shown else 0.0

    def keep_in_picture(self) -> None:
        """Turn the cameras that do not see all of the robots;
        others stay where a person has put them."""
        low, high = self._bounds()
        for k, (camera, aspect) in enumerate(self._cameras()):
            # the first is that of browsers to come
            if k == 0 or not sees(camera, aspect, corners_of(low, high)):
                aim(camera, aspect, low, high)

    def _cameras(self) -> list[tuple[Any, float]]:
        """(camera, width / height): where new browsers look first, then those that are there."""
        clients = self.server.get_clients().values()
        return [
            (self.server.initial_camera, 1.0),
            *((client.camera, client.camera.aspect) for client in clients),
        ]

    def _bounds(self) -> np.ndarray:
        """(2, 3): lowest and highest coordinates [m] of all robots, now and over their motions."""
        boxes = np.array([stand.scene.bounds_over(stand.playback) for stand in self.stands])
        return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])

    def _dress(self) -> None:
        self.server.gui.configure_theme(
            control_width="large", show_logo=False, show_share_button=False
        )
        self.server.gui.main_panel.dock_right()
        self.grid = add_ground(self.server)

    def _add_robot_controls(self, robot: Robot) -> None:
        gui = self.server.gui
        with gui.add_folder("Robot", expand_by_default=False):
            names = tuple(dict.fromkeys((robot.name, *robots())))
            self.names = gui.add_dropdown("name", names, initial_value=robot.name)
            self.other = gui.add_text("or installed", "")
            alone, beside = gui.add_button("show it"), gui.add_button("show it beside")
            self.status = gui.add_markdown("")
            self.angles = gui.add_dropdown("angles in", ("radians", "degrees"))
        self.angles.on_update(lambda _: self._angles_chosen())
        alone.on_click(lambda _: self._asked(self.load))
        beside.on_click(lambda _: self._asked(self.add))

    def _angles_chosen(self) -> None:
        with self.lock:
            for stand in self.stands:
                stand.angles_changed()

    def _asked(self, work: Any) -> None:
        name = self.other.value.strip() or self.names.value
        self.status.content = f"loading {name}"
        try:
            work(name)
        except LinkworkError as error:
            self.status.content = str(error)
        else:
            self.status.content = ""

    def _add_motion_controls(self) -> None:
        gui = self.server.gui
        with gui.add_folder("Motion"):
            self.playing = gui.add_checkbox("play", False)
            self.speed = gui.add_slider("speed", 0.1, 3.0, 0.1, 1.0)
            self.scrub = gui.add_slider("time [s]", 0.0, 1.0, 0.01, 0.0, disabled=True)
        self.scrub.on_update(by_person(self.seek))

    def _named(self, name: str) -> Robot:
        if name in self._given:
            return self._given[name]
        if not self.known(name):
            near = did_you_mean(name, [*self._given, *robots()])
            raise UnknownName(
                f'viewer: there is no robot "{name}"{near}; paths are for the command line '
                "and scripts"
            )
        return load(name if name in robots() else installed_file(name) or name)

    def _stand(self, robot: Robot, others: list[Stand]) -> Stand:
        """A stand to the right of the others, and cameras on all of them."""
        with self.lock, self.server.atomic():
            stand = Stand(self, robot, f"/robots/{next(self._numbers)}", (0.0, 0.0, 0.0))
            if others:
                edge = max(float(other.scene.bounds()[1, 0]) for other in others)
                gap = 0.15 * max(stand.scene.size, *(other.scene.size for other in others))
                stand.scene.base.position = (
                    edge + gap - float(stand.scene.bounds()[0, 0]),
                    0.0,
                    0.0,
                )
            self.stands = [*others, stand]
            self._given.setdefault(robot.name, robot)
            self.look()
            return stand

    def _seek(self, t: float) -> None:
        with self.server.atomic():
            for stand in self.stands:
                stand.seek(t)

    def _follow(self, t: float) -> None:
        """What may lag behind the robots: sliders, the time, plots."""
        put(self.scrub, t)
        for stand in self.stands:
            if stand.playback is not None:
                stand.sliders_follow()
                for plot in stand.plots.values():
                    plot.show(t)

    def _play(self) -> None:
        """The player's thread: frames at a steady rate."""
        now, followed = time.perf_counter(), 0.0
        while not self._closed.wait(max(0.0, now + 1.0 / FRAMES_PER_SECOND - time.perf_counter())):
            last, now = now, time.perf_counter()
            if not self.playing.value:
                continue
            try:
                with self.lock:
                    if not self.playing.value:  # it was paused while the thread waited
                        continue
                    self.take_motions()
                    self.time = (self.time + (now - last) * self.speed.value) % max(
                        self.duration, 1e-3
                    )
                    self._seek(self.time)
                    if now - followed > 1.0 / SLIDERS_PER_SECOND:
                        followed = now
                        self._follow(self.time)
            except LinkworkError as error:
                self.playing.value = False
                self.status.content = str(error)

    def take_motions(self) -> None:
        """Nothing chosen: every robot that has motions takes its first."""
        if all(stand.playback is None for stand in self.stands):
            for stand in self.stands:
                if len(stand.robot.motions):
                    self.load_motion(next(iter(stand.robot.motions)), stand)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """The library never prints, but viser does, through rich's own console."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _whole_frames(server: Any) -> None:
    """Let one window of messages hold a whole frame.

    viser sends at most 128 messages at once and lets newer ones replace those that wait; to a slow
    browser the end of a longer frame would never be sent. Where a version of viser has no such
    limit to set, nothing is lost but that.
    """
    with contextlib.suppress(AttributeError):
        server._websock_server.get_message_buffer().max_window_size = 2048


def _reached_at(host: str) -> str:
    """How a browser of this machine names the place: not by the address that stands for all,
    version 6 in brackets."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)


def _free_port(host: str, port: int) -> int:
    """The first port from `port` on that can be listened at; any for 0. viser would try past 65535,
    and hang."""
    for tried in range(port, 65536) if port else (0,):
        try:
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
                # as a server that was just ended leaves it
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, tried))
                return int(probe.getsockname()[1])
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise InvalidInput(
                    f'viewer: cannot listen at host "{host}": {error.strerror or error}'
                ) from None
    raise InvalidInput(f"viewer: no port from {port} to 65535 is free")
