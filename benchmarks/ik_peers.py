"""Three seven-axis arms in every solver's own form, and Pinocchio as the judge of all answers."""

from __future__ import annotations

import logging
import math
import tempfile
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

import linkwork as lw
from benchmarks.peers import robots_folder

FILES = {
    "xArm7": ("xarm_description/urdf/xarm7.urdf", "link_base", "link_eef"),
    "Panda": ("panda_description/urdf/panda.urdf", "panda_link0", "panda_hand_tcp"),
}
NAMES = (*FILES, "iiwa")
TOLERANCE = 1e-6
"""[m] and [rad], for everybody."""
BUDGET = 0.005
"""Seconds that TRAC-IK may spend on a target: its own default."""


@dataclass(frozen=True)
class Arm:
    """An arm with its URDF, from base to tip, and random reachable poses within its limits."""

    name: str
    urdf: str
    base: str
    tip: str
    robot: lw.Robot

    @cached_property
    def lower(self) -> np.ndarray:
        return self.robot.limits.lower[:7]

    @cached_property
    def upper(self) -> np.ndarray:
        return self.robot.limits.upper[:7]

    @property
    def middle(self) -> np.ndarray:
        return (self.lower + self.upper) / 2

    @cached_property
    def model(self) -> pin.Model:
        return pin.buildModelFromXML(self.urdf)

    def poses(self, count: int, seed: int = 0) -> np.ndarray:
        """(count, 4, 4), by Pinocchio, from configurations uniform within the limits."""
        q = np.random.default_rng(seed).uniform(self.lower, self.upper, (count, 7))
        return self.forward(q)

    def forward(self, q: np.ndarray) -> np.ndarray:
        """Poses of the tip (n, 4, 4) by Pinocchio; joints beyond the seventh (fingers) at zero."""
        data, frame = self.model.createData(), self.model.getFrameId(self.tip)
        order = [self.model.joints[self.model.getJointId(j)].idx_q for j in self.robot.joints[:7]]
        found = np.empty((len(q), 4, 4))
        for k, row in enumerate(q):
            full = pin.neutral(self.model)
            full[order] = row[:7]
            pin.framesForwardKinematics(self.model, data, full)
            found[k] = data.oMf[frame].homogeneous
        return found

    def reached(self, q: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Within the tolerances and the limits, says Pinocchio."""
        T = self.forward(q)
        far = np.linalg.norm(T[:, :3, 3] - poses[:, :3, 3], axis=1)
        angle = 2 * np.arcsin(
            np.minimum(
                1, np.linalg.norm(T[:, :3, :3] - poses[:, :3, :3], axis=(1, 2)) / math.sqrt(8)
            )
        )
        inside = ((q[:, :7] >= self.lower) & (q[:, :7] <= self.upper)).all(axis=1)
        return (far <= TOLERANCE) & (angle <= TOLERANCE) & inside


@cache
def arm(name: str) -> Arm:
    logging.getLogger("linkwork").setLevel(logging.ERROR)
    if name != "iiwa":
        file, base, tip = FILES[name]
        path = robots_folder() / file
        return Arm(name, path.read_text(), base, tip, lw.load(path))
    half, d = math.pi / 2, (0.34, 0.0, 0.4, 0.0, 0.4, 0.0, 0.126)
    ranges = np.radians([170, 120, 170, 120, 170, 120, 175])
    turns = (-half, half, half, -half, -half, half, 0.0)
    rows = [{"d": d[k], "alpha": turns[k], "limits": (-ranges[k], ranges[k])} for k in range(7)]
    robot = lw.Robot.from_dh(rows, name="iiwa")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "iiwa.urdf"
        lw.save(robot, path)
        return Arm(name, path.read_text(), robot.bodies[0], robot.bodies[-1], robot)


def trac_ik(a: Arm) -> Any:
    """f(pose) -> q (7,) or None, TRAC-IK in its fastest mode, from the middle of the ranges."""
    import pytracik

    solver = pytracik.TRAC_IK(a.base, a.tip, a.urdf, BUDGET, TOLERANCE, pytracik.Speed)
    pytracik.set_joint_limits(solver, a.lower.tolist(), a.upper.tolist())
    seed = a.middle

    def solve(T: np.ndarray) -> np.ndarray | None:
        found = pytracik.ik(solver, seed, *T[:3, 3], *Rotation.from_matrix(T[:3, :3]).as_quat())
        return found[1:] if found[0] >= 0 else None

    return solve


def ik_lm(a: Arm) -> Any:
    """f(pose, q0) -> q (7,): roboticstoolbox's ik_LM in C++, as the chain that our own tree has."""
    from roboticstoolbox import ET, ETS

    tree = a.robot.subject.tree
    node, placement = a.robot.subject.place_of(a.tip)
    parts: list[Any] = []
    before = np.eye(4)
    for k, i in enumerate(tree.paths[node]):
        joint = tree.nodes[i]
        turn = _onto_z(np.array(joint.axis, dtype=float))
        parts.append(ET.SE3(before @ _matrix(joint.placement) @ turn))
        parts.append(ET.Rz(qlim=[a.lower[k], a.upper[k]]))
        before = np.linalg.inv(turn)
    parts.append(ET.SE3(before @ _matrix(placement)))
    chain = ETS(parts)
    assert np.abs(chain.fkine(a.middle).A - a.forward(a.middle[None])[0]).max() < 1e-9

    def solve(
        T: np.ndarray, q0: np.ndarray = a.middle, tolerance: float = TOLERANCE, mask: Any = None
    ) -> np.ndarray:
        # its residual is half the sum of squares
        return chain.ik_LM(T, q0=q0, tol=tolerance**2 / 2, mask=mask, joint_limits=True).q

    return solve


def _matrix(placement: Any) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = placement.rotation, placement.position
    return T


def _onto_z(axis: np.ndarray) -> np.ndarray:
    """A rotation (4, 4) whose z axis is the joint's."""
    T = np.eye(4)
    T[:3, :3] = Rotation.align_vectors(axis[None], np.array([[0.0, 0.0, 1.0]]))[0].as_matrix()
    return T
