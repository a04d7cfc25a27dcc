"""Figures 4 to 7 of paper 02: the recursion under limits of position and speed, and over fifty laps."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.reproduce.paper_02 import CORNER, DT, PI, ellipse, limited_laps, repeated
from linkwork.view.redrawn.figure import Redrawn, panels


def figures() -> tuple[Redrawn, ...]:
    return (
        Redrawn("figure-4", "joint 4 within 0.60 .. 0.85 rad", lambda f: _limited(f, 0), (8.0, 6.5)),
        Redrawn("figure-5", "the same, and joint 4 within 0.5 rad/s", lambda f: _limited(f, 1), (8.0, 6.5)),
        Redrawn("figure-6", "pseudo-inverse over 25 laps: the joints drift", _pseudo_inverse, (8.0, 6.5)),
        Redrawn("figure-7", "the recursion with recorded limits: the joints repeat", _recursive, (8.0, 6.5)),
    )


def _limited(figure: Any, which: int) -> None:
    robot = linkwork.load("planar-4r")
    q0, laps = limited_laps(robot)
    axes = _joints(figure, DT, np.vstack([q0, laps[which].q]))
    for bound in (0.60, 0.85):
        axes[0].axhline(bound, color="black", linewidth=0.8, linestyle=":")
    for bound in (-0.5, 0.5) if which else ():
        axes[1].axhline(bound, color="black", linewidth=0.8, linestyle=":")


def _pseudo_inverse(figure: Any) -> None:
    robot = linkwork.load("planar-4r")
    q0 = np.array([PI / 3, PI / 3, -PI / 2, -PI / 2])
    path, rate = ellipse(CORNER, 0.1, 0.2, 2.0, 0, 50_000)
    lost = robot.inverse_kinematics(path, "tip", q0, method="pseudo_inverse", dt=DT, gain=100.0, velocity=rate)
    _joints(figure, 10 * DT, lost.q[::10])


def _recursive(figure: Any) -> None:
    robot = linkwork.load("planar-4r")
    path, _ = ellipse(CORNER, 0.1, 0.2, 2.0, 0, 50_000)
    motion, _, _ = repeated(robot, path[1:], "one_sided")
    _joints(figure, 10 * DT, motion[::10])


def _joints(figure: Any, dt: float, q: np.ndarray) -> list[Any]:
    """Positions and velocities of the four joints."""
    time, v = dt * np.arange(len(q)), np.gradient(q, dt, axis=0)
    positions = {f"q{k + 1}": q[:, k] for k in range(4)}
    velocities = {f"q{k + 1}": v[:, k] for k in range(4)}
    return panels(figure, time, [("joint positions", "rad", positions), ("joint velocities", "rad/s", velocities)])
