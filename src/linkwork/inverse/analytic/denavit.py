"""Denavit-Hartenberg frames of a chain, in the gauge that a solver asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.inverse.analytic.screws import Chain, inverted

_NOISE = 1e-12  # of the arm's length, or rad: what the construction below leaves of an exact zero


@dataclass(frozen=True)
class Frames:
    """T_world_frame = base A_1 ... A_n tool with A_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i).

    theta_i = sign_i q_i + offset_i. The gauge is d_1 = d_n = a_n = alpha_n = 0: what stands before
    the first and after the last common normal belongs to base and tool. x_0 lies along the world's
    x axis as far as axis 1 allows.
    """

    base: np.ndarray
    tool: np.ndarray
    a: np.ndarray
    alpha: np.ndarray
    d: np.ndarray
    offset: np.ndarray
    sign: np.ndarray


def frames(chain: Chain, signs: Sequence[int], twists: Sequence[int]) -> Frames:
    """The frames of a chain whose i-th axis is first multiplied by signs[i].

    twists[i] = +1 or -1 is the sign that alpha_{i+1} shall have where axes i and i + 1 are not
    parallel. Among parallel axes the offsets d all go to the last of them.
    """
    n, L = len(chain), chain.length
    z = chain.directions * np.asarray(signs, dtype=float)[:, None]
    x, O = [_beside(z[0])], [chain.points[0]]
    a, alpha, d, offset = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(1, n):
        foot, normal = _step(O[-1], z[i - 1], chain.points[i], z[i], twists[i - 1], x[-1])
        if i == 1:
            O[0] = foot[0]
        d[i - 1] = (foot[0] - O[-1]) @ z[i - 1]
        a[i - 1] = (foot[1] - foot[0]) @ normal
        alpha[i - 1] = np.arctan2(np.cross(z[i - 1], z[i]) @ normal, z[i - 1] @ z[i])
        offset[i - 1] = np.arctan2(np.cross(x[-1], normal) @ z[i - 1], x[-1] @ normal)
        x.append(normal)
        O.append(foot[1])
    base, last = _frame(x[0], z[0], O[0]), _frame(x[-1], z[-1], O[-1])
    for numbers, noise in ((a, _NOISE * L), (d, _NOISE * L), (offset, _NOISE)):
        numbers[np.abs(numbers) < noise] = 0.0
    quarter = np.round(alpha / (np.pi / 2)) * (np.pi / 2)
    alpha = np.where(np.abs(alpha - quarter) < _NOISE, quarter, alpha)
    return Frames(
        base, inverted(last) @ chain.home, a, alpha, d, offset, np.asarray(signs, dtype=float)
    )


def _step(
    O: np.ndarray, u: np.ndarray, point: np.ndarray, z: np.ndarray, twist: int, x: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Feet of the common normal of the line (O, u) and the line (point, z), and its direction."""
    c = np.cross(u, z)
    size = float(np.linalg.norm(c))
    w = point - O
    if size < 1e-9:
        normal = w - (w @ z) * z
        length = float(np.linalg.norm(normal))
        return (O, O + normal), (normal / length if length > 0.0 else x)
    cos = float(u @ z)
    s = (u @ w - cos * (z @ w)) / size**2
    t = (cos * (u @ w) - z @ w) / size**2
    return (O + s * u, point + t * z), twist * c / size


def _beside(z: np.ndarray) -> np.ndarray:
    """A unit vector at right angles to z, along the world's x axis if that is not z itself."""
    for e in np.eye(3):
        x = e - (e @ z) * z
        if np.linalg.norm(x) > 0.5:
            break
    return x / np.linalg.norm(x)


def _frame(x: np.ndarray, z: np.ndarray, O: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.stack([x, np.cross(z, x), z], axis=1), O
    return T
