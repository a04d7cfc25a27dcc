"""A plain numpy recursion of a humanoid's kinematics and dynamics with its loops,
one instant at a time.

What a reader of the 2023 paper would write: dictionaries of bodies, small arrays, equations in the
paper's order. It is the peer of closed_loops.py and an oracle independent of every recursion of
linkwork.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw


class PlainRecursion:
    """The built-in CHARMIE: eqs. 6-14 (indirect joints), 15-19 (poses), 28-34 (Newton-Euler),
    36-43 (shared loads)."""

    def __init__(self, robot: lw.Robot) -> None:
        self.model = robot.model
        self.names = robot.actuators
        self.children: dict[str, list] = {}
        for joint in self.model.joints:
            self.children.setdefault(joint.parent or "ground", []).append(joint)
        self.order = []
        stack = list(self.children["ground"])
        while stack:
            joint = stack.pop()
            self.order.append(joint)
            stack += self.children.get(joint.child, [])
        self.matter = {b.name: b.mass_properties for b in self.model.bodies}
        self.points = {b.name: dict(b.points) for b in self.model.bodies}

    def __call__(self, c, cd, cdd) -> dict[str, np.ndarray]:
        """Forces of both actuators, wrench of joint 3, position of every body."""
        q, v, a = self._joints(c, cd, cdd)
        R, p, w, wd, pdd = self._outward(q, v, a)
        f, mu = self._inward(R, w, wd, pdd)
        fifth = self._share_torso(q, f["5"], mu["5"])
        fourth = self._share_lift(q, f["4"], mu["4"])
        return {
            "act5": fifth,
            "act4": fourth,
            "wrench": np.concatenate([f["3"], mu["3"]]),
            "position": p,
        }

    def _joints(self, c, cd, cdd):
        q, v, a = (dict(zip(self.names, values, strict=True)) for values in (c, cd, cdd))
        l, ld, ldd = q.pop("act4"), v.pop("act4"), a.pop("act4")
        foot, head = np.array(self.points["3"]["D"]), np.array(self.points["4"]["E"])
        side = head[1] - foot[1]
        s = np.sqrt(l**2 - side**2)
        q["d4"] = self.points["3"]["B"][2] + head[2] - foot[2] - s
        v["d4"] = -l * ld / s
        a["d4"] = -(ld**2 + l * ldd) / s + (l * ld) ** 2 / s**3
        l, ld, ldd = q.pop("act5"), v.pop("act5"), a.pop("act5")
        pivot, foot, head = (
            np.array(x)
            for x in (self.points["4"]["B"], self.points["4"]["F"], self.points["5"]["G"])
        )
        e, r = np.linalg.norm(pivot - foot), np.linalg.norm(head)
        phi = np.arccos((e**2 + r**2 - l**2) / (2 * e * r))
        gamma = np.arctan2(foot[2] - pivot[2], foot[1] - pivot[1])
        beta = np.arctan2(head[1], head[2])
        q["th5"] = phi + gamma + beta - np.pi / 2
        sine = e * r * np.sin(phi)
        v["th5"] = l * ld / sine
        a["th5"] = (ld**2 + l * ldd) / sine - v["th5"] ** 2 / np.tan(phi)
        for side in "ab":
            for x in (q, v, a):
                x[f"th13{side}2"] = -x[f"th13{side}"]
        return q, v, a

    def _outward(self, q, v, a):
        R, p = {"ground": np.eye(3)}, {"ground": np.zeros(3)}
        w, wd, pdd = (
            {"ground": np.zeros(3)},
            {"ground": np.zeros(3)},
            {"ground": np.array([0.0, 0.0, 9.81])},
        )
        self.local = {}
        for joint in self.order:
            k, i = joint.parent or "ground", joint.child
            R0, r, n = (
                np.array(joint.placement.rotation),
                np.array(joint.placement.position),
                np.array(joint.axis),
            )
            turn, arm = R0, r
            if joint.type == "revolute":
                s, co = np.sin(q[joint.name]), np.cos(q[joint.name])
                N = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
                turn = R0 @ (np.eye(3) + s * N + (1 - co) * N @ N)
            elif joint.type == "prismatic":
                arm = r + R0 @ n * q[joint.name]
            self.local[i] = (turn, arm)
            R[i], p[i] = R[k] @ turn, R[k] @ arm + p[k]
            carried = turn.T @ w[k]
            w[i], wd[i] = carried, turn.T @ wd[k]
            pdd[i] = turn.T @ (pdd[k] + np.cross(wd[k], arm) + np.cross(w[k], np.cross(w[k], arm)))
            if joint.type == "revolute":
                w[i] = carried + v[joint.name] * n
                wd[i] = wd[i] + a[joint.name] * n + np.cross(carried, v[joint.name] * n)
            elif joint.type == "prismatic":
                pdd[i] = pdd[i] + a[joint.name] * n + 2 * np.cross(carried, v[joint.name] * n)
        return R, p, w, wd, pdd

    def _inward(self, R, w, wd, pdd):
        f, mu = {}, {}
        for joint in reversed(self.order):
            i = joint.child
            m, r, I = (
                self.matter[i].mass,
                np.array(self.matter[i].com),
                np.array(self.matter[i].inertia),
            )
            force = m * (pdd[i] + np.cross(wd[i], r) + np.cross(w[i], np.cross(w[i], r)))
            moment = I @ wd[i] + np.cross(w[i], I @ w[i]) + np.cross(r, force)
            for child in self.children.get(i, []):
                turn, arm = self.local[child.child]
                push = turn @ f[child.child]
                force, moment = force + push, moment + turn @ mu[child.child] + np.cross(arm, push)
            f[i], mu[i] = force, moment
        return f, mu

    def _share_torso(self, q, f, mu):
        """Strut 5d: its line in the plane of the torso, equal side forces, moments half each."""
        s, c = np.sin(q["th5"]), np.cos(q["th5"])
        turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        pivot, foot, head = (
            np.array(x)
            for x in (self.points["4"]["B"], self.points["4"]["F"], self.points["5"]["G"])
        )
        line = head - turn.T @ (foot - pivot)
        u = line / np.linalg.norm(line)
        # unknowns: force of the joint (3), of the strut along u and along x,
        # moments y and z of both
        A, b = np.zeros((6, 5)), np.concatenate([f, mu])
        A[:3, :3] = np.eye(3)
        A[:3, 3], A[:3, 4] = u, (1.0, 0.0, 0.0)
        A[3:, 3], A[3:, 4] = np.cross(head, u), np.cross(head, (1.0, 0.0, 0.0))
        rows = A[[0, 1, 2, 3]], b[[0, 1, 2, 3]]
        equal = np.array([[1.0, 0, 0, -u[0], -1.0]])
        x = np.linalg.solve(np.vstack([rows[0], equal]), np.append(rows[1], 0.0))
        rest = b[3:] - A[3:, 3] * x[3] - A[3:, 4] * x[4]
        self.half = rest[1:] / 2
        return x[3]

    def _share_lift(self, q, f, mu):
        """Strut 4d holds all of z; the slide the rest; the sliders half of the z moment each."""
        foot, head = np.array(self.points["3"]["D"]), np.array(self.points["4"]["E"])
        base = np.array(self.points["3"]["B"])
        line = head - (foot - base + np.array([0.0, 0.0, q["d4"]]))
        u = line / np.linalg.norm(line)
        push = f[2] / u[2]
        held = push * u
        moment = mu - np.cross(head, held)
        self.slide = np.concatenate([f - held, moment[:2], [0.0]])
        self.each = moment[2] / 2
        return push
