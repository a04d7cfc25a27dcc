"""Metrics: figures of merit of a run, reduced inside the loop,
so that ten thousand runs need no rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import casadi
import numpy as np
from casadi import SX

from linkwork.simulation.algebra import is_symbolic
from linkwork.simulation.plant import Plant
from linkwork.simulation.signals import Signal, Source
from linkwork.simulation.task_space import AXES, TaskSpace

KINDS = {
    "squared_error": "sum",
    "absolute_error": "sum",
    "timed_error": "sum",
    "max_error": "max",
    "effort": "sum",
    "peak": "max",
    "energy": "sum",
}
"""What is reduced, and how; integrals hold each row's value for one step."""
OF_EACH = ("absolute_error", "timed_error", "max_error", "peak")
"""Figures that each axis or joint has of its own; the others are of a whole run."""


class Metrics:
    """Errors against a target and efforts of the control, over the integrator's own rows.

    target   as for a controller: configuration, function of time, PerStep rows; with a frame:
             numbers of its axes
    frame    compare the frame along `axes` (world x, y, z, rotation vector) instead of the joints
    Results, by name: squared_error (...,) [ISE, summed over axes], absolute_error (..., n) [IAE],
    timed_error (..., n) [ITAE], max_error (..., n), effort (...,) [sum of integrals of tau^2], peak
    (..., n) [largest |tau|], energy (...,) [integral of |tau v|], and the time `duration` they are
    taken over.
    """

    of_a_run: ClassVar[tuple[str, ...]] = ("source",)

    def __init__(self, target: Any, frame: str | None = None, axes: Any = AXES) -> None:
        self.source = Source(target, "Metrics: target")
        self.space = None if frame is None else TaskSpace.of(frame, axes, "Metrics")
        self.signal: Signal | None = None

    def bound(self, plant: Plant) -> Metrics:
        bound_metrics = Metrics.__new__(Metrics)
        sizes = (plant.nq,) if self.space is None else self.space.sizes
        bound_metrics.source, bound_metrics.space = self.source, self.space
        bound_metrics.signal = Signal(self.source, sizes, "metrics_target")
        return bound_metrics

    @property
    def signals(self) -> list[Signal]:
        return [] if self.signal is None else [self.signal]

    @property
    def kinds(self) -> dict[str, str]:
        return {f"metric_{name}": kind for name, kind in KINDS.items()}

    def error(self, plant: Plant, t: Any, q: Any, p: Mapping[str, Any]) -> Any:
        assert self.signal is not None
        target = self.signal.at(t, p)[0]
        if self.space is None:
            return plant.difference(q, target)
        return self.space.split(plant.compute(self.space, q, target), plant.nv)[0]

    def row(
        self,
        plant: Plant,
        t: Any,
        q: Any,
        v: Any,
        tau: Any,
        p: Mapping[str, Any],
        weight: Any,
        since: Any,
    ) -> dict[str, Any]:
        """What one row adds: weight is the step [s], or 0 for a row that does not count."""
        e = self.error(plant, t, q, p)
        size, force = _absolute(e), _absolute(tau)
        counts = weight > 0
        figures = {
            "squared_error": _sum(e * e) * weight,
            "absolute_error": size * weight,
            "timed_error": size * (since * weight),
            "max_error": size * counts,
            "effort": _sum(tau * tau) * weight,
            "peak": force * counts,
            "energy": _sum(_absolute(tau * v)) * weight,
        }
        return {f"metric_{name}": x for name, x in figures.items()}


def _absolute(x: Any) -> Any:
    return casadi.fabs(x) if is_symbolic(x) else np.abs(x)


def _sum(x: Any) -> Any:
    return casadi.sum1(SX(x)) if is_symbolic(x) else float(np.sum(x))
