"""Traces: the quantities of a System as CasADi functions.
A new quantity is a new line of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi
from casadi import SX

from linkwork.errors import NotPossible
from linkwork.lagrange.columns import rates, together
from linkwork.lagrange.expressions import stacked
from linkwork.lagrange.terms import Body
from linkwork.spatial.linear import factored, solved

if TYPE_CHECKING:
    from linkwork.lagrange.system import System


@dataclass(frozen=True)
class Quantity:
    """trace(system, symbols of the inputs) -> results,
    then one vector of guards where `guard` says what it guards.

    inputs    among q v a tau; outputs: (name, axes) with axes "n" coordinates, "b" bodies, "c"
              constraints, or sizes
    """

    trace: Callable[[System, dict[str, SX]], Sequence[SX]]
    inputs: str
    outputs: tuple[tuple[str, str], ...]
    guard: str = ""


def inverse_dynamics(system: System, x: dict[str, SX]) -> tuple[SX]:
    """Sum of all columns, differentiated once: tau (n, 1); what is not among the inputs is zero."""
    scope = system.scope
    tau = together(system.placed, scope, system.gravity_vector)
    return (
        at_rest(tau, *[each for label, each in (("v", scope.v), ("a", scope.a)) if label not in x]),
    )


def at_rest(expression: SX, *symbols: SX) -> SX:
    """The expression with these symbols zero."""
    for each in symbols:
        expression = casadi.substitute(expression, each, SX.zeros(*each.shape))
    return casadi.densify(expression)


def mass_matrix(system: System, x: dict[str, SX]) -> tuple[SX]:
    """M = d tau / d a (n, n), its lower triangle computed and mirrored."""
    scope = system.scope
    M = casadi.jacobian(together(system.placed, scope, system.gravity_vector), scope.a)
    M = casadi.tril2symm(casadi.tril(casadi.densify(M)))
    return (M if "v" in x else at_rest(M, scope.v),)


def forward_dynamics(system: System, x: dict[str, SX]) -> tuple[SX, SX]:
    """a (n, 1) of M a + h = tau, and the margins by which M is regular;
    under constraints see `constrained`."""
    a, _, margins = _solved(system, x)
    return a, margins


def multipliers(system: System, x: dict[str, SX]) -> tuple[SX, SX]:
    """The constraint forces lambda (m, 1)."""
    _, forces, margins = _solved(system, x)
    return forces, margins


def _solved(system: System, x: dict[str, SX]) -> tuple[SX, SX, SX]:
    _refuse_coordinates_without_inertia(system)
    (h,) = inverse_dynamics(system, {"v": x["v"]})
    (M,) = mass_matrix(system, x)
    if system.constraints:
        return constrained(system, M, x["tau"] - h)
    a, margins = solved(M, x["tau"] - h)
    return a, SX(0, 1), margins


def constrained(system: System, M: SX, f: SX) -> tuple[SX, SX, SX]:
    """(a, lambda, margins) of M a = f + Phi_q' lambda with Phi'' = -2 r Phi' - r^2 Phi
    (stabilised with rates r).

    Phi'' = Phi_q a + b. (M + Phi_q' Phi_q) a = f + Phi_q' (lambda + c), since Phi_q a = c: this
    changes no solution and lets a coordinate without inertia be held by its constraints alone.
    """
    phi, phid, b = constraint_rates(system)
    r = stacked(c.rate for c in system.constraints.values() for _ in range(c.function.shape[0]))
    c = -b - 2 * r * phid - r**2 * phi
    J = casadi.jacobian(phi, system.scope.q)
    F = factored(casadi.densify(M + J.T @ J))
    free = F.solve(f + J.T @ c)
    back = F.solve(casadi.densify(J.T))
    S = factored(casadi.densify(J @ back))
    forces = S.solve(c - J @ free)
    return free + back @ forces, forces, casadi.vertcat(F.margins, S.margins)


def constraint_rates(system: System) -> tuple[SX, SX, SX]:
    """(Phi, Phi', Phi'' without the part of the accelerations), each (m, 1)."""
    phi = stacked(c.function for c in system.constraints.values())
    phid, phidd = rates(phi, system.scope)
    return phi, phid, at_rest(phidd, system.scope.a)


def constraints(system: System, x: dict[str, SX]) -> tuple[SX, SX]:
    phi, phid, _ = constraint_rates(system)
    return phi, phid


def energy(system: System, x: dict[str, SX]) -> tuple[SX, SX]:
    """Kinetic and potential energy of all terms."""
    columns = system.columns
    return sum((c.kinetic for c in columns), SX(0)), sum((c.potential for c in columns), SX(0))


def dissipated_power(system: System, x: dict[str, SX]) -> tuple[SX]:
    """v . dR/dv."""
    R = sum((c.rayleigh for c in system.columns), SX(0))
    v = system.scope.v
    return (casadi.dot(v, casadi.gradient(R, v)),)


def positions(system: System, x: dict[str, SX]) -> tuple[SX]:
    """Centres of all bodies (b, 3)."""
    rows = [place[:3].T for term, place in system.placed if isinstance(term, Body)]
    return (casadi.vertcat(*rows) if rows else SX(0, 3),)


def applied(system: System, body: str, wrench: SX) -> SX:
    """Joint forces (n, 1) that a force (3) at a body's centre, or a force and moment (6) on it,
    exerts. World axes.

    A moment acts on the rotation of the body: n . w with w_x = r_z . rd_y in world axes
    (rows of R instead of columns).
    """
    scope = system.scope
    term = system.terms[body]
    assert isinstance(term, Body)
    x = term.place(system)
    tau = casadi.jtimes(x[:3], scope.q, wrench[:3], True)
    if wrench.shape[0] == 3:
        return tau
    n = wrench[3:]
    if x.shape[0] == 4:
        return tau + casadi.jtimes(x[3], scope.q, n[2], True)
    if x.shape[0] != 12:
        raise NotPossible(
            f'forces: body "{body}" is a point mass, a moment cannot act on it; give three numbers'
        )
    R = casadi.reshape(x[3:], 3, 3)
    seed = casadi.vertcat(n[1] * R[2, :], n[2] * R[0, :], n[0] * R[1, :])
    return tau + casadi.jtimes(x[3:], scope.q, casadi.vec(seed), True)


def _refuse_coordinates_without_inertia(system: System) -> None:
    if system.constraints:
        return
    (M,) = mass_matrix(system, {"q": system.scope.q})
    for k, name in enumerate(system.coordinates):
        if M[k, k].is_zero():
            raise NotPossible(
                f'forward_dynamics: coordinate "{name}" carries no inertia: no body moves with it, '
                "so that no force "
                "determines its acceleration; add a body, or constrain it"
            )


_SINGULAR = "the mass matrix is singular, or the constraints depend on each other"

QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(inverse_dynamics, "q v a", (("tau", "n"),)),
    "bias": Quantity(inverse_dynamics, "q v", (("h", "n"),)),
    "gravity_torque": Quantity(inverse_dynamics, "q", (("tau", "n"),)),
    "mass_matrix": Quantity(mass_matrix, "q", (("M", "n n"),)),
    "forward_dynamics": Quantity(forward_dynamics, "q v tau", (("a", "n"),), _SINGULAR),
    "multipliers": Quantity(multipliers, "q v tau", (("forces", "c"),), _SINGULAR),
    "constraints": Quantity(constraints, "q v", (("residual", "c"), ("rate", "c"))),
    "energy": Quantity(energy, "q v", (("kinetic", ""), ("potential", ""))),
    "dissipated_power": Quantity(dissipated_power, "q v", (("power", ""),)),
    "positions": Quantity(positions, "q", (("positions", "b 3"),)),
}
