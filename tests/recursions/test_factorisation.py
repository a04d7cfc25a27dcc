"""Factors of symmetric matrices, with the pattern of a tree and without."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from casadi import DM, SX

from linkwork.recursions.composite_body import mass_matrix
from linkwork.recursions.factorisation import factorised
from tests.pinocchio_models import random_twin

RNG = np.random.default_rng(0)


def positive(n: int) -> np.ndarray:
    A = RNG.normal(size=(n, n))
    return A @ A.T + n * np.eye(n)


def number(x) -> np.ndarray:
    return np.array(DM(x))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_factors_of_a_full_matrix_give_it_back_and_solve(n):
    M = positive(n)
    factors = factorised(SX(DM(M)))
    L, D = np.eye(n), np.diag([float(d) for d in factors.D])
    for k, row in enumerate(factors.L):
        for i, a in row.items():
            L[k, i] = float(a)
    assert np.abs(L.T @ D @ L - M).max() < 1e-14 * np.abs(M).max()
    b = RNG.normal(size=n)
    assert np.abs(M @ number(factors.solve(SX(b))).ravel() - b).max() < 1e-14
    B = RNG.normal(size=(n, 3))
    assert np.abs(M @ number(factors.solve(SX(DM(B)))) - B).max() < 1e-14


def test_a_mass_matrix_gets_no_new_entries():
    """Elimination stays on the branches: L[k][i] only where i carries k,
    or precedes it in the same joint."""
    tree = random_twin(3, 12).robot.subject.tree
    joint = {node.v + k: i for i, node in enumerate(tree.nodes) for k in range(node.nv)}
    L = factorised(mass_matrix(tree, SX.sym("q", tree.nq))).L
    assert all(joint[i] in tree.paths[joint[k]] for k in range(tree.nv) for i in L[k])
    assert sum(len(row) for row in L) < tree.nv * (tree.nv - 1) / 2


def test_entries_that_a_coupling_makes_are_kept():
    """0 - 2 and 1 - 2 are coupled, 0 and 1 are not: eliminating 2 couples them."""
    M = np.array([[3.0, 0.0, 1.0], [0.0, 4.0, 2.0], [1.0, 2.0, 5.0]])
    factors = factorised(SX(casadi.sparsify(DM(M))))
    assert set(factors.L[1]) == {0}
    b = np.array([1.0, -2.0, 0.5])
    assert np.abs(M @ number(factors.solve(SX(b))).ravel() - b).max() < 1e-15


def test_nothing_to_factorise():
    assert factorised(SX(0, 0)).solve(SX(0, 1)).shape == (0, 1)
