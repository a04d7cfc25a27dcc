"""How fast is the pose of one frame for a batch, beside a loop over framesForwardKinematics?"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import linkwork as lw
from benchmarks.measure import Row, side_by_side
from benchmarks.peers import FILES, Pair, check, pair

TIPS = dict(UR5="wrist_3_link", xArm7="link7", G1="left_rubber_hand", Talos="arm_left_7_link")


def rows() -> list[Row]:
    lw.threads(1)
    return [pose(pair(name)) for name in FILES]


def pose(p: Pair, count: int = 4096) -> Row:
    (q, _, _), columns = p.samples(count)
    tip = TIPS[p.name]
    data, frame = p.model.createData(), p.model.getFrameId(tip)
    configurations = [columns[0][:, k].copy() for k in range(count)]

    def loop() -> np.ndarray:
        found = np.empty((count, 3))
        for k, x in enumerate(configurations):
            pin.framesForwardKinematics(p.model, data, x)
            found[k] = data.oMf[frame].translation
        return found

    check(p.robot.pose(q, tip)[:, :3, 3].copy(), loop())
    ours, peer = side_by_side(lambda: p.robot.pose(q, tip), loop)
    return Row(
        "pose of one frame",
        f"{p.name}, batch {count}",
        ours / count,
        peer / count,
        "framesForwardKinematics loop",
        40,
    )
