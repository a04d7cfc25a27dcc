"""The part of the viewer about avoidance: the ring of the arm angle of a seven-axis arm."""

from __future__ import annotations

from typing import Any

from linkwork.errors import LinkworkError
from linkwork.inverse.analytic.classify import classified
from linkwork.loops.assembly import has_closures
from linkwork.view.elbow_page import ElbowPage


def panel(stand: Any) -> ElbowPage | None:
    """Of arms with seven axes whose shoulder and wrist are spherical."""
    if stand.robot.nq != 7 or has_closures(stand.robot.subject):
        return None
    try:
        kind = classified(stand.robot.subject, stand.tip)
    except LinkworkError:
        return None
    return ElbowPage(stand) if kind.family == "seven_axis" and kind.exact else None
