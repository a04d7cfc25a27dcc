"""A motion around obstacles: found, shortened, proved free, timed; then many at once.

python examples/plan.py
"""

from __future__ import annotations

import time

import numpy as np

import linkwork as lw
from linkwork.collision import Box, Capsule, Obstacles
from linkwork.planning import plan, plan_many


def main() -> None:
    robot = lw.load("ur5e")
    model = lw.collision.model(robot)
    cell = Obstacles(
        {
            "table": Box((1.2, 1.2, 0.1), (0.0, 0.0, -0.16)),
            "post": Capsule((-0.45, -0.05, 0.0), (-0.45, -0.05, 0.8), 0.04),
        }
    )
    start = np.array([-0.8, -1.2, 1.6, -0.4, 0.0, 0.0])
    goal = np.array([1.5, -1.2, 1.6, -0.4, 0.0, 0.0])
    plan(model, start, goal, cell)  # compiled once
    answer = plan(model, start, goal, cell)
    print(answer)
    print(answer.path.round(3))
    law = answer.timed(acceleration_limits=np.full(6, 8.0))
    print(f"the fastest motion along it takes {law.duration:.2f} s")
    goals = goal + np.random.default_rng(1).uniform(-0.6, 0.6, (30, 6))
    goals = goals[~model.collides(goals, cell)]
    before = time.perf_counter()
    plans = plan_many(model, start, goals, cell)
    print(plans, f"in {1e3 * (time.perf_counter() - before):.0f} ms")


if __name__ == "__main__":
    main()
