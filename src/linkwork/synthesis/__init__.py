"""Synthesis: every linkage through given positions, complete, checked, and an ordinary robot at the end.

PlanarTask                   positions of a body: poses, points, velocities, timing, tolerances
dyads, triads                exact chains of two and three links; sliders by kind="PR" and "RP"
compatibility                the fictitious linkage of the unknown rotations, and the feasible ranges
burmester                    curves of all dyads through four poses; poles, opposite points, cubics
"""

from linkwork.synthesis.burmester import Curves, burmester
from linkwork.synthesis.compatibility import Compatibility, compatibility
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.poles import center_cubic, circle_cubic, image_poles, opposite_points, poles
from linkwork.synthesis.sliders import Sliders, slider_circle
from linkwork.synthesis.task import PlanarTask
from linkwork.synthesis.triads import Triads, triads

__all__ = [
    "Compatibility",
    "Curves",
    "Dyads",
    "PlanarTask",
    "Sliders",
    "Triads",
    "burmester",
    "center_cubic",
    "circle_cubic",
    "compatibility",
    "dyads",
    "image_poles",
    "opposite_points",
    "poles",
    "slider_circle",
    "triads",
]
