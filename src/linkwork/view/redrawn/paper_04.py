"""Figures 8, 12 and 13 of paper 04: the complete model, the hand's path, the force on the base."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.reproduce.paper_04 import MOTION
from linkwork.view.redrawn.figure import Redrawn, marked, panels, standing


def figures() -> tuple[Redrawn, ...]:
    return (
        Redrawn("figure-8", "the complete model: struts red, springs green, bars grey", _model, (11.0, 4.2)),
        Redrawn("figure-12", "point D of body 12a; circles: the corrected equations", _hand, (8.0, 7.0)),
        Redrawn("figure-13", "force of body 2 on body 3, axes of body 3; circles: as above", _base, (8.0, 7.0)),
    )


def _model(figure: Any) -> None:
    robot = linkwork.load("charmie")
    motion = robot.motions["validation"]
    for k, t in enumerate((0.0, 2.0, 5.0)):
        axes = standing(figure, (1, 3, k + 1), robot, motion.sample(t)[0], f"t = {t:g} s")
        axes.view_init(elev=14, azim=-50)


def _sampled() -> tuple[linkwork.Robot, Any]:
    robot = linkwork.load("charmie")
    return robot, robot.analyse("validation", steps=2001)


def _hand(figure: Any) -> None:
    robot, analysis = _sampled()
    hand = 1e3 * robot.points(analysis.q)["12a"]["D"]
    _beside(figure, analysis.time, [(f"{a} of the left claw", "mm", hand[:, i]) for i, a in enumerate("xyz")], 2)


def _base(figure: Any) -> None:
    _, analysis = _sampled()
    force = analysis.loads.joint_wrench("3")[:, :3]
    _beside(figure, analysis.time, [(f"force along {a}", "N", force[:, i]) for i, a in enumerate("xyz")], 3)


def _beside(figure: Any, time: np.ndarray, rows: list[tuple[str, str, np.ndarray]], column: int) -> None:
    """Our curves, and the computed instants of the reproduce room's table in one of its columns."""
    table: Any = MOTION
    found = panels(figure, time, [(title, unit, {"linkwork": x}) for title, unit, x in rows])
    for i, axes in enumerate(found):
        marked(axes, [row[0] for row in table], [row[column][i] for row in table], "corrected equations")
