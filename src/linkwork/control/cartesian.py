"""Cartesian impedance: a frame held by springs and dampers in world axes, with a posture in its null space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.control.damping import damping_for
from linkwork.control.stability import cartesian_mass
from linkwork.control.task_law import BoundTaskLaw, gain_rows, task_source, times, transposed_times
from linkwork.errors import InvalidInput
from linkwork.simulation.controllers import Bound, Controller
from linkwork.simulation.foresight import HeldLoop
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import Signal, Source
from linkwork.simulation.task_space import AXES, TaskSpace
from linkwork.spatial.linear import factored


@dataclass(frozen=True)
class Posture:
    """What the joints do where the frame does not care: tau = N' (stiffness (rest - q) - damping v).

    rest       configuration (nq,);  stiffness [N m/rad, N/m], damping [N m s/rad, N s/m]: numbers or one a joint
    N' = 1 - J' (J M^-1 J')^-1 J M^-1 lets no force through that would move the frame (dynamically consistent).
    """

    rest: ArrayLike
    stiffness: ArrayLike
    damping: ArrayLike


class CartesianImpedance(Controller):
    """tau = J' [K (target - place) + D (target' - speed) + wrench] + forces that hold the arm still (+ posture).

    stiffness K   [N/m, N m/rad], damping D [N s/m, N m s/rad]: numbers, one an axis, matrices, or batches
    ratio, at     instead of damping: a damping ratio, designed from the Cartesian inertia at the configuration `at`
    target        numbers of the axes (world position [m], rotation vector [rad]), a pose, a function of time, PerStep
    wrench        commanded force on the environment [N, N m], as many numbers as axes, or a function of time
    nullspace     Posture
    model         robot that the law believes in for gravity; left out: the real one with its payload

    Gravity is compensated by the law: do not add GravityCompensation. What the gripper carries is known if it is the
    run's payload; a model without it lets the arm sag by weight / K. Orientations are compared by rotation vectors.
    Without wrench and motion of the target the arm is passive: its energy, springs included, never grows.
    """

    def __init__(
        self,
        frame: str,
        stiffness: ArrayLike,
        damping: ArrayLike | None = None,
        ratio: float | None = None,
        target: Any = None,
        wrench: Any = None,
        nullspace: Posture | None = None,
        axes: Any = AXES,
        model: Any = None,
        at: ArrayLike | None = None,
    ) -> None:
        who = "CartesianImpedance"
        self.space = TaskSpace.of(frame, axes, who)
        if target is None:
            raise InvalidInput(f"{who}: target is missing, expected {len(self.space.axes)} numbers or a pose")
        if (damping is None) == (ratio is None):
            raise InvalidInput(f"{who}: give damping [N s/m] or ratio (of critical damping), one of them")
        if ratio is not None and at is None:
            raise InvalidInput(f"{who}: ratio needs at=q, the configuration whose inertia the damping is designed for")
        self.stiffness = gain_rows(stiffness, len(self.space.axes), f"{who}: stiffness")
        self.damping, self.ratio, self.at = damping, ratio, at
        self.target, self.model, self.nullspace = task_source(target, who), model, nullspace
        self.wrench = None if wrench is None else Source(wrench, f"{who}: wrench")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundImpedance(self, plant, prefix)


@dataclass(frozen=True)
class Projected:
    """N' x: joint forces that do not move a frame along its axes, over symbols; damped where the frame is singular."""

    space: TaskSpace

    def __call__(self, plant: Plant, q: SX, x: SX) -> SX:
        rows = [plant.jacobian(q, self.space.frame)[row, :] for row in self.space.rows]
        J, M = casadi.vertcat(*rows), plant.mass_matrix(q, SX(0))
        solver = factored(M)
        columns = [solver.solve(J[k, :].T) for k in range(J.shape[0])]
        MJ = casadi.horzcat(*columns)
        mobility = J @ MJ
        damped = mobility + 1e-9 * casadi.trace(mobility) * SX.eye(J.shape[0])
        return x - J.T @ factored(damped).solve(MJ.T @ x)


class _BoundImpedance(BoundTaskLaw):
    def __init__(self, given: CartesianImpedance, plant: Plant, prefix: str) -> None:
        super().__init__(given.space, given.target, given.model, plant, prefix, "CartesianImpedance")
        m = len(self.space.axes)
        self.parameters[f"{prefix}_stiffness"] = given.stiffness
        damping = given.damping
        if given.ratio is not None:
            mechanism = getattr(plant, "subject", None)
            if mechanism is None:
                raise InvalidInput(f"CartesianImpedance: ratio needs a robot, {plant.who} has no frames")
            mass = cartesian_mass(mechanism, given.at, self.space.frame, self.space.axes)
            damping = damping_for(mass, given.stiffness.reshape(-1, m, m)[0], given.ratio)
            damping = 0.5 * (damping + damping.T)
        self.gains("damping", damping)
        self.wrench = None
        if given.wrench is not None:
            self.wrench = Signal(given.wrench, (m,), f"{prefix}_wrench")
            self.parameters |= self.wrench.parameters
            self.sequences |= self.wrench.sequences
            if self.wrench.python is not None:
                self.python = f"CartesianImpedance: wrench: {self.wrench.python.why_not}"
        self.posture = given.nullspace is not None
        if given.nullspace is not None:
            rest = given.nullspace.rest
            self._number(f"{prefix}_rest", rest, plant.nq, "Posture: rest", positive=False)
            self._number(f"{prefix}_posture_stiffness", given.nullspace.stiffness, plant.nv, "Posture: stiffness")
            self._number(f"{prefix}_posture_damping", given.nullspace.damping, plant.nv, "Posture: damping")

    def law(self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        m, own = len(self.space.axes), self.believed(plant)
        e, jacobian, moving = self.errors(plant, t, q, p)
        force = times(p[f"{self.prefix}_stiffness"], m, e)
        force = force + times(p[f"{self.prefix}_damping"], m, moving - jacobian @ v)
        if self.wrench is not None:
            force = force + self.wrench.at(t, p)[0]
        tau = transposed_times(jacobian, force) + own.gravity(q, t)
        if self.posture:
            wish = p[f"{self.prefix}_posture_stiffness"] * plant.difference(q, p[f"{self.prefix}_rest"])
            wish = wish - p[f"{self.prefix}_posture_damping"] * v
            tau = tau + own.compute(Projected(self.space), q, wish)
        return tau, s

    def foresee(self, plant: Plant, q: np.ndarray, period: float, delay: float) -> str:
        gains, mass = self.single("stiffness", "damping"), self.mass(plant, q)
        if gains is None or mass is None:
            return ""
        words = HeldLoop(mass, gains[0], gains[1], period, delay).told(self.space.axes, self.units)
        return f"CartesianImpedance: {words}" if words else ""
