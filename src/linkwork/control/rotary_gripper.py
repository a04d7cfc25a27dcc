"""Rotary gripper: force and turn of a gripper whose two motors share an epicyclic train,
before it is built."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.checks import positive
from linkwork.control.trains import GearTrain
from linkwork.errors import InvalidInput

_PARTS = (
    "driver",
    "upper",
    "cone",
    "sector_cone",
    "sector_cylinder",
    "finger",
    "cone_height",
    "finger_length",
)


@dataclass(frozen=True)
class GripperDrives:
    """Motors and loops of the gripper: SI units, per motor.

    torque_constant K_t [N m/A], back_emf K_e [V s/rad]: with K_t > K_e a plain motor model creates
    power; K_t is per ampere rms and K_e between lines; `consistent` gives the same drives with K_e
    = K_t. inertias (M1, M2) [kg m^2]; current PI: gain [V/A], time [s]; velocity [A s/rad];
    position [1/s]; differentiator [s]; periods (current, velocity, position) [s]; peak_current [A]
    Source: [Romanov2022] Table 1 and section 4.
    """

    torque_constant: float = 0.42
    back_emf: float = 0.24
    inductance: float = 6.3e-3
    resistance: float = 2.6
    inertias: tuple[float, float] = (7e-5, 1.1884e-4)
    current_gain: float = 34.0
    current_time: float = 2e-3
    velocity_gain: float = 0.896
    position_gain: float = 163.6
    differentiator: float = 3.3e-3
    periods: tuple[float, float, float] = (50e-6, 200e-6, 400e-6)
    peak_current: float = 3.5

    @property
    def creates_power(self) -> bool:
        return self.torque_constant > self.back_emf

    def consistent(self) -> GripperDrives:
        """The same drives with K_e = K_t: no power comes from nowhere."""
        return replace(self, back_emf=self.torque_constant)


@dataclass(frozen=True)
class RotaryGripper:
    """Pitch diameters and lengths [m] of the train, and the coupling k of body and fingers.

    torque_constant   K_t of both motors [N m/A]; it takes the place of the usual one of `drives`,
                      and of K_e where that is the same; drives with another constant of their own
                      are refused
    coupling   k of w_finger = (w_1 - k w_body)/finger_ratio: 1 by the geometry of bevel wheels; the
               paper's eq. 5 means 1 + 1/g_ps, its eq. 9 means 1 + g_ps (`couplings`)
    Source: [Romanov2022] eq. 1-8. Corrected: eqs. 5 and 6 are those of parallel axes; k = 1.
    """

    driver: float
    upper: float
    cone: float
    sector_cone: float
    sector_cylinder: float
    finger: float
    cone_height: float
    finger_length: float
    torque_constant: float
    coupling: float = 1.0
    drives: GripperDrives = GripperDrives()

    def __post_init__(self) -> None:
        for name in (*_PARTS, "torque_constant"):
            positive(getattr(self, name), f"RotaryGripper: {name}")
        if not np.isfinite(self.coupling):
            raise InvalidInput(
                f"RotaryGripper: coupling is {self.coupling!r}, expected a finite number"
            )
        object.__setattr__(self, "drives", _with_constant(self.drives, self.torque_constant))

    @staticmethod
    def from_robot(robot: Any = "rotary-gripper") -> RotaryGripper:
        """From the variables of a robot, or of a built-in one by its name."""
        model: Any = getattr(getattr(robot, "subject", robot), "model", None)
        if model is None:
            model = _built_in(robot)
        values = dict(model.variables)
        missing = [name for name in (*_PARTS, "torque_constant") if name not in values]
        if missing:
            raise InvalidInput(
                f'RotaryGripper: robot "{model.name}" has no variables {", ".join(missing)}'
            )
        sizes: dict[str, Any] = {name: float(values[name]) for name in (*_PARTS, "torque_constant")}
        return RotaryGripper(**sizes)

    @property
    def axis_distance(self) -> float:
        """Between driver and body axes [m] (eq. 1)."""
        return (self.driver + self.upper) / 2

    @property
    def turn_ratio(self) -> float:
        """g_c = w_2 / -w_body."""
        return self.upper / self.driver

    @property
    def stack_height(self) -> float:
        """h_g [m] (eq. 2)."""
        return (self.finger + self.sector_cone + self.sector_cylinder) / 2 + self.cone_height

    @property
    def sector_ratio(self) -> float:
        return self.sector_cone / self.cone

    @property
    def finger_ratio(self) -> float:
        """g_f = w_1 / w_finger while the body stands still."""
        return self.sector_ratio * self.finger / self.sector_cylinder

    @property
    def couplings(self) -> dict[str, float]:
        """The three readings of k: by geometry, by eq. 5, by eq. 9."""
        return {
            "geometry": 1.0,
            "equation 5": 1.0 + 1.0 / self.sector_ratio,
            "equation 9": 1.0 + self.sector_ratio,
        }

    @property
    def train(self) -> GearTrain:
        """The wheels (k = 1): shafts motor1, motor2, body, sector, finger."""
        train = GearTrain().mesh("motor2", "body", (self.driver, self.upper), "external")
        train = train.mesh(
            "motor1", "sector", (self.cone, self.sector_cone), "bevel", carrier="body"
        )
        return train.mesh("sector", "finger", (self.sector_cylinder, self.finger), "belt")

    def force(self, current: ArrayLike) -> np.ndarray:
        """Grip force [N] of a current of M1 [A] (eq. 8)."""
        return finite_doubles(current, "force: current") * (
            self.torque_constant * self.finger_ratio / self.finger_length
        )

    def current(self, force: ArrayLike) -> np.ndarray:
        """Current of M1 [A] for a grip force [N]; beyond the peak current it is refused."""
        wanted = finite_doubles(force, "current: force")
        current = wanted * self.finger_length / (self.torque_constant * self.finger_ratio)
        if (np.abs(current) > self.drives.peak_current * (1 + 1e-9)).any():
            worst = np.abs(current).max()
            raise InvalidInput(
                f"RotaryGripper: {np.abs(wanted).max():g} N needs {worst:.4g} A, limit "
                f"{self.drives.peak_current:g} A"
            )
        return current

    def holding_current(self, force: ArrayLike) -> np.ndarray:
        """Current of M2 [A] that keeps the gripper from turning under a grip force [N]."""
        wanted = finite_doubles(force, "holding_current: force")
        per_current = self.torque_constant * self.finger_ratio * self.turn_ratio
        return self.coupling * wanted * self.finger_length / per_current

    def twist(self, force: ArrayLike) -> np.ndarray:
        """Static angle [rad] by which the gripper gives way:
        the rotation loop has no integral outside its current."""
        return self.holding_current(force) / (self.drives.velocity_gain * self.drives.position_gain)

    def rates(self, w1: ArrayLike, w2: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(w_body, w_finger) [rad/s] for speeds of M1 and M2."""
        first, second = finite_doubles(w1, "rates: w1"), finite_doubles(w2, "rates: w2")
        body = -second / self.turn_ratio
        return body, (first - self.coupling * body) / self.finger_ratio

    def tip_speed(self, w1: ArrayLike, w2: ArrayLike = 0.0) -> np.ndarray:
        """Speed [m/s] of a fingertip relative to the body."""
        return self.finger_length * self.rates(w1, w2)[1]

    def feed_forward_gains(self, coupling: float | None = None) -> tuple[float, float]:
        """(K_eps [A s^2/rad], K_omega [V s/rad]): what M1 must add so that the fingers stay while
        the body turns."""
        k = self.coupling if coupling is None else float(coupling)
        return k * self.drives.inertias[0] / self.torque_constant, k * self.drives.back_emf

    @property
    def best_differentiator(self) -> float:
        """The lag of the rotation loop, 1/K_p + 1/w_v [s]:
        the differentiator time with the least sag (7.0 ms)."""
        d = self.drives
        crossing = d.velocity_gain * d.torque_constant / (d.inertias[1] * self.turn_ratio)
        return 1.0 / d.position_gain + 1.0 / crossing

    def simulate(self, force: ArrayLike, turn: ArrayLike, **options: Any) -> Any:
        """Grip force over time while the gripper turns; see grip_simulation.simulate_grip."""
        from linkwork.control.grip_simulation import simulate_grip

        return simulate_grip(self, force, turn, **options)


