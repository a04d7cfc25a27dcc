"""Relative dyads: couplers between a driver and the body that it drives,
through four or five pairs of a function.

The driver as the driven body sees it has a pose for every pair. A coupler keeps the distance of a
pin B on the driver from a pin C on the driven body: a dyad of these poses, with C as its ground
pivot. A rocker's ground link is such a dyad too, and is left out.
Source: [McCarthy2011] section 5.3.
"""

from __future__ import annotations

import numpy as np

from linkwork.errors import InvalidInput
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.task import PlanarTask, troubles

GROUND_LINK = 1e-6
"""Pins nearer to the ground pivots [ground links] are the ground link itself."""


def couplers(
    phi: np.ndarray, psi: np.ndarray, output: str, count: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(B, C) (m,) at the first pair: all of them for five pairs, those of `count` draws for four.

    The driver turns by phi (n,) about 0; a rocker by psi about 1, a slider travels by psi along x.
    Where the driven link turns like the driver every parallelogram does it, and `count` of them are
    drawn.
    """
    # the origin of the driver, and its angle, in axes of the driven body at the first pair
    poses = (
        PlanarTask(1.0 - np.exp(-1j * psi), phi - psi)
        if output == "rocker"
        else PlanarTask(-psi + 0j, phi)
    )
    trouble = str(troubles(poses)[()])
    if trouble.startswith("positions"):
        raise InvalidInput(
            f"function_generator: {trouble.replace('positions', 'pairs')}; leave one of them out"
        )
    if trouble:  # pure translation: the driven link turns like the driver
        B = random.normal(size=(count, 2)) @ np.array([1.0, 1j])
        return B, 1.0 + B
    if poses.n == 4:
        poses = PlanarTask(np.broadcast_to(poses.positions, (count, 4)), poses.angles)
        answers = dyads(poses, {2: random.uniform(-np.pi, np.pi, size=count)})
    else:
        answers = dyads(poses)
    assert isinstance(answers, Dyads)
    B, C = answers.moving[answers.valid], answers.ground[answers.valid]
    if output == "rocker":
        trivial = (np.abs(B) < GROUND_LINK) & (np.abs(C - 1.0) < GROUND_LINK)
        B, C = B[~trivial], C[~trivial]
    return B, C
