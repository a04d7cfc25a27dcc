"""Joint foresight: whether joints on sampled springs and dampers are stable."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork import quantities
from linkwork.configurations import places
from linkwork.simulation.foresight import HeldLoop
from linkwork.simulation.robot_plant import RobotPlant

ANGULAR = ("N m s/rad", "kg m^2", "N m/rad")
LINEAR = ("N s/m", "kg", "N/m")
"""Units of damping, mass and stiffness of a coordinate."""


def joint_foresight(
    plant: RobotPlant,
    q: np.ndarray,
    stiffness: Any,
    damping: Any,
    period: float,
    delay: float,
    who: str,
) -> str:
    """Whether joints on sampled springs and dampers (nv, nv) are stable at q;
    a sentence if they are not."""
    M = quantities.evaluate(plant.subject, "mass_matrix", {"q": q})
    joints = [joint for joint, _, _ in places(plant.subject)]
    units = [
        LINEAR if k in joint.kind.slides else ANGULAR for joint in joints for k in range(joint.nv)
    ]
    words = HeldLoop(M, stiffness, damping, period, delay).told(plant.v_names, units)
    return f"{who}: {words}" if words else ""
