"""Sweeps: a whole turn of many crank-driven linkages, reduced to what a designer compares."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from casadi import SX, fmax, fmin, if_else

from linkwork import deadlines
from linkwork.engine import keys
from linkwork.engine.scan import Scan, keyed_scan
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.polynomials.complex_pair import Complex
from linkwork.results import short_repr
from linkwork.synthesis.chains import CHAINS, FOUR, parameters_of, points_of
from linkwork.synthesis.linkage import FOUR_BAR, Linkages, as_linkages

MOST_SAMPLES = 1_000_000
TOUCHING = 1e-12
"""Triangles that miss their closure by less [squares of the last link] are stretched, not open."""
EVERYTHING = 1e300


@short_repr
@dataclass(frozen=True)
class Sweep(Tabular, rows="share"):
    """What a turn of the crank in equal steps showed, of each linkage (...,).

    extent        (..., 4): xmin, ymin, xmax, ymax of the tracer where the linkage can be assembled
                  [m]
    transmission  (...,) smallest transmission angle at those positions, folded to 0 .. pi/2 [rad]
    share         (...,) of the positions that can be assembled; 1: the crank goes round
    samples       how many positions there were
    """

    extent: np.ndarray
    transmission: np.ndarray
    share: np.ndarray
    samples: int

    def __len__(self) -> int:
        return len(self.share)


def sweep(linkage: Linkages, samples: int = 360) -> Sweep:
    """Turn the driver once in `samples` equal steps from position 1,
    every linkage in the assembly that it has there.

    For four-bars, and six-bars that fit makes ("Stephenson III", "Watt I"); what the whole circuit
    is of any topology, exact and through dead points, says check.
    """
    who = "sweep"
    many = as_linkages(linkage, who)
    samples = deadlines.counted(samples, f"{who}: samples", 1, MOST_SAMPLES)
    name, points = _as_chain(many, who)
    p, sides = parameters_of(name, points.reshape(-1, points.shape[-1]))
    labels = CHAINS[name].topology.points
    crank = (points[..., labels.index("B")] - points[..., labels.index("A")]).reshape(-1)
    turn = crank / np.abs(crank)
    angle = 2.0 * math.pi / samples
    run = _scan(name)(
        turn=np.stack([turn.real, turn.imag], axis=-1),
        low=np.full(2, EVERYTHING),
        high=np.full(2, -EVERYTHING),
        sine2=1.0,
        count=0.0,
        p=p,
        sides=sides,
        step=np.array([math.cos(angle), math.sin(angle)]),
        steps=samples,
    )
    shape = lambda x: x.reshape((*many.batch, *x.shape[1:]))
    state = run.state
    extent = np.concatenate([state["low"], state["high"]], axis=-1)
    transmission = np.arcsin(np.sqrt(np.clip(state["sine2"], 0.0, 1.0)))
    return Sweep(shape(extent), shape(transmission), shape(state["count"] / samples), samples)


def _as_chain(many: Linkages, who: str) -> tuple[str, np.ndarray]:
    """(name of the chain, points (..., k) in the order of its topology), the driver first."""
    if many.topology.bodies == FOUR_BAR["rocker"].bodies and many.topology.driver == "rocker":
        return FOUR, np.stack([many.at(name) for name in "DACBP"], axis=-1)
    for name, chain in CHAINS.items():
        known = chain.topology
        if (many.topology.bodies, many.topology.pins) == (known.bodies, known.pins):
            if many.topology.driver == known.driver:
                return name, np.stack([many.at(label) for label in known.points], axis=-1)
    raise NotPossible(
        f'{who}: "{many.topology.name}" driven by "{many.topology.driver}" has no closed '
        "form here; "
        f"expected {', '.join(CHAINS)} with a driven crank; check follows any circuit"
    )


@functools.cache
def _scan(name: str) -> Scan:
    """One position a step; the crank's direction is turned on by a constant rotation."""
    chain = CHAINS[name]
    last = {FOUR: (6,)}.get(name, (6, 12))

    def step(k: SX, **s: SX) -> dict[str, Any]:
        crank = Complex(s["turn"][0], s["turn"][1])
        points, _, inside = points_of(name, s["p"], s["sides"], crank)
        sines = [height / (s["p"][at] * s["p"][at]) for height, at in zip(inside, last)]
        least = functools.reduce(fmin, sines)
        closed = least >= -TOUCHING
        tracer = casadi.vertcat(points["P"].re, points["P"].im)
        onward = crank * Complex(s["step"][0], s["step"][1])
        return {
            "turn": casadi.vertcat(onward.re, onward.im),
            "low": if_else(closed, fmin(s["low"], tracer), s["low"]),
            "high": if_else(closed, fmax(s["high"], tracer), s["high"]),
            "sine2": if_else(closed, fmin(s["sine2"], fmax(least, 0.0)), s["sine2"]),
            "count": s["count"] + closed,
        }

    state: dict[str, int | tuple[int, ...]] = {
        "turn": 2,
        "low": 2,
        "high": 2,
        "sine2": (),
        "count": (),
    }
    parameters = {"p": chain.parameters, "sides": chain.sides, "step": 2}
    return keyed_scan(keys.key(__name__, "sweep", name), [step], state, parameters, name="sweep")
