"""A thousand arms at once: an UR5e under sampled computed torque from a thousand states,
in machine code.

python examples/thousand_motions.py
"""

from __future__ import annotations

import time

import casadi
import numpy as np

import linkwork as lw
from linkwork.simulation import ComputedTorque, Sampled, simulate


def main() -> None:
    robot = lw.load("ur5e")
    target = lambda t: 0.5 * casadi.sin(t) * np.ones(6)
    control = Sampled(ComputedTorque(400.0, 40.0, target), period=2e-3, delay=1e-3, limit=150.0)
    q = robot.random(1000, seed=0) * 0.2
    options = dict(duration=2.0, step=1e-3, sample=0.1, control=control)
    simulate(robot, q[:16], **options)  # compile
    start = time.perf_counter()
    run = simulate(robot, q, **options)
    taken = time.perf_counter() - start
    error = np.abs(run.q[:, -1] - 0.5 * np.sin(2.0)).max(-1)
    print(run)
    print(
        f"{taken:.2f} s for {run.q.shape[0]} motions of 2 s: {2 * len(q) / taken:.0f} times "
        "real time"
    )
    print(
        f"error at the end {error.max():.2e} rad; energies balance to "
        f"{np.abs(run['energy.balance']).max():.1e} J"
    )


if __name__ == "__main__":
    main()
