"""The paper's turn of the elbow away from one point, corrected; approximate,
kept beside the exact arcs.

Source: [Simas2022] eqs. 18-19.
"""

from __future__ import annotations

import numpy as np

from linkwork.avoidance.volume import SafetyVolume


def correction(
    S: np.ndarray, E: np.ndarray, W: np.ndarray, point: np.ndarray, volume: SafetyVolume
) -> float:
    """alpha = sign (gamma - beta) about the line S-W,
    by the law of cosines at the foot point of the worst solid."""
    solids = [(np.linalg.norm(point - E) - volume.maximum, E, volume.maximum)]
    for end in (S, W):
        along = E - end
        share = float((point - end) @ along / (along @ along))
        if 0.0 <= share <= 1.0:
            foot = end + share * along
            allowed = (1 - share) * volume.minimum + share * volume.maximum
            solids.append((np.linalg.norm(point - foot) - allowed, foot, allowed))
    worst, foot, allowed = min(solids, key=lambda solid: solid[0])
    if worst >= 0.0:
        return 0.0
    u = (W - S) / np.linalg.norm(W - S)
    across = lambda x: (x - S) - ((x - S) @ u) * u
    of_point, of_foot, of_elbow = across(point), across(foot), across(E)
    rho_c, rho_k = np.linalg.norm(of_point), np.linalg.norm(of_foot)
    apart = (foot - point) @ u
    cos_gamma = (rho_k**2 + rho_c**2 + apart**2 - allowed**2) / (2 * rho_k * rho_c)
    gamma = float(np.arccos(np.clip(cos_gamma, -1.0, 1.0)))
    cos_beta = of_elbow @ of_point / (np.linalg.norm(of_elbow) * rho_c)
    beta = float(np.arccos(np.clip(cos_beta, -1.0, 1.0)))
    side = float(np.cross(of_point, of_elbow) @ u)
    return (gamma - beta) * (1.0 if side >= 0.0 else -1.0)
