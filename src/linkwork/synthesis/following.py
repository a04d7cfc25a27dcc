"""Following: a known four-bar moved by Newton so that it meets positions that have changed a
little."""

from __future__ import annotations

import numpy as np

from linkwork.synthesis.linkage import Linkage
from linkwork.synthesis.task import PlanarTask


def followed(linkage: Linkage, task: PlanarTask) -> Linkage | None:
    """The four-bar nearby whose pivots keep their distances at all positions;
    None where there is none."""
    P = task.positions
    size = float(task.size)
    coupler = linkage.topology.moving.index("coupler")
    turns = np.zeros(task.n) if linkage.rotations is None else linkage.rotations[:, coupler].copy()
    free = ~np.isfinite(task.angles)
    free[0] = False
    turns = np.where(
        np.isfinite(task.angles),
        task.angles - np.where(task.oriented[0], task.angles[0], 0.0),
        turns,
    )
    shift = P[0] - complex(linkage.at("P"))
    z = np.array([complex(linkage.at(n)) for n in "ADBC"]) + shift
    where = np.flatnonzero(free)
    for _ in range(12):
        f, J = _distances_and_slopes(P, z, turns, where, size)
        step = np.linalg.lstsq(J, -f, rcond=1e-12)[0]
        z = z + (step[0:8:2] + 1j * step[1:8:2]) * size
        turns[where] += step[8:]
        if np.abs(step).max() < 1e-13:
            break
    f, _ = _distances_and_slopes(P, z, turns, where, size)
    if not np.abs(f).max() < 1e-9:
        return None
    A, D, B, C = z
    points = np.array([A, D, B, C, P[0]])
    arms = np.exp(1j * turns)
    crank = np.angle((P + (B - P[0]) * arms - A) / (B - A))
    rocker = np.angle((P + (C - P[0]) * arms - D) / (C - D))
    rotations = {"crank": crank, "coupler": turns, "rocker": rocker}
    return Linkage(
        linkage.topology, points, np.stack([rotations[b] for b in linkage.topology.moving], axis=-1)
    )


def _distances_and_slopes(
    P: np.ndarray, z: np.ndarray, turns: np.ndarray, where: np.ndarray, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Half the squared changes of both distances at positions 2 .. n [sizes],
    by pivots and free angles."""
    A, D, B, C = z / size
    P = P / size
    u = np.exp(1j * turns)
    rows, values = [], []
    for pivot, arm, columns in ((A, B - P[0], (0, 4)), (D, C - P[0], (2, 6))):
        first = P[0] + arm - pivot
        for j in range(1, len(P)):
            e = P[j] + arm * u[j] - pivot
            values.append(0.5 * (abs(e) ** 2 - abs(first) ** 2))
            row = np.zeros(8 + len(where))
            by_pivot, by_arm = -(e - first), e * np.conj(u[j]) - first
            row[columns[0]], row[columns[0] + 1] = by_pivot.real, by_pivot.imag
            row[columns[1]], row[columns[1] + 1] = by_arm.real, by_arm.imag
            for at in np.flatnonzero(where == j)[:1]:
                row[8 + at] = (np.conj(e) * 1j * arm * u[j]).real
            rows.append(row)
    return np.array(values), np.array(rows)
