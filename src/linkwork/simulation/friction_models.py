"""Friction models that a run may have instead of the description's: one number for all joints,
or one a joint.

Every model says what the mechanism loses: joint forces [N m, N] that act against the motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput
from linkwork.simulation.algebra import absolute, exponential, hyperbolic_tangent


class FrictionModel:
    """A law of joint speeds. numbers: parameters (..., nv) by name; states: numbers it integrates,
    a joint each."""

    names: ClassVar[tuple[str, ...]] = ()
    states = 0
    of_a_run: ClassVar[tuple[str, ...]] = ("numbers",)

    def __init__(self, **numbers: ArrayLike) -> None:
        who = type(self).__name__
        self.numbers = {name: as_doubles(x, f"{who}: {name}") for name, x in numbers.items()}
        for name, x in self.numbers.items():
            if not np.isfinite(x).all() or (x < 0).any():
                raise InvalidInput(
                    f"{who}: {name} is {x.tolist()}, expected finite numbers of at least 0"
                )
        for name in ("width", "speed", "stiffness"):
            if name in self.numbers and (self.numbers[name] == 0).any():
                raise InvalidInput(f"{who}: {name} is 0, expected numbers above 0")

    def force(self, p: Mapping[str, Any], v: Any, z: Any) -> tuple[Any, Any]:
        """(force lost (nv), rate of the states)."""
        raise NotImplementedError


class Viscous(FrictionModel):
    """damping v [N m s/rad, N s/m]."""

    names = ("damping",)

    def __init__(self, damping: ArrayLike) -> None:
        super().__init__(damping=damping)

    def force(self, p: Mapping[str, Any], v: Any, z: Any) -> tuple[Any, Any]:
        return p["damping"] * v, z


class Coulomb(FrictionModel):
    """Dry friction of a level [N m, N]: level tanh(v/width),
    or without a width exact in fixed steps.

    Exact: set-valued and implicit, so that a joint that should stick does not creep. Smoothed, it
    creeps.
    """

    names = ("level", "width")

    def __init__(self, level: ArrayLike, width: ArrayLike | None = None) -> None:
        self.exact = width is None
        super().__init__(level=level, width=1e-4 if width is None else width)

    def force(self, p: Mapping[str, Any], v: Any, z: Any) -> tuple[Any, Any]:
        return p["level"] * hyperbolic_tangent(v / p["width"]), z


class Stribeck(FrictionModel):
    """(level + (static - level) exp(-(v/speed)^2)) tanh(v/width) + damping v:
    more to start than to go on."""

    names = ("level", "static", "speed", "damping", "width")

    def __init__(
        self,
        level: ArrayLike,
        static: ArrayLike,
        speed: ArrayLike,
        damping: ArrayLike = 0.0,
        width: ArrayLike = 1e-3,
    ) -> None:
        super().__init__(level=level, static=static, speed=speed, damping=damping, width=width)

    def force(self, p: Mapping[str, Any], v: Any, z: Any) -> tuple[Any, Any]:
        ratio = v / p["speed"]
        level = p["level"] + (p["static"] - p["level"]) * exponential(-ratio * ratio)
        return level * hyperbolic_tangent(v / p["width"]) + p["damping"] * v, z


class LuGre(FrictionModel):
    """Bristles that bend: z' = v - stiffness |v| z/g(v),
    force = stiffness z + bristle_damping z' + damping v.

    g(v) = level + (static - level) exp(-(v/speed)^2); stiffness [N m/rad], bristle_damping
    [N m s/rad]. It sticks with a small elastic motion, and remembers. Source: [CanudasdeWit1995]
    eq. 1-4.
    """

    names = ("level", "static", "speed", "stiffness", "bristle_damping", "damping")
    states = 1

    def __init__(
        self,
        level: ArrayLike,
        static: ArrayLike,
        speed: ArrayLike,
        stiffness: ArrayLike,
        bristle_damping: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
    ) -> None:
        super().__init__(
            level=level,
            static=static,
            speed=speed,
            stiffness=stiffness,
            bristle_damping=bristle_damping,
            damping=damping,
        )
        if (self.numbers["level"] == 0).any():
            raise InvalidInput(
                "LuGre: level is 0, expected numbers above 0: bristles without it bend for ever"
            )

    def force(self, p: Mapping[str, Any], v: Any, z: Any) -> tuple[Any, Any]:
        ratio = v / p["speed"]
        level = p["level"] + (p["static"] - p["level"]) * exponential(-ratio * ratio)
        rate = v - p["stiffness"] * absolute(v) * z / level
        return p["stiffness"] * z + p["bristle_damping"] * rate + p["damping"] * v, rate
