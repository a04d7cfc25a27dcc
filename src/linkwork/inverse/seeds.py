"""Seeds: where attempts start. They depend on the attempt's number only,
so an answer does not depend on its place.

    x_k = centre + spread (2 frac(1/2 + k g) - 1),     g = (1/p, 1/p^2, ...),  p^(n+1) = p + 1

a Kronecker sequence that fills the box evenly however many points are taken; x_0 is the centre,
from where more targets are reached than from anywhere else. (Recursive sweeps before the first step
save a fifth of the steps of seven-axis arms and cost more than that, so there are none.)

Source: [Roberts2018] for g, the generalised golden ratio.
"""

from __future__ import annotations

import math

import casadi
import numpy as np
from casadi import SX

from linkwork.inverse.mechanism import Mechanism

SPREAD = 0.8
"""Of half the range: starts near the ends of the ranges succeed less often."""


def box(
    mechanism: Mechanism, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(centre, spread) of the one-coordinate joints: the range,
    cut to one turn (or the reach) where it is longer."""
    sliding = {k for k in range(mechanism.n) if mechanism.units[k] != 1.0}
    centre, spread = np.zeros(len(mechanism.single)), np.zeros(len(mechanism.single))
    for i, ((_, k), low, high) in enumerate(zip(mechanism.single, lower, upper, strict=True)):
        most = mechanism.reach if k in sliding else math.pi
        if math.isinf(low) and math.isinf(high):
            low, high = -most, most
        elif math.isinf(low) or math.isinf(high):
            low, high = (low, low + 2 * most) if math.isinf(high) else (high - 2 * most, high)
        centre[i], spread[i] = (low + high) / 2, SPREAD * min((high - low) / 2, most)
    return centre, spread


def directions(n: int) -> np.ndarray:
    """g."""
    p = 1.5
    for _ in range(80):
        p = (1 + p) ** (1 / (n + 1))
    return np.array([p ** -(k + 1) % 1.0 for k in range(n)])


def seed(mechanism: Mechanism, k: SX, x: SX, centre: SX, spread: SX) -> SX:
    """The k-th start. Ball joints turn from neutral by up to half a turn about each axis;
    floating joints stay at x."""
    t = [k * float(g) + 0.5 for g in directions(mechanism.n)]
    wave = [2 * (s - casadi.floor(s)) - 1 for s in t]
    home, offset = SX(x), SX(mechanism.n, 1)
    for i, (q, v) in enumerate(mechanism.single):
        home[q], offset[v] = centre[i], spread[i] * wave[v]
    for q, v in _balls(mechanism):
        home[q : q + 4] = SX([0, 0, 0, 1])
        for j in range(v, v + 3):
            offset[j] = SPREAD * math.pi * wave[j]
    return mechanism.moved(home, offset)


def _balls(mechanism: Mechanism) -> list[tuple[int, int]]:
    """(first q, first v) of ball joints, as places in the mechanism's coordinates."""
    own_q, own_v = mechanism.tree.independent
    nodes = [n for n in mechanism.tree.nodes if n.row.is_ball and own_v.index(n.v) in mechanism.v]
    return [
        (mechanism.q.index(own_q.index(n.q)), mechanism.v.index(own_v.index(n.v))) for n in nodes
    ]
