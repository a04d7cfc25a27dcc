"""SynthesisPage: positions dragged in the plane, with dyads, curves,
four-bars and verdicts that follow.

The plane is the browser's x-y plane, seen from above. Poses follow in a few milliseconds; points by
Newton from the linkages that are known, and by the complete solve when the hand lets go. Two dyads,
picked by clicks on a curve (or by their numbers), or a row of the ranked table make a linkage: it
moves, draws its path, is judged and plotted, and follows what is dragged; buttons save it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from linkwork import synthesis
from linkwork.errors import InvalidInput, LinkworkError, NotPossible
from linkwork.interrupts import wait_until
from linkwork.robot import Robot
from linkwork.synthesis import PlanarTask
from linkwork.synthesis.burmester import dyads_along
from linkwork.synthesis.following import followed
from linkwork.synthesis.linkage import FOUR_BAR, Linkage
from linkwork.synthesis.motions import Motion, motion_of
from linkwork.view.gate import gated
from linkwork.view.linkage_drawing import PATH, PICKED, LinkageDrawing
from linkwork.view.viewer import _free_port, quiet

CURVE_POINTS = 600
RATE = 30.0
"""Frames a second of what moves."""
GOOD, DEFECT = "green", "gray"
HANDLE, DISTANCE = 0.3, 2.6
"""Length of a position's handles, and how far the camera is from the plane [task sizes]."""
ALONG_CURVE = 24
"""Dyads of a four-pose task that can be picked, evenly along its curve."""
ROWS, MOST = 8, 40
"""Rows of the ranked table, and linkages that are kept."""
NEAR = 0.12
"""A click so near to a curve or a pivot means it [task sizes]."""


