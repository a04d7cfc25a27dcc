"""Equations: what SymPy derives from the energies is what the kernels compute,
in LaTeX and in Python too."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from casadi import cos, exp, sin

from linkwork.errors import UnknownName
from linkwork.lagrange import System, equations

CHAIN = System.planar_chain(
    "RPR",
    [2.0, 1.0, 0.5],
    [3.0, 1.0, 2.0],
    drags=[0.1, 0, 0],
    inertias=[0.2, 0, 0],
    gravity=(0, -9.8),
)


def mixed():
    system = System("x theta", gravity=(0, -9.81), variables={"l": 1.5, "m": 2.0})
    system = system.with_body(
        "bob", lambda p: p.m, lambda q: (q.x + q.l * sin(q.theta), -q.l * cos(q.theta))
    )
    system = system.with_spring("spring", 3.0, "bob", (1.0, 2.0), length=0.5)
    system = system.with_potential("wind", lambda q, t: exp(-q.x) * sin(t) / (2 + cos(q.theta)))
    system = system.with_lagrangian(
        "charge", lambda q, v: v.x**2 * q.theta + v.theta**4 / 4 - sin(q.x) ** 3
    )
    return system.with_dissipation("cubic", lambda q, v: v.x**4 / 3)


def values(system, eq, q, v, a, t):
    letters = eq.letters
    pairs = [(letters.q, q), (letters.v, v), (letters.a, a)]
    at = {
        symbol: x
        for side, numbers in pairs
        for symbol, x in zip(side.values(), numbers, strict=True)
    }
    at |= {letters.variables[name]: x for name, x in system.variables.items()}
    at[letters.t] = t
    return np.array(
        [[float(cell.subs(at)) for cell in cells.values()] for cells in eq.cells.values()]
    ).T


@pytest.mark.parametrize("simplify", [True, False])
@pytest.mark.parametrize("system", [CHAIN, mixed()], ids=["chain", "mixed"])
def test_cells_are_the_torque_table(system, simplify):
    eq = system.equations(simplify=simplify)
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(0.2, 1, size=(3, system.nq))
    np.testing.assert_allclose(
        values(system, eq, q, v, a, 0.7), system.torque_table(q, v, a, 0.7), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("system", [CHAIN, mixed()], ids=["chain", "mixed"])
def test_exported_python_computes_the_torque_table(system):
    source = system.equations().python("forces")
    space: dict = {}
    exec(source, space)
    q, v, a = np.random.default_rng(1).uniform(0.2, 1, size=(3, system.nq))
    table = space["forces"](q, v, a, **system.variables, t=0.4)
    assert list(table) == list(system.terms)
    np.testing.assert_allclose(
        np.array(list(table.values())).T, system.torque_table(q, v, a, 0.4), rtol=1e-12, atol=1e-12
    )


def test_two_links_read_as_in_a_textbook():
    """Squares of velocities collapse to cos of the relative angle;
    a link's cell names nothing it does not need."""
    eq = System.planar_chain("RR", [2.0, 1.0], [3.0, 1.0], gravity=(0, -9.8)).equations()
    q1, q2 = eq.letters.q.values()
    a1, a2 = eq.letters.a.values()
    v1, _ = eq.letters.v.values()
    g = sympy.Float(9.8)
    expected = (
        (2 * sympy.cos(q2) + 1) * a1 + a2 + 2 * v1**2 * sympy.sin(q2) + g * sympy.cos(q1 + q2)
    )
    assert sympy.expand(eq["link2"]["joint2"] - expected) == 0
    assert eq["link1"]["joint2"] == 0
    assert eq.total["joint2"] == eq["link2"]["joint2"]
    assert str(eq).splitlines()[1] == "    joint1: 12*joint1_acceleration + 58.8*cos(joint1)"


def test_latex_has_dots_and_braces():
    eq = System("theta1", gravity=(0, -9.81), variables={"l": 1.0}).with_body(
        "bob_1", 2.0, lambda q: (q.l * sin(q.theta1), -q.l * cos(q.theta1))
    )
    text = eq.equations().latex()
    assert r"2 l^{2} \ddot{\theta}_{1}" in text
    assert r"_{\text{bob\_1}}" in text
    assert text.count("&=") == 1


def test_only_new_columns_are_derived_after_an_edit(monkeypatch):
    system = System.planar_chain("RRR", 1.0, 1.0)
    system.equations()
    seen = []
    real = equations._cell
    monkeypatch.setattr(equations, "_cell", lambda *args: seen.append(args[2]) or real(*args))
    system.extended("R").equations()
    assert seen == ["joint1", "joint2", "joint3", "joint4"]  # the cells of link4, and of no other


def test_one_term_alone():
    assert list(CHAIN.equations("link2").cells) == ["link2"]
    with pytest.raises(UnknownName, match='did you mean "link2"'):
        CHAIN.equations("lnk2")
    with pytest.raises(UnknownName, match="no term"):
        CHAIN.equations("link2")["link3"]


def test_equations_that_are_not_simplified_are_not_multiplied_out(monkeypatch):
    """The forces of the last links of an arm in space would have millions of products."""

    def refuse(x):
        raise AssertionError(f"multiplied out: {x}")

    monkeypatch.setattr(equations.sympy, "expand", refuse)
    system = System.planar_chain("RRP", [1.0, 0.7, 0.5], [1.0, 2.0, 1.5])
    q, v, a = np.random.default_rng(2).uniform(0.2, 1, size=(3, 3))
    found = values(system, system.equations(simplify=False), q, v, a, 0.0)
    np.testing.assert_allclose(found, system.torque_table(q, v, a), rtol=1e-12, atol=1e-12)
    with pytest.raises(AssertionError, match="multiplied out"):
        system.equations(simplify=True)
