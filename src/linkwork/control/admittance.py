"""Admittance: a position-controlled arm that gives way to a measured force like a mass on a spring
and a damper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.checks import definite
from linkwork.control.task_law import task_source, times
from linkwork.errors import InvalidInput, NotPossible
from linkwork.simulation.algebra import joined, part
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import Signal, Source
from linkwork.simulation.task_space import AXES, TaskSpace
from linkwork.spatial.linear import factored

FOLLOW = 20.0
"""How fast the commanded joints take off what drift has left of the frame's place [1/s]."""


class Admittance(Controller):
    """mass x'' + damping x' + stiffness x = force: the frame's target moves by x,
    and stiff joints follow it.

    mass [kg, kg m^2], damping [N s/m, N m s/rad], stiffness [N/m, N m/rad]: numbers, one an axis,
    or matrices

    force     what a sensor at the frame measures, as many numbers as axes, in world axes [N, N m],
              without the weight of what hangs on it: numbers, a function of time, or PerStep rows.
              The law does not know `forces=`.
    target    where the frame rests without force (numbers of the axes, or a pose); at: a
              configuration (nq,) there
    kp, kd    of the joints that follow [N m/rad, N m s/rad], stiff; gravity is compensated by the
              law (model=: by that)

    It is for arms whose joints are position-controlled and gears hide the force; CartesianImpedance
    is for arms with torque control. Redundant joints move least. States of its own: x, x' and the
    commanded joints.
    """

    def __init__(
        self,
        frame: str,
        mass: ArrayLike,
        damping: ArrayLike,
        stiffness: ArrayLike,
        force: Any,
        target: Any,
        at: ArrayLike,
        kp: ArrayLike,
        kd: ArrayLike,
        axes: Any = AXES,
        model: Any = None,
    ) -> None:
        self.space = TaskSpace.of(frame, axes, "Admittance")
        m = len(self.space.axes)
        self.mass = definite(mass, m, "Admittance: mass")
        self.damping = definite(damping, m, "Admittance: damping", semi=True)
        self.stiffness = definite(stiffness, m, "Admittance: stiffness", semi=True)
        self.force = Source(force, "Admittance: force")
        self.target = task_source(target, "Admittance")
        self.at, self.kp, self.kd, self.model = finite_doubles(at, "Admittance: at"), kp, kd, model

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundAdmittance(self, plant, prefix)


@dataclass(frozen=True)
class _Followed:
    """Joint speeds (nv) that move a frame along its axes by a wished speed (m), the least of them,
    over symbols."""

    space: TaskSpace

    def __call__(self, plant: Plant, q: SX, target: SX, offset: SX, speed: SX) -> SX:
        e, J = self.space.split(self.space(plant, q, target), plant.nv)
        wish = speed + FOLLOW * (e + offset)
        mobility = J @ J.T
        damped = mobility + 1e-9 * casadi.trace(mobility) * SX.eye(J.shape[0])
        return J.T @ factored(damped).solve(wish)


class _BoundAdmittance(Bound):
    def __init__(self, law: Admittance, plant: Plant, prefix: str) -> None:
        super().__init__()
        if not plant.flat:
            raise NotPossible(
                f"Admittance: {plant.who} has quaternions; joints that follow are plain ones"
            )
        if law.at.shape != (plant.nq,):
            raise InvalidInput(
                f"Admittance: at has shape {law.at.shape}, expected ({plant.nq},): {plant.who}"
            )
        self.prefix, self.space, self.m = prefix, law.space, len(law.space.axes)
        self.target = Signal(law.target, law.space.sizes, f"{prefix}_target")
        self.force = Signal(law.force, (self.m,), f"{prefix}_force")
        for signal in (self.target, self.force):
            self.parameters |= signal.parameters
            self.sequences |= signal.sequences
            if signal.python is not None:
                self.python = f"{signal.source.who}: {signal.python.why_not}"
        light = np.linalg.inv(law.mass)
        self.parameters[f"{prefix}_light"] = light.ravel()
        self.parameters[f"{prefix}_spring"] = law.stiffness.ravel()
        self.parameters[f"{prefix}_damper"] = law.damping.ravel()
        self.parameters[f"{prefix}_at"] = law.at
        for name in ("kp", "kd"):
            self._number(f"{prefix}_{name}", getattr(law, name), plant.nv, f"Admittance: {name}")
        self.model = None if law.model is None else OwnModel(law.model, plant, "Admittance")
        self.states = 2 * self.m + plant.nv

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        m, at = self.m, self.prefix
        x, speed, moved = part(s, 0, m), part(s, m, 2 * m), part(s, 2 * m, 2 * m + plant.nv)
        force = self.force.at(t, p)[0]
        pushed = force - times(p[f"{at}_spring"], m, x) - times(p[f"{at}_damper"], m, speed)
        follow = p[f"{at}_at"] + moved
        target = self.target.at(t, p)[0]
        v_r = plant.compute(_Followed(self.space), follow, target, x, speed)
        tau = p[f"{at}_kp"] * (follow - q) + p[f"{at}_kd"] * (v_r - v)
        tau = tau + model_or_plant(self.model, plant).gravity(q, t)
        return tau, joined([speed, times(p[f"{at}_light"], m, pushed), v_r])
