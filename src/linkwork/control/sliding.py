"""Sliding mode: a tracking law for any robot or System, from a surface and a reaching law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import as_doubles, choice
from linkwork.control.checks import positive
from linkwork.control.reaching import ReachingLaw
from linkwork.control.surfaces import Surface
from linkwork.control.twisting import AdaptiveRate, MemoryLaw, SuperTwisting, Twisting
from linkwork.errors import InvalidInput
from linkwork.formats.tabular import Tabular
from linkwork.model.payload import Payload
from linkwork.results import short_repr
from linkwork.simulation.algebra import clipped, joined, part, where
from linkwork.simulation.bound import Bound
from linkwork.simulation.controllers import Controller, reference, tracked
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import Source

AnyLaw = ReachingLaw | MemoryLaw | Twisting


@short_repr
@dataclass(frozen=True)
class Margin(Tabular, rows="needed", aside=("sentences",)):
    """Whether a law rejects a disturbance of accelerations, joint by joint.

    needed   the disturbance's bound D (nv,) [rad/s^2, m/s^2];  gain (nv,): what the law has at nu =
             0+
    band     |nu| stays within it (nv,); inf: the joint is carried away;  chatter: explicit sampling
             adds period * jump
    """

    needed: np.ndarray
    gain: np.ndarray
    band: np.ndarray
    sentences: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.sentences

    def __str__(self) -> str:
        return "; ".join(self.sentences) or "every joint holds"


class SlidingMode(Controller):
    """tau = inverse dynamics(q, v, target'' - drift of the surface + r(nu, t)),  e = q - target.

    surface         Surface, TerminalSurface, NonsingularTerminalSurface (none for Twisting)
    law             a reaching law: with an exact model nu' = r(nu, t) + d, d the accelerations of
                    what it does not know
    target          as for PD: configuration, function of time (differentiated), PerStep rows with
                    their rates
    model           robot that the law believes in; left out: the real one, payload included
    discretisation  "implicit": backward Euler, no numerical chattering; "explicit": as printed, it
                    chatters
    limit           forces [N m, N] are held within +-limit; an integral surface waits there
                    (anti-windup)

    Implicit rules need the period: put the law inside Sampled. Gravity is part of the inverse
    dynamics: do not add GravityCompensation. Source: [Khan2022] eq. 2-5; discretisation ours.
    """

    def __init__(
        self,
        surface: Surface | None,
        law: AnyLaw,
        target: Any,
        model: Any = None,
        discretisation: str = "implicit",
        limit: ArrayLike | None = None,
    ) -> None:
        self.surface, self.law, self.model, self.limit = surface, law, model, limit
        self.target = Source(target, "SlidingMode: target")
        self.discretisation = choice(
            discretisation, ("implicit", "explicit"), "SlidingMode: discretisation"
        )
        if not isinstance(law, (ReachingLaw, MemoryLaw, Twisting)):
            raise InvalidInput(f"SlidingMode: law is {type(law).__name__}, expected a reaching law")
        if surface is None and not isinstance(law, Twisting):
            raise InvalidInput(
                "SlidingMode: surface is None, expected a Surface (only Twisting needs none)"
            )

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundSliding(self, plant, prefix)

    def check(
        self,
        disturbance: ArrayLike,
        period: float | None = None,
        band: float | None = None,
        cause: Payload | str | None = None,
    ) -> Margin:
        """Whether disturbances up to D (nv,) [rad/s^2, m/s^2] are rejected,
        with a sentence for each joint that fails.

        period, band: also whether explicit sampling leaves |nu| within the band asked for.
        cause: what disturbs, for the sentence: a Payload or words.
        """
        needed = np.atleast_1d(as_doubles(disturbance, "SlidingMode: disturbance"))
        if isinstance(self.law, SuperTwisting):
            raise InvalidInput(
                "SlidingMode: check: super-twisting rejects rates of disturbances: k2 > |d'|, "
                "not |d|"
            )
        if isinstance(self.law, AdaptiveRate):  # its gain grows beyond any bound
            gain, left = np.broadcast_to(self.law.gain, needed.shape), np.zeros(needed.shape)
        elif isinstance(self.law, Twisting):
            gain = np.broadcast_to(np.minimum(self.law.k1 - self.law.k2, self.law.k2), needed.shape)
            left = np.where(gain > needed, 0.0, np.inf)
        else:
            assert isinstance(self.law, ReachingLaw)
            gain = np.broadcast_to(self.law.gain, needed.shape)
            left = np.broadcast_to(self.law.band(needed), needed.shape)
        of, known = "", "what causes it"
        if cause is not None:
            told = f"{cause.mass:g} kg" if isinstance(cause, Payload) else cause
            of, known = f" from {told}", "the payload" if isinstance(cause, Payload) else cause
        words = [
            f"K_{k + 1} = {gain[k]:.4g} rad/s^2 cannot reject {needed[k]:.4g} rad/s^2{of}; need "
            f"K_{k + 1} > "
            f"{needed[k]:.4g} or model {known}"
            for k in range(len(needed))
            if not np.isfinite(left[k])
        ]
        if period is not None and band is not None and isinstance(self.law, ReachingLaw):
            h = positive(period, "SlidingMode: period")
            jump = np.broadcast_to(self.law.jump(self.law.numbers, 0.0), needed.shape)
            shaken = h * jump if self.discretisation == "explicit" else 0.0 * jump
            words += [
                f"joint {k + 1}: explicit sampling every {1e3 * h:g} ms with a jump of "
                f"{jump[k]:.4g} rad/s^2 leaves a "
                f"band of {shaken[k]:.4g} rad/s, wider than {band:g}; use "
                'discretisation="implicit" or a shorter period'
                for k in range(len(needed))
                if shaken[k] > band
            ]
        return Margin(needed, np.array(gain), np.array(left), tuple(words))


class _BoundSliding(Bound):
    def __init__(self, controller: SlidingMode, plant: Plant, prefix: str) -> None:
        super().__init__()
        self.prefix, self.law_, self.surface = prefix, controller.law, controller.surface
        self.implicit = controller.discretisation == "implicit"
        self.past = self.implicit or isinstance(controller.law, MemoryLaw)
        self.target = tracked(self, controller.target, plant, f"{prefix}_target", "SlidingMode")
        self.model = (
            None if controller.model is None else OwnModel(controller.model, plant, "SlidingMode")
        )
        n = plant.nv
        self.surfaces = {} if controller.surface is None else controller.surface.numbers(n)
        for name, x in controller.law.numbers.items():
            self._number(f"{prefix}_{name}", x, n, f"SlidingMode: {name}")
        self.parameters |= {f"{prefix}_surface_{name}": x for name, x in self.surfaces.items()}
        self.numbers = (tuple(controller.law.numbers), tuple(self.surfaces))
        self.surfaces = {}
        self.limited = controller.limit is not None
        if controller.limit is not None:
            self._number(f"{prefix}_limit", controller.limit, n, "SlidingMode: limit")
        self.integrates = bool(controller.surface is not None and controller.surface.states)
        self.twists = isinstance(controller.law, MemoryLaw)
        self.memory = n * (self.integrates + self.twists) if self.past else 0
        self.states = n * self.integrates

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        tau, e, _, held = self._force(plant, t, q, v, s, p, None)
        return tau, where(held, 0.0 * e, e) if self.integrates else s

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        tau, e, twisted, held = self._force(plant, t, q, v, m, p, period)
        kept = []
        if self.integrates:  # anti-windup: where the force is at its limit the integral waits
            kept.append(part(m, 0, plant.nv) + where(held, 0.0 * e, period * e))
        if self.twists:
            kept.append(twisted)
        return tau, joined(kept) if kept else m

    def _force(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any, Any, Any]:
        """(force, error, next integral of super-twisting, where the force is at its limit)."""
        n = plant.nv
        law_names, surface_names = self.numbers
        gains = {name: p[f"{self.prefix}_{name}"] for name in law_names}
        x, xd, xdd = reference(self.target, plant, t, v, p)
        e, ed = -plant.difference(q, x), v - xd
        first = n * self.integrates
        z, w = (part(m, 0, n) if self.integrates else None), part(m, first, first + n * self.twists)
        twisted = None
        if isinstance(self.law_, Twisting):
            a = xdd + self.law_.rate(e, ed, gains)
        else:
            assert self.surface is not None
            numbers = {name: p[f"{self.prefix}_surface_{name}"] for name in surface_names}
            nu = self.surface.value(numbers, e, ed, z, n)
            if isinstance(self.law_, MemoryLaw):
                rule = self.law_.implicit if self.implicit else self.law_.explicit
                r, twisted = rule(gains, nu, w, period)
            elif self.implicit:
                r = self.law_.implicit(gains, nu, t, period)
            else:
                r = self.law_.explicit(gains, nu, t)
            a = xdd - self.surface.drift(numbers, e, ed, n) + r
        tau = model_or_plant(self.model, plant).inverse(q, v, a, t)
        if not self.limited:
            return tau, e, twisted, e > np.inf
        held = clipped(tau, p[f"{self.prefix}_limit"])
        return held, e, twisted, held != tau