class SynthesisPage:
    """Serves one task to a browser; `address` is what to open. Closed by `close()`.

    task        what the positions say now, after every drag
    frame()     everything that a drag makes new: dyads, curves, linkages, verdicts
                (also without any browser)
    """

    def __init__(
        self,
        task: PlanarTask,
        name: str = "linkage",
        port: int = 8080,
        host: str = "127.0.0.1",
        picture: Path | None = None,
        picture_width: float = 1.0,
    ) -> None:
        try:
            import viser
        except ImportError:
            raise NotPossible(
                'the page needs the extra "view": pip install "linkwork[view]"'
            ) from None
        if task.batch:
            raise InvalidInput(
                f"page: the task is a batch of shape {task.batch}, expected one task"
            )
        self.name, self.task = name, task
        self.lock, self._closed = threading.RLock(), threading.Event()
        with quiet(), gated() as self.gate:
            self.server: Any = viser.ViserServer(
                host=host, port=_free_port(host, port), label="linkwork", verbose=False
            )
        self.port = int(self.server.get_port())
        self.address = f"http://{host}:{self.port}"
        self.linkage: Linkage | None = None
        self.dyads: Any = None
        self.known: list[Linkage] = []
        self.verdicts: dict[str, np.ndarray] | None = None
        self.count = self.good = 0
        self.verdict: Any = None
        # ground and moving pivots of the dyads that are picked
        self.picks: list[tuple[complex, complex]] = []
        self._motion: Motion | None = None
        self._scale = float(task.size)
        self._handles: list[Any] = []
        self.drawing = LinkageDrawing(self.server.scene, self._scale)
        self._dress(picture, picture_width)
        self.frame()
        self._player = threading.Thread(target=self._play, daemon=True)
        self._player.start()

    def close(self) -> None:
        """Stop serving."""
        if not self._closed.is_set():
            self._closed.set()
            self._player.join(timeout=2.0)
            with quiet(), contextlib.suppress(AttributeError):
                self.server.stop()

    def wait(self, seconds: float | None = None) -> None:
        """Serve until Ctrl-C, or for some seconds."""
        wait_until(self._closed, seconds)
        self.close()

    # what a drag makes new

    def move(self, j: int, place: complex, angle: float | None = None) -> None:
        """Put position j (from 1) elsewhere, as a drag does."""
        with self.lock:
            positions, angles = self.task.positions.copy(), self.task.angles.copy()
            positions[j - 1] = place
            if angle is not None and np.isfinite(angles[j - 1]):
                angles[j - 1] = angle
            kept = ("timing", "velocities", "tolerance", "weights")
            options = {name: getattr(self.task, name) for name in kept}
            self.task = PlanarTask(positions, angles, **options)
            self.frame(complete=False)

    def frame(self, complete: bool = True) -> None:
        """Solve and draw again; with points the complete solve runs only where `complete` is asked
        for."""
        with self.lock:
            task = self.task
            try:
                if task.oriented.all() and 4 <= task.n <= 5:
                    self._solve_poses(task)
                elif complete:
                    complete_set = synthesis.four_bars(task)
                    self.known = [complete_set.linkages.one(k) for k in range(len(complete_set))]
                else:
                    moved = (followed(linkage, task) for linkage in self.known)
                    self.known = [linkage for linkage in moved if linkage is not None]
                self._rank()
                self.status.content = self._words()
                self._follow_choice()
            except LinkworkError as error:
                self.known, self.dyads, self.picks = [], None, []
                self.verdicts = None
                self.status.content = str(error)
            self._list()
            self._draw()

    def _rank(self) -> None:
        """Known linkages in order: without defect first, then by their transmission angle."""
        if not self.known:
            self.verdicts = None
            return
        topology = self.known[0].topology
        many = synthesis.Linkages(topology, np.stack([linkage.points for linkage in self.known]))
        verdict = synthesis.check(many, self.task)
        order = np.lexsort((-verdict.transmission_min, ~verdict.good))[:MOST]
        self.known = [self.known[k] for k in order]
        self.count, self.good = len(many), int(verdict.good.sum())
        fields = ("kind", "good", "transmission_min", "reasons")
        self.verdicts = {name: np.asarray(getattr(verdict, name))[order] for name in fields}

    def _follow_choice(self) -> None:
        """The picked dyads and the chosen linkage go where the new ones nearest to them are."""
        moved = (self._nearest_dyad(*pick) for pick in self.picks)
        self.picks = [pick for pick in moved if pick is not None]
        if self.linkage is None:
            return
        if len(self.picks) == 2:
            self._join()
        elif self.known:
            off = [np.abs(linkage.points - self.linkage.points).sum() for linkage in self.known]
            self._take(self.known[int(np.argmin(off))])

    def _solve_poses(self, task: PlanarTask) -> None:
        """Curves, dyads, and every ordered pair of dyads as a four-bar."""
        self.curves = synthesis.burmester(task[:4], CURVE_POINTS)
        if task.n == 4:
            self.dyads = dyads_along(self.curves, task, ALONG_CURVE)
        else:
            self.dyads = synthesis.dyads(task)
        ground, moving = self.dyads.ground, self.dyads.moving
        i, j = np.nonzero(~np.eye(len(ground), dtype=bool))
        tracer = np.full(len(i), task.positions[0])
        points = np.stack([ground[i], ground[j], moving[i], moving[j], tracer], axis=-1)
        self.known = [Linkage(FOUR_BAR["crank"], row) for row in points]

    def _words(self) -> str:
        if self.verdicts is None:
            return "no real linkage meets these positions"
        words = f"{self.count} linkages, {self.good} without defect"
        if self.task.oriented.all() and self.task.n >= 4:
            degrees = [np.degrees(pair) for pair in synthesis.compatibility(self.task).ranges]
            words += ". Rotation of the crank at position 2: "
            words += ", ".join(f"{low:.1f} .. {high:.1f}" for low, high in degrees) + " deg"
        return words

    def choose(self, number: int) -> None:
        """Take a linkage of the ranked table (from 1): it moves, draws its path and is judged."""
        with self.lock:
            if not 1 <= number <= len(self.known):
                raise InvalidInput(f"page: linkage {number} is chosen, there are {len(self.known)}")
            self.picks = []
            self._take(self.known[number - 1])
            self._draw()

    def pick(self, first: int, second: int) -> None:
        """Make a linkage of two dyads by their numbers (from 1)."""
        with self.lock:
            count = 0 if self.dyads is None else len(self.dyads)
            if not (1 <= first <= count and 1 <= second <= count) or first == second:
                raise InvalidInput(
                    f"page: dyads {first} and {second} are picked, expected two of 1 .. {count}"
                )
            pair = lambda k: (complex(self.dyads.ground[k - 1]), complex(self.dyads.moving[k - 1]))
            self.picks = [pair(first), pair(second)]
            self._join()
            self._draw()

    def click(self, place: complex) -> bool:
        """Pick the dyad whose curve, or of five poses whose pivot, is at a place of the plane;
        whether there is one.

        The last two that were picked make a linkage.
        """
        with self.lock:
            ground, moving = self._all_dyads()
            if not len(ground):
                return False
            off = np.minimum(np.abs(ground - place), np.abs(moving - place))
            k = int(np.nanargmin(off))
            if off[k] > NEAR * self._scale:
                return False
            dyad = (complex(ground[k]), complex(moving[k]))
            self.picks = [*(pick for pick in self.picks if pick != dyad), dyad][-2:]
            if len(self.picks) == 2:
                self._join()
            self._draw()
            return True

    def _all_dyads(self) -> tuple[np.ndarray, np.ndarray]:
        """(ground, moving) of all dyads that can be picked: those of a curve, or of five poses."""
        if self.dyads is None:
            return np.zeros(0, complex), np.zeros(0, complex)
        if self.task.n == 4:
            return self.curves.center[self.curves.valid], self.curves.circle[self.curves.valid]
        return self.dyads.ground, self.dyads.moving

    def _nearest_dyad(self, ground: complex, moving: complex) -> tuple[complex, complex] | None:
        """The dyad nearest to one that was."""
        grounds, movings = self._all_dyads()
        if not len(grounds):
            return None
        k = int(np.nanargmin(np.abs(grounds - ground) + np.abs(movings - moving)))
        return complex(grounds[k]), complex(movings[k])

    def _join(self) -> None:
        """The four-bar of both picked dyads."""
        (A, B), (D, C) = self.picks
        if abs(A - D) + abs(B - C) < 1e-9 * self._scale:
            return
        linkage = synthesis.four_bar([A, D], [B, C], self.task.positions[0])
        assert isinstance(linkage, Linkage)
        self._take(linkage)

    def _take(self, linkage: Linkage) -> None:
        motion = motion_of(linkage)
        self.linkage, self._motion = linkage, motion
        self.verdict = synthesis.check(linkage, self.task)
        self.transmission_plot.data = (motion.share, np.degrees(motion.transmission))
        self.torque_plot.data = (motion.share, motion.torque)
        self.report.content = self._report()

    def save(self, ending: str) -> Path:
        """Write the chosen linkage beside the task: ".robot.yaml", ".dxf" or ".svg"."""
        if self.linkage is None:
            raise NotPossible("page: no linkage is chosen")
        path = Path(f"{self.name}{ending}")
        if ending == ".robot.yaml":
            from linkwork.library import save

            return save(Robot.from_linkage(self.linkage, self.task), path)
        size = float(self.linkage.size)
        return synthesis.plates(self.linkage, 0.05 * size, 0.02 * size).save(path)

    # what people see

    def _dress(self, picture: Path | None, width: float) -> None:
        scene, gui = self.server.scene, self.server.gui
        scene.set_up_direction("+y")
        pale = {"cell_color": (235, 235, 235), "section_color": (215, 215, 215)}
        side = 8 * self._scale
        scene.add_grid(
            "/plane", width=side, height=side, cell_size=self._scale / 4, plane="xy", **pale
        )
        if picture is not None:
            import imageio.v3 as iio

            # viser's pictures have their first row below
            image = np.asarray(iio.imread(picture))[::-1]
            height = width * image.shape[0] / image.shape[1]
            scene.add_image(
                "/background", image, width, height, position=(width / 2, height / 2, -1e-3)
            )
        centre = complex(self.task.positions.mean())
        camera = self.server.initial_camera
        camera.position = (centre.real, centre.imag, DISTANCE * self._scale)
        camera.look_at = (centre.real, centre.imag, 0.0)
        camera.up = (0.0, 1.0, 0.0)
        for j in range(self.task.n):
            self._add_handle(j)
        self.status = gui.add_markdown("")
        scene.on_click()(self._clicked)
        with gui.add_folder("linkages, ranked"):
            self.rows = [gui.add_button(str(k + 1), visible=False) for k in range(ROWS)]
        for k, row in enumerate(self.rows):
            row.on_click(lambda _, n=k + 1: self._chosen(n))
        self.first = gui.add_dropdown("first dyad", ("none",))
        self.second = gui.add_dropdown("second dyad", ("none",))
        for choice in (self.first, self.second):
            choice.on_update(lambda _: self._picked())
        self.report = gui.add_markdown("")
        flat = (np.array([0.0, 1.0]), np.zeros(2))
        across, blue = {"label": "share of the circuit"}, {"stroke": "#3b6ea5"}
        plain = {"height": 150, "scales": {"x": {"time": False}}}
        plot = lambda title: gui.add_uplot(
            flat, (across, {"label": title, **blue}), title=title, **plain
        )
        self.transmission_plot = plot("transmission [deg]")
        self.torque_plot = plot("torque of a unit weight [sizes]")
        self.playing = gui.add_checkbox("move", True)
        for ending in (".robot.yaml", ".dxf", ".svg"):
            button = gui.add_button(f"save {self.name}{ending}")
            button.on_click(lambda _, e=ending: self._saved(e))

    def _add_handle(self, j: int) -> None:
        p, angle = complex(self.task.positions[j]), self.task.angles[j]
        half = 0.0 if not np.isfinite(angle) else float(angle) / 2
        handle = self.server.scene.add_transform_controls(
            f"/positions/{j + 1}",
            scale=HANDLE * self._scale,
            active_axes=(True, True, False),
            disable_sliders=False,
            disable_rotations=bool(not np.isfinite(angle)),
            position=(p.real, p.imag, 0.0),
            wxyz=(np.cos(half), 0.0, 0.0, np.sin(half)),
        )
        handle.on_update(lambda event: self._dragged(j, getattr(event, "phase", "update") == "end"))
        self.server.scene.add_label(f"/positions/{j + 1}/number", str(j + 1))
        self._handles.append(handle)

    def _dragged(self, j: int, ended: bool) -> None:
        handle = self._handles[j]
        w, _, _, z = handle.wxyz
        x, y = handle.position[:2]
        self.move(j + 1, complex(x, y), float(2.0 * np.arctan2(z, w)))
        if ended and not self.task.oriented.all():
            self.frame()

    def _list(self) -> None:
        for k, row in enumerate(self.rows):
            shown = self.verdicts is not None and k < len(self.known)
            if shown:
                label, colour = self._row(k)
                if row.label != label:
                    row.label, row.color = label, colour
            if row.visible != shown:
                row.visible = shown
        count = 0 if self.dyads is None else len(self.dyads)
        numbers = ("none", *(str(k + 1) for k in range(count)))
        for choice in (self.first, self.second):
            if tuple(choice.options) != numbers:
                choice.options = numbers

    def _row(self, k: int) -> tuple[str, str]:
        """(a row of the table, its colour)."""
        assert self.verdicts is not None
        good = bool(self.verdicts["good"][k])
        angle = np.degrees(float(self.verdicts["transmission_min"][k]))
        words = f"{angle:.0f} deg" if good else "defect"
        return f"{k + 1}: {self.verdicts['kind'][k]}, {words}", GOOD if good else DEFECT

    def _picked(self) -> None:
        picks = (self.first.value, self.second.value)
        if "none" not in picks and picks[0] != picks[1]:
            with contextlib.suppress(LinkworkError):
                self.pick(int(picks[0]), int(picks[1]))

    def _chosen(self, number: int) -> None:
        with contextlib.suppress(LinkworkError):
            self.choose(number)

    def _clicked(self, event: Any) -> None:
        """Where the ray of a click meets the plane."""
        origin, ray = np.asarray(event.ray_origin), np.asarray(event.ray_direction)
        if abs(ray[2]) > 1e-9:
            at = origin - ray * (origin[2] / ray[2])
            with contextlib.suppress(LinkworkError):
                self.click(complex(at[0], at[1]))

    def _saved(self, ending: str) -> None:
        try:
            self.report.content = f"wrote {self.save(ending)}"
        except LinkworkError as error:
            self.report.content = str(error)

    def _report(self) -> str:
        v = self.verdict
        angle = np.degrees(float(v.transmission_min))
        defect = str(v.reasons) or "no defect"
        return f"**{v.kind}**: {defect}. Transmission angle at least {angle:.1f} deg."

    def _draw(self) -> None:
        drawing, origin = self.drawing, complex(self.task.positions[0])
        if self.dyads is not None and getattr(self, "curves", None) is not None:
            drawing.curves(self.curves, origin)
            drawing.dyads(self.dyads, self.task)
        drawing.lines("/picked", [(np.array(pick), PICKED) for pick in self.picks], origin, 6.0)
        if self._motion is not None:
            drawing.lines("/path", [(self._motion.path, PATH)], origin)
        if self.linkage is not None:
            drawing.linkage(self.linkage, np.zeros(len(self.linkage.topology.moving)), origin)

    def _play(self) -> None:
        k = 0
        while not self._closed.wait(1.0 / RATE):
            with self.lock:
                if self._motion is None or not self.playing.value:
                    continue
                x = self._motion.x
                k = (k + 1) % len(x)
                assert self.linkage is not None
                self.drawing.linkage(self.linkage, x[k], complex(self.task.positions[0]))
            time.sleep(0)
