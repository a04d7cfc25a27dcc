"""Solver of any six revolute axes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from linkwork.inverse.analytic import general_6r
from linkwork.inverse.analytic.candidates import ISOLATED
from linkwork.inverse.analytic.denavit import Frames
from linkwork.inverse.analytic.family import Family, Rows
from linkwork.inverse.analytic.polish import distinct, kinds, polished
from linkwork.inverse.analytic.screws import Chain

DISTURBANCES = (1e-4, 2e-5)
"""Sizes [rad, of the arm's length] by which geometry is disturbed where the elimination is singular for it."""
PROBES = 12
"""Postures whose own configuration a way to open the loop must give back, to be used."""
GOOD = 1e-8
"""Error of the probes [rad], before polishing, up to which ways to open the loop count as equally good."""
CHUNK = 2048
"""Targets whose matrices are held at once."""


@dataclass(frozen=True)
class General6R(Family):
    """cut: where the loop is opened; None: nowhere without singular matrices, so disturbed arms are solved instead."""

    cut: int | None = field(kw_only=True)

    name, title = "general_6r", "six revolute axes of no special geometry"
    slots = general_6r.SLOTS

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
        found = [start(self.chain, placed, goal, cut) for placed, cut in self._arms()]
        q, near = (np.concatenate(x, axis=1) for x in zip(*found, strict=True))
        where = np.nonzero(near)
        residual = np.ones(near.shape)
        if len(where[0]):
            q[where], residual[where] = polished(self.subject, self.chain, q[where], goal[where[0]])
        state = distinct(q, np.where(near, ISOLATED + 4.0, 0.0), residual)
        state = kinds(self.subject, self.chain, q, goal, state)
        first = np.argsort(state <= 0, axis=1, kind="stable")[:, : self.slots]
        pick = lambda x: np.take_along_axis(x, first.reshape(first.shape + (1,) * (x.ndim - 2)), axis=1)
        return pick(q), pick(state), pick(residual), defect

    def _arms(self) -> list[tuple[Frames, int]]:
        placed = self.canonical.placed
        if self.cut is not None:
            return [(placed, self.cut)]
        return [(disturbed(placed, self.chain.length * size, size, k), 0) for k, size in enumerate(DISTURBANCES)]

    def reason(self, distances: np.ndarray) -> str:
        far, longest = float(distances[0]), self.chain.length
        if far > longest:
            return f"out of reach: target {far:.4g} m from the foot of axis 1, the arm is {longest:.4g} m long"
        return "out of reach: none of the sixteen roots is real"


def start(chain: Chain, placed: Frames, target: np.ndarray, cut: int) -> tuple[np.ndarray, np.ndarray]:
    """(q (N, 24, 6), near (N, 24)): what the eigenvalues lead to, before polishing."""
    theta, near = general_6r.solve(general_6r.links(placed, target), chain.length, cut)
    return placed.sign * (theta - placed.offset), near


def best_cut(chain: Chain, placed: Frames) -> int | None:
    """The cut that gives back the probes' own configurations, or None where each loses one.

    Of those that do it well, the one with the fewest postures that share the angle of which the polynomial is made.
    """
    q = np.random.default_rng(6).uniform(-np.pi, np.pi, (PROBES, 6))
    target = chain.pose(q)
    errors, shared = [], []
    for cut in range(6):
        try:
            found, near = start(chain, placed, target, cut)
        except np.linalg.LinAlgError:
            errors.append(np.inf)
            shared.append(0)
            continue
        apart = np.abs((found - q[:, None] + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)
        errors.append(float(np.where(near, apart, np.inf).min(axis=1).max()))
        angle = np.where(near, np.exp(1j * found[..., (2 + cut) % 6]), 4.0 * np.arange(near.shape[1]))
        equal = np.abs(angle[:, :, None] - angle[:, None, :]) < general_6r.EQUAL
        shared.append(int(np.count_nonzero(equal)) - angle.size)
    best = min(range(6), key=lambda cut: (errors[cut] > GOOD, shared[cut] if errors[cut] <= GOOD else 0, errors[cut]))
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
