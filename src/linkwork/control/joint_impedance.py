"""Joint impedance: every joint on a spring and a damper, gravity taken off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.control.checks import definite
from linkwork.control.damping import damping_for
from linkwork.control.task_law import gain_rows, times
from linkwork.errors import InvalidInput
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller, reference, tracked
from linkwork.simulation.joint_foresight import joint_foresight
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant
from linkwork.simulation.signals import Source


class JointImpedance(Controller):
    """tau = K (target - q) + D (target' - v) + forces that hold the arm still.

    stiffness K   [N m/rad, N/m], damping D [N m s/rad, N s/m]: numbers, one a joint, or symmetric
                  matrices (nv, nv)
    ratio, at     instead of damping: a damping ratio, designed from the mass matrix at the
                  configuration `at`
    target        as for PD;  model: robot that the law believes in for gravity; left out: the real
                  one with its payload

    Gravity is compensated by the law: do not add GravityCompensation. A payload that is not the
    run's payload= (or the model's) lets the joints sag by its torque / K.
    """

    def __init__(
        self,
        stiffness: ArrayLike,
        damping: ArrayLike | None = None,
        target: Any = None,
        ratio: float | None = None,
        at: ArrayLike | None = None,
        model: Any = None,
    ) -> None:
        if target is None:
            raise InvalidInput("JointImpedance: target is missing, expected a configuration (nq,)")
        if (damping is None) == (ratio is None):
            raise InvalidInput(
                "JointImpedance: give damping [N m s/rad] or ratio (of critical damping), one "
                "of them"
            )
        if ratio is not None and at is None:
            raise InvalidInput(
                "JointImpedance: ratio needs at=q, the configuration whose inertia it is "
                "designed for"
            )
        self.stiffness, self.damping, self.ratio, self.at = stiffness, damping, ratio, at
        self.target, self.model = Source(target, "JointImpedance: target"), model

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundJointImpedance(self, plant, prefix)


class _BoundJointImpedance(Bound):
    def __init__(self, law: JointImpedance, plant: Plant, prefix: str) -> None:
        super().__init__()
        self.prefix, n = prefix, plant.nv
        damping = law.damping
        if law.ratio is not None:
            if not isinstance(plant, RobotPlant):
                raise InvalidInput(
                    f"JointImpedance: ratio needs a robot, {plant.who} has no mass matrix of "
                    "its own"
                )
            M = quantities.evaluate(plant.subject, "mass_matrix", {"q": law.at})
            designed = damping_for(
                M, definite(law.stiffness, n, "JointImpedance: stiffness", semi=True), law.ratio
            )
            damping = 0.5 * (designed + designed.T)
        self.parameters[f"{prefix}_stiffness"] = gain_rows(
            law.stiffness, n, "JointImpedance: stiffness"
        )
        self.parameters[f"{prefix}_damping"] = gain_rows(damping, n, "JointImpedance: damping")
        self.target = tracked(self, law.target, plant, f"{prefix}_target", "JointImpedance")
        self.model = None if law.model is None else OwnModel(law.model, plant, "JointImpedance")

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        x, xd, _ = reference(self.target, plant, t, v, p)
        tau = times(p[f"{self.prefix}_stiffness"], plant.nv, plant.difference(q, x))
        tau = tau + times(p[f"{self.prefix}_damping"], plant.nv, xd - v)
        return tau + model_or_plant(self.model, plant).gravity(q, t), s

    def foresee(self, plant: Plant, q: np.ndarray, period: float, delay: float) -> str:
        gains = [self.parameters[f"{self.prefix}_{name}"] for name in ("stiffness", "damping")]
        if any(x.ndim > 1 for x in gains) or not isinstance(plant, RobotPlant):
            return ""
        K, D = (x.reshape(plant.nv, plant.nv) for x in gains)
        return joint_foresight(plant, q, K, D, period, delay, "JointImpedance")
