"""Angles over symbols: the small trigonometric pieces of which closed forms are made."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import casadi
from casadi import SX, fmax, fmin, if_else, sqrt

TAU = 2.0 * math.pi
FREE = 3e-11
"""Sizes [of the arm's length, sine] below which a direction means nothing: the angle is pinned, and
the error of that stays below the tolerance of a row (candidates.TOLERANCE). Above it the direction
has enough digits for its small size.
"""


@dataclass(frozen=True)
class Margin:
    """How a closed form treats its own limits.

    slack    how far past its end [relative] a stretched arm is still taken as stretched: true FK
             decides later
    spread   angle [rad] between the two halves of a double root: 0 gives it once, more gives two
             starts for polishing
    """

    slack: float = 1e-9
    spread: float = 0.0


EXACT = Margin()
SLACK = 0.05
SPREADS = (0.1, 0.02, 0.3)
"""For a robot that nearly has the geometry of its family:
double roots are tried at the first spread, then others."""


def wrapped(x: SX) -> SX:
    """x in (-pi, pi]."""
    return x - TAU * casadi.ceil((x - math.pi) * (1.0 / TAU))


def clamped(x: SX, low: float | SX = -1.0, high: float | SX = 1.0) -> SX:
    return fmin(fmax(x, low), high)


def root(x: SX) -> SX:
    """sqrt of x, zero where x is negative."""
    return sqrt(fmax(x, 0.0))


def either(condition: SX, x: SX | float, y: SX | float) -> SX:
    """x where the condition holds, else y."""
    return if_else(condition, x, y)


def both(*conditions: SX) -> SX:
    """1 where all conditions (0 or 1) hold."""
    return functools.reduce(lambda x, y: x * y, conditions)


def any_of(*conditions: SX) -> SX:
    """1 where one of the conditions (0 or 1) holds."""
    return functools.reduce(fmax, conditions)
