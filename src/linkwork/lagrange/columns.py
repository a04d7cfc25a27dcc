"""Columns: the Euler-Lagrange operator applied to one term at a time, and to all of them
together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import casadi
from casadi import SX

from linkwork.lagrange.expressions import Scope, stacked
from linkwork.lagrange.terms import Dissipation, Lagrangian, Term, TermScene
from linkwork.once import Keeper

counts: Counter[str] = Counter()
"""How often a column of each name was traced in this process;
a column taken from the cache does not count."""


@dataclass(frozen=True, eq=False)
class Column(Keeper):
    """What one term costs: tau_ki on every coordinate k it depends on, and its energies.

    depends    coordinates in the order of the system; tau (len(depends), 1)
    """

    name: str
    depends: tuple[str, ...]
    tau: SX
    kinetic: SX
    potential: SX
    rayleigh: SX


def trace(term: Term, scene: TermScene, scope: Scope, gravity: SX) -> Column:
    """The column of one term.

        tau_.i = (dx_i/dq)' F_i                                            for what has a place x_i(q, t)
        tau_.i = d(dL/dv)/dt - dL/dq = L_vv a + L_vq v + L_vt - L_q        for a Lagrangian of the user's own
        tau_.i = dR/dv                                                     for a Rayleigh function of the user's own

    Source: [Kusaka2022] eqs. 3-7 in the computable form: one gradient and one directional
    derivative, no Hessian.
    Corrected: its text before eq. 5 has the indices swapped; tau_ki is zero unless x_i depends on
    q_k.
    """
    counts[term.name] += 1
    x = term.place(scene)
    depends = dependencies(term, x, scope)
    part = Scope(scope.symbols, depends, scope.variables)
    xd, _ = rates(x, part)
    tau = together([(term, x)], part, gravity)
    K, P = term.kinetic(x, xd), term.potential(x, gravity)
    if isinstance(term, Lagrangian):
        K, P = _energies(term.function, part.v)
    R = term.function if isinstance(term, Dissipation) else term.rayleigh(x, xd)
    return Column(term.name, depends, tau, K, P, R)


def together(placed: Sequence[tuple[Term, SX]], scope: Scope, gravity: SX) -> SX:
    """tau (n, 1) of several terms at once, their places already known: one sweep forward, one back.

    Differentiating the sum costs a number of operations linear in the number of links of a chain
    (20 n - 5 for n planar revolute links); column by column it is quadratic.
    """
    x = stacked(each for _, each in placed)
    xd, xdd = rates(x, scope)
    forces, at = [], 0
    for term, each in placed:
        end = at + each.shape[0]
        forces.append(term.force(each, xd[at:end], xdd[at:end], gravity))
        at = end
    tau = (
        casadi.jtimes(x, scope.q, stacked(forces), True)
        if x.shape[0] and scope.coordinates
        else SX(scope.q.shape[0], 1)
    )
    for term, _ in placed:
        if isinstance(term, Lagrangian):
            tau = tau + euler_lagrange(term.function, scope)
        if isinstance(term, Dissipation):
            tau = tau + casadi.gradient(term.function, scope.v)
    return casadi.densify(tau)


def euler_lagrange(L: SX, scope: Scope) -> SX:
    """d/dt dL/dv - dL/dq (n, 1)."""
    q, v, a, t = scope.q, scope.v, scope.a, scope.symbols.t
    momentum = casadi.gradient(L, v)
    return casadi.jtimes(
        momentum, casadi.vertcat(q, v, t), casadi.vertcat(v, a, 1)
    ) - casadi.gradient(L, q)


def rates(x: SX, scope: Scope) -> tuple[SX, SX]:
    """(xd, xdd) of x(q, t) along v and a."""
    q, v, a, t = scope.q, scope.v, scope.a, scope.symbols.t
    xd = casadi.jtimes(x, casadi.vertcat(q, t), casadi.vertcat(v, 1))
    xdd = casadi.jtimes(xd, casadi.vertcat(q, v, t), casadi.vertcat(v, a, 1))
    return xd, xdd


def dependencies(term: Term, x: SX, scope: Scope) -> tuple[str, ...]:
    """The coordinates a term with the place x depends on."""
    involved, s = casadi.vertcat(x, term.function), scope.symbols
    return tuple(
        name
        for name in scope.coordinates
        if casadi.depends_on(involved, casadi.vertcat(s.q[name], s.v[name]))
    )


def _energies(L: SX, v: SX) -> tuple[SX, SX]:
    """Kinetic and potential part of the energy v . dL/dv - L: what is left at rest is potential."""
    rest = -casadi.substitute(L, v, SX.zeros(v.shape[0], 1))
    return casadi.dot(v, casadi.gradient(L, v)) - L - rest, rest
