"""Show: a robot in the browser, inline where a notebook runs."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from numpy.typing import ArrayLike

from linkwork.arguments import finite
from linkwork.robot import Robot
from linkwork.view.page import dressed
from linkwork.view.recording import recorded
from linkwork.view.viewer import Viewer


class Inline:
    """A page that stands by itself, shown by notebooks as a frame; `.html` is the page."""

    def __init__(self, html: str, height: int = 480) -> None:
        self.html, self.height = html, height

    def __repr__(self) -> str:
        return f"<Inline view, {len(self.html) / 1e6:.1f} MB of HTML>"

    def _repr_html_(self) -> str:
        return framed(self.html, self.height)


def framed(page: str, height: int, name: str = "") -> str:
    """A page inside another one. (As an address, `data:...`, browsers refuse more than two
    megabytes.)"""
    label = f' id="{name}"' if name else ""
    frame = f'<iframe{label} srcdoc="{escape(page)}" width="100%" height="{height}"'
    return f'{frame} style="border:0;display:block"></iframe>'


def show(
    robot: Robot,
    q: ArrayLike | None = None,
    port: int = 8080,
    motion: str | Mapping[str, Any] | None = None,
) -> Viewer | Inline:
    """The robot in a viewer (scripts), or inline and offline (notebooks).

    q        (nq,); left out: where it stands first
    motion   a name of `robot.motions`, or arrays as `robot.analyse` takes them: it plays
    """
    if in_notebook():
        return Inline(recorded(robot, q, motion))
    at = None if q is None else finite(q, (robot.nq,), "show: q")
    viewer = Viewer(robot, port=port)
    if motion is not None:
        viewer.load_motion(motion)
        viewer.playing.value = True
    if at is not None:
        viewer.show(at)
    return viewer


def as_html(viewer: Viewer) -> str:
    """What a viewer shows, as one page that needs no server and no network."""
    return dressed(str(viewer.server.get_scene_serializer().as_html()))


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel."""
    try:
        shell: Any = get_ipython()  # type: ignore[name-defined]
    except NameError:
        return False
    return shell.__class__.__name__ == "ZMQInteractiveShell"
