"""Handles that a person drags: only where they are now is worked on, however fast a browser tells,
and what is slow waits until the hand lets go."""

from __future__ import annotations

import asyncio
import inspect
import threading
from types import SimpleNamespace

import numpy as np

from linkwork.view.handles import Handles
from linkwork.view.newest import Newest


class Handle:
    """As viser's: a pose, and functions that it calls when a browser tells of a drag."""

    def __init__(self) -> None:
        self.position, self.wxyz = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self.on_update = (listeners := []).append
        self.listeners = listeners

    def tell(self, phase: str, x: float) -> None:
        self.position = np.array([x, 0.0, 0.0])
        for listener in self.listeners:
            answer = listener(SimpleNamespace(phase=phase))
            if inspect.iscoroutine(answer):
                asyncio.run(answer)

    def remove(self) -> None:
        self.removed = True


def pulled(work, after=None):
    handle, handles = Handle(), Handles(Newest(work, after))
    handles.listen("goal", handle)
    return handle, handles


def test_while_one_pose_is_worked_on_only_the_newest_of_many_waits():
    begun, go_on, worked = threading.Event(), threading.Event(), []

    def work() -> None:
        worked.extend(T[0, 3] for _, T in handles.dragged())
        begun.set()
        go_on.wait()

    handle, handles = pulled(work)
    slow = threading.Thread(target=handle.tell, args=("update", 0.0))
    slow.start()
    begun.wait()
    for x in range(1, 100):  # none of them waits for the work: this would never end
        handle.tell("update", x)
    go_on.set()
    slow.join()
    assert worked == [0.0, 99.0]


def test_what_is_slow_follows_when_the_hand_lets_go():
    worked, settled = [], []
    handle, handles = pulled(
        lambda: worked.extend(T[0, 3] for _, T in handles.dragged()), lambda: settled.append(1)
    )
    handle.tell("start", 0.0)
    assert not worked  # nothing has moved
    for x in (1.0, 2.0):
        handle.tell("update", x)
    assert worked == [1.0, 2.0] and not settled
    handle.tell("end", 2.0)
    assert worked[-1] == 2.0 and len(settled) == 1
    handles.drag("goal", np.array([3.0, 0.0, 0.0]), handle.wxyz)  # by a script
    assert worked[-1] == 3.0 and len(settled) == 2


def test_handles_that_are_taken_away_have_not_been_dragged():
    handle, handles = pulled(lambda: None)
    handle.tell("update", 1.0)
    handles.clear()
    assert handle.removed and not handles and not list(handles.dragged())
    assert not handles.newest.held
