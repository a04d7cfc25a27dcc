"""Figure 4 of paper 03: a path in minimum time, with the torque that decides."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.reproduce.paper_03 import END, LIMITS
from linkwork.trajectory import Path, minimum_time
from linkwork.view.redrawn.figure import Redrawn, panels


def figures() -> tuple[Redrawn, ...]:
    caption = "minimum time along a straight joint path of the five-joint arm; path and limits are ours"
    return (Redrawn("figure-4", caption, _minimum_time, (8.0, 7.5)),)


def _minimum_time(figure: Any) -> None:
    robot = linkwork.load("christoffel-5")
    law = minimum_time(robot, Path.line(np.zeros(5), END), LIMITS, points=1601)
    time = np.linspace(0.0, law.duration, 601)
    q, v, a = law.at(time)
    share = robot.inverse_dynamics(q, v, a) / np.array(LIMITS)
    rows = [
        (f"joint angles: {law.duration:.5f} s", "rad", {f"q{k + 1}": q[:, k] for k in range(5)}),
        ("joint velocities", "rad/s", {f"v{k + 1}": v[:, k] for k in range(5)}),
        ("torque over its limit", "1", {f"tau{k + 1}": share[:, k] for k in range(5)}),
    ]
    torques = panels(figure, time, rows)[2]
    for bound in (-1.0, 1.0):
        torques.axhline(bound, color="black", linewidth=0.8, linestyle=":")