def _built_in(name: Any) -> Any:
    """The model of a built-in robot."""
    from importlib.resources import files

    from linkwork.formats.robot_yaml import read_robot_yaml

    place = files("linkwork") / "robots" / f"{name}.robot.yaml"
    if not isinstance(name, str) or not place.is_file():
        raise InvalidInput(
            f"RotaryGripper: robot is {name!r}, expected a Robot or the name of a built-in one"
        )
    return read_robot_yaml(str(place)).build()


def trapezoid_time(angle: float, velocity: float, acceleration: float) -> float:
    """Time [s] of a turn by an angle [rad] with limits of speed and acceleration."""
    d = positive(angle, "angle")
    v = positive(velocity, "velocity")
    a = positive(acceleration, "acceleration")
    v = min(v, float(np.sqrt(d * a)))
    return d / v + v / a


def safe_force(damage: float, error: float, margin: float = 1.5, needed: float = 0.0) -> float:
    """The largest set-point [N] for an object that breaks at `damage` [N],
    with a force error [N] of the gripper.

    needed   [N] that the object must be held with: the window is from needed to what this gives,
             and refused if empty
    """
    limit = positive(damage, "safe_force: damage") / positive(margin, "safe_force: margin")
    largest = limit - positive(error, "safe_force: error", zero=True)
    if largest <= 0:
        raise InvalidInput(
            f"safe_force: an error of {error:g} N exceeds {damage:g} N / {margin:g}: no safe force"
        )
    if positive(needed, "safe_force: needed", zero=True) > largest:
        raise InvalidInput(
            f"safe_force: {needed:g} N are needed, but {largest:.4g} N are safe: the window "
            "is empty"
        )
    return largest


def _with_constant(drives: GripperDrives, constant: float) -> GripperDrives:
    """Drives with the gripper's torque constant: formulas and simulation have one motor."""
    own = drives.torque_constant
    if own == constant:
        return drives
    if own != GripperDrives.torque_constant:
        told = f"RotaryGripper: torque_constant is {constant:g}, but that of drives is {own:g}"
        raise InvalidInput(f"{told}; expected the same of both, or drives that leave it out")
    back_emf = constant if drives.back_emf == own else drives.back_emf
    return replace(drives, torque_constant=constant, back_emf=back_emf)
