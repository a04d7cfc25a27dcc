"""Numeric: a plant whose functions take and give numbers, each compiled on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.engine.compile import compile as compiled
from linkwork.engine.kernel import Context
from linkwork.simulate.plant import Plant, Wrenches


class NumericPlant(Plant):
    """The same plant over numbers, one sample at a time."""

    def __init__(self, plant: Plant) -> None:
        self.symbolic = plant
        self.who, self.nq, self.nv = plant.who, plant.nq, plant.nv
        self.q_names, self.v_names = plant.q_names, plant.v_names
        self.quaternions, self.time_dependent = plant.quaternions, plant.time_dependent
        self._kernels: dict[Any, Callable[..., Any]] = {}

    def acceleration(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Wrenches) -> Any:
        names = tuple(wrenches)
        sizes = {f"force{k}": len(x) for k, x in enumerate(wrenches.values())}
        shapes = {"q": self.nq, "v": self.nv, "tau": self.nv, "t": (), **sizes}
        key = ("acceleration", names, tuple(sizes.values()))
        trace = lambda q, v, tau, t, *w: self.symbolic.acceleration(q, v, tau, t, dict(zip(names, w, strict=True)))
        return self._call(key, trace, shapes, q, v, tau, t, *wrenches.values())

    def inverse(self, q: Any, v: Any, a: Any, t: Any) -> Any:
        shapes = {"q": self.nq, "v": self.nv, "a": self.nv, "t": ()}
        return self._call("inverse", self.symbolic.inverse, shapes, q, v, a, t)

    def gravity(self, q: Any, t: Any) -> Any:
        return self._call("gravity", self.symbolic.gravity, {"q": self.nq, "t": ()}, q, t)

    def energy(self, q: Any, v: Any, t: Any) -> Any:
        return self._call("energy", self.symbolic.energy, {"q": self.nq, "v": self.nv, "t": ()}, q, v, t)

    def dissipated(self, q: Any, v: Any, t: Any) -> Any:
        shapes = {"q": self.nq, "v": self.nv, "t": ()}
        return float(self._call("dissipated", self.symbolic.dissipated, shapes, q, v, t)[0])

    def external_power(self, q: Any, v: Any, t: Any, wrenches: Wrenches) -> Any:
        names = tuple(wrenches)
        sizes = {f"force{k}": len(x) for k, x in enumerate(wrenches.values())}
        shapes = {"q": self.nq, "v": self.nv, "t": (), **sizes}
        trace = lambda q, v, t, *w: self.symbolic.external_power(q, v, t, dict(zip(names, w, strict=True)))
        return float(self._call(("power", names, tuple(sizes.values())), trace, shapes, q, v, t, *wrenches.values())[0])

    def integrate(self, q: Any, dv: Any) -> Any:
        if self.flat:
            return q + dv
        return self._call("integrate", self.symbolic.integrate, {"q": self.nq, "dv": self.nv}, q, dv)

    def difference(self, q0: Any, q1: Any) -> Any:
        if self.flat:
            return q1 - q0
        return self._call("difference", self.symbolic.difference, {"q0": self.nq, "q1": self.nq}, q0, q1)

    def rate(self, q: Any, v: Any) -> Any:
        if self.flat:
            return v
        return self._call("rate", self.symbolic.rate, {"q": self.nq, "v": self.nv}, q, v)

    def pulled(self, d: Any, v: Any) -> Any:
        if self.flat:
            return v
        return self._call("pulled", self.symbolic.pulled, {"d": self.nv, "v": self.nv}, d, v)

    def neutral(self) -> Any:
        return self.symbolic.neutral()

    def _call(self, key: Any, trace: Callable[..., Any], shapes: dict[str, Any], *args: Any) -> Any:
        found = self._kernels.get(key)
        if found is None:
            label = key if isinstance(key, str) else key[0]
            found = self._kernels[key] = compiled(trace, shapes, label).caller(Context(self.who))
        return np.atleast_1d(found(*[np.asarray(x, dtype=float) for x in args]))  # one number is a vector of one here
