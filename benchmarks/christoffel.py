"""How fast is the Christoffel tensor beside the matrices that Pinocchio gives for unit
velocities?"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import FILES, Pair, pair

COUNT = 128
BATCH_TARGETS = dict(xArm7=100, G1=15)
SINGLE_TARGETS = dict(xArm7=0.5)


def rows() -> list[Row]:
    lw.threads(1)
    found: list[Row] = []
    for name in FILES:
        p = pair(name)
        found += batch(p)
        found.append(single(p))
        counts = p.robot.kernels
        found.append(
            Row(
                "operations of the tensor",
                name,
                counts["christoffel"].operations,
                counts.published["christoffel"].operations,
                "the paper's loop, a chain",
                unit="",
            )
        )
    return found


def batch(p: Pair) -> list[Row]:
    (q, _, _), columns = p.samples(COUNT)
    data, n, unit = p.model.createData(), p.robot.nv, np.eye(p.model.nv)
    poses = [columns[0][:, k].copy() for k in range(COUNT)]

    def peer() -> None:
        for x in poses:
            for e in unit:
                pin.computeCoriolisMatrix(p.model, data, x, e)

    at = np.ix_(p.order, p.order, p.order)
    theirs = np.stack(
        [pin.computeCoriolisMatrix(p.model, data, poses[0], e).copy() for e in unit], axis=-1
    )[at]
    assert np.abs(p.robot.christoffel(q[0]) - theirs).max() < 1e-12 * np.abs(theirs).max()
    out = np.empty((COUNT, n, n, n))
    reused, peer_time = side_by_side(lambda: p.robot.christoffel(q, out=out), peer)
    fresh, _ = side_by_side(lambda: p.robot.christoffel(q), peer)
    label, name = "Christoffel tensor, 1 thread", f"{n} x computeCoriolisMatrix"
    return [
        Row(
            label,
            f"{p.name}, batch {COUNT}, out=",
            reused / COUNT,
            peer_time / COUNT,
            name,
            BATCH_TARGETS.get(p.name),
        ),
        Row(label, f"{p.name}, batch {COUNT}", fresh / COUNT, peer_time / COUNT, name),
    ]


def single(p: Pair) -> Row:
    (q, _, _), columns = p.samples(1)
    data, pose, v = p.model.createData(), columns[0][:, 0].copy(), np.ones(p.model.nv)
    one = q[0].copy()
    ours, peer = side_by_side(
        lambda: p.robot.christoffel(one), lambda: pin.computeCoriolisMatrix(p.model, data, pose, v)
    )
    return Row(
        "Christoffel tensor, one sample",
        p.name,
        ours,
        peer,
        "one computeCoriolisMatrix",
        SINGLE_TARGETS.get(p.name),
    )
