"""Grip force: current to force through a gear train or a measured table, and back,
with the band of friction."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.checks import positive, whole, within
from linkwork.control.trains import GearTrain
from linkwork.errors import InvalidInput


class GripForce:
    """Force from current through a measured, monotone table, and back;
    friction widens the current by a band.

    currents [A], forces [N]: a sweep in one direction; friction [A]: half width of the band in
    which nothing moves `fit` makes a table of measured, noisy rows, `through` one of a gear train.
    """

    def __init__(self, currents: ArrayLike, forces: ArrayLike, friction: float = 0.0) -> None:
        from scipy.interpolate import PchipInterpolator

        x = finite_doubles(currents, "GripForce: currents")
        y = finite_doubles(forces, "GripForce: forces")
        if x.shape != y.shape or x.ndim != 1 or len(x) < 2:
            raise InvalidInput(
                f"GripForce: currents {x.shape} and forces {y.shape} must be equal rows of at "
                "least two"
            )
        for name, row in (("currents", x), ("forces", y)):
            steps = np.diff(row)
            if not (np.isfinite(row).all() and (steps > 0).all()):
                k = int(np.argmin(steps))
                raise InvalidInput(
                    f"GripForce: {name} do not rise from {row[k]:g} to {row[k + 1]:g}: not monotone"
                )
        self.friction = float(within(friction, "GripForce: friction", 0.0, np.inf, (True, False)))
        self.currents, self.forces = x, y
        self._curve = PchipInterpolator(x, y)

    @classmethod
    def fit(
        cls, currents: ArrayLike, forces: ArrayLike, points: int = 9, friction: float = 0.0
    ) -> GripForce:
        """A table of `points` rows from a noisy sweep: the nearest rising course (isotonic),
        evenly read.

        currents [A] in any order and forces [N], at least as many as points.
        """
        from scipy.interpolate import PchipInterpolator
        from scipy.optimize import isotonic_regression

        x = finite_doubles(currents, "GripForce: currents")
        y = finite_doubles(forces, "GripForce: forces")
        count = whole(points, "GripForce: points", 2)
        if x.ndim != 1 or x.shape != y.shape or len(x) < count:
            raise InvalidInput(
                f"GripForce: currents {x.shape}, forces {y.shape}: expected rows of at "
                f"least {count}"
            )
        order = np.argsort(x, kind="stable")
        rising = np.asarray(isotonic_regression(y[order]).x)
        # equal rows that follow each other are one measurement: their mean current stands for them
        starts = np.concatenate([[0], np.flatnonzero(np.diff(rising) > 0) + 1])
        levels, sizes = rising[starts], np.diff([*starts, len(x)])
        middles = np.add.reduceat(x[order], starts) / sizes
        if len(levels) < 2 or (np.diff(middles) <= 0).any():
            raise InvalidInput(
                "GripForce: the forces do not rise with the currents: no table can be fitted"
            )
        at = np.linspace(middles[0], middles[-1], min(count, len(levels)))
        return cls(at, PchipInterpolator(middles, levels)(at), friction)

    @classmethod
    def through(
        cls,
        train: GearTrain,
        motor: str,
        shaft: str,
        torque_constant: float,
        arm: float,
        peak_current: float,
        friction: float = 0.0,
    ) -> GripForce:
        """The table of a train: force = torque_constant current / (T arm),
        T the motor's torque for 1 N m of the shaft.

        train with one free shaft (ground what stands still), lossless or closing with its losses;
        torque_constant [N m/A], arm [m] from the shaft's axis to the fingertip, peak_current [A]
        """
        if not isinstance(train, GearTrain):
            raise InvalidInput(f"GripForce: train is {type(train).__name__}, expected GearTrain")
        reach = positive(arm, "GripForce: arm")
        ratio = float(train.ratio(motor, shaft))
        torque = abs(train.torques({shaft: 1.0}, [motor], {motor: ratio})[motor])
        most = positive(peak_current, "GripForce: peak_current")
        largest = positive(torque_constant, "GripForce: torque_constant") * most / (torque * reach)
        return cls([0.0, most], [0.0, largest], friction)

    def force(self, current: ArrayLike) -> np.ndarray:
        """Force [N] of a current [A] inside the table, friction aside."""
        wanted = finite_doubles(current, "GripForce: current")
        self._inside(wanted, self.currents, "current", "A")
        return self._curve(wanted)

    def current(self, force: ArrayLike) -> np.ndarray:
        """Current [A] for a force [N]: the inverse of the monotone curve,
        by bisection and Newton to 1e-12."""
        from scipy.optimize import brentq

        wanted = finite_doubles(force, "GripForce: force")
        self._inside(wanted, self.forces, "force", "N")
        low, high = self.currents[0], self.currents[-1]
        currents = [
            brentq(lambda x, y=y: float(self._curve(x)) - y, low, high, xtol=1e-14)
            for y in wanted.ravel()
        ]
        return np.array(currents).reshape(wanted.shape) + self.friction

    def band(self, current: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(smallest, largest) force [N] that a current [A] may hold: friction helps or hinders,
        within the table."""
        amps = finite_doubles(current, "GripForce: current")
        self._inside(amps, self.currents, "current", "A")
        low, high = self.currents[0], self.currents[-1]
        return self._curve(np.maximum(amps - self.friction, low)), self._curve(
            np.minimum(amps + self.friction, high)
        )

    def _inside(self, x: np.ndarray, row: np.ndarray, what: str, unit: str) -> None:
        if (x < row[0]).any() or (x > row[-1]).any():
            worst = float(x[(x < row[0]) | (x > row[-1])].ravel()[0])
            raise InvalidInput(
                f"GripForce: {what} {worst:g} {unit} is outside the table, {row[0]:g} to "
                f"{row[-1]:g} {unit}"
            )
