"""Inverse kinematics: one pose, ten thousand poses, parts of a pose, a path without jumps,
and what cannot be reached.

python examples/inverse_kinematics.py            writes out/inverse_kinematics.png
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import linkwork as lw


def main() -> None:
    robot = lw.load("redundant-7")
    frame = "7.Oe"
    home = np.array([0.2, 0.6, -0.3, -1.2, 0.4, 0.8, 0.1])

    one = robot.inverse_kinematics(robot.pose(home, frame), frame)
    print(f"one pose: {one.reason}, {one.iterations} steps")

    poses = robot.pose(robot.random(10_000, seed=1), frame)
    robot.inverse_kinematics(poses[:8], frame)  # compiled now
    start = time.perf_counter()
    many = robot.inverse_kinematics(poses, frame)
    taken = time.perf_counter() - start
    print(
        f"10 000 poses: {many.success.mean():.2%} reached, {taken * 1e2:.2f} us each, error "
        f"{many.error.max():.1e}"
    )

    five = robot.inverse_kinematics(poses[:100], frame, axes="x y z rx ry")
    print(f"free about the tool's own axis: {five.success.sum()} of 100 reached")

    far = poses[0].copy()
    far[:3, 3] *= 20
    print(f"too far: {robot.inverse_kinematics(far, frame).reason}")

    angle = np.linspace(0, 2 * np.pi, 500)
    path = np.tile(robot.pose(home, frame), (500, 1, 1))
    path[:, :3, 3] += 0.03 * np.stack([np.cos(angle) - 1, np.sin(angle), 0 * angle], 1)
    motions = {
        "each point from the one before": robot.inverse_kinematics(path, frame, home, track=True),
        "staying near the start": robot.inverse_kinematics(
            path, frame, home, track=True, prefer="near"
        ),
    }
    plt.switch_backend("Agg")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="constrained")
    for plot, (title, motion) in zip(axes, motions.items(), strict=True):
        gap = np.abs(motion.q[-1] - motion.q[0]).max()
        print(
            f"circle, {title}: {motion.success.sum()} of 500 points, joints end {gap:.1e} rad from "
            "their start"
        )
        plot.plot(np.degrees(angle), motion.q - motion.q[0])
        plot.set(title=title, xlabel="angle on the circle [deg]")
    axes[0].set_ylabel("joint angles from the start [rad]")
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/inverse_kinematics.png", dpi=110)
    print("wrote out/inverse_kinematics.png")


if __name__ == "__main__":
    main()
