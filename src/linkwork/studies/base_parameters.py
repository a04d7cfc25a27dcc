"""Base parameters: the combinations of inertial parameters that the joint torques of a robot can
show.

A column of the regressor Y that is a combination of columns before it, Y2 = Y1 K for every motion,
adds nothing: its parameter is seen together with theirs,

    tau = Y phi = Y1 (phi1 + K phi2) = Y1 beta,        beta = B phi,   B = (1 K)

Columns are taken from the base to the tip, so that what a distal body shares with its carrier is
counted there, as the classical rules regroup it. Source: [Gautier1991].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork import quantities
from linkwork.configurations import random
from linkwork.errors import NotPossible
from linkwork.formats.tabular import Tabular
from linkwork.subject import RobotLike, Subject, subject_of

LABELS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""The ten parameters of a body: mass, first moment, inertia about the body's origin,
as `robot.parameters` has them."""
DEPENDENT = 1e-8
"""Part of a column that is left beside its predecessors when it counts as a combination of them.
Rounding leaves 1e-14, the smallest true part seen on published robots is 1e-4."""
SILENT = 1e-11
"""A column this small beside the largest is zero with rounding: nothing moves that parameter."""
NEGLIGIBLE = 1e-9
"""Coefficients of a combination below this are zeros with rounding."""


@dataclass(frozen=True)
class BaseParameters(Tabular):
    """What torques can show: beta = matrix @ robot.parameters().

    names     (p,) each combination in words: "forearm.Ixx - forearm.Iyy + 0.154 wrist.m"
    matrix    (p, 10 nb) B
    columns   (p,) the parameters that lead the combinations: tau = Y[:, columns] @ beta
    values    (p,) beta of the robot's own description [kg, kg m, kg m^2]
    """

    names: tuple[str, ...]
    matrix: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<BaseParameters: {len(self)} combinations of {self.matrix.shape[1]} parameters>"

    def _table(self) -> dict[str, object]:
        return {"combination": list(self.names), "value": self.values}


def base_parameters(robot: RobotLike, seed: int = 0) -> BaseParameters:
    """The base parameters of a robot of open chains, found on random motions within its limits.

    Bodies that are described without mass, such as frames of a table, have none to find; where no
    body has any, all do.
    """
    subject = subject_of(robot, "base_parameters")
    without_loops(subject, "base_parameters")
    Y = _random_regressor(subject, seed)
    scale = np.linalg.norm(Y, axis=0)
    seen = np.flatnonzero((scale > SILENT * scale.max()) & np.repeat(_with_matter(subject), 10))
    leading = seen[_independent(Y[:, seen] / scale[seen])]
    rest = np.setdiff1d(seen, leading)
    B = np.zeros((len(leading), Y.shape[1]))
    B[np.arange(len(leading)), leading] = 1.0
    if len(leading):
        lengths = scale[leading]
        K = np.linalg.lstsq(Y[:, leading] / lengths, Y[:, rest], rcond=None)[0] / lengths[:, None]
        B[:, rest] = np.where(np.abs(K) > NEGLIGIBLE, K, 0.0)
    bodies = [body.name for body in subject.model.bodies]
    labels = [f"{body}.{label}" for body in bodies for label in LABELS]
    values = B @ described_parameters(subject)
    return BaseParameters(
        tuple(_in_words(row, k, labels) for row, k in zip(B, leading)), B, leading, values
    )


def described_parameters(subject: Subject) -> np.ndarray:
    """`robot.parameters()`: ten inertial parameters of each body (10 nb,)."""
    return np.array(
        [x for body in subject.model.bodies for x in body.mass_properties.parameters()], dtype=float
    )


def _with_matter(subject: Subject) -> np.ndarray:
    """(nb,) which bodies have parameters to find."""
    masses = np.array([float(body.mass_properties.mass) for body in subject.model.bodies])
    return masses > 0.0 if masses.any() else np.ones(len(masses), dtype=bool)


def without_loops(subject: Subject, who: str) -> None:
    """Refuse machines whose torques are shared among loops:
    the regressor is that of the tree alone."""
    if subject.model.elements:
        raise NotPossible(
            f'{who}: robot "{subject.model.name}" has closed loops or springs; only open chains '
            "are seen"
        )
    if not subject.nv:
        raise NotPossible(f'{who}: robot "{subject.model.name}" has no joint that moves')


def _random_regressor(subject: Subject, seed: int) -> np.ndarray:
    """Rows (n nv, 10 nb) of states that excite everything that can be excited."""
    count = max(200, 30 * len(subject.model.bodies) // subject.nv * 4)
    rng = np.random.default_rng(seed)
    q = random(subject, count, int(rng.integers(1 << 30)))
    v, a = 2.0 * rng.normal(size=(2, count, subject.nv))
    Y = quantities.evaluate(subject, "regressor", {"q": q, "v": v, "a": a})
    return np.asarray(Y).reshape(count * subject.nv, -1)


def _independent(Y: np.ndarray) -> np.ndarray:
    """Indices of the columns that are no combination of those before them: Gram-Schmidt,
    each column twice."""
    basis = np.zeros((0, Y.shape[0]))
    columns = []
    for k in range(Y.shape[1]):
        left = Y[:, k]
        for _ in range(2):
            left = left - basis.T @ (basis @ left)
        size = np.linalg.norm(left)
        if size > DEPENDENT:
            columns.append(k)
            basis = np.vstack([basis, left / size])
    return np.array(columns, dtype=int)


def _in_words(row: np.ndarray, leading: int, labels: list[str]) -> str:
    text = labels[leading]
    for k in np.flatnonzero(row):
        if k != leading:
            size = abs(row[k])
            factor = "" if abs(size - 1.0) < NEGLIGIBLE else f"{size:.4g} "
            text += f" {'+' if row[k] > 0.0 else '-'} {factor}{labels[k]}"
    return text
