"""Observers inside a loop: laws that live on estimated speeds, estimated disturbances,
or felt contacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from linkwork.arguments import choice
from linkwork.control.checks import positive_array
from linkwork.control.disturbance_observer import Residual, check_momentum
from linkwork.control.maths import absolute, exponential, root, sign
from linkwork.errors import NotPossible
from linkwork.simulation.algebra import joined, larger, part, where
from linkwork.simulation.bound import Bound, absorb
from linkwork.simulation.controllers import Controller, as_controller
from linkwork.simulation.own_model import OwnModel, model_or_plant
from linkwork.simulation.plant import Plant

FIRST, SECOND = 1.5, 1.1
"""Gains of the differentiator, in parts of sqrt(bound) and bound. Source: [Levant1998] section
3."""


class LevantVelocity(Controller):
    """Another law that is told speeds by Levant's differentiator of the joints' positions,
    one a joint.

    bound [rad/s^2, m/s^2]: largest acceleration of a joint, a number or one a joint; where it
    holds, the speed is exact after a finite time. It keeps samples of the past, so it stands inside
    Sampled; the first sample has speed 0. Outside a loop: LevantDifferentiator. Source:
    [Levant1998] section 3.
    """

    def __init__(self, controller: Any, bound: ArrayLike) -> None:
        self.controller = as_controller(controller)
        self.largest = positive_array(bound, "LevantVelocity: bound")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundLevant(self, plant, prefix)


class ExtendedState(Controller):
    """tau = law - share inertia d,   q'' = tau/inertia + d: one extended state observer a joint,
    poles at -bandwidth.

    Whatever the joint does beyond tau/inertia counts as disturbance and is taken off: gravity,
    coupling, payload and friction need no model (active disturbance rejection). The law then sees a
    double integrator of that inertia.

    bandwidth [rad/s], inertia [kg m^2, kg]: numbers or one a joint;  share: part of d that is taken
    off

    velocity   "measured", or "estimated": the law is told the observer's speed
    It keeps samples of the past, so it stands inside Sampled. Outside a loop:
    ExtendedStateObserver.
    Source: [Gao2003] section III; gains exact for the sampled double integrator.
    """

    def __init__(
        self,
        controller: Any,
        bandwidth: ArrayLike,
        inertia: ArrayLike,
        share: float = 1.0,
        velocity: str = "measured",
    ) -> None:
        self.controller, self.share = as_controller(controller), share
        self.bandwidth = positive_array(bandwidth, "ExtendedState: bandwidth")
        self.inertia = positive_array(inertia, "ExtendedState: inertia")
        self.velocity = choice(velocity, ("measured", "estimated"), "ExtendedState: velocity")

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundExtended(self, plant, prefix)


class ContactReaction(Controller):
    """A law until something touches the robot, another one from then on: felt by momentum,
    without a force sensor.

    reaction    the law after the contact, as GravityCompensation() (the arm goes limp) or a softer
                impedance
    gain [1/s]  of the momentum observer;  threshold [N m, N]: of a joint's force from outside,
                number or one a joint
    model       robot that is believed; left out: the real one with its payload. What it does not
                know (friction) counts as from outside, so the threshold must be above it.
    It keeps samples of the past, so it stands inside Sampled. Source: [DeLuca2005] eq. 9.
    """

    def __init__(
        self,
        controller: Any,
        reaction: Any,
        gain: ArrayLike,
        threshold: ArrayLike,
        model: Any = None,
    ) -> None:
        self.controller, self.reaction = as_controller(controller), as_controller(reaction)
        self.gain = positive_array(gain, "ContactReaction: gain")
        self.threshold = positive_array(threshold, "ContactReaction: threshold")
        self.model = model

    def bound(self, plant: Plant, prefix: str = "control") -> Bound:
        return _BoundContact(self, plant, prefix)


class _BoundAround(Bound):
    """An observer around other laws: their memories come first, its own numbers after them."""

    def __init__(self, inner: list[Bound], extra: int) -> None:
        super().__init__()
        self.laws = inner
        absorb(self, inner)
        self.first = sum(law.kept for law in inner)
        self.memory, self.states, self.past = self.first + extra, 0, True

    @property
    def inside(self) -> list[Bound]:
        return self.laws

    def own(self, m: Any) -> Any:
        """The observer's part of the memory."""
        return part(m, self.first, self.memory)


