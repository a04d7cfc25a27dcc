"""Figures 1 to 5 of paper 07: one, two and three links falling and held, the slider, ten links, the cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.lagrange import System
from linkwork.reproduce.paper_07 import GRAVITY, chains, complexity
from linkwork.simulation import PD, PID, simulate
from linkwork.view.redrawn.figure import Redrawn, flat, panels

GAINS = {1: ([200.0], [50.0], [110.0]), 2: ([100.0, 50.0], [50.0, 20.0], [80.0, 30.0])}
GAINS[3] = ([1000.0, 1000.0, 500.0], [200.0, 200.0, 100.0], [125.0, -30.0, -30.0])


def figures() -> tuple[Redrawn, ...]:
    names = {1: "one link", 2: "two links", 3: "three links"}
    return (
        *(
            Redrawn(f"figure-{n}", f"{names[n]}: damped, then under PD control; starts at rest", _links(n), (9.0, 6.0))
            for n in names
        ),
        Redrawn("figure-4", "joint 2 becomes a slider, 1 m to 0.1 m under PID control", _slider, (9.0, 6.0)),
        Redrawn("figure-5", "ten links, and operations of the torques of n links", _ten, (11.0, 5.0)),
    )


def _links(n: int) -> Any:
    def draw(figure: Any) -> None:
        system = chains()[n - 1]
        kp, kd, target = GAINS[n]
        free = simulate(system, duration=10, sample=0.01, tolerance=1e-9)
        held = simulate(system, duration=10, sample=0.01, control=PD(kp, kd, np.radians(target)), tolerance=1e-9)
        rows = [
            (title, "deg", {f"theta{k + 1}": np.degrees(run.q[:, k]) for k in range(n)})
            for title, run in (("(a) damped oscillation", free), ("(b) PD control", held))
        ]
        axes = panels(figure, free.time, rows)
        for angle in target:
            axes[1].axhline(angle, color="black", linewidth=0.8, linestyle=":")

    return draw


def _slider(figure: Any) -> None:
    system = chains()[2].replace_joint("joint2", "prismatic")
    control = PID([0, 500, 0], [0, 300, 0], [0, 100, 0], [0, 0.1, 0])
    run = simulate(system, [0.0, 1.0, 0.0], duration=10, sample=0.01, control=control, tolerance=1e-9)
    angles = {f"theta{k + 1}": np.degrees(run.q[:, k]) for k in (0, 2)}
    rows = [("length of the slider", "m", {"link 2": run.q[:, 1]}), ("angles of the free joints", "deg", angles)]
    panels(figure, run.time, rows)


def _ten(figure: Any) -> None:
    system = System.planar_chain("R" * 10, 0.5, 1.0, gravity=GRAVITY, drags=0.1)
    run = simulate(system, duration=4, sample=0.5, tolerance=1e-8)
    left, right = figure.subplots(1, 2)
    for k, q in enumerate(run.q):
        angles = np.cumsum(q)
        ends = np.cumsum(0.5 * np.column_stack([np.cos(angles), np.sin(angles)]), axis=0)
        flat(left, np.vstack([[0.0, 0.0], ends]), f"{run.time[k]:g} s", 0.25 + 0.75 * k / len(run.q))
    left.set_title("(a) ten links falling [m]", loc="left", fontsize=10)
    left.legend(fontsize=7, frameon=False)
    counted = complexity((1, 2, 3, 5, 7, 10))
    names = {"naive": "each body's Lagrangian", "full": "their sum", "columns": "columns", "recursive": "recursive"}
    for key, name in names.items():
        right.loglog(counted["links"], counted[key], "o-", label=name)
    right.set(xlabel="links", ylabel="operations of the torques")
    right.set_title("(b) cost of one evaluation", loc="left", fontsize=10)
    right.grid(alpha=0.25, which="both")
    right.legend(fontsize=8, frameon=False)
