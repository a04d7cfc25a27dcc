"""Stepper: a controller for a robot that Python talks to, one compiled call a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from casadi import SX
from numpy.typing import ArrayLike

from linkwork.arguments import finite_doubles
from linkwork.control.export import traced_step
from linkwork.engine.compile import compile as compiled
from linkwork.engine.kernel import Context
from linkwork.errors import InvalidInput
from linkwork.simulation.plants import Mechanism


class Stepper:
    """A law sample by sample: tau = stepper.step(q, v), every `period` [s].

    controller   any law that can be traced, or Sampled(law, period); gains and numbers are written
                 in
    robot        what it computes with, payload excluded;  period [s]: that of Sampled if the
                 controller is one

    Its memory (integrals, filters, observers) and its time go on from call to call. A sample that
    is refused, because it has another shape or is not finite, is not taken: memory and time stay.
    """

    def __init__(self, controller: Any, robot: Mechanism, period: float | None = None) -> None:
        function, self.reference, self.period = traced_step(controller, robot, period)
        nq, nv, kept = (function.numel_in(k) for k in (1, 2, 3))
        wanted = len(self.reference)

        def law(x: SX, v: SX, rest: SX) -> tuple[SX, SX]:
            memory, reference, t = rest[:kept], rest[kept : kept + wanted], rest[kept + wanted]
            tau, after = function.call([t, x, v, memory, reference])
            return tau, after

        self._sizes, self._kept = (nq, nv), kept
        shapes = {"q": nq, "v": nv, "rest": kept + wanted + 1}
        kernel = compiled(law if kept else lambda *x: law(*x)[0], shapes, "step")
        self._call = kernel.caller(Context("Stepper"))
        self.reset()

    def reset(self) -> None:
        """Begin anew: nothing remembered, time zero."""
        self._rest = np.concatenate([np.zeros(self._kept), self.reference, [0.0]])
        self.samples = 0

    def step(self, q: ArrayLike, v: ArrayLike, reference: ArrayLike | None = None) -> np.ndarray:
        """Joint forces (nv,) [N m, N] to be held until the next sample,
        from measured q (nq,) and v (nv,).

        reference: the target from this sample on, where the law's target is numbers; left out: as
        before
        """
        rest, kept = self._rest, self._kept
        if reference is not None:
            wanted = finite_doubles(reference, "Stepper: reference").ravel()
            if len(wanted) != len(self.reference):
                told = f"expected {len(self.reference)}"
                raise InvalidInput(f"Stepper: reference has {len(wanted)} numbers, {told}")
            rest = rest.copy()
            rest[kept:-1] = wanted
        rest[-1] = self.samples * self.period
        if not kept:
            tau = self._call(q, v, rest)
        else:
            tau, after = self._call(q, v, rest)
        if tau.ndim != 1:
            raise InvalidInput(
                f"Stepper: q and v are a batch, expected one sample: ({self._sizes[0]},), "
                f"({self._sizes[1]},)"
            )
        if kept:
            rest[:kept] = after
        self._rest = rest
        self.samples += 1
        return tau
