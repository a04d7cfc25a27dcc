"""Bound: a controller for one plant, as it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from linkwork.arguments import as_doubles
from linkwork.errors import InvalidInput
from linkwork.simulation.plant import Plant


class Bound:
    """A controller for one plant.

    parameters, sequences   numbers and rows by name, for the scan
    states                  how many numbers the law integrates
    of_a_run                attributes with numbers that a run brings: tracing sees only their
                            shapes
    memory                  how many numbers a sampled law keeps between its samples, if not its
                            `states`
    past                    the law needs its own past samples, so that it runs inside Sampled only
    python                  why the law cannot run inside machine code, or ""
    shares                  the law uses the mass matrix, which accelerations can share
    """

    states = 0
    memory = 0
    past = False
    python = ""
    shares = False
    of_a_run: ClassVar[tuple[str, ...]] = ("parameters", "sequences")

    def __init__(self) -> None:
        self.parameters: dict[str, np.ndarray] = {}
        self.sequences: dict[str, np.ndarray] = {}

    def law(
        self, plant: Plant, t: Any, q: Any, v: Any, s: Any, p: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """(tau, rate of the law's own state)."""
        raise NotImplementedError

    def sample(
        self, plant: Plant, t: Any, q: Any, v: Any, m: Any, p: Mapping[str, Any], period: Any
    ) -> tuple[Any, Any]:
        """(force held from this sample on, memory for the next one);
        what a law integrates moves by forward Euler."""
        tau, rate = self.law(plant, t, q, v, m, p)
        return tau, m + period * rate if self.states else m

    def foresee(self, plant: Plant, q: np.ndarray, period: float, delay: float) -> str:
        """What will go wrong when the law is sampled like this from configuration q (nq,),
        in words; else nothing."""
        told = [
            part.foresee(plant, q, period, delay)
            for part in self.inside
            if not hasattr(part, "timing")
        ]
        return next((words for words in told if words), "")

    @property
    def kept(self) -> int:
        """Numbers that a sampled run of this law carries from sample to sample."""
        return self.memory or self.states

    @property
    def inside(self) -> list[Bound]:
        """The laws that this one is made of."""
        return []

    def samplers(self) -> list[Any]:
        """Every sampled law in it, inner ones first."""
        inner = [sampler for part in self.inside for sampler in part.samplers()]
        return [*inner, self] if hasattr(self, "timing") else inner

    def _number(self, name: str, value: Any, n: int, who: str, positive: bool = True) -> None:
        """A parameter (..., n): one number for all, or one a coordinate."""
        array = as_doubles(value, f"{who}")
        array = np.full(n, array) if array.ndim == 0 else array
        # one number for all joints, of several gain sets
        if array.shape[-1] == 1 and array.ndim > 1:
            array = np.broadcast_to(array, (*array.shape[:-1], n))
        if array.shape[-1] != n:
            raise InvalidInput(f"{who} has shape {array.shape}, expected one number or (..., {n})")
        if not np.isfinite(array).all() or (positive and (array < 0).any()):
            raise InvalidInput(
                f"{who} is {np.ravel(array).tolist()}, expected finite numbers of at least 0"
            )
        self.parameters[name] = array


def absorb(outer: Bound, parts: list[Bound]) -> None:
    """Let a law that is made of others carry their numbers, states and properties."""
    memory = sum(part.kept for part in parts) if any(part.memory for part in parts) else 0
    for part in parts:
        outer.parameters |= part.parameters
        outer.sequences |= part.sequences
        outer.states += part.states
        outer.python = outer.python or part.python
        outer.shares = outer.shares or part.shares
        outer.past = outer.past or part.past
    outer.memory = memory
