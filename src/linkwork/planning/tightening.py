"""Tightening: how near a proved path comes to anything,
as a lower bound that is nearly the distance itself.

A certificate ends as soon as a motion is proved free, so that its bound of the distance is true but
low. Pieces of the path whose bound is lower than the least distance at any sample so far are cut
into PARTS and proved again: each part loses as much less to what shapes can move within it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.collision import CollisionModel
from linkwork.collision.certify import CAP

# of the least distance, and [m]: a bound that is this near to it is near enough
SHARE = 0.1
LEAST = 1e-5
ROUNDS, PIECES = 12, 4096
PARTS = 4


def tightened(model: CollisionModel, path: np.ndarray, obstacles: Any, bound: float) -> float:
    """A lower bound [m] of the distance along a path that is proved free with another bound,
    at most CAP."""
    starts, ends = path[:-1], path[1:]
    least = _sampled(model, path, obstacles)
    proved = np.asarray(model.certify_motion(starts, ends, obstacles).clearance)
    done = CAP  # of pieces that are near enough
    for _ in range(ROUNDS):
        low = proved < least - max(SHARE * least, LEAST)
        done = min(done, float(proved[~low].min(initial=CAP)))
        if not low.any() or low.sum() > PIECES:
            break
        share = (np.arange(PARTS + 1) / PARTS)[:, None]
        points = starts[low, None] * (1.0 - share) + ends[low, None] * share
        least = min(least, _sampled(model, points[:, 1:-1].reshape(-1, path.shape[1]), obstacles))
        starts, ends = (
            points[:, part].reshape(-1, path.shape[1]) for part in (slice(0, -1), slice(1, None))
        )
        proved = np.asarray(model.certify_motion(starts, ends, obstacles).clearance)
    return max(bound, min(done, float(proved.min(initial=CAP))))


def _sampled(model: CollisionModel, q: np.ndarray, obstacles: Any) -> float:
    return min(CAP, float(np.min(model.clearance(q, obstacles).distance)))
