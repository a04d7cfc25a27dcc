"""Robots as plants: their recursions, with payloads as parameters of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.arguments import as_doubles, broadcast
from linkwork.configurations import coordinate_names, neutral, places
from linkwork.engine import keys
from linkwork.errors import ComputationError, InvalidInput, LinkworkError, NotPossible
from linkwork.model.payload import Payload
from linkwork.simulation.plant import Plant, Wrenches
from linkwork.spatial import cross
from linkwork.spatial.linear import factored
from linkwork.subject import Subject


class RobotPlant(Plant):
    """A robot: its quantities traced and inlined, payloads as parameters.

    variables   values of live variables, which then are parameters of a run too; left out: their
                present values are constants of the equations
    """

    def __init__(
        self,
        subject: Subject,
        payloads: Sequence[Payload] = (),
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        self.subject, self.bodies = subject, tuple(held.body for held in payloads)
        self.loads = tuple(f"payload{k}" for k in range(len(payloads)))
        self.parameters = {
            name: _flat(held) for name, held in zip(self.loads, payloads, strict=True)
        }
        self.varies = variables is not None
        if variables is not None:
            self.parameters["variables"] = _values(subject, variables)
        self.who = f'robot "{subject.model.name}"'
        if subject.model.kinematic_only:
            raise NotPossible(
                f"simulate: {self.who} is kinematic only: no mass properties are published for it"
            )
        self.nq, self.nv = subject.nq, subject.nv
        self.q_names, self.v_names, self.quaternions = subject.once(
            (_named,), lambda: _named(subject)
        )
        # Traces belong to the subject: the next plant of the same robot and carried bodies finds
        # them.
        self._functions: dict[Any, casadi.Function] = subject.once((type(self), self.bodies), dict)

    def acceleration(self, q: SX, v: SX, tau: SX, t: SX, wrenches: Wrenches) -> SX:
        if self.sharing:
            h = self._traced("inverse_dynamics", [q, v, SX(self.nv, 1)], wrenches=wrenches)
            return factored(self._traced("mass_matrix", [q])).solve(tau - h)
        return self._traced("forward_dynamics", [q, v, tau], wrenches=wrenches)

    def responses(self, q: SX, t: SX, places: tuple[int, ...]) -> list[SX]:
        columns = factored(self._traced("mass_matrix", [q])).solve(
            SX(np.eye(self.nv)[:, list(places)])
        )
        return [columns[:, k] for k in range(len(places))]

    def inverse(self, q: SX, v: SX, a: SX, t: SX) -> SX:
        if self.sharing:
            return self._traced("mass_matrix", [q]) @ a + self._traced(
                "inverse_dynamics", [q, v, SX(self.nv, 1)]
            )
        return self._traced("inverse_dynamics", [q, v, a])

    def gravity(self, q: SX, t: SX) -> SX:
        return self._traced("gravity_torque", [q])

    def pose(self, q: SX, frame: str) -> SX:
        return self._traced("pose", [q], frame=frame)

    def jacobian(self, q: SX, frame: str) -> SX:
        return self._traced("jacobian", [q], frame=frame)

    def mass_matrix(self, q: SX, t: SX) -> SX:
        return self._traced("mass_matrix", [q])

    def passive_inverse(self, q: SX, v: SX, v_r: SX, a_r: SX) -> SX:
        C = self._traced("coriolis_matrix", [q, v])
        return self._traced("mass_matrix", [q]) @ a_r + C @ v_r + self.gravity(q, SX(0))

    def coriolis(self, q: SX, v: SX) -> SX:
        """(nv, nv), over symbols."""
        return self._traced("coriolis_matrix", [q, v])

    def regressor(self, q: SX, v: SX, a: SX) -> SX:
        """(nv, 10 nb), over symbols: joint forces for the inertial parameters, without payloads."""
        return self._traced("regressor", [q, v, a])

    def energy(self, q: SX, v: SX, t: SX) -> SX:
        return casadi.vertcat(*self._all("energy", [q, v]))

    def external_power(self, q: SX, v: SX, t: SX, wrenches: Wrenches) -> SX:
        power = SX(0.0)
        for frame, wrench in wrenches.items():
            power = power + casadi.dot(wrench, self._traced("velocity", [q, v], frame=frame))
        return power

    def integrate(self, q: SX, dv: SX) -> SX:
        return q + dv if self.flat else self._traced("integrate", [q, dv])

    def difference(self, q0: SX, q1: SX) -> SX:
        return q1 - q0 if self.flat else self._traced("difference", [q0, q1])

    def rate(self, q: SX, v: SX) -> SX:
        """d/ds of q (+) s v at s = 0."""
        if self.flat:
            return v
        d, at = SX.sym("d", self.nv), SX.sym("q", self.nq)
        moved = casadi.jacobian(self._traced("integrate", [at, d]), d)
        f = casadi.Function("rate", [at], [casadi.substitute(moved, d, SX.zeros(self.nv))])
        return f(q) @ v

    def pulled(self, d: SX, v: SX) -> SX:
        """v + [d, v] / 2 + [d, [d, v]] / 12: the first terms of the inverse of the exponential's
        derivative.

        Their error is of fourth order in d, which keeps a Runge-Kutta step of fourth order
        (Munthe-Kaas; [Hairer2006] section IV.8).
        """
        if self.flat:
            return v
        once = self._bracket(d, v)
        return v + once / 2 + self._bracket(d, once) / 12

    def _bracket(self, x: SX, y: SX) -> SX:
        """The Lie bracket of body velocities, joint by joint; zero where coordinates simply add."""
        out = SX(self.nv, 1)
        for joint, _, at in places(self.subject):
            if joint.kind.is_ball:
                out[at] = cross(x[at], y[at])
            elif joint.kind.is_free:
                u, w = slice(at.start, at.start + 3), slice(at.start + 3, at.stop)
                out[u] = cross(x[w], y[u]) + cross(x[u], y[w])
                out[w] = cross(x[w], y[w])
        return out

    def neutral(self) -> Any:
        return neutral(self.subject)

    def diagnosis(self, q: np.ndarray, v: np.ndarray, t: float) -> str:
        state = {"q": q, "v": v, "tau": np.zeros(self.nv)}
        loads = [
            (body, self.parameters[name])
            for body, name in zip(self.bodies, self.loads, strict=True)
        ]
        held = [Payload(body, x[0], x[1:4], x[4:].reshape(3, 3)) for body, x in loads]
        variables = (
            dict(zip(self.subject.live, self.parameters["variables"], strict=True))
            if self.varies
            else None
        )
        try:
            quantities.evaluate(
                self.subject, "forward_dynamics", state, payload=held, variables=variables
            )
        except ComputationError as error:
            reason = quantities.explained(error, self.subject, "forward_dynamics", q, payload=held)
            return "" if reason is error else str(reason)
        except LinkworkError:
            return ""  # a state that is off in another way is not the reason
        return ""

    @property
    def identity(self) -> tuple[Any, str]:
        values = "live" if self.varies else self.subject.variable_values(None)
        return self.subject, repr((values, self.bodies))

    @property
    def key(self) -> str | None:
        known = keys.is_own(type(self))
        # numbers of variables that vary are none of the equations'
        return (
            keys.key(type(self), self.subject.identity, self.bodies, self.varies) if known else None
        )

    def force_size(self, name: str, size: int) -> None:
        self.subject.place_of(name)
        if size != 6:
            raise InvalidInput(
                f'simulate: force on "{name}" has {size} elements, expected 6 (force, moment)'
            )

    def _traced(
        self,
        name: str,
        arguments: list[SX],
        frame: str | None = None,
        wrenches: Wrenches | None = None,
    ) -> SX:
        return self._all(name, arguments, frame, wrenches)[0]

    def _all(
        self,
        name: str,
        arguments: list[SX],
        frame: str | None = None,
        wrenches: Wrenches | None = None,
    ) -> list[SX]:
        forces = tuple(wrenches or ())
        dynamic = quantities.quantity(name).dynamic
        key = (name, frame, forces)
        if key not in self._functions:
            bodies = self.bodies if dynamic else ()
            self._functions[key] = quantities.trace(self.subject, name, frame, forces, bodies)
        values = (
            casadi.vertsplit(SX(self.parameters["variables"]))
            if self.varies
            else self.subject.variable_values(None)
        )
        inputs: list[Any] = [*arguments, *values, *(wrenches or {}).values()]
        for name_of_load in self.loads if dynamic else ():
            x = self.parameters[name_of_load]
            inputs += [x[0], x[1:4], casadi.reshape(x[4:], 3, 3).T]  # CasADi counts by columns
        results = self._functions[key].call([SX(x) for x in inputs])
        return results[: len(quantities.quantity(name).outputs)]


def _values(subject: Subject, variables: Mapping[str, Any]) -> np.ndarray:
    """Live variables (..., n) in their order."""
    if not subject.live:
        raise InvalidInput(
            f'simulate: variables: robot "{subject.model.name}" has no live variables; load it '
            "with live=[...]"
        )
    named = zip(subject.live, subject.variable_values(variables), strict=True)
    values = {name: as_doubles(x, f'simulate: variables["{name}"]') for name, x in named}
    for name, x in values.items():
        if not np.isfinite(x).all():
            raise InvalidInput(f'simulate: variables["{name}"] is not finite')
    lead = broadcast({name: x.shape for name, x in values.items()}, "simulate: variables")
    return np.stack([np.broadcast_to(x, lead) for x in values.values()], axis=-1)


def _named(subject: Subject) -> tuple[tuple[str, ...], tuple[str, ...], tuple[slice, ...]]:
    """Names of the entries of q and of v, and where in q the quaternions are."""
    q_names, v_names = (tuple(coordinate_names(subject, positions)) for positions in (True, False))
    turning = tuple(
        slice(at.stop - 4, at.stop) for joint, at, _ in places(subject) if joint.nq > joint.nv
    )
    return q_names, v_names, turning


def _flat(payload: Payload) -> np.ndarray:
    """Mass, centre of mass and inertia by rows (..., 13)."""
    who = f'simulate: payload on "{payload.body}"'
    mass, com, inertia = (as_doubles(x, who) for x in payload.arrays())
    lead = broadcast(
        {"mass": mass.shape, "com": com.shape[:-1], "inertia": inertia.shape[:-2]}, who
    )
    parts = (mass[..., None], com, inertia.reshape(*inertia.shape[:-2], 9))
    return np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in parts], axis=-1)
