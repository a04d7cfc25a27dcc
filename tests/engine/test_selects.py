"""if_else costs one selection, and takes the branch that CasADi takes."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from linkwork.engine.compile import compile
from linkwork.engine.passes import optimised
from linkwork.engine.program import from_casadi
from tests.engine.counts import census


def test_an_if_else_is_one_selection():
    x, y, z = (SX.sym(n) for n in "xyz")
    f = casadi.Function("f", [x, y, z], [casadi.if_else(x < y, z, 2 * x)])
    found = census(optimised(from_casadi(f)))
    assert found["select"] == 1
    assert not {"if_else_zero", "not", "add"} & set(found)


def test_masks_that_something_else_needs_stay():
    x, y = SX.sym("x"), SX.sym("y")
    mask = casadi.if_else(x < y, x, 0)
    f = casadi.Function("f", [x, y], [mask + casadi.if_else(casadi.logic_not(x < y), y, 0), mask])
    assert census(optimised(from_casadi(f))).get("if_else_zero", 0) >= 1


def test_every_width_takes_the_branch_that_casadi_takes():
    x = SX.sym("x", 3)
    nested = casadi.if_else(
        x[0] < x[1],
        casadi.if_else(x[2] > 0, x[0], casadi.sqrt(x[2])),
        casadi.if_else(x[2], x[1], 7),
    )
    f = casadi.Function(
        "f", [x], [casadi.vertcat(nested, casadi.if_else(x[0] >= x[2], -x[1], x[1] * x[2]))]
    )
    rows = np.random.default_rng(0).choice([-2.0, -0.5, 0.0, 0.5, 2.0], size=(200, 3))
    # sqrt of a negative number is NaN, and refused
    rows = rows[~((rows[:, 0] < rows[:, 1]) & (rows[:, 2] < 0))]
    expected = np.array([np.array(f(row)).ravel() for row in rows])
    kernel = compile(f, {"x": 3})
    assert np.array_equal(kernel(rows), expected)
    assert all(np.array_equal(kernel(row), e) for row, e in zip(rows, expected, strict=True))
