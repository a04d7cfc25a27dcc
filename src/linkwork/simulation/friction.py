"""Friction of a run: what damping and dry friction of the joints take, smooth or, in fixed steps,
exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import clipped, is_symbolic, joined, part
from linkwork.simulation.friction_models import Coulomb, FrictionModel
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant
from linkwork.spatial.linear import factored
from linkwork.subject import Subject

WIDTH = 1e-4
"""Speed [rad/s, m/s] below which dry friction falls to zero where an adaptive method chooses the
steps."""
SWEEPS = 8
"""Passes over the joints with dry friction after the first guess,
which is exact where all of them stick."""
RIDGE = 1e-9
"""Part of its diagonal added to the response to forces: joints of a loop move together,
so that it is singular."""


@dataclass
class Friction:
    """Damping and dry friction of single coordinates of v, as parameters of a run.

    viscous, dry   where they act: places in v
    parameters     "friction_viscous" (..., len(viscous)) [N m s/rad, N s/m], "friction_dry"
                   (..., len(dry)) [N m, N]

    A force of friction is what the mechanism loses: it is subtracted from the joint forces.
    """

    viscous: tuple[int, ...] = ()
    dry: tuple[int, ...] = ()
    parameters: dict[str, np.ndarray] = field(default_factory=dict)
    sequences: dict[str, np.ndarray] = field(default_factory=dict)
    models: tuple[FrictionModel, ...] = ()
    of_a_run: ClassVar[tuple[str, ...]] = ("parameters", "sequences")

    def __bool__(self) -> bool:
        return bool(self.viscous or self.dry or self.models)

    def states(self, nv: int) -> int:
        """Numbers that friction integrates beside the motion."""
        return nv * sum(model.states for model in self.models)

    def modelled(self, v: Any, z: Any, p: Mapping[str, Any]) -> tuple[Any, Any]:
        """(joint forces lost to the models, rates of their states z)."""
        total, rates, at, n = 0.0 * v, [], 0, v.shape[0]
        for k, model in enumerate(self.models):
            numbers = {name: p[f"friction{k}_{name}"] for name in model.names}
            size = n * model.states
            lost, rate = model.force(numbers, v, part(z, at, at + size))
            total, at = total + lost, at + size
            rates += [rate] if model.states else []
        return total, joined(rates)

    def force(self, v: Any, p: Mapping[str, Any], held: Any = None) -> Any:
        """Joint forces (nv) lost at v: damping v + dry friction,
        `held` over a step or else dry tanh(v / width)."""
        lost: list[Any] = [0.0] * v.shape[0]
        for k, at in enumerate(self.viscous):
            lost[at] = p["friction_viscous"][k] * v[at]
        tanh = casadi.tanh if is_symbolic(v) else np.tanh
        for k, at in enumerate(self.dry):
            rubbing = p["friction_dry"][k] * tanh(v[at] / WIDTH) if held is None else held[k]
            lost[at] = lost[at] + rubbing
        return joined(lost)

    def held(
        self, plant: Plant, q: Any, v: Any, t: Any, a: Any, h: Any, p: Mapping[str, Any]
    ) -> Any:
        """Dry friction (len(dry)) over a step h: what stops a joint by its end,
        or all there is where that is too much.

            f_i = dry_i sign(w_i) where w_i != 0, |f_i| <= dry_i where w_i = 0,   w = v + h (a - R f)

        a (nv) are the accelerations without it, R = (M^-1)_ij their response to forces on joints
        with dry friction. A joint that sticks under a steady load stands still; under one that
        changes it moves by O(h^2) of speed. Solved by a guess in which all stick
        (exact where they do) and sweeps of projected Gauss-Seidel over the joints, to and fro.
        Source: [Acary2008] chapter 10 (the impulses of a step of Moreau's scheme).
        """
        m = len(self.dry)
        limits = [p["friction_dry"][k] for k in range(m)]
        R = [[column[i] for i in self.dry] for column in plant.responses(q, t, self.dry)]
        wanted = [v[at] / h + a[at] for at in self.dry]  # what R f must be for w = 0
        f = [clipped(x, limit) for x, limit in zip(_solved(R, wanted), limits, strict=True)]
        for sweep in range(SWEEPS):
            for i in range(m) if sweep % 2 else reversed(range(m)):
                left = wanted[i]
                for j in range(m):
                    if j != i:
                        left = left - R[j][i] * f[j]
                f[i] = clipped(left / R[i][i], limits[i])
        return joined(f)


def _solved(R: list[list[Any]], b: list[Any]) -> list[Any]:
    """f of R f = b, with a ridge where R is singular."""
    m = len(b)
    if not is_symbolic(b[0]):
        numbers = np.array([[float(x) for x in column] for column in R])
        return list(
            np.linalg.solve(
                numbers + RIDGE * np.diag(np.diag(numbers)), np.array([float(x) for x in b])
            )
        )
    matrix = SX(m, m)
    for i in range(m):
        for j in range(m):
            matrix[i, j] = R[j][i] * (1.0 + RIDGE) if i == j else R[j][i]
    f = factored(matrix).solve(casadi.vertcat(*b))
    return [f[i] for i in range(m)]


def friction_of(wanted: Any, plant: Plant, who: str = "simulate") -> Friction:
    """The friction of a run: that of the robot's description, none, or models of its own."""
    models = (wanted,) if isinstance(wanted, FrictionModel) else wanted
    if (
        isinstance(models, (tuple, list))
        and models
        and all(isinstance(model, FrictionModel) for model in models)
    ):
        return _of_models(tuple(models), plant.nv, who)
    if not isinstance(wanted, (bool, np.bool_)):
        raise InvalidInput(
            f"{who}: friction is {wanted!r}, expected True (the description's) or False (none), or "
            "of Viscous, "
            "Coulomb, Stribeck, LuGre"
        )
    if not isinstance(plant, RobotPlant):
        if not wanted:
            raise InvalidInput(
                f"{who}: friction=False, but {plant.who} loses by its own terms alone: leave "
                "those out"
            )
        return Friction()
    return described(plant.subject) if wanted else Friction()


def _of_models(models: tuple[FrictionModel, ...], nv: int, who: str) -> Friction:
    """Exact dry friction as the description's; the others by their laws."""
    friction = Friction()
    smooth: list[FrictionModel] = []
    for model in models:
        numbers = {}
        for name, x in model.numbers.items():
            if x.ndim and x.shape[-1] != nv:
                kind = type(model).__name__
                raise InvalidInput(
                    f"{who}: {kind}: {name} has shape {x.shape}, expected a number or (..., {nv})"
                )
            numbers[name] = np.broadcast_to(x, (*x.shape[:-1], nv))
        if isinstance(model, Coulomb) and model.exact and not friction.dry:
            friction.dry, friction.parameters["friction_dry"] = tuple(range(nv)), numbers["level"]
        else:
            friction.parameters |= {
                f"friction{len(smooth)}_{name}": x for name, x in numbers.items()
            }
            smooth.append(model)
    friction.models = tuple(smooth)
    return friction


def described(subject: Subject) -> Friction:
    """Damping and dry friction of the description, live variables at their present values."""
    viscous, dry = _numbers(subject)
    at_viscous, at_dry = (tuple(map(int, np.flatnonzero(x))) for x in (viscous, dry))
    friction = Friction(at_viscous, at_dry)
    if at_viscous:
        friction.parameters["friction_viscous"] = viscous[list(at_viscous)]
    if at_dry:
        friction.parameters["friction_dry"] = dry[list(at_dry)]
    return friction


def _numbers(subject: Subject) -> tuple[np.ndarray, np.ndarray]:
    """(damping, dry friction) (nv,) each: the slope of `friction_torque` by v,
    and what is left just above rest.

    Joints that follow others (mimic) are part of those; each loses by its own speed alone.
    """
    values = subject.variable_values(None)
    key = repr(values)
    kept: dict[str, tuple[np.ndarray, np.ndarray]] = subject.once(Friction, dict)
    if key not in kept:
        f, v = quantities.trace(subject, "friction_torque"), SX.sym("v", subject.nv)
        tau = f.call([v, *map(SX, values)])[0]
        lost = casadi.Function("lost", [v], [tau, casadi.diag(casadi.jacobian(tau, v))])
        barely = 1e-200
        at_rest, slope = (
            np.array(x, dtype=float).ravel() for x in lost(np.full(subject.nv, barely))
        )
        kept[key] = slope, np.where(at_rest > 1e-100, at_rest, 0.0)
    return kept[key]
