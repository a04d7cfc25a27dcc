"""SynthesisPage: positions dragged in the plane, with dyads, curves, four-bars and verdicts that follow.

The plane is the browser's x-y plane, seen from above. Poses follow in a few milliseconds; points by Newton from the
linkages that are known, and by the complete solve when the hand lets go. Two dyads picked by their numbers, or a line
of the list, make a linkage: it moves, draws its path, is judged and plotted; buttons save it.
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
from linkwork.robot import Robot
from linkwork.synthesis import PlanarTask
from linkwork.synthesis.linkage import Linkage
from linkwork.view.gate import gated
from linkwork.view.viewer import _free_port, _quiet

CURVE_POINTS = 600
RATE = 30.0
"""Frames a second of what moves."""
COLOURS = {"crank": (59, 110, 165), "coupler": (200, 85, 61), "rocker": (88, 129, 87)}
CENTER, CIRCLE, PATH = (110, 110, 110), (190, 190, 190), (40, 40, 40)
DYAD, POLE = (230, 140, 30), (150, 60, 160)
HANDLE = 0.3
"""Length of a position's handles [task sizes]."""
ALONG_CURVE = 24
"""Dyads of a four-pose task that can be picked, evenly along its curve."""
LARGEST_TORQUE = 5.0
"""Torque for a unit force [linkage sizes] where the plot ends: at dead points it has no bound."""


