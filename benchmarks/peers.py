"""The robots of the benchmarks in both libraries, and the oracle check that every row passes
first."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pinocchio as pin

import linkwork as lw

FILES = {
    "UR5": "ur_description/urdf/ur5_robot.urdf",
    "xArm7": "xarm_description/urdf/xarm7.urdf",
    "G1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "Talos": "talos_data/robots/talos_full_v2.urdf",
}


@dataclass(frozen=True)
class Pair:
    """One robot twice. `order[k]`: Pinocchio's index of our coordinate k (all joints here have one
    coordinate)."""

    name: str
    robot: lw.Robot
    model: pin.Model
    order: np.ndarray

    def samples(self, count: int, seed: int = 0) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """([q, v, a] as rows for us, the same as Fortran columns for Pinocchio),
        in separate memory."""
        rng = np.random.default_rng(seed)
        rows = [
            self.robot.random(count, seed=seed),
            *(rng.normal(size=(count, self.robot.nv)) for _ in range(2)),
        ]
        columns = []
        for array in rows:
            other = np.zeros((self.model.nv, count), order="F")
            other[self.order] = array.T
            columns.append(other)
        return rows, columns


@cache
def pair(name: str) -> Pair:
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    path = robots_folder() / FILES[name]
    robot = lw.load(path, mimic="independent")
    model = pin.buildModelFromUrdf(str(path))
    order = np.array([model.joints[model.getJointId(j)].idx_v for j in robot.joints])
    return Pair(name, robot, model, order)


def pairs() -> list[Pair]:
    """Every robot, for rows of one thread."""
    lw.threads(1)
    return [pair(name) for name in FILES]


@cache
def robots_folder() -> Path:
    files = distribution("example-robot-data").files or []
    marker = next(f for f in files if str(f).endswith(FILES["UR5"]))
    return Path(str(marker.locate())).resolve().parents[2]


def check(ours: np.ndarray, reference: np.ndarray, tolerance: float = 1e-10) -> None:
    """Every row proves its result before it is timed: per entry,
    scaled by that entry's largest value."""
    assert not np.shares_memory(ours, reference)
    scale = np.maximum(np.abs(reference).max(axis=0), 1e-300)
    error = (np.abs(ours - reference) / scale).max()
    assert error < tolerance, f"result differs from the oracle by {error:.2e}"
