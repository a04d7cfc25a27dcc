"""Sine and cosine of angles that are sums of inputs and numbers: computed first,
the same at every width."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import linkwork as lw
from linkwork.engine.emit import _early_angles
from linkwork.engine.passes import optimised
from linkwork.engine.program import from_casadi


def waves(x):
    """Angles x0, x1 + 0.5, (x2 + 1) - x0, and one that is no sum."""
    angles = [x[0], x[1] + 0.5, (x[2] + 1) - x[0], x[1] * x[2]]
    return casadi.vertcat(*(f(a) for a in angles for f in (casadi.sin, casadi.cos)))


def many(x):
    """More angles than stand in place."""
    return casadi.vertcat(*(f(x[k] + 0.1 * k) for k in range(20) for f in (casadi.sin, casadi.cos)))


def expected(x):
    a = np.stack([x[:, 0], x[:, 1] + 0.5, (x[:, 2] + 1) - x[:, 0], x[:, 1] * x[:, 2]], axis=1)
    return np.stack([np.sin(a), np.cos(a)], axis=2).reshape(len(x), -1)


def test_sums_of_inputs_and_numbers_are_early():
    x = casadi.SX.sym("x", 3)
    program = optimised(from_casadi(casadi.Function("waves", [x], [waves(x)])))
    both = {op.args for op in program.code if op.name == "sin"}
    angles, sums = _early_angles(program, both)
    kinds = sorted(program.code[k].name for (k,) in angles)
    assert len(both) == 4 and kinds == ["add", "input", "sub"]
    assert sorted(program.code[k].name for k in sums) == ["add", "add", "sub"]


@pytest.mark.parametrize("scale", [1.0, 1e5, 1e14], ids=["usual", "large", "beyond the formula"])
def test_against_numpy_at_every_width(scale):
    kernel = lw.compile(waves, {"x": 3})
    x = np.random.default_rng(1).normal(size=(37, 3)) * scale
    found = kernel(x)
    exact = expected(x)
    if scale == 1e14:  # the product reaches 1e28, where one rounding of the argument is all
        found, exact = found[:, :6], exact[:, :6]
    np.testing.assert_allclose(found, exact, rtol=0, atol=4e-16)
    np.testing.assert_array_equal(kernel(x), np.stack([kernel(row) for row in x]))


def test_many_of_them():
    kernel = lw.compile(many, {"x": 20})
    x = np.random.default_rng(2).normal(size=(13, 20))
    a = x + 0.1 * np.arange(20)
    np.testing.assert_allclose(
        kernel(x), np.stack([np.sin(a), np.cos(a)], axis=2).reshape(13, -1), rtol=0, atol=4e-16
    )
    x[5, 7] = np.nan
    with pytest.raises(lw.LinkworkError, match=r"x\[5, 7\] is nan"):
        kernel(x)
