"""Synthesis: every linkage through given positions, complete, checked, and a robot at the end.

PlanarTask                   positions of a body: poses, points, velocities, timing, tolerances
dyads, triads                exact chains of two and three links; sliders by kind="PR" and "RP"
compatibility                the fictitious linkage of the unknown rotations, and the feasible
                             ranges
burmester, solution_map      curves of all dyads through four poses, all their pairs; poles,
                             opposite points, cubics
four_bars, cognates          every four-bar through five poses, nine points, and every mix between
four_bar, from_dyads         a Linkage from pivots or dyads; lw.Robot.from_linkage makes it a robot
check, better_driven         circuit, branch and order defects, transmission angles, whether the
                             driver goes round
sweep                        a whole turn of many linkages, reduced: extent of the path,
                             transmission
from_loops, six_bars         linkages from rows of vectors; six- and eight-bars by closing a chain
                             with dyads
fit                          the best four-bars and six-bars for any number of poses, points, timed
                             points, pairs
search, rank, sensitivity    tolerance zones, criteria and Pareto fronts, exact derivatives by
                             dimensions
function_generator           four-bars and slider-cranks for pairs of a function
spherical_four_bars, legs    spherical four-bars through five orientations, bodies on five legs
                             through seven poses
plates, save_picture         parts to cut as DXF and SVG, pictures as PNG and SVG; read_task:
                             .task.yaml files
"""

from linkwork.doors import open_doors
from linkwork.synthesis.burmester import Curves, burmester
from linkwork.synthesis.compatibility import Compatibility, compatibility
from linkwork.synthesis.drawings import save_picture, svg, traced_path
from linkwork.synthesis.dyads import Dyads, dyads
from linkwork.synthesis.fit import Fits, fit
from linkwork.synthesis.four_bars import FourBars, cognates, four_bars
from linkwork.synthesis.functions import (
    FunctionGenerators,
    FunctionTask,
    chebyshev_spacing,
    function_generator,
)
from linkwork.synthesis.graphs import topologies
from linkwork.synthesis.linkage import Linkage, Linkages, Topology, four_bar, from_dyads
from linkwork.synthesis.loop_tables import from_loops
from linkwork.synthesis.plates import Plates, plates
from linkwork.synthesis.poles import center_cubic, circle_cubic, image_poles, opposite_points, poles
from linkwork.synthesis.ranking import Ranking, rank
from linkwork.synthesis.search import SearchResult, search
from linkwork.synthesis.sensitivities import Sensitivity, monte_carlo, sensitivity, tolerance_band
from linkwork.synthesis.six_bars import eight_bars, six_bars
from linkwork.synthesis.sliders import Sliders, slider_circle
from linkwork.synthesis.solution_maps import SolutionMap, solution_map
from linkwork.synthesis.spatial import (
    FiveLegs,
    Legs,
    SphericalDyads,
    SphericalFourBar,
    five_legs,
    legs,
    spherical_dyads,
    spherical_four_bars,
)
from linkwork.synthesis.sweeps import Sweep, sweep
from linkwork.synthesis.task import PlanarTask
from linkwork.synthesis.task_files import TaskFile, read_task, write_task
from linkwork.synthesis.triads import Triads, triads
from linkwork.synthesis.verdicts import Verdict, better_driven, check

__all__ = [
    "Compatibility",
    "Curves",
    "Dyads",
    "Fits",
    "FiveLegs",
    "FourBars",
    "FunctionGenerators",
    "FunctionTask",
    "Legs",
    "Linkage",
    "Linkages",
    "PlanarTask",
    "Plates",
    "Ranking",
    "SearchResult",
    "Sensitivity",
    "Sliders",
    "SolutionMap",
    "SphericalDyads",
    "SphericalFourBar",
    "Sweep",
    "TaskFile",
    "Topology",
    "Triads",
    "Verdict",
    "better_driven",
    "burmester",
    "center_cubic",
    "chebyshev_spacing",
    "check",
    "circle_cubic",
    "cognates",
    "compatibility",
    "dyads",
    "eight_bars",
    "fit",
    "five_legs",
    "four_bar",
    "four_bars",
    "from_dyads",
    "from_loops",
    "function_generator",
    "image_poles",
    "legs",
    "monte_carlo",
    "opposite_points",
    "plates",
    "poles",
    "rank",
    "read_task",
    "save_picture",
    "search",
    "sensitivity",
    "six_bars",
    "slider_circle",
    "solution_map",
    "spherical_dyads",
    "spherical_four_bars",
    "svg",
    "sweep",
    "tolerance_band",
    "topologies",
    "traced_path",
    "triads",
    "write_task",
]

open_doors(__name__)
