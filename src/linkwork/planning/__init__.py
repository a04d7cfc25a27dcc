"""Planning: from a question to a motion; the map of all branches of a positioning task."""

from linkwork.doors import open_doors
from linkwork.planning.graph_plan import GraphPlan
from linkwork.planning.kinematic_graph import KinematicGraph
from linkwork.planning.regional import Regional, split_regional

__all__ = ["GraphPlan", "KinematicGraph", "Regional", "split_regional"]

open_doors(__name__)
