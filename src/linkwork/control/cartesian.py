"""Cartesian impedance: a frame held by springs and dampers in world axes,
with a posture in its null space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi
import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.control.checks import definite
from linkwork.control.damping import damping_for
from linkwork.control.impedance_rates import BoundRates, Rates
from linkwork.control.stability import cartesian_mass
from linkwork.control.task_law import BoundTaskLaw, gain_rows, task_source, times, transposed_times
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import is_symbolic
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller
from linkwork.simulation.foresight import HeldLoop
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import Signal, Source
from linkwork.simulation.task_space import AXES, TaskSpace
from linkwork.spatial.linear import factored


@dataclass(frozen=True)
class Posture:
    """What the joints do where the frame does not care:
    tau = N' (stiffness (rest - q) - damping v).

    rest       configuration (nq,);  stiffness [N m/rad, N/m], damping [N m s/rad, N s/m]: numbers
               or one a joint
    N' = 1 - J' (J M^-1 J')^-1 J M^-1 lets no force through that would move the frame
    (dynamically consistent).
    """

    rest: ArrayLike
    stiffness: ArrayLike
    damping: ArrayLike


class CartesianImpedance(Controller):
    """tau = J' [K (target - place) + D (target' - speed) + wrench] + forces that hold the arm still
    (+ posture).

    stiffness K   [N/m, N m/rad], damping D [N s/m, N m s/rad]: numbers, one an axis, matrices, or
                  batches
    ratio, at     instead of damping: a damping ratio, designed from the Cartesian inertia at the
                  configuration `at`
    target        numbers of the axes (world position [m], rotation vector [rad]), a pose, a
                  function of time, PerStep (K also as a function of time that gives one number an
                  axis)
    wrench        commanded force on the environment [N, N m], as many numbers as axes, or a
                  function of time
    nullspace     Posture
    inertia       what the frame shall weigh along its axes [kg, kg m^2]: a number, one an axis, a
                  matrix. Its free motion then obeys inertia e'' + D e' + K e = 0 exactly, whatever
                  the arm's own mass; a push from outside still meets that own mass, because the law
                  does not measure it. Left out: the arm's own
    rates         Rates: how fast stiffness, target and wrench may change; the law then stands
                  inside Sampled
    model         robot that the law believes in for gravity; left out: the real one with its
                  payload

    Gravity is compensated by the law: do not add GravityCompensation. What the gripper carries is
    known if it is the run's payload; a model without it lets the arm sag by weight / K.
    Orientations are compared by rotation vectors. Without wrench and motion of the target the arm
    is passive: its energy, springs included, never grows.
    """

    def __init__(
        self,
        frame: str,
        stiffness: Any,
        damping: ArrayLike | None = None,
        ratio: float | None = None,
        target: Any = None,
        wrench: Any = None,
        nullspace: Posture | None = None,
        inertia: ArrayLike | None = None,
        axes: Any = AXES,
        model: Any = None,
        at: ArrayLike | None = None,
        rates: Rates | None = None,
    ) -> None:
        who = "CartesianImpedance"
        self.space = TaskSpace.of(frame, axes, who)
        if target is None:
            raise InvalidInput(
                f"{who}: target is missing, expected {len(self.space.axes)} numbers or a pose"
            )
        if (damping is None) == (ratio is None):
            raise InvalidInput(
                f"{who}: give damping [N s/m] or ratio (of critical damping), one of them"
            )
        if ratio is not None and at is None and inertia is None:
            raise InvalidInput(
                f"{who}: ratio needs at=q, the configuration whose inertia the damping is "
                "designed for"
            )
        if ratio is not None and callable(stiffness):
            raise InvalidInput(
                f"{who}: ratio needs a stiffness of numbers, this one is a function of time"
            )
        if rates is not None and not isinstance(rates, Rates):
            raise InvalidInput(f"{who}: rates is {type(rates).__name__}, expected Rates(...)")
        m, self.changing = len(self.space.axes), None
        if callable(stiffness):
            self.changing = Source(stiffness, f"{who}: stiffness")
        self.stiffness = gain_rows(
            0.0 if callable(stiffness) else stiffness, m, f"{who}: stiffness"
        )
        self.inertia = None if inertia is None else definite(inertia, m, f"{who}: inertia")
        self.rates = rates
        self.damping, self.ratio, self.at = damping, ratio, at
        self.target, self.model, self.nullspace = task_source(target, who), model, nullspace
        self.wrench = None if wrench is None else Source(wrench, f"{who}: wrench")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundImpedance(self, plant, prefix)


@dataclass(frozen=True)
class Projected:
    """N' x: joint forces that do not move a frame along its axes, over symbols;
    damped where the frame is singular."""

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


@dataclass(frozen=True)
class Shaped:
    """Joint forces (nv) that accelerate a frame along its axes by u (m), gravity apart,
    over symbols.

    J' L (u - J' v + J M^-1 C v),   L = (J M^-1 J')^-1: the operational inertia, damped where it is
    singular
    """

    space: TaskSpace

    def __call__(self, plant: Plant, q: SX, v: SX, u: SX) -> SX:
        symbol = SX.sym("q", plant.nq)
        rows = [plant.jacobian(symbol, self.space.frame)[row, :] for row in self.space.rows]
        slope = casadi.vertcat(*rows)
        # what accelerates by itself
        turning = casadi.jtimes(slope @ v, symbol, plant.rate(symbol, v))
        J, turning = (casadi.substitute(x, symbol, q) for x in (slope, turning))
        drift = plant.inverse(q, v, SX.zeros(plant.nv), SX(0)) - plant.gravity(q, SX(0))
        solver = factored(plant.mass_matrix(q, SX(0)))
        MJ = casadi.horzcat(*[solver.solve(J[k, :].T) for k in range(J.shape[0])])
        mobility = J @ MJ
        damped = mobility + 1e-9 * casadi.trace(mobility) * SX.eye(J.shape[0])
        return J.T @ factored(damped).solve(u - turning + MJ.T @ drift)


class _BoundImpedance(BoundTaskLaw):
    of_a_run: ClassVar[tuple[str, ...]] = ("parameters", "sequences", "inertia")

    def __init__(self, law: CartesianImpedance, plant: Plant, prefix: str) -> None:
        super().__init__(law.space, law.target, law.model, plant, prefix, "CartesianImpedance")
        self.changing = self.wrench = None
        if law.changing is None:
            self.parameters[f"{prefix}_stiffness"] = law.stiffness
        else:
            self.changing = self._signal(law.changing, f"{prefix}_stiffness")
        self.gains(
            "damping", law.damping if law.ratio is None else self._designed(law, law.ratio, plant)
        )
        if law.wrench is not None:
            self.wrench = self._signal(law.wrench, f"{prefix}_wrench")
        self.shaped = law.inertia is not None
        self.inertia = law.inertia
        if law.inertia is not None:
            self.parameters[f"{prefix}_light"] = np.linalg.inv(law.inertia).ravel()
        self.rates = None
        if law.rates is not None:
            self.rates = BoundRates(
                law.rates, self.space, self.target.size, prefix, self.wrench is not None
            )
            self.parameters |= self.rates.numbers
            self.memory, self.past = self.rates.memory, True
        self.posture = law.nullspace is not None
        if law.nullspace is not None:
            rest = law.nullspace.rest
            self._number(f"{prefix}_rest", rest, plant.nq, "Posture: rest", positive=False)
            self._number(
                f"{prefix}_posture_stiffness",
                law.nullspace.stiffness,
                plant.nv,
                "Posture: stiffness",
            )
            self._number(
                f"{prefix}_posture_damping", law.nullspace.damping, plant.nv, "Posture: damping"
            )

    def _signal(self, source: Source, name: str) -> Signal:
        """A vector over time, one number an axis."""
        signal = Signal(source, (len(self.space.axes),), name)
        self.parameters |= signal.parameters
        self.sequences |= signal.sequences
        if signal.python is not None:
            self.python = f"{source.who}: {signal.python.why_not}"
        return signal

    def _designed(self, law: CartesianImpedance, ratio: float, plant: Plant) -> np.ndarray:
        """The damping (m, m) of a ratio, for the inertia asked for or the arm's own."""
        m, mass, mechanism = len(self.space.axes), law.inertia, getattr(plant, "subject", None)
        if mass is None:
            if mechanism is None:
                raise InvalidInput(
                    f"CartesianImpedance: ratio needs a robot, {plant.who} has no frames"
                )
            mass = cartesian_mass(mechanism, law.at, self.space.frame, self.space.axes)
        damping = damping_for(mass, law.stiffness.reshape(-1, m, m)[0], ratio)
        return 0.5 * (damping + damping.T)

    def _wanted(self, t: Any, p: Mapping[str, Any]) -> dict[str, Any]:
        """Target with its rates, stiffness rows and wrench as they are asked for at time t."""
        m = len(self.space.axes)
        target, rate, faster = self.target.with_rates(t, p)
        if self.target.size == 16:  # a pose as a target has no rates
            rate = faster = 0.0 * target[:m]
        wanted = {"target": target, "rate": rate, "faster": faster}
        wanted["stiffness"] = (
            p[f"{self.prefix}_stiffness"] if self.changing is None else self._rows(t, p)
        )
        if self.wrench is not None:
            wanted["wrench"] = self.wrench.at(t, p)[0]
        return wanted

    def _rows(self, t: Any, p: Mapping[str, Any]) -> Any:
        """A stiffness that changes with time, as a matrix in rows."""
        assert self.changing is not None
        k = self.changing.at(t, p)[0]
        return casadi.reshape(casadi.diag(k), -1, 1) if is_symbolic(k) else np.diag(k).ravel()

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        return self._force(plant, t, q, v, p, self._wanted(t, p)), s

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        if self.rates is None:
            return super().sample(plant, t, q, v, m, p, period)
        wanted = self._wanted(t, p)
        now, before, kept = self.rates.moved(plant, q, m, p, period, wanted)
        if "target" in now and self.target.size != 16:
            wanted |= {
                "rate": (now["target"] - before["target"]) / period,
                "faster": 0.0 * wanted["rate"],
            }
        return self._force(plant, t, q, v, p, wanted | now), kept

    def _force(
        self, plant: Plant, t: Any, q: Any, v: Any, p: Mapping[str, Any], wanted: Mapping[str, Any]
    ) -> Any:
        m, model = len(self.space.axes), self.believed(plant)
        e, jacobian = self.space.split(plant.compute(self.space, q, wanted["target"]), plant.nv)
        force = times(wanted["stiffness"], m, e)
        force = force + times(p[f"{self.prefix}_damping"], m, wanted["rate"] - jacobian @ v)
        if self.wrench is not None:
            force = force + wanted["wrench"]
        if self.shaped:
            u = wanted["faster"] + times(p[f"{self.prefix}_light"], m, force)
            tau = model.compute(Shaped(self.space), q, v, u) + model.gravity(q, t)
        else:
            tau = transposed_times(jacobian, force) + model.gravity(q, t)
        if self.posture:
            wish = p[f"{self.prefix}_posture_stiffness"] * plant.difference(
                q, p[f"{self.prefix}_rest"]
            )
            wish = wish - p[f"{self.prefix}_posture_damping"] * v
            tau = tau + model.compute(Projected(self.space), q, wish)
        return tau

    def foresee(self, plant: Plant, q: np.ndarray, period: float, delay: float) -> str:
        if self.changing is not None:
            return ""
        gains = self.single("stiffness", "damping")
        mass = self.inertia if self.shaped else self.mass(plant, q)
        if gains is None or mass is None:
            return ""
        words = HeldLoop(mass, gains[0], gains[1], period, delay).told(self.space.axes, self.units)
        return f"CartesianImpedance: {words}" if words else ""
