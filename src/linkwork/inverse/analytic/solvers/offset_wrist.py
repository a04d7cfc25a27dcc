"""Solver of the offset-wrist family."""

from __future__ import annotations

import numpy as np
from casadi import SX

from linkwork.engine.kernel import Kernel
from linkwork.inverse.analytic import offset_wrist
from linkwork.inverse.analytic.candidates import CONTINUUM, TANGENT, Found, Layout
from linkwork.inverse.analytic.family import Family, Rows
from linkwork.inverse.analytic.offset_wrist import ROOTS
from linkwork.inverse.analytic.polish import kinds
from linkwork.inverse.analytic.roots import trigonometric_roots
from linkwork.spatial import Transform


class OffsetWrist(Family):
    name, title = "offset_wrist", "offset wrist: FANUC CRX type, axes 4-5 and 5-6 meet in two points"
    slots = 2 * ROOTS
    size: offset_wrist.Dimensions

    def propose(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None) -> Rows:
        n = len(target)
        plane, length, coefficients = self.constraints()(target)
        roots, void = self._pinned(coefficients, trigonometric_roots(coefficients), q0)
        seed5 = self._seed(q0, 4)
        tried = self.tried()(plane[:, None], length[:, None], roots, seed5 if seed5.ndim == 0 else seed5[:, None])
        pairs = self.distinct()(tried.reshape(n, 2 * ROOTS, 6))
        own = q0 if q0.ndim == 1 else q0[:, None]
        kernel = self.rows_kernel(Layout(2, 1, (("pair", (6,)),)), self.traced)
        q, state, residual, distances, defect = kernel(target[:, None], own, pairs)
        state = state.reshape(n, self.slots)
        state = np.where(void[:, None] & (state > 0), CONTINUUM + 4.0, state)
        q = q.reshape(n, self.slots, 6)
        if self.exact:
            state = self._settled(q, state, target)
        return Rows(q, state, residual.reshape(n, self.slots), distances[:, 0], defect[:, 0])

    def _settled(self, q: np.ndarray, state: np.ndarray, target: np.ndarray) -> np.ndarray:
        """State with tangent rows told from those of a continuum."""
        some = np.nonzero((state % 4 == TANGENT).any(axis=1))[0]
        if len(some):
            tangent = np.where(state[some] % 4 == TANGENT, state[some], 0.0)
            decided = kinds(self.subject, self.chain, q[some], target[some], tangent)
            state[some] = np.where(tangent > 0, decided, state[some])
        return state

    def traced(self, goal: Transform, q0: SX, pair: SX) -> Found:
        T, seed = self.canonical.goal(goal), self.canonical.angles(q0)
        return self.canonical.rows(offset_wrist.solve(self.size, T, seed, pair))

    def constraints(self) -> Kernel:
        """target -> both constraints (3, 3) and the coefficients (5, 2) of the polynomial in theta6."""

        def trace(target: SX) -> tuple[SX, SX, SX]:
            T = self.canonical_goal(target)
            p, q = offset_wrist.constraints(self.size, T)
            return offset_wrist.packed(p), offset_wrist.packed(q), offset_wrist.polynomial(self.size, T).pairs()

        outputs = (("plane", (3, 3)), ("length", (3, 3)), ("coefficients", (ROOTS // 2 + 1, 2)))
        return self.side_kernel("constraints", (("target", (4, 4)),), outputs, trace)

    def tried(self) -> Kernel:
        """One root -> what it leads to; see offset_wrist.tried."""
        keep, accuracy = (1e-2, 1e-12) if self.exact else (5e-2, 1e-6)

        def trace(p: SX, q: SX, z: SX, seed: SX) -> SX:
            return offset_wrist.tried(offset_wrist.unpacked(p), offset_wrist.unpacked(q), z, seed, keep, accuracy)

        inputs = (("plane", (3, 3)), ("length", (3, 3)), ("root", (2,)), ("seed", ()))
        return self.side_kernel("tried", inputs, (("tried", (2, 6)),), trace)

    def distinct(self) -> Kernel:
        """All that was tried -> the distinct ones; see offset_wrist.distinct."""
        inputs, outputs = (("tried", (2 * ROOTS, 6)),), (("pairs", (ROOTS, 6)),)
        return self.side_kernel("distinct", inputs, outputs, offset_wrist.distinct)

    def _pinned(self, coefficients: np.ndarray, z: np.ndarray, q0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Roots with theta6 at the seed where the polynomial vanishes altogether: there the arm moves within itself."""
        void = np.abs(coefficients).max(axis=(-1, -2)) < offset_wrist.VOID
        if void.any():
            seed = self._seed(q0, 5)
            pinned = np.zeros_like(z)
            pinned[:, 0] = np.stack([np.cos(seed), np.sin(seed)], axis=-1)
            z = np.where(void[:, None, None], pinned, z)
        return z, void

    def _seed(self, q0: np.ndarray, k: int) -> np.ndarray:
        placed = self.canonical.placed
        return placed.sign[k] * q0[..., k] + placed.offset[k]

    def reason(self, distances: np.ndarray) -> str:
        far, longest = float(distances[0]), self.size.scale
        if far > longest:
            return f"out of reach: wrist {far:.4g} m from the shoulder, the arm is {longest:.4g} m long"
        return "out of reach: no angles of axes 5 and 6 give both arms their lengths in one plane with axis 1"

    def determinant(self, theta: SX) -> tuple[SX, dict[str, SX]] | None:
        right = np.allclose((self.size.alpha4, self.size.alpha5), (-np.pi / 2, np.pi / 2), atol=1e-12)
        return (offset_wrist.determinant(self.size, theta), {}) if right else None
