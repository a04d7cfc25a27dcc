"""Show: a robot in the browser, inline where a notebook runs."""

from __future__ import annotations

import base64
from typing import Any

from numpy.typing import ArrayLike

from linkwork.arguments import finite
from linkwork.robot import Robot
from linkwork.view.page import dressed
from linkwork.view.viewer import Viewer


class Inline:
    """A page that stands by itself, shown by notebooks as a frame; `.html` is the page."""

    def __init__(self, html: str, height: int = 480) -> None:
        self.html, self.height = html, height

    def __repr__(self) -> str:
        return f"<Inline view, {len(self.html) / 1e6:.1f} MB of HTML>"

    def _repr_html_(self) -> str:
        page = base64.b64encode(self.html.encode()).decode()
        source = f"data:text/html;base64,{page}"
        return f"<iframe src='{source}' width='100%' height='{self.height}' style='border:0'></iframe>"


def show(robot: Robot, q: ArrayLike | None = None, port: int = 8080) -> Viewer | Inline:
    """The robot in a viewer (scripts), or inline and offline (notebooks); q (nq,) left out: where it stands first."""
    at = None if q is None else finite(q, (robot.nq,), "show: q")
    viewer = Viewer(robot, port=port)
    if at is not None:
        viewer.show(at)
    if not in_notebook():
        return viewer
    try:
        return Inline(as_html(viewer))
    finally:
        viewer.close()


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
