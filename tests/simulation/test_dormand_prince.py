"""Dormand and Prince's method beside SciPy's, step by step,
and its table by the conditions of its order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import DOP853

from linkwork.simulation import dormand_prince
from linkwork.simulation.dormand_prince import NODES, DormandPrince


def orbit(t, y):
    """Kepler's problem with a drag that depends on time."""
    x, v = y[:2], y[2:]
    return np.concatenate([v, -x / np.linalg.norm(x) ** 3 - 0.01 * np.sin(t) * v])


@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-12])
def test_steps_and_values_inside_are_scipys(rtol):
    start, end = np.array([1.0, 0.0, 0.0, 1.2]), 12.0
    ours = DormandPrince(orbit, 0.0, start, end, rtol=rtol, atol=1e-2 * rtol)
    theirs = DOP853(orbit, 0.0, start, end, rtol=rtol, atol=1e-2 * rtol)
    steps = 0
    while theirs.status == "running":
        theirs.step()
        assert ours.step() is None
        steps += 1
        # rounding (1e-16) grows along the orbit and with the step that follows it
        np.testing.assert_allclose(ours.t, theirs.t, rtol=1e-8)
        np.testing.assert_allclose(ours.y, theirs.y, rtol=0, atol=1e-8)
        inside, reference = ours.dense_output(), theirs.dense_output()
        for share in (0.1, 0.5, 0.9):
            t = ours.t_before + share * (ours.t - ours.t_before)
            np.testing.assert_allclose(inside(t), reference(t), rtol=0, atol=1e-8)
    assert steps > 5 and ours.status == theirs.status == "finished" and ours.t == end


def test_the_table_keeps_the_conditions_of_its_order():
    A, b, c = dormand_prince._A, dormand_prince._B, np.array(NODES)
    np.testing.assert_allclose(A.sum(axis=1), c, rtol=0, atol=3e-14)  # entries to 44 cancel
    for k in range(8):
        assert b @ c[:12] ** k == pytest.approx(1.0 / (k + 1), abs=1e-14)


def test_the_continuous_result_is_a_polynomial_of_degree_seven():
    """y' = t^6: the values inside a step are exact."""
    solver = DormandPrince(
        lambda t, y: np.array([t**6]), 0.0, np.zeros(1), 2.0, rtol=1e-3, atol=1e-3
    )
    while solver.status == "running":
        assert solver.step() is None
        t = np.linspace(solver.t_before, solver.t, 9)
        inside = solver.dense_output()
        np.testing.assert_allclose([inside(x)[0] for x in t], t**7 / 7, rtol=1e-13, atol=1e-14)


def test_a_system_that_no_step_follows_fails_in_words():
    """y' = y^2 leaves every number at t = 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        solver = DormandPrince(lambda t, y: y**2, 0.0, np.ones(1), 2.0, rtol=1e-8, atol=1e-10)
        said = None
        while solver.status == "running":
            said = solver.step()
    assert solver.status == "failed" and "small enough" in said
    assert solver.t == pytest.approx(1.0, abs=1e-6)
