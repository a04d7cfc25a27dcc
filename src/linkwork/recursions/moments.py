"""Moments of mass in root axes, on which recursions that couple pairs of joints are built."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
from casadi import SX

from linkwork.model.tree import Tree
from linkwork.recursions.applied import Applied
from linkwork.recursions.joints import inertia, second_moments, subspace, transforms
from linkwork.spatial import ZERO3, Force, Motion, Transform, cross, skew, vector
from linkwork.spatial.operators import entries


@dataclass(frozen=True, slots=True)
class Moments:
    """m: mass; h: integral of r dm; P: integral of r r' dm, about the origin.
    I = tr(P) 1 - P is the inertia."""

    m: SX
    h: SX
    P: SX

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.m + other.m, self.h + other.h, self.P + other.P)

    def moved(self, T: Transform) -> Moments:
        """`T @ moments`: the same matter in the parent's axes about the parent's origin.

        With the columns c = (x, y, z, o) of T and J = [P h; h' m], P_p is the sum of J_ij c_i c_j':
        here a sum of c_i a_i' + a_i c_i', in which the zeros of J fold.
        """
        J = casadi.vertcat(casadi.horzcat(self.P, self.h), casadi.horzcat(self.h.T, self.m))
        c, P = casadi.horzcat(T.R, T.p), SX(3, 3)
        for i in range(4):
            a = casadi.sparsify(c @ casadi.vertcat(SX(i, 1), J[i, i] / 2, J[i + 1 :, i]))
            P = P + c[:, i] @ a.T + a @ c[:, i].T
        return Moments(self.m, T.R @ self.h + self.m * T.p, casadi.triu2symm(casadi.triu(P)))

    @property
    def I(self) -> SX:  # noqa: E743  (the paper's letter)
        """Inertia about the origin."""
        return _trace_less(self.P)

    def momentum(self, V: Motion) -> Force:
        """Integral of the velocities V of the matter, and of their moments (I V)."""
        v, w = V.linear, V.angular
        return Force(self.m * v + cross(w, self.h), cross(self.h, v) + self.I @ w)


@dataclass(frozen=True, slots=True)
class Gyration:
    """What turns matter that moves with V into Coriolis force:
    B(w) = integral of (w x u, r x (w x u)) dm, u = V(r).

    p: momentum, integral of u dm;  K = tr(Q) 1 - Q' with Q the integral of r u' dm. B(w) =
                                    (w x p, K w).
    Source: [Echeandia2021] (B(I, v), there 6 x 6): only the angular half of its argument counts.
    """

    p: SX
    K: SX

    @staticmethod
    def of(body: Moments, V: Motion) -> Gyration:
        v, w = V.linear, V.angular
        return Gyration(body.m * v + cross(w, body.h), _trace_less(skew(w) @ body.P + v @ body.h.T))

    @staticmethod
    def of_force(applied: Applied) -> Gyration:
        """By how much what is applied lags behind when its point turns by w:
        B(w) = (w x f, r x (w x f) + w x n)."""
        f = applied.force
        return Gyration(f, _trace_less(f @ applied.point.T) - skew(applied.moment))

    def __add__(self, other: Gyration) -> Gyration:
        return Gyration(self.p + other.p, self.K + other.K)

    def force(self, w: SX) -> Force:
        """B(w)."""
        return Force(cross(w, self.p), self.K @ w)

    def transposed(self, S: Motion) -> SX:
        """The vector b with b.w = S.B(w) for every w."""
        return cross(self.p, S.linear) + self.K.T @ S.angular


def _trace_less(A: SX) -> SX:
    """tr(A) 1 - A, written with the fewest operations."""
    off = -A
    x, y, z = entries(A)[::4]
    for k, diagonal in enumerate((y + z, x + z, x + y)):
        off[k, k] = diagonal
    return off


def root_transforms(tree: Tree, q: SX) -> tuple[list[Transform], list[SX]]:
    """(T, g): placement of every node in the axes of the root of its branch,
    and gravity in those axes.

    A root is a node carried by the world. What is computed with these are numbers between joints
    (masses, symbols, forces), which do not depend on the axes; in those of the root its own joint
    is constant and its coordinates fold away.
    """
    X = transforms(tree, q)
    T, g = [Transform(SX.eye(3), ZERO3)], [vector(tree.gravity)]
    for i in tree.outward:
        p = tree.parent(i)
        T.append(T[p] @ X[i] if p else T[0])
        g.append(g[p] if p else X[i].R.T @ g[0])
    return T, g


def axes(tree: Tree, T: list[Transform]) -> list[list[Motion]]:
    """S_i in root axes at the root's origin: one motion a coordinate of node i."""
    return [[T[i] @ S for S in subspace(node)] for i, node in enumerate(tree.nodes)]


def moments(tree: Tree, T: list[Transform]) -> list[Moments]:
    """Moments of every node in root axes, payloads included."""
    moments = []
    for i, node in enumerate(tree.nodes):
        B = inertia(node)
        moments.append(T[i] @ Moments(B.m, B.h, second_moments(node)))
    return moments
