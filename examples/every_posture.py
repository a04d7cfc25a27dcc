"""Every posture of two cobots for one target, and which of them are inside the limits and far from
singular.

python examples/every_posture.py            writes out/every_posture.png
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import linkwork as lw
from linkwork.view.drawing import draw_picture


def main() -> None:
    plt.switch_backend("Agg")
    figure = plt.figure(figsize=(11, 5.5), layout="constrained")
    for k, name in enumerate(("ur5e", "crx-10ial")):
        robot = lw.load(name)
        tip = robot.bodies[-1]
        q = robot.random(seed=12)
        target = robot.pose(q, tip)
        found = robot.inverse_kinematics_all(target, tip)
        inside = found.within(robot.limits.lower, robot.limits.upper)
        print(f"{name} ({found.family}): {found.count} postures, {inside.count} inside the limits")
        for row, residual in zip(found.q, found.residual):
            measure = float(robot.manipulability(row, tip))
            print(
                f"  {np.degrees(row).round(1)} deg   residual {residual:.1e}   manipulability "
                f"{measure:.4f}"
            )
        axes = figure.add_subplot(1, 2, k + 1)
        draw_picture(
            axes, robot, found.q[0], ghosts=found.q[1:], points=[target[:3, 3]], size=(800, 720)
        )
        axes.set_title(f"{name}: {found.count} postures, one tool pose", loc="left")
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/every_posture.png", dpi=110)
    print("wrote out/every_posture.png")


if __name__ == "__main__":
    main()
