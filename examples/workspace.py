"""Half a million configurations: how far an arm reaches, and where it moves well.

python examples/workspace.py            writes out/workspace.png
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import linkwork as lw

SAMPLES = 500_000


def main() -> None:
    robot = lw.load("ur5e").prepare("pose", "manipulability", "gravity_torque", frame="tool0")
    q = robot.random(SAMPLES, seed=0)
    start = time.perf_counter()
    tool = robot.pose(q, "tool0")[:, :3, 3]
    measure = robot.manipulability(q, "tool0")
    torque = np.abs(robot.gravity_torque(q)).max(axis=0)
    taken = time.perf_counter() - start
    print(
        f"{SAMPLES} poses, manipulabilities and gravity torques: {taken:.2f} s, "
        f"{1e9 * taken / SAMPLES:.0f} ns a sample"
    )
    print(
        "reach [m]:",
        np.linalg.norm(tool, axis=1).max().round(4),
        "  largest torque at rest [N m]:",
        torque.round(1),
    )

    plt.switch_backend("Agg")
    radius = np.hypot(tool[:, 0], tool[:, 1])
    best, r, z = np.histogram2d(radius, tool[:, 2], bins=90, weights=measure)
    count, _, _ = np.histogram2d(radius, tool[:, 2], bins=(r, z))
    figure, axes = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
    shown = axes.pcolormesh(
        r, z, np.where(count > 0, best / np.maximum(count, 1), np.nan).T, cmap="viridis"
    )
    figure.colorbar(shown, label="mean manipulability")
    axes.set(xlabel="distance from the axis of the base [m]", ylabel="height [m]", aspect="equal")
    axes.set_title(
        "UR5e: where the tool gets, and how well it moves there", loc="left", fontsize=10
    )
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/workspace.png", dpi=110)
    print("wrote out/workspace.png")


if __name__ == "__main__":
    main()
