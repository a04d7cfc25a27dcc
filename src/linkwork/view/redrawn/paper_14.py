"""Figure 3 of paper 14: every posture of the example pose."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.reproduce.paper_14 import EXAMPLE, FRAME
from linkwork.view.redrawn.figure import Redrawn, standing


def figures() -> tuple[Redrawn, ...]:
    caption = "the eight postures that reach the pose; the paper draws sixteen, of which eight do not"
    return (Redrawn("figure-3", caption, _postures, (13.0, 7.0)),)


def _postures(figure: Any) -> None:
    robot = linkwork.load("crx-10ial")
    T = robot.pose(np.radians(EXAMPLE), FRAME)
    found = robot.inverse_kinematics_all(T, FRAME)
    for k, q in enumerate(found.q):
        title = " ".join(f"{angle:.0f}" for angle in np.degrees(q))
        axes = standing(figure, (2, 4, k + 1), robot, q, f"{k + 1}: {title}")
        axes.scatter(*T[:3, 3], color="#d1495b", s=25)
        axes.set(xlim=(-0.6, 0.6), ylim=(-0.6, 0.6), zlim=(0.0, 1.2))
