"""Damping designed from masses and stiffness: every mode with the same ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkwork.control.checks import definite, positive


def damping_for(mass: ArrayLike, stiffness: ArrayLike, ratio: float = 1.0) -> np.ndarray:
    """D (m, m) that damps every mode of M x'' + D x' + K x = 0 by a ratio.

    D = Q' (2 ratio sqrt(k)) Q with M = Q' Q, K = Q' k Q, k diagonal.

    Source: [AlbuSchaffer2003] section V (double diagonalisation).
    """
    from scipy.linalg import eigh

    M = np.asarray(mass, dtype=float)
    K = definite(stiffness, len(M), "damping_for: stiffness", semi=True)
    zeta = positive(ratio, "damping_for: ratio", zero=True)
    squares, modes = eigh(K, definite(M, len(M), "damping_for: mass"))
    Q = np.linalg.inv(modes)
    return Q.T @ np.diag(2.0 * zeta * np.sqrt(np.maximum(squares, 0.0))) @ Q
