"""Power: what actuators, springs and dampers give, beside what the bodies take;
a self-check of an analysis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.loads.analyse import Analysis
from linkwork.model.elements import Damper, Spring
from linkwork.robot import Robot


@dataclass(frozen=True)
class PowerBalance:
    """Powers (n,) [W] over time.

    actuators   sum of effort times rate over every command
    springs     what springs and dampers give: - tension times rate of length, summed
    bodies      what the motion of the bodies takes, gravity included: v' tau of the open tree
    """

    actuators: np.ndarray
    springs: np.ndarray
    bodies: np.ndarray

    @property
    def difference(self) -> np.ndarray:
        return self.actuators + self.springs - self.bodies

    @property
    def relative(self) -> float:
        """Largest difference over the largest power on either side."""
        scale = max(float(np.abs(x).max()) for x in (self.actuators, self.springs, self.bodies))
        return float(np.abs(self.difference).max()) / scale if scale else 0.0


def power_balance(robot: Robot, analysis: Analysis) -> PowerBalance:
    """The balance of power of an analysis without external forces or payload.

    Loops do no work, so  sum_k f_k dc_k/dt - sum_s T_s dl_s/dt = v' (M a + C v + g)  whatever
    supports share.
    """
    rates = analysis.cd
    efforts = analysis.loads.efforts[:, : rates.shape[1]]
    from_springs = np.zeros(len(analysis))
    kinds = {getattr(e, "name", None): e for e in robot.model.elements}
    for name in analysis.loads.springs:
        if isinstance(kinds.get(name), (Spring, Damper)) and name in analysis.members:
            from_springs = from_springs - analysis.loads.spring(name) * analysis.members[name].rate
    tau = robot.inverse_dynamics(analysis.q, analysis.v, analysis.a)
    return PowerBalance(
        (efforts * rates).sum(axis=-1), from_springs, (tau * analysis.v).sum(axis=-1)
    )
