"""Record of a step of the elbow: what its machine code reads and keeps, by name."""

from __future__ import annotations

SINGLES = ("swing", "nearest", "guard")  # kernels that are asked about one sample
BATCHES = ("arcs", "clearance", "depth", "segment_clearance")  # about all obstacles at once
ROWS = ("point", "segment")
KEPT = ("h1", "h2", "b1", "b2", "x1", "x2", "y1", "y2", "wanted", "last_clearance", "threshold")
LEVELS = ("active", "hard")
RADII = tuple(f"{level}_{side}" for level in LEVELS for side in ("minimum", "maximum"))
# obstacles of all steps one after the other, how many each step has
FROM = (
    "first",
    "first_radii",
    "counts",
)
STATE = (
    *(f"{name}_{part}" for name in SINGLES for part in ("code", "in", "out")),
    *(f"{name}_{part}" for name in BATCHES for part in ("code", "in", "strides", "out")),
    *(f"{row}_{part}" for row in ROWS for part in FROM),
    *(
        f"{row}_{part}"
        for row in ROWS
        for part in ("source", "radii", "count", "room", "minimum", "maximum", *RADII)
    ),
    *RADII,
    "scratch",
    "arcs",  # (start, end) of the union of forbidden arcs, and where one more would not fit
    "arcs_room",
    "cells",
    *KEPT,
    "shortest",
    "longest",
    "poses",
    "steps",
    "results",
)
"""What one step reads and keeps: codes and addresses, then numbers."""
ENDS = {"point": 3, "segment": 6}  # numbers of a row
