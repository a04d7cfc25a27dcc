"""Tasks with published or recomputed answers, for the tests of this room."""

from __future__ import annotations

import numpy as np

from linkwork.synthesis import PlanarTask

TABLE_4 = PlanarTask(
    [-21.700 + 22.035j, -11.883 + 12.018j, -5.973 + 11.767j, 4.744 + 10.766j, 5.345 + 12.318j],
    np.deg2rad([0, 19.684, 30.751, 59.361, 84.696]),
)
"""[Mather2023] Table 4."""

CRANK_ROCKER = PlanarTask(
    [
        1.60434 + 2.75205j,
        1.383769 + 3.172411j,
        0.511187 + 2.791899j,
        -0.085435 + 1.875011j,
        0.288032 + 1.559724j,
    ],
    np.deg2rad([0, -13.532139, -15.305300, -2.776044, 16.655417]),
)
"""Five positions of a crank-rocker: ground 4, crank 1, coupler 3.5, rocker 2.5."""

W, V, Z = 2 + 1j, 1.5 - 0.5j, -0.5 + 2j
ALPHA = np.deg2rad([0, 15, 35, 50, 70, 95, 110])
BETA = np.deg2rad([0, -10, 12, -25, 30, 18, -40])
GAMMA = np.deg2rad([0, 8, -20, 25, 40, -35, 60])
turn = lambda x: np.exp(1j * x) - 1
TRIAD = PlanarTask(W * turn(ALPHA) + V * turn(BETA) + Z * turn(GAMMA), GAMMA)


def random_tasks(count: int, n: int, seed: int) -> PlanarTask:
    """Poses without any pattern."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(count, n)) + 1j * random.normal(size=(count, n))
    return PlanarTask(points, random.uniform(-3, 3, size=(count, n)))
