"""The main job: every load of a robot with closed loops over a motion,
beside the published figures, and a picture.

python examples/demo.py               writes out/charmie.html, .png and .csv, then serves the viewer
                                      until Ctrl-C
python examples/demo.py --no-serve    ends by itself; so it does where CI=true
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

import linkwork as lw
from linkwork.reproduce.paper_04 import MOTION
from linkwork.view.drawing import draw_columns, draw_picture
from linkwork.view.report import write_report

HAND, LIFT, TORSO = 2, 6, 7
"""Columns of the table of the reproduce room: the hand's place [mm],
the forces of both linear actuators [N]."""


def main() -> None:
    console = Console(width=124)
    robot = lw.load("charmie")
    console.print(str(robot), highlight=False)

    analysis = robot.analyse("validation")
    start = time.perf_counter()
    analysis = robot.analyse("validation")
    taken = time.perf_counter() - start
    console.print(
        f"\n{len(analysis.time)} instants of the validation motion, every joint, strut, spring and "
        "ground load: "
        f"{1e3 * taken:.1f} ms\n"
    )
    worst = show_beside_the_paper(robot, analysis, console)
    if worst > 1e-3:
        raise SystemExit(f"the analysis differs from the published data by {worst:g}")

    out = Path("out")
    out.mkdir(exist_ok=True)
    draw(robot, analysis, out / "charmie.png")
    analysis.to_csv(out / "charmie.csv")
    write_report(robot, out / "charmie.html", analysis, "CHARMIE, validation motion")
    console.print(
        f"wrote {out}/charmie.html (open it in a browser), .png and .csv "
        f"({len(analysis.names)} columns)"
    )

    ur = lw.load("ur5e")
    q = ur.random(100_000, seed=0)
    ur.gravity_torque(q)
    start = time.perf_counter()
    tau = ur.gravity_torque(q)
    taken = time.perf_counter() - start
    console.print(
        f"\ngravity torques of 100 000 configurations of a UR5e, shape {tau.shape}: "
        f"{1e3 * taken:.1f} ms"
    )
    if served(sys.argv[1:], os.environ):
        serve(robot, console)


def show_beside_the_paper(robot: lw.Robot, analysis, console: Console) -> float:
    """Key figures of the motion, ours above the paper's; the largest difference of all [mm, N]."""
    hand = robot.pose(analysis.q, "12a.D")[:, :3, 3] * 1e3
    table = Table(
        r"t \[s]", "", r"left hand x, y, z \[mm]", r"lift "
                                                   r"actuator \[N]", r"torso "
                                                                     r"actuator \[N]", "largest difference",
        title="ours beside the paper's equations, printing errors corrected "
              "(linkwork reproduce 04 lists them)",
    )  # fmt: skip
    worst = 0.0
    for row in MOTION:
        if row[1] == "before":  # the same instant before accelerations jump
            continue
        k = int(np.argmin(np.abs(analysis.time - row[0])))
        ours = [*hand[k], *(float(analysis[f"actuator.{name}"][k]) for name in ("act4", "act5"))]
        paper = [*row[HAND], row[LIFT], row[TORSO]]
        difference = float(np.abs(np.subtract(ours, paper)).max())
        worst = max(worst, difference)
        table.add_row(f"{row[0]:g}", "linkwork", *_numbers(ours), "")
        table.add_row("", "paper", *_numbers(paper), f"{difference:.1e}", end_section=True)
    console.print(table)
    return worst


def _numbers(values) -> list[str]:
    return ["  ".join(f"{x:9.3f}" for x in values[:3]), f"{values[3]:.4f}", f"{values[4]:.4f}"]


def served(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the viewer follows: not where nobody would end it."""
    return "--no-serve" not in words and environment.get("CI") != "true"


def serve(robot: lw.Robot, console: Console) -> None:
    """The motion in the browser, from this machine alone; without a screen the address is
    printed."""
    import webbrowser

    from linkwork.view.viewer import Viewer

    with Viewer(robot, port=0) as viewer:
        viewer.load_motion("validation")
        stand = viewer.stands[0]
        for loads in ("joint forces", "joint moments", "actuator loads"):
            stand.options[loads].value = True
        stand.trail("12a.D")
        stand.plot("actuator.act5")
        viewer.playing.value = True
        console.print(f"the viewer plays the motion at {viewer.address} (Ctrl-C ends)")
        if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            webbrowser.open(viewer.address)
        viewer.wait()
    console.print("ended")


def draw(robot: lw.Robot, analysis, path: Path) -> None:
    """The robot at six instants with the way of its hands,
    and the loads that an engineer sizes actuators by."""
    plt.switch_backend("Agg")
    figure = plt.figure(figsize=(13, 6.4), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(0.9, 1))
    instants = np.linspace(0, len(analysis) - 1, 6).round().astype(int)
    hands = [robot.pose(analysis.q, f"12{side}.D")[:, :3, 3] for side in "ab"]
    for k, at in enumerate(instants):
        axes = above.add_subplot(1, len(instants), k + 1)
        ways = [way[: at + 1] for way in hands] if at else []
        draw_picture(axes, robot, analysis.q[at], paths=ways, view=(-62.0, 10.0), size=(420, 520))
        axes.set_title(f"{analysis.time[at]:g} s", fontsize=10, y=-0.06)
    above.suptitle(
        "CHARMIE over its validation motion: struts red, springs green, the ways of its "
        "hands yellow",
        fontsize=11,
    )
    columns = analysis.columns
    panels = (
        ("force of the linear actuators", "N", {"lift": "actuator.act4", "torso": "actuator.act5"}),
        (
            "torque of the left arm's motors",
            "N m",
            {n: f"actuator.th{n}" for n in ("7a", "8a", "9a", "10a")},
        ),
        ("force of the ground", "N", {"x": "force.base.x", "y": "force.base.y"}),
    )
    for axes, (title, unit, names) in zip(below.subplots(1, 3), panels, strict=True):
        draw_columns(
            axes,
            analysis.time,
            {label: columns[name] for label, name in names.items()},
            unit,
            title,
        )
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
