"""Does my cell collide? An arm between a table, a post and a wall: verdicts, clearances,
a motion proved free.

python examples/collision.py
"""

from __future__ import annotations

import time

import numpy as np

import linkwork as lw
from linkwork.collision import Box, Capsule, CollisionModel, HalfSpace, Obstacles


def capsules(robot: lw.Robot, radius: float) -> dict[str, list[Capsule]]:
    """A capsule from joint to joint, for a description that has no shapes."""
    found: dict[str, list[Capsule]] = {}
    for joint in robot.model.joints:
        end = np.array(joint.placement.position)
        if joint.parent is not None and np.linalg.norm(end) > 2 * radius:
            found.setdefault(joint.parent, []).append(Capsule((0, 0, 0), end, radius))
    return found


def main() -> None:
    robot = lw.load("ur5e")
    model = CollisionModel(robot, capsules(robot, 0.05))
    cell = Obstacles(
        {
            "table": Box((1.2, 1.2, 0.1), (0.0, 0.0, -0.16)),
            "post": Capsule((0.5, 0.3, 0.0), (0.5, 0.3, 0.8), 0.04),
            "wall": HalfSpace((1, 0, 0), -0.6),
        }
    )
    print(model)
    print(model.report)
    q = robot.random(50_000, seed=0)
    model.collides(q[:8], cell)  # compiled once
    start = time.perf_counter()
    touching = model.collides(q, cell)
    taken = time.perf_counter() - start
    print(
        f"{len(q)} configurations: {touching.mean():.0%} touch something, "
        f"{1e9 * taken / len(q):.0f} ns each"
    )

    free = model.free_samples(2, cell, seed=1)
    nearest = model.clearance(free[0], cell)
    print(f"nearest: {nearest.body} and {nearest.other}, {1e3 * nearest.distance:.1f} mm apart")
    moved = cell.moved("post", (0.4, -0.4, 0.4))  # compiles nothing
    print("with the post elsewhere:", f"{1e3 * model.clearance(free[0], moved).distance:.1f} mm")
    certificate = model.certify_motion(free[0], free[0] + 0.2 * (free[1] - free[0]), cell)
    print(
        "a motion, proved:",
        "free" if certificate.free else "touches" if certificate.collides else "undecided",
    )


if __name__ == "__main__":
    main()
