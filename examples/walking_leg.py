"""A walking leg: a foot that glides along the ground and swings back,
by a four-bar and by a six-bar.

python examples/walking_leg.py
"""

from __future__ import annotations

import numpy as np

import linkwork as lw


def foot(n: int) -> np.ndarray:
    """A step of 0.4 m: most of the points on the ground, the others in an arc above it."""
    on_ground = np.linspace(0.2, -0.2, n - n // 3)
    swing = np.linspace(np.pi, 0.0, n // 3 + 2)[1:-1]
    return np.concatenate([on_ground + 0j, 0.2 * np.cos(swing) + 0.12j * np.sin(swing)])


def main() -> None:
    points = foot(12)
    on_ground = np.where(points.imag == 0, 4.0, 1.0)  # the ground matters more than the swing
    task = lw.synthesis.PlanarTask(points, weights=on_ground)
    for topology, starts in (("four-bar", 1000), ("Watt I", 400)):
        found = lw.synthesis.fit(task, topology, starts=starts)
        print(
            f"{topology}: off by {1e6 * found.rms[0]:.1f} um rms, {1e6 * found.worst[0]:.1f} um "
            "at worst"
        )

    leg = lw.synthesis.fit(
        task, starts=1000, bounds={"ground": (-1, 0.2, 1, 2.5), "length": (0.1, 1.5)}
    )
    if len(leg):
        verdict = lw.synthesis.check(leg[0])
        print(
            f"with its pivots above the ground and bars below 1.5 m: {1e6 * leg.rms[0]:.1f} um "
            f"rms, {verdict.kind}"
        )


if __name__ == "__main__":
    main()
