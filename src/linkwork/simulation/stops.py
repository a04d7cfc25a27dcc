"""End stops: what happens where a coordinate reaches the end of its range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput, UnknownName, did_you_mean
from linkwork.simulation.algebra import both, is_symbolic, joined, larger, smaller, where
from linkwork.simulation.plant import Plant


@dataclass(frozen=True)
class EndStop:
    """The range of one coordinate with a soft or a hard end.

    Soft: `stiffness` [N m/rad, N/m] and `damping` [N m s/rad, N s/m] push back beyond the range;
    any integrator.
    Hard: `restitution` 0..1 is the part of the speed that comes back; an impulse through the whole
    mechanism at the end of a step, and the coordinate is put back on its limit; fixed steps only.
    """

    coordinate: str
    lower: float = -np.inf
    upper: float = np.inf
    stiffness: float | None = None
    damping: float = 0.0
    restitution: float | None = None

    def check(self, plant: Plant) -> int:
        """The place of the coordinate in v; refuses what has no meaning."""
        who = f'EndStop "{self.coordinate}"'
        if self.coordinate not in plant.v_names or self.coordinate not in plant.q_names:
            known = did_you_mean(self.coordinate, plant.v_names)
            raise UnknownName(
                f"{who}: {plant.who} has no coordinate of that name with one number{known}"
            )
        for name in ("lower", "upper", "stiffness", "damping", "restitution"):
            value = getattr(self, name)
            if value is not None and as_doubles(value, f"{who}: {name}").shape != ():
                raise InvalidInput(f"{who}: {name} is {value!r}, expected one number")
        if not self.lower < self.upper or not (np.isfinite(self.lower) or np.isfinite(self.upper)):
            raise InvalidInput(
                f"{who}: lower {self.lower:g} and upper {self.upper:g} give no range with an end"
            )
        if (self.stiffness is None) == (self.restitution is None):
            raise InvalidInput(f"{who}: give either stiffness (soft) or restitution (hard)")
        if self.restitution is not None and not 0.0 <= self.restitution <= 1.0:
            raise InvalidInput(f"{who}: restitution is {self.restitution:g}, expected 0 to 1")
        if (self.stiffness is not None and not self.stiffness > 0) or not self.damping >= 0:
            raise InvalidInput(f"{who}: stiffness must be positive and damping not negative")
        return plant.v_names.index(self.coordinate)


class Stops:
    """All end stops of a run."""

    def __init__(self, stops: Sequence[EndStop], plant: Plant) -> None:
        self.soft = [(stop.check(plant), stop) for stop in stops if stop.restitution is None]
        self.hard = [(stop.check(plant), stop) for stop in stops if stop.restitution is not None]

    def force(self, plant: Plant, q: Any, v: Any) -> Any:
        """Joint forces of the soft stops: they push and never pull."""
        total = [0.0] * plant.nv
        for at, stop in self.soft:
            x, rate = q[plant.q_names.index(stop.coordinate)], v[at]
            if np.isfinite(stop.lower):
                total[at] = total[at] + _push(stop.lower - x, -rate, stop)
            if np.isfinite(stop.upper):
                total[at] = total[at] - _push(x - stop.upper, rate, stop)
        return joined(total)

    def impact(
        self, plant: Plant, q: Any, v: Any, tau: Any, t: Any, wrenches: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """(q, v) after the hard stops: v += M^-1 e (-(1 + restitution) v_i) / (M^-1)_ii where i
        runs into its end.

        Accelerations are linear in the forces, so that M^-1 e is what one more unit of force adds.
        """
        if not self.hard:
            return q, v
        base = plant.acceleration(q, v, tau, t, wrenches)
        for at, stop in self.hard:
            place = plant.q_names.index(stop.coordinate)
            unit = np.zeros(plant.nv)
            unit[at] = 1.0
            response = plant.acceleration(q, v, tau + unit, t, wrenches) - base
            low, high = larger(stop.lower, -1e300), smaller(stop.upper, 1e300)
            below, above = q[place] < low, q[place] > high
            hits = where(below, v[at] < 0, both(above, v[at] > 0))
            impulse = where(
                hits, -(1.0 + float(stop.restitution or 0.0)) * v[at] / response[at], 0.0
            )
            v = v + response * impulse
            q = _with(q, place, larger(smaller(q[place], high), low))
        return q, v


def _push(depth: Any, approach: Any, stop: EndStop) -> Any:
    force = larger(float(stop.stiffness or 0.0) * depth + stop.damping * approach, 0.0)
    return where(depth > 0, force, 0.0)


def _with(q: Any, at: int, value: Any) -> Any:
    n = q.shape[0]
    if is_symbolic(q):
        return joined([value if k == at else q[k] for k in range(n)])
    changed = np.array(q)
    changed[at] = value
    return changed
