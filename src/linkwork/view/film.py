"""Film: a motion as a GIF or MP4, drawn without a browser."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.arguments import choice, finite
from linkwork.errors import InvalidInput, NotPossible
from linkwork.formats.files import write_atomically
from linkwork.robot import Robot
from linkwork.view.picture import Look, pixels, stage, trail_paths
from linkwork.view.playback import Playback
from linkwork.view.postures import Postures, postures
from linkwork.view.raster import Mesh, merged, render

FORMS = ("gif", "mp4")
FRAMES_PER_SECOND = 25
"""A GIF counts hundredths of a second: 25 frames a second are four each."""
MOST_FRAMES = 5000


def record(
    robot: Robot,
    path: str | Path,
    motion: str | Mapping[str, Any] | None = None,
    size: tuple[int, int] = (640, 480),
    view: tuple[float, float] | None = None,
    trails: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """A motion of the robot as a film, 25 frames a second; the ending of `path` decides:
    .gif or .mp4.

    motion   a name of `robot.motions`, or arrays as `robot.analyse` takes them; left out: its first
    view     azimuth and elevation [deg] of the eye, which stands still
    trails   frames whose paths are drawn
    Needs Pillow for GIF, PyAV for MP4: pip install 'linkwork[film]'.
    """
    target = Path(path)
    form = choice(target.suffix.lower().removeprefix("."), FORMS, "record: the ending of path")
    if motion is None:
        if not len(robot.motions):
            raise InvalidInput(
                f'record: robot "{robot.name}" has no named motion; give one: {{"time": ..., '
                f'"q": ...}}'
            )
        motion = next(iter(robot.motions))
    actor = Actor.of(robot, Playback(robot, motion), trails)
    write_atomically(target, film([actor], form, size, view, progress))
    return target


@dataclass(frozen=True)
class Actor:
    """One robot of a film: what is drawn of it, over which instants [s],
    and where it stands (3,) [m]."""

    look: Look
    time: np.ndarray
    rows: Postures
    place: np.ndarray
    still: tuple[Mesh, ...] = ()

    @classmethod
    def of(
        cls,
        robot: Robot,
        playback: Playback,
        trails: Sequence[str] = (),
        place: Any = (0.0, 0.0, 0.0),
    ) -> Actor:
        """A robot that plays a motion, with the paths of some frames."""
        rows = playback.postures
        look = Look.of(robot, rows.q[0])
        paths = tuple(look.trail(path) for path in trail_paths(robot, trails, rows.q))
        return cls(
            look,
            playback.time - playback.time[0],
            rows,
            finite(place, (3,), "record: place"),
            paths,
        )

    @classmethod
    def standing(cls, robot: Robot, q: np.ndarray, place: Any) -> Actor:
        """A robot that does not move."""
        return cls(
            Look.of(robot, q), np.zeros(1), postures(robot, q), finite(place, (3,), "record: place")
        )

    def at(self, t: float) -> Mesh:
        """What is drawn t [s] after the start."""
        k = int(np.clip(np.searchsorted(self.time, t - 1e-9), 0, len(self.time) - 1))
        mesh = merged([self.look.mesh(self.rows, k), *self.still])
        return replace(mesh, vertices=mesh.vertices + self.place)


def film(
    actors: Sequence[Actor],
    form: str,
    size: tuple[int, int] = (640, 480),
    view: tuple[float, float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> bytes:
    """The bytes of a film: every frame from one camera that has the whole motion in its picture."""
    # video codecs want even numbers
    width, height = (edge - edge % 2 for edge in pixels(size, "record"))
    duration = max(float(actor.time[-1]) for actor in actors)
    count = int(np.clip(round(duration * FRAMES_PER_SECOND), 2, MOST_FRAMES))
    times = np.linspace(0.0, duration, count)
    few = times[np.unique(np.linspace(0, count - 1, 24).round().astype(int))]
    whole = merged([actor.at(t) for t in few for actor in actors])
    scale = max(actor.look.size for actor in actors)
    camera, floor, shown = stage(whole, scale, (width, height), view)

    def frame(t: float) -> np.ndarray:
        return render(merged([actor.at(t) for actor in actors]), camera, shown, floor)

    write = {"gif": _gif, "mp4": _mp4}[form]
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as workers:
        return write(_counted(workers.map(frame, times), count, progress), width, height)


def _counted(
    frames: Iterable[np.ndarray], total: int, progress: Callable[[int, int], None] | None
) -> Iterator[np.ndarray]:
    for k, frame in enumerate(frames):
        yield frame
        if progress is not None:
            progress(k + 1, total)


def _gif(frames: Iterable[np.ndarray], width: int, height: int) -> bytes:
    try:
        from PIL import Image
    except ImportError:
        raise NotPossible("a GIF needs Pillow: pip install 'linkwork[film]'") from None
    pictures = [Image.fromarray(frame) for frame in frames]
    # one for all frames, or colours would flicker
    palette = pictures[len(pictures) // 2].quantize(256)
    indexed = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    content = io.BytesIO()
    delay = 1000 // FRAMES_PER_SECOND
    indexed[0].save(
        content,
        "GIF",
        save_all=True,
        append_images=indexed[1:],
        duration=delay,
        loop=0,
        optimize=False,
    )
    return content.getvalue()


def _mp4(frames: Iterable[np.ndarray], width: int, height: int) -> bytes:
    try:
        import av
    except ImportError:
        raise NotPossible(
            "an MP4 needs PyAV: pip install 'linkwork[film]'; a .gif needs Pillow alone"
        ) from None
    content = io.BytesIO()
    with av.open(content, "w", format="mp4") as container:
        stream: Any = container.add_stream("libx264", rate=FRAMES_PER_SECOND)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"crf": "20"}
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
    return content.getvalue()
