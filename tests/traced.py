"""Quantities and recursions through CasADi's own evaluation: no compilation,
so that every robot can be tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi
import numpy as np
from casadi import SX

from linkwork import quantities
from linkwork.model import Tree
from linkwork.recursions.reframe import reframed
from linkwork.recursions.regroup import regrouped
from linkwork.robot import Robot


def states(robot: Robot, n: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (n, nq), v (n, nv) and a or tau (n, nv)."""
    rng = np.random.default_rng(seed)
    v, a = rng.normal(size=(2, n, robot.nv))
    return robot.random(n, seed=seed), v, a


def traced(
    robot: Robot, name: str, *arguments: np.ndarray, frame: str | None = None
) -> list[np.ndarray]:
    """Every result of a quantity for a batch of arguments,
    in the shapes that the robot's method gives."""
    f = quantities.trace(robot.subject, name, frame)
    shapes = [s for _, s in quantities.kernel_of(robot.subject, name, frame).signature.outputs]
    rows = [[np.array(x) for x in f.call([casadi.DM(x) for x in row])] for row in zip(*arguments)]
    return [np.stack([row[k].reshape(shape) for row in rows]) for k, shape in enumerate(shapes)]


def evaluated(
    function: Callable[..., SX | Sequence[SX]], *arguments: np.ndarray
) -> list[np.ndarray]:
    """function(symbols...) traced once and evaluated for each sample of the arguments (n, size)."""
    symbols = [SX.sym(f"x{k}", x.shape[1]) for k, x in enumerate(arguments)]
    results = function(*symbols)
    f = casadi.Function(
        "f", symbols, list(results) if isinstance(results, (tuple, list)) else [results]
    )
    rows = [[np.array(y) for y in f.call([casadi.DM(x) for x in row])] for row in zip(*arguments)]
    return [
        np.stack(column).squeeze(-1) if column[0].shape[1] == 1 else np.stack(column)
        for column in zip(*rows)
    ]


def minimal(robot: Robot) -> tuple[Tree, np.ndarray]:
    """The tree that quantities of the joint space are traced on, and the offset of its
    coordinates."""
    tree, offset = reframed(robot.subject.tree)
    return regrouped(tree), offset
