"""General 6R: every solution of any six-axis arm from the eigenvalues of one matrix polynomial.

The closed loop G_1 ... G_6 = 1 with G_i = Rz(theta_i) L_i, L_6 containing the target, is opened
into

    G_3 G_4 G_5 = (G_6 G_1 G_2)^-1

Last column l of the rotation and position p of both sides do not contain theta_6. Fourteen
equations p, l, p.p, p.l, p x l, (p.p) l - 2 (p.l) p are bilinear in (cos, sin) of theta_1 and
theta_2 on the right, of theta_4 and theta_5 on the left, with coefficients affine in cos, sin of
theta_3. The right side has eight monomials: they are eliminated, six equations remain. In z =
exp(i theta_3), u = exp(i theta_4), v = exp(i theta_5) they have nine monomials u^a v^b with a, b in
(-1, 0, 1); together with their multiples by u these are twelve equations in twelve monomials:

    (A z^2 + B z + C) m = 0

a quadratic eigenvalue problem of size 24 with at most 16 finite, non-zero eigenvalues.
Source: [Raghavan1993] for the fourteen equations, [Manocha1994] for the eigenvalue form.
Exponentials in the place of tangents of half angles keep theta = pi from being infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwork.inverse.analytic.candidates import ISOLATED, Canonical
from linkwork.inverse.analytic.denavit import Frames, frames
from linkwork.inverse.analytic.family import Family, Rows
from linkwork.inverse.analytic.polish import distinct, kinds, polished
from linkwork.inverse.analytic.screws import Chain, inverted
from linkwork.subject import Subject

SLOTS = 16
NEAR_CIRCLE = 0.05
"""How far from the unit circle an eigenvalue may lie to be tried;
what it leads to is polished and judged by FK."""
EQUAL = 1e-3
"""Eigenvalues this near to each other are taken apart by their monomials:
each alone may be any mixture of them."""
_T3 = 2.0 * np.pi * np.arange(3) / 3
# from values at three equidistant angles to the coefficients of exp(-i t), 1, exp(i t)
_DFT = np.exp(-1j * np.outer((-1, 0, 1), _T3)) / 3


def links(placed: Frames, target: np.ndarray) -> np.ndarray:
    """L_i (N, 6, 4, 4) of the closed loop G_1 ... G_6 = 1 for targets (N, 4, 4) of the frame."""
    L = np.empty((len(target), 6, 4, 4))
    for i in range(6):
        c, s = np.cos(placed.alpha[i]), np.sin(placed.alpha[i])
        L[:, i] = [[1, 0, 0, placed.a[i]], [0, c, -s, 0], [0, s, c, placed.d[i]], [0, 0, 0, 1]]
    L[:, 5] = L[:, 5] @ placed.tool @ inverted(target) @ placed.base
    return L


def solve(L: np.ndarray, scale: float, cut: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(theta (N, 24, 6), near (N, 24)): what each eigenvalue leads to,
    and whether it is near a real angle.

    cut: how many joints the loop is turned before it is opened; another cut helps where this one is
    singular.
    """
    L = np.roll(L, -cut, axis=1).copy()
    L[..., :3, 3] /= scale
    left, right = _left(L), _right(L)
    # left_abc z^a u^b v^c = right_de x^d y^e: remove the eight monomials of the right that are not
    # constant
    U, _, _ = np.linalg.svd(right[..., [k for k in range(9) if k != 4]])
    N = np.swapaxes(U[..., :, 8:], -1, -2)
    E = np.einsum("nij,njabc->niabc", N, left)
    E[..., 1, 1, 1] -= np.einsum("nij,nj->ni", N, right[..., 4])
    z, monomials = _eigen(E)
    theta = np.empty((*z.shape, 6))
    with np.errstate(all="ignore"):
        near = np.abs(np.abs(z) - 1.0) < NEAR_CIRCLE
        theta[..., 2] = np.angle(z)
        u, v = _ratios(_apart(z, monomials, near))
        theta[..., 3], theta[..., 4] = np.angle(u), np.angle(v)
    theta = np.where(np.isfinite(theta) & near[..., None], theta, 0.0)
    theta[..., [0, 1, 5]] = _rest(L, left, right, theta)
    return np.roll(theta, cut, axis=-1), near


