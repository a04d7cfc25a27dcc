"""What both derivative tests share: samples, the trace evaluated by CasADi,
Pinocchio's matrices in our order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin

from linkwork.quantities import quantity
from linkwork.robot import Robot
from tests.pinocchio_models import Twin


def states(robot: Robot, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (
        robot.random(n, seed=seed),
        rng.normal(size=(n, robot.nv)),
        rng.normal(size=(n, robot.nv)),
    )


def traced(robot: Robot, name: str, *arguments: np.ndarray) -> list[np.ndarray]:
    """Every result of a quantity through CasADi's own evaluation: no compilation."""
    f, count = robot.function(name), len(quantity(name).outputs)
    rows = [[np.array(x) for x in f.call(list(row))[:count]] for row in zip(*arguments)]
    return [np.stack(column) for column in zip(*rows)]


def of_pinocchio(function: Callable, pair: Twin, *arguments: np.ndarray) -> list[np.ndarray]:
    """computeRNEADerivatives or computeABADerivatives, sample by sample;
    the third matrix from its upper triangle."""
    data, at = pair.model.createData(), np.ix_(pair.index, pair.index)
    found = []
    for q, v, x in zip(*arguments):
        by_q, by_v, M = function(pair.model, data, pair.q(q), pair.v(v), pair.v(x))
        found.append([by_q[at].copy(), by_v[at].copy(), (np.triu(M) + np.triu(M, 1).T)[at]])
    return [np.stack(column) for column in zip(*found)]


def inverse_by_pinocchio(pair: Twin, *state: np.ndarray) -> list[np.ndarray]:
    return of_pinocchio(pin.computeRNEADerivatives, pair, *state)


def forward_by_pinocchio(pair: Twin, *state: np.ndarray) -> list[np.ndarray]:
    return of_pinocchio(pin.computeABADerivatives, pair, *state)


def assert_all_close(
    ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray], tolerance: float
) -> None:
    """To the largest entry of each matrix: entries that are differences of large ones have no
    better digits.

    By velocity the matrices are differences of inertias, so that they are no better than these are
    rounded.
    """
    rounding = 1e-15 * np.abs(theirs[2]).max()
    for k, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        assert x.shape == y.shape
        np.testing.assert_allclose(
            x, y, rtol=0, atol=tolerance * np.abs(y).max() + rounding, err_msg=f"matrix {k}"
        )


def differences(
    robot: Robot, name: str, q: np.ndarray, v: np.ndarray, x: np.ndarray
) -> list[np.ndarray]:
    """Central differences of a quantity by q along every tangent direction, by v and by x."""
    f, move, h = robot.function(name), robot.function("integrate"), 1e-5

    def value(*state: np.ndarray) -> np.ndarray:
        return np.array(f.call(list(state))[0]).ravel()

    columns = []
    for e in h * np.eye(robot.nv):
        after, before = (np.array(move.call([q, step])[0]).ravel() for step in (e, -e))
        by_q = value(after, v, x) - value(before, v, x)
        columns.append(
            (by_q, value(q, v + e, x) - value(q, v - e, x), value(q, v, x + e) - value(q, v, x - e))
        )
    return [np.column_stack(column) / (2 * h) for column in zip(*columns)]
