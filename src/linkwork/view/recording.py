"""Recording: a robot, or a motion of it, as one page of HTML that needs no server and no
network."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite
from linkwork.errors import NotPossible
from linkwork.robot import Robot
from linkwork.view.cameras import add_ground, aim, lay_ground
from linkwork.view.page import dressed
from linkwork.view.picture import described_frames
from linkwork.view.playback import Playback
from linkwork.view.scene import RobotScene
from linkwork.view.viewer import quiet

FRAMES = 200
"""Most frames of a recorded motion: between them the page stands still for some hundredths of a
second."""
ASPECT = 1.6
"""Width by height of the place in which recordings are shown, about."""


def recorded(
    robot: Robot,
    q: ArrayLike | None = None,
    motion: str | Mapping[str, Any] | None = None,
    trails: Mapping[str, ArrayLike] | None = None,
) -> str:
    """A page with the robot at q (nq,), or playing a motion with a slider for its time.

    q        left out: where the robot stands first
    motion   a name of `robot.motions`, or arrays as `robot.analyse` takes them
    trails   name -> (n, 3): ways that are drawn as lines [m]; left out: those of the frames that a
             machine with closed loops describes, over the motion
    """
    playback = None if motion is None else Playback(robot, motion)
    with _server() as server:
        ground = add_ground(server)
        scene = RobotScene(server, robot)
        for name, points in (_paths(robot, playback) if trails is None else trails).items():
            scene.trail(f"trails/{name}", np.asarray(points, dtype=float))
        if q is not None:
            scene.move(finite(q, (robot.nq,), "show: q"))
        elif playback is not None:
            scene.show(playback.postures, 0)
        low, high = scene.bounds_over(playback)
        lay_ground(ground, low, high)
        aim(server.initial_camera, ASPECT, low, high)
        tape = server.get_scene_serializer()
        if playback is not None:
            _record(tape, scene, playback)
        return dressed(str(tape.as_html()))


def _paths(robot: Robot, playback: Playback | None) -> dict[str, np.ndarray]:
    if playback is None:
        return {}
    return {
        frame: robot.pose(playback.postures.q, frame)[:, :3, 3] for frame in described_frames(robot)
    }


def _record(tape: Any, scene: RobotScene, playback: Playback) -> None:
    last = len(playback.time) - 1
    rows = np.unique(np.linspace(0, last, min(last, FRAMES) + 1).round().astype(int)).tolist()
    for k, then in zip(rows, [*rows[1:], last], strict=True):
        scene.show(playback.postures, k)
        tape.insert_sleep(float(playback.time[then] - playback.time[k]))


@contextlib.contextmanager
def _server() -> Iterator[Any]:
    """A scene of viser that no browser is asked to see."""
    try:
        import viser
    except ImportError:
        raise NotPossible('this needs the extra "view": pip install "linkwork[view]"') from None
    with quiet():
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        yield server
    finally:
        with quiet():
            server.stop()
