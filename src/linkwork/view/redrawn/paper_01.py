"""Figures 3 and 11 of paper 01: the three example robots, and the configurations of the 20 s motion."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.reproduce.paper_01 import MOTION
from linkwork.view.redrawn.figure import Redrawn, marked, panels, standing


def figures() -> tuple[Redrawn, ...]:
    return (
        Redrawn("figure-3", "three robots by one recursion; their data are ours", _robots, (12.0, 4.5)),
        Redrawn("figure-11", "configurations of the validation motion", _configurations, (15.0, 4.2)),
        Redrawn("motion", "tips over the motion; circles: the corrected equations by hand", _tips, (8.0, 8.0)),
    )


def _robots(figure: Any) -> None:
    given = (
        ("(a) quadruped", "quadruped", np.tile([0.0, 0.8, -1.5], 4)),
        ("(b) fixed serial manipulator", "kuka-kr500", np.array([0.3, -1.2, 1.4, 0.5, -0.6, 0.7])),
        ("(c) hexapod", "hexapod", np.tile([0.0, -0.5, 1.5], 6)),
    )
    for k, (title, name, q) in enumerate(given):
        standing(figure, (1, 3, k + 1), linkwork.load(name), q, title)


def _configurations(figure: Any) -> None:
    robot = linkwork.load("charmie-2022")
    motion = robot.motions["validation"]
    for k, t in enumerate((0, 5, 10, 15, 20)):
        axes = standing(figure, (1, 5, k + 1), robot, motion.sample(float(t))[0], f"t = {t} s")
        axes.view_init(elev=14, azim=-60)


def _tips(figure: Any) -> None:
    robot = linkwork.load("charmie-2022")
    motion = robot.motions["validation"]
    time = np.linspace(0.0, motion.duration, 401)
    points = robot.points(motion.sample(time)[0])
    tips = {"left": points["12a"]["tip"], "right": points["12b"]["tip"], "head": points["8c"]["B"]}
    rows = [
        (f"{axis} of the tips", "mm", {name: 1e3 * x[:, i] for name, x in tips.items()}) for i, axis in enumerate("xyz")
    ]
    table: Any = MOTION
    for i, axes in enumerate(panels(figure, time, rows)):
        for j, where in enumerate(("left", "right", "head")):
            label = "computed by hand" if where == "head" else ""
            marked(axes, [row[0] for row in table], [row[3 + j][i] for row in table], label)