class SynthesisPage:
    """Serves one task to a browser; `address` is what to open. Closed by `close()`.

    task        what the positions say now, after every drag
    frame()     everything that a drag makes new: dyads, curves, linkages, verdicts (also without any browser)
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
            raise NotPossible('the page needs the extra "view": pip install "linkwork[view]"') from None
        if task.batch:
            raise InvalidInput(f"page: the task is a batch of shape {task.batch}, expected one task")
        self.name, self.task = name, task
        self.lock, self._closed = threading.RLock(), threading.Event()
        with _quiet(), gated() as self.gate:
            self.server: Any = viser.ViserServer(
                host=host, port=_free_port(host, port), label="linkwork", verbose=False
            )
        self.port = int(self.server.get_port())
        self.address = f"http://{host}:{self.port}"
        self.linkage: Linkage | None = None
        self.dyads: Any = None
        self.known: list[Linkage] = []
        self.verdict: Any = None
        self._motion: tuple[np.ndarray, np.ndarray] | None = None
        self._scale = float(task.size)
        self._handles: list[Any] = []
        self._drawn: dict[str, Any] = {}
        self._dress(picture, picture_width)
        self.frame()
        self._player = threading.Thread(target=self._play, daemon=True)
        self._player.start()

    def close(self) -> None:
        """Stop serving."""
        if not self._closed.is_set():
            self._closed.set()
            self._player.join(timeout=2.0)
            with _quiet(), contextlib.suppress(AttributeError):
                self.server.stop()

    def wait(self, seconds: float | None = None) -> None:
        """Serve until Ctrl-C, or for some seconds."""
        with contextlib.suppress(KeyboardInterrupt):
            self._closed.wait(seconds)
        self.close()

    # what a drag makes new

    def move(self, j: int, place: complex, angle: float | None = None) -> None:
        """Put position j (from 1) elsewhere, as a drag does."""
        with self.lock:
            positions, angles = self.task.positions.copy(), self.task.angles.copy()
            positions[j - 1] = place
            if angle is not None and np.isfinite(angles[j - 1]):
                angles[j - 1] = angle
            kept = {k: getattr(self.task, k) for k in ("timing", "velocities", "tolerance", "weights")}
            self.task = PlanarTask(positions, angles, **kept)
            self.frame(complete=False)

    def frame(self, complete: bool = True) -> None:
        """Solve and draw again; with points the complete solve runs only where `complete` is asked for."""
        with self.lock:
            task = self.task
            try:
                if task.oriented.all() and 4 <= task.n <= 5:
                    self._solve_poses(task)
                elif complete:
                    found = synthesis.four_bars(task)
                    self.known = [found.linkages.one(k) for k in range(min(40, len(found)))]
                else:
                    self._follow(task)
                self.status.content = self._words()
            except LinkworkError as error:
                self.known, self.dyads = [], None
                self.status.content = str(error)
            self._list()
            self._draw()

    def _solve_poses(self, task: PlanarTask) -> None:
        self.curves = synthesis.burmester(task[:4], CURVE_POINTS)
        if task.n == 4:
            self.dyads = _along(self.curves, task)
            pairs = [(i, (i + ALONG_CURVE // 3) % len(self.dyads)) for i in range(0, len(self.dyads), 3)]
        else:
            self.dyads = synthesis.dyads(task)
            pairs = [(i, j) for i in range(len(self.dyads)) for j in range(i)]
        self.known = [synthesis.from_dyads(task, self.dyads[i], self.dyads[j]) for i, j in pairs if i != j]

    def _follow(self, task: PlanarTask) -> None:
        """Linkages that are known, by Newton: their pivots move so that all positions are met again."""
        self.known = [moved for moved in (_newton(linkage, task) for linkage in self.known) if moved is not None]

    def _words(self) -> str:
        if not self.known:
            return "no real linkage meets these positions"
        verdicts = [synthesis.check(linkage, self.task) for linkage in self.known]
        self.verdicts = verdicts
        good = sum(bool(v.good) for v in verdicts)
        words = f"{len(self.known)} linkages, {good} without defect"
        if self.task.oriented.all() and self.task.n >= 4:
            degrees = [np.degrees(pair) for pair in synthesis.compatibility(self.task).ranges]
            words += ". Rotation of the crank at position 2: "
            words += ", ".join(f"{low:.1f} .. {high:.1f}" for low, high in degrees) + " deg"
        return words

    def choose(self, number: int) -> None:
        """Take a linkage of the list (from 1): it moves, draws its path and is judged."""
        with self.lock:
            if not 1 <= number <= len(self.known):
                raise InvalidInput(f"page: linkage {number} is chosen, there are {len(self.known)}")
            self._take(self.known[number - 1])

    def pick(self, first: int, second: int) -> None:
        """Make a linkage of two dyads by their numbers (from 1)."""
        with self.lock:
            count = 0 if self.dyads is None else len(self.dyads)
            if not (1 <= first <= count and 1 <= second <= count) or first == second:
                raise InvalidInput(f"page: dyads {first} and {second} are picked, expected two of 1 .. {count}")
            self._take(synthesis.from_dyads(self.task, self.dyads[first - 1], self.dyads[second - 1]))

    def _take(self, linkage: Linkage) -> None:
        self.linkage = linkage
        self.verdict = synthesis.check(self.linkage, self.task)
        around = synthesis.circuit_verdicts.circuits_of(
            synthesis.Linkages(self.linkage.topology, self.linkage.points[None])
        )
        x = around.x[0][np.isfinite(around.x[0]).all(axis=-1)]
        path = synthesis.traced_path(self.linkage)
        self._motion = (x, path)
        self._plot(x, path[1:], np.degrees(np.arcsin(np.clip(around.sine[0][: len(x)], 0.0, 1.0))))
        self.report.content = self._report()
        self._draw()

    def _plot(self, x: np.ndarray, path: np.ndarray, transmission: np.ndarray) -> None:
        """Transmission angle, and torque of the driver for a unit weight at the tracer, along the circuit."""
        assert self.linkage is not None
        driver = np.unwrap(x[:, self.linkage.topology.moving.index(self.linkage.topology.driver)])
        rate, lift = np.gradient(driver), np.gradient(path.imag)
        size = float(self.linkage.size)
        torque = np.divide(lift, rate, out=np.full(len(rate), np.inf), where=np.abs(rate) > 1e-9) / size
        torque = np.clip(torque, -LARGEST_TORQUE, LARGEST_TORQUE)
        turn = np.arange(len(x)) / max(1, len(x) - 1)
        self.transmission_plot.data = (turn, transmission)
        self.torque_plot.data = (turn, torque)

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
        scene.add_grid("/plane", width=side, height=side, cell_size=self._scale / 4, plane="xy", **pale)
        if picture is not None:
            import imageio.v3 as iio

            image = np.asarray(iio.imread(picture))
            height = width * image.shape[0] / image.shape[1]
            scene.add_image("/background", image, width, height, position=(width / 2, height / 2, -1e-3))
        centre = complex(self.task.positions.mean())
        camera = self.server.initial_camera
        camera.position = (centre.real, centre.imag, 4.0 * self._scale)
        camera.look_at = (centre.real, centre.imag, 0.0)
        camera.up = (0.0, 1.0, 0.0)
        for j in range(self.task.n):
            self._add_handle(j)
        self.status = gui.add_markdown("")
        self.choices = gui.add_dropdown("linkage", ("none",))
        self.choices.on_update(lambda _: self._chosen())
        self.first = gui.add_dropdown("first dyad", ("none",))
        self.second = gui.add_dropdown("second dyad", ("none",))
        for choice in (self.first, self.second):
            choice.on_update(lambda _: self._picked())
        self.report = gui.add_markdown("")
        flat = (np.array([0.0, 1.0]), np.zeros(2))
        plot = lambda title: gui.add_uplot(
            flat, ({"label": "circuit"}, {"label": title, "stroke": "#3b6ea5"}), title=title, height=150
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
        self.move(j + 1, complex(handle.position[0], handle.position[1]), float(2.0 * np.arctan2(z, w)))
        if ended and not self.task.oriented.all():
            self.frame()

    def _list(self) -> None:
        names = ("none", *(str(k + 1) for k in range(len(self.known))))
        if tuple(self.choices.options) != names:
            self.choices.options = names

        count = 0 if self.dyads is None else len(self.dyads)
        numbers = ("none", *(str(k + 1) for k in range(count)))
        for choice in (self.first, self.second):
            if tuple(choice.options) != numbers:
                choice.options = numbers

    def _picked(self) -> None:
        picks = (self.first.value, self.second.value)
        if "none" not in picks and picks[0] != picks[1]:
            with contextlib.suppress(LinkworkError):
                self.pick(int(picks[0]), int(picks[1]))

    def _chosen(self) -> None:
        if self.choices.value != "none" and self.choices.value in self.choices.options:
            with contextlib.suppress(LinkworkError):
                self.choose(int(self.choices.value))

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

    def _line(self, name: str, points: np.ndarray, colour: tuple[int, int, int], width: float = 2.0) -> None:
        near = np.isfinite(points) & (np.abs(points - self.task.positions[0]) < 20 * self._scale)
        joined = near[1:] & near[:-1]
        ends = np.stack([points[:-1][joined], points[1:][joined]], axis=-1)
        if not len(ends):
            ends = np.zeros((1, 2), complex)
        segments = np.stack([ends.real, ends.imag, np.zeros(ends.shape)], axis=-1)
        colours = np.broadcast_to(np.array(colour, dtype=np.uint8), (len(segments), 2, 3))
        self._drawn[name] = self.server.scene.add_line_segments(name, segments, colours, line_width=width)

    def _draw(self) -> None:
        if self.dyads is not None and getattr(self, "curves", None) is not None:
            for piece in range(int(self.curves.piece.max()) + 1):
                own = self.curves.piece == piece
                self._line(f"/curves/center_{piece}", self.curves.center[own], CENTER)
                self._line(f"/curves/circle_{piece}", self.curves.circle[own], CIRCLE)
            self._draw_dyads()
        if self._motion is not None:
            self._line("/path", self._motion[1], PATH)
        if self.linkage is not None:
            self._draw_linkage(np.zeros(len(self.linkage.topology.moving)))

    def _draw_dyads(self) -> None:
        """Links from ground to moving pivots, and the poles of the positions."""
        limbs = np.stack([self.dyads.ground, self.dyads.moving, np.full(len(self.dyads), np.nan)], axis=-1).ravel()
        self._line("/dyads", limbs, DYAD, 3.0)
        poles = synthesis.poles(self.task)
        found = np.array([poles[i, j] for j in range(1, self.task.n + 1) for i in range(1, j)])
        near = found[np.isfinite(found) & (np.abs(found - self.task.positions[0]) < 20 * self._scale)]
        places = np.stack([near.real, near.imag, np.zeros(len(near))], axis=-1)
        self._drawn["/poles"] = self.server.scene.add_point_cloud("/poles", places, POLE, point_size=0.03 * self._scale)

    def _draw_linkage(self, x: np.ndarray) -> None:
        assert self.linkage is not None
        for body, corners in postures(self.linkage, x).items():
            colour = COLOURS.get(body, (90, 90, 160))
            self._line(f"/linkage/{body}", np.append(corners, corners[0]), colour, 5.0)

    def _play(self) -> None:
        k = 0
        while not self._closed.wait(1.0 / RATE):
            with self.lock:
                if self._motion is None or not self.playing.value:
                    continue
                x = self._motion[0]
                k = (k + 1) % len(x)
                self._draw_linkage(x[k])
            time.sleep(0)


def postures(linkage: Linkage, x: np.ndarray) -> dict[str, np.ndarray]:
    """Where the points of every moving body are, complex, for rotations x of the bodies (travels in linkage sizes)."""
    topology = linkage.topology
    turn: dict[str, complex] = {topology.ground: 1.0 + 0j}
    shift: dict[str, tuple[complex, complex]] = {topology.ground: (0j, 0j)}
    for k, edge in enumerate(topology.tree[0]):
        joint = complex(linkage.at(edge.point))
        old, new = shift[edge.parent]
        now = new + (joint - old) * turn[edge.parent]
        if edge.along is None:
            turn[edge.child] = complex(np.exp(1j * x[k]))
        else:
            line = complex(linkage.at(edge.along)) - joint
            turn[edge.child] = turn[edge.parent]
            now += line / abs(line) * turn[edge.parent] * x[k] * float(linkage.size)
        shift[edge.child] = (joint, now)
    found = {}
    for body in topology.moving:
        old, new = shift[body]
        found[body] = np.array([new + (complex(linkage.at(p)) - old) * turn[body] for p in topology.bodies[body]])
    return found


def _along(curves: Any, task: PlanarTask) -> Any:
    """Dyads evenly along the curve of four poses."""
    rows = np.flatnonzero(curves.valid)
    rows = rows[np.linspace(0, len(rows) - 1, ALONG_CURVE).astype(int)]
    ground, moving = curves.center[rows], curves.circle[rows]
    count = np.zeros(len(rows))
    return synthesis.Dyads(
        W=moving - ground,
        Z=task.positions[0] - moving,
        beta=curves.beta[rows],
        ground=ground,
        moving=moving,
        residual=count,
        condition=count + 1.0,
        near_trivial=count > 0,
        valid=count == 0,
        reason=np.array("", dtype=object),
    )


def _newton(linkage: Linkage, task: PlanarTask) -> Linkage | None:
    """The four-bar nearby whose pivots keep their distances at all positions; None where there is none."""
    P = task.positions
    size = float(task.size)
    coupler = linkage.topology.moving.index("coupler")
    turns = np.zeros(task.n) if linkage.rotations is None else linkage.rotations[:, coupler].copy()
    free = ~np.isfinite(task.angles)
    free[0] = False
    turns = np.where(np.isfinite(task.angles), task.angles - np.where(task.oriented[0], task.angles[0], 0.0), turns)
    shift = P[0] - complex(linkage.at("P"))
    z = np.array([complex(linkage.at(n)) for n in "ADBC"]) + shift
    where = np.flatnonzero(free)
    for _ in range(12):
        f, J = _distances_and_slopes(P, z, turns, where, size)
        step = np.linalg.lstsq(J, -f, rcond=1e-12)[0]
        z = z + (step[0:8:2] + 1j * step[1:8:2]) * size
        turns[where] += step[8:]
        if np.abs(step).max() < 1e-13:
            break
    f, _ = _distances_and_slopes(P, z, turns, where, size)
    if not np.abs(f).max() < 1e-9:
        return None
    A, D, B, C = z
    points = np.array([A, D, B, C, P[0]])
    arms = np.exp(1j * turns)
    crank = np.angle((P + (B - P[0]) * arms - A) / (B - A))
    rocker = np.angle((P + (C - P[0]) * arms - D) / (C - D))
    rotations = {"crank": crank, "coupler": turns, "rocker": rocker}
    return Linkage(linkage.topology, points, np.stack([rotations[b] for b in linkage.topology.moving], axis=-1))


def _distances_and_slopes(
    P: np.ndarray, z: np.ndarray, turns: np.ndarray, where: np.ndarray, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Half the squared changes of both distances at positions 2 .. n [sizes], by pivots and free angles."""
    A, D, B, C = z / size
    P = P / size
    u = np.exp(1j * turns)
    rows, values = [], []
    for pivot, arm, columns in ((A, B - P[0], (0, 4)), (D, C - P[0], (2, 6))):
        first = P[0] + arm - pivot
        for j in range(1, len(P)):
            e = P[j] + arm * u[j] - pivot
            values.append(0.5 * (abs(e) ** 2 - abs(first) ** 2))
            row = np.zeros(8 + len(where))
            by_pivot, by_arm = -(e - first), e * np.conj(u[j]) - first
            row[columns[0]], row[columns[0] + 1] = by_pivot.real, by_pivot.imag
            row[columns[1]], row[columns[1] + 1] = by_arm.real, by_arm.imag
            for at in np.flatnonzero(where == j)[:1]:
                row[8 + at] = (np.conj(e) * 1j * arm * u[j]).real
            rows.append(row)
    return np.array(values), np.array(rows)
