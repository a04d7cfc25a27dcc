"""Tasks with costs: an arm that follows its tool,
and a legged robot that leans while its feet stand still.

python examples/differential_ik.py            writes out/differential_ik.png
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import linkwork as lw
from linkwork.inverse.tasks import CenterOfMassTask, FrameTask, PostureTask

DT = 0.02


def follow_a_circle(robot: lw.Robot) -> tuple[np.ndarray, np.ndarray]:
    """UR5e: the tool on a circle, joints near their first posture,
    speeds and accelerations limited."""
    q, v = np.array([0.1, -1.4, 1.6, -1.7, -1.5, 0.2]), np.zeros(6)
    first, posture = robot.pose(q, "tool0"), PostureTask(q, cost=1e-3)
    errors, speeds = [], []
    for k in range(300):
        target = first.copy()
        angle = 2 * np.pi * k * DT / 4
        target[:3, 3] += 0.1 * np.array([0.0, np.cos(angle) - 1, np.sin(angle)])
        tool = FrameTask("tool0", target, position_cost=1.0, rotation_cost=0.5)
        v = robot.differential_inverse_kinematics(q, [tool, posture], DT, v, acceleration=20.0)
        q = robot.integrate(q, v * DT)
        errors.append(np.linalg.norm(robot.pose(q, "tool0")[:3, 3] - target[:3, 3]))
        speeds.append(v)
    return np.array(errors), np.array(speeds)


def lean(robot: lw.Robot, feet: tuple[str, ...], posture: np.ndarray) -> np.ndarray:
    """The centre of mass moves 3 cm to the side and 2 cm down; the feet hold as constraints."""
    q = posture.copy()
    holds = [FrameTask(foot, robot.pose(q, foot)) for foot in feet]
    goal = robot.center_of_mass(q) + np.array([0.0, 0.03, -0.02])
    tasks = [CenterOfMassTask(goal, gain=0.2), PostureTask(posture, cost=1e-2)]
    path = [robot.center_of_mass(q)]
    for _ in range(100):
        v = robot.differential_inverse_kinematics(q, tasks, DT, constraints=holds, damping=1e-8)
        q = robot.integrate(q, v * DT)
        path.append(robot.center_of_mass(q))
    slip = max(
        np.abs(robot.pose(q, foot) - hold.target).max()
        for foot, hold in zip(feet, holds, strict=True)
    )
    print(
        f"feet moved by {slip:.1e} m, centre of mass is {np.linalg.norm(path[-1] - goal):.1e} m "
        "from its goal"
    )
    return np.array(path) - path[0]


def main() -> None:
    arm = lw.load("ur5e")
    errors, speeds = follow_a_circle(arm)
    print(
        f"tool on the circle within {errors[20:].max() * 1e3:.2f} mm, fastest joint "
        f"{np.abs(speeds).max():.2f} rad/s"
    )

    legged = lw.load("forrest")
    feet = ("left_sole", "right_sole")
    bent = {"hip_pitch": 0.4, "knee_pitch": -0.8, "ankle_pitch": 0.4}
    posture = legged.q(
        **{f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in bent.items()}
    )
    print(f"{legged.name}: {legged.nv} degrees of freedom, feet {', '.join(feet)}")
    path = lean(legged, feet, posture)

    plt.switch_backend("Agg")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    axes[0].plot(DT * np.arange(len(errors)), 1e3 * errors)
    axes[0].set(title="UR5e on a circle", xlabel="time [s]", ylabel="tool from its target [mm]")
    axes[1].plot(DT * np.arange(len(path)), 1e2 * path, label=["x", "y", "z"])
    axes[1].set(title="leaning on fixed feet", xlabel="time [s]", ylabel="centre of mass [cm]")
    axes[1].legend(frameon=False)
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/differential_ik.png", dpi=110)
    print("wrote out/differential_ik.png")


if __name__ == "__main__":
    main()
