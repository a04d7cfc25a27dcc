"""Joint cascade: position, velocity and current loops of every joint, each at its own period,
over real motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork import quantities
from linkwork.control.checks import positive_array
from linkwork.control.drives import Cascade, PositionLoop
from linkwork.control.joint_drives import JointDrives
from linkwork.control.motors import PMSM, DCMotor
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import clipped, joined, part
from linkwork.simulation.bound import Bound, absorb
from linkwork.simulation.controllers import Controller, as_controller, reference, tracked
from linkwork.simulation.plant import Plant
from linkwork.simulation.robot_plant import RobotPlant
from linkwork.simulation.sampling import BoundSampled, Sampled
from linkwork.simulation.signals import Source

ENDLESS = 1e12
"""Stands for no limit: symbols know no infinity."""


class JointCascade:
    """The servo drives of a robot as they are built:
    lw.simulate(robot, q, control=servo.control, drives=servo.drives).

    cascade   loops of every joint's motor with their periods, bandwidths and limits; a position
              loop is needed. Periods of velocity and position are `every` current periods; gains
              and limits are of the motor's side
    motors    a DCMotor or PMSM for all joints, or one a joint;  ratios N: turns of the motor for
              one of the joint
    target    as for PD: configuration, function of time, PerStep rows with their rates; its speed
              is fed forward
    torque    a law whose joint forces [N m, N] are fed forward to the velocity loop, as
              GravityCompensation()
    voltage   of the supply [V];  stiffness, gear_damping, backlash: of the gears, as for
              JointDrives
    inertia   that the velocity loop is designed for, seen at the motor [kg m^2], one or one a
              joint; left out: that of the cascade's VelocityLoop, or what the joint weighs at its
              neutral configuration

        speed*  = feed_forward N target' + gain N (target - q)             every position period
        torque* = alpha_v J (speed* - w) + integral - alpha_v J w + fed    every velocity period
        u       = alpha_c L (torque*/K_t - i) + integral - alpha_c L i     every current period, acts `delay` later

    Integrals stop where their output is at its limit. The step of lw.simulate divides the current
    period.
    """

    def __init__(
        self,
        cascade: Cascade,
        motors: DCMotor | PMSM | Sequence[DCMotor | PMSM],
        target: Any,
        ratios: ArrayLike = 1.0,
        voltage: ArrayLike = np.inf,
        torque: Any = None,
        inertia: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        gear_damping: ArrayLike = 0.0,
        backlash: ArrayLike = 0.0,
    ) -> None:
        if not isinstance(cascade, Cascade) or not isinstance(cascade.position, PositionLoop):
            raise InvalidInput(
                "JointCascade: cascade, expected Cascade(current, velocity, position) with a "
                "position loop"
            )
        self.drives = JointDrives(
            motors,
            ratios,
            voltage=voltage,
            stiffness=stiffness,
            gear_damping=gear_damping,
            backlash=backlash,
            commanded="voltage",
        )
        self.cascade, self.target = cascade, Source(target, "JointCascade: target")
        self.torque = None if torque is None else as_controller(torque)
        self.inertia = None if inertia is None else positive_array(inertia, "JointCascade: inertia")

    @property
    def control(self) -> Controller:
        """The three loops; what they command is volts, so they run with `drives` only."""
        return _Servo(self)

    def currents(self, run: Any) -> np.ndarray:
        """Motor currents (..., T, nv) [A] of a run with rigid gears."""
        return self.drives.currents(run)


class _Servo(Controller):
    def __init__(self, cascade: JointCascade) -> None:
        self.cascade = cascade

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundServo(self.cascade, plant, prefix)


class _Loop(Controller):
    """One loop of the cascade, for Sampled to hold."""

    def __init__(self, made: Bound) -> None:
        self.made = made

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return self.made


class _BoundServo(Bound):
    """Three sampled loops, the outermost first: each reads what the one before it holds."""

    def __init__(self, cascade: JointCascade, plant: Plant, prefix: str) -> None:
        super().__init__()
        loops = cascade.cascade
        assert loops.position is not None
        T = loops.current.period
        parts = [
            (
                f"{prefix}_position",
                _Position(cascade, plant, f"{prefix}_position"),
                loops.position.every * T,
                0.0,
            ),
            (
                f"{prefix}_velocity",
                _Velocity(cascade, plant, prefix),
                loops.velocity.every * T,
                0.0,
            ),
            (f"{prefix}_current", _Current(cascade, plant, prefix), T, loops.current.delay * T),
        ]
        self.loops = [
            BoundSampled(Sampled(_Loop(made), T, late), plant, name)
            for name, made, T, late in parts
        ]
        absorb(self, list(self.loops))
        self.states, self.memory, self.past = 0, 0, False
        self.commanded = f"{self.loops[-1].name}_held"

    @property
    def inside(self) -> list[Bound]:
        return list(self.loops)

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        return p[self.commanded], s


class _Position(Bound):
    def __init__(self, cascade: JointCascade, plant: Plant, name: str) -> None:
        super().__init__()
        loop = cascade.cascade.position
        assert loop is not None
        self.name, self.past = name, True
        self.target = tracked(self, cascade.target, plant, f"{name}_target", "JointCascade")
        numbers = {"gain": loop.gain, "share": loop.feed_forward, "limit": min(loop.limit, ENDLESS)}
        for key, x in (numbers | {"ratio": cascade.drives.ratios}).items():
            self._number(f"{name}_{key}", x, plant.nv, f"JointCascade: position {key}")

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        gain, share, limit, N = (
            p[f"{self.name}_{key}"] for key in ("gain", "share", "limit", "ratio")
        )
        x, xd, _ = reference(self.target, plant, t, v, p)
        return clipped(N * (share * xd + gain * plant.difference(q, x)), limit), m


class _Velocity(Bound):
    def __init__(self, cascade: JointCascade, plant: Plant, prefix: str) -> None:
        super().__init__()
        loop, n, drives = cascade.cascade.velocity, plant.nv, cascade.drives
        self.name = f"{prefix}_velocity"
        self.past = True
        self.asked = f"{prefix}_position_sampled_held"
        constant = drives.each("torque_constant", n)
        peak = np.minimum(drives.each("peak_current", n), cascade.cascade.current.limit)
        numbers = {
            "alpha": loop.bandwidth,
            "inertia": _inertia(cascade, plant),
            "limit": np.minimum(np.minimum(loop.limit, constant * peak), ENDLESS),
            "ratio": drives.ratios,
        }
        for key, x in numbers.items():
            self._number(f"{self.name}_{key}", x, n, f"JointCascade: velocity {key}")
        self.elastic, self.fed = drives.stiffness is not None, None
        if cascade.torque is not None:
            self.fed = cascade.torque.bound(plant, f"{prefix}_fed")
            absorb(self, [self.fed])
            self.states = 0
        self.memory = n + (0 if self.fed is None else self.fed.kept)

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        n = plant.nv
        alpha, J, limit, N = (
            p[f"{self.name}_{key}"] for key in ("alpha", "inertia", "limit", "ratio")
        )
        w = part(_drives(p), 2 * n, 3 * n) if self.elastic else N * v
        slow, kept, fed = part(m, 0, n), [], 0.0
        if self.fed is not None:
            force, after = self.fed.sample(plant, t, q, v, part(m, n, self.memory), p, period)
            fed, kept = force / N, [after]
        known = slow - alpha * J * w + fed
        torque = clipped(alpha * J * (p[self.asked] - w) + known, limit)
        return torque, joined([slow + period * alpha * (torque - known), *kept])


class _Current(Bound):
    def __init__(self, cascade: JointCascade, plant: Plant, prefix: str) -> None:
        super().__init__()
        n, drives = plant.nv, cascade.drives
        self.name = f"{prefix}_current"
        self.past = True
        self.asked = f"{prefix}_velocity_sampled_held"
        numbers = {
            "alpha": cascade.cascade.current.bandwidth,
            "inductance": drives.each("inductance", n),
            "constant": drives.each("torque_constant", n),
            "voltage": np.minimum(drives.voltage, ENDLESS),
        }
        for key, x in numbers.items():
            self._number(f"{self.name}_{key}", x, n, f"JointCascade: current {key}")
        self.memory = n

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        alpha, L, K, U = (
            p[f"{self.name}_{key}"] for key in ("alpha", "inductance", "constant", "voltage")
        )
        i = part(_drives(p), 0, plant.nv)
        known = m - alpha * L * i
        u = clipped(alpha * L * (p[self.asked] / K - i) + known, U)
        return u, m + period * alpha * (u - known)


def _drives(p: Mapping[str, Any]) -> Any:
    """States of the drives at this instant: currents,
    and with elastic gears twists and rotor speeds."""
    if "drive_state" not in p:
        raise InvalidInput(
            "JointCascade: its control commands volts; give lw.simulate drives=servo.drives as well"
        )
    return p["drive_state"]


def _inertia(cascade: JointCascade, plant: Plant) -> np.ndarray:
    """What the velocity loop of each joint is designed for (nv,), at the motor [kg m^2]."""
    asked = cascade.cascade.velocity.inertia if cascade.inertia is None else cascade.inertia
    if asked is not None:
        return np.broadcast_to(positive_array(asked, "JointCascade: inertia"), (plant.nv,))
    if not isinstance(plant, RobotPlant):
        raise InvalidInput(
            f"JointCascade: inertia is missing, expected what a motor of {plant.who} turns [kg m^2]"
        )
    M = quantities.evaluate(plant.subject, "mass_matrix", {"q": plant.neutral()})
    rotors = (
        cascade.drives.each("inertia", plant.nv) if cascade.drives.stiffness is not None else 0.0
    )
    return np.diag(M) / cascade.drives.ratios**2 + rotors
