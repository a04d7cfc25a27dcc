"""Synthesis: every linkage through given positions, complete, checked, and an ordinary robot at the end.

PlanarTask                   positions of a body: poses, points, velocities, timing, tolerances
dyads, triads                exact chains of two and three links; sliders by kind="PR" and "RP"
compatibility                the fictitious linkage of the unknown rotations, and the feasible ranges
burmester                    curves of all dyads through four poses; poles, opposite points, cubics
four_bars, cognates          every four-bar through five poses, nine points, and every mix between
four_bar, from_dyads         a Linkage from pivots or dyads; lw.Robot.from_linkage makes it a robot
check                        circuit, branch and order defects, transmission angles, whether the driver goes round
"""

from linkwork.synthesis.burmester import Curves, burmester
from linkwork.synthesis.compatibility import Compatibility, compatibility
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.four_bars import FourBars, cognates, four_bars
from linkwork.synthesis.linkage import Linkage, Linkages, Topology, four_bar, from_dyads
from linkwork.synthesis.poles import center_cubic, circle_cubic, image_poles, opposite_points, poles
from linkwork.synthesis.sliders import Sliders, slider_circle
from linkwork.synthesis.task import PlanarTask
from linkwork.synthesis.triads import Triads, triads
from linkwork.synthesis.verdicts import Verdict, check

__all__ = [
    "Compatibility",
    "Curves",
    "Dyads",
    "FourBars",
    "Linkage",
    "Linkages",
    "PlanarTask",
    "Sliders",
    "Topology",
    "Triads",
    "Verdict",
    "burmester",
    "center_cubic",
    "check",
    "circle_cubic",
    "cognates",
    "compatibility",
    "dyads",
    "four_bar",
    "four_bars",
    "from_dyads",
    "image_poles",
    "opposite_points",
    "poles",
    "slider_circle",
    "triads",
]
