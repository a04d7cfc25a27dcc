"""Stability of a law at configurations of a robot, with the mass that its frame shows there."""

from __future__ import annotations

from typing import Any

from linkwork.control.fractional_impedance import FractionalImpedance
from linkwork.control.stability import SampledStability, cartesian_mass
from linkwork.errors import InvalidInput
from linkwork.simulation.plants import Mechanism


def law_stability(
    robot: Mechanism,
    law: FractionalImpedance,
    q: Any,
    period: float,
    delay: int = 0,
    payload: Any = None,
) -> list[SampledStability]:
    """Sampled stability of a law at each of a batch of configurations (..., nq),
    with the arm's own Cartesian mass."""
    if not isinstance(law, FractionalImpedance):
        raise InvalidInput(
            f"law_stability: law is {type(law).__name__}, expected FractionalImpedance"
        )
    m = len(law.space.axes)
    masses = cartesian_mass(robot, q, law.space.frame, law.space.axes, payload).reshape(-1, m, m)
    K, D, HD = (x.reshape(-1, m, m)[0] for x in (law.stiffness, law.damping, law.half_damping))
    return [
        SampledStability(
            0.5 * (mass + mass.T), K, D, HD, period, law.memory, delay, law.order, law.compensate
        )
        for mass in masses
    ]
