"""Four-bar paths: where the tracer of four-bars goes, also of random ones that lie over points."""

from __future__ import annotations

import numpy as np

GRID = 48


def random_paths(P: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(parameters (m, 9), sides (m,), crank angles (m, n)):
    random four-bars whose paths lie over the points.

    Two of three have a crank that goes round; centre, size and long axis of the path are those of
    the points.
    """
    random = np.random.default_rng(seed)
    many = 6 * count + 64
    lengths = np.exp(random.uniform(-1.2, 1.2, size=(many, 4)))
    ordered = np.sort(lengths, axis=-1)
    crank = (lengths[:, 1] == ordered[:, 0]) & (
        ordered[:, 0] + ordered[:, 3] < ordered[:, 1] + ordered[:, 2]
    )
    round_ = np.flatnonzero(crank)[: max(1, 2 * count // 3)]
    rest = np.flatnonzero(~crank)[: count - len(round_)]
    g, a, b, c = lengths[np.concatenate([round_, rest])].T
    m = len(g)
    tip = b * (0.5 + 0.8 * (random.normal(size=m) + 1j * random.normal(size=m)))
    side = np.where(random.uniform(size=m) < 0.5, 1.0, -1.0)
    theta = np.linspace(0.0, 2.0 * np.pi, GRID, endpoint=False)
    Q, inside = paths(
        np.stack([0 * g, 0 * g, g, 0 * g, a, b, c, tip.real, tip.imag], axis=-1), side, theta
    )
    moves = inside.sum(axis=-1) >= 6
    g, a, b, c, tip, side, Q, inside = (v[moves] for v in (g, a, b, c, tip, side, Q, inside))
    m = len(g)
    weight = inside / np.maximum(inside.sum(axis=-1, keepdims=True), 1)
    middle = (weight * Q).sum(axis=-1)
    off = np.where(inside, Q - middle[:, None], 0.0)
    spread = np.sqrt((weight * np.abs(off) ** 2).sum(axis=-1)) + 1e-9
    axis = np.angle((weight * off**2).sum(axis=-1))
    goal_axis = np.angle(((P - P.mean()) ** 2).mean())
    goal_spread = np.sqrt((np.abs(P - P.mean()) ** 2).mean())
    turn = np.exp(0.5j * (goal_axis - axis)) * np.where(random.uniform(size=m) < 0.5, 1.0, -1.0)
    factor = goal_spread / spread * turn
    A, G, s = P.mean() - middle * factor, g * factor, np.abs(factor)
    parts = [A.real, A.imag, G.real, G.imag, a * s, b * s, c * s, tip.real * s, tip.imag * s]
    placed = P.mean() + off * factor[:, None]
    distance = np.where(inside[:, None, :], np.abs(placed[:, None, :] - P[None, :, None]), np.inf)
    angles = theta[distance.argmin(axis=-1)] + np.angle(factor)[:, None]
    return np.stack(parts, axis=-1), side, angles


def paths(p: np.ndarray, side: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(tracer (m, k) complex, whether the posture can be assembled) of parameters (m, 9) at crank
    angles (k,)."""
    Q, _, inside = postures(p, side, np.broadcast_to(theta, (len(p), len(theta))))
    return Q, inside


def postures(
    p: np.ndarray, side: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(tracer, direction of the coupler, assembled), each (m, k), at crank angles theta (m, k)."""
    A, G, tip = (p[:, i, None] + 1j * p[:, i + 1, None] for i in (0, 2, 7))
    a, b, c = (p[:, i, None] for i in (4, 5, 6))
    B = A + a * np.exp(1j * theta)
    R = A + G - B
    r2 = np.maximum(np.abs(R) ** 2, 1e-24)
    k = (r2 + b**2 - c**2) / (2 * b)
    inside = r2 - k**2
    e = R * (k + 1j * side[:, None] * np.sqrt(np.maximum(inside, 0.0))) / r2
    return B + tip * e, e, inside >= 0


def nearest_angles(p: np.ndarray, side: np.ndarray, P: np.ndarray) -> np.ndarray:
    theta = np.linspace(-np.pi, np.pi, 4 * GRID, endpoint=False)
    Q, inside = paths(p, side, theta)
    distance = np.where(inside[:, None, :], np.abs(Q[:, None, :] - P[None, :, None]), np.inf)
    return theta[distance.argmin(axis=-1)]
