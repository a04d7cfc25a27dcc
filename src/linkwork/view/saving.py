"""Saving: the viewer's picture and its motion as files that the browser keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.view.film import FORMS, Actor, film
from linkwork.view.png import png_bytes

LONGEST = 300.0
"""Seconds until a browser that sends no picture is given up:
one that draws in software on a busy machine is slow."""
TALL = 1080
"""Lines of a kept picture: a slow browser draws fewer on its page to keep up,
a picture has them all."""


class Saving:
    """The folder "Save" of a viewer: what this browser sees as a PNG, the motion as a GIF or
    MP4."""

    def __init__(self, viewer: Any) -> None:
        self.viewer = viewer
        gui = viewer.server.gui
        with gui.add_folder("Save", expand_by_default=False):
            picture = gui.add_button("picture (PNG)")
            self.form = gui.add_dropdown("film as", FORMS)
            motion = gui.add_button("film of the motion")
            self.status = gui.add_markdown("")
        picture.on_click(lambda event: self._told(event, self.picture, "robot.png"))
        motion.on_click(lambda event: self._told(event, self.film, f"motion.{self.form.value}"))

    def picture(self, client: Any) -> bytes:
        """What a browser sees now, as a PNG."""
        height, width = TALL, round(TALL * client.camera.aspect)
        seen = client.get_render(height, width, transport_format="png", timeout=LONGEST)
        opacity = seen[..., 3:].astype(float) / 255.0
        return png_bytes(
            (seen[..., :3] * opacity + 255.0 * (1.0 - opacity)).round().astype(np.uint8)
        )

    def film(self, client: Any) -> bytes:
        """The motion of every robot, seen from where a browser looks."""
        back = np.array(client.camera.position) - np.array(client.camera.look_at)
        azimuth = float(np.rad2deg(np.arctan2(back[1], back[0])))
        elevation = float(np.rad2deg(np.arctan2(back[2], np.hypot(back[0], back[1]))))
        with self.viewer.lock:
            self.viewer.take_motions()
            actors = []
            for stand in self.viewer.stands:
                place = np.array(stand.scene.base.position)
                if stand.playback is None:
                    actors.append(Actor.standing(stand.robot, stand.scene.q, place))
                else:
                    actors.append(Actor.of(stand.robot, stand.playback, stand.trails, place))
        return film(actors, self.form.value, view=(azimuth, elevation), progress=self._progress)

    def _told(self, event: Any, work: Any, name: str) -> None:
        if event.client is None:
            return
        self.status.content = "drawing"
        try:
            content = work(event.client)
        except LinkworkError as error:
            self.status.content = str(error)
        except (TimeoutError, RuntimeError) as error:  # the browser went away, or draws nothing
            self.status.content = f"no picture came from the browser: {error}"
        else:
            self.status.content = ""
            event.client.send_file_download(name, content, save_immediately=True)

    def _progress(self, done: int, total: int) -> None:
        if done % 5 == 0:
            self.status.content = f"drawing {done} of {total}"
