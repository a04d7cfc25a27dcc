"""Frame tree: which frame hangs on which, as a tree to fold, and where a chosen one stands."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from linkwork.model import Model
from linkwork.model.rotation import to_rpy
from linkwork.view.postures import quaternions

WORLD = "world"


def frame_tree(model: Model) -> str:
    """HTML: the world, its bodies by what carries them, with their joints and the frames on them;
    nodes fold."""
    carried: dict[str | None, list[tuple[str, str]]] = {}
    children = {joint.child for joint in model.joints}
    for joint in model.joints:
        carried.setdefault(joint.parent, []).append((joint.child, f"{joint.name}, {joint.type}"))
    for body in model.bodies:
        if body.name not in children:
            carried.setdefault(None, []).append((body.name, "fixed"))
    hanging: dict[str, list[str]] = {}
    for frame in model.frames:
        hanging.setdefault(frame.body, []).append(frame.name)

    # a stack instead of recursion: chains of a thousand bodies are robots, too
    parts = ['<div style="max-height:22em;overflow:auto;font-size:12px;line-height:1.5">']
    stack: list[str | tuple[str | None, str]] = [(None, "")]
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            parts.append(entry)
            continue
        name, by = entry
        note = f' <span style="opacity:.55">{escape(by)}</span>' if by else ""
        parts.append(
            "<details open "
            f'style="margin-left:.55em"><summary><b>{escape(name or WORLD)}</b>{note}</summary>'
        )
        for hung in () if name is None else hanging.get(name, ()):
            parts.append(f'<div style="margin-left:1.6em">{escape(hung)}</div>')
        stack.append("</details>")
        stack += reversed(carried.get(name, []))
    return "".join([*parts, "</div>"])


class FrameTree:
    """The folder of one stand: the tree, and the pose of a chosen frame in another,
    with its axes drawn."""

    def __init__(self, stand: Any) -> None:
        self.stand, self.robot, self.scene = stand, stand.robot, stand.scene
        gui = stand.server.gui
        names = tuple(dict.fromkeys(self.robot.frames))
        with gui.add_folder("Frames", expand_by_default=False):
            self.frame = gui.add_dropdown("frame", names, initial_value=stand.tip)
            self.seen_from = gui.add_dropdown("seen from", (WORLD, *names))
            self.drawn = gui.add_checkbox("its axes", False)
            self.reading = gui.add_markdown("")
            self.tree = gui.add_html(frame_tree(self.robot.model))
        self._axes: Any = None
        for control in (self.frame, self.seen_from, self.drawn):
            control.on_update(lambda _: self.show(self.scene.q))

    def show(self, q: np.ndarray) -> None:
        """Say and draw where the frame stands at q (nq,)."""
        if (
            self.frame.value not in self.frame.options
            or self.seen_from.value not in self.seen_from.options
        ):
            return  # nothing that a dropdown offered
        T = np.asarray(self.robot.pose(q, self.frame.value))
        self._draw(T)
        if self.seen_from.value != WORLD:
            T = np.linalg.inv(self.robot.pose(q, self.seen_from.value)) @ T
        angles = np.array([float(x) for x in to_rpy(T[:3, :3].tolist())])
        unit = "rad"
        if self.stand.degrees:
            angles, unit = np.rad2deg(angles), "deg"
        x, y, z = T[:3, 3] + 0.0
        roll, pitch, yaw = angles + 0.0
        said = f"xyz {x:.4f}, {y:.4f}, {z:.4f} m  \nrpy {roll:.4f}, {pitch:.4f}, {yaw:.4f} {unit}"
        if self.reading.content != said:
            self.reading.content = said

    def _draw(self, T: np.ndarray) -> None:
        if self._axes is None and self.drawn.value:
            self._axes = self.stand.server.scene.add_frame(
                f"{self.scene.root}/chosen_frame",
                axes_length=0.14 * self.scene.size,
                axes_radius=0.004 * self.scene.size,
            )
        if self._axes is not None:
            self._axes.visible = bool(self.drawn.value)
            self._axes.position, self._axes.wxyz = T[:3, 3], quaternions(T[:3, :3])
