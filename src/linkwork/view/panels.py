"""Panels: what rooms add to a robot's tab of the viewer.

A room with a part of its own in the viewer has a file `panel.py` with

    def panel(stand) -> Panel | None

It is called once for each robot that is shown, inside its tab: what it adds with `stand.server.gui`
stands there. It draws with `stand.server.scene` below `stand.scene.root`, moves the robot with
`stand.show(q)`, and gives None where the room has nothing for this robot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from linkwork import rooms

if TYPE_CHECKING:
    from linkwork.view.stand import Stand


class Panel(Protocol):
    """A room's part of one robot's tab."""

    def show(self, q: np.ndarray) -> None:
        """The robot stands at q (nq,) now."""

    def remove(self) -> None:
        """The robot is taken away: whatever was drawn goes."""


def panels_for(stand: Stand) -> dict[str, Panel]:
    """Room -> its panel in this stand's tab."""
    made = {room: module.panel(stand) for room, module in rooms.parts("panel").items()}
    return {room: panel for room, panel in made.items() if panel is not None}
