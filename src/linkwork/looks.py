"""Looks: how a robot is shown, by the room `view`, which stands above it and is found by its
name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from linkwork import rooms


class Looks:
    """What a robot shows of itself in scripts and notebooks."""

    def show(
        self, q: ArrayLike | None = None, motion: str | Mapping[str, Any] | None = None
    ) -> Any:
        """The robot in the browser: in a notebook inline and offline,
        in a script as a viewer (which is returned).

        q        (nq,); left out: where it stands first
        motion   a name of `robot.motions`, or arrays {"time", "q"} as `robot.analyse` takes them:
                 it plays

        Needs viser: pip install 'linkwork[view]'.
        """
        return rooms.room("view").show(self, q, motion=motion)

    def picture(
        self, q: ArrayLike | None = None, path: str | Path | None = None, **options: Any
    ) -> bytes:
        """The robot at q (nq,) as a PNG, without a browser; also written to `path`.

        options: size= (width, height) [pixel], view= (azimuth, elevation) [deg], trails= frames,
        ghosts= (n, nq), obstacles= what stands around, paths= lines (n, 3). See view/picture.py;
        `lw.view.record` makes a film.
        """
        return rooms.room("view").picture(self, q, path, **options)

    def _repr_html_(self) -> str:
        return rooms.room("view").robot_html(self)
