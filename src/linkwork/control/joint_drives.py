"""Joint drives: motors with their current loops, voltage limits,
elastic gears and backlash between law and joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, choice
from linkwork.control.checks import positive_array
from linkwork.control.drives import Thermal
from linkwork.control.motors import PMSM, DCMotor
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.simulation.algebra import clipped, joined, larger, part, smaller, where
from linkwork.simulation.bound import Bound
from linkwork.simulation.plant import Plant


class JointDrives:
    """drives= of lw.simulate: what a law commands [N m, N] becomes a current,
    and the current a joint force.

        L i' = u - R i - K_e N v,   u = bandwidth L (i* - i) + R i + K_e N v  within +-voltage,   i* = tau / (N K_t)

    motors      a DCMotor or PMSM for all joints, or one a joint (a PMSM acts by its q axis)
    ratios      N: turns of the motor for one of the joint [-] (per metre for sliding joints)
    bandwidth   of the current loop [rad/s];  voltage [V] of the supply: as_dc's for a PMSM
                (1.5 times a phase's peak)
    stiffness   of the gear, seen at the joint [N m/rad, N/m]; left out: rigid. Then rotor inertias
                are not in the
                motion: give the description armature, or a stiffness. gear_damping [N m s/rad]
    backlash    free play of the joint [rad, m], needs a stiffness; the gear starts in its middle
    commanded   "force": the law gives joint forces, the current loop is the drive's own and
                continuous; "voltage": it gives volts itself (JointCascade)

    States of its own, integrated with the motion: currents, and with elastic gears the twist and
    the rotors' speeds.
    """

    def __init__(
        self,
        motors: DCMotor | PMSM | Sequence[DCMotor | PMSM],
        ratios: ArrayLike = 1.0,
        bandwidth: ArrayLike = 1000.0,
        voltage: ArrayLike = np.inf,
        stiffness: ArrayLike | None = None,
        gear_damping: ArrayLike = 0.0,
        backlash: ArrayLike = 0.0,
        commanded: str = "force",
    ) -> None:
        self.commanded = choice(commanded, ("force", "voltage"), "JointDrives: commanded")
        several = [motors] if isinstance(motors, (DCMotor, PMSM)) else list(motors)
        if not several or not all(isinstance(motor, (DCMotor, PMSM)) for motor in several):
            raise InvalidInput("JointDrives: motors, expected a DCMotor or PMSM, or one a joint")
        self.motors = [motor.as_dc() if isinstance(motor, PMSM) else motor for motor in several]
        self.ratios = positive_array(ratios, "JointDrives: ratios")
        self.bandwidth = positive_array(bandwidth, "JointDrives: bandwidth")
        self.voltage = as_doubles(voltage, "JointDrives: voltage")
        if not (self.voltage > 0).all():
            raise InvalidInput(f"JointDrives: voltage is {voltage!r}, expected numbers above 0 [V]")
        self.stiffness = (
            None if stiffness is None else positive_array(stiffness, "JointDrives: stiffness")
        )
        self.gear_damping = positive_array(gear_damping, "JointDrives: gear_damping", zero=True)
        self.backlash = positive_array(backlash, "JointDrives: backlash", zero=True)
        if self.stiffness is None and self.backlash.any():
            raise InvalidInput("JointDrives: backlash needs a stiffness of the gear [N m/rad]")

    def bound(self, plant: Plant) -> BoundDrives:
        return BoundDrives(self, plant)

    def each(self, name: str, n: int) -> np.ndarray:
        """A number of the motors, one a joint (n,)."""
        motor = self.motors[0]
        known = [word for word in dir(motor) if isinstance(getattr(motor, word), float | int)]
        if name not in known:
            raise UnknownName(
                f'each: motors have no number "{name}"{did_you_mean(str(name), known)}'
            )
        return np.broadcast_to(np.array([getattr(motor, name) for motor in self.motors]), (n,))

    def currents(self, run: Any) -> np.ndarray:
        """Motor currents (..., T, nv) [A] of a run with rigid gears, from its joint forces."""
        if self.stiffness is not None:
            raise InvalidInput(
                "JointDrives: with elastic gears the joint force is the spring's, not the current's"
            )
        n = run.tau.shape[-1]
        return run.tau / (self.ratios * self.each("torque_constant", n))

    def temperatures(self, run: Any, thermal: Thermal) -> np.ndarray:
        """Winding temperatures (..., T, nv) [deg C] of a run: losses R i^2 held between rows,
        exactly filtered."""
        losses = self.each("resistance", run.tau.shape[-1]) * self.currents(run) ** 2
        rise = np.zeros_like(losses)
        fades = np.exp(-np.diff(run.time) / thermal.time)
        for k, z in enumerate(fades):
            rise[..., k + 1, :] = (
                z * rise[..., k, :] + (1.0 - z) * thermal.resistance * losses[..., k, :]
            )
        return thermal.ambient + rise


class BoundDrives(Bound):
    """Drives in a run."""

    def __init__(self, drives: JointDrives, plant: Plant) -> None:
        super().__init__()
        n = plant.nv
        if len(drives.motors) not in (1, n):
            raise InvalidInput(
                f"JointDrives: {len(drives.motors)} motors, expected one or {n}: {plant.who}"
            )
        numbers = {
            "torque": drives.each("torque_constant", n),
            "emf": drives.each("emf", n),
            "resistance": drives.each("resistance", n),
            "inductance": drives.each("inductance", n),
            "ratio": drives.ratios,
            "bandwidth": drives.bandwidth,
            "peak": np.minimum(drives.each("peak_current", n), 1e15),
            "voltage": np.minimum(drives.voltage, 1e15),
        }
        self.elastic = drives.stiffness is not None
        if drives.stiffness is not None:
            numbers |= {"inertia": drives.each("inertia", n), "stiffness": drives.stiffness}
            numbers |= {"gear_damping": drives.gear_damping, "half": 0.5 * drives.backlash}
        self.play, self.direct = bool(drives.backlash.any()), drives.commanded == "voltage"
        for name, x in numbers.items():
            self._number(f"drive_{name}", x, n, f"JointDrives: {name}")
        self.states = n * (3 if self.elastic else 1)

    def act(self, command: Any, v: Any, s: Any, p: Mapping[str, Any], n: int) -> tuple[Any, Any]:
        """(joint forces, rates of the drives' states)."""
        motor = ("torque", "emf", "resistance", "inductance")
        Kt, Ke, R, L = (p[f"drive_{name}"] for name in motor)
        limits = ("ratio", "bandwidth", "peak", "voltage")
        N, alpha, peak, U = (p[f"drive_{name}"] for name in limits)
        i = part(s, 0, n)
        turning = part(s, 2 * n, 3 * n) if self.elastic else N * v  # the rotor's own speed
        u = command
        if not self.direct:
            wanted = clipped(command / (N * Kt), peak)
            u = alpha * L * (wanted - i) + R * i + Ke * turning
        u = clipped(u, U)
        rate = (u - R * i - Ke * turning) / L
        if not self.elastic:
            return N * Kt * i, rate
        twist, half = part(s, n, 2 * n), p["drive_half"]
        over = (
            larger(twist - half, 0.0 * twist) + smaller(twist + half, 0.0 * twist)
            if self.play
            else twist
        )
        slip = turning / N - v
        touches = where(over * over > 0, 1.0, 0.0) if self.play else 1.0
        force = p["drive_stiffness"] * over + touches * p["drive_gear_damping"] * slip
        return force, joined([rate, slip, (Kt * i - force / N) / p["drive_inertia"]])
