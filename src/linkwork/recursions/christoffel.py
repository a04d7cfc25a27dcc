"""Christoffel: the symbols of the first kind, from composite moments of mass."""

from __future__ import annotations

import casadi
import numpy as np
from casadi import SX, Sparsity

from linkwork.model.tree import Tree
from linkwork.recursions.moments import Gyration, axes, moments, root_transforms
from linkwork.spatial import Force, Motion


def christoffel(tree: Tree, q: SX) -> SX:
    """c (nv, nv nv): c[k, i nv + j] = c^k_ij with tau_k = sum_ij c^k_ij v_i v_j,
    and C(q, v)_ki = sum_j c^k_ij v_j.

    Tip to base, with the composite moments of everything that node D carries and the motion S_d of
    its coordinate d:

        c^k_id = S_k . B(S_d) S_i        for all coordinates i, k on the path to D
        c^k_di = c^k_id                  second or third: where the deepest index stands does not matter
        c^d_ij = -c^i_jd                 deepest first, j not below i; c^d_ij = c^d_ji otherwise

    B(S_d) S_i = (z_i x p, K z_i) of `Gyration` are force and moment of all that matter if each
    particle had the acceleration z_i x (its velocity from S_d). Only the turning part z_i of S_i
    counts, so that the first line is z_i . (K'z_k + p x s_k): a vector for each pair (k, d), then
    three products a symbol. Joints that do not lie on one path have zero symbols. Where all joints
    have one coordinate these are the classical symbols, c^k_ij = c^k_ji.

    A ball or floating joint has velocities that are no derivatives of coordinates. There c is the
    Levi-Civita connection of M in these velocities, c^k_ij = <nabla_j E_i, E_k>: M changes along j
    by c^k_ij + c^i_kj, so that dM/dt = C + C' as always, and c^k_ij - c^k_ji = (M [j, i])_k is not
    zero if i and j belong to one such joint. For i of D itself I (S_d x S_i) joins B(S_d) S_i.

    Source: [Safeea2019] eqs. 26-30 (christoffel_paper.py) in the composite form of [Echeandia2021].
    """
    T, _ = root_transforms(tree, q)
    S, body = axes(tree, T), moments(tree, T)
    symbols = _Symbols(tree.nv)
    for D in tree.inward:
        node, composite = tree.nodes[D], body[D]
        body[node.parent] = body[node.parent] + composite
        path = np.array(
            [tree.nodes[l].v + c for l in tree.paths[D] for c in range(tree.nodes[l].nv)]
        )
        depth = np.array([len(tree.paths[l]) for l in tree.paths[D] for _ in S[l]])
        motions = [s for l in tree.paths[D] for s in S[l]]
        for k, S_d in enumerate(S[D]):
            B = Gyration.of(composite, S_d)
            turns = casadi.horzcat(*[s.angular for s in motions])
            value = casadi.horzcat(*[B.transposed(s) for s in motions]).T @ turns
            if node.nv > 1:
                value[:, -node.nv :] += _projected(
                    motions, [composite.momentum(S_d.cross(s)) for s in S[D]]
                )
            symbols.add(value, path, depth, node.v + k, node.nv)
    return symbols.tensor()


class _Symbols:
    """Gathers c^k_id of one deepest coordinate d after the other and writes them wherever they
    occur in c."""

    def __init__(self, n: int) -> None:
        self.n, self.count = n, 0
        self.values: list[SX] = []
        self.places: list[np.ndarray] = []

    def add(self, value: SX, path: np.ndarray, depth: np.ndarray, d: int, nv: int) -> None:
        """value[a, b] = c^k_id with k = path[a], i = path[b]; depth:
        of the joint that a coordinate belongs to."""
        m = len(path)
        above = m - nv
        a, b = (x.ravel() for x in np.meshgrid(range(m), range(m), indexing="ij"))
        # a joint's own symbol c^d_id is half the rate of its own inertia along itself: zero
        if nv == 1:
            a, b = a[: m * above], b[: m * above]
        k, i, at = path[a], path[b], self.count + a + m * b
        self._write(k, i, d, at, 1)
        strict = b < above
        self._write(k[strict], d, i[strict], at[strict], 1)
        both = strict & (a < above) & (depth[b] <= depth[a])
        self._write(d, k[both], i[both], at[both], -1)
        below = strict & (a < above) & (depth[b] < depth[a])
        self._write(d, i[below], k[below], at[below], -1)
        self.values.append(casadi.vec(value))
        self.count += m * m

    def _write(self, k, i, j, at: np.ndarray, sign: int) -> None:
        k, i, j, at = np.broadcast_arrays(k, i, j, at)
        self.places.append(np.stack([k, i * self.n + j, at, np.full(at.shape, sign)]))

    def tensor(self) -> SX:
        if not self.places:
            return SX(self.n, self.n**2)
        row, column, at, sign = np.concatenate(self.places, axis=1)
        order = np.lexsort((row, column))
        flat = casadi.densify(casadi.vertcat(*self.values))
        signed = casadi.vertcat(flat, -flat)[(at + self.count * (sign < 0))[order].tolist()]
        return casadi.sparsify(
            SX(Sparsity.triplet(self.n, self.n**2, row.tolist(), column.tolist()), signed)
        )


def _projected(motions: list[Motion], forces: list[Force]) -> SX:
    """Every motion's power on every force: S_k . F_i."""
    S = casadi.horzcat(*[casadi.vertcat(s.linear, s.angular) for s in motions])
    F = casadi.horzcat(*[casadi.vertcat(f.linear, f.angular) for f in forces])
    return S.T @ F