def _flat(plant: Plant, who: str) -> None:
    if not plant.flat:
        raise NotPossible(f"{who}: {plant.who} has quaternions; it observes plain joints")


class _BoundLevant(_BoundAround):
    def __init__(self, law: LevantVelocity, plant: Plant, prefix: str) -> None:
        _flat(plant, "LevantVelocity")
        super().__init__([law.controller.bound(plant, prefix)], 1 + 2 * plant.nv)
        self.name = f"{prefix}_levant"
        self._number(self.name, law.largest, plant.nv, "LevantVelocity: bound")

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        n, seen, most = plant.nv, self.own(m), p[self.name]
        value = where(seen[0] < 0.5, q, part(seen, 1, 1 + n))
        rate = part(seen, 1 + n, 1 + 2 * n)
        e = value - q
        forward = rate - FIRST * root(most * absolute(e)) * sign(e)
        rate = rate - period * SECOND * most * sign(e)
        tau, after = self.laws[0].sample(plant, t, q, rate, part(m, 0, self.first), p, period)
        return tau, joined([after, 1.0, value + period * forward, rate])


class _BoundExtended(_BoundAround):
    def __init__(self, law: ExtendedState, plant: Plant, prefix: str) -> None:
        _flat(plant, "ExtendedState")
        super().__init__([law.controller.bound(plant, prefix)], 1 + 3 * plant.nv)
        self.prefix, self.estimated = prefix, law.velocity == "estimated"
        for name in ("bandwidth", "inertia", "share"):
            self._number(
                f"{prefix}_eso_{name}", getattr(law, name), plant.nv, f"ExtendedState: {name}"
            )

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        n, seen, T = plant.nv, self.own(m), period
        w, inertia, share = (
            p[f"{self.prefix}_eso_{name}"] for name in ("bandwidth", "inertia", "share")
        )
        begins = seen[0] < 0.5
        x, xd, d = (
            where(begins, now, part(seen, 1 + k * n, 1 + (k + 1) * n))
            for k, now in enumerate((q, v, 0.0 * v))
        )
        # correct the prediction by what is measured: poles at exp(-w T)
        z = exponential(-w * T)
        miss = q - x
        x = x + (1 - z * z * z) * miss
        xd = xd + 1.5 * (1 - z) * (1 - z) * (1 + z) / T * miss
        d = d + (1 - z) * (1 - z) * (1 - z) / (T * T) * miss
        told = xd if self.estimated else v
        wanted, after = self.laws[0].sample(plant, t, q, told, part(m, 0, self.first), p, period)
        tau = wanted - share * inertia * d
        # predict the next sample under the force that acts from now on
        a = tau / inertia + d
        return tau, joined([after, 1.0, x + T * xd + 0.5 * T * T * a, xd + T * a, d])


class _BoundContact(_BoundAround):
    def __init__(self, law: ContactReaction, plant: Plant, prefix: str) -> None:
        check_momentum(plant, "ContactReaction")
        laws = [law.controller.bound(plant, f"{prefix}a"), law.reaction.bound(plant, f"{prefix}b")]
        super().__init__(laws, 2 + 2 * plant.nv)
        self.prefix = prefix
        self._number(f"{prefix}_felt_gain", law.gain, plant.nv, "ContactReaction: gain")
        self._number(
            f"{prefix}_felt_threshold", law.threshold, plant.nv, "ContactReaction: threshold"
        )
        self.model = None if law.model is None else OwnModel(law.model, plant, "ContactReaction")

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        seen, before = self.own(m), self.laws[0].kept
        model = model_or_plant(self.model, plant)
        felt = Residual.of(
            model, q, v, part(seen, 1, 2 + 2 * plant.nv), p[f"{self.prefix}_felt_gain"]
        )
        touched = seen[0]
        for k in range(plant.nv):
            beyond = absolute(felt.r[k]) > p[f"{self.prefix}_felt_threshold"][k]
            touched = larger(touched, where(beyond, 1.0, 0.0))
        law, kept = self.laws[0].sample(plant, t, q, v, part(m, 0, before), p, period)
        calm, calm_kept = self.laws[1].sample(
            plant, t, q, v, part(m, before, self.first), p, period
        )
        tau = where(touched > 0.5, calm, law)
        return tau, joined([kept, calm_kept, touched, felt.after(tau, period)])
