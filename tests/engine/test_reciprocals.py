"""One division a denominator, and the same values."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX

from linkwork.engine.compile import compile
from linkwork.engine.passes import optimised
from linkwork.engine.program import from_casadi
from tests.engine.counts import census


def counts(expression, *symbols):
    return census(optimised(from_casadi(casadi.Function("f", list(symbols), [expression]))))


def test_a_denominator_divides_once():
    x, y, d = (SX.sym(n) for n in "xyd")
    found = counts(casadi.vertcat(x / d, y / d, 1 / d), x, y, d)
    assert (found["inv"], found["mul"]) == (1, 2)
    assert "div" not in found


def test_a_single_division_stays_exact():
    x, d = SX.sym("x"), SX.sym("d")
    assert counts(x / d, x, d)["div"] == 1
    kernel = compile(lambda x, d: x / d, {"x": (), "d": ()})
    assert kernel(1.0, 49.0) == 1.0 / 49.0


def test_values_agree_to_rounding():
    x = SX.sym("x", 4)
    d = x[0] * x[1] + 2
    f = casadi.Function(
        "f", [x], [casadi.vertcat(x[2] / d, x[3] / d + x[2] / x[1], (x[0] + x[1]) / d, x[3] / x[1])]
    )
    at = np.random.default_rng(0).uniform(0.5, 2, size=(50, 4))
    expected = [np.array(f(row)).ravel() for row in at]
    # two roundings instead of one
    np.testing.assert_allclose(compile(f, {"x": 4})(at), expected, rtol=1e-15)
