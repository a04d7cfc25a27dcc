"""How soon does the viewer show a humanoid of 44 joints with its meshes,
and how many frames a second does it send?

A process serves, this one listens as a browser would but draws nothing: what is timed is loading,
drawing up the scene, sending it, and then streaming a motion of all joints.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import Row
from benchmarks.peers import FILES, robots_folder

OPENS = 3.0
"""Seconds in which a person sees the robot."""
FRAME = 1 / 30
"""Seconds a frame may take."""

SERVE = """
import sys
import numpy as np
import linkwork as lw
from linkwork.view.viewer import Viewer

robot = lw.load(sys.argv[1], mimic="independent")
with Viewer(robot, port=0) as viewer:
    print(viewer.port, flush=True)
    sys.stdin.readline()
    t = np.linspace(0.0, 4.0, 201)
    swing = 0.3 * np.sin(np.pi / 2 * t)[:, None] * np.ones(robot.nq)
    viewer.load_motion({"time": t, "q": np.clip(swing, robot.limits.lower, robot.limits.upper)})
    viewer.playing.value = True
    sys.stdin.readline()
"""


def rows() -> list[Row]:
    path = robots_folder() / FILES["Talos"]
    measured = [_run(str(path)) for _ in range(3)]
    opened, frame = sorted(m[0] for m in measured)[1], sorted(m[1] for m in measured)[1]
    return [
        Row(
            "viewer opens", "Talos, 44 joints, meshes", opened, target=OPENS, smaller_is_better=True
        ),
        Row(
            "viewer streams a frame",
            "Talos, 44 joints, meshes",
            frame,
            target=FRAME,
            smaller_is_better=True,
        ),
    ]


def _run(path: str, seconds: float = 4.0) -> tuple[float, float]:
    """(seconds from nothing to a complete scene, seconds between frames of a motion)."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        messages = listen(int(process.stdout.readline()))
        meshes = 0
        for message in messages:
            meshes += message["type"] == "MeshMessage"
            if message["type"] == "ReplayDoneMessage":
                break
        opened = time.perf_counter() - began
        assert meshes >= 40, f"only {meshes} meshes came"
        process.stdin.write("\n")
        process.stdin.flush()
        return opened, seconds / _count_frames(messages, seconds)
    finally:
        process.communicate("\n", timeout=30)


def _count_frames(messages: Iterator[dict[str, Any]], seconds: float) -> int:
    """Rotations of a wrist that arrive in some seconds: one a frame."""
    first, count = 0.0, 0
    for message in messages:
        if message["type"] == "SetOrientationMessage" and message["name"].endswith(
            "/arm_left_7_link"
        ):
            first = first or time.perf_counter()
            if time.perf_counter() - first > seconds:
                return count
            count += 1
    raise AssertionError("the stream ended")


def listen(port: int) -> Iterator[dict[str, Any]]:
    """Every message a browser would get, decoded (the arrays behind them left alone)."""
    import msgspec.msgpack
    import viser
    import zstandard
    from websockets.sync.client import connect

    unpack = zstandard.ZstdDecompressor()
    with connect(
        f"ws://127.0.0.1:{port}", subprotocols=[f"viser-v{viser.__version__}"], max_size=None
    ) as socket:
        while True:
            data = socket.recv()
            size = int.from_bytes(data[8:16], "little")
            yield from msgspec.msgpack.decode(unpack.decompress(data[16 : 16 + size]))["messages"]
