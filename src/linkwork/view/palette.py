"""Palette: the colours of the viewer, and the scale from no load to the largest."""

from __future__ import annotations

import numpy as np

Color = tuple[int, int, int]

COLORS: dict[str, Color] = {
    "body": (31, 58, 95),
    "hub": (226, 138, 52),
    "actuator": (209, 73, 91),
    "rod": (196, 202, 210),
    "spring": (74, 141, 104),
    "member": (122, 132, 147),
    "center": (237, 174, 73),
    "point": (20, 120, 130),
    "trail": (237, 174, 73),
    "inertia": (118, 92, 168),
    "shape": (150, 166, 184),
    "second shape": (46, 88, 140),
    "cell": (224, 228, 234),
    "section": (190, 197, 208),
}
BRANCHES: tuple[Color, ...] = (
    (66, 133, 190),
    (221, 120, 60),
    (90, 160, 90),
    (180, 80, 120),
    (130, 100, 180),
    (60, 160, 170),
    (200, 160, 50),
    (120, 120, 120),
)
"""Colours of the solutions of inverse kinematics, in turns."""

LOAD_SCALE = np.array(
    [[44, 110, 178], [64, 166, 150], [244, 196, 72], [232, 118, 52], [198, 40, 52]], dtype=float
)
"""From no load (blue) to the largest (red)."""


def load_colors(share: np.ndarray) -> np.ndarray:
    """(n, 3) of uint8 for loads as a share (n,) of the largest: blue, green, yellow, red."""
    at = np.clip(np.asarray(share, dtype=float), 0.0, 1.0) * (len(LOAD_SCALE) - 1)
    steps = np.arange(len(LOAD_SCALE))
    return (
        np.stack([np.interp(at, steps, LOAD_SCALE[:, k]) for k in range(3)], axis=-1)
        .round()
        .astype(np.uint8)
    )


def linear(colors: np.ndarray) -> np.ndarray:
    """uint8 colours of a screen as the linear light in which viser takes the colours of
    instances."""
    c = np.asarray(colors, dtype=float) / 255
    light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return (255 * light).round().astype(np.uint8)
