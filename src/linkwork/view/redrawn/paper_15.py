"""Figures 2 and 3 of paper 15: a shoulder singularity, and the way through the finite-state machine."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork
from linkwork.inverse.analytic.villalobos import Thresholds, algorithm_2, forward
from linkwork.reproduce.paper_15 import ARM, TESTS
from linkwork.view.redrawn.figure import Redrawn, standing


def figures() -> tuple[Redrawn, ...]:
    return (
        Redrawn("figure-2", "the wrist point above axis 1: test 4, and a regular pose", _shoulder, (10.0, 5.0)),
        Redrawn("figure-3", "states that the machine visits in the ten tests", _states, (9.0, 6.5)),
    )


def _shoulder(figure: Any) -> None:
    robot = linkwork.load("ur5-villalobos")
    for k, (title, test) in enumerate((("singular: test 4", 4), ("regular: test 7", 7))):
        q = np.array(TESTS[test - 1])
        report = robot.singularity(q, "tool0")
        axes = standing(figure, (1, 2, k + 1), robot, q, f"{title}, smallest singular value {report.sigma_min:.2g}")
        low, high = axes.get_zlim()
        axes.plot([0, 0], [0, 0], [low, high], color="#d1495b", linewidth=1, linestyle="--")


def _states(figure: Any) -> None:
    axes = figure.add_subplot()
    levels = {state: k for k, state in enumerate((1, 5, 6, 3, 24))}
    for test, theta in enumerate(TESTS, 1):
        trace = algorithm_2(ARM, forward(ARM, theta), [0.0] * 6, Thresholds.paper()).trace
        x = test + np.linspace(0.0, 0.8, len(trace))
        axes.plot(x, [levels[state] for state in trace], "o-", markersize=4, linewidth=1.4)
    axes.set_yticks(list(levels.values()), ["theta 2, 4" if state == 24 else f"theta {state}" for state in levels])
    axes.set_xticks(np.arange(1, 11) + 0.4, [str(k) for k in range(1, 11)])
    axes.set(xlabel="test", title="decisions joint by joint; a step down is a way back")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
