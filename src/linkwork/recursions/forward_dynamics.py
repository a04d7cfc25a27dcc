"""Forward dynamics: the accelerations that joint forces give, by the two ways worth comparing."""

from __future__ import annotations

from collections.abc import Mapping

import casadi
import numpy as np
from casadi import DM, SX

from linkwork.model.tree import Tree
from linkwork.recursions.articulated_body import articulated_body
from linkwork.recursions.composite_body import mass_matrix
from linkwork.recursions.factorisation import factorised
from linkwork.recursions.newton_euler import newton_euler
from linkwork.spatial import Force

_NOTHING = 1e-12  # rounding of a few hundred sums


def forward_dynamics(
    tree: Tree, q: SX, v: SX, tau: SX, forces: dict[int, Force] | None = None, G: DM | None = None
) -> tuple[list[SX], SX]:
    """(ways, pivots): accelerations a of the independent coordinates computed in each way, and
    (n, 2) how much inertia each coordinate moves while those beyond it are free, and while they are
    locked.

        (G'M G) a = tau - G' b,    b: joint forces at a = 0 (newton_euler.py)

    With mimicking joints (v_tree = G v) there is one way, without two: the factors of M along the
    tree, cheaper on short branches, and articulated bodies, cheaper on long ones.
    """
    M, b = mass_matrix(tree, q), newton_euler(tree, q, v, SX(tree.nv, 1), forces)
    if G is not None:
        M, b = G.T @ M @ G, G.T @ b
    factors = factorised(M)
    ways = [factors.solve(tau - b)]
    if G is None:
        ways.append(articulated_body(tree, q, v, tau, forces))
    return ways, casadi.horzcat(casadi.vertcat(*factors.D), casadi.diag(M))


def without_inertia(pivots: SX, values: Mapping[str, float]) -> list[int]:
    """Coordinates that move no inertia at any of a few random states:
    rounding beside what they move when locked.

    `values`: of those symbols, by name, that must not be random.
    """
    symbols = casadi.symvar(pivots)
    f = casadi.Function("pivots", symbols, [pivots])
    generator = np.random.default_rng(0)
    empty = np.ones(pivots.size1(), dtype=bool)
    for _ in range(3):
        state = [values.get(s.name(), generator.uniform(0.5, 1.5)) for s in symbols]
        free, locked = np.abs(np.array(f.call([DM(x) for x in state])[0])).T
        # false for what comes after a division by an empty pivot
        empty &= free <= _NOTHING * locked
    return np.flatnonzero(empty).tolist()
