"""Pictures of control: a map of stability over two gains as pixels."""

from __future__ import annotations

import numpy as np

CELL = 14
"""Pixels of a gain set's cell, a side."""
UNSTABLE = np.array([214, 96, 77.0])
SLOW = np.array([199, 233, 192.0])
FAST = np.array([0, 90, 50.0])
DECADES = 4.0
"""Decades of 1 - radius between the palest and the darkest green."""


def map_picture(radii: np.ndarray, across: float, up: float) -> np.ndarray:
    """(height, width, 3) of uint8: radii (a, b) with a across and b upwards;
    the cross stands at parts 0 .. 1."""
    left = np.clip(1.0 - np.where(np.isfinite(radii), radii, 2.0), 1e-12, 1.0)
    share = np.clip(1.0 + np.log10(left) / DECADES, 0.0, 1.0)[..., None]
    colours = np.where((radii < 1.0)[..., None], SLOW + share * (FAST - SLOW), UNSTABLE)
    cells = colours.round().astype(np.uint8).transpose(1, 0, 2)[::-1]  # rows of a picture go down
    picture = np.repeat(np.repeat(cells, CELL, axis=0), CELL, axis=1)
    height, width = picture.shape[:2]
    # cells stand around their gains: the first one's middle is half a cell from the edge
    x = round(CELL / 2 + across * (width - CELL))
    y = round(height - CELL / 2 - up * (height - CELL))
    arm = CELL // 2
    picture[max(0, y - 1) : y + 1, max(0, x - arm) : x + arm] = 0
    picture[max(0, y - arm) : y + arm, max(0, x - 1) : x + 1] = 0
    return picture
