"""How fast are forward dynamics and the mass matrix of a batch beside Pinocchio?"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import FILES, Pair, check, pair

FORWARD = dict(UR5=50, xArm7=28, G1=19, Talos=16)
MASS = dict(UR5=40, xArm7=25, G1=10, Talos=6)
VECTORS, MATRICES = 16_384, 1024


def rows() -> list[Row]:
    lw.threads(1)
    found: list[Row] = []
    for name in FILES:
        found += forward_dynamics(pair(name))
        found += mass_matrix(pair(name))
    return found


def forward_dynamics(p: Pair) -> list[Row]:
    (q, v, tau), columns = p.samples(VECTORS)
    pool, result = pin.ModelPool(p.model, 1), np.zeros((p.model.nv, VECTORS), order="F")

    def peer() -> None:
        pin.abaInParallel(1, pool, *columns, result)

    peer()
    check(p.robot.forward_dynamics(q, v, tau), result[p.order].T.copy())
    fresh, taken = side_by_side(lambda: p.robot.forward_dynamics(q, v, tau), peer)
    out = np.empty_like(tau)
    reused, again = side_by_side(lambda: p.robot.forward_dynamics(q, v, tau, out=out), peer)
    label, case, name = "forward dynamics, 1 thread", f"{p.name}, batch {VECTORS}", "abaInParallel"
    return [
        Row(label, case, fresh / VECTORS, taken / VECTORS, name, FORWARD[p.name]),
        Row(label, f"{case}, out=", reused / VECTORS, again / VECTORS, name),
    ]


def mass_matrix(p: Pair) -> list[Row]:
    (q, _, _), columns = p.samples(MATRICES)
    samples, data, n = (
        [columns[0][:, k].copy() for k in range(MATRICES)],
        p.model.createData(),
        p.robot.nv,
    )
    at = np.ix_(p.order, p.order)

    def peer() -> None:
        for x in samples:
            pin.crba(p.model, data, x)

    theirs = np.stack([pin.crba(p.model, data, x)[at] for x in samples[:20]])
    assert np.abs(p.robot.mass_matrix(q)[:20] - theirs).max() < 1e-12 * np.abs(theirs).max()
    out = np.empty((MATRICES, n, n))
    reused, taken = side_by_side(lambda: p.robot.mass_matrix(q, out=out), peer)
    fresh, again = side_by_side(lambda: p.robot.mass_matrix(q), peer)
    label, case = "mass matrix, 1 thread", f"{p.name}, batch {MATRICES}"
    return [
        Row(label, f"{case}, out=", reused / MATRICES, taken / MATRICES, "pin.crba", MASS[p.name]),
        Row(label, case, fresh / MATRICES, again / MATRICES, "pin.crba"),
    ]
