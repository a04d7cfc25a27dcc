"""Identification: masses and inertias from noisy torques, by the regressor, and how well they predict.

python examples/identify.py
"""

from __future__ import annotations

import numpy as np

import linkwork as lw

NOISE = 0.05  # N m


def main() -> None:
    robot = lw.load("ur5e")
    rng = np.random.default_rng(0)

    def measured(n: int) -> tuple[np.ndarray, np.ndarray]:
        """Regressor and torques of n random states."""
        q, v, a = robot.random(n, seed=int(rng.integers(1 << 30))), rng.normal(size=(n, 6)), rng.normal(size=(n, 6))
        return robot.regressor(q, v, a), robot.inverse_dynamics(q, v, a)

    Y, tau = measured(2000)
    noisy = (tau + NOISE * rng.normal(size=tau.shape)).ravel()
    found, _, rank, _ = np.linalg.lstsq(Y.reshape(len(noisy), -1), noisy, rcond=1e-9)
    print(f"{Y.shape[-1]} parameters, of which {rank} combinations can be seen in the torques")

    Y_new, tau_new = measured(500)
    error = Y_new @ found - tau_new
    print(f"torques of states not seen before are predicted within {np.abs(error).max():.3f} N m (noise {NOISE} N m)")
    print("rms error by joint [N m]:", np.sqrt((error**2).mean(axis=0)).round(4))
    if np.abs(error).max() > 3 * NOISE:
        raise SystemExit("the identified parameters predict worse than the noise they were measured with")


if __name__ == "__main__":
    main()
