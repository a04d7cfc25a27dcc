"""Sums are rearranged for fused multiply-adds, and for nothing else."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from casadi import SX

from linkwork.engine.compile import compile
from linkwork.engine.passes import optimised
from linkwork.engine.passes.fuse import fused, without_dead_code
from linkwork.engine.passes.sums import chained
from linkwork.engine.program import Operation, Program, from_casadi
from tests.engine.counts import census


def program(expression, *symbols):
    return from_casadi(casadi.Function("f", list(symbols), [expression]))


def test_products_are_added_to_the_plain_term_one_by_one():
    x, a, b, c, d = (SX.sym(n) for n in "xabcd")
    counts = census(optimised(program(x + (a * b - c * d), x, a, b, c, d)))
    assert (counts["fma"], counts["fnma"]) == (1, 1)
    assert counts.keys() == {"input", "fma", "fnma"}


def test_a_sum_of_products_alone_starts_with_a_product():
    a, b, c, d = (SX.sym(n) for n in "abcd")
    counts = census(optimised(program(a * b + c * d, a, b, c, d)))
    assert counts == {"input": 4, "mul": 1, "fma": 1}


def test_a_sum_that_others_need_stays_whole():
    x, a, b, c = (SX.sym(n) for n in "xabc")
    s = a * b + c
    p = program(casadi.vertcat(x + s, s * x), x, a, b, c)
    assert optimised(p).operations == without_dead_code(fused(p)).operations == 3


def test_the_error_of_a_sum_keeps_its_order():
    """Knuth's two-sum: the rounding error of a + b,
    which any other order of its additions destroys."""
    steps = [
        ("add", 0, 1),
        ("sub", 2, 0),
        ("sub", 2, 3),
        ("sub", 0, 4),
        ("sub", 1, 3),
        ("add", 5, 6),
    ]
    code = (
        Operation("input", (0, 0)),
        Operation("input", (1, 0)),
        *(Operation(n, tuple(args)) for n, *args in steps),
    )
    p = Program((1, 1), code, ((7,),))
    assert chained(p).code == code


@pytest.mark.parametrize("seed", range(20))
def test_any_sum_keeps_its_value(seed):
    """Random nests of sums, differences and products, some values used several times."""
    rng = np.random.default_rng(seed)
    x = SX.sym("x", 6)
    values = [x[k] for k in range(6)]
    for _ in range(60):
        i, j = rng.integers(max(0, len(values) - 12), len(values), size=2)
        operation = rng.integers(5)
        u, v = values[i], values[j]
        values.append([u + v, u - v, u * v, -u, v - u * v][operation])
    f = casadi.Function("f", [x], [casadi.vertcat(*values[-5:])])
    at = rng.uniform(-1.2, 1.2, size=(3, 6))
    got = compile(f, {"x": 6})(at)
    expected = np.array([np.array(f(row)).ravel() for row in at])
    # the same numbers in another order: rounding relative to the largest intermediate value
    largest = max(
        np.abs(np.array(casadi.Function("g", [x], [casadi.vertcat(*values)])(row))).max()
        for row in at
    )
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * largest)
    assert (
        optimised(from_casadi(f)).operations <= without_dead_code(fused(from_casadi(f))).operations
    )
