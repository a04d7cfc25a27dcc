"""Numeric: a plant whose functions take and give numbers,
each compiled on first use and kept with its owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from casadi import SX

from linkwork.engine.compile import compile as compiled
from linkwork.engine.kernel import Context
from linkwork.simulation.plant import Plant, Wrenches


class NumericPlant(Plant):
    """The same plant over numbers, one sample at a time."""

    def __init__(self, plant: Plant) -> None:
        self.symbolic = plant
        self.who, self.nq, self.nv = plant.who, plant.nq, plant.nv
        self.q_names, self.v_names = plant.q_names, plant.v_names
        self.quaternions, self.time_dependent = plant.quaternions, plant.time_dependent
        self.parameters = plant.parameters
        owner, numbers = plant.identity
        self._kernels: dict[Any, Callable[..., Any]] = owner.once((NumericPlant, numbers), dict)

    def acceleration(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Wrenches) -> Any:
        shapes = {"q": self.nq, "v": self.nv, "tau": self.nv, "t": ()}
        return self._call("acceleration", shapes, q, v, tau, t, wrenches=wrenches)

    def inverse(self, q: Any, v: Any, a: Any, t: Any) -> Any:
        return self._call(
            "inverse", {"q": self.nq, "v": self.nv, "a": self.nv, "t": ()}, q, v, a, t
        )

    def gravity(self, q: Any, t: Any) -> Any:
        return self._call("gravity", {"q": self.nq, "t": ()}, q, t)

    def energy(self, q: Any, v: Any, t: Any) -> Any:
        return self._call("energy", {"q": self.nq, "v": self.nv, "t": ()}, q, v, t)

    def dissipated(self, q: Any, v: Any, t: Any) -> Any:
        return float(self._call("dissipated", {"q": self.nq, "v": self.nv, "t": ()}, q, v, t)[0])

    def external_power(self, q: Any, v: Any, t: Any, wrenches: Wrenches) -> Any:
        shapes = {"q": self.nq, "v": self.nv, "t": ()}
        return float(self._call("external_power", shapes, q, v, t, wrenches=wrenches)[0])

    def integrate(self, q: Any, dv: Any) -> Any:
        return (
            q + dv if self.flat else self._call("integrate", {"q": self.nq, "dv": self.nv}, q, dv)
        )

    def difference(self, q0: Any, q1: Any) -> Any:
        return (
            q1 - q0
            if self.flat
            else self._call("difference", {"q0": self.nq, "q1": self.nq}, q0, q1)
        )

    def rate(self, q: Any, v: Any) -> Any:
        return v if self.flat else self._call("rate", {"q": self.nq, "v": self.nv}, q, v)

    def pulled(self, d: Any, v: Any) -> Any:
        return v if self.flat else self._call("pulled", {"d": self.nv, "v": self.nv}, d, v)

    def compute(self, what: Callable[..., Any], *arguments: Any) -> Any:
        values = [np.asarray(x, dtype=float) for x in arguments]
        key = ("compute", what, *[x.shape for x in values])
        kernel = self._kernels.get(key)
        if kernel is None:
            names, count = tuple(self.parameters), len(values)

            def trace(*x: SX) -> SX:
                return what(
                    self.symbolic.carrying(dict(zip(names, x[count:], strict=True))), *x[:count]
                )

            shapes: dict[str, Any] = {f"x{k}": x.shape for k, x in enumerate(values)}
            shapes |= {name: x.shape[-1] for name, x in self.parameters.items()}
            kernel = self._kernels[key] = compiled(trace, shapes, type(what).__name__).caller(
                Context(self.who)
            )
        return np.atleast_1d(
            kernel(*values, *[np.asarray(x, dtype=float) for x in self.parameters.values()])
        )

    def neutral(self) -> Any:
        return self.symbolic.neutral()

    def _call(
        self, name: str, shapes: dict[str, Any], *args: Any, wrenches: Wrenches | None = None
    ) -> Any:
        """A method of the plant by its name; external forces and parameters follow its
        arguments."""
        forces = wrenches or {}
        key = (name, *[(at, len(x)) for at, x in forces.items()]) if forces else name
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = self._compiled(name, shapes, wrenches)
        inputs = (*args, *forces.values(), *self.parameters.values())
        # one number is a vector of one here
        return np.atleast_1d(kernel(*[np.asarray(x, dtype=float) for x in inputs]))

    def _compiled(
        self, name: str, shapes: dict[str, Any], wrenches: Wrenches | None
    ) -> Callable[..., Any]:
        forces, n = wrenches or {}, len(shapes)
        m = n + len(forces)

        def trace(*x: SX) -> SX:
            plant = self.symbolic.carrying(dict(zip(self.parameters, x[m:], strict=True)))
            pushed = () if wrenches is None else (dict(zip(forces, x[n:m], strict=True)),)
            return getattr(plant, name)(*x[:n], *pushed)

        sizes = {f"force{k}": len(w) for k, w in enumerate(forces.values())}
        sizes |= {label: x.shape[-1] for label, x in self.parameters.items()}
        return compiled(trace, {**shapes, **sizes}, name).caller(Context(self.who))
