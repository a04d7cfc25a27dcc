"""Samples along a path of waypoints."""

from __future__ import annotations

import numpy as np


def along(path: np.ndarray, count: int) -> np.ndarray:
    """(count, nq): configurations at equal distances along waypoints (m, nq)."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0.0, lengths[-1], count)
    return np.stack([np.interp(at, lengths, path[:, k]) for k in range(path.shape[1])], axis=1)