def _left(L: np.ndarray) -> np.ndarray:
    """(N, 14, 3, 3, 3): coefficients of z^a u^b v^c in the fourteen functions of G_3 G_4 G_5."""
    n = len(L)
    values = np.empty((n, 14, 3, 3, 3))
    for a, b, c in np.ndindex(3, 3, 3):
        T = _turned(_T3[a], L[:, 2]) @ _turned(_T3[b], L[:, 3]) @ _turned(_T3[c], L[:, 4])
        values[:, :, a, b, c] = _fourteen(T)
    return np.einsum("ai,bj,ck,nmijk->nmabc", _DFT, _DFT, _DFT, values, optimize=True)


def _right(L: np.ndarray) -> np.ndarray:
    """(N, 14, 9): coefficients of x^d y^e, x = exp(i theta_1), y = exp(i theta_2),
    in those of (G_6 G_1 G_2)^-1.

    (Rz(t6) L6 G1 G2)^-1 = (L6 G1 G2)^-1 Rz(-t6): the last turn changes neither l nor p.
    """
    values = np.empty((len(L), 14, 3, 3))
    for d, e in np.ndindex(3, 3):
        T = L[:, 5] @ _turned(_T3[d], L[:, 0]) @ _turned(_T3[e], L[:, 1])
        values[:, :, d, e] = _fourteen(inverted(T))
    return np.einsum("di,ej,nmij->nmde", _DFT, _DFT, values, optimize=True).reshape(len(L), 14, 9)


def _turned(t: Any, link: np.ndarray) -> np.ndarray:
    c, s = np.cos(t), np.sin(t)
    R = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    return R @ link


def _fourteen(T: np.ndarray) -> np.ndarray:
    """p, l, p.p, p.l, p x l, (p.p) l - 2 (p.l) p of poses (N, 4, 4)."""
    p, l = T[..., :3, 3], T[..., :3, 2]
    pp, pl = (p * p).sum(-1, keepdims=True), (p * l).sum(-1, keepdims=True)
    return np.concatenate([p, l, pp, pl, np.cross(p, l), pp * l - 2 * pl * p], axis=-1)


