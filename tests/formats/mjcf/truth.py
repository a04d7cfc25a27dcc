"""MuJoCo as the truth: what it computes for a file, in linkwork's coordinates,
beside what linkwork computes.

MuJoCo keeps quaternions as (w, x, y, z) and the linear velocity of a free joint in world axes; the
rest is alike. Contacts, constraints, actuation and all passive forces are switched off.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from linkwork import quantities
from linkwork.formats.mjcf import read_mjcf
from linkwork.model import Model
from linkwork.subject import Subject

OFF = ("CONSTRAINT", "CONTACT", "SPRING", "DAMPER", "ACTUATION")


@dataclass
class Compared:
    """Both at one state: poses (nb, 3, 4) of MuJoCo's bodies, mass matrix (nv, nv), tau (nv,),
    sites (ns, 3, 4)."""

    poses: tuple[np.ndarray, np.ndarray]
    mass_matrix: tuple[np.ndarray, np.ndarray]
    tau: tuple[np.ndarray, np.ndarray]
    sites: tuple[np.ndarray, np.ndarray]

    def worst(self) -> dict[str, float]:
        """Largest difference of each, relative to the largest number there,
        or to 1 if that is smaller."""
        found = {}
        for label in ("poses", "mass_matrix", "tau", "sites"):
            theirs, ours = getattr(self, label)
            assert theirs.shape == ours.shape, label
            found[label] = (
                float(np.abs(theirs - ours).max() / max(1.0, np.abs(theirs).max()))
                if theirs.size
                else 0.0
            )
        return found


def compiled(path: Path | str) -> mujoco.MjModel:
    model = mujoco.MjModel.from_xml_path(str(path))
    for flag in OFF:
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    return model


def compared(path: Path | str, seeds: int = 2, model: Model | None = None) -> list[Compared]:
    """linkwork and MuJoCo at random states of the robot in a file."""
    theirs = compiled(path)
    ours = read_mjcf(path, mimic="independent") if model is None else model
    return Sides(theirs, ours).at_random_states(seeds)


class Sides:
    """A robot on both sides; joints correspond by order, bodies by name,
    or by order too where some have no name."""

    def __init__(self, theirs: mujoco.MjModel, ours: Model) -> None:
        self.theirs, self.ours, self.subject = theirs, ours, Subject(ours)
        self.data = mujoco.MjData(theirs)
        joints = [ours.joint(name) for name in self.subject.joints]
        assert [joint.nq for joint in joints] == [
            len(theirs.joint(i).qpos0) for i in range(theirs.njnt)
        ]
        for i, joint in enumerate(joints):
            assert theirs.joint(i).name in ("", joint.name)
        names = [theirs.body(k).name for k in range(1, theirs.nbody)]
        order = {body.name: i for i, body in enumerate(ours.bodies)}
        if all(names):
            self.bodies = [order[name] for name in names]
        else:
            between = {body.name for body in ours.bodies if body.note.startswith("between")} | {
                "world"
            }
            self.bodies = [i for name, i in order.items() if name not in between]
            assert len(self.bodies) == len(names)
            assert all(name in ("", ours.bodies[i].name) for name, i in zip(names, self.bodies))
        self.poses = quantities.trace(self.subject, "forward_kinematics")
        self.inverse_dynamics = (
            None if ours.kinematic_only else quantities.trace(self.subject, "inverse_dynamics")
        )

    def at_random_states(self, count: int) -> list[Compared]:
        return [self.at(*self.random_state(seed)) for seed in range(count)]

    def random_state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """qpos, qvel, qacc of MuJoCo."""
        rng = np.random.default_rng(seed)
        qpos = rng.uniform(-1.0, 1.0, size=self.theirs.nq)
        for at in self._quaternions():
            qpos[at : at + 4] /= np.linalg.norm(qpos[at : at + 4])
        return qpos, rng.uniform(-1.0, 1.0, self.theirs.nv), rng.uniform(-1.0, 1.0, self.theirs.nv)

    def _quaternions(self) -> list[int]:
        free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
        kinds = zip(self.theirs.jnt_type, self.theirs.jnt_qposadr)
        return [int(at) + 3 * (kind == free) for kind, at in kinds if kind in (free, ball)]

    def _free(self) -> list[tuple[int, int]]:
        """(first coordinate in q, in v) of the free joints."""
        free = int(mujoco.mjtJoint.mjJNT_FREE)
        rows = zip(self.theirs.jnt_type, self.theirs.jnt_qposadr, self.theirs.jnt_dofadr)
        return [(int(q), int(v)) for kind, q, v in rows if kind == free]

    def our_q(self, qpos: np.ndarray) -> np.ndarray:
        q = qpos.copy()
        for at in self._quaternions():
            q[at : at + 4] = np.roll(qpos[at : at + 4], -1)
        return q

    def our_velocities(
        self, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """v and a: of free joints the linear part turned to body axes, which themselves turn."""
        v, a = qvel.copy(), qacc.copy()
        for q_at, v_at in self._free():
            R, here = _rotation(qpos[q_at + 3 : q_at + 7]), slice(v_at, v_at + 3)
            v[here] = R.T @ qvel[here]
            a[here] = R.T @ qacc[here] - np.cross(qvel[v_at + 3 : v_at + 6], v[here])
        return v, a

    def at(self, qpos: np.ndarray, qvel: np.ndarray, qacc: np.ndarray) -> Compared:
        m, d, nv = self.theirs, self.data, self.theirs.nv
        d.qpos[:], d.qvel[:], d.qacc[:] = qpos, qvel, qacc
        mujoco.mj_inverse(m, d)
        tau, M, B = np.array(d.qfrc_inverse), np.zeros((nv, nv)), np.eye(nv)
        mujoco.mj_fullM(m, d, M)
        for q_at, v_at in self._free():
            B[v_at : v_at + 3, v_at : v_at + 3] = _rotation(qpos[q_at + 3 : q_at + 7])
        q, (v, a) = self.our_q(qpos), self.our_velocities(qpos, qvel, qacc)
        rotations, positions = (np.array(x) for x in self.poses(q)[:2])
        both = np.concatenate([rotations.reshape(-1, 3, 3), positions.reshape(-1, 3, 1)], axis=2)[
            self.bodies
        ]
        their_poses = np.concatenate(
            [d.xmat[1:].reshape(-1, 3, 3), d.xpos[1:].reshape(-1, 3, 1)], axis=2
        )
        return Compared(
            (their_poses, both),
            (B.T @ M @ B, self._mass_matrix(q)),
            (B.T @ tau, self._tau(q, v, a)),
            self._sites(q),
        )

    def _tau(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        if self.inverse_dynamics is None:
            return np.zeros(len(v))
        result = self.inverse_dynamics(q, v, a)
        return np.array(result[0] if isinstance(result, tuple) else result).ravel()

    def _mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Columns ID(q, 0, e_i) - ID(q, 0, 0)."""
        nv, zero = self.theirs.nv, np.zeros(self.theirs.nv)
        still = self._tau(q, zero, zero)
        return np.array([self._tau(q, zero, e) - still for e in np.eye(nv)]).T.reshape(nv, nv)

    def _sites(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses of the named sites that are frames of the same name."""
        theirs, ours = [], []
        names = {frame.name for frame in self.ours.frames}
        for i in range(self.theirs.nsite):
            name = self.theirs.site(i).name
            if name in names:
                theirs.append(np.c_[self.data.site_xmat[i].reshape(3, 3), self.data.site_xpos[i]])
                T = quantities.trace(self.subject, "pose", name)(q)
                ours.append(np.array(T[0] if isinstance(T, tuple) else T)[:3])
        return np.array(theirs), np.array(ours)


def _rotation(wxyz: np.ndarray) -> np.ndarray:
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, wxyz)
    return R.reshape(3, 3)
