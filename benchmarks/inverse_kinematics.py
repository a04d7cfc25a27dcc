"""How fast is inverse kinematics of seven-axis arms, a batch and one target,
beside TRAC-IK and roboticstoolbox?

The same random reachable poses, limits and tolerances (1e-6 m, 1e-6 rad) for all, from the middle
of the ranges; whether an answer counts is decided by Pinocchio.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw
from benchmarks.ik_peers import NAMES, TOLERANCE, Arm, arm, ik_lm, trac_ik
from benchmarks.measure import Row, seconds, side_by_side

BATCH, FEW = 10_000, 250
"""Targets for us, and of these for the peers, which are called one by one."""


def rows() -> list[Row]:
    lw.threads(1)
    found: list[Row] = []
    for name in NAMES:
        found += _batch(arm(name))
        found.append(_one(arm(name)))
    return found


def _batch(a: Arm) -> list[Row]:
    T = a.poses(BATCH)
    solve = lambda: a.robot.inverse_kinematics(T, a.tip, tolerance=TOLERANCE)
    missed = int((~a.reached(solve().q, T)).sum())
    ours = min(seconds(solve) for _ in range(7)) / BATCH
    rows = [
        Row(
            "inverse kinematics, not reached",
            f"{a.name}, of {BATCH}",
            missed,
            None,
            "",
            10,
            "targets",
            True,
        )
    ]
    for label, call, target in (("TRAC-IK", trac_ik(a), 40), ("ik_LM", ik_lm(a), 15)):
        answers = [call(pose) for pose in T[:FEW]]
        solved = [k for k, q in enumerate(answers) if q is not None]
        good = a.reached(np.array([answers[k] for k in solved]), T[solved]).sum() / FEW
        peer = min(seconds(lambda: [call(pose) for pose in T[:FEW]]) for _ in range(3)) / FEW  # noqa: B023
        case = f"{a.name}, batch {BATCH}, 1 thread"
        rows.append(
            Row(
                "inverse kinematics, a target",
                case,
                ours,
                peer,
                f"{label} ({good:.1%} reached)",
                target,
            )
        )
    return rows


def _one(a: Arm) -> Row:
    """The public call for one target at a time, over many targets,
    so that hard ones weigh as they should."""
    T = a.poses(200, seed=1)
    call = ik_lm(a)
    a.robot.inverse_kinematics(T[0], a.tip)
    ours, peer = side_by_side(
        lambda: [a.robot.inverse_kinematics(pose, a.tip) for pose in T],
        lambda: [call(pose) for pose in T],
    )
    return Row("inverse kinematics, one target", a.name, ours / len(T), peer / len(T), "ik_LM", 4)