def _eigen(E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues z (N, 24) and monomials (N, 24, 12) = u^(-1 .. 2) v^(-1 .. 1) of the twelve
    equations."""
    n = len(E)
    M = np.zeros((3, n, 12, 4, 3), dtype=complex)
    for a in range(3):
        M[a, :, :6, :3] = E[:, :, a]
        M[a, :, 6:, 1:] = E[:, :, a]
    C, B, A = (m.reshape(n, 12, 12) for m in M)
    first, second = np.zeros((n, 24, 24), dtype=complex), np.zeros((n, 24, 24), dtype=complex)
    first[:, :12, 12:] = np.eye(12)
    first[:, 12:, :12], first[:, 12:, 12:] = -C, -B
    second[:, :12, :12] = np.eye(12)
    second[:, 12:, 12:] = A
    # (first - z second) x = 0; A is singular, so shift:
    # (first - k second)^-1 second has eigenvalues 1 / (z - k)
    k = _SHIFT
    inverse, vectors = np.linalg.eig(np.linalg.solve(first - k * second, second))
    with np.errstate(all="ignore"):
        z = k + 1.0 / inverse
    z = np.where(np.abs(inverse) > 1e-9, z, 1e9)
    return z, np.swapaxes(vectors[:, :12], -1, -2)


_SHIFT = 0.31 + 0.27j  # off the unit circle, near to it: no real angle is an eigenvalue there


def _apart(z: np.ndarray, m: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Monomials (N, 24, 12) with those of equal eigenvalues unmixed:
    postures may share theta_3 and differ elsewhere.

    The vectors V of k equal eigenvalues span the k true ones. On that span multiplying by u, and by
    v, are matrices: V_high = V_low U. Their common eigenvectors (of a mixture of both) are the true
    vectors.
    """
    gap = np.abs(z[:, :, None] - z[:, None, :])
    equal = (gap < EQUAL) & near[:, :, None] & near[:, None, :]
    apart = m.copy()
    for n in np.flatnonzero(np.count_nonzero(equal, axis=(1, 2)) > np.count_nonzero(near, axis=1)):
        done = ~near[n]
        for i in range(len(z[n])):
            members = np.flatnonzero(equal[n, i] & ~done)
            done[members] = True
            if len(members) > 1:
                apart[n, members] = _unmixed(m[n, members].T).T
    return apart


def _unmixed(V: np.ndarray) -> np.ndarray:
    """(12, k) -> (12, k): monomials of which the columns are mixtures; the columns,
    where these are not k of them."""
    k = V.shape[1]
    grid = V.reshape(4, 3, k)
    by_u, by_v = (grid[:-1], grid[1:]), (grid[:, :-1], grid[:, 1:])
    operators = []
    for low, high in (by_u, by_v):
        lower = low.reshape(-1, k)
        if np.linalg.svd(lower, compute_uv=False)[-1] < 1e-9:
            return V
        operators.append(np.linalg.lstsq(lower, high.reshape(-1, k), rcond=None)[0])
    _, W = np.linalg.eig(operators[0] + 0.37 * operators[1])
    return V @ W


def _ratios(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """u and v from monomials (..., 12), least squares over all neighbours."""
    m = m.reshape(*m.shape[:-1], 4, 3)
    u = (m[..., 1:, :] * m[..., :-1, :].conj()).sum((-1, -2))
    v = (m[..., :, 1:] * m[..., :, :-1].conj()).sum((-1, -2))
    return u, v


def _rest(L: np.ndarray, left: np.ndarray, right: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """theta_1, theta_2, theta_6 (..., 3) for theta_3, theta_4, theta_5:
    the monomials of the right by least squares."""
    z, u, v = (np.exp(1j * theta[..., k, None] * np.array((-1, 0, 1))) for k in (2, 3, 4))
    known = np.einsum("nmabc,nka,nkb,nkc->nkm", left, z, u, v, optimize=True) - right[:, None, :, 4]
    others = [k for k in range(9) if k != 4]
    monomials = np.einsum("nij,nkj->nki", np.linalg.pinv(right[..., others]), known)
    full = np.ones((*monomials.shape[:-1], 9), dtype=complex)
    full[..., others] = monomials
    full = full.reshape(*full.shape[:-1], 3, 3)
    x = (full[..., 1:, :] * full[..., :-1, :].conj()).sum((-1, -2))
    y = (full[..., :, 1:] * full[..., :, :-1].conj()).sum((-1, -2))
    first, second = np.angle(x), np.angle(y)
    T = np.eye(4)
    angles = first, second, theta[..., 2], theta[..., 3], theta[..., 4]
    for k, angle in enumerate(angles):
        c, s = np.cos(angle), np.sin(angle)
        R = np.zeros((*angle.shape, 4, 4))
        R[..., 0, 0], R[..., 0, 1], R[..., 1, 0], R[..., 1, 1] = c, -s, s, c
        R[..., 2, 2] = R[..., 3, 3] = 1.0
        T = T @ R @ L[:, None, k]
    # G1 .. G5 Rz(theta_6) L6 = 1: Rz(theta_6) = (G1 .. G5)^-1 L6^-1
    T = inverted(L[:, None, 5] @ T)
    return np.stack([first, second, np.arctan2(T[..., 1, 0], T[..., 0, 0])], axis=-1)


DISTURBANCES = (1e-4, 2e-5)
"""Sizes [rad, of the arm's length] by which geometry is disturbed where the elimination is singular
for it."""
PROBES = 12
"""Postures whose own configuration a way to open the loop must give back, to be used."""
GOOD = 1e-8
"""Error of the probes [rad], before polishing,
up to which ways to open the loop count as equally good."""
CHUNK = 2048
"""Targets whose matrices are held at once."""


@dataclass(frozen=True)
class General6R(Family):
    """cut: where the loop is opened; None: nowhere without singular matrices,
    so disturbed arms are solved instead."""

    cut: int | None = field(kw_only=True)

    name, title = "general_6r", "six revolute axes of no special geometry"
    axes, rank, last_resort = 6, 90, True
    slots = SLOTS

    @classmethod
    def ways(cls) -> tuple[Callable[[Subject, Chain], tuple[float, Family | str]], ...]:
        return (lambda subject, chain: (0.0, cls.of(subject, chain)),)

    @classmethod
    def of(cls, subject: Subject, chain: Chain) -> Family:
        """The solver of any six axes, whatever family they are in."""
        placed = frames(chain, (1,) * 6, (1,) * 5)
        return cls(subject, chain, Canonical(placed), placed, True, cut=best_cut(chain, placed))

    def rows(self, target: np.ndarray, q0: np.ndarray, free: np.ndarray | None = None) -> Rows:
        parts = [self._chunk(target[k : k + CHUNK]) for k in range(0, len(target), CHUNK)]
        q, state, residual, defect = (np.concatenate(x) for x in zip(*parts, strict=True))
        far = np.linalg.norm(target[:, :3, 3] - self.canonical.placed.base[:3, 3], axis=-1)
        return Rows(q, state, residual, far[:, None], defect)

    def _chunk(self, target: np.ndarray) -> tuple[np.ndarray, ...]:
        G = np.swapaxes(target[:, :3, :3], -1, -2) @ target[:, :3, :3] - np.eye(3)
        mirror = 1.0 - np.linalg.det(target[:, :3, :3])
        last = np.abs(target[:, 3] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1)
        defect = np.maximum.reduce([np.abs(G).max(axis=(-1, -2)), np.abs(mirror), last])
        goal = target.copy()
        goal[:, :3, :3] -= goal[:, :3, :3] @ G / 2
        starts = [start(self.chain, placed, goal, cut) for placed, cut in self._arms()]
        q, near = (np.concatenate(x, axis=1) for x in zip(*starts, strict=True))
        where = np.nonzero(near)
        residual = np.ones(near.shape)
        if len(where[0]):
            q[where], residual[where] = polished(self.subject, self.chain, q[where], goal[where[0]])
        state = distinct(q, np.where(near, ISOLATED + 4.0, 0.0), residual)
        state = kinds(self.subject, self.chain, q, goal, state)
        first = np.argsort(state <= 0, axis=1, kind="stable")[:, : self.slots]
        pick = lambda x: np.take_along_axis(
            x, first.reshape(first.shape + (1,) * (x.ndim - 2)), axis=1
        )
        return pick(q), pick(state), pick(residual), defect

    def _arms(self) -> list[tuple[Frames, int]]:
        placed = self.canonical.placed
        if self.cut is not None:
            return [(placed, self.cut)]
        return [
            (disturbed(placed, self.chain.length * size, size, k), 0)
            for k, size in enumerate(DISTURBANCES)
        ]

    def reason(self, distances: np.ndarray) -> str:
        far, longest = float(distances[0]), self.chain.length
        if far > longest:
            return (
                f"out of reach: target {far:.4g} m from the foot of axis 1, the arm is "
                f"{longest:.4g} m long"
            )
        return "out of reach: none of the sixteen roots is real"


def start(
    chain: Chain, placed: Frames, target: np.ndarray, cut: int
) -> tuple[np.ndarray, np.ndarray]:
    """(q (N, 24, 6), near (N, 24)): what the eigenvalues lead to, before polishing."""
    theta, near = solve(links(placed, target), chain.length, cut)
    return placed.sign * (theta - placed.offset), near


def best_cut(chain: Chain, placed: Frames) -> int | None:
    """The cut that gives back the probes' own configurations, or None where each loses one.

    Of those that do it well, the one with the fewest postures that share the angle of which the
    polynomial is made.
    """
    q = np.random.default_rng(6).uniform(-np.pi, np.pi, (PROBES, 6))
    target = chain.pose(q)
    errors, shared = [], []
    for cut in range(6):
        try:
            started, near = start(chain, placed, target, cut)
        except np.linalg.LinAlgError:
            errors.append(np.inf)
            shared.append(0)
            continue
        apart = np.abs((started - q[:, None] + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)
        errors.append(float(np.where(near, apart, np.inf).min(axis=1).max()))
        angle = np.where(
            near, np.exp(1j * started[..., (2 + cut) % 6]), 4.0 * np.arange(near.shape[1])
        )
        equal = np.abs(angle[:, :, None] - angle[:, None, :]) < EQUAL
        shared.append(int(np.count_nonzero(equal)) - angle.size)
    best = min(
        range(6),
        key=lambda cut: (
            errors[cut] > GOOD,
            shared[cut] if errors[cut] <= GOOD else 0,
            errors[cut],
        ),
    )
    return best if errors[best] < 1e-6 else None


def disturbed(placed: Frames, length: float, angle: float, seed: int) -> Frames:
    """The arm with every length and twist changed a little, the same way each time."""
    rng = np.random.default_rng(100 + seed)
    change = rng.uniform(0.5, 1.0, (3, 6)) * rng.choice((-1.0, 1.0), (3, 6))
    return replace(
        placed,
        a=placed.a + length * change[0],
        d=placed.d + length * change[1],
        alpha=placed.alpha + angle * change[2],
    )
