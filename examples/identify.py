"""Identification: masses, inertias and friction from noisy torques, and how well they predict.

python examples/identify.py
"""

from __future__ import annotations

import numpy as np

import linkwork as lw


def main() -> None:
    robot = lw.load("ur5e")
    motion = lw.studies.excitation(robot, duration=10.0, rate=200.0)
    print(motion)

    tau = robot.inverse_dynamics(motion.q, motion.v, motion.a) + 3.0 * motion.v + np.sign(motion.v)
    noise = 0.01 * tau.std(axis=0)
    noisy = tau + noise * np.random.default_rng(0).normal(size=tau.shape)
    found = lw.studies.identify(robot, motion.q, motion.v, motion.a, noisy)
    print(found)
    for name, value, deviation in zip(found.base.names[:5], found.values, found.deviation):
        print(f"  {value:9.5f} +- {deviation:.5f}  {name[:80]}")

    better = robot.with_parameters(found)
    other = lw.studies.excitation(robot, seed=7)
    true = robot.inverse_dynamics(other.q, other.v, other.a) + 3.0 * other.v + np.sign(other.v)
    error = (
        better.inverse_dynamics(other.q, other.v, other.a) + better.friction_torque(other.v) - true
    )
    worst = float((np.abs(error) / noise).max())
    print(f"torques of a motion not seen before are within {worst:.2f} times the noise")
    if worst > 2.0:
        raise SystemExit(
            "the identified parameters predict worse than twice the noise they were measured with"
        )


if __name__ == "__main__":
    main()
