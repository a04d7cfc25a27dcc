"""Articulated bodies: forward dynamics in one inward and one outward pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi
from casadi import SX

from linkwork.model.tree import Node, Tree
from linkwork.recursions.carriers import carriers, steps
from linkwork.recursions.factorisation import Factors, factorised
from linkwork.recursions.joints import inertia, subspace
from linkwork.recursions.newton_euler import body_forces
from linkwork.spatial import Force, Inertia, Motion, Transform, matrix, skew
from linkwork.spatial.operators import entries

ZERO = SX(0)


def articulated_body(
    tree: Tree, q: SX, v: SX, tau: SX, forces: dict[int, Force] | None = None
) -> SX:
    """Accelerations a (nv) that the joint forces tau give. `forces`: on node i,
    in axes of i at its origin.

    F_i are the forces that the accelerations at a = 0 need (newton_euler.py), so that only A, what
    the accelerations a add to those, is left to find: no velocity appears below.

        U_i = I^A_i S_i,   D_i = S_i'U_i + armature,   K_i = U_i D_i^-1,   u_i = tau_i - S_i'F_i              inward
        I^A_p += X (I^A_i - K_i U_i') X',    F_p += X (F_i + K_i u_i)
        A = X^-1 A_p,   a_i = D_i^-1 u_i - K_i'A,   A_i = A + S_i a_i                                          outward

    Source: [Featherstone2008] table 7.1, its bias accelerations c_i and forces p_i replaced by F_i
    as above: the products I^a c fall away.
    """
    X = carriers(tree, q)
    F = body_forces(tree, X, v, SX(tree.nv, 1), forces)
    IA = [ArticulatedInertia.of(inertia(node)) for node in tree.nodes]
    joints: dict[int, Elimination] = {}
    for i in tree.inward:
        node, p = tree.nodes[i], tree.parent(i)
        joints[i] = Elimination.of(node, IA[i], F[i], tau)
        if p:
            before, joint_step = steps(node, q)
            IA[p] = IA[p] + joints[i].inertia().moved(joint_step).moved(before)
            F[p] = F[p] + X[i] @ joints[i].force()
    a, A = SX(tree.nv, 1), [Motion()]
    for i in tree.outward:
        node, p = tree.nodes[i], tree.parent(i)
        carried = X[i].inv @ A[p]
        rates = joints[i].acceleration(carried)
        for k, S in enumerate(subspace(node)):
            a[node.v + k] = rates[k]
            carried = carried + S * rates[k]
        A.append(carried)
    return casadi.densify(a)


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """f = M v + H w, n = H'v + I w: what a body with others on it takes to move by (v, w)."""

    M: SX
    H: SX
    I: SX

    @staticmethod
    def of(body: Inertia) -> ArticulatedInertia:
        return ArticulatedInertia(body.m * SX.eye(3), -skew(body.h), body.I)

    def matrix(self) -> SX:
        return casadi.densify(casadi.blockcat([[self.M, self.H], [self.H.T, self.I]]))

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.M + other.M, self.H + other.H, self.I + other.I)

    def moved(self, T: Transform) -> ArticulatedInertia:
        """The same for accelerations of the parent's frame: X A X'.

        Turned, then H_p = H - M [p],  I_p = I - H'[p] + [p] H_p.
        """
        M, H, I = T.R.around(self.M), T.R.around(self.H, symmetric=False), T.R.around(self.I)
        if T.p.is_zero():
            return ArticulatedInertia(M, H, I)
        p = skew(T.p)
        H_p = H - M @ p
        left, right = H.T @ p, p @ H_p
        for k in range(3):
            for l in range(k + 1):
                I[k, l] = I[l, k] = I[k, l] - left[k, l] + right[k, l]
        return ArticulatedInertia(M, H_p, I)


@dataclass(frozen=True)
class Elimination:
    """A joint solved for its own accelerations, which leaves what its parent feels of the child.

    S (6, k) subspace, A the articulated inertia, U = A S, D factors of S'A S + armature, u = tau -
    S'F
    """

    S: SX
    A: SX
    U: SX
    D: Factors
    F: SX
    u: SX
    tau: SX
    armature: tuple[SX, ...]

    @staticmethod
    def of(node: Node, body: ArticulatedInertia, force: Force, tau: SX) -> Elimination:
        A = body.matrix()
        F = casadi.vertcat(force.linear, force.angular)
        effort = tau[node.v : node.v + node.nv, 0]
        S = SX(6, node.nv)
        for k, motion in enumerate(subspace(node)):
            S[:, k] = casadi.vertcat(motion.linear, motion.angular)
        U, armature = A @ S, tuple(SX(x) for x in node.armature)
        D = casadi.densify(S.T @ U)
        for k in range(node.nv):
            D[k, k] += armature[k]
        return Elimination(S, A, U, factorised(D), F, effort - S.T @ F, effort, armature)

    @cached_property
    def K(self) -> SX:
        """U D^-1 (6, k)."""
        rows = [self.D.solve(self.U[r, :].T).T for r in range(6)]
        return casadi.vertcat(*rows)

    @cached_property
    def a(self) -> SX:
        """D^-1 u: the accelerations on a resting parent."""
        return self.D.solve(self.u)

    @cached_property
    def axes(self) -> dict[int, tuple[int, int]]:
        """row -> (coordinate, sign) where a column of S is a coordinate axis.
        There A - K U' is K armature."""
        axes = {}
        for k in range(self.S.size2()):
            column = casadi.sparsify(self.S[:, k])
            if column.nnz() == 1 and column.is_constant() and abs(float(column.nz[0])) == 1.0:
                axes[column.row(0)] = (k, int(float(column.nz[0])))
        return axes

    def inertia(self) -> ArticulatedInertia:
        """A - K U': what is felt of the child while the joint moves freely."""
        axes, free = self.axes, [r for r in range(6) if r not in self.axes]
        A, K, U = (entries(x) for x in (self.A, self.K, self.U))  # by columns of 6
        out = [[ZERO] * 6 for _ in range(6)]
        for r, (k, sign) in sorted(axes.items()):
            if not self.armature[k].is_zero():
                for other in range(6):
                    out[r][other] = out[other][r] = sign * K[6 * k + other] * self.armature[k]
        for r in free:
            for c in (c for c in free if c <= r):
                product = ZERO
                for k in range(0, len(K), 6):
                    product = product + K[k + r] * U[k + c]
                out[r][c] = out[c][r] = A[6 * c + r] - product
        upper, lower = out[:3], out[3:]
        M, H = matrix([row[:3] for row in upper]), matrix([row[3:] for row in upper])
        return ArticulatedInertia(M, H, matrix([row[3:] for row in lower]))

    def force(self) -> Force:
        """F + K u, of which the joint itself transmits S'(F + K u) = tau - armature a."""
        out = self.F + self.K @ self.u
        for row, (k, sign) in self.axes.items():
            out[row] = sign * (self.tau[k] - self.armature[k] * self.a[k])
        return Force(out[:3], out[3:])

    def acceleration(self, A: Motion) -> SX:
        """a = D^-1 u - K'A for an acceleration A of the parent, in axes of the child."""
        carried = casadi.vertcat(A.linear, A.angular)
        return self.a if carried.is_zero() else self.a - self.K.T @ carried
