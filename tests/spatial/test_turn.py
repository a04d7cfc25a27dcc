"""Turns: the same rotations as matrices, with fewer operations."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from casadi import SX

from linkwork.engine.passes import optimised
from linkwork.engine.program import from_casadi
from linkwork.model.rotation import about, from_euler, from_quaternion, snapped
from linkwork.spatial.turn import Dense, Exchange, Planar, Turn, constant_turn

TOLERANCE = 4e-15  # three turns of vectors of length about two

CONSTANTS = {
    "nothing": np.eye(3),
    "a quarter about x": np.array(about("x", np.pi / 2)),
    "axes exchanged": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "nearly a quarter": np.array(about("y", 1.5708)),
    "nearly a half": np.array(about("z", 3.14159)),
    "obtuse": np.array(about("z", -2.2)),
    "two turns": np.array(from_euler("xzx", (0.3, 0.4, 0.0))),
    "any": np.array(from_quaternion((0.1, -0.5, 0.3, 0.8))),
    "any other": np.array(from_quaternion((0.7, 0.2, -0.4, -0.1))),
}


def number(x: SX) -> np.ndarray:
    return np.array(casadi.DM(x)).squeeze()


def operations(function, size: int) -> int:
    x = SX.sym("x", size)
    return optimised(
        from_casadi(casadi.Function("f", [x], [casadi.vec(function(x))], {"cse": True}))
    ).operations


def check(turn: Turn, R: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    x, A = rng.normal(size=3), rng.normal(size=(3, 3))
    S = A + A.T
    assert np.abs(number(turn @ SX(x)) - R @ x).max() < TOLERANCE
    assert np.abs(number(turn.T @ SX(x)) - R.T @ x).max() < TOLERANCE
    assert np.abs(number(turn.around(SX(casadi.DM(S)))) - R @ S @ R.T).max() < 2 * TOLERANCE
    assert (
        np.abs(number(turn.around(SX(casadi.DM(A)), symmetric=False)) - R @ A @ R.T).max()
        < 2 * TOLERANCE
    )
    assert (
        np.abs(number(turn.T.around(SX(casadi.DM(A)), symmetric=False)) - R.T @ A @ R).max()
        < 2 * TOLERANCE
    )


@pytest.mark.parametrize("label", CONSTANTS)
def test_a_constant_turn_is_its_matrix(label):
    R = CONSTANTS[label]
    check(constant_turn(R), R)


@pytest.mark.parametrize("seed", range(20))
def test_any_constant_rotation_takes_three_turns_at_most(seed):
    R = np.array(snapped(from_quaternion(np.random.default_rng(seed).normal(size=4))))
    turn = constant_turn(R)
    check(turn, R)
    assert sum(isinstance(f, Planar) for f in turn.factors) == 3
    assert all(
        abs(float(f.s)) <= np.sqrt(0.5) + 1e-15 for f in turn.factors if isinstance(f, Planar)
    )


@pytest.mark.parametrize(("i", "j"), [(0, 1), (1, 2), (2, 0), (1, 0)])
def test_a_planar_turn_with_symbols_is_its_matrix(i, j):
    angle = 0.7
    R = np.eye(3)
    R[[i, j], [i, j]], R[i, j], R[j, i] = np.cos(angle), -np.sin(angle), np.sin(angle)
    q = SX.sym("q")
    turn = Turn((Planar(i, j, casadi.cos(q), casadi.sin(q)),))
    x, A = SX(np.array([1.0, 2.0, 3.0])), SX(casadi.DM(np.arange(9.0).reshape(3, 3)))
    f = casadi.Function(
        "f", [q], [turn @ x, turn.T @ x, turn.around(A, symmetric=False), turn.around(A + A.T)]
    )
    found = [np.array(y).squeeze() for y in f(angle)]
    a = np.arange(9.0).reshape(3, 3)
    wanted = [R @ [1, 2, 3], R.T @ [1, 2, 3], R @ a @ R.T, R @ (a + a.T) @ R.T]
    for ours, theirs in zip(found, wanted, strict=True):
        assert np.abs(ours - theirs).max() < 1e-14 * 16


def test_one_turn_after_another():
    first, second = CONSTANTS["any"], CONSTANTS["nearly a quarter"]
    check(constant_turn(second).after(Turn((Dense(SX(casadi.DM(first))),))), second @ first)


def test_exchanges_cost_nothing_and_go_back():
    turn = Exchange((2, 0, 1), (1, -1, -1))
    x = SX.sym("x", 3)
    assert casadi.is_equal(turn.T @ (turn @ x), x, 1)
    assert operations(lambda x: turn @ x, 3) == 0


def test_operations_of_a_vector_and_of_an_inertia():
    q = SX.sym("q", 2)
    joint = Turn((Planar(0, 1, q[0], q[1]),))
    constant = constant_turn(CONSTANTS["nearly a quarter"])

    def symmetric(x):
        return casadi.blockcat([[x[0], x[1], x[2]], [x[1], x[3], x[4]], [x[2], x[4], x[5]]])

    def ops(function, size):
        x = SX.sym("x", size)
        f = casadi.Function("f", [q, x], [casadi.vec(function(x))], {"cse": True})
        return optimised(from_casadi(f)).operations

    assert ops(lambda x: joint @ x, 3) == 4
    assert ops(lambda x: constant @ x, 3) == 3
    assert ops(lambda x: joint.around(symmetric(x)), 6) == 11
    assert ops(lambda x: constant.around(symmetric(x)), 6) == 9
