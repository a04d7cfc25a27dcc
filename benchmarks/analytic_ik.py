"""How fast are all postures of a batch of poses,
beside EAIK (UR5e) and crx-kinematics (CRX-10iA/L)?

    python -m benchmarks analytic_ik

Both libraries use every core they can: EAIK is given as many workers as linkwork has threads,
crx-kinematics has no batch. Before anything is timed, sets are compared: every branch that EAIK
finds on 100 000 poses must be ours, and postures must be as many as crx-kinematics finds on 10 000
poses, half of them of the degenerate families of the class.
"""

from __future__ import annotations

import crx_kinematics
import numpy as np
from eaik.IK_DH import DhRobot

import linkwork as lw
from benchmarks.measure import Row, side_by_side

PI = np.pi
UR5E = dict(
    dh_alpha=np.array([PI / 2, 0, 0, PI / 2, -PI / 2, 0]),
    dh_a=np.array([0, -0.425, -0.3922, 0, 0, 0]),
    dh_d=np.array([0.1625, 0, 0, 0.1333, 0.0997, 0.0996]),
)
DEGENERATE = (
    (3, (0.0, PI)),
    (3, (1e-3, 1e-6, 1e-9)),
    (0, (0.0,)),
    (4, (0.0, PI)),
    (4, (PI / 2, -PI / 2)),
    (1, (PI / 2,)),
    (2, (-PI / 2, -PI / 2 + 1e-6, -PI / 2 - 1e-6)),
)


def rows() -> list[Row]:
    return [ur5e(), crx(), general()]


def ur5e(checked: int = 100_000, timed: int = 20_000) -> Row:
    robot, peer = lw.load("ur5e"), DhRobot(**UR5E)
    q = np.random.default_rng(0).uniform(-PI, PI, (checked, 6))
    T = robot.pose(q, "tool0")
    found = robot.inverse_kinematics_all(T, "tool0")
    assert (_apart(found.q, q[:, None]).min(axis=1) < 1e-6).all(), "a generating posture is missing"
    for k, answer in enumerate(peer.IK_batched(T, lw.threads())):
        theirs = np.array(
            [row for row, least in zip(answer.Q, answer.is_LS, strict=True) if not least]
        )
        ours = found.q[k][found.valid[k]]
        assert len(theirs) == len(ours), (
            f"pose {k}: EAIK has {len(theirs)} branches, linkwork {len(ours)}"
        )
    few = np.ascontiguousarray(T[:timed])
    seconds = side_by_side(
        lambda: robot.inverse_kinematics_all(few, "tool0"),
        lambda: peer.IK_batched(few, lw.threads()),
    )
    ours_, theirs_ = (s / timed for s in seconds)
    return Row(
        "all postures of a pose",
        f"UR5e, batch {timed}, 0 missing of {checked}",
        ours_,
        theirs_,
        "EAIK batched",
        8,
    )


def crx(count: int = 10_000) -> Row:
    robot, peer = lw.load("crx-10ial"), crx_kinematics.Crx.crx10ial()
    rng = np.random.default_rng(1)
    q = rng.uniform(-PI, PI, (count, 6))
    part = count // 2 // len(DEGENERATE)
    for k, (joint, values) in enumerate(DEGENERATE):
        q[k * part : (k + 1) * part, joint] = rng.choice(values, part)
    T = robot.pose(q, "flange")
    # its base is at the shoulder and its unit the millimetre; its tool turns theta6 alone
    theirs = T.copy()
    theirs[:, 2, 3] -= 0.245
    theirs[:, :3, 3] *= 1e3
    found = robot.inverse_kinematics_all(T, "flange")
    counts = np.array([len(peer.ik(target)) for target in theirs])
    differ = int(np.count_nonzero(found.count != counts))
    assert differ == 0, f"{differ} of {count} poses have another number of postures"
    assert (_apart(found.q, q[:, None]).min(axis=1) < 1e-6).all(), "a generating posture is missing"
    ours_, theirs_ = side_by_side(
        lambda: robot.inverse_kinematics_all(T, "flange"),
        lambda: [peer.ik(target) for target in theirs],
    )
    case = f"CRX-10iA/L, batch {count}, counts equal"
    return Row("all postures of a pose", case, ours_ / count, theirs_ / count, "crx-kinematics", 8)


def general(count: int = 500) -> Row:
    """No peer solves any six-axis arm in a batch: the number alone."""
    table = (
        [0.3, 1, 0, 1.5, 0, 0],
        [PI / 2, 0.0175, PI / 2, 0.0175, PI / 2, 0.0175],
        [0, 0, 0.2, 0, 0, 0],
    )
    joints = [dict(a=a, alpha=x, d=d, joint="revolute") for a, x, d in zip(*table, strict=True)]
    robot = lw.Robot.from_dh(joints, "standard")
    frame = robot.bodies[-1]
    q = np.random.default_rng(2).uniform(-PI, PI, (count, 6))
    T = robot.pose(q, frame)
    found = robot.inverse_kinematics_all(T, frame)
    assert (_apart(found.q, q[:, None]).min(axis=1) < 1e-5).all(), "a generating posture is missing"
    seconds, _ = side_by_side(
        lambda: robot.inverse_kinematics_all(T, frame), lambda: None, rounds=3
    )
    return Row("all postures of a pose", f"general 6R, up to 16, batch {count}", seconds / count)


def _apart(found: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Largest difference of angles; infinite where there is no solution."""
    apart = np.abs((found - q + PI) % (2 * PI) - PI).max(axis=-1)
    return np.where(np.isnan(apart), np.inf, apart)
