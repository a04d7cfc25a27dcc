"""Handles: frames of a scene that a person drags, each with a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwork.view.newest import Newest
from linkwork.view.postures import matrix, quaternions


class Handles(dict[str, Any]):
    """viser's handles by name. A drag calls for the work, and the work asks `dragged` where they
    are by then: a browser may send faster than the work is done."""

    def __init__(self, newest: Newest) -> None:
        super().__init__()
        self.newest = newest
        self._dragged: set[str] = set()

    def listen(self, name: str, handle: Any) -> None:
        """One more handle."""
        self[name] = handle

        async def hold(event: Any) -> None:
            # awaited by the server, so it keeps the order of the browser's messages;
            # plain functions run on threads, in any order
            self.newest.held = event.phase != "end"
            if event.phase != "start":
                self._dragged.add(name)

        handle.on_update(hold)
        handle.on_update(lambda event: self.newest() if event.phase != "start" else None)

    def drag(self, name: str, position: np.ndarray, wxyz: np.ndarray) -> None:
        """A handle is elsewhere, as by a hand that lets it go there."""
        self[name].position, self[name].wxyz = position, wxyz
        self._dragged.add(name)
        self.newest()

    def put(self, name: str, T: np.ndarray) -> None:
        """Show a handle at T (4, 4); nothing has been dragged."""
        self[name].position, self[name].wxyz = T[:3, 3], quaternions(T[:3, :3])

    def dragged(self) -> Iterator[tuple[str, np.ndarray]]:
        """(name, T (4, 4)) of every handle that was dragged since this was asked before."""
        while self._dragged:
            name = self._dragged.pop()
            if name in self:
                T = np.eye(4)
                T[:3, :3] = matrix(np.array(self[name].wxyz))
                T[:3, 3] = self[name].position
                yield name, T

    def clear(self) -> None:
        """Take them all away."""
        for handle in self.values():
            handle.remove()
        super().clear()
        self._dragged.clear()
        self.newest.held = False
