"""Diagnosis: why a System has no acceleration, which state obeys its constraints, where it
rests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from numpy.typing import ArrayLike

from linkwork.arguments import finite
from linkwork.errors import ComputationError, InvalidInput, NotPossible
from linkwork.spatial.linear import SINGULAR

if TYPE_CHECKING:
    from linkwork.lagrange.system import System

_ITERATIONS = 100
_CONVERGED = 1e-12


def explain_singular(
    system: System, name: str, q: ArrayLike, t: ArrayLike, variables: Mapping[str, ArrayLike] | None
) -> None:
    """Raise with the coordinate that carries no inertia,
    or the constraints that depend on each other; else return."""
    try:
        M = system.mass_matrix(q, t, variables)
    except (ComputationError, InvalidInput):
        return  # something else is wrong, and the kernel's own sentence says what
    at = np.broadcast_to(np.asarray(q, dtype=float), (*M.shape[:-2], system.nq)).reshape(
        -1, system.nq
    )
    M = M.reshape(-1, system.nq, system.nq)
    if system.constraints:
        f = casadi.Function(
            "J", [system.scope.q, system.scope.symbols.t], [_constraint_jacobian(system)]
        )
        J = np.array([np.array(f(x, float(np.ravel(t)[0]))) for x in at])
        _explain_constraints(system, name, J, at)
        M = M + np.swapaxes(J, 1, 2) @ J
    values, vectors = np.linalg.eigh(M)
    worst = int(np.argmin(values[:, 0] / np.maximum(values[:, -1], 1e-300)))
    if values[worst, 0] > SINGULAR * values[worst, -1]:
        return
    k = int(np.argmax(np.abs(vectors[worst, :, 0])))
    raise ComputationError(
        f"{name}: the mass matrix is singular at q = {_shown(at[worst])}: "
        f'coordinate "{system.coordinates[k]}" carries no inertia there'
    )


def _explain_constraints(system: System, name: str, J: np.ndarray, at: np.ndarray) -> None:
    labels = [c.name for c in system.constraints.values() for _ in range(c.function.shape[0])]
    for x, each in zip(at, J, strict=True):
        u, s, _ = np.linalg.svd(each)
        if each.shape[0] > each.shape[1] or s[-1] <= 1e-9 * max(s[0], 1e-300):
            mixed = u[:, -1]
            involved = dict.fromkeys(
                label
                for label, w in zip(labels, mixed, strict=True)
                if abs(w) > 0.05 * np.abs(mixed).max()
            )
            raise ComputationError(
                f"{name}: constraints {', '.join(map(repr, involved))} depend on each other at q = "
                f"{_shown(x)}: "
                "they are redundant or contradict each other; remove one"
            )


def _constraint_jacobian(system: System) -> casadi.SX:
    phi = casadi.vertcat(*[c.function for c in system.constraints.values()])
    return casadi.densify(casadi.jacobian(_with_values(system, phi), system.scope.q))


def _with_values(system: System, x: casadi.SX) -> casadi.SX:
    names = list(system.variables)
    if not names:
        return x
    symbols = casadi.vertcat(*[system.scope.symbols.variables[n] for n in names])
    return casadi.substitute(x, symbols, casadi.SX(list(system.variables.values())))


def consistent(
    system: System, q: ArrayLike, v: ArrayLike, t: float
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest state that obeys the constraints: q by Newton steps of least length,
    then v projected."""
    at = finite(q, (system.nq,), "consistent: q").copy()
    rate = finite(v, (system.nq,), "consistent: v").copy()
    if not system.constraints:
        return at, rate
    scope = system.scope
    phi = _with_values(system, casadi.vertcat(*[c.function for c in system.constraints.values()]))
    moving = casadi.jtimes(phi, scope.symbols.t, casadi.SX(1))
    J = casadi.jacobian(phi, scope.q)
    f = casadi.Function("f", [scope.q, scope.symbols.t], [phi, casadi.densify(J), moving])
    for _ in range(_ITERATIONS):
        residual, jacobian, moved = (np.array(x) for x in f(at, t))
        if np.abs(residual).max() < _CONVERGED:
            break
        at = at - np.linalg.lstsq(jacobian, residual[:, 0], rcond=1e-12)[0]
    residual = np.array(f(at, t)[0])[:, 0]
    if not np.abs(residual).max() < 1e-9:
        worst = int(np.nanargmax(np.abs(residual))) if np.isfinite(residual).any() else 0
        labels = [c.name for c in system.constraints.values() for _ in range(c.function.shape[0])]
        raise NotPossible(
            f"consistent: no configuration near q = {_shown(np.asarray(q))} obeys the constraints; "
            f'"{labels[worst]}" is still off by {residual[worst]:.3g}: the constraints contradict '
            "each other, or the "
            "guess is too far away"
        )
    rate = rate - np.linalg.lstsq(jacobian, jacobian @ rate + moved[:, 0], rcond=1e-12)[0]
    left = np.abs(jacobian @ rate + moved[:, 0]).max()
    if left > 1e-9 * (1.0 + np.abs(moved).max()):
        raise NotPossible(
            f"consistent: no velocity obeys the constraints at q = {_shown(at)}; they are off by "
            f"{left:.3g}"
        )
    return at, rate


def equilibrium(
    system: System, q: ArrayLike, tau: float | ArrayLike | Callable[[Any], Any], t: float
) -> np.ndarray:
    """Newton's method on gravity_torque(q) = tau(q)."""
    at = finite(q, (system.nq,), "equilibrium: q").copy()
    scope = system.scope
    law = tau if callable(tau) else lambda _: tau
    torques = scope.evaluated(law, "equilibrium: tau", [scope.q])
    if torques.shape not in ((1, 1), (system.nq, 1)):
        raise InvalidInput(f"equilibrium: tau has shape {torques.shape}, expected ({system.nq},)")
    arguments = [scope.q, *([scope.symbols.t] if system.time_dependent else [])]
    residual = system.function("gravity_torque").call(arguments)[0] - torques
    f = casadi.Function(
        "f",
        [scope.q, scope.symbols.t],
        [residual, casadi.densify(casadi.jacobian(residual, scope.q))],
    )
    for _ in range(_ITERATIONS):
        r, J = (np.array(x) for x in f(at, t))
        step = np.linalg.lstsq(J, -r[:, 0], rcond=1e-14)[0]
        size = np.abs(step).max(initial=0.0)
        if not np.isfinite(size):
            break
        at = at + step * min(1.0, 0.5 / max(size, 1e-300))
        if size < _CONVERGED:
            if np.abs(r).max(initial=0.0) > 1e-6 * (1.0 + np.abs(J).max(initial=0.0)):
                break  # where the slope vanishes a step of no length proves nothing
            return at
    raise NotPossible(
        f"equilibrium: none was found near q = {_shown(np.asarray(q))}; forces off by "
        f"{np.abs(r).max():.3g}"
    )


def _shown(q: np.ndarray) -> str:
    return "[" + ", ".join(f"{x:.6g}" for x in np.ravel(q)) + "]"
