"""Motors: constants of data sheets in named units, converted once,
so that no power comes from nowhere.

A three-phase machine with flux linkage psi and p pole pairs gives 1.5 p psi newton metres per peak
ampere and p psi volts (phase, peak) per rad/s. Sheets print other mixtures: K_t per rms ampere with
K_e between lines in rms volts differ by sqrt(3) and are the same machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.control.checks import positive, whole
from linkwork.errors import InvalidInput, did_you_mean

TORQUE_UNITS = {"N m/A peak": 1.5, "N m/A rms": 1.5 * np.sqrt(2.0)}
"""Torque constants of the unit flux p psi = 1."""
EMF_UNITS = {
    "V s/rad phase peak": 1.0,
    "V s/rad phase rms": 1.0 / np.sqrt(2.0),
    "V s/rad line peak": np.sqrt(3.0),
    "V s/rad line rms": np.sqrt(1.5),
    "V/krpm line rms": np.sqrt(1.5) * 1000.0 * 2.0 * np.pi / 60.0,
    "V/krpm line peak": np.sqrt(3.0) * 1000.0 * 2.0 * np.pi / 60.0,
}
"""Back-EMF constants of the unit flux p psi = 1."""


def _unit(name: str, known: dict[str, float], who: str) -> float:
    if name not in known:
        raise InvalidInput(
            f'{who}: there is no unit "{name}"{did_you_mean(name, known)}; known: '
            f"{', '.join(known)}"
        )
    return known[name]


def linked_flux(value: float, unit: str) -> float:
    """p psi [V s/rad, phase peak] from a torque or a back-EMF constant in a named unit."""
    known = TORQUE_UNITS | EMF_UNITS
    return positive(value, "linked_flux: value") / _unit(unit, known, "linked_flux")


@dataclass(frozen=True)
class DCMotor:
    """A brushed motor, or a drive seen as one: L I' = U - R I - K_e w, torque = K_t I.

    torque_constant [N m/A], back_emf [V s/rad], resistance [Ohm], inductance [H], inertia [kg m^2],
    peak_current [A] In these units K_t and K_e of one motor are one number; K_t above K_e would
    create power and is refused: such pairs belong to PMSM.from_constants, which knows their units.
    """

    torque_constant: float
    resistance: float
    inductance: float
    inertia: float
    back_emf: float | None = None
    peak_current: float = np.inf

    def __post_init__(self) -> None:
        for name in ("torque_constant", "resistance", "inductance", "inertia"):
            positive(getattr(self, name), f"DCMotor: {name}")
        emf = self.back_emf
        if emf is not None and self.torque_constant > 1.02 * positive(emf, "DCMotor: back_emf"):
            raise InvalidInput(
                f"DCMotor: K_t = {self.torque_constant:g} N m/A above K_e = {emf:g} V s/rad "
                "creates power; if they are "
                "of a three-phase machine, use PMSM.from_constants with their units"
            )

    @property
    def emf(self) -> float:
        return self.torque_constant if self.back_emf is None else self.back_emf

    @property
    def electrical_time(self) -> float:
        """L / R [s]."""
        return self.inductance / self.resistance

    @property
    def mechanical_time(self) -> float:
        """R J / (K_t K_e) [s]: how fast the bare rotor follows a voltage."""
        return self.resistance * self.inertia / (self.torque_constant * self.emf)

    def speed(self, voltage: float, torque: float = 0.0) -> float:
        """Steady speed [rad/s] at a voltage [V] and a load [N m]."""
        return (voltage - self.resistance * torque / self.torque_constant) / self.emf


@dataclass(frozen=True)
class PMSM:
    """A permanent-magnet synchronous machine in dq coordinates (amplitude-invariant).

    flux psi [V s] (peak, a phase), pole_pairs, resistance [Ohm] and inductances L_d, L_q [H] of one
    phase, inertia [kg m^2]
    torque = 1.5 p (psi i_q + (L_d - L_q) i_d i_q);  u_d = R i_d + L_d i_d' - w_e L_q i_q,
    u_q = R i_q + L_q i_q' + w_e (L_d i_d + psi),  w_e = p w
    """

    flux: float
    pole_pairs: int
    resistance: float
    inductance_d: float
    inductance_q: float
    inertia: float

    def __post_init__(self) -> None:
        for name in ("flux", "resistance", "inductance_d", "inductance_q", "inertia"):
            positive(getattr(self, name), f"PMSM: {name}")
        whole(self.pole_pairs, "PMSM: pole_pairs")

    @staticmethod
    def from_constants(
        torque_constant: tuple[float, str],
        back_emf: tuple[float, str],
        pole_pairs: int,
        resistance: float,
        inductance: float,
        inertia: float,
    ) -> PMSM:
        """From K_t and K_e with units, (0.42, "N m/A rms"), (0.24, "V s/rad line rms");
        they must agree to 5 %."""
        by_torque = linked_flux(*torque_constant)
        by_emf = linked_flux(*back_emf)
        if abs(by_torque - by_emf) > 0.05 * by_emf:
            raise InvalidInput(
                f"PMSM: K_t = {torque_constant[0]:g} {torque_constant[1]} means {by_torque:.4g} V "
                "s/rad (phase peak), "
                f"K_e = {back_emf[0]:g} {back_emf[1]} means {by_emf:.4g}: one machine has one "
                "flux; check the units"
            )
        p = whole(pole_pairs, "PMSM: pole_pairs")
        return PMSM(0.5 * (by_torque + by_emf) / p, p, resistance, inductance, inductance, inertia)

    def torque(self, i_d: float, i_q: float) -> float:
        """Torque [N m] of dq currents [A peak]."""
        saliency = (self.inductance_d - self.inductance_q) * i_d * i_q
        return 1.5 * self.pole_pairs * (self.flux * i_q + saliency)

    def voltages(self, i_d: float, i_q: float, speed: float) -> tuple[float, float]:
        """Steady (u_d, u_q) [V peak, a phase] at a shaft speed [rad/s]."""
        w = self.pole_pairs * speed
        u_d = self.resistance * i_d - w * self.inductance_q * i_q
        return u_d, self.resistance * i_q + w * (self.inductance_d * i_d + self.flux)

    def constant(self, unit: str) -> float:
        """K_t or K_e in a named unit."""
        return self.flux * self.pole_pairs * _unit(unit, TORQUE_UNITS | EMF_UNITS, "PMSM: constant")

    def as_dc(self) -> DCMotor:
        """Its q axis as one motor: peak currents, voltages 1.5 times a phase's peak,
        so that power is right."""
        k = 1.5 * self.pole_pairs * self.flux
        return DCMotor(k, 1.5 * self.resistance, 1.5 * self.inductance_q, self.inertia)
